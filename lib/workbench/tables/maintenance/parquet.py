"""Parquet files of one schema read and written together by PyArrow, as Iceberg's own writer would have them."""

import math
import re
import struct
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from workbench.tables.maintenance.results import Hindrance
from workbench.tables.maintenance.storage import Unfit

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
    spans: dict[int, tuple[bytes, bytes]]
    nulls: dict[int, int]


def schema(loaded, text):
    """Return the Arrow schema of a loaded table's files.

    Args:
        loaded: Java handle of the table.
        text: Iceberg's schema as JSON, which its writer keeps in each file.

    Raises:
        Unfit: a column is of a type that PyArrow would not write as Iceberg does.
    """
    import pyarrow as pa

    fields = []
    for one in loaded.schema().columns():
        kind = _arrow(one.type().toString())
        if kind is None:
            raise Unfit(Hindrance.COLUMN_TYPE, name=one.name(), kind=one.type().toString().partition("<")[0])
        nullable, number = one.isOptional(), str(one.fieldId()).encode()
        fields.append(pa.field(one.name(), kind, nullable, {_ID: number}))
    return pa.schema(fields, {b"iceberg.schema": text.encode()})


def _arrow(kind):
    import pyarrow as pa

    plain = {
        "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(),
        "double": pa.float64(), "date": pa.date32(), "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", "UTC"),
        "string": pa.string(), "binary": pa.binary(),
    }  # fmt: skip
    if found := re.fullmatch(r"decimal\((\d+), ?(\d+)\)", kind):
        return pa.decimal128(int(found[1]), int(found[2]))
    return plain.get(kind)


def options(properties):
    """Return how a table's properties want its files written.

    Raises:
        Unfit: they want something that is done by Iceberg's own writer only.
    """
    if (form := properties.get("write.format.default", "parquet").lower()) != "parquet":
        raise Unfit(Hindrance.WRITE_FORMAT, name=form)
    odd = [one for one in properties if one.startswith(("write.parquet.", "encryption.")) and one not in _KNOWN]
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


def write(files, parts, wanted, how, *, threads):
    """Write each part's files as one.

    Args:
        files: file system and path function, of `storage.opened`.
        parts: {new location: (location, bytes) of each file that it replaces}.
        wanted: Arrow schema, of `schema`.
        how: of `options`.
        threads: how many files are read at once.

    Returns:
        list of Written, in the order of parts.

    Raises:
        Unfit: a file has other columns than the table has now.
    """
    with ThreadPoolExecutor(threads) as readers, ThreadPoolExecutor(threads) as writers:
        running = [
            writers.submit(_join, files, location, sources, wanted, how, readers)
            for location, sources in parts.items()
        ]
        return [one.result() for one in running]


def _join(
    files, location, sources, wanted, how, readers, odd=frozenset()
):  # without statistics of the odd columns
    import pyarrow as pa
    from pyarrow import parquet as pq

    system, path = files
    if system.type_name == "local":  # a store has no folders, and a table bucket refuses what stands for one
        system.create_dir(path(location).rpartition("/")[0], recursive=True)
    nans, ends, nulls, long, held, size, more = {}, {}, {}, [], [], 0, frozenset()
    with pq.ParquetWriter(
        path(location),
        wanted.remove_metadata(),
        filesystem=system,
        version="2.6",
        compression=how["compression"],
        compression_level=how["compression_level"],
        store_schema=False,
        store_decimal_as_integer=True,
        write_statistics=[name for name in wanted.names if name not in odd],
    ) as writer:
        writer.add_key_value_metadata({"iceberg.schema": wanted.metadata[b"iceberg.schema"].decode()})

        def flush():
            whole = pa.concat_tables(held)
            _count_nans(nans, whole, odd)
            _note_ends(ends, whole, odd)
            for number, name in ((int(wanted.field(name).metadata[_ID]), name) for name in odd):
                nulls[number] = nulls.get(number, 0) + whole.column(name).null_count
            for begin in range(0, max(1, whole.num_rows), _ROW_GROUP_ROWS):
                part = whole.slice(begin, _ROW_GROUP_ROWS)
                long.append(_long(part))  # one a row group
                writer.write_table(part, row_group_size=max(1, part.num_rows))

        # a row group's size is told of its values, as they lie in memory here and in pages there
        for table in _ahead(readers, lambda at: read(files, at, wanted), sources):
            if more := _odd(table) - odd:
                break
            if held and size + table.nbytes > how["row_group_bytes"]:
                flush()
                held, size = [], 0
            held.append(table)
            size += table.nbytes
        if held and not more:
            flush()
    if more:
        return _join(files, location, sources, wanted, how, readers, odd | more)
    meta = pq.read_metadata(path(location), filesystem=system)
    offsets = tuple(_begin(meta.row_group(n).column(0)) for n in range(meta.num_row_groups))
    spans = _spans(meta, wanted, long, odd) | _packed(wanted, ends)
    return Written(location, system.get_file_info(path(location)).size, offsets, nans, spans, nulls)


