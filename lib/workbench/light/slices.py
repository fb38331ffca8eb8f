"""Rows as data files of a table: split by its partitions, sorted by its order, each file written once."""

import itertools
import uuid
from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING

from workbench._base.errors import ArgumentError
from workbench.light import columns, conversions
from workbench.light.typing import Array, ArrowTable, DataFile, DataType, IcebergTable, Rows

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionField, PartitionKey
    from pyiceberg.table import WriteTask
    from pyiceberg.table.sorting import SortField


def fit(table: IcebergTable, rows: Rows) -> ArrowTable:
    """Return rows as an Arrow table whose columns are those of a table of Iceberg.

    Args:
        table: PyIceberg's Table.
        rows: pyarrow.Table, or a list of dicts whose keys are columns.

    Raises:
        ValueError: a column is unknown or missing or has another type, or PyIceberg would write something else.
    """
    import pyarrow as pa

    schema = table.schema().as_arrow()
    if isinstance(rows, list):
        rows = conversions.converted(rows, schema)
    if not isinstance(rows, pa.Table):
        raise ArgumentError(f"rows is {type(rows).__name__}, expected a pyarrow.Table or a list of dicts")
    rows = columns.placed(rows, schema)
    rows = columns.plain(rows, short_bytes=_truncates_bytes(table))
    _check_types(table, rows)
    columns.complete(rows, schema)
    rows = columns.fitted(rows, schema)  # a transform of PyIceberg takes a decimal of another scale for another
    for name in rows.column_names:
        if _null_list(rows.schema.field(name).type, rows.column(name).combine_chunks()):
            raise ArgumentError(
                f"the column {name} holds a null list or map of structs, which PyIceberg writes as an empty one "
                "(apache/iceberg-python 3833); write it with Spark"
            )
    return rows


def _check_types(table: IcebergTable, rows: ArrowTable) -> None:
    """Refuse rows that do not fit; PyIceberg's own answer to a wrong type is a table printed to the output."""
    from pyiceberg.exceptions import ResolveError
    from pyiceberg.io.pyarrow import UnsupportedPyArrowTypeException, pyarrow_to_schema
    from pyiceberg.schema import promote
    from pyiceberg.types import BinaryType, PrimitiveType, StringType

    schema, version = table.schema(), table.format_version
    try:
        given = pyarrow_to_schema(rows.schema, name_mapping=schema.name_mapping, format_version=version)
    except (UnsupportedPyArrowTypeException, ValueError, TypeError) as error:
        raise ArgumentError(f"the rows do not fit the columns: {error}") from None
    names = {number: str(schema.find_column_name(number)) for number in sorted(schema.field_ids)}
    absent = [number for number in names if number not in given.field_ids]
    # what a list or a map requires inside is not missed where all of it is
    null = [f"{names[number]}." for number in absent if not schema.find_type(number).is_struct]
    for number, name in names.items():
        field = schema.find_field(number)
        if number in absent:
            if field.required and not any(map(name.startswith, null)):
                raise ArgumentError(f"the column {name} is required, and the rows have none")
            continue
        provided = given.find_field(number)
        if provided.field_type == field.field_type:
            continue
        wrong = ArgumentError(f"the column {name} is {provided.field_type}, expected {field.field_type}")
        if {type(provided.field_type), type(field.field_type)} == {BinaryType, StringType}:
            raise wrong
        if isinstance(field.field_type, PrimitiveType):
            try:
                promote(provided.field_type, field.field_type)
            except ResolveError:
                raise wrong from None
        elif type(provided.field_type) is not type(field.field_type):
            raise wrong


def _truncates_bytes(table: IcebergTable) -> bool:
    """Say whether partitions or the order truncate bytes, which PyIceberg does of short ones only."""
    from pyiceberg.transforms import TruncateTransform
    from pyiceberg.types import BinaryType

    fields: list[PartitionField | SortField] = [*table.spec().fields, *table.sort_order().fields]
    return any(
        isinstance(field.transform, TruncateTransform)
        and isinstance(table.schema().find_type(field.source_id), BinaryType)
        for field in fields
    )


def _null_list(kind: DataType, values: Array) -> bool:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return any(_null_list(field.type, values.field(place)) for place, field in enumerate(kind))
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)):
        return False
    kinds_below = [kind.key_type, kind.item_type] if pa.types.is_map(kind) else [kind.value_type]
    if any(map(pa.types.is_struct, kinds_below)) and values.null_count:
        return True
    if pa.types.is_map(kind):
        return _null_list(kind.key_type, values.keys) or _null_list(kind.item_type, values.items)
    return _null_list(kind.value_type, values.values)


def write(table: IcebergTable, rows: ArrowTable) -> list[DataFile]:
    """Write rows as data files that no snapshot knows yet.

    A partition is a slice of the rows once they are sorted, so that each row is touched once, however many
    partitions there are. Files note the table's sort order, which the rows have, and count NaN.

    Args:
        table: PyIceberg's Table.
        rows: as `fit` returns them.

    Returns:
        PyIceberg's DataFiles.
    """
    from pyiceberg.io.pyarrow import write_file

    slices = list(_slices(table, rows))
    files = list(write_file(table.io, table.metadata, (task for task, _ in slices)))
    for file, (_, part) in zip(files, slices, strict=True):
        _note(table, file, part)
    return files


