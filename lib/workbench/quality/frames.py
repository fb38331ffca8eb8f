"""The frame that rules are about: its columns by name, filters, the moment, and what a rule becomes on it."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, DataType, SparkSession, StructField

NO_ROWS = "There were no rows to evaluate"
Facts = Mapping[Hashable, Any]  # the figures that were measured, by the key of their need
Needs = dict[Hashable, Any]


@dataclass(frozen=True)
class Judged:
    """The result of one rule.

    Attributes:
        passed: whether it holds.
        reason: why not; None when it does.
        metrics: name in Glue's spelling to number.
    """

    passed: bool
    reason: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


Judge = Callable[[Facts], Judged]


@dataclass(frozen=True)
class Bound:
    """A rule on a frame: what must be known to judge it, and what it says of a row.

    Attributes:
        needs: key to an aggregate of the one scan (Spark column), or to a function that runs a job of its own.
            Equal keys are the same figure and computed once.
        judge: from the figures, key to value, to Judged.
        row: Spark column, true or false for a row, NULL for a row outside the filter; None where a rule says
            nothing of a row.
        attach: name of a column that `row` reads and the frame does not have, to a function that adds it.
        joins: whether `row` counts inside a composite rule.
        whole: whether all rows must satisfy `row` for the rule to pass (no threshold, no share).
    """

    needs: Mapping[Hashable, Any]
    judge: Judge
    row: Column | None = None
    attach: Mapping[str, Callable[[DataFrame], DataFrame]] = field(default_factory=dict)
    joins: bool = True
    whole: bool = True


class Frame:
    """A frame with its references and its moment, while rules are bound to it."""

    def __init__(
        self, spark: SparkSession, df: DataFrame, references: Mapping[str, DataFrame], now: datetime | None
    ) -> None:
        self.spark, self.df, self.references = spark, df, references
        # a session of Spark Connect has none; it may be another engine's
        self.jvm = not type(df.sparkSession).__module__.startswith("pyspark.sql.connect")
        self.now = None if now is None else (now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        # of the frame's session, which is the one that Spark asks, and as Spark reads it: TRUE is true
        self.sensitive = str(df.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        self.helpers: dict[Hashable, str] = {}
        self.filters: dict[str, Column] = {}

    def moment(self) -> int:
        """Return the moment in microseconds since 1970.

        Raises:
            ValueError: none was given.
        """
        if self.now is None:
            raise ArgumentError("DataFreshness needs now=, a datetime with a time zone")
        return self.now

    def field(self, name: str, df: DataFrame | None = None) -> StructField:
        """Return the field of a column, found as Spark would; ValueError when there is none or more than one."""
        fields = (self.df if df is None else df).schema.fields
        sought = name if self.sensitive else name.lower()
        matches = [field for field in fields if (field.name if self.sensitive else field.name.lower()) == sought]
        if len(matches) != 1:
            known = ", ".join(field.name for field in fields) or "none"
            what = "more than one column" if matches else "no column"
            raise ArgumentError(f'there is {what} "{name}"; the columns are {known}')
        return matches[0]

    def column(self, name: str, df: DataFrame | None = None) -> tuple[Column, DataType]:
        """Return (Spark column, its type) of a column by its name."""
        field = self.field(name, df)
        column = named(field.name)
        return column if self.jvm else _canonical(column, field.dataType), field.dataType

    def filter(self, where: str | None) -> Column | None:
        """Return a filter as a Spark column, None for none; ValueError when Spark refuses it."""
        from pyspark.errors import PySparkException
        from pyspark.sql import functions as F

        if where is None:
            return None
        if where not in self.filters:
            try:
                predicate = F.expr(where)
                self.df.where(predicate)
                self.df.agg(F.count(F.when(predicate, 1)))
            except PySparkException as error:
                raise ArgumentError(f"Spark does not take its where: {first_line(error)}") from error
            self.filters[where] = predicate
        return self.filters[where]

    def within(self, where: str | None, column: Column) -> Column:
        """Return a column that is NULL outside a filter."""
        from pyspark.sql import functions as F

        predicate = self.filter(where)
        return column if predicate is None else F.when(predicate, column)

    def rows(self, where: str | None) -> Needs:
        """Return what must be known of the number of rows: {("rows", where): aggregate}."""
        from pyspark.sql import functions as F

        return {("rows", where): F.count(self.within(where, F.lit(1)))}

    def helper(self, key: Hashable) -> str:
        """Return the name of a column that rules attach; the same for the same key."""
        taken = {field.name.lower() for field in self.df.schema.fields}
        if key not in self.helpers:
            number = len(self.helpers)
            while f"__quality_{number}" in taken | set(self.helpers.values()):
                number += 1
            self.helpers[key] = f"__quality_{number}"
        return self.helpers[key]


def named(name: str) -> Column:
    """Return a column by its whole name, whatever characters it has."""
    from pyspark.sql import functions as F

    return F.col(identifiers.column(name))


def _canonical(column: Column, dtype: DataType) -> Column:
    """Return a column whose equal values have equal bits: to Spark -0.0 is 0.0, and every NaN the same.

    Moments are of the session's zone; PySail takes those of a file for UTC's, when it asks for their text or day.
    """
    from pyspark.sql import functions as F

    if dtype.typeName() == "timestamp":
        return column.cast(dtype)
    if dtype.typeName() not in ("float", "double"):
        return column
    nan, zero, below = (F.lit(value).cast(dtype) for value in (math.nan, 0.0, -0.0))
    return F.when(F.isnan(column), nan).when(column.isin([zero, below]), zero).otherwise(column)


def first_line(error: Exception) -> str:
    """Return what Spark says of an error, without its plan."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def distinguished(measured: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return {metric: value} of {metric: {rule: value}}; where the values differ the rule follows in brackets."""
    figures: dict[str, float] = {}
    for name, by_rule in measured.items():
        same = len({repr(value) for value in by_rule.values()}) == 1
        figures |= {name if same else f"{name} [{rule}]": value for rule, value in by_rule.items()}
    return figures


def over_rows(where: str | None, judge: Judge) -> Judge:
    """Return a judge that fails where there is no row: no rows are never a pass."""

    def judged(facts: Facts) -> Judged:
        if not facts["rows", where]:
            return Judged(False, NO_ROWS if where is None else "No rows matched the filter")
        return judge(facts)

    return judged


def unmet(value: Any) -> str:
    """Return Glue's sentence for a value that does not satisfy its rule."""
    return f"Value: {shown(value)} does not meet the constraint requirement!"


def shown(value: Any) -> str:
    """Return a value as reasons show it: numbers as Glue's doubles, but whole where a double cannot hold them."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    as_double = str(float(value))
    return as_double if isinstance(value, float) or Decimal(as_double) == value else format(Decimal(value), "f")
