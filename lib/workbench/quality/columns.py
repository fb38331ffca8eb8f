"""Rules that one scan answers: counts, statistics, and what is asked of each value of a column."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from workbench._base import releases
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataType, Java
from workbench.quality import connected
from workbench.quality.comparisons import RANGES, check_bounds, holds, judged, met
from workbench.quality.frames import Bound, Facts, Frame, Judged, Needs, over_rows, unmet
from workbench.quality.rules import Condition, Rule
from workbench.quality.syntax import name

COMPARABLE = ("string", "boolean", "date", "timestamp", "timestamp_ntz")


def row_count(frame: Frame, rule: Rule) -> Bound:
    """Bind RowCount."""
    return _metric(rule, frame.rows(rule.where), "Dataset.*.RowCount", lambda facts: facts["rows", rule.where])


def column_count(frame: Frame, rule: Rule) -> Bound:
    """Bind ColumnCount."""
    count = len(frame.df.columns)
    return _metric(rule, {}, "Dataset.*.ColumnCount", lambda facts: count)


def column_exists(frame: Frame, rule: Rule) -> Bound:
    """Bind ColumnExists, the one rule to which an unknown column is an answer."""
    column_name = name(rule.parameters[0])
    names = [column if frame.sensitive else column.lower() for column in frame.df.columns]
    if (column_name if frame.sensitive else column_name.lower()) in names:
        return Bound({}, lambda facts: Judged(True))
    return Bound({}, lambda facts: Judged(False, f"Column {column_name} does not exist in the dataset"))


def completeness(frame: Frame, rule: Rule) -> Bound:
    """Bind Completeness and IsComplete."""
    column_name, column, _ = _column(frame, rule)

    def judge(facts: Facts) -> Judged:
        share = facts["values", (column_name,), rule.where] / facts["rows", rule.where]
        return judged(rule.condition, f"Column.{column_name}.Completeness", share)

    return Bound(
        frame.rows(rule.where) | _values(frame, (column_name,), column, rule.where),
        over_rows(rule.where, judge),
        row=frame.within(rule.where, column.isNotNull()),
        joins=rule.condition is None,
        whole=rule.condition is None,
    )


def statistic(frame: Frame, rule: Rule) -> Bound:
    """Bind Mean, Sum and StandardDeviation."""
    from pyspark.sql import types as T

    column_name, column, dtype = _column(frame, rule)
    if not isinstance(dtype, T.NumericType):
        raise ArgumentError(f'{rule.type} needs a column of numbers; "{column_name}" is {dtype.simpleString()}')
    inside, where = frame.within(rule.where, column), rule.where
    if rule.type == "StandardDeviation":
        needs, figure = _deviation(frame, column_name, inside, where)
    else:
        needs, figure = (
            sums(frame, column_name, inside, dtype, where),
            lambda facts: total(facts, column_name, where),
        )

    def judge(facts: Facts) -> Judged:
        count = facts["values", (column_name,), where]
        if not count:
            return Judged(False, f"Column {column_name} has no values to evaluate")
        value = figure(facts)
        if value is None:
            return Judged(False, f"The sum of {column_name} is out of range")
        if rule.type == "Mean":
            value = value / count if isinstance(value, float) else Fraction(value) / count
        return judged(rule.required, f"Column.{column_name}.{rule.type}", value)

    needs = needs | frame.rows(where) | _values(frame, (column_name,), column, where)
    return Bound(needs, over_rows(where, judge))


def _deviation(
    frame: Frame, column_name: str, inside: Column, where: str | None
) -> tuple[Needs, Callable[[Facts], float]]:
    """Return the aggregates of a standard deviation, and the function of their figures that is one."""
    from pyspark.sql import functions as F

    key = ("deviation", column_name, where)
    needs: Needs = {key: F.stddev_pop(inside.cast("double"))}
    if frame.jvm:
        return needs, lambda facts: facts[key]
    greatest, least = ((end, (column_name,), where) for end in ("max", "min"))  # as conditions on values ask for

    def deviation(facts: Facts) -> float:
        # PySail adds up the parts of equal values, whose mean may round to another value
        equal = math.isfinite(facts[least]) and float(facts[least]) == float(facts[greatest])
        return 0.0 if equal else facts[key]

    return needs | {greatest: F.max(inside), least: F.min(inside)}, deviation


def sums(frame: Frame, column_name: str, column: Column, dtype: DataType, where: str | None) -> Needs:
    """Return the aggregates of a sum that is exact for whole numbers and decimals: a long in two halves."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if not frame.jvm and isinstance(dtype, T.DecimalType) and dtype.precision <= connected.ADDED_UNCHECKED:
        return {("sum", column_name, where): F.sum(column)}
    if not isinstance(dtype, T.LongType):
        return {("sum", column_name, where): F.try_sum(column)}
    return {
        ("high sum", column_name, where): F.try_sum(F.shiftright(column, 32)),
        ("low sum", column_name, where): F.try_sum(column.bitwiseAND(F.lit(0xFFFFFFFF).cast("bigint"))),
    }


