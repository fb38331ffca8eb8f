"""Make the golden event logs anew: real small runs of real Spark, each healthy or with one planted incident.

    python tests/workbench/metrics/golden/make.py FOLDER [SEED …]
    python tests/workbench/metrics/golden/make.py --keep NAME WATCHED WORK

One folder a run, `<scenario>-<seed>`, with the event log and Iceberg's reports. Names of this machine, its folders
and its user are taken out. The golden cases are those of seed 0. The second form takes over what soak.incidents
watched, of a cluster, a small disk, slow storage or a stream; WORK is the folder whose name is taken out.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa

HERE = Path(__file__).resolve()
ROOT = HERE.parents[4]
PLANTED = {}  # scenario to the cause that is planted in it; None of a healthy one


def scenario(cause=None):
    def noted(function):
        PLANTED[function.__name__] = cause
        return function

    return noted


# ---- healthy ones


@scenario()
def aggregate(spark, seed):
    spark.range(20_000 + seed).selectExpr("id % 37 AS k", "id AS v").groupBy("k").sum("v").collect()


@scenario()
def joined(spark, seed):
    left = spark.range(5_000 + seed).selectExpr("id", "id % 100 AS k")
    left.join(left.selectExpr("k AS k2", "id").where("id < 100"), "id").groupBy("k").count().collect()


@scenario()
def written(spark, seed):
    spark.sql(f"CREATE TABLE m.written{seed} (id BIGINT, k STRING) USING iceberg")
    for n in range(3):
        spark.range(n * 1000, n * 1000 + 1000, 1, 1).selectExpr("id", "concat('k', id % 5) AS k").writeTo(
            f"m.written{seed}"
        ).append()
    spark.table(f"m.written{seed}").where("id < 500").groupBy("k").count().collect()


@scenario()
def merged(spark, seed):
    spark.sql(f"CREATE TABLE m.merged{seed} USING iceberg AS SELECT id, id % 7 AS v FROM range({3000 + seed})")
    spark.sql(
        f"MERGE INTO m.merged{seed} t USING (SELECT id * 2 AS id, 9 AS v FROM range(2000)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    )
    assert spark.table(f"m.merged{seed}").count() > 3000


@scenario()
def python(spark, seed):
    from pyspark.sql import functions as F

    spark.range(300 + seed).select(F.udf(lambda n: n + 1, "bigint")("id").alias("n")).agg({"n": "sum"}).collect()


@scenario()
def windows(spark, seed):
    spark.range(8_000 + seed).selectExpr(
        "id", "row_number() OVER (PARTITION BY id % 20 ORDER BY id DESC) AS n"
    ).where("n < 3").collect()


@scenario()
def streamed(spark, seed):
    stream = spark.readStream.format("rate").option("rowsPerSecond", 10).load()
    query = stream.writeStream.format("noop").trigger(processingTime="500 milliseconds").start()
    _until(lambda: len(query.recentProgress) >= 5)
    query.stop()


# ---- planted ones


@scenario("skew")
def skewed(spark, seed):
    key = "IF(id % 10 < 9, 'often', concat('k', id % 997))"
    rows = spark.range(240_000 + seed).selectExpr(
        f"{key} AS k", "sha2(CAST(id AS STRING), 512) AS a", "sha2(CAST(id + 1 AS STRING), 512) AS b"
    )
    rows.repartition(16, "k").selectExpr("max(a)", "max(b)").collect()


@scenario("small_files")
def small_files(spark, seed):
    spark.sql(f"CREATE TABLE m.small{seed} (id BIGINT, k STRING) USING iceberg")
    rows = spark.range(400 + seed).selectExpr("id", "sha2(CAST(id AS STRING), 256) AS k")
    rows.repartition(60).writeTo(f"m.small{seed}").append()
    for _ in range(2):
        spark.table(f"m.small{seed}").agg({"id": "sum"}).collect()


@scenario("file_explosion")
def exploded(spark, seed):
    spark.sql(f"CREATE TABLE m.many{seed} (id BIGINT, k INT) USING iceberg PARTITIONED BY (k) "
              "TBLPROPERTIES ('write.distribution-mode' = 'none')")  # fmt: skip
    spark.range(0, 400 + seed, 1, 4).selectExpr("id", "CAST(id % 20 AS INT) AS k").writeTo(
        f"m.many{seed}"
    ).append()


@scenario("commit_conflicts")
def refused(spark, seed):
    _race(spark, f"m.refused{seed}", retries=0)


@scenario("retry_storm")
def stormed(spark, seed):
    _race(spark, f"m.stormed{seed}", retries=20)


@scenario("schema_change")
def dropped(spark, seed):
    spark.sql(f"CREATE TABLE m.dropped{seed} USING iceberg AS SELECT id, id AS v FROM range(10)")
    spark.sql(f"ALTER TABLE m.dropped{seed} DROP COLUMN v")
    _failing(lambda: spark.sql(f"INSERT INTO m.dropped{seed} SELECT id, id FROM range(3)"))


@scenario("permission_denied")
def denied(spark, seed):
    from pyspark.sql import functions as F

    def read(_):
        os.seteuid(65534)
        try:
            return Path("/etc/shadow").read_text()
        finally:
            os.seteuid(0)

    _failing(lambda: spark.range(1).select(F.udf(read)("id")).collect())


@scenario("disk_full")
def full(spark, seed):
    from pyspark.sql import functions as F

    def write(_):
        with open("/dev/full", "w") as file:
            file.write("x")

    _failing(lambda: spark.range(1).select(F.udf(write)("id")).collect())


ALONE = {
    "reported": None,
    "spilled": "spill",
    "killed": None,
}
PLANTED |= ALONE


def reported(spark, seed):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.m")
    written(spark, seed)


def spilled(spark, seed):
    rows = spark.range(0, 900_000 + seed, 1, 1).selectExpr(
        "sha2(CAST(id AS STRING), 512) AS a", "sha2(CAST(id + 1 AS STRING), 512) AS b"
    )
    rows.repartition(1).sortWithinPartitions("a").write.format("noop").mode("overwrite").save()


def killed(spark, seed):
    spark.range(1000).selectExpr("sum(id)").collect()
    spark.range(2000).selectExpr("max(id)").collect()
    os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
    os._exit(0)


def _race(spark, table, *, retries):
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' = '{retries}', "
              "'commit.retry.min-wait-ms' = '5', 'commit.retry.max-wait-ms' = '20')")  # fmt: skip

    def write(n):
        for _ in range(4):
            _failing(lambda: spark.range(n, n + 1, 1, 1).writeTo(table).append(), must=False)

    writers = [threading.Thread(target=write, args=(n,)) for n in range(5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()


ERRORS = []  # of the scenario, as their caller saw them


def _failing(work, must=True):
    try:
        work()
    except Exception as error:
        ERRORS.append(f"{type(error).__name__}: {error}")
        return
    assert not must, "this was to fail"


def _until(ready, seconds=180):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "not ready in time"
        time.sleep(0.1)


# ---- making and redacting


def session(folder, conf):
    """Return a session with an Iceberg catalog in a folder, as a user's own, with the library's settings of `conf`."""
    from pyspark.sql import SparkSession

    from workbench._base import jars
    from workbench.session import launch

    conf = {
        "spark.master": "local[2]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.showConsoleProgress": "false",
        "spark.jars": str(jars.path("iceberg")), "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop", "spark.sql.catalog.lake.warehouse": str(folder / "lake"), "spark.sql.defaultCatalog": "lake",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions", "spark.local.dir": str(folder / "local"),
        "spark.sql.session.timeZone": "UTC", "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "spark-warehouse"),
    } | conf  # fmt: skip
    builder = SparkSession.builder.appName("golden")
    for key, value in conf.items():
        builder = builder.config(key, value)
    with launch.environment():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def redact(source, target, work):
    """Write an event log or reports without names of this machine."""
    names = {
        str(work): "/data",
        str(ROOT): "/srv/project",
        socket.gethostname(): "localhost",
        sys.prefix: "/usr",
    }

    def cleaned(text):
        for name, other in names.items():
            text = text.replace(name, other)
        return re.sub(r"/(root|tmp|home)/[^\s\"',;:)\\]*", "/data/x", text)

    if source.suffix in (".log", ".txt"):
        return target.write_text(cleaned(source.read_text()))
    text = b""
    with pa.CompressedInputStream(pa.OSFile(str(source)), "zstd") as stream:
        try:
            while part := stream.read(1 << 16):
                text += part
        except OSError:
            pass  # cut off
    lines = []
    for line in text.decode().splitlines(keepends=True):
        try:
            event = json.loads(line)
        except ValueError:
            lines.append(cleaned(line))
            continue
        if event["Event"] == "SparkListenerEnvironmentUpdate":
            event = {"Event": event["Event"], "Spark Properties": event["Spark Properties"]}
        if "User" in event:
            event["User"] = "user"
        for stage in [event.get("Stage Info") or {}, *event.get("Stage Infos", ())]:
            stage.pop("Details", None)
            stage.pop("RDD Info", None)
        event.pop("details", None)
        if event["Event"] == "SparkListenerStageSubmitted":
            event.pop("Properties", None)
        if event["Event"] == "SparkListenerJobStart":
            event["Properties"] = {
                key: value
                for key, value in event["Properties"].items()
                if key.startswith(("spark.sql.execution", "spark.job", "sql.streaming"))
            }
        lines.append(cleaned(json.dumps(event)) + "\n")
    codec = pa.Codec("zstd", compression_level=19)
    buffer = "".join(lines).encode()
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec.name) as stream:
        stream.write(buffer)
    target.write_bytes(sink.getvalue().to_pybytes())


def keep(watched, target, work):
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(watched.iterdir()):
        if path.stat().st_size and not path.name.startswith("."):
            redact(path, target / re.sub(r"^(local|app)-\d+(-\d+)?(_\d+)?", "app", path.name), work)


def together(folder, seeds, only):
    """Run the scenarios that one session can have one after another."""
    from workbench.metrics import watch

    work = folder / "work"
    spark = session(work, {})
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.m")
    for seed in seeds:
        for name, run in SCENARIOS.items():
            if only and name not in only:
                continue
            watched = work / "watched" / f"{name}-{seed}"
            begin = time.monotonic()
            ERRORS.clear()
            with watch(spark, watched) as watching:
                try:
                    run(spark, seed)
                except Exception as error:  # the others are made all the same
                    print("FAILED", name, seed, str(error)[:500], flush=True)
            assert watching.failure is None, watching.failure
            if ERRORS:
                (watched / "error.txt").write_text(ERRORS[0])
            keep(watched, folder / f"{name}-{seed}", work)
            print(name, seed, round(time.monotonic() - begin), "s", flush=True)
    spark.stop()


def alone(folder, name, seed):
    """Run a scenario that ends its session, or needs one of its own."""
    from workbench.metrics import settings

    work = folder / "work" / f"{name}-{seed}"
    watched = work / "watched"
    watched.mkdir(parents=True)
    conf = settings(watched)
    if name == "spilled":
        conf |= {"spark.driver.memory": "512m"}
    spark = session(work, conf)
    globals()[name](spark, seed)
    if ERRORS:
        (watched / "error.txt").write_text(ERRORS[0])
    spark.stop()


SCENARIOS = {name: globals()[name] for name in PLANTED if name not in ALONE}


def main(folder, *words):
    folder = Path(folder).resolve()
    seeds = [int(word) for word in words if word.isdigit()] or [0]
    only = {word for word in words if not word.isdigit()}
    if not only or only & set(SCENARIOS):
        together(folder, seeds, only)
    for name in ALONE:
        for seed in seeds if not only or name in only else ():
            child = [sys.executable, str(HERE), "--alone", str(folder), name, str(seed)]
            result = subprocess.run(child, timeout=400, capture_output=True, text=True)
            work = folder / "work" / f"{name}-{seed}"
            keep(work / "watched", folder / f"{name}-{seed}", work)
            print(name, seed, result.returncode, result.stderr[-1500:] if result.returncode else "", flush=True)
    shutil.rmtree(folder / "work")


if __name__ == "__main__":
    if sys.argv[1] == "--keep":
        keep(Path(sys.argv[3]), HERE.parent / sys.argv[2], Path(sys.argv[4]))
    elif sys.argv[1] == "--alone":
        alone(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        main(*sys.argv[1:])
