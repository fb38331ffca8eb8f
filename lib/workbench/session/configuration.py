"""Spark's settings for an environment: catalog, sizes, what makes the same files on every machine."""

import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from workbench._base import files, hardware, jars, java, lake, moved, scratch, secrets, settings
from workbench._base.errors import ArgumentError
from workbench.session import services as stand_ins

EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
LOCAL_FILES = {"spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"}
LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def lake_folder(env: settings.Environment) -> Path:
    """Return the folder of an embedded lake, made when missing: the run's own, a named one, the S3 server's."""
    folder = stand_ins.lake_folder(env)
    if folder is None:
        assert env.catalog.type == "embedded"  # no other catalog has a folder
        named = env.catalog.folder
        folder = scratch.enter() / "lake" if named == "scratch" else settings.home() / named
    lake.make(folder)
    return folder


def spark_conf(env: settings.Environment) -> dict[str, str]:
    """Return the Spark settings of an environment, references not yet resolved: key to text."""
    cat, temporary = env.catalog, scratch.enter()
    key, master = f"spark.sql.catalog.{cat.name}", secrets.resolve(env.spark.master)
    conf: dict[str, object] = {
        "spark.master": master,
        "spark.driver.memory": driver_memory(env.spark.driver_memory),
        "spark.sql.shuffle.partitions": env.spark.shuffle_partitions,
        "spark.default.parallelism": env.spark.shuffle_partitions,
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.defaultCatalog": cat.name,
        key: "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # a plan that depends on sizes would let file counts differ between machines
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
    }
    conf |= java.pair()["conf"] | machine(temporary)
    if env.jars:  # a cluster that brings its own has a class path of its own, too
        conf["spark.driver.extraClassPath"] = os.pathsep.join(str(jars.path(name)) for name in env.jars)
    if "local-files" in env.jars:
        conf |= LOCAL_FILES
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise ArgumentError(f"{env.name} is on YARN: set HADOOP_CONF_DIR to the folder that describes the cluster")
    if master.startswith("local") or "//127.0.0.1:" in master:
        conf |= LOOPBACK
    if not master.startswith("local"):  # executors elsewhere have neither our jars nor our library
        if memory := os.environ.get("SPARK_EXECUTOR_MEMORY"):  # which Spark itself reads for some masters only
            conf["spark.executor.memory"] = memory
        conf |= {"spark.jars": ",".join(jars.path(name).as_uri() for name in env.jars)} if env.jars else {}
        conf["spark.submit.pyFiles"] = str(library(temporary))
        conf["spark.executorEnv.TZ"] = "UTC"
    elif os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable:
        conf["spark.python.daemon.module"] = "workbench.daemon"  # another Python may not have it
    if cat.type == "embedded":
        conf |= {f"{key}.{name}": value for name, value in lake.spark_properties(lake_folder(env)).items()}
    else:
        own = {"type": cat.type, "uri": cat.uri, "warehouse": cat.warehouse}
        conf |= {f"{key}.{name}": value for name, value in own.items() if value}
    conf |= {f"{key}.{name}": value for name, value in (stand_ins.properties_of(env) | cat.properties).items()}
    return {name: _text(value) for name, value in (conf | env.spark.conf).items()}


def machine(temporary: Path) -> dict[str, str]:
    """Return the settings of any session on this machine: its folders, no page served, no progress printed."""
    return {
        "spark.sql.warehouse.dir": f"file://{temporary}/spark-warehouse",
        "spark.local.dir": str(temporary),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def library(folder: Path) -> Path:
    """Return a zip of this library, made in a folder: what executors elsewhere import."""
    zipped = folder / "workbench.zip"
    if not zipped.is_file():
        root = Path(__file__).resolve().parents[1]
        with files.replacing(zipped) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"):
                archive.write(path, path.relative_to(root.parent))
    return zipped


@moved.renamed(wanted="setting")
def driver_memory(setting: str) -> str:
    """Return the driver's heap as Spark writes it (`2048m`); for `auto` a quarter of the machine, 1 to 4 GiB."""
    return setting if setting != "auto" else f"{hardware.driver_heap_bytes() >> 20}m"


def split(conf: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return settings and, apart from them, those whose values are references to secrets."""
    secret = {key: value for key, value in conf.items() if secrets.REFERENCE.fullmatch(value)}
    return {key: value for key, value in conf.items() if key not in secret}, secret


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
