"""The process that starts one spare JVM: it lets Spark work in it, stops Spark, gives the JVM away and ends."""

import contextlib
import gc
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench._base import lake
from workbench._base.typing import Java
from workbench_ops.lab.spare import recipe as recipes
from workbench_ops.lab.spare import wire
from workbench_ops.lab.spare.recipe import Recipe

OWN = "spark.sql.catalog."
# What a first cell does: a table made, written, read, changed, looked at. The user's own catalog is never asked.
STATEMENTS = (
    "CREATE NAMESPACE IF NOT EXISTS {0}.n",
    "CREATE TABLE {0}.n.t (id BIGINT, day DATE, name STRING) USING iceberg PARTITIONED BY (day)",
    "INSERT INTO {0}.n.t SELECT id, DATE'2026-01-01' + CAST(id % 3 AS INT), CAST(id AS STRING) FROM range(30)",
    "SELECT day, count(*) AS rows, max(name) AS name FROM {0}.n.t WHERE id > 3 GROUP BY day ORDER BY day LIMIT 2",
    "MERGE INTO {0}.n.t USING (SELECT 1L AS id) s ON {0}.n.t.id = s.id WHEN MATCHED THEN UPDATE SET name = 'x'",
    "SELECT * FROM {0}.n.t.snapshots ORDER BY committed_at",
    "SELECT file_path, record_count FROM {0}.n.t.files",
    "SHOW TABLES IN {0}.n",
    "DROP TABLE {0}.n.t PURGE",
)


class Captured(Exception):
    """A session asked for a JVM; the recipe says for which."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__("a JVM was asked for")
        self.recipe = recipe


def main(descriptor: int) -> None:
    """Start the JVM that the keeper asks for and send it over the channel; ends when the keeper does.

    Args:
        descriptor: of the channel, a Unix socket.
    """
    channel = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)  # the JVM must not have it
    told, _ = wire.receive(channel)
    threading.Thread(target=_end_with, args=[channel], daemon=True).start()
    try:
        recipe = told.get("recipe") or rehearsed(told["environment"], told["folder"])
        gateway = launched(recipe)
        train(gateway, recipe["conf"])
    except Exception as error:  # what is wrong the kernel will say to whom it concerns
        sys.exit(f"no JVM was started ahead: {error}")
    parameters = gateway.java_parameters
    jvm = {"port": parameters.port, "secret": parameters.auth_token, "pid": gateway.proc.pid}
    wire.send(channel, {"recipe": recipe, "jvm": jvm}, [gateway.proc.stdin.fileno()])
    os._exit(0)  # nothing of ours says to the JVM that it should end


def _end_with(channel: socket.socket) -> None:
    channel.recv(1)
    os._exit(1)


def rehearsed(environment: str, folder: str) -> Recipe:
    """Return the recipe of a kernel's session of an environment, without a JVM.

    Args:
        environment: its name.
        folder: of the kernel.
    """
    from pyspark import SparkContext

    from workbench import session

    def capture(conf: Any = None, popen_kwargs: Any = None) -> None:
        raise Captured(recipes.of(dict(conf.getAll())))

    os.chdir(folder)
    context: Any = sys.modules[SparkContext.__module__]
    launch, context.launch_gateway = context.launch_gateway, capture
    try:
        session.start(environment)
    except Captured as captured:
        return captured.recipe
    finally:
        context.launch_gateway = launch
    raise AssertionError("a session needs a JVM")


def launched(recipe: Recipe) -> Java:
    """Start the JVM of a recipe as PySpark does; return its gateway, whose `proc` has its standard input."""
    from pyspark import SparkConf, java_gateway

    os.chdir(recipe["folder"])
    os.environ.clear()
    os.environ.update(recipe["variables"])
    launch: Any = java_gateway.launch_gateway
    return launch(SparkConf(loadDefaults=False).setAll([*recipe["conf"].items()]))


def train(gateway: Java, conf: Mapping[str, str]) -> None:
    """Let Spark work in a JVM, on a lake that is gone afterwards, and stop it; the settings stay the JVM's own."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized(gateway=gateway)
    with contextlib.ExitStack() as living:
        folder = living.enter_context(tempfile.TemporaryDirectory(prefix="workbench-spare-"))
        own = training_conf(conf, Path(folder))
        settings = SparkConf(loadDefaults=False, _jvm=SparkContext._jvm).setAll([*own.items()])
        spark = SparkSession(SparkContext(conf=settings))
        living.callback(spark.stop)
        if name := own.get("spark.sql.defaultCatalog"):
            for statement in STATEMENTS:
                spark.sql(statement.format(name)).toPandas()
        spark.createDataFrame([(1, "a")], "id long, name string").groupBy("name").count().collect()
        del spark
    SparkContext._gateway = SparkContext._jvm = None
    gc.collect()  # what Python forgets the JVM does, too
    gateway.jvm.System.gc()


def training_conf(conf: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the settings under which a spare works: those of its recipe, with an embedded lake for a catalog."""
    own = {key: value for key, value in conf.items() if not key.startswith(OWN)}
    own |= {"spark.app.name": "spare", "spark.local.dir": str(folder), "spark.ui.enabled": "false"}
    name = own.get("spark.sql.defaultCatalog")
    if name is not None:
        lake.make(folder / "lake")
        own[f"{OWN}{name}"] = conf[f"{OWN}{name}"]
        own |= {f"{OWN}{name}.{key}": value for key, value in lake.spark_properties(folder / "lake").items()}
    return own