def total(facts: Facts, column_name: str, where: str | None) -> Any:
    """Return the sum that `sums` asked for; None when it is out of range."""
    if ("sum", column_name, where) in facts:
        return facts["sum", column_name, where]
    high, low = facts["high sum", column_name, where], facts["low sum", column_name, where]
    return None if high is None or low is None else (high << 32) + low


def column_values(frame: Frame, rule: Rule) -> Bound:
    """Bind ColumnValues."""
    from pyspark.sql import types as T

    column_name, column, dtype = _column(frame, rule)
    if not isinstance(dtype, T.NumericType) and dtype.typeName() not in COMPARABLE:
        raise ArgumentError(f'"{column_name}" is {dtype.simpleString()}; its values cannot be compared')
    condition = rule.required
    if condition.operator.endswith("matches"):
        _compiles(frame, condition.values[0])
    if condition.kind == "date" and isinstance(dtype, T.DateType | T.TimestampType | T.TimestampNTZType):
        check_bounds(frame.df.sparkSession, condition, dtype, frame.now)
    return _each(frame, rule, (column_name,), column, dtype, ("Maximum", "Minimum"))


def column_length(frame: Frame, rule: Rule) -> Bound:
    """Bind ColumnLength; the length of a NULL is 0."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    column_name, column, dtype = _column(frame, rule)
    if not isinstance(dtype, T.StringType):
        raise ArgumentError(f'ColumnLength needs a column of texts; "{column_name}" is {dtype.simpleString()}')
    length = F.length(F.coalesce(column, F.lit("")))
    metrics = ("MaximumLength", "MinimumLength")
    return _each(frame, rule, (column_name, "length"), length, T.IntegerType(), metrics)


def _each(
    frame: Frame, rule: Rule, subject: tuple[str, ...], column: Column, dtype: DataType, names: tuple[str, str]
) -> Bound:
    """Bind a rule that asks something of each value."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    condition, where, column_name = rule.required, rule.where, subject[0]
    fits = holds(condition, column, dtype, now=frame.now)
    row = F.when(column.isNull(), F.lit(condition.accepts_null)).otherwise(fits)
    inside = frame.within(where, column)
    numeric, texts = isinstance(dtype, T.NumericType), isinstance(dtype, T.StringType | T.BooleanType)
    ranged = condition.operator in RANGES and bool(condition.values) and None not in condition.operands
    limits = {} if texts else {end: (end, subject, where) for end in ("max", "min")}
    needs = frame.rows(where) | _values(frame, subject, F.lit(1) if subject[1:] == ("length",) else column, where)
    for end, key in limits.items():
        extreme = getattr(F, end)(inside)
        needs[key] = extreme if numeric else extreme.cast("string")
        if ranged:
            needs["fits", *key, condition] = holds(condition, extreme, dtype, now=frame.now)
    if not texts and not ranged and not rule.threshold:
        wrong = F.max(F.when(~fits, inside))
        needs["worst", subject, where, condition] = wrong if numeric else wrong.cast("string")
    counted = rule.threshold is not None or texts
    if counted:
        needs[rule.type, "satisfied", subject, where, condition] = F.count(frame.within(where, F.when(row, 1)))

    def judge(facts: Facts) -> Judged:
        metrics: dict[str, float] = {}
        share: Any = None
        if numeric and facts["values", subject, where]:
            ends = zip(names, limits.values(), strict=True)
            metrics = {f"Column.{column_name}.{metric}": float(facts[key]) for metric, key in ends}
        if counted:
            share = facts[rule.type, "satisfied", subject, where, condition] / facts["rows", where]
            metrics[f"Column.{column_name}.{rule.type}.Compliance"] = share
        if rule.threshold:
            passed = met(rule.threshold, share)
            return Judged(passed, None if passed else unmet(share), metrics)
        wrong = _wrong(facts, condition, subject, where, limits if ranged else {}, share if texts else None)
        return Judged(not wrong, unmet(*wrong) if wrong else None, metrics)

    row = frame.within(where, row)
    return Bound(needs, over_rows(where, judge), row=row, whole=rule.threshold is None)


def _wrong(
    facts: Facts,
    condition: Condition,
    subject: tuple[str, ...],
    where: str | None,
    limits: Mapping[str, Any],
    share: float | None,
) -> tuple[Any, ...]:
    """Return the value that a reason names, in a tuple; empty when all is well.

    The order is: NULL; of texts the share that is right, because a greatest text says little and costs Spark the
    fast aggregation; of a range the maximum, then the minimum; of anything else the greatest that is wrong.
    """
    values, rows = facts["values", subject, where], facts["rows", where]
    if values < rows and not condition.accepts_null:
        return (None,)
    if share is not None:
        return () if share == 1 else (share,)
    if not values:
        return ()
    for key in limits.values():
        if not facts["fits", *key, condition]:
            return (facts[key],)
    worst = None if limits else facts["worst", subject, where, condition]
    return () if worst is None else (worst,)