def _slices(table: IcebergTable, rows: ArrowTable) -> "Iterator[tuple[WriteTask, ArrowTable]]":
    """Yield a task of PyIceberg's writer for each file, and its rows."""
    import pyarrow as pa
    from pyiceberg.io.pyarrow import bin_pack_arrow_table, pyarrow_to_schema
    from pyiceberg.table import TableProperties, WriteTask

    size = int(
        table.properties.get(
            TableProperties.WRITE_TARGET_FILE_SIZE_BYTES, TableProperties.WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT
        )
    )
    schema = pyarrow_to_schema(
        rows.schema, name_mapping=table.schema().name_mapping, format_version=table.format_version
    )
    write_uuid, numbers = uuid.uuid4(), itertools.count()
    for key, part in _partitions(table, rows):
        for batches in bin_pack_arrow_table(part, size):
            task = WriteTask(write_uuid, next(numbers), schema, batches, partition_key=key)
            yield task, pa.Table.from_batches(batches)


def _partitions(table: IcebergTable, rows: ArrowTable) -> "Iterator[tuple[PartitionKey | None, ArrowTable]]":
    """Split rows by the table's partitions, each sorted by its order; yields PyIceberg's key and the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyiceberg.partitioning import PartitionFieldValue, PartitionKey

    schema, fields = table.schema(), table.spec().fields
    # encoded, NaN and null are values like others
    encoded = [_transformed(table, field, rows).dictionary_encode(null_encoding="encode") for field in fields]
    keys = {f"p{number}": column.indices for number, column in enumerate(encoded)}
    directions = dict.fromkeys(keys, "ascending")
    for number, (field, column) in enumerate(
        (field, _transformed(table, field, rows)) for field in table.sort_order().fields
    ):
        for name, values, direction in _ordered(f"s{number}", field, column):
            keys[name], directions[name] = values, direction
    if not keys:
        yield None, rows
        return
    order = pc.sort_indices(pa.table(keys), sort_keys=list(directions.items()))
    rows = rows.take(order)
    if not fields:
        yield None, rows
        return
    codes = [column.indices.take(order) for column in encoded]
    changes = reduce(pc.or_, (pc.not_equal(code[1:], code[:-1]) for code in codes))
    starts = [0, *(place + 1 for place in pc.indices_nonzero(changes).to_pylist())]
    for start, end in itertools.pairwise([*starts, len(rows)]):
        values = [
            PartitionFieldValue(field, column.dictionary[code[start].as_py()].as_py())
            for field, column, code in zip(fields, encoded, codes, strict=True)
        ]
        key = PartitionKey(values, table.spec(), schema)
        try:
            key.to_path()
        except Exception as error:  # of a library that does not write such a value
            raise ArgumentError(
                f"PyIceberg does not write the partition {', '.join(str(field.transform) for field in fields)} of "
                f"this table; write it with Spark: {error}"
            ) from error
        yield key, rows.slice(start, end - start)


def _transformed(table: IcebergTable, field: "PartitionField | SortField", rows: ArrowTable) -> Array:
    """Return the values of a partition or sort field, as one array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = table.schema()
    full = schema.find_column_name(field.source_id) or ""  # the source of a field is always a column
    name, *below = [full] if full in rows.column_names else full.split(".")
    column = rows.column(name) if name in rows.column_names else None
    kind = schema.find_type(field.source_id)
    if column is None:  # an optional column that the rows leave out
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        column, below = pa.nulls(len(rows), schema_to_pyarrow(kind)), []
    for part in below:
        column = pc.struct_field(column, part)
    if isinstance(column.type, pa.BaseExtensionType):  # of UUIDs, which Arrow neither sorts nor encodes
        column = column.cast(column.type.storage_type)
    try:
        values = field.transform.pyarrow_transform(kind)(column)
    except Exception as error:  # of a library that does not know such a pair
        raise ArgumentError(
            f"PyIceberg does not compute {field.transform} of {full}, which is {kind}, so it cannot write to this "
            f"table; write it with Spark: {error}"
        ) from error
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _ordered(name: str, field: "SortField", column: Array) -> Iterator[tuple[str, Array, str]]:
    """Yield the columns by which rows are sorted: where nulls are, where NaN is, the values."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyiceberg.table.sorting import NullOrder, SortDirection

    direction = "ascending" if field.direction == SortDirection.ASC else "descending"
    yield (
        f"{name}_null",
        column.is_null(),
        "descending" if field.null_order == NullOrder.NULLS_FIRST else "ascending",
    )
    if pa.types.is_floating(column.type):
        yield f"{name}_nan", pc.fill_null(pc.is_nan(column), False), direction  # the greatest of all
    yield name, column, direction


def _note(table: IcebergTable, file: DataFile, part: ArrowTable) -> None:
    """Note in a data file by which order it is sorted, and how many NaN its columns hold."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyiceberg.manifest import DATA_FILE_TYPE

    places = {field.name: place for place, field in enumerate(DATA_FILE_TYPE[2].fields)}
    file[places["sort_order_id"]] = table.sort_order().order_id or None
    counts = {}
    for field in part.schema:
        if pa.types.is_floating(field.type):
            number = table.schema().find_field(field.name).field_id
            counts[number] = pc.sum(pc.is_nan(part.column(field.name)), min_count=0).as_py()
    file[places["nan_value_counts"]] = counts
