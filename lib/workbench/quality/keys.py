"""Rules about how often a key occurs: one aggregation by each distinct key and filter, however many rules ask."""

import math
from dataclasses import dataclass

from workbench._base.errors import ArgumentError
from workbench.quality.comparisons import met
from workbench.quality.frames import Bound, Judged, first_line, over_rows, unmet
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
    def entropy(self):
        """The entropy of the keys without NULL, in nats; 0 for a single key."""
        return 0.0 if self.distinct == 1 else math.log(self.known) - self.logarithms / self.known


def unique(frame, rule):
    """Bind IsUnique, Uniqueness and IsPrimaryKey."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    wanted, columns, needs = _key(frame, rule)
    key = next(iter(needs))
    names = key[1]
    helper = frame.helper(key)
    one = F.when(frame.filter(rule.where), 1) if rule.where else F.lit(1)

    keys = [frame.helper((*key, i)) for i in range(len(columns))]

    def attach(df):
        # over copies of the columns: Spark moves a filter on what it partitions by below the window, where it
        # would take rows from a key whose values are equal and not the same (0.0 and -0.0, collations)
        df = df.select("*", *(column.alias(k) for column, k in zip(columns, keys, strict=True)))
        return df.withColumn(helper, F.count(one).over(Window.partitionBy(*keys))).drop(*keys)

    _checked(names, lambda: attach(frame.df))
    row = F.col(helper) == 1
    if rule.type == "IsPrimaryKey":
        for column in columns:
            row = row & column.isNotNull()
    metric = f"Column.{wanted[0]}" if len(wanted) == 1 else f"Multicolumn.{','.join(wanted)}"

    def judge(facts):
        found = facts[key]
        share = found.unique / found.rows
        metrics = {f"{metric}.Uniqueness": share}
        passed = share == 1 if rule.condition is None else met(rule.condition, share)
        reason = None if passed else unmet(share)
        if rule.type == "IsPrimaryKey":
            shares = [count / found.rows for count in found.complete]
            metrics |= {f"Column.{c}.Completeness": s for c, s in zip(key[1], shares, strict=True)}
            if passed and min(shares) < 1:
                passed, reason = False, unmet(min(shares))
        return Judged(passed, reason, metrics)

    return Bound(
        needs | frame.rows(rule.where),
        over_rows(rule.where, judge),
        row=frame.within(rule.where, row),
        attach={helper: attach},
        joins=rule.condition is None,
        whole=rule.condition is None,
    )


def distinct(frame, rule):
    """Bind DistinctValuesCount and Entropy."""
    (wanted,), _, needs = _key(frame, rule)
    key = next(iter(needs))
    metric = f"Column.{wanted}.{rule.type}"

    def judge(facts):
        found = facts[key]
        if rule.type == "Entropy" and not found.known:
            return Judged(False, f"Column {wanted} has no values to evaluate")
        value = found.distinct if rule.type == "DistinctValuesCount" else found.entropy
        passed = met(rule.condition, value)
        return Judged(passed, None if passed else unmet(value), {metric: float(value)})

    return Bound(needs | frame.rows(rule.where), over_rows(rule.where, judge))


def _key(frame, rule):
    """Return the names as written, the columns, and what must be known of the key, whose order is its own."""
    wanted = tuple(name(parameter) for parameter in rule.parameters)
    names = tuple(sorted({frame.field(one).name for one in wanted}))
    columns = [frame.column(one)[0] for one in names]
    _checked(names, frame.df.groupBy(*columns).count)
    return wanted, columns, {("keys", names, rule.where): lambda: _count(frame, columns, rule.where)}


def _checked(names, group):
    from pyspark.errors import PySparkException

    try:
        group()
    except PySparkException as error:
        raise ArgumentError(f"Spark cannot group by {', '.join(names)}: {first_line(error)}") from error


def _count(frame, columns, where):
    from pyspark.sql import functions as F

    kept = frame.df if where is None else frame.df.where(frame.filter(where))
    keys = [f"k{i}" for i in range(len(columns))]
    named = kept.select(*(column.alias(key) for column, key in zip(columns, keys, strict=True)))
    groups = named.groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
    known = F.lit(True)
    for key in keys:
        known = known & F.col(key).isNotNull()
    found = groups.agg(
        F.sum("n"),
        F.sum(F.when(F.col("n") == 1, 1)),
        F.sum(F.when(known, F.col("n"))),
        F.count(F.when(known, 1)),
        F.sum(F.when(known, F.col("n") * F.log("n"))),
        *(F.sum(F.when(F.col(key).isNotNull(), F.col("n"))) for key in keys),
    ).first()
    rows, alone, whole, different, logarithms, *complete = (value or 0 for value in found)
    return Occurrences(rows, alone, tuple(complete), whole, different, float(logarithms))
