"""An engine in a process of its own, reading the files of Iceberg tables in an embedded lake."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import InstanceOf

import workbench
import workbench_proofs
from workbench import session
from workbench._base import children, identifiers, jars, java, lake, scratch
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.engines import profiles as engines
from workbench.engines.profiles import Engine
from workbench.session import configuration
from workbench_proofs.tpcds import data as generated
from workbench_proofs.tpcds import layouts

LARGE = 10  # scale factor from which Spark and DuckDB have the same memory, and as much as that
PATIENCE_SECONDS = 60  # a JVM with gigabytes to let go
ANSWER_SECONDS = 3600  # the slowest at scale factor 1 took 137 on two cores; one that hangs must end
# Spark takes ten seconds. Where a setting should be a number, PySpark 4.1 repeats its error without end
OPEN_SECONDS = 300


class NoAnswer(WorkbenchError, RuntimeError):
    """An engine refused a query; the message is its own."""


@dataclass(frozen=True)
class Process:
    """An open engine.

    Attributes:
        engine: Engine.
        data: digest of the data in its tables.
        layout: in which they lie.
        process: the running child.
        folder: where it writes answers.
    """

    engine: Engine
    data: str
    layout: str
    process: Any
    folder: Path

    def ask(self, sql: str) -> tuple[Any, dict[str, Any]]:
        """Return the whole answer to a query as an Arrow table, and the figures that the child gives with it.

        Raises:
            NoAnswer: the engine refuses the query.
            ChildProcessError: the process is gone.
            TimeoutError: it gave no answer in ANSWER_SECONDS; what it is busy with ends with its context.
        """
        import pyarrow

        file = self.folder / "answer.arrow"
        question, name = {"sql": sql, "into": str(file)}, f"engine {self.engine.name}"
        figures = children.ask(self.process, question, name=name, **_patience(ANSWER_SECONDS))
        if "refused" in figures:
            raise NoAnswer(figures["refused"])
        with pyarrow.OSFile(str(file), "rb") as opened:
            table = pyarrow.ipc.open_file(opened).read_all()
        file.unlink()
        return table, figures


@checked
@contextmanager
def opened(
    engine: InstanceOf[Engine],
    catalog: Any,
    namespace: str,
    data: generated.Data,
    *,
    tables: Sequence[str] = generated.TABLES,
    cores: Annotated[int, Ge(1)] = 2,
) -> Iterator[Process]:
    """Start an engine on tables that `tpcds.load` made; gives its Process, which ends with the context.

    Args:
        engine: Engine.
        catalog: PyIceberg's, of an embedded lake: other processes read its files on this machine.
        namespace: of the tables.
        data: tpcds.data.Data that was loaded.
        tables: those that will be asked for.
        cores: that it may use. The default is the same everywhere, so that ties are broken alike.

    Raises:
        ValueError: the engine cannot run here or cannot read the lake, or the tables hold other data.
        ChildProcessError, TimeoutError: it did not start; its last words are in the message.
    """
    if engine.archives:
        raise ArgumentError(f"engine {engine.name} is a server for readers of a policy, which no benchmark asks")
    if wrong := engines.lacks(engine):
        raise ArgumentError(f"engine {engine.name} cannot run here: {wrong}")
    folder = folder_of(catalog)
    loaded = layouts.loaded(catalog, namespace, data, tables)
    memory, base = memory_bytes(data), scratch.enter()
    # errors: what was killed may still be letting go of files, which go with the scratch folder
    with tempfile.TemporaryDirectory(dir=base, prefix=f"{engine.name}-", ignore_cleanup_errors=True) as name:
        own = Path(name)
        parts = (catalog.name, *identifiers.parts(namespace, least=1))
        settings = {
            "family": engine.family,
            "conf": _conf(engine, catalog.name, folder, own, cores, memory),
            "cores": cores,
            "memory_bytes": memory,
            "namespace": identifiers.joined(parts),
            "tables": _tables(engine, loaded),
        }
        with (
            (own / "log.txt").open("wb") as log,
            children.started(
                "workbench_proofs.tpcds.child",
                patience_seconds=PATIENCE_SECONDS,
                log=log,
                python=engines.python(engine),
                env=_environment(engine, own),
            ) as process,
        ):
            try:
                asked = f"engine {engine.name}, asked to start,"
                children.ask(process, settings, name=asked, **_patience(OPEN_SECONDS))
            except (ChildProcessError, TimeoutError) as error:
                last = (own / "log.txt").read_text(errors="replace").strip().splitlines()[-3:]
                raise type(error)(f"{error} {' '.join(last)}"[:1000]) from None
            layout = next(iter(loaded.values())).properties[layouts.LAYOUT]
            yield Process(engine, data.digest, layout, process, own)


def _patience(answer_seconds: float) -> dict[str, float]:
    return {"patience_seconds": PATIENCE_SECONDS, "answer_seconds": answer_seconds}


def memory_bytes(data: generated.Data) -> int | None:
    """Return what an engine may take, half of the machine, from the scale factor LARGE on; below it None.

    Below it each keeps its own bound: Spark the heap of a session, DuckDB four fifths of the machine. PySail has
    no bound at any: with one (`runtime.memory_pool`) it waited for memory without end.
    """
    return session.machine_memory_bytes() // 2 if float(data.scale) >= LARGE else None


def folder_of(catalog: Any) -> Path:
    """Return the folder of an embedded lake.

    Raises:
        ValueError: the catalog is another one, whose files the engines cannot read.
    """
    where = catalog.properties.get("warehouse", "")
    if catalog.properties.get("type") != "sql" or not where.startswith("file://"):
        raise ArgumentError(
            f"engines read the files of an embedded lake on this machine, which catalog {catalog.name} is not"
        )
    return Path(where.removeprefix("file://"))


def _tables(engine: Engine, loaded: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an engine without our catalog reads: for PySail a folder a table, for DuckDB its data files."""
    if engine.family == "duckdb":
        return {name: _files(name, table) for name, table in loaded.items()}
    return {name: _newest(name, table) for name, table in loaded.items()} if engine.family == "sail" else {}


