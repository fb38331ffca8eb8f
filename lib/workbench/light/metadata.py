"""A table's metadata, found by its catalog's pointer: the requested version, and its files."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from workbench._base import duck, moments
from workbench._base.errors import ArgumentError
from workbench.light.catalogs import Pointer
from workbench.light.typing import Connection, Json

VERSIONS = (1, 2, 3)  # of Iceberg's format, which the engines here know
LOCAL, S3 = ("", "file"), ("s3", "s3a", "s3n")


@dataclass(frozen=True)
class Table:
    """A table at one of its versions.

    Attributes:
        pointer: what the catalog says of it.
        metadata: the content of its metadata file.
        snapshot_id: the version; None where the table has none yet.
        schema: of that version, as the metadata have it.
        files: kinds of its live files: what they hold and their format, as ("EXISTING", "PARQUET") for data,
            ("EQUALITY_DELETES", "PARQUET").
        manifests: locations of the manifests of its data.
        delete_manifests: locations of the manifests of what is deleted from them.
    """

    pointer: Pointer
    metadata: Json
    snapshot_id: int | None
    schema: Json
    files: frozenset[tuple[str, str]]
    manifests: tuple[str, ...]
    delete_manifests: tuple[str, ...]


def scheme(location: str) -> str:
    """Return the scheme of a location, "" for a path."""
    return urlsplit(location).scheme


def readable(pointer: Pointer) -> None:
    """Refuse a table whose storage cannot be read without Java.

    Raises:
        ValueError: neither a disk nor S3.
    """
    if (storage := scheme(pointer.location)) not in (*LOCAL, *S3):
        raise ArgumentError(f"{pointer.table} lies at {storage}://, and DuckDB reads files and S3 here; ask Spark")


def load(connection: Connection, pointer: Pointer, at: int | str | datetime | None = None) -> Table:
    """Read the metadata of a table and choose its version.

    Args:
        connection: of DuckDB, with the storage's keys.
        pointer: what the catalog says of the table.
        at: as of `query`.

    Raises:
        ValueError: the metadata are not where the catalog says, are of another version of Iceberg's format, have
            a snapshot that DuckDB does not read, or have no such version of the table.
    """
    readable(pointer)
    try:
        metadata = json.loads(_content(connection, pointer))
    except ValueError as error:
        raise ArgumentError(f"{pointer.location}, the metadata of {pointer.table}, is not JSON: {error}") from None
    if (version := metadata.get("format-version")) not in VERSIONS:
        raise ArgumentError(
            f"{pointer.table} has version {version} of Iceberg's table format; known here are "
            f"{', '.join(map(str, VERSIONS))}"
        )
    if not all("summary" in snapshot for snapshot in metadata.get("snapshots", ())):
        raise ArgumentError(
            f"{pointer.table} has a snapshot without a summary, as version 1 of the format allows, and DuckDB "
            "does not read such a table; ask Spark"
        )
    snapshot_id = snapshot_at(metadata, at, pointer.table)
    schema = _schema(metadata, snapshot_id, at, pointer.table)
    files = _files(connection, pointer, snapshot_id, _version(metadata, snapshot_id, schema))
    return Table(pointer, metadata, snapshot_id, schema, *files)


def current_id(metadata: Json) -> int | None:
    """Return the id of the current snapshot; None for a table without one."""
    snapshot_id = metadata.get("current-snapshot-id")
    return None if snapshot_id in (None, -1) else snapshot_id


def snapshot_at(metadata: Json, at: int | str | datetime | None, table: str) -> int | None:
    """Return the id of the requested snapshot.

    Args:
        metadata: of the table.
        at: None for the current one; an id; the name of a tag or branch; a time, as datetime or ISO text, for the
            snapshot that was current then. A time without a zone is UTC.
        table: its name, for messages.

    Raises:
        ValueError: there is none.
    """
    if at is None:
        return current_id(metadata)
    known = [snapshot["snapshot-id"] for snapshot in metadata.get("snapshots", ())]
    if isinstance(at, int) and not isinstance(at, bool):
        if at not in known:
            raise ArgumentError(
                f"{table} has no snapshot {at}: it never had, or it was expired; {_span(metadata)}"
            )
        return at
    references = metadata.get("refs") or {}
    if isinstance(at, str) and at in references:
        return references[at]["snapshot-id"]
    moment = moments.moment(at)
    if moment is None:
        names = ", ".join(sorted(references)) or "none"
        raise ArgumentError(
            f"{table} has no tag, branch or time {at!r}: it never had, or it was expired; there are {names}. The "
            "id of a snapshot is an int"
        )
    return moments.current_at(
        moment,
        [(entry["timestamp-ms"], entry["snapshot-id"]) for entry in metadata.get("snapshot-log", ())],
        _commits(metadata),
        metadata.get("last-sequence-number", 0),
        table,
    )


def _span(metadata: Json) -> str:
    return moments.span(_commits(metadata).values())


def _commits(metadata: Json) -> dict[int, moments.Commit]:
    return {
        each["snapshot-id"]: moments.Commit(
            each["timestamp-ms"], each.get("parent-snapshot-id"), each.get("sequence-number")
        )
        for each in metadata.get("snapshots", ())
    }


def _schema(metadata: Json, snapshot_id: int | None, at: object, table: str) -> Json:
    """Return the schema with which Spark reads a version: a branch has the table's, others their snapshot's."""
    own = _own_schema(metadata)
    if at is None or snapshot_id is None:
        return own
    snapshot = next(entry for entry in metadata["snapshots"] if entry["snapshot-id"] == snapshot_id)
    of_snapshot = _schemas(metadata).get(snapshot.get("schema-id"), own)
    reference = (metadata.get("refs") or {}).get(at, {}) if isinstance(at, str) else {}
    if reference.get("type") == "branch" and of_snapshot != own:
        raise ArgumentError(
            f"the schema of {table} changed after the last commit of its branch {at}: Spark reads the branch with "
            f"the new one, DuckDB with that of the commit; ask Spark, or say at={snapshot_id}"
        )
    return of_snapshot


def _schemas(metadata: Json) -> dict[int, Json]:
    """Return the schemas of a table by their ids."""
    return {schema.get("schema-id", 0): schema for schema in metadata.get("schemas") or [metadata["schema"]]}


def _own_schema(metadata: Json) -> Json:
    return _schemas(metadata)[metadata.get("current-schema-id", 0)]


def _content(connection: Connection, pointer: Pointer) -> bytes:
    """Return the bytes of a metadata file."""
    import duckdb

    location = pointer.location
    gone = (
        f"the catalog says that the metadata of {pointer.table} are {location}, and there is no such file: was "
        "the warehouse moved?"
    )
    if scheme(location) in LOCAL:
        path = Path(urlsplit(location).path if scheme(location) else location)
        if not path.is_file():
            raise ArgumentError(gone)
        content = path.read_bytes()
    else:
        try:
            rows = connection.execute(f"SELECT content FROM read_blob({duck.literal(location)})").fetchall()
        except (duckdb.IOException, duckdb.HTTPException) as error:
            raise ArgumentError(f"{gone} ({error})") from None
        if not rows:
            raise ArgumentError(gone)
        content = rows[0][0]
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def names(fields: Iterable[Json]) -> Iterator[str]:
    """Yield the names of columns and of the fields of their structs, in lower case."""
    for field in fields:
        yield field["name"].lower()
        if isinstance(field["type"], Mapping):
            yield from names(field["type"].get("fields", ()))


def scan(table: Table) -> str:
    """Return the call by which DuckDB reads a table at its version."""
    location = duck.literal(table.pointer.location)
    return f"iceberg_scan({location}{_version(table.metadata, table.snapshot_id, table.schema)})"


def _version(metadata: Json, snapshot_id: int | None, schema: Json) -> str:
    # without an id DuckDB reads the main branch, with the table's own schema as Spark does
    current = snapshot_id == current_id(metadata) and schema == _own_schema(metadata)
    return "" if current else f", snapshot_from_id={snapshot_id}"


def _files(
    connection: Connection, pointer: Pointer, snapshot_id: int | None, version: str
) -> tuple[frozenset[tuple[str, str]], tuple[str, ...], tuple[str, ...]]:
    """Return the kinds of live files of a version, and the manifests of its data and deletes."""
    if snapshot_id is None:
        return frozenset(), (), ()
    columns = "manifest_path, manifest_content, content, file_format"
    entries = f"SELECT DISTINCT {columns} FROM iceberg_metadata({duck.literal(pointer.location)}{version})"
    rows = connection.execute(entries).fetchall()
    kinds = frozenset((content, file_format.upper()) for _, _, content, file_format in rows)
    data = {path for path, content, _, _ in rows if content == "DATA"}
    return kinds, tuple(sorted(data)), tuple(sorted({path for path, _, _, _ in rows} - data))
