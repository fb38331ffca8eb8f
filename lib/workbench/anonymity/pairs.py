"""The tables that are checked, their columns as texts, and what is found."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, DataType, SparkSession
from workbench.anonymity.results import Finding
from workbench.tables import snapshots


@dataclass(frozen=True)
class Pair:
    """A table that is said to be anonymous, the table that it was made of, and what is found of them.

    Attributes:
        spark: session.
        name: of the table.
        table: its rows.
        source_name: of the other table; None without one.
        source: its rows.
        findings: in the order in which they were noted.
    """

    spark: SparkSession
    name: str
    table: DataFrame
    source_name: str | None
    source: DataFrame | None
    findings: list[Finding] = field(default_factory=list)

    def add(self, check: str, column: str | None, count: int, sentence: str) -> None:
        """Note a finding where its count is not zero."""
        if count:
            self.findings.append(Finding(check, column, count, f"{count:,} {sentence}"))


def read(spark: SparkSession, table: str) -> DataFrame:
    """Return the rows of an Iceberg table.

    Raises:
        TableNotFound: no such table.
    """
    snapshots.current(spark, table)  # says what is wrong with the name
    return spark.table(identifiers.quoted(table))


def columns(table: str, frame: DataFrame, names: Sequence[str]) -> None:
    """Refuse names that are not columns of a table.

    Raises:
        ValueError: with the columns that there are.
    """
    if unknown := [name for name in names if name not in frame.columns]:
        raise ArgumentError(f"{table} has no column {unknown[0]}; it has {', '.join(frame.columns)}")


def texts(frame: DataFrame) -> dict[str, Column]:
    """Return the columns that can hold what identifies somebody, as texts."""
    from pyspark.sql import functions as F

    columns = {}
    for part in frame.schema.fields:
        column = F.col(identifiers.column(part.name))
        text = _text(column, part.dataType)
        if text is not None:
            columns[part.name] = text
    return columns


def cells(frame: DataFrame) -> DataFrame:
    """Return what can identify somebody, a row a cell: row (any number), number and name of the column, text."""
    from pyspark.sql import functions as F

    columns = [
        F.struct(F.lit(number).alias("number"), F.lit(name).alias("column"), text.alias("text"))
        for number, (name, text) in enumerate(texts(frame).items())
    ]
    cell = F.explode(F.array(*columns)).alias("cell")
    return frame.select(F.monotonically_increasing_id().alias("row"), cell).select("row", "cell.*")


def _text(column: Column, kind: DataType) -> Column | None:
    from pyspark.sql import functions as F

    name = kind.typeName()
    if name in ("string", "char", "varchar", "byte", "short", "integer", "long", "decimal"):
        return column.cast("string")
    if name == "binary":
        return F.decode(column, "UTF-8")
    if name in ("struct", "array", "map"):
        return F.to_json(column)
    return None


def named(name: str) -> Column:
    """Return a column by its name, whatever is in it."""
    from pyspark.sql import functions as F

    return F.col(identifiers.column(name)).alias(name)
