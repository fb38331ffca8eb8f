"""A catalog that points to a metadata file which is gone or unreadable: what is there instead, and taking it.

A data file is never deleted and no metadata file is written: restoring points the catalog to one that is there.
"""

import re
from dataclasses import dataclass, replace

from workbench._base import arguments
from workbench._base.errors import ArgumentError
from workbench.tables import commits, snapshots
from workbench.tables.doctor import versions
from workbench.tables.doctor.versions import Version
from workbench.tables.maintenance import metadata

_FILE = re.compile(r"[^\s'\"]+\.metadata\.json(?:\.gz)?|[^\s'\"]+\.gz\.metadata\.json")


@dataclass(frozen=True)
class Pointer:
    """Where a catalog points for a table, and what could be pointed to.

    Attributes:
        table: its name.
        location: the metadata file that the catalog names.
        damage: what is wrong with it, a sentence; None when it is fine.
        versions: the metadata files beside it, the newest first.
        offered: the newest of them that is readable, complete and was committed; None when there is none.
        lost: (snapshot id, rows that it added) that the offered one does not know, as far as the damaged file
            or what lies beside it still tells; rows are None where nothing tells.
    """

    table: str
    location: str
    damage: str | None
    versions: tuple[Version, ...]
    offered: Version | None
    lost: tuple[tuple[int, int | None], ...]

    @property
    def rows_lost(self):
        """Rows that the lost snapshots added; None where nothing tells."""
        rows = [rows for _, rows in self.lost]
        return None if None in rows else sum(rows)


def look(spark, table, *, location=None):
    """Say whether the catalog's metadata file of a table is fine, and what else is there. Changes nothing.

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
        ValueError: nothing tells which file the catalog names, or `location` is none of a metadata file.
    """
    _check("location", location)
    catalog, namespace, name = _identified(spark, table)
    location, before = _located(spark, table, catalog, namespace, name, location)
    io = versions.file_io(spark, catalog)
    damaged = versions.read(spark, io, location)
    found = versions.beside(spark, io, location)
    if another := _another(spark, io, damaged, before):
        # a writer may have gone on from it: what is there of the table itself lies beside the one before
        damaged, found = another, [one for one in versions.beside(spark, io, before) if one.uuid != damaged.uuid]
    committed = _committed(found, location, before, damaged)
    offered = None
    if damaged.damage:
        good = [one for one in found if one.location in committed and one.damage is None]
        offered = good[0] if good else None
    lost = () if damaged.damage is None or another else versions.lost(io, damaged, offered)
    marked = tuple(versions.marked(one, one.location in committed) for one in found)
    return Pointer(table, location, damaged.damage, marked, offered, lost)


def doubt(spark, table):
    """Say what speaks against a pointer by which a table can be read. Changes nothing, and reads few files.

    A catalog that came back from an old copy names an old metadata file. The newer ones beside it were committed
    where a still newer one went on from them; the newest may be what a writer left that died before its swap.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.

    Returns:
        A sentence; None where nothing does.

    Raises:
        TableNotFound: the catalog has no such table.
        ValueError: nothing tells which file the catalog names.
    """
    catalog, namespace, name = _identified(spark, table)
    io = versions.file_io(spark, catalog)
    listed = versions.newer(io, _located(spark, table, catalog, namespace, name, None)[0])
    # told after the listing: who commits meanwhile moves it on
    location, before = _located(spark, table, catalog, namespace, name, None)
    own = versions.read(spark, io, location, complete=False)
    if another := _another(spark, io, own, before):
        return f"the catalog names {location}: {another.damage}"
    newer = [one for one in listed if metadata.number(one) > metadata.number(location)]
    for one in newer:
        there = versions.read(spark, io, one, complete=False)
        named = {_name(each) for each in there.log} if there.uuid == own.uuid else ()
        if went := [_name(each) for each in newer if _name(each) in named]:
            return (
                f"the catalog names {location}, and {len(went)} that were committed after it lie beside it, up to "
                f"{went[0]}: it came back from an old copy, or another catalog has the table too"
            )
    return None


def _name(location):
    return location.rpartition("/")[2]


def told(pointer):
    """Return the metadata files of a Pointer as a pandas DataFrame, to be shown.

    Returns:
        One row a file, the newest first: version (Int64), time (UTC text), snapshot (Int64), rows (Int64),
        committed (bool), damage, file (strings), offered (bool).

    Raises:
        ValueError: it is no Pointer.
    """
    import pandas as pd

    arguments.kind("pointer", pointer, Pointer, "what pointers.look returns")
    rows = [
        (one.version, one.time and f"{one.time:%Y-%m-%d %H:%M:%S}", one.snapshot, one.rows, one.committed,
         one.damage or "", _name(one.location),
         bool(pointer.offered and one.location == pointer.offered.location))
        for one in pointer.versions
    ]  # fmt: skip
    columns = ["version", "time", "snapshot", "rows", "committed", "damage", "file", "offered"]
    told = pd.DataFrame(rows, columns=columns, dtype=object)  # beside a null pandas would take ids for floats
    kinds = dict.fromkeys(("version", "snapshot", "rows"), "Int64") | dict.fromkeys(("committed", "offered"), bool)
    return told.astype(kinds)


