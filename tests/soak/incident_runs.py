"""Runs with a planted incident, and healthy ones, by the lane that has the session they need.

A lane is a process with one session, which runs its jobs one after another and watches each of them by itself.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench_proofs.incidents import flowing, healthy, planted

CONNECTED = ("aggregate", "broadcast", "merge_join", "window", "appended", "merged", "partitioned", "wide_shuffle")


@dataclass(frozen=True)
class Kind:
    """Runs of one kind.

    Attributes:
        lane: whose session they need.
        runs: how many of 20 planted ones of a cause, or of 200 healthy ones.
        cause: that is planted; None of a healthy one.
        besides: causes that come with it rightly.
    """

    lane: str
    runs: int
    cause: str | None = None
    besides: frozenset[str] = frozenset()


LOST = frozenset({"lost_executor", "fetch_failure"})
KINDS = {
    "skew": Kind("plain", 10, "skew"),
    "skew_of_a_join": Kind("plain", 10, "skew"),
    "small_files": Kind("plain", 20, "small_files"),
    "file_explosion": Kind("plain", 20, "file_explosion"),
    "commit_conflicts": Kind("plain", 20, "commit_conflicts"),
    "retry_storm": Kind("plain", 20, "retry_storm"),
    "schema_change": Kind("plain", 20, "schema_change"),
    "missing_class": Kind("plain", 20, "missing_class"),
    "permission_denied": Kind("plain", 10, "permission_denied"),
    "denied_by_s3": Kind("s3", 10, "permission_denied"),
    "out_of_memory": Kind("plain", 8, "out_of_memory"),
    "result_too_large": Kind("tight", 4, "out_of_memory"),
    "heap_too_small": Kind("cluster", 8, "out_of_memory", LOST),
    "spilled": Kind("tight", 20, "spill"),
    "fetch_failure": Kind("plain", 10, "fetch_failure"),
    "files_removed": Kind("cluster", 10, "fetch_failure"),
    "killed_in_a_task": Kind("cluster", 10, "lost_executor", LOST),
    "killed_between": Kind("cluster", 10, "lost_executor", LOST),
    "shuffle_disk": Kind("small_disk", 10, "disk_full"),
    "table_disk": Kind("small_disk", 10, "disk_full"),
    "slow_storage": Kind("s3", 20, "slow_storage"),
    "lag": Kind("streams", 20, "stream_lag"),
    "stuck": Kind("stuck", 20, "stream_stuck"),
    "thrash": Kind("thrash", 20, "gc_thrash"),
    **{name: Kind("plain", 6) for name in healthy.JOBS},
    **{f"s3_{name}": Kind("s3", 1) for name in CONNECTED},
    **{f"cluster_{name}": Kind("cluster", 1) for name in CONNECTED},
    "resting": Kind("stuck", 9),
}
NOTEBOOKS = {  # to the causes that each shows on purpose, by its text; all but these are false alarms
    "00_template": (),
    "01_first_table": (),
    "02_explore_a_lake": (),
    "20_write_audit_publish": (),
    "21_track_history": (),
    "22_race_writers": ("commit_conflicts", "retry_storm"),
    "23_check_quality": (),
    "26_check_anonymised": (),
    "31_join_without_shuffle": (),
    "33_move_to_iceberg": (),
    "40_compact_small_files": ("small_files", "file_explosion"),
    "41_doctor_a_sick_table": ("small_files", "file_explosion"),
    "42_expire_and_clean": (),
    "60_share_by_tags": ("schema_change",),
}
KINDS |= {name: Kind("notebooks", 1, None, frozenset(causes)) for name, causes in NOTEBOOKS.items()}


def prepare(lane, name, table, seed):
    """Prepare a run, unwatched."""
    plant = planted.PLANTS.get(name)
    if plant is not None and plant.prepare is not None:
        plant.prepare(lane.spark, table, seed)
    if name == "slow_storage":
        _files_in_s3(lane.spark, table, seed)


def run(lane, name, table, seed):
    """Do the job of a run."""
    if (plant := planted.PLANTS.get(name)) is not None:
        return plant.run(lane.spark, table, seed)
    if name in OWN:
        return OWN[name](lane, table, seed)
    return healthy.run(lane.spark, name.removeprefix("s3_").removeprefix("cluster_"), table, lane.files, seed)


# ---- memory and disks


def spilled(lane, table, seed):
    """Sort more than a heap of 512 MB has for it."""
    chance = planted.drawn("spilled", seed)
    rows = lane.spark.range(0, chance.randrange(700_000, 1_100_000), 1, 1).selectExpr(
        "sha2(CAST(id AS STRING), 512) AS a", "sha2(CAST(id + 1 AS STRING), 512) AS b"
    )
    sorted_by = chance.choice(("a", "b"))
    rows.repartition(1).sortWithinPartitions(sorted_by).write.format("noop").mode("overwrite").save()


def result_too_large(lane, table, seed):
    """Collect more than the driver takes."""
    rows = planted.drawn("result", seed).randrange(200_000, 400_000)
    lane.spark.range(0, rows, 1, 4).selectExpr("sha2(CAST(id AS STRING), 512) AS a").collect()


def heap_too_small(lane, table, seed):
    """Collect lists that no executor's heap holds."""
    chance = planted.drawn("heap", seed)
    rows, size = chance.randrange(3_000, 5_000), chance.randrange(800_000, 1_200_000)
    texts = lane.spark.range(0, rows, 1, 2).selectExpr(f"repeat(CAST(id % 10 AS STRING), {size}) AS a")
    before = lane.executors()
    try:
        texts.groupBy().agg({"a": "collect_list"}).selectExpr("size(`collect_list(a)`)").collect()
    finally:
        # one without memory takes its time to end, which would be told in the log of the next run
        for pid in {*before} & {*lane.executors()}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not {*before} & {*lane.executors()})
        lane.whole()


