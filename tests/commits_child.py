"""A process of its own that commits. One line in starts it, its lines out say what was acknowledged.

python commits_child.py append TABLE NAME COMMITS     appends rows (NAME, 1 … COMMITS), a line for each one acknowledged
python commits_child.py expire TABLE                  expires snapshots until its input ends, a line for each time
python commits_child.py threads TABLE NAME THREADS COMMITS TRIED
                                                      several writers in one process; a line of JSON: milliseconds, failures
python commits_child.py killed_append TABLE ID        killed when its append is in the catalog and the call not over
python commits_child.py killed_stream TABLE FOLDER CHECKPOINT WHEN
                                                      a stream of upserts, killed `before` or `after` batch 1's commit
"""

import json
import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

from workbench.tables import commits, upserts

SCHEMA = "id BIGINT, seq BIGINT, v STRING, op STRING"


def row(spark, name, number):
    return spark.range(0, 1, 1, 1).selectExpr(f"'{name}' AS name", f"{number}L AS n")


def named(spark, table, write, id):
    """Write by a name; asked again where an answer was lost that was a refusal: nothing of it is under way then."""
    for _ in range(9):
        try:
            return commits.retrying(spark, table, write, id=id)
        except commits.OutcomeUnknown as error:
            last = error
    raise last


def append(spark, table, name, count):
    for number in range(1, int(count) + 1):
        write = lambda n=number: row(spark, name, n).writeTo(table).append()  # noqa: E731
        done = named(spark, table, write, f"{name}-{number}")
        print(json.dumps([number, done.tries, done.found]), flush=True)


def expire(spark, table):
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    ended = threading.Event()
    while not ended.is_set():
        before = datetime.now(UTC) - timedelta(seconds=5)  # a commit's base may be older than the newest snapshot
        gone = commits.retrying(
            spark,
            table,
            lambda before=before: spark.sql(
                f"CALL system.expire_snapshots(table => '{table}', older_than => "
                f"TIMESTAMP '{before:%Y-%m-%d %H:%M:%S}', retain_last => 5)"
            ).collect(),
            conditional=True,
        ).value[0]
        print(gone.deleted_manifest_lists_count, flush=True)
        ended.wait(1)


def threads(spark, table, name, writers, count, tried):
    """Append by plain DataFrame writes, so that only Iceberg's own retries are at work, or by `retrying`."""
    told, lock = {"milliseconds": [], "failures": {}}, threading.Lock()

    def one(writer):
        for number in range(1, int(count) + 1):
            frame = row(spark, f"{name}-{writer}", number)
            begin = time.perf_counter()
            try:
                if tried == "retrying":
                    commits.retrying(spark, table, lambda: frame.writeTo(table).append())  # noqa: B023
                else:
                    frame.writeTo(table).append()
                left = None
            except Exception as error:
                left = commits.kind(error)
            with lock:
                if left:
                    told["failures"][left] = told["failures"].get(left, 0) + 1
                else:
                    told["milliseconds"].append(round((time.perf_counter() - begin) * 1000))

    started = [threading.Thread(target=one, args=(writer,)) for writer in range(int(writers))]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    print(json.dumps(told), flush=True)


class Kill:
    """Iceberg's listener: kills the JVM and this process at an event of a table."""

    def __init__(self, table, jvm):
        self.table, self.jvm = table, jvm

    def notify(self, event):
        if event.tableName().endswith(self.table):
            os.kill(self.jvm, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    class Java:
        implements = ("org.apache.iceberg.events.Listener",)


def kill_at(spark, table, event):
    """Have this process killed at an event: ScanEvent, before a commit, or CreateSnapshotEvent, right behind the swap."""
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(spark.sparkContext._gateway)
    java = spark._jvm.java.lang
    found = java.Thread.currentThread().getContextClassLoader().loadClass(f"org.apache.iceberg.events.{event}")
    kill = Kill(table, java.ProcessHandle.current().pid())
    spark._jvm.org.apache.iceberg.events.Listeners.register(kill, found)


def killed_append(spark, table, id):
    kill_at(spark, table, "CreateSnapshotEvent")
    commits.retrying(spark, table, lambda: row(spark, "once", 1).writeTo(table).append(), id=id)


def killed_stream(spark, table, folder, checkpoint, when):
    merge = stream_of(table)

    def batch(df, number):
        if number == 1:
            kill_at(df.sparkSession, table, {"before": "ScanEvent", "after": "CreateSnapshotEvent"}[when])
        merge(df, number)

    run_stream(spark, folder, checkpoint, batch)


def stream_of(table, **options):
    return upserts.each_batch(table, key="id", sequence="seq", operation="op", deleted="gone", **options)


def run_stream(spark, folder, checkpoint, batch):
    """Run the stream of a folder's JSON files to its end, a file a batch."""
    frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(folder)
    query = (
        frame.writeStream.foreachBatch(batch)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(120)


if __name__ == "__main__":
    from workbench import session

    task = globals()[sys.argv[1]]
    spark = session.start(os.environ.get("WORKBENCH_TEST_ENVIRONMENT", "local"))
    print("ready", flush=True)
    sys.stdin.readline()
    task(spark, *sys.argv[2:])
    session.stop(spark)