def _files(name: str, table: Any) -> list[str]:
    tasks = list(table.scan().plan_files())
    if any(task.delete_files for task in tasks):
        raise ArgumentError(f"{name} has delete files; its data files alone are not the table")
    return [task.file.file_path.removeprefix("file://") for task in tasks]


def _newest(name: str, table: Any) -> str:
    """Return a table's folder, having seen that the newest metadata there, which PySail takes, is current."""
    folder = Path(table.location().removeprefix("file://"))
    newest = max((path.name for path in (folder / "metadata").glob("*.metadata.json")), default=None)
    if newest != Path(table.metadata_location).name:
        raise ArgumentError(f"the newest metadata file of {name} is not the one in the catalog: {newest}")
    return str(folder)


def _conf(engine: Engine, catalog: str, folder: Path, own: Path, cores: int, memory: int | None) -> dict[str, str]:
    """Return the settings of a Spark engine: where things are, what every engine gets, and the profile's own."""
    conf: dict[str, Any] = {}
    if engine.family == "spark":
        key = f"spark.sql.catalog.{catalog}"
        conf = {
            "spark.master": f"local[{cores}]",
            "spark.driver.memory": f"{memory >> 20}m" if memory else session.driver_memory("auto"),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraClassPath": os.pathsep.join(str(jars.path(name)) for name in engine.jars),
            "spark.driver.extraJavaOptions": " ".join(_java_options(engine, own)),
            "spark.local.dir": str(own),
            "spark.sql.warehouse.dir": f"file://{own}/spark-warehouse",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.extensions": configuration.EXTENSIONS,
            "spark.ui.port": "0",
            "spark.ui.showConsoleProgress": "false",
            key: "org.apache.iceberg.spark.SparkCatalog",
        }
        conf |= {f"{key}.{name}": value for name, value in lake.spark_properties(folder).items()}
    conf |= engine.conf
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in conf.items()}


def _java_options(engine: Engine, own: Path) -> list[str]:
    config = Path(session.__file__).parent / "log4j2.properties"
    options = [f"-Dlog4j2.configurationFile=file:{config}", f"-Dworkbench.log={own}/spark.log"]
    shared = engine.class_data and not engine.own_environment
    return options + session.class_data_options(engine.jars) if shared else options


def _environment(engine: Engine, own: Path) -> dict[str, str]:
    """Return the child's environment: Java, Spark, and of our packages nothing but the two that it runs."""
    env = {"TZ": "UTC", "SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(own)}
    if engine.family == "spark":
        env["JAVA_HOME"] = str(java.launcher())
    if engine.own_environment:
        alone = own / "lib"
        alone.mkdir()
        # alone: in an installed wheel its neighbours are PySpark 4.1
        for package in (workbench, workbench_proofs):
            (alone / package.__name__).symlink_to(package.__path__[0])
        python = str(engines.python(engine))
        home = engines.packages_folder(engine) / "pyspark"
        env |= {"PYTHONPATH": str(alone), "SPARK_HOME": str(home)}
        env |= {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python}
    elif engine.family == "spark":
        env["SPARK_HOME"] = str(java.spark_home())
    return env
