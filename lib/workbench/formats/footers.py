"""The Parquet files of a table, held against the schema under which Iceberg would read them.

Iceberg finds a column in a file by its field id, or in a file without ids by its name, and answers NULL where it
finds none. So a file whose columns have other ids, other capitals or a wider type would be read wrongly without a
word. Each file's footer is read, and what would go wrong is a sentence.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.formats import storage, stored
from workbench.formats.storage import Folder, readable

Json = dict[str, Any]
_THREADS = 16
_AHEAD = 256  # footers that are read before they are asked for
_ID = b"PARQUET:field_id"
_SEVERAL = "\0several"
_END = 8  # bytes: length of the footer, and four letters
_ENCRYPTED = "a file is encrypted, whole or in some columns: write it anew without encryption"
_WHOLE = 64  # characters; statistics of longer texts may be cut
_SOME = 3  # files that are named
_KEPT_FILES, _KEPT_BYTES = 2_000, 32_768  # 64 MiB of footers at most
_SEVERAL_VERBS = {"is": "are", "has": "have"}


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file: of many columns with the same cause one sentence is made.

    Attributes:
        cause: a sentence; with a column, what follows its name, from `is` or `has` on.
        column: its path; None where it is not one column's.
        of: `the column`, or a part of it.
    """

    cause: str
    column: str | None = None
    of: str = "the column"


@dataclass(frozen=True)
class Footer:
    """What one file's footer says.

    Attributes:
        rows: physical rows.
        columns: names of the top columns.
        values: {name of a column: the text of its one value, None for NULL}, of the columns that were asked for
            and that have the same value in each row; as its statistics say.
        int96: whether a moment in it is an INT96, Spark's old form.
        problems: without the file's name.
        content: the footer as it lies there; empty of a long footer, and where there are many files.
    """

    rows: int
    columns: frozenset[str]
    values: Mapping[str, str | None]
    int96: bool
    problems: tuple[Problem, ...]
    content: bytes = b""


def read(
    folder: Folder,
    sizes: Mapping[str, int],
    fields: list[Json],
    names: list[Json],
    constant: Collection[str] = (),
    *,
    cleaner: str,
) -> dict[str, Footer]:
    """Return {name: Footer} of files, read by several threads.

    Args:
        folder: where they lie.
        sizes: {name of a file: its bytes}.
        fields: of the schema, as Iceberg's JSON has them.
        names: of the name mapping.
        constant: names of top columns whose one value is asked for.
        cleaner: what removes files at the source, for messages.

    Raises:
        ValueError: files are gone, are not Parquet or cannot be read.
    """
    few = len(sizes) <= _KEPT_FILES

    def footer(name: str) -> Footer | None:
        return _read(folder, name, sizes[name], fields, names, constant, _KEPT_BYTES * few)

    with ThreadPoolExecutor(_THREADS) as pool:
        results = list(pool.map(footer, sizes))
    if gone := [name for name, footer in zip(sizes, results, strict=True) if footer is None]:
        raise ArgumentError(
            f"{len(gone)} of {len(sizes)} files of {folder.location} are gone, {gone[0]} first: {cleaner} or "
            "somebody else removed them. Restore them, or restore the source to a version with all its files"
        )
    return {name: footer for name, footer in zip(sizes, results, strict=True) if footer is not None}


def problems(by_file: Mapping[str, Footer]) -> tuple[str, ...]:
    """Return the problems of files as sentences, of each kind once."""
    kinds: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for name, footer in by_file.items():
        for problem in footer.problems:
            columns, names = kinds.setdefault((problem.of, problem.cause), ({}, {}))
            names[name] = None
            if problem.column is not None:
                columns[problem.column] = None
    return tuple(
        f"{_sentence(of, cause, list(columns))}; so in {len(names)} file{'s' * (len(names) > 1)}, "
        f"{', '.join(sorted(names)[:_SOME])}"
        for (of, cause), (columns, names) in kinds.items()
    )


def _sentence(of: str, cause: str, columns: list[str]) -> str:
    """Return what is wrong, said of all its columns at once."""
    if not columns:
        return cause
    if len(columns) == 1:
        return f"{of} {columns[0]} {cause}"
    verb, _, rest = cause.partition(" ")
    return f"{of}s {', '.join(columns)} {_SEVERAL_VERBS[verb]} {rest}"


def _read(
    folder: Folder,
    name: str,
    size: int,
    fields: list[Json],
    names: list[Json],
    constant: Collection[str],
    kept_bytes: int,
) -> Footer | None:
    """Return the footer of a file, with its content where that has at most `kept_bytes`; None where it is gone."""
    try:
        with readable(folder.location), folder.files.open_input_file(folder.within(name)) as file:
            if file.size() != size:
                return _unread(
                    f"a file has {file.size()} bytes where the source says {size}: restore the source to before "
                    "that"
                )
            content = _end_of(file, size)
    except FileNotFoundError:
        return None
    if content.endswith(b"PARE"):
        return _unread(_ENCRYPTED)
    with storage.whole(f"{folder.location}/{name}"):
        footer = _footer(content, fields, names, constant)
    return replace(footer, content=content) if len(content) <= kept_bytes else footer


