"""A moved table brought to a later version of its source, in one commit: the difference of two sets of files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from workbench._base import identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.formats import iceberg, live, positions, sources, storage
from workbench.formats.delta import vectors
from workbench.formats.inspection import File, Inspection
from workbench.formats.live import Live
from workbench.formats.positions import Position
from workbench.formats.results import Follow
from workbench.formats.sources import Source
from workbench.tables import commits
from workbench.tables.maintenance import metadata


@dataclass(frozen=True)
class _Difference:
    """What a version has other than a table.

    Attributes:
        added: names of the source's files that the table has not.
        removed: locations of the table's files that the source has not.
        vectored: names of files that both have and whose deleted rows are others.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    vectored: tuple[str, ...]


_NOTHING = _Difference((), (), ())


@checked
def follow(
    spark: SparkSession,
    table: str,
    *,
    version: Annotated[int, Ge(0)] | None = None,
    tries: Annotated[int, Ge(1)] = 5,
    on_step: Callable[[str], object] = lambda step: None,
) -> Follow:
    """Bring a moved table to a later version of its source, whatever the source did: one commit, no data file.

    Footers are read of the files that came alone. The commit takes only on the snapshot that the difference was
    found for: of two at once, one commits and the other finds nothing to do.

    Args:
        spark: classic session.
        table: a table that `move` made.
        version: of the source; the newest when None. One that the table is at is nothing to do, an older one is
            refused. When None, a Hudi table that is at the same version is compared nevertheless: a writer that
            began earlier may have completed since.
        tries: how often at most, when others commit meanwhile.
        on_step: called before `vectors`, `files` and `commit`; for tests.

    Returns:
        Follow; its snapshot_id is None where there was nothing to do.

    Raises:
        TableNotFound: no such table.
        ValueError: it was not moved, others wrote to it, it is at a later version, the source's schema is another
            one since the move, or the source has an obstacle.
        OutcomeUnknown: the catalog did not answer, and the commit is not there now.
    """
    mark = commits.marks.named()
    begun: list[Follow] = []

    def once() -> Follow:
        return _once(spark, table, version, mark, on_step, begun)

    def landed() -> Follow | None:
        # what this process asked for, never what another one did meanwhile
        snapshot_id = commits.marks.find(spark, table, mark) if begun else None
        return None if snapshot_id is None else replace(begun[-1], snapshot_id=snapshot_id)

    return commits.attempt(once, landed=landed, conditional=True, tries=tries).value


def _once(
    spark: SparkSession,
    table: str,
    version: int | None,
    mark: str,
    on_step: iceberg.OnStep,
    begun: list[Follow],
) -> Follow:
    loaded = metadata.own(spark, table)
    transaction = loaded.newTransaction()
    base = loaded.operations().current()
    position = positions.of(spark, table, loaded)
    _refuse_changed(spark, table, loaded, position)
    folder = storage.opened(position.source)
    if version is not None and version <= position.version:
        if version < position.version and not begun:  # else another process went on meanwhile
            raise ArgumentError(
                f"{table} is at version {position.version} of {position.source}, expected a later version than "
                f"that, found {version}: a table is never brought back. Move version {version} to another table"
            )
        return Follow(table, position.version, position.version, None, 0, 0, 0)
    source = sources.of(folder)
    newest = source.version(folder, version)
    _refuse_older(table, position, newest)
    if newest == position.version and source.fixed:
        return Follow(table, position.version, position.version, None, 0, 0, 0)
    files = live.of(spark, loaded, metrics=False)
    inspection = source.inspected(folder, newest, files)
    _refuse_obstacles(table, position, inspection)
    difference = _difference(source, inspection, files, position)
    if newest == position.version and difference == _NOTHING:
        return Follow(table, position.version, position.version, None, 0, 0, 0)
    on_step("vectors")
    _write(spark, transaction, inspection, difference, files, mark, on_step)
    on_step("commit")
    counts = (len(difference.added), len(difference.removed), len(difference.vectored))
    begun.append(Follow(table, position.version, newest, None, *counts))
    new_metadata = transaction.table().operations().current()
    try:
        loaded.operations().commit(base, new_metadata)
    finally:
        commits.forget(spark, table)
    return replace(begun[-1], snapshot_id=new_metadata.currentSnapshot().snapshotId())


