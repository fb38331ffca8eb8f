"""Producer duplicates: the same record sent twice has two sequence numbers, and only its own key says so."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, SparkSession

TIMES = ("timestamp", "timestamp_ntz", "date")
_MICROS = 3_600_000_000  # of an hour
_MOST_HOURS = 24 * 366 * 20_000  # more is all there can be, and Spark's intervals hold it
_FIRST_DAY = -(2**31)  # of Spark's dates


@dataclass(frozen=True)
class RecordKey:
    """What makes a record the same as another one. A row without a key (any column null) is kept.

    Attributes:
        columns: of the table, together unique.
        time: column of time or date by which the table is partitioned; None compares with the whole table.
        hours: how far behind the batch's earliest time the table is looked through.
    """

    columns: tuple[str, ...]
    time: str | None = None
    hours: float = 24.0

    def __post_init__(self) -> None:
        if isinstance(self.columns, str) or not self.columns or not all(isinstance(c, str) for c in self.columns):
            raise ArgumentError(f"columns of a record key must be a tuple of names, found {self.columns!r}")
        number = isinstance(self.hours, int | float) and not isinstance(self.hours, bool)
        if not number or not self.hours >= 0:  # NaN is not >= anything
            raise ArgumentError(f"hours of a record key must be a number of at least 0, found {self.hours!r}")


def since(rows: DataFrame, key: RecordKey) -> Column | None:
    """Return the Column of the time from which the table has to be looked through; None for all. Runs the rows."""
    from pyspark.sql import functions as F

    if key.time is None:
        return None
    kind, hours = rows.schema[key.time].dataType.typeName(), min(key.hours, _MOST_HOURS)
    # no date or datetime of Python: it has no day before the year 1, where one record would stop the stream for
    # good; PySpark makes no literal of years of three digits; and a moment would be off where clocks change
    plain: dict[str, Callable[[Column], Column]] = {
        "date": F.unix_date, "timestamp": F.unix_micros, "timestamp_ntz": lambda time: time.cast("string"),
    }  # fmt: skip
    first = rows.agg(plain[kind](F.min(identifiers.column(key.time)))).collect()[0][0]
    if first is None:
        return None
    if kind == "date":
        return F.date_from_unix_date(F.lit(max(first - int(hours // 24), _FIRST_DAY)))
    micros = round(hours * _MICROS)
    if kind == "timestamp":
        return F.timestamp_micros(F.lit(first - micros))
    seconds = F.lit(Decimal(micros).scaleb(-6)).cast("decimal(18,6)")
    return F.lit(first).cast("timestamp_ntz") - F.make_dt_interval(secs=seconds)


def once(
    spark: SparkSession,
    rows: DataFrame,
    table: str,
    branch: str,
    key: RecordKey,
    order: list[str],
    earliest: Column | None,
) -> DataFrame:
    """Return the rows whose key neither the table nor an earlier row of the batch has; lazy.

    Args:
        spark: session.
        rows: the batch.
        table: its table.
        branch: of the table, on which the rows are staged. A snapshot by its id would have the columns of its day.
        key: RecordKey.
        order: columns that say which of the batch's duplicates came first; dropped from the result.
        earliest: Column of the time from `since`, or None.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    named = F.lit(True)
    for column in key.columns:
        named = named & F.col(identifiers.column(column)).isNotNull()
    turn = F.row_number().over(Window.partitionBy(*map(identifiers.column, key.columns)).orderBy(*order))
    first = rows.withColumn("_turn", F.when(named, turn).otherwise(1)).where("_turn = 1").drop("_turn", *order)
    written = spark.sql(f"SELECT * FROM {identifiers.quoted(table)} VERSION AS OF {identifiers.literal(branch)}")
    if key.time is not None and earliest is not None:  # a row without a time may be as young as any
        time = F.col(identifiers.column(key.time))
        written = written.where((time >= earliest) | time.isNull())
    return first.join(written.select(*map(identifiers.column, key.columns)), list(key.columns), "left_anti")