def data_type(frame: Frame, rule: Rule) -> Bound:
    """Bind ColumnDataType: can each value be cast in Spark?"""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    column_name, column, dtype = _column(frame, rule)
    types = {"boolean", "date", "timestamp", "integer", "double", "float", "long"}
    condition = rule.required
    expected = str(condition.operands[0])
    if condition.operator != "=" or expected.lower() not in types:
        raise ArgumentError(f"ColumnDataType takes = and one of {', '.join(sorted(types))}")
    named = {"integer": "int", "long": "bigint"}.get(expected.lower(), expected.lower())
    if frame.jvm:
        fits = releases.try_cast(column, named).isNotNull()
    else:
        fits = connected.castable(column, dtype, expected.lower())
    try:
        frame.df.select(fits)
    except PySparkException as error:
        raise ArgumentError(
            f'"{column_name}" is {dtype.simpleString()}, which Spark never casts to {expected}'
        ) from error
    key = (rule.type, "satisfied", column_name, rule.where, rule.condition)
    needs = frame.rows(rule.where) | {key: F.count(frame.within(rule.where, F.when(fits, 1)))}

    def judge(facts: Facts) -> Judged:
        share = facts[key] / facts["rows", rule.where]
        return judged(rule.threshold, f"Column.{column_name}.ColumnDataType.Compliance", share)

    row = frame.within(rule.where, fits)
    return Bound(needs, over_rows(rule.where, judge), row=row, whole=rule.threshold is None)


def freshness(frame: Frame, rule: Rule) -> Bound:
    """Bind DataFreshness: how old is each value at the moment of the evaluation?"""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    column_name, column, dtype = _column(frame, rule)
    if not isinstance(dtype, T.DateType | T.TimestampType | T.TimestampNTZType):
        raise ArgumentError(
            f'DataFreshness needs a column of dates or timestamps; "{column_name}" is {dtype.simpleString()}'
        )
    moments = since(rule.required, frame.moment())
    exact = column if isinstance(dtype, T.TimestampType) else column.cast(T.TimestampType())
    fits = F.coalesce(holds(moments, F.unix_micros(exact), T.LongType()), F.lit(False))
    key = (rule.type, "satisfied", column_name, rule.where, rule.condition)
    needs = frame.rows(rule.where) | {key: F.count(frame.within(rule.where, F.when(fits, 1)))}

    def judge(facts: Facts) -> Judged:
        fresh, rows = facts[key], facts["rows", rule.where]
        metrics = {f"Column.{column_name}.DataFreshness.Compliance": fresh / rows}
        passed = fresh == rows
        return Judged(passed, None if passed else percent(fresh, rows), metrics)

    return Bound(needs, over_rows(rule.where, judge), row=frame.within(rule.where, fits))


def since(condition: Condition, moment: int) -> Condition:
    """Return a condition on ages at a moment as one on moments: the younger, the later.

    Nothing is subtracted from the values then: that could overflow, and takes PySail longer than all the rest.
    """
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    operands = tuple(None if age is None else moment - cast(int, age) for age in condition.operands)
    if condition.operator.endswith("between"):
        operands = operands[::-1]
    operator = turned.get(condition.operator, condition.operator)
    return replace(condition, operator=operator, operands=operands)


def percent(part: int, whole: int) -> str:
    """Return Glue's sentence for a share of the rows; rounded down, so that only all rows are 100 %."""
    hundredths = part * 10_000 // whole
    return f"{hundredths // 100}.{hundredths % 100:02d} % of rows passed the threshold"


def _compiles(frame: Frame, pattern: str) -> None:
    """Refuse what Java does not take for a regular expression, alone and as it is used."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    if not frame.jvm:
        connected.compiles(frame, pattern)
        return
    jvm: Java = frame.spark._jvm
    for text in (pattern, rf"\A(?:{pattern})\z"):
        try:
            jvm.java.util.regex.Pattern.compile(text)
        except (Py4JJavaError, PySparkException) as error:  # which of them depends on who started the session
            why = str(getattr(error, "java_exception", error)).splitlines()[0].rpartition("Exception: ")[2]
            raise ArgumentError(f"{pattern} is no regular expression of Java: {why}") from None


def _column(frame: Frame, rule: Rule) -> tuple[str, Column, DataType]:
    column_name = name(rule.parameters[0])
    return column_name, *frame.column(column_name)


def _values(frame: Frame, subject: tuple[str, ...], column: Column, where: str | None) -> Needs:
    from pyspark.sql import functions as F

    return {("values", subject, where): F.count(frame.within(where, column))}


def _metric(rule: Rule, needs: Needs, metric: str, value: Callable[[Facts], Any]) -> Bound:
    return Bound(needs, lambda facts: judged(rule.required, metric, value(facts)))
