"""A moved table compared with its source, which is read by a reader that shares no code with the move."""

import importlib.util
import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote, unquote

from workbench._base import aws, duck, identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import Java, SparkSession, jvm
from workbench.formats import comparing, positions, sources, storage
from workbench.formats.comparing import Json, Sums
from workbench.formats.delta import log
from workbench.formats.hudi import reading as hudi
from workbench.formats.hudi import replaying
from workbench.formats.results import Kind, Verification
from workbench.tables import commits

Reader = Literal["deltalake", "duckdb", "hudi"]
_READERS: Mapping[Kind, tuple[Reader, ...]] = {"delta": ("deltalake", "duckdb"), "hudi": ("hudi", "duckdb")}


@checked
def verify(spark: SparkSession, table: str, *, reader: Reader | None = None) -> Verification:
    """Compare the rows of a moved table with those of its source, at the version that the table follows.

    Both sides are read whole: the table by Spark, a Delta table by delta-rs or DuckDB, and a Hudi table by hudi-rs
    or by DuckDB over the base files that hudi-rs's timeline leaves. None of them reads logs, timelines or deletion
    vectors by code of the move. Rows that are several times there count as often. 0.0 and -0.0 are the same, and
    so are all NaNs.

    Args:
        spark: classic session; its workers have DuckDB.
        table: a table that `move` made.
        reader: of the source; None for deltalake or hudi, as the source is, and for duckdb where a Hudi table has
            moments without a zone, which hudi-rs does not read.

    Returns:
        Verification.

    Raises:
        TableNotFound: no such table.
        ValueError: it was not moved, or the reader cannot read such a source, or not at that version.
        MissingPackageError: the reader is not installed.
    """
    loaded = commits.load(spark, table)
    position = positions.of(spark, table, loaded)
    text = jvm(spark).org.apache.iceberg.SchemaParser.toJson(loaded.schema())
    fields = json.loads(text)["fields"]
    folder = storage.opened(position.source)
    origin = sources.of(folder)
    reader = _chosen(origin.kind, reader, fields)
    _refuse_place(origin.kind, position.source, reader)
    source = _source(origin.kind, reader, position.source, position.version, fields)
    ours = _table(spark, table, loaded, fields)
    differing = tuple(name for name, total in ours.columns.items() if source.columns[name] != total)
    equal = (ours.rows, ours.whole) == (source.rows, source.whole)
    return Verification(
        equal,
        position.version,
        reader,
        ours.rows,
        source.rows,
        differing if ours.rows == source.rows else (),
        origin.version(folder, None),
        None if position.head == position.snapshot_id else loaded.currentSnapshot().operation(),
    )


def refuse_reader(path: str, reader: Reader | None) -> None:
    """Refuse, before a session begins, a reader that cannot compare the table in a folder.

    Raises:
        ValueError: there is no such folder, or the reader is one of another format.
        MissingPackageError: a reader is not installed.
    """
    folder = storage.opened(path)
    kind = sources.of(folder).kind
    _refuse_other(kind, reader)
    _refuse_place(kind, folder.location, reader)
    chosen = reader or _READERS[kind][0]
    for package in ("duckdb", *({"hudi": ("hudi",)}.get(kind, ()) if chosen == "duckdb" else (chosen,))):
        if importlib.util.find_spec(package) is None:
            raise MissingPackageError(f"{package} is not installed: pip install 'iceberg-workbench[formats]'")


def _refuse_other(kind: Kind, reader: Reader | None) -> None:
    if reader is not None and reader not in _READERS[kind]:
        raise ArgumentError(f"{reader} reads no {kind} tables; reader may be {' or '.join(_READERS[kind])}")


def _refuse_place(kind: Kind, location: str, reader: Reader | None) -> None:
    """Refuse a source that a reader would look for somewhere else than it is.

    Raises:
        ValueError: so it is.
    """
    if reader == "duckdb" and not location.startswith("file:"):
        raise ArgumentError(f"DuckDB compares sources of this machine only, and this one is {location}")
    if kind == "delta" and (place := unquote(location)) != location:
        raise ArgumentError(
            f"{location} cannot be compared: its readers take % for an escape, and would read {place}. Copy the "
            "source to a folder without % and two digits behind it, and move that"
        )


