"""Parquet files of one schema read and written together by PyArrow, as Iceberg's own writer would have them."""

import dataclasses
import math
import re
import struct
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench._base.typing import Java
from workbench.tables.maintenance import storage
from workbench.tables.maintenance.results import Hindrance
from workbench.tables.maintenance.storage import Unfit

Schema: TypeAlias = Any  # PyArrow's, which is imported where it is used
ArrowTable: TypeAlias = Any
Source = tuple[str, int]  # location and bytes of a file that is replaced
Span = tuple[bytes, bytes]  # the lowest and the highest value of a column
Ends = tuple[float, float]
Layout = dict[str, Any]  # arguments of PyArrow's writer, and the bytes of a row group
_ID = b"PARQUET:field_id"
_CODECS = {"zstd": "zstd", "snappy": "snappy", "gzip": "gzip", "uncompressed": "none"}
_LEVELS = {"zstd": range(1, 23), "gzip": range(1, 10)}
_ROW_GROUP, _ROW_GROUP_BYTES = "write.parquet.row-group-size-bytes", 128 * 1024 * 1024
_ROW_GROUP_ROWS = 64 * 1024 * 1024  # of more PyArrow makes several row groups by itself
_FOOTER_BYTES = 4096  # of a value that parquet-cpp keeps in a footer
_AHEAD_BYTES = 32 * 1024 * 1024  # of files that are read while others are written
_KNOWN = {"write.parquet.compression-codec", "write.parquet.compression-level", _ROW_GROUP}


@dataclass(frozen=True)
class Written:
    """A file that was written.

    Attributes:
        location: where, as Iceberg names it.
        size: bytes.
        offsets: where its row groups begin.
        nans: field id to count of NaN, of the columns that can have some.
        spans: field id to (lowest, highest), bytes, of the columns of which no footer holds them as they are:
            those that have values too long for it, and floats.
        nulls: field id to count of nulls, of the columns without statistics in the footer.
    """

    location: str
    size: int
    offsets: tuple[int, ...]
    nans: dict[int, int]
    spans: dict[int, Span]
    nulls: dict[int, int]


@dataclass
class _Notes:
    """What is noted of a file while it is written, as of `Written`.

    Attributes:
        nans: field id to count of NaN.
        nulls: field id to count of nulls.
        ends: field id to the lowest and highest float.
        long: of each row group, position to the span of a column whose values are too long for the footer.
    """

    nans: dict[int, int] = dataclasses.field(default_factory=dict)
    nulls: dict[int, int] = dataclasses.field(default_factory=dict)
    ends: dict[int, Ends] = dataclasses.field(default_factory=dict)
    long: list[dict[int, Span]] = dataclasses.field(default_factory=list)


def schema(loaded: Java, text: str) -> Schema:
    """Return the Arrow schema of a loaded table's files.

    Args:
        loaded: Java handle of the table.
        text: Iceberg's schema as JSON, which its writer keeps in each file.

    Raises:
        Unfit: a column is of a type that PyArrow would not write as Iceberg does.
    """
    import pyarrow as pa

    fields = []
    for column in loaded.schema().columns():
        kind = _arrow(column.type().toString())
        if kind is None:
            raise Unfit(Hindrance.COLUMN_TYPE, name=column.name(), kind=column.type().toString().partition("<")[0])
        nullable, number = column.isOptional(), str(column.fieldId()).encode()
        fields.append(pa.field(column.name(), kind, nullable, {_ID: number}))
    return pa.schema(fields, {b"iceberg.schema": text.encode()})


def _arrow(kind: str) -> Any:
    import pyarrow as pa

    plain = {
        "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(),
        "double": pa.float64(), "date": pa.date32(), "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", "UTC"),
        "string": pa.string(), "binary": pa.binary(),
    }  # fmt: skip
    if match := re.fullmatch(r"decimal\((\d+), ?(\d+)\)", kind):
        return pa.decimal128(int(match[1]), int(match[2]))
    return plain.get(kind)


def options(properties: Mapping[str, str]) -> Layout:
    """Return how a table's properties want its files written.

    Raises:
        Unfit: they want something that is done by Iceberg's own writer only.
    """
    if (form := properties.get("write.format.default", "parquet").lower()) != "parquet":
        raise Unfit(Hindrance.WRITE_FORMAT, name=form)
    odd = [
        name for name in properties if name.startswith(("write.parquet.", "encryption.")) and name not in _KNOWN
    ]
    if odd:
        raise Unfit(Hindrance.PROPERTY, name=min(odd))
    codec = properties.get("write.parquet.compression-codec", "zstd").lower()
    if codec not in _CODECS:
        raise Unfit(Hindrance.CODEC, name=codec)
    level = properties.get("write.parquet.compression-level")
    if codec not in _LEVELS:  # Iceberg passes it by there
        level = None
    elif level not in (None, "null") and int(level) not in _LEVELS[codec]:
        raise Unfit(Hindrance.CODEC_LEVEL, name=codec, number=int(level))
    return {
        "compression": _CODECS[codec],
        "compression_level": int(level) if level not in (None, "null") else None,
        "row_group_bytes": int(properties.get(_ROW_GROUP) or _ROW_GROUP_BYTES),
    }


