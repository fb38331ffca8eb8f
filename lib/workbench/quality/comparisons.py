"""DQDL conditions as Spark expressions, exact for each type of column, and on numbers that are already known."""

import math
import struct
from datetime import date
from fractions import Fraction
from operator import eq, ge, gt, le, lt, or_

from workbench._base.errors import ArgumentError
from workbench.quality.rules import Keyword, Now

RANGES = ("between", ">", ">=", "<", "<=", "=")  # what satisfies them has no gaps: minimum and maximum tell all


def met(condition, value):
    """Return whether a known number satisfies a condition.

    Args:
        condition: a Condition on numbers.
        value: int, Decimal or Fraction, compared exactly; a float is compared with the nearest floats, because
            that is what the metric shows. NaN satisfies nothing.
    """
    if isinstance(value, float):
        if math.isnan(value):
            return False
        operands = [_nearest(operand) for operand in condition.values]
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


def holds(condition, column, dtype, *, now=None):
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
        found = _compared(condition, _numbers(column, dtype))
        fractional = isinstance(dtype, T.FloatType | T.DoubleType)
        return ~F.isnan(column) & found if fractional else found
    if isinstance(dtype, T.DateType | T.TimestampType | T.TimestampNTZType) and condition.kind == "date":
        return _compared(condition, _dates(column, dtype, now))
    if isinstance(dtype, T.StringType | T.BooleanType) and _texts(condition, dtype):
        return _compared(condition, _strings(column.cast("string")))
    raise ArgumentError(
        f"a condition on a {condition.kind} cannot be evaluated on a column of type {dtype.simpleString()}"
    )


def _texts(condition, dtype):
    """Say whether a condition is one on texts; a quoted date is one to a column of texts."""
    if dtype.typeName() == "boolean":
        return condition.kind == "string" and set(condition.values) <= {"true", "false"}
    dated = condition.kind == "date" and all(isinstance(value, str) for value in condition.values)
    return condition.kind == "string" or (dated and condition.operator in ("=", "!=", "in", "not in"))


def _compared(condition, compare):
    """Combine the comparisons `compare(operator, operand)` that a condition is made of."""
    operator, values = condition.operator, condition.values
    if operator == "between":
        return compare(">", values[0]) & compare("<", values[1])
    if operator == "not between":
        return compare("<=", values[0]) | compare(">=", values[1])
    if operator in ("in", "="):
        return _equal(compare, values)
    if operator in ("not in", "!="):
        return ~_equal(compare, values)
    if operator == "not matches":
        return ~compare("matches", values[0])
    return compare(operator, values[0])


def _equal(compare, values):
    """Ask for one of several values; texts and numbers, of which there may be thousands, by Spark's IN."""
    several = getattr(compare, "one_of", None)
    return several(values) if several and len(values) > 1 else joined(or_, [compare("=", one) for one in values])


def joined(operator, conditions):
    """Join conditions as a balanced tree: Spark walks expressions by recursion, and a chain exhausts its stack."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [operator(*level[i : i + 2]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def _numbers(column, dtype):
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

    def compare(operator, value):
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

    def one_of(values):
        steps = [value * 10**scale for value in values]
        there = [
            _digits(int(step), scale) for step in steps if step.denominator == 1 and lowest <= step <= highest
        ]
        return column.isin([F.lit(one).cast(dtype) for one in there]) if there else F.lit(False)

    compare.one_of = one_of
    return compare


def _floats(column, dtype, rounded):
    from pyspark.sql import functions as F

    def compare(operator, value):
        return _apply(operator, column, F.lit(rounded(value)).cast(dtype))

    def one_of(values):
        floats = {rounded(value) for value in values}
        zeros = [0.0, -0.0] if 0.0 in floats else []  # a long IN might look for the same zero, not an equal one
        return column.isin([F.lit(one).cast(dtype) for one in [*zeros, *(floats - {0.0})]])

    compare.one_of = one_of
    return compare


def _digits(step, scale):
    whole, part = divmod(abs(step), 10**scale)
    return f"{'-' if step < 0 else ''}{whole}" + (f".{part:0{scale}d}" if scale else "")


def _dates(column, dtype, now):
    return lambda operator, value: _apply(operator, column, _moment(value, dtype, now))


def _moment(value, dtype, now):
    from pyspark.sql import functions as F

    if not isinstance(value, Now):
        return F.lit(_day(value)).cast("date").cast(dtype)
    if now is None:
        raise ArgumentError("now() needs now=, a datetime with a time zone")
    return F.timestamp_micros(F.lit(now + value.microseconds).cast("bigint")).cast(dtype)


def check_bounds(spark, condition, dtype, now):
    """Refuse a date and now() in the wrong order; which comes first depends on the session's time zone.

    Raises:
        ValueError: without the name of the rule.
    """
    if condition.operator in ("between", "not between") and len({type(one) for one in condition.operands}) > 1:
        lower, upper = (_moment(one, dtype, now) for one in condition.operands)
        if spark.sql("SELECT 1").select(lower > upper).first()[0]:  # Spark folds it; no job runs
            raise ArgumentError(f"{condition.operator} needs its lower bound first")


def _day(text):
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ArgumentError(
            f'"{text}" is no date; a column of dates or timestamps is compared with "YYYY-MM-DD" and now()'
        ) from None


def _strings(column):
    from pyspark.sql import functions as F

    def compare(operator, value):
        if operator == "matches":
            return column.rlike(rf"\A(?:{value})\z")
        if value is Keyword.WHITESPACES_ONLY:
            return column.rlike(r"\A\s+\z")
        return column == F.lit(value)

    def one_of(values):
        texts = column.isin([value for value in values if value is not Keyword.WHITESPACES_ONLY])
        return texts | compare("=", Keyword.WHITESPACES_ONLY) if Keyword.WHITESPACES_ONLY in values else texts

    compare.one_of = one_of
    return compare


def _apply(name, left, right):
    return {">": gt, ">=": ge, "<": lt, "<=": le, "=": eq}[name](left, right)


def _nearest(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _nearest_single(value):
    try:
        return struct.unpack("f", struct.pack("f", _nearest(value)))[0]
    except OverflowError:
        return math.inf if value > 0 else -math.inf
