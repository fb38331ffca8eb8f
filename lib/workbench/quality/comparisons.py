"""DQDL conditions as Spark expressions, exact for each type of column, and on numbers that are already known."""

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from operator import eq, ge, gt, le, lt, or_
from typing import Any

from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataType, SparkSession
from workbench.quality import patterns
from workbench.quality.frames import Judged, unmet
from workbench.quality.rules import Condition, Keyword, Now

Compare = Callable[[str, Any], Column]  # a column with an operand, by an operator
OneOf = Callable[[Sequence[Any]], Column]  # a column with several operands, by Spark's IN
RANGES = ("between", ">", ">=", "<", "<=", "=")  # what satisfies them has no gaps: minimum and maximum decide


def met(condition: Condition, value: int | float | Decimal | Fraction) -> bool:
    """Return whether a known number satisfies a condition.

    Args:
        condition: a Condition on numbers.
        value: int, Decimal or Fraction, compared exactly; a float is compared with the nearest floats, because
            that is what the metric shows. NaN satisfies nothing.
    """
    if isinstance(value, float):
        if math.isnan(value):
            return False
        operands = tuple(_nearest(operand) for operand in condition.values)
    else:
        value, operands = Fraction(value), condition.values
    a, b = operands[0], operands[-1]
    return {
        "between": lambda: a < value < b,
        "not between": lambda: value <= a or value >= b,
        ">": lambda: value > a,
        ">=": lambda: value >= a,
        "<": lambda: value < a,
        "<=": lambda: value <= a,
        "=": lambda: value == a,
        "!=": lambda: value != a,
        "in": lambda: value in operands,
        "not in": lambda: value not in operands,
    }[condition.operator]()


def judged(condition: Condition | None, metric: str, value: Any) -> Judged:
    """Return the outcome of a rule by its one number; without a condition that is a share, which must be 1."""
    passed = value == 1 if condition is None else met(condition, value)
    seen = float(value) if isinstance(value, Fraction) else value
    return Judged(passed, None if passed else unmet(seen), {metric: float(value)})


def holds(condition: Condition, column: Column, dtype: DataType, *, now: int | None = None) -> Column:
    """Return the Spark expression: does a value that is not NULL satisfy the condition?

    Args:
        condition: a Condition.
        column: Spark column or aggregate; its NULLs are the caller's.
        dtype: its Spark type.
        now: microseconds since 1970 for `now()`; None where there is none.

    Returns:
        Spark column, boolean.

    Raises:
        ValueError: such a condition cannot be evaluated on such a column.
    """
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if not condition.values:  # NULL alone: every value is, or is not, something else
        return F.lit(condition.operator in ("!=", "not in"))
    if isinstance(dtype, T.NumericType) and condition.kind in ("number", "duration"):
        fits = _compared(condition, *_numbers(column, dtype))
        fractional = isinstance(dtype, T.FloatType | T.DoubleType)
        return ~F.isnan(column) & fits if fractional else fits
    if isinstance(dtype, T.DateType | T.TimestampType | T.TimestampNTZType) and condition.kind == "date":
        return _compared(condition, _dates(column, dtype, now))
    if isinstance(dtype, T.StringType | T.BooleanType) and _texts(condition, dtype):
        return _compared(condition, *_strings(column.cast("string")))
    raise ArgumentError(
        f"a condition on a {condition.kind} cannot be evaluated on a column of type {dtype.simpleString()}"
    )


def _texts(condition: Condition, dtype: DataType) -> bool:
    """Say whether a condition is one on texts; a quoted date is one to a column of texts."""
    if dtype.typeName() == "boolean":
        return condition.kind == "string" and set(condition.values) <= {"true", "false"}
    dated = condition.kind == "date" and all(isinstance(value, str) for value in condition.values)
    return condition.kind == "string" or (dated and condition.operator in ("=", "!=", "in", "not in"))


def _compared(condition: Condition, compare: Compare, one_of: OneOf | None = None) -> Column:
    """Combine the comparisons `compare(operator, operand)` that a condition is made of."""
    operator, values = condition.operator, condition.values
    if operator == "between":
        return compare(">", values[0]) & compare("<", values[1])
    if operator == "not between":
        return compare("<=", values[0]) | compare(">=", values[1])
    if operator in ("in", "="):
        return _equal(compare, one_of, values)
    if operator in ("not in", "!="):
        return ~_equal(compare, one_of, values)
    if operator == "not matches":
        return ~compare("matches", values[0])
    return compare(operator, values[0])


def _equal(compare: Compare, one_of: OneOf | None, values: Sequence[Any]) -> Column:
    """Ask for one of several values; texts and numbers, of which there may be thousands, by Spark's IN."""
    if one_of is not None and len(values) > 1:
        return one_of(values)
    return joined(or_, [compare("=", value) for value in values])


