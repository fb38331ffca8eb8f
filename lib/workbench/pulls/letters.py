"""Dead letters: cells of a source that could not become rows, each with its address and the reason, once."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java, SparkSession
from workbench.pulls import positions, publish
from workbench.pulls.answers import DeadCell
from workbench.tables import snapshots

COLUMNS = ("source", "address", "reason", "raw")
SCHEMA = ", ".join(f"{name} STRING" for name in COLUMNS)
PREFIX = "pulls_dead_"


def make(spark: SparkSession, table: str) -> None:
    """Make the table where it is missing.

    Raises:
        ValueError: there is another table of that name, or no such namespace.
    """
    if not snapshots.exists(spark, table):
        snapshots.refuse_no_namespace(spark, table)
        spark.sql(f"CREATE TABLE IF NOT EXISTS {identifiers.quoted(table)} ({SCHEMA}) USING iceberg")
    columns = {
        column.name: column.dataType.simpleString() for column in spark.table(identifiers.quoted(table)).schema
    }
    if columns != dict.fromkeys(COLUMNS, "string"):
        raise ArgumentError(
            f"{table} is not a table of dead letters: it has {', '.join(columns)}, expected {', '.join(COLUMNS)}, "
            "each a string; name a table that is not there, and it is made"
        )


def write(
    spark: SparkSession, table: str, source: str, dead: Sequence[DeadCell], on_step: Callable[[str], object]
) -> int:
    """Write cells that the table does not have yet; return how many these are."""
    rows = sorted({(source, cell.address, cell.reason, cell.raw) for cell in dead})
    attempt = hashlib.sha256(repr(rows).encode()).hexdigest()
    frame = spark.createDataFrame(rows, SCHEMA)
    new = 0

    def fresh(of: str) -> DataFrame:
        known = spark.table(of).where(f"source = {identifiers.literal(source)}")
        return frame.join(known, list(COLUMNS), "left_anti")

    def append(branch: str, summary: Mapping[str, str]) -> bool:
        nonlocal new
        cells = fresh(branch).cache()
        try:
            if not (new := cells.count()):
                return False
            writer = cells.select(*COLUMNS).coalesce(1).writeTo(branch)
            for name, value in summary.items():
                writer = writer.option(f"snapshot-property.{name}", value)
            writer.append()
            return True
        finally:
            cells.unpersist()

    def check(loaded: Java) -> None:
        return None

    spark.sql(f"REFRESH TABLE {identifiers.quoted(table)}")
    if fresh(identifiers.quoted(table)).isEmpty():  # no branch, and so no commit at all
        return 0
    for rebase in range(publish.REBASES + 1):
        try:
            publish.fenced(
                spark, table, PREFIX, check=check, write=append, summary={positions.ATTEMPT: attempt},
                on_step=lambda step: on_step(f"dead {step}"),
            )  # fmt: skip
            break
        except positions.AnotherWriter:  # a pull of another table came first, and swept this branch
            if rebase == publish.REBASES:
                raise
    return new