def thrash(lane, table, seed):
    """Work in a heap whose old generation is full of what lives, so that each collection is one of the whole heap."""
    jvm, rows = lane.spark._jvm, planted.drawn("thrash", seed).randrange(900_000, 1_300_000)
    frame = lane.spark.range(0, rows, 1, 4).selectExpr("id % 1000 AS k", "sha2(CAST(id AS STRING), 256) AS a")
    lane.fill()
    try:
        frame.groupBy("k").agg({"a": "max"}).collect()
    finally:
        lane.ballast = None
        jvm.java.lang.System.gc()


def shuffle_disk(lane, table, seed):
    """Shuffle more than the disk of shuffles has room for, a tmpfs of 8 MB."""
    rows = planted.drawn("shuffle_disk", seed).randrange(200_000, 300_000)
    frame = lane.spark.range(0, rows, 1, 4).selectExpr("id", "sha2(CAST(id AS STRING), 512) AS a")
    try:
        frame.repartition(4, "id").selectExpr("max(a)").collect()
    finally:
        for path in [*lane.disk.rglob("*shuffle_*")]:
            path.unlink(missing_ok=True)


def table_disk(lane, table, seed):
    """Write a table to a disk that is too small for it, a tmpfs of 8 MB."""
    rows, name = planted.drawn("table_disk", seed).randrange(200_000, 300_000), f"small.m.t{seed}"
    lane.spark.sql(f"CREATE TABLE {name} (id BIGINT, a STRING) USING iceberg")
    try:
        frame = lane.spark.range(0, rows, 1, 4).selectExpr("id", "sha2(CAST(id AS STRING), 512) AS a")
        frame.writeTo(name).append()
    finally:
        lane.spark.sql(f"DROP TABLE {name} PURGE")
        for path in [*(lane.disk / "tables").rglob("*.parquet")]:
            path.unlink(missing_ok=True)


# ---- a cluster


