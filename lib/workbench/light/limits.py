"""Where engines differ from Spark on a table: each difference found in the table itself, before anything is read.

Three of them are comparisons that every engine computes alike: Spark passes over files and row groups whose bounds
rule the comparison out, and bounds leave NaN out (apache/iceberg issue 9130), Iceberg compares UUIDs in another
order than that of the bounds (issue 14216), and takes -0.0 for less than 0.0, which is equal in SQL.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from workbench._base import duck
from workbench.light import metadata, statements
from workbench.light.metadata import Table
from workbench.light.statements import Statement
from workbench.light.typing import Connection, Json

FLOATS = ("float", "double")
# as bounds have it, of 4 bytes in files that were written before a float became a double
MINUS_ZERO = r"('\x00\x00\x00\x80'::BLOB, '\x00\x00\x00\x00\x00\x00\x00\x80'::BLOB)"
Reasons = Iterator[str]


def duckdb(connection: Connection, table: Table, statement: Statement) -> Reasons:
    """Yield the reasons for which DuckDB does not answer a statement as Spark does; none where it does."""
    yield from _formats(table, {"PARQUET", "PUFFIN"})
    yield from _cut_decimals(table, statement)
    yield from _early_times(connection, table, statement)
    yield from _names_by_case(table)
    yield from _compared(connection, table, statement)


def pyiceberg(connection: Connection, table: Table, statement: Statement) -> Reasons:
    """Yield the reasons for which PyIceberg does not."""
    yield from _formats(table, {"PARQUET", "ORC", "PUFFIN"})
    yield from _equality_deletes(table)
    yield from _vectors_in_float_partitions(table)
    yield from _null_lists(connection, table)
    yield from _compared(connection, table, statement)


def polars(connection: Connection, table: Table, statement: Statement) -> Reasons:
    """Yield the reasons for which Polars does not, with its native reader."""
    yield from _formats(table, {"PARQUET", "PUFFIN"})
    yield from _equality_deletes(table)
    yield from _vectors_in_float_partitions(table)
    yield from _replaced_vectors(connection, table)
    yield from _compared(connection, table, statement)


def datafusion(connection: Connection, table: Table, statement: Statement) -> Reasons:
    """Yield the reasons for which DataFusion does not."""
    yield from _formats(table, {"PARQUET"})
    yield from _grown_structs(table)
    yield from _schema_ahead(table)
    yield from _compared(connection, table, statement)


RULES: Mapping[str, Callable[[Connection, Table, Statement], Reasons]] = {
    "duckdb": duckdb, "pyiceberg": pyiceberg, "polars": polars, "datafusion": datafusion,
}  # fmt: skip


def _formats(table: Table, known: set[str]) -> Reasons:
    formats = {file_format for _, file_format in table.files} - known
    for name in sorted(formats):
        what = "deletes as vectors, in Puffin files" if name == "PUFFIN" else f"files in the format {name}"
        yield f"it has {what}"


def _equality_deletes(table: Table) -> Reasons:
    if any(content == "EQUALITY_DELETES" for content, _ in table.files):
        yield "it has deletes by equality"


def _vectors_in_float_partitions(table: Table) -> Reasons:
    """Find deletes as vectors in partitions by a floating-point number.

    PyIceberg, by which Polars finds them too, looks a vector up by the values of its partition, and in Python NaN
    is not NaN: rows of such a partition that were deleted are read.
    """
    if all(file_format != "PUFFIN" for _, file_format in table.files):
        return
    cut = _partitioned(table, "identity")
    for path, number, kind in _leaves(table.schema["fields"]):
        if number in cut and kind in FLOATS:
            yield (
                f"it has deletes as vectors, in Puffin files, and partitions by {'.'.join(path)}, a "
                "floating-point number: those of NaN are not applied"
            )


def _replaced_vectors(connection: Connection, table: Table) -> Reasons:
    """Find vectors in several Puffin files: Polars reads whole ones, and so the replaced ones too."""
    if all(file_format != "PUFFIN" for _, file_format in table.files):
        return
    puffins = set()
    for path in table.delete_manifests:
        puffins |= set(
            connection.execute(
                f"SELECT DISTINCT data_file.file_path FROM read_avro({duck.literal(path)}) "
                "WHERE status <> 2 AND upper(data_file.file_format) = 'PUFFIN'"
            ).fetchall()
        )
    if len(puffins) > 1:
        yield (
            f"it has deletes as vectors in {len(puffins)} Puffin files: Polars also reads those in them that were "
            "replaced, and fails"
        )


def _null_lists(connection: Connection, table: Table) -> Reasons:
    """Find null lists and maps of structs, which PyIceberg reads as empty ones (apache/iceberg-python 3833)."""
    readable = not any(_formats(table, {"PARQUET", "PUFFIN"}))
    for field in table.schema["fields"]:
        depth = _of_structs(field["type"])
        if depth is None:
            continue
        if depth or not readable or _holds(connection, table, f"{duck.quoted(field['name'])} IS NULL"):
            yield f"a list or map of structs in its column {field['name']} is or may be null, and is read as empty"


def _of_structs(kind: Json, depth: int = 0) -> int | None:
    """Return how deep in a type a list or map of structs lies, 0 for the type itself; None without one."""
    if not isinstance(kind, Mapping):
        return None
    kinds = [kind[name] for name in ("element", "key", "value") if name in kind]
    if any(isinstance(part, Mapping) and part["type"] == "struct" for part in kinds):
        return depth
    kinds += [field["type"] for field in kind.get("fields", ())]
    return next((deep for part in kinds if (deep := _of_structs(part, depth + 1)) is not None), None)


def _grown_structs(table: Table) -> Reasons:
    """Find structs that had fewer fields once, which DataFusion cannot read in older files."""
    now = dict(_structs(table.schema["fields"]))
    for schema in table.metadata.get("schemas", ()):
        for number, (_, fields) in _structs(schema["fields"]):
            if number in now and now[number][1] - fields:
                yield f"its struct {now[number][0]} has had a field added"
                return


def _schema_ahead(table: Table) -> Reasons:
    """Find a schema that is newer than the last commit, which DataFusion reads with the commit's."""
    snapshots = table.metadata.get("snapshots", ())
    written = [entry.get("schema-id") for entry in snapshots if entry["snapshot-id"] == table.snapshot_id]
    if written not in ([], [None], [table.schema.get("schema-id")]):
        yield "its schema was changed after its last commit"


