"""Healthy jobs: of 27 kinds, their sizes, keys, tasks and tables drawn by a seed.

Healthy is what no threshold of `incidents` is meant for: keys that are about even, as much memory as the job
needs, tables of few files, writers that take turns. Some of the jobs come near to it on purpose: megabytes to a
task, tens of files, a question that reads a fourth of what was planned.
"""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from workbench._base.typing import DataFrame, SparkSession
from workbench_proofs.incidents import flowing
from workbench_proofs.incidents.planted import drawn, setting

Job = Callable[[SparkSession, str, Path, random.Random], object]
_WIDE = "sha2(CAST(id AS STRING), 512) AS a"


def _frame(spark: SparkSession, chance: random.Random, *, most: int = 40_000, wide: bool = False) -> DataFrame:
    """Return rows of id, k (even keys) and v."""
    rows, keys, tasks = chance.randrange(100, most), chance.randrange(5, 400), chance.randrange(1, 9)
    more = [_WIDE] if wide else []
    return spark.range(0, rows, 1, tasks).selectExpr("id", f"id % {keys} AS k", "id * 3 AS v", *more)


def _aggregate(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    return _frame(spark, chance).groupBy("k").agg({"v": "sum", "id": "count"}).collect()


def _broadcast(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    few = spark.range(chance.randrange(1, 300)).selectExpr("id AS k", "id % 3 AS g")
    return _frame(spark, chance).join(few, "k").groupBy("g").count().collect()


def _merge_join(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    left, right = _frame(spark, chance), _frame(spark, chance).selectExpr("id", "v AS w")
    return left.join(right.hint("merge"), "id").selectExpr("sum(v - w)").collect()


def _wide_shuffle(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    rows, tasks = chance.randrange(150_000, 300_000), chance.choice((2, 4, 6))
    frame = spark.range(0, rows, 1, 4).selectExpr("id", _WIDE)
    return frame.repartition(tasks, "id").selectExpr("max(a)", "count(*)").collect()


def _uneven_shuffle(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    """Bring one task two to three times the rows of the others."""
    rows, keys, share = chance.randrange(100_000, 200_000), chance.choice((6, 8)), chance.randrange(5, 15)
    key = f"IF(id % 100 < {share}, 0, id % {keys})"
    frame = spark.range(0, rows, 1, 4).selectExpr(f"{key} AS k", _WIDE)
    return frame.repartitionByRange(keys, "k").selectExpr("max(a)", "count(*)").collect()


def _window(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    ranked = _frame(spark, chance).selectExpr("*", "row_number() OVER (PARTITION BY k ORDER BY v DESC) AS n")
    return ranked.where("n < 3").collect()


def _rollup(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    return _frame(spark, chance, most=8_000).rollup("k", "v").count().where("k IS NULL").collect()


def _explode(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    each = f"explode(sequence(1, {chance.randrange(2, 9)})) AS n"
    return (
        _frame(spark, chance, most=9_000).selectExpr("k % 5 AS k", each).groupBy("k").pivot("n").count().collect()
    )


def _sort(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    return _frame(spark, chance, wide=True).orderBy("a").limit(chance.randrange(1, 99)).collect()


def _cached(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    frame = _frame(spark, chance, wide=True).cache()
    answers = [frame.where(f"k = {number}").count() for number in range(3)]
    frame.unpersist()
    return answers


def _python(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    from pyspark.sql import functions as F

    tripled = F.udf(lambda n: n * 3, "bigint", useArrow=False)
    return _frame(spark, chance, most=5_000).select(tripled("id").alias("n")).agg({"n": "sum"}).collect()


def _arrow(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    return _frame(spark, chance).mapInArrow(lambda batches: batches, "id BIGINT, k BIGINT, v BIGINT").count()


def _rdd(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    pairs = spark.sparkContext.parallelize(range(chance.randrange(100, 4_000)), 4).map(lambda n: (n % 9, 1))
    return pairs.reduceByKey(lambda a, b: a + b).collect()


def _parquet(spark: SparkSession, _: str, folder: Path, chance: random.Random) -> object:
    path = str(folder / f"parquet{chance.random()}")
    _frame(spark, chance, wide=True, most=200_000).write.parquet(path)
    return spark.read.parquet(path).groupBy("k").agg({"a": "max"}).collect()


def _text(spark: SparkSession, _: str, folder: Path, chance: random.Random) -> object:
    path, form = str(folder / f"text{chance.random()}"), chance.choice(("csv", "json"))
    _frame(spark, chance, most=9_000).write.format(form).save(path)
    return spark.read.format(form).load(path).count()


def _empty(spark: SparkSession, table: str, __: Path, chance: random.Random) -> object:
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    _frame(spark, chance).where("id < 0").select("id").writeTo(table).append()
    return spark.table(table).count()


def _appended(spark: SparkSession, table: str, __: Path, chance: random.Random) -> object:
    spark.sql(f"CREATE TABLE {table} (id BIGINT, k BIGINT, v BIGINT) USING iceberg")
    for _ in range(chance.randrange(1, 5)):
        _frame(spark, chance).coalesce(chance.randrange(1, 4)).writeTo(table).append()
    return spark.table(table).where("id < 500").groupBy("k").count().collect()


def _as_select(spark: SparkSession, table: str, __: Path, chance: random.Random) -> object:
    frame = _frame(spark, chance)
    frame.writeTo(table).create()
    return frame.exceptAll(spark.table(table)).count()


def _partitioned(spark: SparkSession, table: str, __: Path, chance: random.Random) -> object:
    keys = chance.randrange(2, 24)
    spark.sql(f"CREATE TABLE {table} (id BIGINT, k BIGINT) USING iceberg PARTITIONED BY (k)")
    _frame(spark, chance).selectExpr("id", f"id % {keys} AS k").writeTo(table).append()
    return [spark.table(table).where(f"k = {key}").count() for key in (0, 1)] + [spark.table(table).count()]


def _limited(spark: SparkSession, table: str, __: Path, chance: random.Random) -> object:
    """Ask for a few rows of a table of up to 31 files, which may be planned and need not be read."""
    files = chance.randrange(10, 32)
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, k BIGINT, v BIGINT) USING iceberg "
        "TBLPROPERTIES ('write.distribution-mode' = 'none')"
    )
    _frame(spark, chance).repartition(files).writeTo(table).append()
    return spark.table(table).limit(5).collect(), spark.table(table).count()


def _changed(mode: str, statement: str) -> Job:
    def change(spark: SparkSession, table: str, _: Path, chance: random.Random) -> object:
        kinds = ", ".join(f"'write.{name}.mode' = '{mode}'" for name in ("delete", "update", "merge"))
        spark.sql(
            f"CREATE TABLE {table} (id BIGINT, v BIGINT) USING iceberg "
            f"TBLPROPERTIES ({kinds}, 'format-version' = '2')"
        )
        spark.range(0, chance.randrange(500, 9_000), 1, 2).selectExpr("id", "id AS v").writeTo(table).append()
        for _turn in range(chance.randrange(1, 4)):
            spark.sql(statement.format(table=table, n=chance.randrange(2, 9), most=chance.randrange(9, 4_000)))
        return spark.table(table).selectExpr("count(*)", "sum(v)").collect()

    return change


_MERGE = (
    "MERGE INTO {table} t USING (SELECT id * {n} AS id FROM range({most})) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = t.v + 1 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 0)"
)
_UPDATE = "UPDATE {table} SET v = v + {n} WHERE id < {most}"
_DELETE = "DELETE FROM {table} WHERE id % {n} = 1 AND id < {most}"


def _maintained(spark: SparkSession, table: str, folder: Path, chance: random.Random) -> object:
    _appended(spark, table, folder, chance)
    catalog, name = table.split(".", 1)
    spark.sql(
        f"CALL {catalog}.system.rewrite_data_files(table => '{name}', options => map('min-input-files', '2'))"
    )
    spark.sql(f"CALL {catalog}.system.expire_snapshots(table => '{name}', retain_last => 1)")
    return spark.table(table).count()


def _steady(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    flowing.steady(spark, chance.randrange(1 << 30))
    return None


def _uneven(spark: SparkSession, _: str, folder: Path, chance: random.Random) -> object:
    flowing.uneven(spark, folder, chance.randrange(1 << 30))
    return None


def _adaptive(spark: SparkSession, _: str, __: Path, chance: random.Random) -> object:
    with setting(spark, {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "24"}):
        return _frame(spark, chance).groupBy("k").count().orderBy("k").collect()


JOBS: Mapping[str, Job] = MappingProxyType(
    {
        "aggregate": _aggregate, "broadcast": _broadcast, "merge_join": _merge_join, "wide_shuffle": _wide_shuffle,
        "uneven_shuffle": _uneven_shuffle, "window": _window, "rollup": _rollup, "explode": _explode,
        "sort": _sort, "cached": _cached, "python": _python, "arrow": _arrow, "rdd": _rdd, "parquet": _parquet,
        "text": _text, "empty": _empty, "appended": _appended, "as_select": _as_select,
        "partitioned": _partitioned, "limited": _limited, "merged": _changed("copy-on-write", _MERGE),
        "updated": _changed("merge-on-read", _UPDATE), "deleted": _changed("merge-on-read", _DELETE),
        "maintained": _maintained, "adaptive": _adaptive, "steady_stream": _steady, "uneven_stream": _uneven,
    }
)  # fmt: skip


def run(spark: SparkSession, name: str, table: str, folder: Path, seed: int) -> object:
    """Run a healthy job.

    Args:
        spark: session with an Iceberg catalog.
        name: of JOBS.
        table: a name that is not taken, of the form `catalog.namespace.name`; jobs that write make it.
        folder: for files, the job's own.
        seed: of sizes, keys and tasks.

    Returns:
        Its answer, whatever that is.
    """
    return JOBS[name](spark, table, folder, drawn(name, seed))