def _ahead(readers, read_one, sources):
    """Yield what is read of each source, in order, while the next ones are read, a bounded part at once."""
    waiting, size = deque(), 0
    for location, bytes_there in sources:
        while waiting and size + bytes_there > _AHEAD_BYTES:
            done, freed = waiting.popleft()
            size -= freed
            yield done.result()
        waiting.append((readers.submit(read_one, location), bytes_there))
        size += bytes_there
    for done, _ in waiting:
        yield done.result()


def read(files, location, wanted):
    """Return a file as an Arrow table of the wanted schema.

    Raises:
        Unfit: its columns, by field id, name and type, are others.
    """
    import pyarrow as pa
    from pyarrow import parquet as pq

    system, path = files
    with pq.ParquetFile(path(location), filesystem=system) as file:
        there = file.schema_arrow
        if _columns(there) != _columns(wanted):
            raise Unfit(Hindrance.OTHER_COLUMNS)
        table = file.read(use_threads=False)
    # a writer tells which columns may be null by what it wrote; the table's own word counts
    return pa.Table.from_arrays(table.columns, schema=wanted.remove_metadata())


def _columns(one):
    return [((field.metadata or {}).get(_ID), field.name, field.type) for field in one]


def _begin(column):
    return column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset


def _count_nans(nans, table, odd):
    from pyarrow import compute, types

    for field in table.schema:
        if types.is_floating(field.type):
            number = int(field.metadata[_ID])  # only those that are odd have some
            found = compute.sum(compute.is_nan(table.column(field.name))).as_py() if field.name in odd else 0
            nans[number] = nans.get(number, 0) + (found or 0)


def _odd(table):
    """Return the names of columns of which a footer's statistics would mislead readers.

    Texts with bytes that are no UTF-8, which Spark takes: Iceberg reads one of a bound as U+FFFD. And floats
    with NaN, which parquet-cpp leaves out: PyArrow looks for none between equal bounds.
    """
    from pyarrow import ArrowInvalid, compute, types

    found = set()
    for field, column in zip(table.schema, table.columns, strict=True):
        if types.is_floating(field.type) and compute.any(compute.is_nan(column)).as_py():
            found.add(field.name)
        try:
            if types.is_string(field.type):
                column.validate(full=True)
        except ArrowInvalid:
            found.add(field.name)
    return found


def _note_ends(ends, table, odd):
    """Note the lowest and highest value beside NaN of each column of floats; -0.0 is lower than 0.0."""
    from pyarrow import compute, types

    for field in (one for one in table.schema if types.is_floating(one.type)):
        column = table.column(field.name)
        there = column.filter(compute.invert(compute.is_nan(column))) if field.name in odd else column
        if there.null_count == len(there):
            continue
        found = list(compute.min_max(there).as_py().values())
        if 0 in found:  # any of them: the sign is that of 1 / zero
            signs = compute.min_max(compute.divide(1.0, there.filter(compute.equal(there, 0)))).as_py().values()
            found = [one or math.copysign(0.0, sign) for one, sign in zip(found, signs, strict=True)]
        number = int(field.metadata[_ID])
        found = sorted([*found, *ends.get(number, ())], key=lambda one: (one, math.copysign(1, one)))
        ends[number] = found[0], found[-1]


def _packed(wanted, ends):
    double = {int(field.metadata[_ID]) for field in wanted if str(field.type) == "double"}
    return {n: tuple(struct.pack("<d" if n in double else "<f", one) for one in two) for n, two in ends.items()}


def _long(table):
    """Return {position: (lowest, highest)} of a row group's columns of which the footer will not hold them.

    As bytes, whose order is that of UTF-8 texts too. To look for them costs twenty times what their lengths do.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    found = {}
    for position, field in enumerate(table.schema):
        if types.is_string(field.type) or types.is_binary(field.type):
            values = table.column(position).cast(pa.binary())
            if (compute.max(compute.binary_length(values)).as_py() or 0) > _FOOTER_BYTES:
                span = compute.min_max(values).as_py()
                found[position] = span["min"], span["max"]
    return found


def _spans(meta, wanted, long, odd):
    """Return the spans of columns that have long values somewhere: of each row group by `_long` or its footer."""
    found = {}
    for position in sorted({position for one in long for position in one}):
        if wanted.field(position).name in odd:
            continue
        spans = [one.get(position) or _span(meta.row_group(n).column(position)) for n, one in enumerate(long)]
        lowest, highest = zip(*filter(None, spans), strict=True)
        found[int(wanted.field(position).metadata[_ID])] = min(lowest), max(highest)
    return found


def _span(column):
    """Return the lowest and highest value of a footer's column; None where it has nulls alone."""
    told = column.statistics
    return (told.min_raw, told.max_raw) if told is not None and told.has_min_max else None


def evenly(sizes, count):
    """Split sizes, in their order, into count runs of about equal sums; returns lists of positions."""
    total, runs, done = sum(sizes), [[] for _ in range(count)], 0
    for position, size in enumerate(sizes):
        at = min(count - 1, math.floor(count * (done + size / 2) / total)) if total else 0
        runs[at].append(position)
        done += size
    return [run for run in runs if run]