def _structs(fields: Iterable[Json]) -> Iterator[tuple[int, tuple[str, set[int]]]]:
    """Yield the id, name and fields' ids of each struct, at any depth."""
    for field in fields:
        yield from _structs_of(field["id"], field["name"], field["type"])


def _structs_of(number: int, name: str, kind: Json) -> Iterator[tuple[int, tuple[str, set[int]]]]:
    if not isinstance(kind, Mapping):
        return
    if kind["type"] == "struct":
        yield number, (name, {field["id"] for field in kind["fields"]})
        yield from _structs(kind["fields"])
    for part in ("element", "key", "value"):
        if part in kind:
            yield from _structs_of(kind[f"{part}-id"], f"{name}.{part}", kind[part])


def _cut_decimals(table: Table, statement: Statement) -> Reasons:
    """Find compared decimals that a partition truncates: DuckDB passes over their files or ends in an error."""
    cut = _partitioned(table, "truncate")
    for path, number, kind in _leaves(table.schema["fields"]):
        if number in cut and kind.startswith("decimal") and _is_compared(path, statement):
            yield (
                f"its column {'.'.join(path)} is a decimal that a partition truncates and the statement compares "
                "it: DuckDB computes such partitions wrongly and passes over rows"
            )


def _early_times(connection: Connection, table: Table, statement: Statement) -> Reasons:
    """Find compared times before 1970 that a partition cuts to months or days: DuckDB passes over their files.

    It rounds such a time towards 1970; Iceberg takes the month or day that it is in. Years and hours are right.
    """
    cut = _partitioned(table, "month", "day")
    for path, number, kind in _leaves(table.schema["fields"]):
        if number not in cut or not kind.startswith("timestamp") or not _is_compared(path, statement):
            continue
        if _begins_before_1970(connection, table, number):
            yield (
                f"its column {'.'.join(path)} may hold times before 1970, a partition cuts it to months or "
                "days, and the statement compares it: DuckDB computes such partitions wrongly and passes over rows"
            )


def _partitioned(table: Table, *transforms: str) -> set[int]:
    """Return the ids of the columns that a partition, of now or of before, transforms so; without [width]."""
    return {
        field["source-id"]
        for spec in table.metadata.get("partition-specs") or ()
        for field in spec["fields"]
        if field["transform"].partition("[")[0] in transforms
    }


def _begins_before_1970(connection: Connection, table: Table, number: int) -> bool:
    """Say whether the lower bound of a column of times is below zero in a file, or is not known there."""
    lower = f"data_file.lower_bounds[{number}]"
    null = f"data_file.null_value_counts[{number}] = data_file.value_counts[{number}]"
    # 8 bytes, the sign in the last
    early = f"coalesce(substr(hex({lower}), 15, 2) >= '80', NOT coalesce({null}, FALSE))"
    return _a_file_has(connection, table, early, unknown=True)


def _names_by_case(table: Table) -> Reasons:
    """Find columns whose names differ by case only, of which DuckDB takes the first for all."""
    for names in _names(table.schema["fields"]):
        counts = Counter(map(str.lower, names))
        if doubled := sorted(name for name in names if counts[name.lower()] > 1):
            yield f"its columns {' and '.join(doubled)} differ by case only, which DuckDB takes for one"


