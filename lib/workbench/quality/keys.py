"""Rules about how often a key occurs: one aggregation by each distinct key and filter, however many rules ask."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame
from workbench.quality.comparisons import judged, met
from workbench.quality.frames import Bound, Facts, Frame, Judged, first_line, over_rows, unmet
from workbench.quality.rules import Rule
from workbench.quality.syntax import name


@dataclass(frozen=True)
class Occurrences:
    """How often the keys of some columns occur in the rows of a filter; NULL is a key like any other.

    Attributes:
        rows: all of them.
        unique: rows whose key occurs exactly once.
        complete: of each column in turn, rows in which it is not NULL.
        known: rows whose key has no NULL.
        distinct: different keys without NULL.
        logarithms: the sum over those keys of n ln n, n being the rows of a key.
    """

    rows: int
    unique: int
    complete: tuple[int, ...]
    known: int
    distinct: int
    logarithms: float

    @property
    def entropy(self) -> float:
        """The entropy of the keys without NULL, in nats; 0 for a single key."""
        return 0.0 if self.distinct == 1 else math.log(self.known) - self.logarithms / self.known


def unique(frame: Frame, rule: Rule) -> Bound:
    """Bind IsUnique, Uniqueness and IsPrimaryKey."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    written, names, columns = _key(frame, rule)
    key = ("keys", names, rule.where)
    helper = frame.helper(key)
    counted = frame.within(rule.where, F.lit(1))
    keys = [frame.helper((*key, i)) for i in range(len(columns))]

    def attach(df: DataFrame) -> DataFrame:
        # over copies of the columns: Spark moves a filter on what it partitions by below the window, where it
        # would take rows from a key whose values are equal and not the same (0.0 and -0.0, collations)
        df = df.select("*", *(column.alias(k) for column, k in zip(columns, keys, strict=True)))
        return df.withColumn(helper, F.count(counted).over(Window.partitionBy(*keys))).drop(*keys)

    _checked(names, lambda: attach(frame.df))
    row = F.col(helper) == 1
    if rule.type == "IsPrimaryKey":
        for column in columns:
            row = row & column.isNotNull()
    metric = f"Column.{written[0]}" if len(written) == 1 else f"Multicolumn.{','.join(written)}"

    def judge(facts: Facts) -> Judged:
        occurrences = facts[key]
        share = occurrences.unique / occurrences.rows
        metrics = {f"{metric}.Uniqueness": share}
        passed = share == 1 if rule.condition is None else met(rule.condition, share)
        reason = None if passed else unmet(share)
        if rule.type == "IsPrimaryKey":
            shares = [count / occurrences.rows for count in occurrences.complete]
            metrics |= {f"Column.{c}.Completeness": s for c, s in zip(names, shares, strict=True)}
            if passed and min(shares) < 1:
                passed, reason = False, unmet(min(shares))
        return Judged(passed, reason, metrics)

    return Bound(
        frame.rows(rule.where) | {key: lambda: _count(frame, columns, rule.where)},
        over_rows(rule.where, judge),
        row=frame.within(rule.where, row),
        attach={helper: attach},
        joins=rule.condition is None,
        whole=rule.condition is None,
    )


def distinct(frame: Frame, rule: Rule) -> Bound:
    """Bind DistinctValuesCount and Entropy."""
    (written,), names, columns = _key(frame, rule)
    key = ("keys", names, rule.where)

    def judge(facts: Facts) -> Judged:
        occurrences = facts[key]
        if rule.type == "Entropy" and not occurrences.known:
            return Judged(False, f"Column {written} has no values to evaluate")
        value = occurrences.distinct if rule.type == "DistinctValuesCount" else occurrences.entropy
        return judged(rule.required, f"Column.{written}.{rule.type}", value)

    needs = frame.rows(rule.where) | {key: lambda: _count(frame, columns, rule.where)}
    return Bound(needs, over_rows(rule.where, judge))


def _key(frame: Frame, rule: Rule) -> tuple[tuple[str, ...], tuple[str, ...], list[Column]]:
    """Return the names as written, and the names and columns of the key, whose order is its own."""
    written = tuple(name(parameter) for parameter in rule.parameters)
    names = tuple(sorted({frame.field(column_name).name for column_name in written}))
    columns = [frame.column(column_name)[0] for column_name in names]
    _checked(names, frame.df.groupBy(*columns).count)
    return written, names, columns


def _checked(names: Iterable[str], group: Callable[[], object]) -> None:
    from pyspark.errors import PySparkException

    try:
        group()
    except PySparkException as error:
        raise ArgumentError(f"Spark cannot group by {', '.join(names)}: {first_line(error)}") from error


def _count(frame: Frame, columns: Sequence[Column], where: str | None) -> Occurrences:
    from pyspark.sql import functions as F

    predicate = frame.filter(where)
    kept = frame.df if predicate is None else frame.df.where(predicate)
    keys = [f"k{i}" for i in range(len(columns))]
    named = kept.select(*(column.alias(key) for column, key in zip(columns, keys, strict=True)))
    groups = named.groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
    known = F.lit(True)
    for key in keys:
        known = known & F.col(key).isNotNull()
    row = groups.agg(
        F.sum("n"),
        F.sum(F.when(F.col("n") == 1, 1)),
        F.sum(F.when(known, F.col("n"))),
        F.count(F.when(known, 1)),
        F.sum(F.when(known, F.col("n") * F.log("n"))),
        *(F.sum(F.when(F.col(key).isNotNull(), F.col("n"))) for key in keys),
    ).collect()[0]
    rows, alone, whole, different, logarithms, *complete = (value or 0 for value in row)
    return Occurrences(rows, alone, tuple(complete), whole, different, float(logarithms))
