"""The process in which an engine runs: it reads what to open, then a query a line; answers go into files.

It may run in an environment of the engine's own, so it uses nothing but the engine and pyarrow.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

from workbench._base import children
from workbench._base.typing import SparkSession

# Spark's own ten seconds are too few after a large query, whose answer would be lost
FIGURES_MILLISECONDS = 600_000
UNSET = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")


class Ask(Protocol):
    """An open engine: called with SQL it returns an Arrow table."""

    pid: int | str

    def alive(self) -> bool: ...  # noqa: D102
    def __call__(self, sql: str) -> Any: ...  # noqa: D102
    def figures(self) -> dict[str, int | None]: ...  # noqa: D102


Opened = tuple[Ask, Callable[[], None]]  # and what closes it


def main() -> None:
    """Open what the first line says, then answer queries until standard input ends."""
    _keep_standard_output()
    settings = json.loads(sys.stdin.readline())
    _hold_to(settings["cores"])
    lines = _lines_of_the_parent()
    try:
        ask, close = {"spark": spark, "sail": sail, "duckdb": duckdb}[settings["family"]](settings)
    except Exception as error:  # whatever an engine raises, the parent is to know it
        _over(f"it could not be opened: {_sentence(error)}")
    children.say({"opened": True})
    for line in lines:
        question = json.loads(line)
        try:
            before, start = _read_so_far(ask.pid), time.perf_counter()
            table = ask(question["sql"])
            seconds, after = time.perf_counter() - start, _read_so_far(ask.pid)
            _write(table, question["into"])
            figures = ask.figures()
            own = figures.pop("own_bytes", 0) or 0
            read = None if before is None or after is None else max(0, after - before - own)
            children.say({"seconds": seconds, "bytes_read": read} | figures)
        except Exception as error:
            if not ask.alive():  # each query to come would be refused alike, as if it were wrong
                _over(f"the engine's own process ended: {_sentence(error)}")
            children.say({"refused": _sentence(error)})
    close()


def _over(why: str) -> NoReturn:
    """Say why it cannot go on, and end; a JVM too, which may still be letting go of what it had."""
    children.say({"died": why})
    os.killpg(0, signal.SIGKILL)  # `children.started` made us the leader of a group
    raise SystemExit(why)


def _lines_of_the_parent() -> Iterator[str]:
    """Return an iterator of its lines. Once it is gone nobody waits for what we are busy with: we end, a JVM too.

    An engine left behind would go on with both cores, beside whatever is measured next.
    """
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    state = {"given": 1, "done": 0}  # the first thing to do is to open

    def listen() -> None:
        for line in sys.stdin:
            state["given"] += 1
            lines.put(line)
        lines.put(None)
        time.sleep(1)  # an answer may just have been given
        if state["given"] > state["done"]:
            os.killpg(0, signal.SIGKILL)

    def received() -> Iterator[str]:
        while True:
            state["done"] += 1
            if (line := lines.get()) is None:
                return
            yield line

    threading.Thread(target=listen, daemon=True).start()
    return received()


def spark(settings: Mapping[str, Any]) -> Opened:
    """Start a Spark session of its own JVM, as the settings say; tables are those of a namespace."""
    for name in UNSET:  # each of them would change the class path or print
        os.environ.pop(name, None)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("tpcds")
    for key, value in settings["conf"].items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sql(f"USE {settings['namespace']}")
    gateway: Any = session.sparkContext._gateway

    def close() -> None:
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()  # whoever waits for us finds the machine free

    return _Spark(session), close


def sail(settings: Mapping[str, Any]) -> Opened:
    """Start PySail's server in this process; tables are views of Iceberg table folders."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    for key, value in settings["conf"].items():
        session.conf.set(key, value)
    for table, folder in settings["tables"].items():
        session.read.format("iceberg").load(folder).createOrReplaceTempView(table)

    def close() -> None:
        session.stop()
        server.stop()

    return _Sail(session), close


def duckdb(settings: Mapping[str, Any]) -> Opened:
    """Open DuckDB; tables are views of their data files."""
    from workbench_proofs.tpcds import data

    connection = data.over(settings["tables"], threads=settings["cores"], memory_bytes=settings["memory_bytes"])
    return _DuckDB(connection), connection.close


