"""The process in which an engine runs: told what to open, then a query a line; answers go into files.

It may run in an environment of the engine's own, so it uses nothing but the engine and pyarrow.
"""

import json
import os
import sys
import time
from pathlib import Path

from workbench import children

UNSET = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")


def main():
    """Open what the first line says, then answer queries until standard input ends."""
    _keep_standard_output()
    settings = json.loads(sys.stdin.readline())
    try:
        ask, close = {"spark": spark, "sail": sail, "duckdb": duckdb}[settings["family"]](settings)
    except Exception as error:  # whatever an engine raises, the parent is to know it
        return children.say({"died": f"it could not be opened: {_sentence(error)}"})
    children.say({"opened": True})
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            start = time.perf_counter()
            table = ask(asked["sql"])
            seconds = time.perf_counter() - start
            _write(table, asked["into"])
            children.say({"seconds": seconds} | ask.figures())
        except Exception as error:
            children.say({"refused": _sentence(error)})
    close()


def spark(settings):
    """Start a Spark session of its own JVM, as the settings say; tables are those of a namespace."""
    for name in UNSET:  # each of them would change the class path or print
        os.environ.pop(name, None)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("tpcds")
    for key, value in settings["conf"].items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sql(f"USE {settings['namespace']}")
    gateway = session.sparkContext._gateway

    def close():
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()  # whoever waits for us finds the machine free

    return _Spark(session), close


def sail(settings):
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

    def close():
        session.stop()
        server.stop()

    return _Sail(session), close


def duckdb(settings):
    """Open DuckDB; tables are views of their data files."""
    from workbench.tpcds import data

    connection = data.over(settings["tables"], threads=settings["cores"])
    connection.execute("SET enable_profiling = 'no_output'")
    wanted = json.dumps({"CUMULATIVE_ROWS_SCANNED": "true", "TOTAL_BYTES_READ": "true"})
    connection.execute(f"SET custom_profiling_settings = '{wanted}'")
    return _DuckDB(connection), connection.close


class _Spark:
    """Called with SQL; what the scans read is summed up over the stages that the query added."""

    def __init__(self, session):
        self.session, self.seen = session, -1
        context = session.sparkContext
        self.jvm, self.scala = context._gateway, context._jsc.sc()
        self.figures()  # those of the start are nobody's

    def __call__(self, sql):
        frame = self.session.sql(sql)
        if hasattr(frame, "toArrow"):
            return frame.toArrow()
        import pyarrow
        from pyspark.sql.pandas.types import to_arrow_schema

        return pyarrow.Table.from_batches(frame._collect_as_arrow(), to_arrow_schema(frame.schema))

    def figures(self):
        self.scala.listenerBus().waitUntilEmpty()
        none = self.jvm.new_array(self.jvm.jvm.double, 0), self.jvm.jvm.java.util.ArrayList()
        stages = self.scala.statusStore().stageList(None, False, False, *none).iterator()
        newest, total = self.seen, [0, 0]
        while stages.hasNext():  # the newest comes first
            stage = stages.next()
            if stage.stageId() <= self.seen:
                break
            newest = max(newest, stage.stageId())
            total = [total[0] + stage.inputBytes(), total[1] + stage.inputRecords()]
        self.seen = newest
        peaks = _peak(self.jvm.proc.pid), _peak("self")
        return {
            "bytes_read": total[0],
            "rows_read": total[1],
            "peak_bytes": None if None in peaks else sum(peaks),
        }


class _Sail:
    """Called with SQL; the server says nothing about what it reads."""

    def __init__(self, session):
        self.session = session

    def __call__(self, sql):
        return self.session.sql(sql).toArrow()

    def figures(self):
        return {"bytes_read": None, "rows_read": None, "peak_bytes": _peak("self")}


class _DuckDB:
    """Called with SQL; DuckDB's own profile says what it read."""

    def __init__(self, connection):
        self.connection = connection

    def __call__(self, sql):
        return self.connection.execute(sql).to_arrow_table()

    def figures(self):
        said = json.loads(self.connection.get_profiling_information(format="json"))
        read = {"bytes_read": said["total_bytes_read"], "rows_read": said["cumulative_rows_scanned"]}
        return read | {"peak_bytes": _peak("self")}


def _keep_standard_output():
    """Keep standard output for answers: what a JVM or a library prints there goes to standard error."""
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(ours, "w", encoding="utf-8")


def _write(table, path):
    import pyarrow

    with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _peak(pid):
    """Return the most memory a process has had, in bytes; None where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), None)


def _sentence(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:500]
