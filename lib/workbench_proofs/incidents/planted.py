"""Jobs with a planted incident: what went wrong is known by how the job was made, not by its log."""

import os
import random
import resource
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench._base.typing import SparkSession

_PAYLOAD_BYTES = 100_000  # of a row that a task holds
_ROOM_BYTES = 48 << 20  # that such a task may take
_NOBODY = 65534
_PATIENCE_SECONDS = 900.0  # of writers that begin together


@dataclass(frozen=True)
class Plant:
    """A job with an incident.

    Attributes:
        cause: of the incident.
        run: called with the session, a table's name and a seed; returns its answer, or raises.
        prepare: what is there before it, called alike; it drops the table first.
        truth: what the answer must be, by the seed, told without Spark; None where the job can have none.
        ask: the answer of a job that returns none, called as `run`, after it.
        besides: causes that come with it rightly.
    """

    cause: str
    run: Callable[[SparkSession, str, int], Any]
    prepare: Callable[[SparkSession, str, int], Any] | None = None
    truth: Callable[[int], Any] | None = None
    ask: Callable[[SparkSession, str, int], Any] | None = None
    besides: frozenset[str] = frozenset()


def drawn(name: str, seed: int) -> random.Random:
    """Return the chance of a job: the same for its preparation, its run and its truth."""
    return random.Random(f"{name} {seed}")


