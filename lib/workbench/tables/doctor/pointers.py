"""Repair a catalog whose metadata file is missing or unreadable, with another metadata file of the same folder.

A data file is never deleted and no metadata file is written: restoring points the catalog to another file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, PandasFrame, SparkSession
from workbench.tables import commits, snapshots
from workbench.tables.doctor import versions
from workbench.tables.doctor.versions import Version
from workbench.tables.maintenance import metadata

_FILE = re.compile(r"[^\s'\"]+\.metadata\.json(?:\.gz)?|[^\s'\"]+\.gz\.metadata\.json")


@dataclass(frozen=True)
class Pointer:
    """The metadata file to which a catalog points for a table, and those to which it could.

    Attributes:
        table: its name.
        location: the metadata file that the catalog names.
        damage: what is wrong with it, a sentence; None when it is fine.
        versions: the metadata files beside it, the newest first.
        offered: the newest of them that is readable, complete and was committed; None when there is none.
        lost: (snapshot id, rows that it added) that the offered one does not know, as far as the damaged file
            or what lies beside it still has; rows are None where nothing has them.
    """

    table: str
    location: str
    damage: str | None
    versions: tuple[Version, ...]
    offered: Version | None
    lost: tuple[tuple[int, int | None], ...]

    @property
    def rows_lost(self) -> int | None:
        """Rows that the lost snapshots added; None where they are not known."""
        known = [rows for _, rows in self.lost if rows is not None]
        return sum(known) if len(known) == len(self.lost) else None


@checked
def look(spark: SparkSession, table: str, *, location: str | None = None) -> Pointer:
    """Look whether the catalog's metadata file of a table is fine, and what lies beside it. Changes nothing.

    It is fine when Iceberg can read it, and the manifest list and the manifests of its current snapshot are
    there. Data files are not looked for.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        location: the metadata file that the catalog names, where the catalog itself does not say (REST).

    Returns:
        Pointer.

    Raises:
        TableNotFound: the catalog has no such table.
        ValueError: it is not known which file the catalog names, or `location` is not one of a metadata file.
    """
    _check("location", location)
    catalog, namespace, name = _identified(spark, table)
    location, before = _located(spark, table, catalog, namespace, name, location)
    io = versions.file_io(spark, catalog)
    damaged = versions.read(spark, io, location)
    beside = versions.beside(spark, io, location)
    if another := _another(spark, io, damaged, before):
        # a writer may have gone on from it: what is there of the table itself lies beside the one before
        beside = [
            version for version in versions.beside(spark, io, before or location) if version.uuid != damaged.uuid
        ]
        damaged = another
    committed = _committed(beside, location, before, damaged)
    offered = None
    if damaged.damage:
        good = [version for version in beside if version.location in committed and version.damage is None]
        offered = good[0] if good else None
    lost = () if damaged.damage is None or another else versions.lost(io, damaged, offered)
    marked = tuple(versions.marked(version, version.location in committed) for version in beside)
    return Pointer(table, location, damaged.damage, marked, offered, lost)


@checked
def doubt(spark: SparkSession, table: str) -> str | None:
    """Return what speaks against a pointer by which a table can be read. Changes nothing, and reads few files.

    A catalog that came back from an old copy names an old metadata file. The newer ones beside it were committed
    where a still newer one went on from them; the newest may be what a writer left that died before its swap.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.

    Returns:
        A sentence; None where nothing does.

    Raises:
        TableNotFound: the catalog has no such table.
        ValueError: it is not known which file the catalog names.
    """
    catalog, namespace, name = _identified(spark, table)
    io = versions.file_io(spark, catalog)
    listed = versions.newer(io, _located(spark, table, catalog, namespace, name, None)[0])
    # asked after the listing: who commits meanwhile moves it on
    location, before = _located(spark, table, catalog, namespace, name, None)
    own = versions.read(spark, io, location, complete=False)
    if another := _another(spark, io, own, before):
        return f"the catalog names {location}: {another.damage}"
    newer = versions.above(listed, location)
    for file in newer:
        version = versions.read(spark, io, file, complete=False)
        logged = {_name(entry) for entry in version.log} if version.uuid == own.uuid else ()
        if later := [_name(entry) for entry in newer if _name(entry) in logged]:
            return (
                f"the catalog names {location}, and {len(later)} that were committed after it lie beside it, "
                f"up to {later[0]}: it came back from an old copy, or another catalog has the table too"
            )
    return None


def _name(location: str) -> str:
    return location.rpartition("/")[2]


@checked
def told(pointer: Pointer) -> PandasFrame:
    """Return the metadata files of a Pointer as a pandas DataFrame, to be shown.

    Returns:
        One row a file, the newest first: version (Int64), time (UTC text), snapshot (Int64), rows (Int64),
        committed (bool), damage, file (strings), offered (bool).
    """
    import pandas as pd

    offered = pointer.offered.location if pointer.offered else None
    rows = [
        (file.version, file.time and f"{file.time:%Y-%m-%d %H:%M:%S}", file.snapshot, file.rows, file.committed,
         file.damage or "", _name(file.location), file.location == offered)
        for file in pointer.versions
    ]  # fmt: skip
    columns = ["version", "time", "snapshot", "rows", "committed", "damage", "file", "offered"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)  # beside a null pandas would take ids for floats
    kinds = dict.fromkeys(("version", "snapshot", "rows"), "Int64") | dict.fromkeys(("committed", "offered"), bool)
    return frame.astype(kinds)


@checked
def restore(spark: SparkSession, table: str, *, to: str, location: str | None = None) -> Pointer:
    """Point the catalog to another metadata file of a table. No file is written or deleted.

    A JDBC catalog's database is changed in one step, if it still names the damaged file: Iceberg itself can only
    forget the name and take it again. A REST catalog is asked to replace what it points to; one that cannot
    refuses. Other catalogs are refused here, for some of them delete a table's files with its name.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        to: location of the metadata file, one of `look`'s that is readable, complete and was committed.
        location: as of `look`.

    Returns:
        Pointer, looked at anew.

    Raises:
        TableNotFound: the catalog has no such table.
        ValueError: the pointer is fine, the file is none of the table's good ones, or the catalog cannot do it.
    """
    seen = look(spark, table, location=location)
    if seen.damage is None:
        raise ArgumentError(
            f"the pointer of {table} is not damaged, so it stays; Iceberg's rollback undoes commits"
        )
    good = {version.location: version for version in seen.versions if version.damage is None and version.committed}
    if to not in good:
        names = ", ".join(map(_name, good)) or "none"
        raise ArgumentError(f"{to} is not a good metadata file of {table}; there are {names}")
    catalog, namespace, name = _identified(spark, table)
    iceberg = metadata.jvm(spark).org.apache.iceberg
    java = iceberg.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, catalog)
    context: Java = spark.sparkContext
    parts = context._gateway.new_array(metadata.jvm(spark).java.lang.String, len(namespace))
    for n, part in enumerate(namespace):
        parts[n] = part
    where = iceberg.catalog.TableIdentifier.of(iceberg.catalog.Namespace.of(parts), name)
    kind = versions.kind(java)
    if kind == "JdbcCatalog":
        before = _before(spark, catalog, seen, good[to])
        versions.swap_in_jdbc(spark, catalog, ".".join(namespace), name, seen=seen.location, to=to, before=before)
    elif kind == "RESTCatalog":
        _replace(java, where, to, table)
    else:
        raise ArgumentError(
            f"{table} is in a {kind}, where its pointer is not replaced: dropping the name may delete files there"
        )
    commits.forget(spark, table)
    return look(spark, table, location=to if location else None)


def _before(spark: SparkSession, catalog: str, seen: Pointer, to: Version) -> str | None:
    """Return what a database shall name as the file before: the damaged one, unless it is of another table."""
    damaged = versions.read(spark, versions.file_io(spark, catalog), seen.location)
    return seen.location if damaged.uuid in (None, to.uuid) else None


def _replace(java: Java, where: Java, to: str, table: str) -> None:
    try:
        java.registerTable(where, to, True)
    except Exception as error:
        first = commits.errors.first_line(error)
        raise ArgumentError(f"the REST catalog of {table} does not replace a pointer: {first}") from error


def _check(name: str, location: str | None) -> None:
    """Refuse what is not the location of a metadata file: its folder would be listed, whatever that is."""
    if location is None or (location.endswith(metadata.FILES) and location.rpartition("/")[0]):
        return
    what = "the location of a metadata file, such as s3://…/metadata/00003-….metadata.json"
    raise ArgumentError(f"{name} must be {what}, found {location!r}")


def _identified(spark: SparkSession, table: str) -> tuple[str, list[str], str]:
    identified = commits.identified(spark, table)
    return identified.catalog().name(), list(identified.identifier().namespace()), identified.identifier().name()


def _located(
    spark: SparkSession, table: str, catalog: str, namespace: Sequence[str], name: str, location: str | None
) -> tuple[str, str | None]:
    """Return (the metadata file that the catalog names, the one before it or None)."""
    if location is not None:
        return location, None
    if pointer := versions.in_jdbc(spark, catalog, ".".join(namespace), name):
        return pointer
    commits.forget(spark, table)
    try:
        loaded = commits.load(spark, table)
        return loaded.operations().current().metadataFileLocation(), None
    except snapshots.TableNotFound:
        raise
    except Exception as error:
        if match := _FILE.search(f"{error} {error.__cause__}"):
            return match[0], None
        raise ArgumentError(
            f"the catalog does not say to which metadata file it points for {table}: say location=…; "
            f"it says {commits.errors.first_line(error)}"
        ) from error


def _another(spark: SparkSession, io: Java, damaged: Version, before: str | None) -> Version | None:
    """Return the metadata file as damaged where it is of another table than the one before it; else None."""
    own = versions.read(spark, io, before).uuid if before and damaged.damage is None else None
    if own in (None, damaged.uuid):
        return None
    why = f"it is of another table, {damaged.uuid}; the one before it is of {own}"
    return replace(damaged, damage=why, known=(), log=())


def _committed(
    versions_beside: Sequence[Version], location: str, before: str | None, damaged: Version
) -> set[str]:
    """Return locations that are known to have been committed: named by the catalog or by the log of one that was.

    A file in the folder may be the remains of a commit that never was; pointing to it would bring rows that
    nobody acknowledged. Where no log leads to a good one, the newest of earlier versions is taken, if it is the
    only one of its version.
    """
    by_place = {version.location: version for version in versions_beside}
    known = {location} | ({before} if before else set()) | set(damaged.log)
    _follow(known, by_place)
    good = {version.location for version in versions_beside if version.damage is None}
    if damaged.damage is None or good & (known - {location}):
        return known
    last = min((number for file in known if (number := metadata.number(file)) is not None), default=0)
    earlier = [
        (version.version, version.location)
        for version in versions_beside
        if version.location in good and version.version is not None and version.version < last
    ]
    if len({version.uuid for version in versions_beside if version.damage is None}) > 1:
        return known  # tables share the folder, and nothing tells which files are this one's
    newest = [file for number, file in earlier if number == max(earlier)[0]]
    if len(newest) == 1:
        known.add(newest[0])
        _follow(known, by_place)
    return known


def _follow(known: set[str], by_place: Mapping[str, Version]) -> None:
    """Add what the logs of known metadata files name, and the logs of those."""
    todo = list(known)
    while todo:
        version = by_place.get(todo.pop())
        fresh = set(version.log) - known if version else set()
        known |= fresh
        todo += fresh