def _chosen(kind: Kind, reader: Reader | None, fields: list[Json]) -> Reader:
    """Return the reader that was asked for, or the first that reads these columns."""
    _refuse_other(kind, reader)
    without = [field["name"] for field in fields if _without_zone(field["type"])] if kind == "hudi" else []
    if without and reader == "hudi":
        raise ArgumentError(
            f"hudi-rs 0.5 reads no moments without a zone, and {without[0]} has them: take reader='duckdb'"
        )
    return reader or ("duckdb" if without else _READERS[kind][0])


def _without_zone(kind: Any) -> bool:
    """Say whether a type of Iceberg's JSON has moments without a zone in it."""
    if isinstance(kind, str):
        return kind == "timestamp"
    inner = [field["type"] for field in kind["fields"]] if kind["type"] == "struct" else kind.values()
    return any(isinstance(part, str | dict) and _without_zone(part) for part in inner)


def _table(spark: SparkSession, table: str, loaded: Java, fields: list[Json]) -> Sums:
    """Return the sums of exactly the snapshot that was looked at.

    Raises:
        ValueError: Spark cannot read it.
    """
    snapshot_id = loaded.currentSnapshot().snapshotId()
    rows = spark.sql(f"SELECT * FROM {identifiers.quoted(table)} VERSION AS OF {snapshot_id}")
    try:
        return comparing.of_frame(rows, fields)
    except Exception as error:
        causes = commits.causes(error)
        if not causes or any(name.endswith("PythonException") for name in causes):  # of DuckDB in a worker
            raise
        raise ArgumentError(f"Spark cannot read {table}: {commits.errors.first_line(error)}") from error


def _source(kind: Kind, reader: Reader, location: str, version: int, fields: list[Json]) -> Sums:
    by_duckdb = _by_duckdb if kind == "delta" else replaying.summed
    read = {"deltalake": _by_deltalake, "duckdb": by_duckdb, "hudi": hudi.summed}[reader]
    others = set(_READERS[kind]) - {reader} if location.startswith("file:") else ()
    take = "".join(f"Take reader={other!r}, or where" for other in others) or "Where"
    try:
        return read(location, version, fields)
    except MissingPackageError:
        raise
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        why = "; ".join(dict.fromkeys(line[:300] for line in (lines[0], lines[-1])))
        raise ArgumentError(
            f"{reader} cannot read {location} at version {version}: {why}. {take} files of that version are gone "
            "follow to a newer one"
        ) from error


def _by_deltalake(location: str, version: int, fields: list[Json]) -> Sums:
    try:
        from deltalake import DeltaTable, QueryBuilder
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "deltalake is not installed: pip install 'iceberg-workbench[formats]'"
        ) from error
    import pyarrow as pa

    plain_http = {"AWS_ALLOW_HTTP": "true"} if (aws.s3_endpoint() or "").startswith("http://") else None
    source = DeltaTable(_plain(location), version=version, storage_options=plain_http)
    batches = QueryBuilder().register("t", source).execute("SELECT * FROM t")
    connection = comparing.connected()
    connection.register("rows", pa.RecordBatchReader.from_stream(batches))
    return comparing.summed(fields, "rows", connection)


def _by_duckdb(location: str, version: int, fields: list[Json]) -> Sums:
    state = log.read(storage.opened(location), version)
    if state.mapping != "none" and state.metadata["partitionColumns"]:
        raise ArgumentError("DuckDB 1.5 reads NULL for partition columns whose names are mapped")
    connection = comparing.connected()
    connection.execute(f"LOAD {duck.literal(_extension())}")
    rows = f"delta_scan({duck.literal(_plain(location))}, version => {version})"
    return comparing.summed(fields, rows, connection)


def _extension() -> str:
    if importlib.util.find_spec("duckdb_extension_delta") is None:
        raise MissingPackageError(
            "duckdb-extension-delta is not installed: pip install 'iceberg-workbench[formats]'"
        )
    return duck.extension("delta", extra="formats")


def _plain(location: str) -> str:
    """Return a location as both readers take it: a path of this machine as a path, S3 as a URI."""
    scheme, _, path = location.partition("://")
    return path if scheme == "file" else f"{scheme}://{quote(path)}"