def killed_in_a_task(lane, table, seed):
    """Kill an executor by signal 9 in one of its tasks, once."""
    from pyspark.sql import functions as F

    chance = planted.drawn("killed", seed)
    rows, last, marker = chance.randrange(40, 400), chance.randrange(40), lane.files / f"killed{seed}"

    def end(n):
        if n == last and not marker.exists():
            marker.touch()
            pid = os.getpid()
            while Path(f"/proc/{pid}/comm").read_text().strip() != "java":
                pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(pid, signal.SIGKILL)
        return n

    numbers = lane.spark.range(0, rows, 1, 4).select(F.udf(end, "bigint")("id").alias("n"))
    assert numbers.agg({"n": "sum"}).first()[0] == rows * (rows - 1) // 2
    lane.whole()


def _shuffled(lane, seed):
    rows = planted.drawn("shuffled", seed).randrange(500, 5_000)
    pairs = lane.spark.sparkContext.parallelize(range(rows), 4).map(lambda n: (n % 7, n)).groupByKey(4)
    pairs.count()
    return rows, pairs


def killed_between(lane, table, seed):
    """Kill an executor by signal 9 after it has written a shuffle, with its files, and read the shuffle then."""
    rows, pairs = _shuffled(lane, seed)
    pid = lane.executors()[seed % 2]
    files = lane.shuffled(pid)
    os.kill(pid, signal.SIGKILL)
    for path in files:
        path.unlink(missing_ok=True)
    assert sum(pairs.mapValues(sum).values().collect()) == rows * (rows - 1) // 2
    lane.whole()


def files_removed(lane, table, seed):
    """Remove the files of a shuffle before it is read; the executors go on."""
    rows, pairs = _shuffled(lane, seed)
    files = {path for pid in lane.executors() for path in lane.shuffled(pid)}
    assert files
    for path in files:
        path.unlink(missing_ok=True)
    assert sum(pairs.mapValues(sum).values().collect()) == rows * (rows - 1) // 2


# ---- S3


def _files_in_s3(spark, table, seed):
    chance = planted.drawn("slow", seed)
    rows, files = chance.randrange(200_000, 260_000), chance.randrange(12, 20)
    spark.sql(f"CREATE TABLE {table} (id BIGINT, a STRING, b STRING) USING iceberg "
              "TBLPROPERTIES ('write.distribution-mode' = 'none')")  # fmt: skip
    columns = ["id", *(f"base64(unhex(sha2(concat('{name}', id), 512))) AS {name}" for name in "ab")]
    spark.range(0, rows, 1, files).selectExpr(*columns).writeTo(table).append()


def slow_storage(lane, table, seed):
    """Read a table whose storage takes its time over each answer."""
    lane.delay(planted.drawn("delay", seed).uniform(1.0, 1.6))
    try:
        lane.slow.table(table).selectExpr("max(a)", "max(b)", "sum(id)").collect()
    finally:
        lane.delay(0)


def denied_by_s3(lane, table, seed):
    """Read, or write, with a key that the storage does not take."""
    lane.spark.range(10).writeTo(table).create()
    if seed % 2:
        lane.denied.table(table).agg({"id": "sum"}).collect()
    else:
        lane.denied.range(10, 20).writeTo(table).append()


OWN = {
    "spilled": spilled, "result_too_large": result_too_large, "heap_too_small": heap_too_small, "thrash": thrash,
    "shuffle_disk": shuffle_disk, "table_disk": table_disk, "killed_in_a_task": killed_in_a_task,
    "killed_between": killed_between, "files_removed": files_removed, "slow_storage": slow_storage,
    "denied_by_s3": denied_by_s3,
    "lag": lambda lane, table, seed: flowing.lag(lane.spark, seed),
    "stuck": lambda lane, table, seed: flowing.stuck(lane.spark, seed),
    "resting": lambda lane, table, seed: flowing.resting(lane.spark, lane.files, seed),
}  # fmt: skip


def until(ready, seconds=120):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError("not ready in time")
        time.sleep(0.2)