@contextmanager
def setting(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Have settings of the session for a while.

    Args:
        spark: session.
        values: of Spark, those that may change while it runs.
    """
    before = {key: spark.conf.get(key, None) for key in values}
    for key, value in values.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, earlier in before.items():
            spark.conf.unset(key) if earlier is None else spark.conf.set(key, earlier)


# ---- skew


def _skewed(seed: int) -> tuple[int, int, int]:
    chance = drawn("skew", seed)
    return chance.randrange(130_000, 200_000), chance.randrange(6, 10), chance.choice((8, 12, 16))


def _skew(spark: SparkSession, _: str, seed: int) -> Any:
    """Bring nearly all rows to one of many tasks."""
    rows, tenths, tasks = _skewed(seed)
    key = f"IF(id % 10 < {tenths}, -1, id % 997)"
    frame = spark.range(0, rows, 1, 4).selectExpr(f"{key} AS k", "sha2(CAST(id AS STRING), 512) AS a", "id")
    found = frame.repartition(tasks, "k").selectExpr("count(a)", "sum(IF(k = -1, 1, 0))", "max(length(a))")
    return tuple(found.collect()[0])


def _skew_truth(seed: int) -> Any:
    rows, tenths, _ = _skewed(seed)
    return rows, sum(n % 10 < tenths for n in range(rows)), 128


def _skew_join(spark: SparkSession, _: str, seed: int) -> Any:
    """Join by a key that one side has in most of its rows."""
    rows, tenths, tasks = _skewed(seed)
    left = spark.range(0, 2 * rows, 1, 4).selectExpr(
        f"IF(id % 10 < {tenths}, -1, id % 997) AS k", "sha2(CAST(id AS STRING), 512) AS a"
    )
    right = spark.range(-1, 997, 1, 2).selectExpr("id AS k", "id * 2 AS b")
    with setting(spark, {"spark.sql.shuffle.partitions": str(tasks)}):
        return tuple(left.join(right.hint("merge"), "k").selectExpr("count(a)", "sum(b)").collect()[0])


# ---- files


def _dropped(spark: SparkSession, table: str) -> None:
    spark.sql(f"DROP TABLE IF EXISTS {table}")


def _small_files_size(seed: int) -> tuple[int, int]:
    chance = drawn("small_files", seed)
    return chance.randrange(400, 4_000), chance.randrange(48, 90)


def _small_files_prepare(spark: SparkSession, table: str, seed: int) -> None:
    rows, files = _small_files_size(seed)
    _dropped(spark, table)
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, k STRING) USING iceberg "
        "TBLPROPERTIES ('write.distribution-mode' = 'none')"
    )
    frame = spark.range(rows).selectExpr("id", "sha2(CAST(id AS STRING), 256) AS k")
    frame.repartition(files).writeTo(table).append()


def _sums(spark: SparkSession, table: str, _: int) -> Any:
    return tuple(spark.table(table).selectExpr("count(k)", "sum(id)").collect()[0])


def _small_files_truth(seed: int) -> Any:
    rows = _small_files_size(seed)[0]
    return rows, rows * (rows - 1) // 2


def _explosion_size(seed: int) -> tuple[int, int, int]:
    chance = drawn("file_explosion", seed)
    return chance.randrange(400, 4_000), chance.randrange(12, 25), chance.choice((4, 5, 6))


def _explosion_prepare(spark: SparkSession, table: str, _: int) -> None:
    _dropped(spark, table)
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, k INT) USING iceberg PARTITIONED BY (k) "
        "TBLPROPERTIES ('write.distribution-mode' = 'none')"
    )


def _explosion(spark: SparkSession, table: str, seed: int) -> None:
    """Write from each of several tasks into each of many partitions."""
    rows, keys, tasks = _explosion_size(seed)
    spark.range(0, rows, 1, tasks).selectExpr("id", f"CAST(id % {keys} AS INT) AS k").writeTo(table).append()


def _explosion_truth(seed: int) -> Any:
    rows = _explosion_size(seed)[0]
    return rows, rows * (rows - 1) // 2


# ---- commits


def _race_size(seed: int) -> tuple[int, int]:
    chance = drawn("race", seed)
    return chance.randrange(4, 7), chance.randrange(2, 5)


def _race_prepare(retries: int) -> Callable[[SparkSession, str, int], None]:
    def prepare(spark: SparkSession, table: str, _: int) -> None:
        _dropped(spark, table)
        spark.sql(
            f"CREATE TABLE {table} (id BIGINT, k STRING) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' "
            f"= '{retries}', 'commit.retry.min-wait-ms' = '5', 'commit.retry.max-wait-ms' = '20')"
        )

    return prepare


def _race(spark: SparkSession, table: str, seed: int) -> None:
    """Append from writers that all begin each round at once; raise the first refusal when all are done."""
    writers, rounds = _race_size(seed)
    together = threading.Barrier(writers)
    refusals: list[Exception] = []

    def write(writer: int) -> None:
        for number in range(rounds):
            frame = spark.range(number, number + 1, 1, 1).selectExpr("id", f"'{writer}' AS k")
            together.wait(_PATIENCE_SECONDS)
            try:
                frame.writeTo(table).append()
            except Exception as error:
                refusals.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if refusals:
        raise refusals[0]


def _race_truth(seed: int) -> Any:
    writers, rounds = _race_size(seed)
    return writers * rounds, writers * rounds * (rounds - 1) // 2


# ---- what fails


def _memory_size(seed: int) -> int:
    return drawn("out_of_memory", seed).randrange(2_500, 4_500)


def _memory(spark: SparkSession, _: str, seed: int) -> Any:
    """Hold all rows of a task in a Python worker that has a limit of memory."""
    rows, room, payload = _memory_size(seed), _ROOM_BYTES, _PAYLOAD_BYTES

    def held(batches: Iterable[Any]) -> Iterable[Any]:
        import pyarrow as pa

        count = sum(batch.num_rows for batch in batches)  # before the limit, which Arrow's own memory is not under
        before = resource.getrlimit(resource.RLIMIT_AS)
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + room, before[1]))
        try:
            kept = len([bytearray(payload) for _ in range(count)])
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        yield pa.RecordBatch.from_arrays([pa.array([kept], pa.int64())], ["n"])

    parts = spark.range(0, rows, 1, 2).repartition("id")
    return (parts.mapInArrow(held, "n BIGINT").selectExpr("sum(n)").collect()[0][0],)


def _fetch_size(seed: int) -> int:
    return drawn("fetch_failure", seed).randrange(500, 5_000)


def _fetch(spark: SparkSession, _: str, seed: int) -> Any:
    """Remove what one job shuffled before the next one reads it.

    Both jobs are the JVM's: a Python worker whose rows cannot be fetched prints a traceback about itself.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.classic.dataframe import DataFrame

    rows, jvm = _fetch_size(seed), spark._jvm
    manager = jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager()  # type: ignore[union-attr]
    folders = [Path(str(folder)) for folder in manager.localDirs()]
    there = {path for folder in folders for path in folder.rglob("shuffle_*")}
    sums = spark.range(0, rows, 1, 4).groupBy((F.col("id") % 7).alias("k")).agg(F.sum("id").alias("v"))
    shuffled = sums._jdf.rdd()
    shuffled.count()
    for path in {path for folder in folders for path in folder.rglob("shuffle_*")} - there:
        path.unlink(missing_ok=True)
    again = DataFrame(spark._jsparkSession.createDataFrame(shuffled, sums._jdf.schema()), spark)
    return tuple(sorted((row.k, row.v) for row in again.collect()))


def _fetch_truth(seed: int) -> Any:
    return tuple((key, sum(range(key, _fetch_size(seed), 7))) for key in range(7))


def _schema_prepare(spark: SparkSession, table: str, _: int) -> None:
    _dropped(spark, table)
    spark.sql(f"CREATE TABLE {table} (id BIGINT, v BIGINT, w STRING) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, 2, 'x')")
    spark.sql(f"ALTER TABLE {table} DROP COLUMN v")


def _schema(spark: SparkSession, table: str, seed: int) -> None:
    """Use a column that was dropped, in one of five ways."""
    statements = (
        f"INSERT INTO {table} SELECT id, id, 'x' FROM range(3)",
        f"SELECT sum(v) FROM {table}",
        f"INSERT INTO {table} SELECT 'a' || id, 'x' FROM range(3)",
        f"MERGE INTO {table} t USING (SELECT 1 AS id, 2 AS v) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v",
        f"UPDATE {table} SET v = 3 WHERE id = 1",
    )
    spark.sql(statements[seed % len(statements)]).collect()


def _class(spark: SparkSession, _: str, seed: int) -> None:
    """Use a class, a data source or a module that is not there, in one of four ways."""
    from pyspark.sql import functions as F

    def absent(n: int) -> int:
        import module_that_is_not_there

        return int(module_that_is_not_there.of(n))

    ways: tuple[Callable[[], Any], ...] = (
        lambda: spark.read.format("com.example.Missing").load("x"),
        lambda: spark.range(3).select(F.udf(absent, "bigint", useArrow=False)("id")).collect(),
        lambda: spark.sql("CREATE TABLE m.classless (id BIGINT) USING com_example_missing"),
        lambda: _catalog_without_class(spark, seed),
    )
    ways[seed % len(ways)]()


def _catalog_without_class(spark: SparkSession, seed: int) -> None:
    name = f"classless{seed}"
    spark.conf.set(f"spark.sql.catalog.{name}", "com.example.MissingCatalog")
    spark.sql(f"SELECT * FROM {name}.a.b").collect()


def _permission(spark: SparkSession, _: str, __: int) -> None:
    """Read what belongs to somebody else, as nobody."""
    from pyspark.sql import functions as F

    def read(_: int) -> str:
        os.seteuid(_NOBODY)
        try:
            return Path("/etc/shadow").read_text()
        finally:
            os.seteuid(0)

    spark.range(1).select(F.udf(read, useArrow=False)("id")).collect()


def _full(spark: SparkSession, _: str, __: int) -> None:
    """Write to the device of Linux that is always full."""
    from pyspark.sql import functions as F

    def write(_: int) -> None:
        Path("/dev/full").write_text("x")

    spark.range(1).select(F.udf(write, useArrow=False)("id")).collect()


PLANTS: Mapping[str, Plant] = MappingProxyType(
    {
        "skew": Plant("skew", _skew, truth=_skew_truth),
        "skew_of_a_join": Plant("skew", _skew_join),
        "small_files": Plant("small_files", _sums, _small_files_prepare, _small_files_truth),
        "file_explosion": Plant("file_explosion", _explosion, _explosion_prepare, _explosion_truth, _sums),
        "commit_conflicts": Plant("commit_conflicts", _race, _race_prepare(0), _race_truth, _sums),
        "retry_storm": Plant("retry_storm", _race, _race_prepare(20), _race_truth, _sums),
        "out_of_memory": Plant("out_of_memory", _memory, truth=lambda seed: (_memory_size(seed),)),
        "fetch_failure": Plant("fetch_failure", _fetch, truth=_fetch_truth),
        "schema_change": Plant("schema_change", _schema, _schema_prepare),
        "missing_class": Plant("missing_class", _class),
        "permission_denied": Plant("permission_denied", _permission),
        "disk_full": Plant("disk_full", _full),
    }
)
