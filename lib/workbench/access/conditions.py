"""Conditions under which a cell is visible: a small tree, bound to field ids and types, and its SQL.

A condition is TRUE, FALSE or unknown for a row, as in SQL; a cell is visible where it is TRUE. Three rules make
the answer the same in every engine:

- Texts are compared by their code points, trailing spaces and all; LIKE knows `%` and `_` and no escape.
- Numbers are compared in the column's own type, floats as doubles. NaN is unknown, as NULL is: Spark and DuckDB
  say that NaN is greater than any number, Trino and PyIceberg that it is not. Unknown shows no more than either.
- A value that the column's type cannot hold is refused, because engines round it differently.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from workbench._base import duck, identifiers
from workbench._base.errors import ArgumentError

Dialect: TypeAlias = Literal["spark", "duckdb", "trino", "lake-formation"]
Value: TypeAlias = str | int | float | bool | Decimal
MOST_DIGITS = 60  # of a number in a filter
LONG = range(-(2**63), 2**63)
EXPECTED = {
    "text": "a text in single quotes", "integer": "an integer of 64 bits", "double": "a number",
    "decimal": "a decimal number", "boolean": "true or false",
}  # fmt: skip


@dataclass(frozen=True)
class Predicate:
    """A comparison of one column with constants.

    Attributes:
        column: its name; the policy's when parsed, the table's when bound.
        operator: =, <>, <, <=, >, >=, BETWEEN, IN, LIKE or IS NULL.
        values: the constants; of BETWEEN the lower and the upper one, of IS NULL none.
        field_id: of the column in the table; None until bound.
        kind: text, integer, double, decimal(p, s) or boolean; None until bound.
    """

    column: str
    operator: str
    values: tuple[Value, ...] = ()
    field_id: int | None = None
    kind: str | None = None


@dataclass(frozen=True)
class Combination:
    """Conditions joined by AND or OR, or one that is negated by NOT. AND of none is TRUE, OR of none is FALSE."""

    operator: Literal["AND", "OR", "NOT"]
    parts: tuple["Condition", ...]


Condition: TypeAlias = Predicate | Combination
ALWAYS = Combination("AND", ())
NEVER = Combination("OR", ())


def either(conditions: Iterator[Condition]) -> Condition:
    """Return the condition that is TRUE where one of several is; ALWAYS where one of them is."""
    parts: dict[Condition, None] = {}
    for condition in conditions:
        if condition == ALWAYS:
            return ALWAYS
        alike = isinstance(condition, Combination) and condition.operator == "OR"
        parts |= dict.fromkeys(condition.parts if isinstance(condition, Combination) and alike else (condition,))
    return next(iter(parts)) if len(parts) == 1 else Combination("OR", tuple(parts))


def predicates(condition: Condition) -> Iterator[Predicate]:
    """Yield the comparisons of a condition, in their order."""
    if isinstance(condition, Predicate):
        yield condition
    else:
        for part in condition.parts:
            yield from predicates(part)


def bound(condition: Condition, columns: Mapping[str, Any]) -> Condition:
    """Return a condition on the columns of a table, each constant as a value of its column's type.

    Args:
        condition: as it was parsed.
        columns: the policy's name to PyIceberg's NestedField.

    Raises:
        ArgumentError: a constant does not fit its column, or filters cannot read a column of its type.
    """
    if isinstance(condition, Combination):
        return Combination(condition.operator, tuple(bound(part, columns) for part in condition.parts))
    field = columns[condition.column]
    kind = _kind(condition.column, field.field_type)
    if condition.operator == "LIKE" and kind != "text":
        raise ArgumentError(f"LIKE compares texts, and {condition.column} is {field.field_type}")
    if kind == "boolean" and condition.operator not in ("=", "<>", "IN", "IS NULL"):
        raise ArgumentError(f"{condition.column} is boolean, which = and <> compare, and {condition.operator} not")
    values = tuple(_fitted(condition.column, field.field_type, kind, value) for value in condition.values)
    return replace(condition, column=field.name, field_id=field.field_id, values=values, kind=kind)


def _kind(column: str, field_type: Any) -> str:
    from pyiceberg import types

    if isinstance(field_type, types.DecimalType):
        return f"decimal({field_type.precision}, {field_type.scale})"
    kinds: dict[Any, str] = {types.StringType: "text", types.IntegerType: "integer", types.LongType: "integer",
             types.FloatType: "double", types.DoubleType: "double", types.BooleanType: "boolean"}  # fmt: skip
    if (kind := kinds.get(type(field_type))) is None:
        raise ArgumentError(
            f"a filter cannot read {column}, which is {field_type}; expected a string, an int, a long, a float, a "
            "double, a decimal or a boolean"
        )
    return kind


def _fitted(column: str, field_type: Any, kind: str, value: Value) -> Value:
    """Return a constant as the value that a column of some type holds."""
    number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if kind == "text" and isinstance(value, str):
        return value
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "integer" and number and isinstance(value, int) and value in LONG:
        return value
    if kind == "double" and number and not math.isinf(double := _double(value)):
        return double
    if kind.startswith("decimal") and number:
        exact = Decimal(value)
        whole, decimals = _digits(exact)
        if decimals <= field_type.scale and whole <= field_type.precision - field_type.scale:
            return exact
        raise ArgumentError(f"{column} is {field_type}, which cannot hold {_plain(exact)}; engines would round it")
    expected = EXPECTED[kind.partition("(")[0]]
    raise ArgumentError(f"{column} is {field_type} and is compared with {_shown(value)}; expected {expected}")


def _digits(value: Decimal) -> tuple[int, int]:
    """Return how many digits stand before and behind the point; `normalize` and `abs` would round to 28."""
    before, _, behind = format(value.copy_abs(), "f").partition(".")
    return len(before.lstrip("0")), len(behind.rstrip("0"))


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return duck.literal(value)
    return str(value).lower() if isinstance(value, bool) else _plain(Decimal(value))


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text if len(text) <= MOST_DIGITS else f"a number of {len(text)} digits"


def rendered(condition: Condition, dialect: Dialect) -> str:
    """Return a condition that is bound as SQL.

    Args:
        condition: of columns of one table.
        dialect: whose SQL; `lake-formation` is the language that filters are written in.

    Raises:
        ArgumentError: Spark cannot have a column's name in a statement.
    """
    if isinstance(condition, Predicate):
        return _predicate(condition, dialect)
    if not condition.parts:
        return "TRUE" if condition == ALWAYS else "FALSE"
    if condition.operator == "NOT":
        return f"NOT ({rendered(condition.parts[0], dialect)})"
    return f" {condition.operator} ".join(f"({rendered(part, dialect)})" for part in condition.parts)


def _predicate(predicate: Predicate, dialect: Dialect) -> str:
    if predicate.operator == "IS NULL":
        return f"{named(predicate.column, dialect)} IS NULL"
    operand = _operand(predicate, dialect)
    values = [_literal(value, predicate, dialect) for value in predicate.values]
    if predicate.operator == "BETWEEN":
        return f"{operand} BETWEEN {values[0]} AND {values[1]}"
    if predicate.operator == "IN":
        return f"{operand} IN ({', '.join(values)})"
    return f"{operand} {predicate.operator} {values[0]}"


def _operand(predicate: Predicate, dialect: Dialect) -> str:
    """Return a column as it is compared: floats as doubles, NaN as NULL."""
    name = named(predicate.column, dialect)
    if predicate.kind != "double" or dialect == "lake-formation":
        return name
    if dialect == "spark":
        return f"nanvl(CAST({name} AS DOUBLE), CAST(NULL AS DOUBLE))"
    test = {"duckdb": "isnan", "trino": "is_nan"}[dialect]
    return f"CASE WHEN {test}(CAST({name} AS DOUBLE)) THEN NULL ELSE CAST({name} AS DOUBLE) END"


def _literal(value: Value, predicate: Predicate, dialect: Dialect) -> str:
    if isinstance(value, str):
        return identifiers.literal(value) if dialect == "spark" else duck.literal(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return _number(Decimal(repr(value))) if dialect == "lake-formation" else f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, Decimal) and dialect != "lake-formation":
        return f"CAST('{value:f}' AS {str(predicate.kind).upper()})"
    if predicate.kind == "integer" and dialect == "trino" and value == LONG[0]:
        return "BIGINT '-9223372036854775808'"
    return _number(Decimal(value))


def _number(value: Decimal) -> str:
    """Return a number as filters have it, with an exponent where it would be long otherwise."""
    text = format(value, "f")
    return text if len(text) <= MOST_DIGITS else str(value)


def named(column: str, dialect: Dialect) -> str:
    """Return the name of a column quoted for a dialect."""
    return identifiers.in_sql(column) if dialect == "spark" else duck.quoted(column)


def described(condition: Condition) -> str:
    """Return a condition for people: always, never, or a filter in the language that filters are written in."""
    words: dict[Condition, str] = {ALWAYS: "always", NEVER: "never"}
    return words.get(condition) or rendered(condition, "lake-formation")