def write(
    files: storage.Files, parts: Mapping[str, Sequence[Source]], target: Schema, layout: Layout, *, threads: int
) -> list[Written]:
    """Write each part's files as one.

    Args:
        files: file system and path function, of `storage.opened`.
        parts: {new location: (location, bytes) of each file that it replaces}.
        target: Arrow schema, of `schema`.
        layout: of `options`.
        threads: how many files are read at once.

    Returns:
        list of Written, in the order of parts.

    Raises:
        Unfit: a file has other columns than the table has now.
    """
    with ThreadPoolExecutor(threads) as readers, ThreadPoolExecutor(threads) as writers:
        running = [
            writers.submit(_join, files, location, sources, target, layout, readers)
            for location, sources in parts.items()
        ]
        return [future.result() for future in running]


def _join(
    files: storage.Files,
    location: str,
    sources: Sequence[Source],
    target: Schema,
    layout: Layout,
    readers: ThreadPoolExecutor,
    odd: frozenset[str] = frozenset(),
) -> Written:  # without statistics of the odd columns
    import pyarrow as pa
    from pyarrow import parquet as pq

    system, path = files
    if system.type_name == "local":  # a store has no folders, and a table bucket refuses what stands for one
        system.create_dir(path(location).rpartition("/")[0], recursive=True)
    notes, size = _Notes(), 0
    pending: list[ArrowTable] = []
    newly_odd: set[str] = set()
    with pq.ParquetWriter(
        path(location),
        target.remove_metadata(),
        filesystem=system,
        version="2.6",
        compression=layout["compression"],
        compression_level=layout["compression_level"],
        store_schema=False,
        store_decimal_as_integer=True,
        write_statistics=[name for name in target.names if name not in odd],
    ) as writer:
        writer.add_key_value_metadata({"iceberg.schema": target.metadata[b"iceberg.schema"].decode()})

        def flush() -> None:
            whole = pa.concat_tables(pending)
            _note(notes, whole, odd)
            for begin in range(0, max(1, whole.num_rows), _ROW_GROUP_ROWS):
                part = whole.slice(begin, _ROW_GROUP_ROWS)
                notes.long.append(_long(part))
                writer.write_table(part, row_group_size=max(1, part.num_rows))

        # a row group's size is that of its values, as they lie in memory here and in pages there
        for table in _ahead(readers, lambda at: read(files, at, target), sources):
            if newly_odd := _odd(table) - odd:
                break
            if pending and size + table.nbytes > layout["row_group_bytes"]:
                flush()
                pending, size = [], 0
            pending.append(table)
            size += table.nbytes
        if pending and not newly_odd:
            flush()
    if newly_odd:
        return _join(files, location, sources, target, layout, readers, odd | newly_odd)
    meta = pq.read_metadata(path(location), filesystem=system)
    offsets = tuple(_begin(meta.row_group(n).column(0)) for n in range(meta.num_row_groups))
    spans = _spans(meta, target, notes.long, odd) | _packed(target, notes.ends)
    return Written(location, system.get_file_info(path(location)).size, offsets, notes.nans, spans, notes.nulls)


def _ahead(
    readers: ThreadPoolExecutor, read_one: Callable[[str], ArrowTable], sources: Iterable[Source]
) -> Iterator[ArrowTable]:
    """Yield what is read of each source, in order, while the next ones are read, a bounded part at once."""
    waiting: deque[tuple[Future[ArrowTable], int]] = deque()
    size = 0
    for location, file_bytes in sources:
        while waiting and size + file_bytes > _AHEAD_BYTES:
            future, freed = waiting.popleft()
            size -= freed
            yield future.result()
        waiting.append((readers.submit(read_one, location), file_bytes))
        size += file_bytes
    for future, _ in waiting:
        yield future.result()


def read(files: storage.Files, location: str, target: Schema) -> ArrowTable:
    """Return a file as an Arrow table of the target schema.

    Raises:
        Unfit: its columns, by field id, name and type, are others.
    """
    import pyarrow as pa
    from pyarrow import parquet as pq

    system, path = files
    with pq.ParquetFile(path(location), filesystem=system) as file:
        if _columns(file.schema_arrow) != _columns(target):
            raise Unfit(Hindrance.OTHER_COLUMNS)
        table = file.read(use_threads=False)
    # a writer notes which columns may be null by what it wrote; the table's own word counts
    return pa.Table.from_arrays(table.columns, schema=target.remove_metadata())


def _columns(schema: Schema) -> list[tuple[Any, str, Any]]:
    return [((field.metadata or {}).get(_ID), field.name, field.type) for field in schema]


