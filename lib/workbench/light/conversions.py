"""What Arrow makes of rows that were given as Python values: kept as they are, or refused."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from workbench._base.errors import ArgumentError
from workbench.light.typing import Array, ArrowSchema, ArrowTable, DataType

MISSING = ("NAType", "NaTType")  # what pandas has for null


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
    try:
        table = pa.Table.from_pylist(rows, schema=schema)  # null is judged by `complete`
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeError) as error:
        raise _unfit(rows, schema) or ArgumentError(f"the rows do not fit the columns: {error}") from None
    for field in schema:
        for place, stored in enumerate(table.column(field.name).to_pylist()):
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
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeError) as error:
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
        return isinstance(given, date) and _in_utc(given) == _in_utc(stored)
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


def placed(table: ArrowTable, schema: ArrowSchema) -> ArrowTable:
    """Return an Arrow table whose columns are in the order of a schema, required where they are required there.

    A column without a type, which is how pandas hands over one that is null throughout, gets the schema's. One of
    structs that is left out is null: PyIceberg would write null where they require a value.

    Args:
        table: pyarrow.Table.
        schema: pyarrow.Schema of the table that it is written to.

    Raises:
        ValueError: a column is there twice, or is not a column of the schema.
    """
    import pyarrow as pa

    names = table.column_names
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ArgumentError(f"the rows have the column {repeated[0]} twice")
    if unknown := [name for name in names if name not in schema.names]:
        raise ArgumentError(f"{unknown[0]} is not a column; it has {', '.join(schema.names)}")
    columns = {}
    for field in schema:
        column = table.column(field.name) if field.name in names else None
        if column is None and not (field.nullable and pa.types.is_struct(field.type)):
            continue
        if column is None or pa.types.is_null(column.type):
            # as pa.nulls it could not be written: that has nulls inside of structs, too
            column = pa.array([None] * len(table), field.type)
        columns[field.with_type(column.type)] = column
    return pa.Table.from_arrays(list(columns.values()), schema=pa.schema(list(columns)))


def plain(table: ArrowTable, *, short_bytes: bool) -> ArrowTable:
    """Return an Arrow table whose columns hold the values themselves: no dictionaries, no views, no lists of a
    fixed size, times in microseconds and with the zone UTC where they have one.

    Args:
        table: pyarrow.Table.
        short_bytes: whether bytes are to have short offsets.

    Raises:
        ValueError: Arrow does not convert a column, or nanoseconds would be lost.
    """
    import pyarrow as pa

    kinds = [_plain(field.type, short_bytes) for field in table.schema]
    for place, (field, kind) in enumerate(zip(table.schema, kinds, strict=True)):
        if kind != field.type:
            try:
                column = table.column(place).cast(kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise ArgumentError(f"the column {field.name} is {field.type}, not {kind}: {error}") from None
            table = table.set_column(place, field.with_type(kind), column)
    return table


def _plain(kind: DataType, short_bytes: bool) -> DataType:
    import pyarrow as pa

    def inside(field: Any) -> Any:
        return field.with_type(_plain(field.type, short_bytes))

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type, short_bytes)
    if pa.types.is_timestamp(kind):  # pandas has nanoseconds
        return pa.timestamp("us" if kind.unit == "ns" else kind.unit, kind.tz and "UTC")
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind) or (short_bytes and pa.types.is_large_binary(kind)):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([inside(field) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(inside(kind.key_field), inside(kind.item_field), kind.keys_sorted)
    if pa.types.is_large_list(kind):
        return pa.large_list(inside(kind.value_field))
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(inside(kind.value_field))
    return kind


def complete(table: ArrowTable, schema: ArrowSchema) -> None:
    """Refuse rows that have null where the table asks for a value.

    Args:
        table: pyarrow.Table.
        schema: pyarrow.Schema of the table that it is written to; a column that is left out is not looked at.

    Raises:
        ValueError: with the column and the first of such rows.
    """
    for field in schema:
        if field.name not in table.column_names:
            continue
        values = table.column(field.name).combine_chunks()
        if not field.nullable and values.null_count:
            place = values.is_null().to_pylist().index(True)
            raise ArgumentError(f"the column {field.name} is required, and row {place} has null there")
        if path := next(_nulls(values, field.type, field.name), None):
            raise ArgumentError(f"{path} is required, and a row has null there")


def _nulls(values: Array, kind: DataType, path: str) -> Iterator[str]:
    """Yield the required fields inside a column that hold null where what is around them does not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    children: list[tuple[Any, Array]] = []
    if pa.types.is_struct(kind):
        present = values.filter(values.is_valid())
        names = {field.name for field in values.type}
        children = [(field, pc.struct_field(present, field.name)) for field in kind if field.name in names]
    elif pa.types.is_map(kind):
        present = values.filter(values.is_valid())
        children = [(kind.key_field, present.keys), (kind.item_field, present.items)]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        children = [(kind.value_field, pc.list_flatten(values))]
    for field, child in children:
        name = f"{path}.{field.name}"
        if not field.nullable and child.null_count:
            yield name
        yield from _nulls(child, field.type, name)