def _refuse_changed(spark: SparkSession, table: str, loaded: Java, position: Position) -> None:
    """Refuse a table that others wrote to since its last move or follow.

    Raises:
        ValueError: its head is not of this package, or its schema or partitioning was changed.
    """
    if position.head != position.snapshot_id:
        operation = loaded.currentSnapshot().operation()
        raise ArgumentError(
            f"{table} was written to since it followed version {position.version} of {position.source}: its "
            f"newest snapshot is another one's {operation}. {_back(spark, table, position.snapshot_id)} gives "
            "that up; else it follows no more"
        )
    if loaded.currentSnapshot().schemaId() != loaded.schema().schemaId():
        raise ArgumentError(
            f"the schema of {table} was changed since it followed version {position.version}. {_anew(table)}"
        )


def _back(spark: SparkSession, table: str, snapshot_id: int) -> str:
    """Return the statement that takes a table back to a snapshot."""
    identity = commits.identified(spark, table)
    name = identifiers.spelled((*identity.identifier().namespace(), identity.identifier().name()))
    catalog = identifiers.spelled((identity.catalog().name(),))
    return f"CALL {catalog}.system.rollback_to_snapshot({identifiers.literal(name)}, {snapshot_id})"


def _anew(table: str) -> str:
    """Return what mends a table that cannot go on; with PURGE Iceberg refuses, for the files are the source's."""
    name = identifiers.shown(table)
    return f"DROP TABLE {name}, without PURGE, and move the source anew, or move it to another table"


def _refuse_older(table: str, position: Position, version: int) -> None:
    if version < position.version:
        raise ArgumentError(
            f"{position.source} is at version {version}, and {table} at {position.version} of it: the source was "
            f"made anew. {_anew(table)}"
        )


def _refuse_obstacles(table: str, position: Position, inspection: Inspection) -> None:
    version = inspection.state.version
    if inspection.schema.digest != position.digest:
        raise ArgumentError(
            f"the schema of {position.source} is another one at version {version} than when it was moved, and "
            f"{table} cannot follow. {_anew(table)}"
        )
    if inspection.obstacles:
        raise ArgumentError(f"{table} cannot follow to version {version}: {'; '.join(inspection.obstacles)}")


def _difference(
    source: Source, inspection: Inspection, files: Mapping[str, Live], position: Position
) -> _Difference:
    state = inspection.state
    locations = {state.folder.location_of(name): name for name in state.files}
    touched = source.touched(state.folder, position.version, state.version)
    vectored = [
        name
        for location, name in locations.items()
        if location in files
        and (touched is None or name in touched)
        and not _same(inspection, state.files[name], files[location])
    ]
    return _Difference(
        tuple(name for location, name in locations.items() if location not in files),
        tuple(location for location in files if location not in locations),
        tuple(vectored),
    )


def _same(inspection: Inspection, file: File, present: Live) -> bool:
    """Say whether a file of the source has the deleted rows that the table has."""
    vector, blob = file.vector, present.vector
    if vector is None or blob is None:
        return (vector is None) == (blob is None)
    if vector.rows != blob.rows:
        return False
    return live.content(blob) == vectors.read(inspection.state.folder, file)


def _write(
    spark: SparkSession,
    transaction: Java,
    inspection: Inspection,
    difference: _Difference,
    files: Mapping[str, Live],
    mark: str,
    on_step: iceberg.OnStep,
) -> None:
    """Put the difference into a transaction."""
    state, schema = inspection.state, inspection.schema
    named = [*difference.added, *difference.vectored]
    vectored = [state.files[name] for name in named if state.files[name].vector]
    uncommitted = transaction.table()
    if vectored and uncommitted.operations().current().formatVersion() < 3:
        transaction.updateProperties().set(iceberg.FORMAT, "3").commit()
    blobs = iceberg.copied(spark, uncommitted, state, vectored, iceberg.vector_name(state.version))
    on_step("files")
    added = [state.files[name] for name in difference.added]
    classes, spec = iceberg.Classes(spark), iceberg.spec_of(spark, uncommitted)
    handles = iceberg.data_files(classes, uncommitted, spec, inspection, added)
    head = uncommitted.currentSnapshot().snapshotId()
    update = transaction.newRowDelta().validateFromSnapshot(head)
    for name in difference.added:
        update.addRows(handles[name])
    for location in difference.removed:
        update.removeRows(files[location].file)
    changed = [state.folder.location_of(name) for name in difference.vectored]
    for location in (*difference.removed, *changed):
        if files[location].delete is not None:
            update.removeDeletes(files[location].delete)
    for name, blob in blobs.items():
        values: Mapping[str, Any] = iceberg.partition(spec, state, schema, state.files[name])
        update.addDeletes(iceberg.delete_file(classes, spec, values, state.folder.location_of(name), blob))
    iceberg.stamped(update, state.folder.location, state.version, mark)
    update.commit()
