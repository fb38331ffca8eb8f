"""A Delta or Hudi table made an Iceberg table in one commit: data files stay where they are."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError, WorkbenchError
from workbench._base.typing import Java, SparkSession
from workbench.formats import iceberg, sources, storage
from workbench.formats.inspection import Inspection
from workbench.formats.results import Move
from workbench.tables import commits, snapshots

_OWN = {iceberg.GC, iceberg.NAMES, iceberg.KIND, iceberg.SOURCE, iceberg.SCHEMA}  # properties


@checked
def move(
    spark: SparkSession,
    path: str | Path,
    table: str,
    *,
    version: int | None = None,
    properties: Mapping[str, str] | None = None,
    on_step: Callable[[str], object] = lambda step: None,
) -> Move:
    """Make an Iceberg table of the files of a Delta or Hudi table, in one commit and without writing a data file.

    Deletion vectors of Delta are copied into a Puffin file of the new table. The data files stay the source's:
    the table has gc.enabled false, so that Iceberg deletes none, until `take_over`. The source is only read. What
    `look` names as an obstacle is refused before anything is written; where a move is stopped, there is no table
    or the right one.

    Args:
        spark: classic session; its catalog may be any of Iceberg's.
        path: the source's folder, of this machine or a URI `s3://bucket/key`.
        table: name of the new table; its namespace must be there.
        version: of the source; the newest when None. Of Hudi one that its timeline lists, see `Look`.
        properties: more of the new table.
        on_step: called before `vectors`, `files` and `commit`; for tests.

    Returns:
        Move.

    Raises:
        ValueError: the source has an obstacle, cannot be read or is not a table of a known format; the table
            exists, or its namespace does not. What is wrong with the arguments and the source is said at once.
        OutcomeUnknown: the catalog did not answer, and the table is not there now.
    """
    inspection = inspected(path, table, version, lambda: _refuse_own(properties or {}))
    return made(spark, inspection, table, properties=properties, on_step=on_step)


def inspected(path: str | Path, table: str, version: int | None, *others: Callable[[], object]) -> Inspection:
    """Return what a move has to know of its source; no Spark is asked.

    Args:
        path: the source's folder.
        table: name of the new table.
        version: of the source; the newest when None.
        others: called too; each raises a ValueError where something else is wrong.

    Raises:
        ValueError: all that is wrong with the arguments and the source, a sentence each.
        MissingPackageError: nothing else is wrong, and what reads the source is not installed.
    """
    inspections: list[Inspection] = []
    at_once(lambda: inspections.append(_inspected(path, version)), lambda: identifiers.parts(table), *others)
    return inspections[0]


def at_once(*checks: Callable[[], object]) -> None:
    """Call checks, each of which raises where something is wrong, and say all that is wrong in one error.

    Raises:
        ValueError: more than one thing is wrong; a single one is raised as its check did.
        MissingPackageError: nothing else is wrong, and a package is not installed.
    """
    wrong: list[WorkbenchError] = []
    for check in checks:
        try:
            check()
        except (ArgumentError, MissingPackageError) as error:
            wrong.append(error)
    if len(sentences := list(dict.fromkeys(map(str, wrong)))) > 1:
        raise ArgumentError("; ".join(sentences))
    if wrong:
        raise wrong[0]


def _inspected(path: str | Path, version: int | None) -> Inspection:
    folder = storage.opened(os.fspath(path))
    inspection = sources.of(folder).inspected(folder, version)
    if inspection.obstacles:
        raise ArgumentError(f"{path} cannot be moved: {'; '.join(inspection.obstacles)}")
    return inspection


def made(
    spark: SparkSession,
    inspection: Inspection,
    table: str,
    *,
    properties: Mapping[str, str] | None = None,
    on_step: iceberg.OnStep = lambda step: None,
) -> Move:
    """Make a table of a source that was inspected, as `move` does.

    Raises:
        ValueError: the table exists, or its namespace does not.
        OutcomeUnknown: the catalog did not answer, and the table is not there now.
    """
    state = inspection.state
    try:
        snapshots.refuse_no_namespace(spark, table)
    except ArgumentError as missing:  # a new user's first obstacle
        namespace = identifiers.spelled(identifiers.parts(table)[:-1])
        raise ArgumentError(f"{missing}. CREATE NAMESPACE {namespace} makes it") from None
    if snapshots.exists(spark, table):
        follows = _source_of(spark, table) == state.folder.location
        raise ArgumentError(
            f"{table} exists and follows this source: formats.follow brings it up to date"
            if follows
            else f"{table} exists, and was not moved from {state.folder.location}: name another table"
        )
    mark = commits.marks.named()
    attempt = commits.attempt(
        lambda: _once(spark, table, inspection, dict(properties or {}), mark, on_step),
        landed=lambda: commits.marks.find(spark, table, mark) if snapshots.exists(spark, table) else None,
        again=(),
        conditional=True,
        tries=3,
    )
    deleted = [file.vector.rows for file in state.files.values() if file.vector]
    physical = sum(footer.rows for footer in inspection.footers.values())
    return Move(
        table,
        state.folder.location,
        state.version,
        attempt.value,
        len(state.files),
        len(deleted),
        physical - sum(deleted),
        inspection.notes,
    )


def _once(
    spark: SparkSession,
    table: str,
    inspection: Inspection,
    properties: Mapping[str, str],
    mark: str,
    on_step: iceberg.OnStep,
) -> int:
    """Make the table; return the id of its snapshot."""
    state, schema = inspection.state, inspection.schema
    transaction = iceberg.begun(spark, table, state, schema, _properties(inspection, properties))
    uncommitted = transaction.table()
    iceberg.refuse_unreachable(table, uncommitted, state)
    on_step("vectors")
    vectored = [file for file in state.files.values() if file.vector]
    blobs = iceberg.copied(spark, uncommitted, state, vectored, iceberg.vector_name(state.version))
    on_step("files")
    classes, spec = iceberg.Classes(spark), iceberg.spec_of(spark, uncommitted)
    handles = iceberg.data_files(classes, uncommitted, spec, inspection, state.files.values())
    update = transaction.newRowDelta()
    for name, file in state.files.items():
        update.addRows(handles[name])
        if name in blobs:
            values = iceberg.partition(spec, state, schema, file)
            at = state.folder.location_of(name)
            update.addDeletes(iceberg.delete_file(classes, spec, values, at, blobs[name]))
    iceberg.stamped(update, state.folder.location, state.version, mark)
    update.commit()
    on_step("commit")
    return _committed(spark, table, transaction)


def _committed(spark: SparkSession, table: str, transaction: Java) -> int:
    """Commit the creation; return the id of the one snapshot.

    Raises:
        ValueError: somebody else has made a table of that name meanwhile.
    """
    snapshot_id: int = transaction.table().currentSnapshot().snapshotId()
    try:
        transaction.commitTransaction()
    except Exception as error:
        if any(cause.endswith("AlreadyExistsException") for cause in commits.causes(error)):
            raise ArgumentError(f"{table} exists: somebody else made it meanwhile; this move made none") from error
        raise
    finally:
        commits.forget(spark, table)
    return snapshot_id


def _properties(inspection: Inspection, properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of the new table: those that make it readable and safe cannot be chosen."""
    state = inspection.state
    own = {
        iceberg.FORMAT: "3" if state.vectors else properties.get(iceberg.FORMAT, "2"),
        iceberg.GC: "false",
        iceberg.NAMES: json.dumps(inspection.schema.names),
        iceberg.KIND: state.kind,
        iceberg.SOURCE: state.folder.location,
        iceberg.SCHEMA: inspection.schema.digest,
    }
    return {**properties, **own}


def _refuse_own(properties: Mapping[str, str]) -> None:
    if "location" in properties:
        raise ArgumentError("properties has location, which the catalog gives the table by its namespace")
    if taken := sorted(_OWN & properties.keys()):
        raise ArgumentError(f"properties has {taken[0]}, which the move sets itself")


def _source_of(spark: SparkSession, table: str) -> str | None:
    """Return the source that a table follows; None where it follows none."""
    try:
        source: str | None = commits.load(spark, table).properties().get(iceberg.SOURCE)
    except ArgumentError:  # it is not an Iceberg table
        return None
    return source
