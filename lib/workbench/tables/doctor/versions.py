"""Read the metadata files of a table, and look whether the files that they name are there."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from workbench._base import releases
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits, snapshots
from workbench.tables.maintenance import metadata

_ROW = "catalog_name = ? AND table_namespace = ? AND table_name = ?"
_SNAPSHOT = re.compile(r"/snap-(\d+)-\d+-[^/]*\.avro$")


@dataclass(frozen=True)
class Version:
    """One metadata file.

    Attributes:
        location: of the file.
        version: the number that its name begins with; None without.
        time: of the commit, UTC; None when unreadable.
        uuid: of the table; None when unreadable.
        snapshot: main's; None of an empty table or when unreadable.
        rows: that the snapshot counts; None when it was not counted.
        damage: what is wrong, a sentence; None when it can be read and what it names is there.
        known: (snapshot id, rows that it added or None) that it knows.
        log: locations of earlier metadata files that it names.
        committed: whether the catalog or a committed file names it.
    """

    location: str
    version: int | None
    time: datetime | None = None
    uuid: str | None = None
    snapshot: int | None = None
    rows: int | None = None
    damage: str | None = None
    known: tuple[tuple[int, int | None], ...] = ()
    log: tuple[str, ...] = ()
    committed: bool = False


def marked(version: Version, committed: bool) -> Version:
    """Return a version with whether it was committed."""
    return replace(version, committed=committed)


def kind(java: Java) -> str:
    """Return the class of a catalog's own implementation, past the cache before it."""
    if java.getClass().getSimpleName() == "CachingCatalog":
        field = java.getClass().getDeclaredField("catalog")
        field.setAccessible(True)
        return field.get(java).getClass().getSimpleName()
    return java.getClass().getSimpleName()


def file_io(spark: SparkSession, catalog: str) -> Java:
    """Return Iceberg's file IO of a Spark catalog, made from its settings; no table is loaded for it."""
    prefix = f"spark.sql.catalog.{catalog}."
    known = releases.settings(spark)
    settings = {key[len(prefix) :]: value for key, value in known.items() if key.startswith(prefix)}
    implementation = settings.get("io-impl") or (
        "org.apache.iceberg.aws.s3.S3FileIO"
        if any(name.startswith("s3.") for name in settings)
        else "org.apache.iceberg.hadoop.HadoopFileIO"
    )
    properties = metadata.jvm(spark).java.util.HashMap()
    for name, value in settings.items():
        properties.put(name, value)
    hadoop = spark._jsparkSession.sessionState().newHadoopConf()
    return metadata.jvm(spark).org.apache.iceberg.CatalogUtil.loadFileIO(implementation, properties, hadoop)


def in_jdbc(spark: SparkSession, catalog: str, namespace: str, name: str) -> tuple[str, str | None] | None:
    """Return (metadata file, the one before or None) as a JDBC catalog holds them; None for other catalogs.

    Read from the database itself, because Iceberg has the pointer only of a table that it could load.

    Raises:
        TableNotFound: the catalog has no such table.
    """
    if not _is_jdbc(spark, catalog):
        return None
    text = f"SELECT metadata_location, previous_metadata_location FROM iceberg_tables WHERE {_ROW}"
    with _statement(spark, catalog, text, catalog, namespace, name) as statement:
        rows = statement.executeQuery()
        if not rows.next():
            raise snapshots.TableNotFound(f"no table {namespace}.{name} in the catalog {catalog}")
        return rows.getString(1), rows.getString(2)


def swap_in_jdbc(
    spark: SparkSession, catalog: str, namespace: str, name: str, *, seen: str, to: str, before: str | None
) -> None:
    """Point a JDBC catalog from one metadata file to another as a commit does: in one step, if it names it still.

    Raises:
        ValueError: meanwhile it names another file.
    """
    change = "metadata_location = ?, previous_metadata_location = ?"
    text = f"UPDATE iceberg_tables SET {change} WHERE {_ROW} AND metadata_location = ?"
    with _statement(spark, catalog, text, to, before, catalog, namespace, name, seen) as statement:
        if statement.executeUpdate() != 1:
            raise ArgumentError(
                f"the catalog names another metadata file for {namespace}.{name} since the look; look again"
            )