def _begin(column: Any) -> int:
    return column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset


def _note(notes: _Notes, table: ArrowTable, odd: Collection[str]) -> None:
    """Note what a table that is written adds: NaN and nulls of columns, the ends of floats."""
    from pyarrow import compute, types

    for name in odd:
        number = int(table.schema.field(name).metadata[_ID])
        notes.nulls[number] = notes.nulls.get(number, 0) + table.column(name).null_count
    _note_ends(notes.ends, table, odd)
    for field in table.schema:
        if types.is_floating(field.type):
            number = int(field.metadata[_ID])  # only those that are odd have some
            count = compute.sum(compute.is_nan(table.column(field.name))).as_py() if field.name in odd else 0
            notes.nans[number] = notes.nans.get(number, 0) + (count or 0)


def _odd(table: ArrowTable) -> set[str]:
    """Return the names of columns of which a footer's statistics would mislead readers.

    Texts with bytes that are not UTF-8, which Spark takes: Iceberg reads one of a bound as U+FFFD. And floats
    with NaN, which parquet-cpp leaves out: PyArrow looks for none between equal bounds.
    """
    from pyarrow import ArrowInvalid, compute, types

    names = set()
    for field, column in zip(table.schema, table.columns, strict=True):
        if types.is_floating(field.type) and compute.any(compute.is_nan(column)).as_py():
            names.add(field.name)
        try:
            if types.is_string(field.type):
                column.validate(full=True)
        except ArrowInvalid:
            names.add(field.name)
    return names


def _note_ends(ends: dict[int, Ends], table: ArrowTable, odd: Collection[str]) -> None:
    """Note the lowest and highest value beside NaN of each column of floats; -0.0 is lower than 0.0."""
    from pyarrow import compute, types

    for field in (value for value in table.schema if types.is_floating(value.type)):
        column = table.column(field.name)
        numbers = column.filter(compute.invert(compute.is_nan(column))) if field.name in odd else column
        if numbers.null_count == len(numbers):
            continue
        extremes = list(compute.min_max(numbers).as_py().values())
        if 0 in extremes:  # any of them: the sign is that of 1 / zero
            signs = (
                compute.min_max(compute.divide(1.0, numbers.filter(compute.equal(numbers, 0)))).as_py().values()
            )
            extremes = [value or math.copysign(0.0, sign) for value, sign in zip(extremes, signs, strict=True)]
        number = int(field.metadata[_ID])
        extremes = sorted([*extremes, *ends.get(number, ())], key=lambda value: (value, math.copysign(1, value)))
        ends[number] = extremes[0], extremes[-1]


def _packed(target: Schema, ends: Mapping[int, Ends]) -> dict[int, Span]:
    forms = {int(field.metadata[_ID]): "<d" if str(field.type) == "double" else "<f" for field in target}
    return {
        n: (struct.pack(forms[n], lowest), struct.pack(forms[n], highest)) for n, (lowest, highest) in ends.items()
    }


def _long(table: ArrowTable) -> dict[int, Span]:
    """Return {position: (lowest, highest)} of a row group's columns of which the footer will not hold them.

    As bytes, whose order is that of UTF-8 texts too. To look for them costs twenty times what their lengths do.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    spans = {}
    for position, field in enumerate(table.schema):
        if types.is_string(field.type) or types.is_binary(field.type):
            values = table.column(position).cast(pa.binary())
            if (compute.max(compute.binary_length(values)).as_py() or 0) > _FOOTER_BYTES:
                extremes = compute.min_max(values).as_py()
                spans[position] = extremes["min"], extremes["max"]
    return spans


def _spans(meta: Any, target: Schema, long: Sequence[Mapping[int, Span]], odd: Collection[str]) -> dict[int, Span]:
    """Return the spans of columns that have long values somewhere: of each row group by `_long` or its footer."""
    by_field = {}
    for position in sorted({position for group in long for position in group}):
        if target.field(position).name in odd:
            continue
        spans = [group.get(position) or _span(meta.row_group(n).column(position)) for n, group in enumerate(long)]
        lowest, highest = zip(*filter(None, spans), strict=True)
        by_field[int(target.field(position).metadata[_ID])] = min(lowest), max(highest)
    return by_field


def _span(column: Any) -> Span | None:
    """Return the lowest and highest value of a footer's column; None where it has nulls alone."""
    statistics = column.statistics
    return (statistics.min_raw, statistics.max_raw) if statistics is not None and statistics.has_min_max else None


def evenly(sizes: Sequence[int], count: int) -> list[list[int]]:
    """Split sizes, in their order, into count runs of about equal sums; returns lists of positions."""
    total, before = sum(sizes), 0
    runs: list[list[int]] = [[] for _ in range(count)]
    for position, size in enumerate(sizes):
        at = min(count - 1, math.floor(count * (before + size / 2) / total)) if total else 0
        runs[at].append(position)
        before += size
    return [run for run in runs if run]
