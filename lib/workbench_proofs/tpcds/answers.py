"""An answer in normal form, so that those of two engines can be compared and one can be known by its hash."""

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from workbench._base.errors import ArgumentError

WHOLE, DECIMAL, FLOAT, TEXT, DATE, TIME, TRUTH, VOID = (
    "whole", "decimal", "float", "text", "date", "time", "truth", "void",
)  # fmt: skip
NUMBERS = (WHOLE, DECIMAL, FLOAT)
# Digits of a float that count in a hash: two that agree in them are closer than the tolerance of a comparison.
FLOAT_DIGITS = 14
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Column:
    """A column: its name, which engines choose differently and nobody compares, its kind, a decimal's scale."""

    name: str
    kind: str
    scale: int = 0


@dataclass(frozen=True)
class Answer:
    """Rows in the order in which they came.

    Attributes:
        columns: tuple of Column.
        rows: tuple of tuples; whole numbers are int, decimals Decimal, floats float, NULL is None.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def of(table: Any) -> Answer:
    """Return the Answer in an Arrow table, which all engines can return.

    Widths of integers do not count (a sum is BIGINT here, HUGEINT there); a decimal without a fraction is whole.

    Raises:
        ValueError: a column has a type that no answer has, such as a list.
    """
    columns = tuple(_column(field) for field in table.schema)
    values = [_values(table.column(n), column) for n, column in enumerate(columns)]
    return Answer(columns, tuple(zip(*values, strict=True)) if values else ())


def digest(answer: Answer) -> str:
    """Return a SHA-256 of kinds, scales, rows and their order; names of columns do not count."""
    sha = hashlib.sha256(json.dumps([(column.kind, column.scale) for column in answer.columns]).encode())
    for row in answer.rows:
        sha.update(json.dumps([_plain(value) for value in row]).encode() + b"\n")
    return sha.hexdigest()


def vacuous(answer: Answer) -> bool:
    """Say whether an answer verifies nothing: it is empty, or holds only NULL and 0."""
    values = (value for row in answer.rows for value in row)
    return all(value is None or (not isinstance(value, str | bool) and value == 0) for value in values)


def _column(field: Any) -> Column:
    import pyarrow.types as kinds

    arrow = field.type
    if kinds.is_decimal(arrow):
        return Column(field.name, DECIMAL if arrow.scale else WHOLE, arrow.scale)
    tests = {
        WHOLE: kinds.is_integer, FLOAT: kinds.is_floating, DATE: kinds.is_date, TIME: kinds.is_timestamp,
        TRUTH: kinds.is_boolean, VOID: kinds.is_null,
        TEXT: lambda kind: kinds.is_string(kind) or kinds.is_large_string(kind),
    }  # fmt: skip
    for kind, test in tests.items():
        if test(arrow):
            return Column(field.name, kind)
    raise ArgumentError(f"column {field.name} is of type {arrow}, which no answer of the set has")


def _values(array: Any, column: Column) -> list[Any]:
    values = array.to_pylist()
    if column.kind == WHOLE:
        return [None if value is None else int(value) for value in values]
    if column.kind == FLOAT:  # -0.0 is 0.0
        return [None if value is None else float(value) + 0.0 for value in values]
    return values


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, float):
        return f"{value:.{FLOAT_DIGITS}g}"
    if value is None or isinstance(value, bool | int | str):
        return [value] if isinstance(value, str) else value  # a text "1.5" is not the number
    return format(value, "f") if isinstance(value, Decimal) else value.isoformat()
