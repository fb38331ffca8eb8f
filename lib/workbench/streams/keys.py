"""Producer duplicates: the same record sent twice has two sequence numbers, and only its own key says so."""

from dataclasses import dataclass
from datetime import timedelta

from workbench import identifiers

TIMES = ("timestamp", "timestamp_ntz", "date")


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

    def __post_init__(self):
        if isinstance(self.columns, str) or not self.columns or not all(isinstance(c, str) for c in self.columns):
            raise ValueError(f"columns of a record key are a tuple of names, not {self.columns!r}")
        if isinstance(self.hours, bool) or not isinstance(self.hours, int | float) or self.hours < 0:
            raise ValueError(f"hours of a record key is a number from 0, not {self.hours!r}")


def since(rows, key):
    """Return the Column of the time from which the table has to be looked through; None for all. Runs the rows."""
    from pyspark.sql import functions as F

    if key.time is None:
        return None
    earliest = F.min(identifiers.column(key.time))
    if rows.schema[key.time].dataType.typeName() != "timestamp":
        found = rows.agg(earliest).collect()[0][0]
        return None if found is None else F.lit(found - timedelta(hours=key.hours))
    # a moment as a datetime of this process would be an hour off where its clocks change
    found = rows.agg(F.unix_micros(earliest)).collect()[0][0]
    return None if found is None else F.timestamp_micros(F.lit(found - round(key.hours * 3_600_000_000)))


def once(spark, rows, table, branch, key, order, earliest):
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
    there = spark.sql(f"SELECT * FROM {identifiers.quoted(table)} VERSION AS OF {identifiers.literal(branch)}")
    if earliest is not None:  # a row without a time may be as young as any
        time = F.col(identifiers.column(key.time))
        there = there.where((time >= earliest) | time.isNull())
    return first.join(there.select(*map(identifiers.column, key.columns)), list(key.columns), "left_anti")
