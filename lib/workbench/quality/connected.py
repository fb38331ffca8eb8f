"""Sessions of Spark Connect, which have no JVM to ask; PySail's are some, whose engine is not Spark's.

A rule has Spark's outcome there, or is refused by name: other engines differ without a word in how they read SQL,
regular expressions and casts, and in which values are one key.
"""

from dataclasses import replace

from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataType
from workbench.quality import patterns
from workbench.quality.frames import Frame, first_line
from workbench.quality.rules import Rule
from workbench.quality.syntax import name

ALONE = "a session without a JVM, such as PySail's,"
WIDTHS = ("tinyint", "smallint", "int", "bigint")  # each holds the values of those before it
WHOLE = {"integer": ("int", 2**31 - 1), "long": ("bigint", 2**63 - 1)}
# rules that ask nothing of a value than whether it is NULL
OF_ANY_TYPE = ("RowCount", "ColumnCount", "ColumnExists", "IsComplete", "Completeness", "RowCountMatch")
SIMPLE = ("string", "boolean", "date", "timestamp", "timestamp_ntz", "float", "double", *WIDTHS)
# of decimals whose plain sum is exact: PySail's wraps at 1.7e38 without a word, which takes 1e20 rows of them; its
# try_sum takes three times as long
ADDED_UNCHECKED = 18
MOST_DIGITS = 28  # of decimals that are added up: ten more for the sum, which a decimal has room for


def answerable(frame: Frame, rule: Rule) -> Rule:
    """Return a rule as a session without a JVM answers it as Spark does.

    Args:
        frame: of such a session.
        rule: one that is not a composite.

    Raises:
        ArgumentError: it is not answered there; the message says why.
    """
    if rule.type == "CustomSql":
        raise ArgumentError(f"{ALONE} may read its statement otherwise than Spark; state it as another rule")
    if rule.where is not None:
        raise ArgumentError(f"{ALONE} may read its where otherwise than Spark; filter the frame before")
    if rule.type not in OF_ANY_TYPE:
        for column_name in _names(rule):
            _refuse_type(rule, column_name, frame.field(column_name).dataType)
    condition = rule.condition
    if condition is None or not condition.operator.endswith("matches"):
        return rule
    pattern = patterns.common(condition.values[0])
    return replace(rule, condition=replace(condition, operands=(pattern,)))


def _names(rule: Rule) -> list[str]:
    """Return the names of the columns that a rule is about."""
    if rule.type == "ReferentialIntegrity":
        return [part.strip() for part in name(rule.parameters[0]).split(",")]
    return [name(parameter) for parameter in rule.parameters]


def _refuse_type(rule: Rule, column_name: str, dtype: DataType) -> None:
    kind = dtype.simpleString()
    if kind not in SIMPLE and not kind.startswith("decimal("):
        raise ArgumentError(f'"{column_name}" is {kind}, whose values {ALONE} may compare otherwise than Spark')
    if rule.type in ("Sum", "Mean") and getattr(dtype, "precision", 0) > MOST_DIGITS:
        raise ArgumentError(
            f'"{column_name}" is {kind}, whose sum may need more digits than {ALONE} adds up as Spark does'
        )


def refuse_others(frame: Frame) -> None:
    """Refuse references of another session, whose tables of one name may be others.

    Raises:
        ArgumentError: there is one.
    """
    for alias, reference in frame.references.items():
        if reference.sparkSession is not frame.df.sparkSession:
            raise ArgumentError(f"the reference {alias} is of another session than the frame")


def compiles(frame: Frame, pattern: str) -> None:
    """Refuse a regular expression that the session's engine does not take."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    try:
        frame.df.sparkSession.range(1).select(F.lit("").rlike(rf"\A(?:{pattern})\z")).collect()
    except PySparkException as error:
        raise ArgumentError(f"the session's engine does not take {pattern}: {first_line(error)}") from None


def castable(column: Column, dtype: DataType, expected: str) -> Column:
    """Return whether values can be cast, without a cast.

    Args:
        column: of the frame.
        dtype: its type.
        expected: `integer`, `long`, `boolean` or another type of ColumnDataType, in lower case.

    Raises:
        ArgumentError: the cast may differ from Spark's.
    """
    from pyspark.sql import functions as F

    kind = dtype.simpleString()
    into, most = WHOLE.get(expected, (expected, 0))
    if kind == into or (into in WIDTHS and kind in WIDTHS and WIDTHS.index(kind) <= WIDTHS.index(into)):
        return column.isNotNull()
    if kind == "string" and (most or expected == "boolean"):
        return F.coalesce(column.rlike(patterns.whole_numbers(most) if most else patterns.truths()), F.lit(False))
    raise ArgumentError(f"{ALONE} may cast {kind} to {expected} otherwise than Spark")