def _names(fields: Iterable[Json]) -> Iterator[list[str]]:
    """Yield the names of the columns, and of the fields of each struct."""
    fields = list(fields)
    yield [field["name"] for field in fields]
    kinds = [field["type"] for field in fields]
    while kinds:
        if isinstance(kind := kinds.pop(), Mapping):
            yield from _names(kind.get("fields", ()))
            kinds += [kind[part] for part in ("element", "key", "value") if part in kind]


def _is_compared(path: tuple[str, ...], statement: Statement) -> bool:
    """Say whether a statement may compare a column, by its own name or by another."""
    parts = {part.lower() for part in path}
    named = statement.names_all or bool(parts & statement.columns)
    return bool((parts | {statements.STAR}) & statement.compared) or (statement.renames and named)


def _compared(connection: Connection, table: Table, statement: Statement) -> Reasons:
    """Find columns that a statement compares and that Spark compares otherwise by the bounds of files."""
    for path, number, kind in _leaves(table.schema["fields"]):
        if not _is_compared(path, statement):
            continue
        column = ".".join(path)
        if kind == "uuid":
            yield (
                f"its column {column} is a UUID and the statement compares it: Iceberg orders UUIDs otherwise "
                "than the bounds of files, so Spark passes over rows"
            )
        elif kind not in FLOATS:
            continue
        elif any(_formats(table, {"PARQUET", "PUFFIN"})):
            yield f"its column {column}, which the statement compares, may hold NaN"
        elif not _without_nan(connection, table, number) and _holds(
            connection, table, f"isnan({'.'.join(map(duck.quoted, path))})"
        ):
            yield (
                f"its column {column} holds NaN and the statement compares it: bounds of files leave NaN out, and "
                "readers use them differently"
            )
        elif _straddles_zero(connection, table, number) and _holds_minus_zero(connection, table, path):
            yield (
                f"its column {column} holds -0.0 and the statement compares it: bounds and dictionaries of files "
                "have that as less than 0, so Spark passes over rows that are equal to 0"
            )


def _leaves(fields: Iterable[Json], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Yield the path, id and type of each column that has bounds; inside lists and maps there are none."""
    for field in fields:
        path = (*above, field["name"])
        if isinstance(field["type"], Mapping):
            yield from _leaves(field["type"].get("fields", ()), path)
        else:
            yield path, field["id"], field["type"]


def _without_nan(connection: Connection, table: Table, number: int) -> bool:
    """Say whether the manifests count no NaN in a column; not so where a file's writer did not count."""
    import duckdb as module

    counted = (
        f"SELECT count(*) = count(data_file.nan_value_counts[{number}]) AND "
        f"coalesce(sum(data_file.nan_value_counts[{number}]), 0) = 0 FROM read_avro($1) WHERE status <> 2"
    )
    for path in table.manifests:
        try:
            if connection.execute(counted.replace("$1", duck.literal(path))).fetchall() != [(True,)]:
                return False
        except module.BinderException:  # a writer that knows no such counts
            return False
    return True


def _straddles_zero(connection: Connection, table: Table, number: int) -> bool:
    """Say whether a file may hold a column's -0.0: its bounds lie around it, or it has none."""
    lower, upper = (f"data_file.{bounds}_bounds[{number}]" for bounds in ("lower", "upper"))
    # the last byte of a bound has the sign
    around = f"{_negative(lower)} AND (NOT {_negative(upper)} OR {upper} IN {MINUS_ZERO})"
    return _a_file_has(connection, table, f"coalesce({around}, true)", unknown=True)


def _negative(bound: str) -> str:
    return f"right(hex({bound}), 2) >= '80'"


def _holds_minus_zero(connection: Connection, table: Table, path: tuple[str, ...]) -> bool:
    """Say whether a row holds -0.0 in a column; asked by a sum, which no bounds rule out."""
    column = ".".join(map(duck.quoted, path))
    return _holds(connection, table, f"{column} + 0 = 0 AND signbit({column})")


def _a_file_has(connection: Connection, table: Table, condition: str, *, unknown: bool) -> bool:
    """Say whether an entry of a live file in the manifests meets a condition; unknown: without bounds."""
    import duckdb as module

    for path in table.manifests:
        entries = f"SELECT 1 FROM read_avro({duck.literal(path)}) WHERE status <> 2"
        try:
            met = bool(connection.execute(f"{entries} AND {condition} LIMIT 1").fetchall())
        except module.BinderException:
            met = unknown
        if met:
            return True
    return False


def _holds(connection: Connection, table: Table, condition: str) -> bool:
    """Say whether a row of a table meets a condition."""
    return bool(connection.execute(f"SELECT 1 FROM {metadata.scan(table)} WHERE {condition} LIMIT 1").fetchall())
