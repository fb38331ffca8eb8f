"""The table of a map: its columns, made where it is not there, and its rows read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession
from workbench.maps import positions, resources
from workbench.maps.resources import Delivery, Function
from workbench.maps.work import FIXED, OUTPUT
from workbench.tables import commits, snapshots


def columns(definition: Mapping[str, Any], bound: Mapping[str, Function | Delivery]) -> dict[str, str]:
    """Return the columns of a map's table, name to type: those of every map, the output, and the delivered ones.

    The child's output is kept where the definition has a ResultWriter, or nothing is delivered.

    Raises:
        ValueError: the delivery's columns are wrong, or have a name of ours.
    """
    target = resources.delivery(bound)
    delivered = {}
    if target is not None:
        delivered = {field.name: field.dataType.simpleString() for field in resources.records(target).fields()}
    ours = FIXED | ({OUTPUT: "string"} if "ResultWriter" in definition or target is None else {})
    if clash := sorted({name.lower() for name in delivered} & {*FIXED, OUTPUT}):
        raise ArgumentError(f"the delivery has the column {clash[0]}, which a map's table has for itself")
    return ours | delivered


def ddl(kinds: Mapping[str, str]) -> str:
    """Return columns as DDL."""
    return ", ".join(f"{identifiers.in_sql(name)} {kind}" for name, kind in kinds.items())


def ensure(spark: SparkSession, table: str, expected: Mapping[str, str]) -> None:
    """Make the table where it is not there; refuse one that is another map's, or none's.

    Raises:
        ValueError: it has other columns.
    """
    if not snapshots.exists(spark, table):
        spark.sql(f"CREATE TABLE IF NOT EXISTS {identifiers.quoted(table)} ({ddl(expected)}) USING iceberg")
    commits.load(spark, table)
    actual = {field.name: field.dataType.simpleString() for field in spark.table(identifiers.quoted(table)).schema}
    if actual == dict(expected):
        return
    if not set(FIXED) <= set(actual):
        raise ArgumentError(
            f"{table} is not a map's table: it has no column {sorted(set(FIXED) - set(actual))[0]}"
        )
    differing = sorted(set(actual.items()) ^ set(expected.items()))
    name, kind = differing[0]
    which = f"it has {name} {kind}" if (name, kind) in actual.items() else f"it lacks {name} {kind}"
    raise ArgumentError(f"{table} is the table of another map: {which}; expected is {ddl(expected)}")


def token(spark: SparkSession, table: str) -> str:
    """Return twelve letters that stand for a table, whatever its name is; another one of its name has others."""
    return str(commits.load(spark, table).uuid()).replace("-", "")[:12]


def rows(spark: SparkSession, table: str, run_id: str, redrives: int) -> DataFrame:
    """Return the rows that count of a run: of each item those of its last redrive; lazy."""
    from pyspark.sql import functions as F

    every = spark.table(identifiers.quoted(table)).where(F.col("_run") == F.lit(run_id))
    if not redrives:
        return every
    again = every.where("_redrive > 0").groupBy("_index").agg(F.max("_redrive").alias("_last"))
    joined = every.join(again, "_index", "left").where("_redrive = coalesce(_last, 0)")
    return joined.select(*every.columns)


def failed(spark: SparkSession, table: str, run_id: str, redrives: int) -> list[Any]:
    """Return the failed children of a run, a row each: _source, _index, _items."""
    wrong = rows(spark, table, run_id, redrives).where("_error IS NOT NULL")
    return wrong.select("_source", "_index", "_items").collect()


@dataclass(frozen=True)
class Failure:
    """An error by which items of a run failed.

    Attributes:
        error: its name.
        items: that failed by it, by their last try.
        causes: how many different ones they have.
        index: number of the first of them.
        cause: of that.
    """

    error: str
    items: int
    causes: int
    index: int
    cause: str


def failures(spark: SparkSession, table: str, run_id: str, redrives: int, most: int) -> list[Failure]:
    """Return the errors by which most items of a run failed, the most frequent first."""
    from pyspark.sql import functions as F

    wrong = rows(spark, table, run_id, redrives).where("_error IS NOT NULL").groupBy("_error")
    first = F.min(F.struct("_index", "_cause")).alias("first")
    causes = F.countDistinct("_cause").alias("causes")
    by_error = wrong.agg(F.sum("_items").alias("items"), causes, first).orderBy(F.desc("items"), "_error")
    return [
        Failure(row["_error"], row["items"], row["causes"], row["first"]["_index"], row["first"]["_cause"])
        for row in by_error.limit(most).collect()
    ]


def run_of(spark: SparkSession, table: str, run_id: str) -> tuple[positions.Run, positions.Position]:
    """Return a run and its position.

    Raises:
        ValueError: the table has no such run; the message lists some of those that it has.
    """
    loaded = commits.load(spark, table)
    run = positions.find(spark, loaded, run_id)
    if run is None:
        others = [
            name.removeprefix(positions.RUN)
            for name in dict(loaded.properties())
            if name.startswith(positions.RUN)
        ]
        what = f"it has {len(others)} other run{'s' * (len(others) > 1)}" if others else "it has none"
        raise ArgumentError(f"{table} has no run {run_id!r}; {what}")
    return run
