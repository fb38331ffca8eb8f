"""A moved table made nobody else's: the last follow, a comparison, files of its own, and their clean-up on."""

import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.formats import iceberg, live, positions
from workbench.formats import storage as sources
from workbench.formats.following import follow
from workbench.formats.iceberg import Blob, Classes
from workbench.formats.live import Live
from workbench.formats.positions import Position
from workbench.formats.results import TakeOver, Verification
from workbench.formats.verifying import Reader, verify
from workbench.tables import commits
from workbench.tables.maintenance import metadata
from workbench.tables.maintenance import storage as targets

Files = Literal["copied", "adopted"]
_THREADS = 8
_PIECE = 8 * 1024 * 1024  # bytes that are copied at once


@checked
def take_over(
    spark: SparkSession,
    table: str,
    *,
    files: Files,
    reader: Reader | None = None,
    on_step: Callable[[str], object] = lambda step: None,
) -> TakeOver:
    """Bring a moved table to its source's newest version, compare both, and make the table the owner of its files.

    From then on the table follows nothing, and expiry, orphan removal and DROP … PURGE delete its files.

    Args:
        spark: classic session.
        table: a table that `move` made.
        files: `copied`: byte for byte into the table's own folder, so that the source stays as it is and goes on;
            older snapshots, whose files are the source's, leave the table's history. `adopted`: they stay where
            they lie, with the history, and belong to the table: nobody may write to the source, VACUUM or clean
            it, or delete its folder any more.
        reader: of the source, for the comparison; None as for `verify`.
        on_step: called before `copy` and `commit`; for tests.

    Returns:
        TakeOver.

    Raises:
        TableNotFound: no such table.
        ValueError: as `follow` and `verify`; or table and source differ, or branches or tags keep older snapshots.
    """
    follow(spark, table)
    verification = verify(spark, table, reader=reader)
    if not verification.equal:
        raise ArgumentError(_differ(table, verification))
    mark = commits.marks.named()
    sizes: list[tuple[int, int]] = []

    def once() -> TakeOver:
        return _once(spark, table, files, verification, mark, on_step, sizes)

    def landed() -> TakeOver | None:
        loaded = commits.load(spark, table)
        taken = loaded.properties().get(iceberg.TAKEN) == mark
        return _result(loaded, table, files, verification, sizes[-1]) if taken else None

    return commits.attempt(once, landed=landed, conditional=True, tries=2).value


def _differ(table: str, verification: Verification) -> str:
    which = f"; the columns {', '.join(verification.columns)} differ" if verification.columns else ""
    return (
        f"{table} is not taken over: it has {verification.rows} rows and its source {verification.source_rows} at "
        f"version {verification.version}, read by {verification.reader}{which}. Move the source to another table"
    )


def _once(
    spark: SparkSession,
    table: str,
    files: Files,
    verification: Verification,
    mark: str,
    on_step: iceberg.OnStep,
    sizes: list[tuple[int, int]],
) -> TakeOver:
    loaded = metadata.own(spark, table)
    transaction = loaded.newTransaction()
    base = loaded.operations().current()
    position = positions.of(spark, table, loaded)
    if position.version != verification.version or position.head != position.snapshot_id:
        raise ArgumentError(f"{table} was written to while it was compared with its source; begin again")
    on_step("copy")
    sizes.append(_copied(spark, table, loaded, transaction, position, mark) if files == "copied" else (0, 0))
    _owner(transaction, position, mark)
    on_step("commit")
    new_metadata = transaction.table().operations().current()
    if files == "copied":
        new_metadata = _without_history(spark, new_metadata)
    try:
        loaded.operations().commit(base, new_metadata)
    finally:
        commits.forget(spark, table)
    return _result(commits.load(spark, table), table, files, verification, sizes[-1])


def _result(
    loaded: Java, table: str, files: Files, verification: Verification, copied: tuple[int, int]
) -> TakeOver:
    source, _, version = loaded.properties()[iceberg.FROM].rpartition("@")
    return TakeOver(table, source, int(version), files, *copied, verification)


def _owner(transaction: Java, position: Position, mark: str) -> None:
    """Change the properties that say whose the files are."""
    update = transaction.updateProperties()
    for name in (iceberg.SOURCE, iceberg.KIND, iceberg.SCHEMA):
        update.remove(name)
    update.set(iceberg.FROM, f"{position.source}@{position.version}").set(iceberg.TAKEN, mark)
    update.set(iceberg.GC, "true").commit()