def contents(folder: Folder, sizes: Mapping[str, int], by_file: Mapping[str, Footer]) -> Iterator[bytes]:
    """Yield the footers of files, in order, as they lie there; what was not kept is read ahead by several threads.

    Args:
        folder: where the files lie.
        sizes: {name of a file: its bytes}.
        by_file: footers that were read.
    """

    def content(name: str) -> bytes:
        with readable(folder.location), folder.files.open_input_file(folder.within(name)) as file:
            return _end_of(file, sizes[name])

    names = list(sizes)
    with ThreadPoolExecutor(_THREADS) as pool:
        for first in range(0, len(names), _AHEAD):
            batch = names[first : first + _AHEAD]
            absent = pool.map(content, [name for name in batch if not by_file[name].content])
            yield from (by_file[name].content or next(absent) for name in batch)


def _end_of(file: Any, size: int) -> bytes:
    """Return a Parquet file's footer, its length and the magic number behind it."""
    end = file.read_at(_END, max(size - _END, 0))
    footer = min(int.from_bytes(end[:4], "little") + _END, size)
    content: bytes = file.read_at(footer, size - footer)
    return content


def _footer(content: bytes, fields: list[Json], names: list[Json], constant: Collection[str]) -> Footer:
    """Return what the bytes at a file's end say, of which a reader of Parquet asks for no others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parquet = pq.ParquetFile(pa.BufferReader(content))
    metadata, schema = parquet.metadata, stored.schema(parquet.schema_arrow)
    if int.from_bytes(content[-_END:][:4], "little") != metadata.serialized_size:
        return _unread(_ENCRYPTED)  # the footer is signed; PyArrow ends the process when asked for such a column
    columns = (metadata.schema.column(place) for place in range(metadata.num_columns))
    int96 = any(column.physical_type == "INT96" for column in columns)
    by_id = _has_ids(schema)
    problems = [*_struct(schema, fields, names, by_id, int96, ""), *_old_lists(schema, metadata.schema)]
    values = _values(metadata, constant)
    return Footer(metadata.num_rows, frozenset(schema.names), values, int96, tuple(dict.fromkeys(problems)))


def _unread(problem: str) -> Footer:
    return Footer(0, frozenset(), {}, False, (Problem(problem),))


def _old_lists(schema: Any, columns: Any) -> Iterator[Problem]:
    """Yield the lists of two levels: what repeats is the element itself, and not a group around it."""
    paths = [f"{columns.column(place).path}." for place in range(len(columns))]
    for field in schema:
        if _old_list(field, field.name, paths):
            yield Problem(
                "has a list in Parquet's old form of two levels, which Iceberg cannot read: rewrite the files at "
                "the source with parquet.avro.write-old-list-structure=false",
                field.name,
            )


def _old_list(field: Any, at: str, paths: list[str]) -> bool:
    from pyarrow import types

    children = _children(field.type)
    if types.is_struct(field.type):
        return any(_old_list(child, f"{at}.{child.name}", paths) for child in children)
    for child in children:
        # a list or map of three levels has a group between, whatever its name
        groups = {path[len(at) + 1 :].partition(".")[0] for path in paths if path.startswith(f"{at}.")}
        within = [f"{at}.{group}.{child.name}" for group in groups]
        within = [place for place in within if any(path.startswith(f"{place}.") for path in paths)]
        if not within or any(_old_list(child, place, paths) for place in within):
            return True
    return False


def _values(metadata: Any, names: Collection[str]) -> dict[str, str | None]:
    """Return the one value of each of some columns that has one in each row, by statistics of row groups."""
    values: dict[str, str | None] = {}
    for place in range(metadata.num_columns) if metadata.num_rows else ():
        name = metadata.schema.column(place).path
        if name in names:
            chunks = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
            texts = {_value(chunk.statistics, chunk.num_values) for chunk in chunks if chunk.num_values}
            if len(texts) == 1 and _SEVERAL not in texts:
                values[name] = texts.pop()
    return values


def _value(statistics: Any, rows: int) -> str | None:
    """Return the text of the one value of a column chunk, None where all are NULL, else `_SEVERAL`."""
    if statistics is None or not statistics.has_null_count:
        return _SEVERAL
    if statistics.null_count == rows:
        return None
    exact = [getattr(statistics, f"is_{end}_value_exact", None) for end in ("min", "max")]
    if statistics.null_count or not statistics.has_min_max or False in exact:
        return _SEVERAL
    try:
        value, greatest = statistics.min, statistics.max
    except (ValueError, OverflowError):  # a day that Python has not
        return _SEVERAL
    if value != greatest:
        return _SEVERAL
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    whole = isinstance(value, int | Decimal) or (isinstance(value, str) and len(value) < _WHOLE)
    return str(value) if whole else _SEVERAL


def _has_ids(fields: Iterable[Any]) -> bool:
    return any(_number(field) is not None or _has_ids(_children(field.type)) for field in fields)


def _number(field: Any) -> int | None:
    value = (field.metadata or {}).get(_ID)
    return None if value is None else int(value)


def _children(kind: Any) -> list[Any]:
    """Return the fields within a type: of a struct its own, of a list one, of a map two."""
    from pyarrow import types

    if types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if types.is_list(kind):
        return [kind.value_field]
    return [kind.field(place) for place in range(kind.num_fields)] if types.is_struct(kind) else []


def _struct(
    stored_fields: Iterable[Any], fields: list[Json], names: list[Json], by_id: bool, int96: bool, at: str
) -> Iterator[Problem]:
    """Yield what is wrong with the fields of a file, or of a struct in it."""
    stored_fields = list(stored_fields)
    ids = {_number(field): field for field in stored_fields}
    spelled = {field.name: field for field in stored_fields}
    lower = {field.name.lower(): field.name for field in stored_fields}
    for field, name in zip(fields, names, strict=True):
        path, physical = f"{at}{field['name']}", name["names"][0]
        stored_field = ids.get(field["id"]) if by_id else spelled.get(physical)
        if stored_field is None:
            if physical in spelled:  # by id, and the field of that name has another or none
                yield Problem(
                    f"has the field id {_number(spelled[physical])} in a file, the log says {field['id']}, so "
                    "that Iceberg would read NULL: rewrite the files at the source",
                    path,
                )
            elif not by_id and physical.lower() in lower:
                yield Problem(
                    f"is written {lower[physical.lower()]} in a file, and Iceberg would read NULL: rename it at "
                    "the source",
                    path,
                )
            continue
        yield from _kind(stored_field.type, field["type"], name.get("fields", []), by_id, int96, path)


def _kind(arrow: Any, kind: Any, names: list[Json], by_id: bool, int96: bool, path: str) -> Iterator[Problem]:
    """Yield what is wrong with a type of a file."""
    from pyarrow import types

    if isinstance(kind, str):
        if not _fits(arrow, kind, int96):
            yield Problem(
                f"is {arrow} in a file, and Iceberg cannot read that as {kind}: rewrite the files at the source",
                path,
            )
        return
    nested = {"struct": types.is_struct, "map": types.is_map}.get(kind["type"], lambda kind: bool(_children(kind)))
    if not nested(arrow):
        yield Problem(f"is {arrow} in a file, expected a {kind['type']}: rewrite the files at the source", path)
    elif kind["type"] == "struct":
        yield from _struct(_children(arrow), kind["fields"], names, by_id, int96, f"{path}.")
    else:
        parts = ["element"] if kind["type"] == "list" else ["key", "value"]
        for child, part, name in zip(_children(arrow), parts, names, strict=True):
            if by_id and _number(child) != kind[f"{part}-id"]:
                yield Problem(
                    f"has the field id {_number(child)} in a file, expected {kind[f'{part}-id']}, so that "
                    "Iceberg would read NULL: rewrite the files at the source",
                    path,
                    f"the {part} of the column",
                )
            yield from _kind(child.type, kind[part], name.get("fields", []), by_id, int96, f"{path}.{part}")


def _fits(arrow: Any, kind: str, int96: bool) -> bool:
    """Say whether Iceberg reads a file's type as one of its own."""
    from pyarrow import types

    if kind.startswith("decimal"):
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        return bool(types.is_decimal(arrow) and arrow.scale == scale and arrow.precision <= precision)
    if kind in ("timestamp", "timestamptz"):
        if not types.is_timestamp(arrow):
            return False
        if arrow.unit != "us":  # Iceberg's Spark reader takes milliseconds for microseconds
            return int96 and arrow.unit == "ns" and kind == "timestamptz"
        return (arrow.tz is not None) == (kind == "timestamptz")
    of = {
        "int": types.is_signed_integer,
        "long": types.is_signed_integer,
        "float": types.is_float32,
        "double": lambda kind: types.is_float32(kind) or types.is_float64(kind),
        "boolean": types.is_boolean,
        "date": types.is_date32,
        "string": types.is_string,
        "binary": types.is_binary,
    }[kind]
    return bool(of(arrow)) and not (kind == "int" and arrow.bit_width > 32)