def _is_jdbc(spark: SparkSession, catalog: str) -> bool:
    kind, implementation = (_setting(spark, catalog, key) or "" for key in ("type", "catalog-impl"))
    return kind == "jdbc" or implementation.endswith("JdbcCatalog")


def _setting(spark: SparkSession, catalog: str, key: str) -> str | None:
    return spark.conf.get(f"spark.sql.catalog.{catalog}.{key}", None)


@contextmanager
def _statement(spark: SparkSession, catalog: str, text: str, *values: str | None) -> Iterator[Java]:
    """Yield a prepared statement to a JDBC catalog's database."""
    properties = metadata.jvm(spark).java.util.Properties()
    for key in ("user", "password"):
        if value := _setting(spark, catalog, f"jdbc.{key}"):
            properties.setProperty(key, value)
    try:
        connection = metadata.jvm(spark).java.sql.DriverManager.getConnection(
            _setting(spark, catalog, "uri"), properties
        )
    except Exception as error:  # its own text may have the address, and a password in that
        what = (commits.causes(error) or ("",))[0].rpartition(".")[2]
        raise ArgumentError(f"the database of the catalog {catalog} cannot be reached: {what}") from None
    try:
        statement = connection.prepareStatement(text)
        for n, value in enumerate(values, 1):
            statement.setString(n, value)  # None is NULL
        yield statement
    finally:
        connection.close()


def beside(spark: SparkSession, io: Java, location: str) -> list[Version]:
    """Return the metadata files in the folder of one, the newest first: by version, then by time."""
    names = [name for name in _listed(io, location) if name.endswith(metadata.FILES)]
    versions = [read(spark, io, name) for name in names]
    start = datetime.min.replace(tzinfo=UTC)
    versions.sort(
        key=lambda version: (version.version if version.version is not None else -1, version.time or start),
        reverse=True,
    )
    return versions


def _listed(io: Java, location: str) -> list[str]:
    """Return the locations in a metadata file's folder, written as that file's own is."""
    folder = location.rpartition("/")[0]
    try:
        locations = metadata.listed(io, folder)
    except Exception as error:
        if "java.io.FileNotFoundException" not in commits.causes(error):
            raise
        locations = {}  # the folder is gone with all that was in it
    return sorted(folder + "/" + at.rpartition("/")[2] for at in locations)


def newer(io: Java, location: str) -> list[str]:
    """Return the locations of the metadata files beside one whose versions are higher, the newest first."""
    return above([file for file in _listed(io, location) if file.endswith(metadata.FILES)], location)


def above(files: Iterable[str], location: str) -> list[str]:
    """Return those of some metadata files whose versions are higher than that of one, the newest first."""
    last = metadata.number(location)
    numbered = [(number, file) for file in files if (number := metadata.number(file)) is not None]
    higher = [(number, file) for number, file in numbered if last is not None and number > last]
    return [file for _, file in sorted(higher, key=lambda pair: pair[0], reverse=True)]


def read(spark: SparkSession, io: Java, location: str, *, complete: bool = True) -> Version:
    """Return what a metadata file says, and what is wrong with it.

    Args:
        spark: classic session.
        io: of `file_io`.
        location: of the file.
        complete: also look whether what it names is there, file by file.
    """
    version = Version(location, metadata.number(location))
    iceberg = metadata.jvm(spark).org.apache.iceberg
    file = io.newInputFile(location)
    if not file.exists():
        return replace(version, damage="the file is gone")
    try:
        state = iceberg.TableMetadataParser.read(file)
        text = json.loads(iceberg.TableMetadataParser.toJson(state))
    except Exception as error:
        salvaged = _salvaged(spark, file)
        return replace(version, damage=f"it cannot be read: {_reason(error)}", **salvaged)
    return replace(version, **_facts(text), damage=_incomplete(iceberg, io, state) if complete else None)


