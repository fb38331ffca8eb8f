"""The tables that are checked, their columns as texts, and what is found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, DataType, SparkSession
from workbench.anonymity import values
from workbench.anonymity.results import Finding
from workbench.tables import snapshots

_DIGESTS = (16, 20, 28, 32, 48, 64)  # bytes of MD5, SHA-1 and SHA-2
_MOMENTS = ("date", "timestamp", "timestamp_ntz")
_WHOLE_NUMBERS = ("byte", "short", "integer", "long")
_NUMBERS = (*_WHOLE_NUMBERS, "float", "double", "decimal")


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


def numbers(table: str, frame: DataFrame, names: Iterable[str]) -> None:
    """Refuse columns that are not of numbers: a cast that fails has the value in its message.

    Raises:
        ValueError: with the type of the column.
    """
    _refuse_others(table, frame, names, _NUMBERS, "numbers")


def dates(table: str, frame: DataFrame, names: Iterable[str]) -> None:
    """Refuse columns that are neither of dates nor of moments.

    Raises:
        ValueError: with the type of the column.
    """
    _refuse_others(table, frame, names, _MOMENTS, "dates or moments")


def _refuse_others(table: str, frame: DataFrame, names: Iterable[str], kinds: Sequence[str], words: str) -> None:
    for name in names:
        kind = frame.schema[name].dataType.typeName()
        if kind not in kinds:
            raise ArgumentError(f"{name} of {table} must be a column of {words}, found {kind}")


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
    if name in ("string", "char", "varchar", *_WHOLE_NUMBERS, *_MOMENTS):
        return column.cast("string")
    if name == "decimal":
        return F.regexp_replace(column.cast("string"), values.POINT_ZERO, "$1")
    if name in ("float", "double"):  # a whole number, such as of a column that pandas wrote
        whole = (column == F.floor(column)) & (F.abs(column) < values.WHOLE_FLOATS)
        return F.when(whole, column.cast("long").cast("string"))
    if name == "binary":  # bytes as they are, which `decode` refuses; of the length of a digest, its digits too
        digits = F.when(F.length(column).isin(*_DIGESTS), F.lower(F.hex(column)))
        return F.concat_ws(" ", column.cast("string"), digits)
    if name in ("struct", "array", "map"):  # without its escapes, so that a line's end is no letter of a word
        return F.regexp_replace(F.to_json(column), r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})', " ")
    return None


def named(name: str) -> Column:
    """Return a column by its name, whatever is in it."""
    from pyspark.sql import functions as F

    return F.col(identifiers.column(name)).alias(name)
