"""Columns of Arrow as a table of Iceberg has them: by name, complete, of its types, or refused."""

from collections.abc import Iterator
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.light.typing import Array, ArrowSchema, ArrowTable, DataType


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
    fields, columns = [], []
    for field in schema:
        column = table.column(field.name) if field.name in names else None
        if column is None and not (field.nullable and pa.types.is_struct(field.type)):
            continue
        if column is None or pa.types.is_null(column.type):
            # as pa.nulls it could not be written: that has nulls inside of structs, too
            column = pa.array([None] * len(table), field.type)
        fields.append(field.remove_metadata().with_type(column.type))
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def plain(table: ArrowTable, *, short_bytes: bool) -> ArrowTable:
    """Return an Arrow table whose columns hold the values themselves, and whose fields go by their names.

    It has no dictionaries, no views, no lists of a fixed size, and no ids of another table's fields, as Parquet
    has them; times are in microseconds and with the zone UTC where they have one; what is inside of a column may
    be null.

    Args:
        table: pyarrow.Table.
        short_bytes: whether bytes are to have short offsets.

    Raises:
        ValueError: Arrow does not convert a column, or nanoseconds would be lost.
    """
    for place, field in enumerate(table.schema):
        kind = _plain(field.type, short_bytes)
        if not kind.equals(field.type, check_metadata=True):
            table = _cast(table, place, kind)
    return table


def fitted(table: ArrowTable, schema: ArrowSchema) -> ArrowTable:
    """Return an Arrow table whose columns have the types of a schema; texts, bytes and lists may be large ones.

    Args:
        table: pyarrow.Table whose types can be promoted to those of the schema, null only where that allows it.
        schema: pyarrow.Schema of the table that it is written to.

    Raises:
        ValueError: a value does not fit, such as 1.505 for two decimal places.
    """
    for place, field in enumerate(table.schema):
        kind = _wanted(field.type, schema.field(field.name).type)
        if kind != field.type:
            table = _cast(table, place, kind)
    return table


def _cast(table: ArrowTable, place: int, kind: DataType) -> ArrowTable:
    import pyarrow as pa

    field = table.schema.field(place)
    try:
        column = table.column(place).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ArgumentError(f"the column {field.name} is {field.type}, not {kind}: {error}") from None
    return table.set_column(place, field.with_type(kind), column)


def _wanted(given: DataType, kind: DataType) -> DataType:
    """Return the type of a schema, with texts, bytes and lists as large as the given type has them."""
    import pyarrow as pa

    def inside(own: Any, other: Any) -> Any:
        return other.remove_metadata().with_type(_wanted(own.type, other.type))

    if pa.types.is_struct(kind) and pa.types.is_struct(given):
        places = {field.name: given.get_field_index(field.name) for field in kind}
        return pa.struct(
            inside(given.field(places[field.name]), field) if places[field.name] >= 0 else field.remove_metadata()
            for field in kind
        )
    if pa.types.is_map(kind) and pa.types.is_map(given):
        key, item = inside(given.key_field, kind.key_field), inside(given.item_field, kind.item_field)
        return pa.map_(key, item, given.keys_sorted)
    if pa.types.is_large_list(given):
        return pa.large_list(inside(given.value_field, kind.value_field))
    if pa.types.is_list(given):
        return pa.list_(inside(given.value_field, kind.value_field))
    sizes = (pa.types.is_string, pa.types.is_large_string), (pa.types.is_binary, pa.types.is_large_binary)
    alike = any(any(test(given) for test in tests) and any(test(kind) for test in tests) for tests in sizes)
    return given if alike or isinstance(kind, pa.BaseExtensionType) else kind


def _plain(kind: DataType, short_bytes: bool) -> DataType:
    import pyarrow as pa

    def inside(field: Any) -> Any:
        return field.remove_metadata().with_nullable(True).with_type(_plain(field.type, short_bytes))

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type, short_bytes)
    if pa.types.is_timestamp(kind):  # pandas has nanoseconds
        return pa.timestamp("us", kind.tz and "UTC")
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind) or (short_bytes and pa.types.is_large_binary(kind)):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([inside(field) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(inside(kind.key_field).with_nullable(False), inside(kind.item_field), kind.keys_sorted)
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