def restore(spark, table, *, to, location=None):
    """Point the catalog to another metadata file of a table. No file is written or deleted.

    A JDBC catalog's database is told in one step, if it still names the damaged file: Iceberg itself can only
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
    arguments.kind("to", to, str, "the location of a metadata file, such as look(…).offered.location")
    seen = look(spark, table, location=location)
    if seen.damage is None:
        raise ArgumentError(f"the pointer of {table} is fine and stays: for an undo there is Iceberg's rollback")
    good = {one.location: one for one in seen.versions if one.damage is None and one.committed}
    if to not in good:
        there = ", ".join(map(_name, good)) or "none"
        raise ArgumentError(f"{to} is no good metadata file of {table}; there are {there}")
    catalog, namespace, name = _identified(spark, table)
    iceberg = spark._jvm.org.apache.iceberg
    java = iceberg.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, catalog)
    parts = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, len(namespace))
    for n, part in enumerate(namespace):
        parts[n] = part
    where = iceberg.catalog.TableIdentifier.of(iceberg.catalog.Namespace.of(parts), name)
    kind = versions.kind(java)
    if kind == "JdbcCatalog":
        versions.swap_in_jdbc(
            spark,
            catalog,
            ".".join(namespace),
            name,
            seen=seen.location,
            to=to,
            before=_before(spark, catalog, seen, good[to]),
        )
    elif kind == "RESTCatalog":
        _replace(java, where, to, table)
    else:
        raise ArgumentError(
            f"{table} is in a {kind}: not tried here, for its way to forget a name may delete files"
        )
    commits.forget(spark, table)
    return look(spark, table, location=to if location else None)


def _before(spark, catalog, seen, to):
    """Return what a database shall name as the file before: the damaged one, unless it is of another table."""
    there = versions.read(spark, versions.file_io(spark, catalog), seen.location)
    return seen.location if there.uuid in (None, to.uuid) else None


def _replace(java, where, to, table):
    try:
        java.registerTable(where, to, True)
    except Exception as error:
        first = commits.errors.first_line(error)
        raise ArgumentError(f"the REST catalog of {table} does not replace a pointer: {first}") from error


def _check(name, location):
    """Refuse what is no location of a metadata file: its folder would be listed, whatever that is."""
    if location is None:
        return
    what = "the location of a metadata file, such as s3://…/metadata/00003-….metadata.json"
    arguments.kind(name, location, str, what)
    if not location.endswith(metadata.FILES) or not location.rpartition("/")[0]:
        raise ArgumentError(f"{name} is {location!r}, expected {what}")


def _identified(spark, table):
    found = commits.identified(spark, table)
    return found.catalog().name(), list(found.identifier().namespace()), found.identifier().name()


def _located(spark, table, catalog, namespace, name, location):
    """Return (the metadata file that the catalog names, the one before it or None)."""
    if location is not None:
        return location, None
    if there := versions.in_jdbc(spark, catalog, ".".join(namespace), name):
        return there
    commits.forget(spark, table)
    try:
        loaded = commits.load(spark, table)
        return loaded.operations().current().metadataFileLocation(), None
    except snapshots.TableNotFound:
        raise
    except Exception as error:
        if found := _FILE.search(f"{error} {error.__cause__}"):
            return found[0], None
        raise ArgumentError(
            f"the catalog does not say to which metadata file it points for {table}: say location=…; "
            f"it says {commits.errors.first_line(error)}"
        ) from error


def _another(spark, io, damaged, before):
    """Return the metadata file as damaged where it is of another table than the one before it; else None."""
    own = versions.read(spark, io, before).uuid if before and damaged.damage is None else None
    if own in (None, damaged.uuid):
        return None
    why = f"it is of another table, {damaged.uuid}; the one before it is of {own}"
    return replace(damaged, damage=why, known=(), log=())


def _committed(found, location, before, damaged):
    """Return locations that are known to have been committed: named by the catalog or by the log of one that was.

    A file in the folder may be the remains of a commit that never was; pointing to it would bring rows that
    nobody acknowledged. Where no log leads to a good one, the newest of earlier versions is taken, if it is the
    only one of its version.
    """
    by_place = {one.location: one for one in found}
    known = {location} | ({before} if before else set()) | set(damaged.log)
    _follow(known, by_place)
    good = {one.location for one in found if one.damage is None}
    if damaged.damage is None or good & (known - {location}):
        return known
    last = min((number for one in known if (number := metadata.number(one)) is not None), default=None)
    earlier = [
        one for one in found if one.location in good and None not in (last, one.version) and one.version < last
    ]
    if len({one.uuid for one in found if one.damage is None}) > 1:
        return known  # tables share the folder, and nothing tells which files are this one's
    newest = [one.location for one in earlier if one.version == max(each.version for each in earlier)]
    if len(newest) == 1:
        known.add(newest[0])
        _follow(known, by_place)
    return known


def _follow(known, by_place):
    """Add what the logs of known metadata files name, and the logs of those."""
    todo = list(known)
    while todo:
        one = by_place.get(todo.pop())
        fresh = set(one.log) - known if one else set()
        known |= fresh
        todo += fresh
