"""An ordered part of what a principal sees of a table, each cell as a text that loses nothing."""

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

from pyiceberg.table import Table

from workbench import access
from workbench._base import duck
from workbench._base.errors import ArgumentError, WorkbenchError

ArrowTable: TypeAlias = Any
Order: TypeAlias = Sequence[tuple[str, bool]]
LARGEST = 5_000_000  # rows of a table that is read anew for each page; larger ones are for the front
MOST = 500  # rows of a page
ORDERED = ("boolean", "int", "long", "float", "double", "decimal", "date", "time", "timestamp", "timestamptz",
           "string", "uuid")  # fmt: skip


class TooLarge(WorkbenchError):
    """A table is larger than a page reads, which is for its owner's log."""


@dataclass(frozen=True)
class Cell:
    """A cell: its text, None where it is NULL; or hidden, which is something else."""

    text: str | None
    hidden: bool = False


@dataclass(frozen=True)
class Part:
    """Consecutive rows of what a principal sees.

    Attributes:
        columns: names of its columns.
        rows: the cells of each row, as many as columns.
        start: number of rows before these.
        total: rows in all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    start: int
    total: int


def judge(
    table: Table, decision: access.Decision, *, order: Order = (), first: int = 20, start: int = 0,
    snapshot_id: int | None = None,
) -> None:  # fmt: skip
    """Refuse a part that cannot be read, before anything is.

    Args:
        table: as PyIceberg loaded it.
        decision: for the schema of the version that is read.
        order: as of `part`.
        first: as of `part`.
        start: as of `part`.
        snapshot_id: the version; left out, the current one.

    Raises:
        ArgumentError: a column of the order is unknown or cannot be ordered, a number is out of range, or the
            table is larger than a page reads.
        TooLarge: it is, and not all of its rows are visible.
    """
    if not 1 <= first <= MOST:
        raise ArgumentError(f"a page has 1 to {MOST} rows, found {first}")
    if not 0 <= start <= LARGEST:
        raise ArgumentError(f"a page begins behind 0 to {LARGEST} rows, found {start}")
    _keys(decision, order)
    if sum(task.file.record_count for task in table.scan(snapshot_id=snapshot_id).plan_files()) > LARGEST:
        if decision.row != access.ALWAYS:  # hidden rows are counted too: that they are so many is not to be told
            raise TooLarge(f"{decision.table} has more than {LARGEST:,} rows")
        raise ArgumentError(f"the page reads tables of at most {LARGEST:,} rows; ask this one through the front")


def part(
    governed: ArrowTable, decision: access.Decision, *, order: Order = (), first: int = 20, start: int = 0,
    complete: bool = False,
) -> Part:  # fmt: skip
    """Return a part of what a principal sees of a table.

    The order is total: behind the columns that are named stand all others that can be ordered, so that rows that
    change places are equal in them. Hidden cells are ordered as NULL, which comes first: an order by what is
    hidden tells nothing.

    Args:
        governed: what the principal sees, as `access.arrow` returns it.
        decision: by which it was read.
        order: columns that the principal sees, and whether the largest comes first.
        first: number of rows.
        start: number of rows before them.
        complete: whether rows with hidden cells are left out; NULL is not a hidden cell.
    """
    names = [column.name for column in decision.visible]
    places, total = _places(governed, _keys(decision, order), first, start, complete)
    rows = tuple(_cells(row, names) for row in governed.take(places).to_pylist())
    return Part(tuple(names), rows, start, total)


def orderable(decision: access.Decision) -> list[str]:
    """Return the names of the columns by which what a principal sees can be ordered."""
    return [column.name for column in decision.visible if column.type.split("(")[0] in ORDERED]


def _keys(decision: access.Decision, order: Order) -> list[str]:
    """Return the keys of ORDER BY: those that are asked for, then all others, so that the order is total."""
    possible = orderable(decision)
    for name, _ in order:
        if name not in possible:
            raise ArgumentError(f"{name!r} is not a column to order by; columns are {', '.join(possible)}")
    asked = dict(order)
    directions = asked | {name: False for name in possible if name not in asked}
    return [
        f"{duck.quoted(name)} {'DESC NULLS LAST' if descending else 'ASC NULLS FIRST'}"
        for name, descending in directions.items()
    ]


def _places(
    governed: ArrowTable, ordered: Sequence[str], first: int, start: int, complete: bool
) -> tuple[list[int], int]:
    """Return the places of the rows of a part in a table of Arrow, and the number of rows in all."""
    import duckdb
    import pyarrow as pa

    place, names = "place", {name.casefold() for name in governed.column_names}  # DuckDB knows no capitals
    while place in names:
        place += "_"
    numbered = governed.append_column(place, pa.array(range(governed.num_rows), pa.int64()))
    where = f" WHERE len({duck.quoted(access.HIDDEN)}) = 0" if complete else ""
    keys = ", ".join([*ordered, duck.quoted(place)])
    with duckdb.connect(config=duck.OFFLINE | {"enable_external_access": False}) as connection:
        connection.register("governed", numbered)
        (total,) = connection.execute(f"SELECT count(*) FROM governed{where}").fetchone() or (0,)
        statement = f"SELECT {place} FROM governed{where} ORDER BY {keys} LIMIT {first} OFFSET {start}"
        return [row[0] for row in connection.execute(statement).fetchall()], total


def _cells(row: dict[str, Any], names: Sequence[str]) -> tuple[Cell, ...]:
    hidden = set(row[access.HIDDEN])
    return tuple(Cell(None, True) if name in hidden else Cell(text(row[name])) for name in names)


def text(value: Any) -> str | None:
    """Return a value of a table as a text: numbers with all their digits, times in ISO 8601, bytes in base 64."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict | list):
        return json.dumps(value, default=text, ensure_ascii=False)
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, int | float | Decimal | UUID):
        return str(value)
    raise ArgumentError(f"a value of type {type(value).__name__} cannot be shown on the page")
