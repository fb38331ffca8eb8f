"""What Arrow makes of rows that were given as Python values: kept as they are, or refused."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from workbench._base.errors import ArgumentError
from workbench.light.typing import ArrowSchema, ArrowTable, DataType

MISSING = ("NAType", "NaTType")  # what pandas has for null
# with which Arrow refuses a Python value; its own are among them, as ArrowInvalid is a ValueError
UNFIT = (ValueError, TypeError, OverflowError, NotImplementedError, AttributeError)


def converted(rows: Sequence[object], schema: ArrowSchema) -> ArrowTable:
    """Return dicts as an Arrow table of a schema, each value as it was given.

    Arrow would cut 1.5 to 1 for an integer, take 5 for the sixth of January 1970, a datetime for its day, 1e300
    for infinity and a text for its bytes, and drop fields of a struct that it does not know. A datetime without a
    zone is UTC, and one with a zone is stored as its time in UTC.

    Args:
        rows: dicts whose keys are columns; a column that a dict leaves out is null.
        schema: pyarrow.Schema of the table.

    Raises:
        ValueError: a row is not a dict, or a value is not one of its column's type; with row, column and value.
    """
    import pyarrow as pa

    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise ArgumentError(f"row {place} is {row!r}, expected a dict whose keys are columns")
        if unknown := sorted({str(name) for name in row} - set(schema.names)):
            raise ArgumentError(f"{unknown[0]} is not a column; it has {', '.join(schema.names)}")
    rows = [
        {name: None if type(value).__name__ in MISSING else value for name, value in row.items()}  # type: ignore[attr-defined]  # a dict
        for row in rows
    ]
    try:
        table = pa.Table.from_pylist(rows, schema=schema)  # null is judged by `columns.complete`
    except UNFIT as error:
        raise _unfit(rows, schema) or ArgumentError(f"the rows do not fit the columns: {error}") from None
    for field in schema:
        try:
            values = table.column(field.name).to_pylist()
        except OverflowError:
            raise ArgumentError(
                f"the rows do not fit the columns: {field.name} has a time before the year 1 or after 9999 in UTC"
            ) from None
        for place, stored in enumerate(values):
            given = rows[place].get(field.name)  # type: ignore[attr-defined]  # a dict, as looked at above
            if reason := next(_changes(given, stored, field.type, field.name), None):
                raise ArgumentError(f"row {place} does not fit the columns: {reason}")
    return table


def _unfit(rows: Sequence[object], schema: ArrowSchema) -> ArgumentError | None:
    """Return the error of the first value that Arrow does not take for its column's type."""
    import pyarrow as pa

    for place, row in enumerate(rows):
        for field in schema:
            value = row.get(field.name)  # type: ignore[attr-defined]  # a dict, as looked at above
            try:
                pa.array([value], field.type)
            except UNFIT as error:
                kind = str(field.type).replace("large_", "")
                return ArgumentError(
                    f"row {place} does not fit the columns: {field.name} is {value!r}, expected {kind}: {error}"
                )
    return None


def _changes(given: Any, stored: Any, kind: DataType, path: str) -> Iterator[str]:
    """Yield how a stored value differs from the given one; nothing where it is the same."""
    import pyarrow as pa

    if stored is None or given is None:
        if given is not None and type(given).__name__ not in MISSING:
            yield f"{path} is {given!r}, which would be stored as null"
    elif pa.types.is_struct(kind):
        if not isinstance(given, Mapping):  # a tuple's values go by their places, whatever their names are
            yield f"{path} is {given!r}, expected a dict of {', '.join(field.name for field in kind)}"
            return
        if unknown := sorted({str(name) for name in given} - {field.name for field in kind}):
            names = ", ".join(field.name for field in kind)
            yield f"{path}.{unknown[0]} is not a field of the column; {path} has {names}"
        for field in kind:
            yield from _changes(given.get(field.name), stored[field.name], field.type, f"{path}.{field.name}")
    elif pa.types.is_map(kind):
        pairs = given.items() if isinstance(given, Mapping) else given
        for (key, value), (stored_key, stored_value) in zip(pairs, stored, strict=True):
            yield from _changes(key, stored_key, kind.key_type, f"{path}.key")
            yield from _changes(value, stored_value, kind.item_type, f"{path}.value")
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        for element, stored_element in zip(given, stored, strict=True):
            yield from _changes(element, stored_element, kind.value_type, f"{path}.element")
    elif not _same(given, stored, kind):
        yield f"{path} is {given!r}, which would be stored as {stored!r} in a column of {kind}"