def _facts(text: Mapping[str, Any]) -> dict[str, Any]:
    known = text.get("snapshots") or []
    current = text.get("current-snapshot-id")
    summary = next((snapshot.get("summary") or {} for snapshot in known if snapshot["snapshot-id"] == current), {})
    rows = summary.get("total-records")
    return {
        "time": datetime.fromtimestamp(text["last-updated-ms"] / 1000, UTC),
        "uuid": text.get("table-uuid"),
        "snapshot": None if current in (None, -1) else current,
        "rows": int(rows) if rows is not None else None,
        "known": tuple((snapshot["snapshot-id"], _added(snapshot)) for snapshot in known),
        "log": tuple(entry["metadata-file"] for entry in text.get("metadata-log") or []),
    }


def _added(snapshot: Mapping[str, Any]) -> int | None:
    """Return the rows that a snapshot added; 0 where it has a summary that names none."""
    summary = snapshot.get("summary")
    return None if summary is None else int(summary.get("added-records") or 0)


def _incomplete(iceberg: Java, io: Java, state: Java) -> str | None:
    """Return which file of the current snapshot is gone; None when none is. Data files are not looked for."""
    snapshot = state.currentSnapshot()
    if snapshot is None:
        return None
    listed = snapshot.manifestListLocation()
    if listed and not io.newInputFile(listed).exists():
        return f"its manifest list {listed.rpartition('/')[2]} is gone"
    try:
        manifests = list(snapshot.allManifests(io))
    except Exception as error:
        return f"its manifest list cannot be read: {_reason(error)}"
    for manifest in manifests:
        file, name = io.newInputFile(manifest.path()), manifest.path().rpartition("/")[2]
        if not file.exists():
            return f"its manifest {name} is gone"
        if file.getLength() != manifest.length():
            return f"its manifest {name} has {file.getLength():,} bytes and not {manifest.length():,}"
    return None


def _salvaged(spark: SparkSession, file: Java) -> dict[str, Any]:
    """Return what a damaged metadata file's text still says: whole snapshots and whole entries of its log."""
    try:
        stream = file.newStream()
        text = bytes(metadata.jvm(spark).org.apache.commons.io.IOUtils.toByteArray(stream)).decode(
            "utf-8", "replace"
        )
        stream.close()
    except Exception:
        return {}
    known = _objects(text, '"snapshots"')
    log = [entry.get("metadata-file") for entry in _objects(text, '"metadata-log"')]
    return {
        "known": tuple((entry["snapshot-id"], _added(entry)) for entry in known if "snapshot-id" in entry),
        "log": tuple(location for location in log if location),
    }


def _objects(text: str, name: str) -> list[dict[str, Any]]:
    """Return the whole objects of a list in a JSON text that may end anywhere."""
    objects: list[dict[str, Any]] = []
    decoder = json.JSONDecoder()
    start = re.search(re.escape(name) + r"\s*:\s*\[", text)
    place = start.end() if start else len(text)
    while place < len(text):
        while place < len(text) and (text[place].isspace() or text[place] == ","):
            place += 1
        try:
            entry, place = decoder.raw_decode(text, place)
        except ValueError:
            break
        if isinstance(entry, dict):
            objects.append(entry)
    return objects


def lost(io: Java, damaged: Version, offered: Version | None) -> tuple[tuple[int, int | None], ...]:
    """Return (snapshot id, rows or None) that an offered version does not know.

    They are known from the damaged file's text, and from the manifest lists that lie beside it. A list may be the
    remains of a commit that never was.
    """
    known = {snapshot_id for snapshot_id, _ in offered.known} if offered else set()
    rows = {snapshot_id: added for snapshot_id, added in damaged.known if snapshot_id not in known}
    if not damaged.known:
        for name in _listed(io, damaged.location):
            if (match := _SNAPSHOT.search(name)) and int(match[1]) not in known:
                rows.setdefault(int(match[1]), None)
    return tuple(sorted(rows.items()))


def _reason(error: Exception) -> str:
    return commits.errors.first_line(error).replace("\n", " ")[:200]