def joined(operator: Callable[[Any, Any], Any], conditions: Iterable[Any]) -> Any:
    """Join conditions as a balanced tree: Spark walks expressions by recursion, and a chain exhausts its stack."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [operator(*level[i : i + 2]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def _numbers(column: Column, dtype: DataType) -> tuple[Compare, OneOf]:
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if isinstance(dtype, T.FloatType | T.DoubleType):
        rounded = _nearest_single if isinstance(dtype, T.FloatType) else _nearest
        return _floats(column, dtype, rounded)
    if isinstance(dtype, T.DecimalType):
        scale, highest = dtype.scale, 10**dtype.precision - 1
        lowest = -highest
    else:
        bits = {"byte": 8, "short": 16, "integer": 32, "long": 64}[dtype.typeName()]
        scale, highest, lowest = 0, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))

    def compare(operator: str, value: Any) -> Column:
        """Compare on the column's own grid, so that nothing is widened, rounded or out of range."""
        below, above = math.floor(value * 10**scale), math.ceil(value * 10**scale)
        if operator == "=" and below != above:
            return F.lit(False)
        step = above if operator in (">=", "<") else below
        if step < lowest:
            return F.lit(operator in (">", ">="))
        if step > highest:
            return F.lit(operator in ("<", "<="))
        return _apply(operator, column, F.lit(_digits(step, scale)).cast(dtype))

    def one_of(values: Sequence[Any]) -> Column:
        steps = [value * 10**scale for value in values]
        numbers = [
            _digits(int(step), scale) for step in steps if step.denominator == 1 and lowest <= step <= highest
        ]
        return column.isin([F.lit(number).cast(dtype) for number in numbers]) if numbers else F.lit(False)

    return compare, one_of


def _floats(column: Column, dtype: DataType, rounded: Callable[[Any], float]) -> tuple[Compare, OneOf]:
    from pyspark.sql import functions as F

    def compare(operator: str, value: Any) -> Column:
        return _apply(operator, column, F.lit(rounded(value)).cast(dtype))

    def one_of(values: Sequence[Any]) -> Column:
        floats = {rounded(value) for value in values}
        zeros = [0.0, -0.0] if 0.0 in floats else []  # a long IN might look for the same zero, not an equal one
        return column.isin([F.lit(number).cast(dtype) for number in [*zeros, *(floats - {0.0})]])

    return compare, one_of


def _digits(step: int, scale: int) -> str:
    whole, part = divmod(abs(step), 10**scale)
    return f"{'-' if step < 0 else ''}{whole}" + (f".{part:0{scale}d}" if scale else "")


def _dates(column: Column, dtype: DataType, now: int | None) -> Compare:
    return lambda operator, value: _apply(operator, column, _moment(value, dtype, now))


def _moment(value: Any, dtype: DataType, now: int | None) -> Column:
    from pyspark.sql import functions as F

    if not isinstance(value, Now):
        return F.lit(_day(value)).cast("date").cast(dtype)
    if now is None:
        raise ArgumentError("now() needs now=, a datetime with a time zone")
    # to PySail it is UTC's, until it is one of the session's zone, and a clock without a zone only by its text
    moment = F.timestamp_micros(F.lit(now + value.microseconds).cast("bigint")).cast("timestamp")
    return moment.cast("string").cast(dtype) if dtype.typeName() == "timestamp_ntz" else moment.cast(dtype)


def check_bounds(spark: SparkSession, condition: Condition, dtype: DataType, now: int | None) -> None:
    """Refuse a date and now() in the wrong order; which comes first depends on the session's time zone.

    Raises:
        ValueError: without the name of the rule.
    """
    if (
        condition.operator in ("between", "not between")
        and len({type(operand) for operand in condition.operands}) > 1
    ):
        lower, upper = (_moment(operand, dtype, now) for operand in condition.operands)
        if spark.sql("SELECT 1").select(lower > upper).collect()[0][0]:  # Spark folds it; no job runs
            raise ArgumentError(f"{condition.operator} needs its lower bound first")


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ArgumentError(
            f'"{text}" is not a date; a column of dates or timestamps is compared with "YYYY-MM-DD" and now()'
        ) from None


def _strings(column: Column) -> tuple[Compare, OneOf]:
    from pyspark.sql import functions as F

    def compare(operator: str, value: Any) -> Column:
        if operator == "matches":
            return column.rlike(rf"\A(?:{value})\z")
        if value is Keyword.WHITESPACES_ONLY:
            return column.rlike(patterns.WHITE)
        return column == F.lit(value)

    def one_of(values: Sequence[Any]) -> Column:
        texts = column.isin([value for value in values if value is not Keyword.WHITESPACES_ONLY])
        return texts | compare("=", Keyword.WHITESPACES_ONLY) if Keyword.WHITESPACES_ONLY in values else texts

    return compare, one_of


def _apply(name: str, left: Column, right: Column) -> Column:
    return {">": gt, ">=": ge, "<": lt, "<=": le, "=": eq}[name](left, right)


def _nearest(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _nearest_single(value: Any) -> float:
    try:
        return struct.unpack("f", struct.pack("f", _nearest(value)))[0]
    except OverflowError:
        return math.inf if value > 0 else -math.inf