class _Spark:
    """Called with SQL; rows are summed up over the stages that the query added.

    The bytes that stages report are too few: Iceberg 1.11 reads Parquet by vectors, which Hadoop's local file
    system does not count before HADOOP-19863. Shuffles and spills, which a query wrote itself, are left out.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session, self.seen = session, -1
        context: Any = session.sparkContext
        self.jvm, self.scala = context._gateway, context._jsc.sc()
        self.pid: int | str = self.jvm.proc.pid
        self.figures()  # the start's belong to no query

    def alive(self) -> bool:
        """Say whether its JVM, a process beside this one, still answers, and its context takes queries."""
        try:
            return not self.scala.isStopped()
        except Exception:  # Py4J's own or the network's
            return False

    def __call__(self, sql: str) -> Any:
        frame: Any = self.session.sql(sql)
        if hasattr(frame, "toArrow"):
            return frame.toArrow()
        import pyarrow
        from pyspark.sql.pandas.types import to_arrow_schema

        return pyarrow.Table.from_batches(frame._collect_as_arrow(), to_arrow_schema(frame.schema))

    def figures(self) -> dict[str, int | None]:
        self.scala.listenerBus().waitUntilEmpty(FIGURES_MILLISECONDS)
        none = self.jvm.new_array(self.jvm.jvm.double, 0), self.jvm.jvm.java.util.ArrayList()
        stages = self.scala.statusStore().stageList(None, False, False, *none).iterator()
        newest, rows, own = self.seen, 0, 0
        while stages.hasNext():  # the newest comes first
            stage = stages.next()
            if stage.stageId() <= self.seen:
                break
            newest = max(newest, stage.stageId())
            rows += stage.inputRecords()
            own += stage.shuffleReadBytes() + stage.diskBytesSpilled()
        self.seen = newest
        java, python = _peak(self.pid), _peak("self")
        peak = None if java is None or python is None else java + python
        return {"own_bytes": own, "rows_read": rows, "peak_bytes": peak}


class _InProcess:
    """An engine in this process, which ends with it, and does not say how many rows it reads."""

    pid: int | str = "self"

    def alive(self) -> bool:
        return True

    def figures(self) -> dict[str, int | None]:
        return {"rows_read": None, "peak_bytes": _peak("self")}


class _Sail(_InProcess):
    """Called with SQL; the server is in this process."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def __call__(self, sql: str) -> Any:
        return self.session.sql(sql).toArrow()


class _DuckDB(_InProcess):
    """Called with SQL.

    DuckDB's profile has an estimate of rows, counted once a thread: 5.9 million with two, 11.8 with four, of a
    store_sales that has 2.9. Its bytes are of the footers only: 0.03 MB for the 14.6 of q55.
    """

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def __call__(self, sql: str) -> Any:
        return self.connection.execute(sql).to_arrow_table()


def _hold_to(cores: int) -> None:
    """Run on so many cores only, whatever number an engine takes by itself; its children too.

    Spark and DuckDB are given a number of threads as well, PySail has no such setting. macOS cannot do it.
    """
    if hasattr(os, "sched_setaffinity"):
        own = sorted(os.sched_getaffinity(0))
        first = os.getpid() % len(own)  # several at once are not all to get the same ones
        os.sched_setaffinity(0, (own[first:] + own[:first])[:cores])


def _keep_standard_output() -> None:
    """Keep standard output for answers: what a JVM or a library prints there goes to standard error."""
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(ours, "w", encoding="utf-8")


def _write(table: Any, path: str) -> None:
    import pyarrow

    with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _peak(pid: int | str) -> int | None:
    """Return the most memory a process has had, in bytes; None where the system does not say."""
    kilobytes = _number(pid, "status", "VmHWM:")
    return None if kilobytes is None else kilobytes << 10


def _read_so_far(pid: int | str) -> int | None:
    """Return the bytes that a process has read from files; None where it is not known. A look reads 100 itself.

    Cached pages count, memory maps and what comes by recv do not: Java's class data, answers over Arrow's sockets.
    """
    return _number(pid, "io", "rchar:")


def _number(pid: int | str, file: str, name: str) -> int | None:
    """Return a whole number of /proc/PID; None where it is not there."""
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), None)


def _sentence(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:500]