def _same(given: Any, stored: Any, kind: DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_floating(kind):
        if isinstance(given, bool):
            return False
        if math.isnan(stored) or math.isinf(stored):
            return str(float(given)) == str(stored)
        return pa.types.is_float32(kind) or bool(given == stored)  # a float is rounded in a column of floats
    if isinstance(stored, datetime):
        try:
            return isinstance(given, date) and _in_utc(given) == _in_utc(stored)
        except OverflowError:  # in UTC it would be before the year 1 or after 9999
            return False
    if isinstance(stored, UUID) or isinstance(given, UUID):
        return _bytes(given) == _bytes(stored)
    if isinstance(given, datetime):  # of a column of dates: the time and the zone would be lost
        return False
    return bool(given == stored)


def _in_utc(moment: date) -> date:
    if not isinstance(moment, datetime):
        return moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _bytes(value: Any) -> Any:
    return value.bytes if isinstance(value, UUID) else value


def absent(rows: Sequence[object] | ArrowTable, schema: ArrowSchema) -> str | None:
    """Return the first column, or field of a struct, that rows leave out; None where all are there.

    Args:
        rows: pyarrow.Table, or dicts whose keys are columns.
        schema: pyarrow.Schema of the table.
    """
    import pyarrow as pa

    kind = pa.struct(schema)
    if isinstance(rows, pa.Table):
        return next(_left_out(kind, pa.struct(rows.schema), ""), None)
    return next((path for row in rows for path in _left_out_of(row, kind, "")), None)


def _left_out(kind: DataType, given: DataType, path: str) -> Iterator[str]:
    """Yield the fields of structs in a type that another type has not."""
    import pyarrow as pa

    if pa.types.is_struct(kind) and pa.types.is_struct(given):
        for field in kind:
            if (place := given.get_field_index(field.name)) < 0:
                yield f"{path}{field.name}"
            else:
                yield from _left_out(field.type, given.field(place).type, f"{path}{field.name}.")
    elif pa.types.is_map(kind) and pa.types.is_map(given):
        yield from _left_out(kind.key_type, given.key_type, f"{path}key.")
        yield from _left_out(kind.item_type, given.item_type, f"{path}value.")
    elif hasattr(kind, "value_type") and hasattr(given, "value_type"):
        yield from _left_out(kind.value_type, given.value_type, f"{path}element.")


def _left_out_of(given: object, kind: DataType, path: str) -> Iterator[str]:
    """Yield the fields of structs that a Python value has not."""
    import pyarrow as pa

    if pa.types.is_struct(kind) and isinstance(given, Mapping):
        for field in kind:
            if field.name not in given:
                yield f"{path}{field.name}"
            else:
                yield from _left_out_of(given[field.name], field.type, f"{path}{field.name}.")
    elif pa.types.is_map(kind) and isinstance(given, Mapping | Sequence):
        for key, value in given.items() if isinstance(given, Mapping) else given:
            yield from _left_out_of(key, kind.key_type, f"{path}key.")
            yield from _left_out_of(value, kind.item_type, f"{path}value.")
    elif hasattr(kind, "value_type") and isinstance(given, Sequence) and not isinstance(given, str | bytes):
        for element in given:
            yield from _left_out_of(element, kind.value_type, f"{path}element.")