def _without_history(spark: SparkSession, new_metadata: Java) -> Java:
    """Return metadata with the newest snapshot alone: the files of the others are the source's."""
    classes = Classes(spark)
    older = classes.java.util.HashSet()
    for snapshot in new_metadata.snapshots():
        if snapshot.snapshotId() != new_metadata.currentSnapshot().snapshotId():
            older.add(classes.java.lang.Long.valueOf(snapshot.snapshotId()))
    return classes.metadata.buildFrom(new_metadata).removeSnapshots(older).build()


def _copied(
    spark: SparkSession, table: str, loaded: Java, transaction: Java, position: Position, mark: str
) -> tuple[int, int]:
    """Copy the files into the table's folder, and put them in the place of the source's: (files, bytes).

    Raises:
        ValueError: a branch or tag leads to files of the source.
    """
    if others := [name for name in metadata.refs(loaded) if name != "main"]:
        raise ArgumentError(
            f"{table} has the branch or tag {others[0]}, which keeps files of the source: drop it, or take "
            "files='adopted'"
        )
    files = live.of(spark, loaded, metrics=True)
    provider, run = loaded.locationProvider(), uuid.uuid4().hex
    places = {
        location: provider.newDataLocation(f"{number:05d}-{run}-{location.rpartition('/')[2]}")
        for number, location in enumerate(files)
    }
    _copy(loaded, position, files, places)
    vectored = {location: file for location, file in files.items() if file.vector}
    blobs = _vectors(spark, loaded, vectored, places, f"taken-over-{run}")
    rewrite, classes, specs = transaction.newRewrite(), Classes(spark), loaded.specs()
    for location, file in files.items():
        spec = specs[file.described["spec-id"]]
        described = file.described | {"file-path": places[location]}
        described.pop("first-row-id", None)
        rewrite.deleteFile(file.file)
        rewrite.addFile(iceberg.parsed(classes, described, spec))
        if file.deleted is not None:
            rewrite.deleteFile(file.delete)
            changed = file.deleted | iceberg.placed(blobs[location], places[location])
            rewrite.addFile(iceberg.parsed(classes, changed, spec))
    iceberg.stamped(rewrite.validateFromSnapshot(position.head), position.source, position.version, mark)
    rewrite.commit()
    return len(files), sum(file.described["file-size-in-bytes"] for file in files.values())


def _copy(loaded: Java, position: Position, files: Mapping[str, Live], places: Mapping[str, str]) -> None:
    folder = sources.opened(position.source)
    try:
        system, path = targets.opened(loaded)
    except targets.Unfit as error:
        raise ArgumentError(
            f"the files of {position.source} cannot be copied into the table's folder, for {error} expected a "
            "folder of this machine, or S3 by io-impl org.apache.iceberg.aws.s3.S3FileIO. Set it, or take "
            "files='adopted'"
        ) from error

    def copy(location: str) -> None:
        place = path(places[location])
        system.create_dir(place.rpartition("/")[0], recursive=True)
        with (
            sources.readable(location),
            folder.files.open_input_stream(folder.within(location)) as source,
            system.open_output_stream(place) as target,
        ):
            while piece := source.read(_PIECE):
                target.write(piece)
        expected, size = files[location].described["file-size-in-bytes"], system.get_file_info(place).size
        if size != expected:
            raise ArgumentError(f"the copy of {location} has {size} bytes, expected {expected}")

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(copy, files))


def _vectors(
    spark: SparkSession, loaded: Java, files: Mapping[str, Live], places: Mapping[str, str], name: str
) -> dict[str, Blob]:
    """Write the deletion vectors again, for a vector names the file that it belongs to: {old location: Blob}."""
    blobs = {location: file.vector for location, file in files.items() if file.vector}
    if not blobs:
        return {}
    target = loaded.locationProvider().newDataLocation(f"{name}.puffin")
    contents = ((places[location], live.content(blob)) for location, blob in blobs.items())
    placed, size = iceberg.puffin(spark, loaded, target, contents, [blob.rows for blob in blobs.values()])
    return {
        location: Blob(target, size, at.offset(), at.length(), blob.rows)
        for (location, blob), at in zip(blobs.items(), placed, strict=True)
    }
