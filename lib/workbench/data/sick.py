"""Tables that were made sick on purpose, each with the causes that were planted, and a healthy one."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from workbench._base import identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.typing import DataFrame, SparkSession

TARGET_FILE_BYTES = 32 * 1024  # what these small tables are judged by: their data files are tens of kilobytes
LEAST_ROWS = 20_000  # of fewer, files in no order are also small ones
COLUMNS = "id BIGINT, day DATE, day_key INT, customer INT, amount DECIMAL(9, 2)"
_MERGE_ON_READ = {f"write.{command}.mode": "merge-on-read" for command in ("delete", "update", "merge")}


@dataclass(frozen=True)
class Sick:
    """A table and what is wrong with it.

    Attributes:
        name: `namespace.name`.
        story: how it became so, a sentence.
        causes: planted, sorted by name; none in a healthy table.
        rows: that it holds.
    """

    name: str
    story: str
    causes: tuple[str, ...]
    rows: int


@checked
def orders(spark: SparkSession, *, rows: Annotated[int, Ge(0)], seed: int = 1) -> DataFrame:
    """Return orders as a frame: each row is a function of its number and the seed, the ids come in order.

    Args:
        spark: SparkSession.
        rows: how many.
        seed: any integer.

    Returns:
        DataFrame with `COLUMNS`: a day of a year, its key (20260101 on), a customer of 1,000, an amount.
    """
    customer, cents = (f"pmod(xxhash64(id, {number}), 1000000)" for number in (seed, -seed - 1))
    day = f"date_add(DATE'2026-01-01', CAST(id * 365 DIV {rows} AS INT))"
    return spark.range(rows).selectExpr(
        "id",
        f"{day} AS day",
        f"CAST(date_format({day}, 'yyyyMMdd') AS INT) AS day_key",
        f"CAST({customer} % 1000 AS INT) AS customer",
        f"CAST({cents} / 100 AS DECIMAL(9, 2)) AS amount",
    )


@checked
def healthy(spark: SparkSession, namespace: str, *, rows: Annotated[int, Ge(0)], seed: int = 1) -> Sick:
    """Make a table in one write, partitioned by month, with nothing wrong."""
    name = _create(spark, identifiers.within(namespace, "healthy"), "months(day)")
    _sorted(orders(spark, rows=rows, seed=seed)).writeTo(name).append()
    return Sick(name, "one write, a partition a month", (), rows)


@checked
def dripped(
    spark: SparkSession,
    namespace: str,
    *,
    rows: Annotated[int, Ge(0)],
    seed: int = 1,
    drips: Annotated[int, Ge(1)] = 24,
) -> Sick:
    """Make a table by many small appends, as a stream does: small files, and a manifest each."""
    name = _create(spark, identifiers.within(namespace, "dripped"))
    frame = orders(spark, rows=rows, seed=seed).cache()
    for n in range(drips):
        low, high = n * rows // drips, (n + 1) * rows // drips
        frame.where(f"id >= {low} AND id < {high}").coalesce(1).writeTo(name).append()
    frame.unpersist()
    return Sick(name, f"{drips} small appends", ("many_manifests", "small_files"), rows)


@checked
def crossed_out(
    spark: SparkSession,
    namespace: str,
    *,
    rows: Annotated[int, Ge(0)],
    seed: int = 1,
    deletes: Annotated[int, Ge(0)] = 6,
) -> Sick:
    """Make a table whose rows were deleted bit by bit, merge-on-read: delete files for every reader to apply."""
    name = _create(spark, identifiers.within(namespace, "crossed_out"), properties=_MERGE_ON_READ)
    orders(spark, rows=rows, seed=seed).coalesce(1).writeTo(name).append()
    for n in range(deletes):
        spark.sql(f"DELETE FROM {name} WHERE pmod(id, 20) = {n}")
    alive = rows - sum(len(range(n, rows, 20)) for n in range(deletes))
    return Sick(name, f"{deletes} deletes by merge-on-read", ("delete_files",), alive)


@checked
def shredded(spark: SparkSession, namespace: str, *, rows: Annotated[int, Ge(0)], seed: int = 1) -> Sick:
    """Make a table that is partitioned by the raw key of a day, as dimensional models are loaded."""
    name = _create(spark, identifiers.within(namespace, "shredded"), "day_key")
    _sorted(orders(spark, rows=rows, seed=seed)).writeTo(name).append()
    return Sick(name, "partitioned by the raw key of the day", ("wrong_partition_transform",), rows)


@checked
def shuffled(spark: SparkSession, namespace: str, *, rows: Annotated[int, Ge(LEAST_ROWS)], seed: int = 1) -> Sick:
    """Make a table that promises an order which its files do not have: customers are all over them.

    Raises:
        ValueError: there are fewer than `LEAST_ROWS`.
    """
    files = rows * 9 // 30_000  # a row takes 9 bytes, a file is about a target size
    name = _create(spark, identifiers.within(namespace, "shuffled"))
    orders(spark, rows=rows, seed=seed).repartition(files, "id").writeTo(name).append()
    spark.sql(f"ALTER TABLE {name} WRITE ORDERED BY customer")
    return Sick(name, f"ordered by customer after {files} files were written by chance", ("unsorted_files",), rows)


@checked
def forgotten(
    spark: SparkSession,
    namespace: str,
    *,
    rows: Annotated[int, Ge(0)],
    seed: int = 1,
    versions: Annotated[int, Ge(1)] = 10,
) -> Sick:
    """Make a table with a branch that nobody dropped after its audit, and a full log of metadata files."""
    more = {"write.metadata.previous-versions-max": str(versions)}
    name = _create(spark, identifiers.within(namespace, "forgotten"), properties=more)
    frame = orders(spark, rows=rows, seed=seed)
    frame.coalesce(1).writeTo(name).append()
    spark.sql(f"ALTER TABLE {name} CREATE BRANCH audit")
    frame.selectExpr("-id AS id", "day", "day_key", "customer", "amount").coalesce(1).writeTo(
        identifiers.on_branch(name, "audit")
    ).append()
    for n in range(versions):
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('checked' = '{n}')")
    return Sick(name, "a branch after an audit, and a commit now and then",
                ("dangling_refs", "metadata_versions"), rows)  # fmt: skip


ALL = (dripped, crossed_out, shredded, shuffled, forgotten)


def _sorted(df: DataFrame) -> DataFrame:
    return df.coalesce(1).sortWithinPartitions("day_key")


def _create(
    spark: SparkSession, name: str, partitioned: str = "", properties: Mapping[str, str] = MappingProxyType({})
) -> str:
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    by = f"PARTITIONED BY ({partitioned})" if partitioned else ""
    given = {"format-version": "2", "write.distribution-mode": "none", **properties}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    spark.sql(f"CREATE TABLE {name} ({COLUMNS}) USING iceberg {by} TBLPROPERTIES ({listed})")
    return name
