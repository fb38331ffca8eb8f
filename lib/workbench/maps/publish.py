"""A wave's rows and the run's position into the table, in one commit that a second process cannot make.

    branch of the process's own at main's snapshot
    append the wave's rows to the branch; count there what was written and what failed
    the same files and the new position to main, in one commit, bound to the position that the wave began from

Where main moved meanwhile and the run's position did not (compaction, another run), the commit goes onto the new
main. Where the position moved, this process is a zombie and stops.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from workbench._base import identifiers
from workbench._base.typing import DataFrame, Java, SparkSession
from workbench.maps import positions
from workbench.maps.files import ItemsChanged
from workbench.maps.positions import AnotherWriter, Position, Run
from workbench.tables import commits, publication

TRIES = 30
BRANCH_AGE_MS = 7 * 24 * 3600 * 1000  # of a process that was killed: its branch goes with the next expiry


@dataclass(frozen=True)
class Place:
    """Where a process writes.

    Attributes:
        spark: session.
        table: its name.
        run_id: the run's.
        branch: the process's own.
    """

    spark: SparkSession
    table: str
    run_id: str
    branch: str


def note(
    place: Place, run: Run, before: Position | None, position: Position, *, carried: int | None = None
) -> Position:
    """Commit a position and the files of a staged snapshot, or none, to main; return the position as written.

    Args:
        place: Place.
        run: of which the property is set; it has the position where the run is over.
        before: the position that the table must have; None where the run must not have begun.
        position: the new one.
        carried: id of a snapshot on the branch whose files go along.

    Raises:
        AnotherWriter: the position is another one.
        OutcomeUnknown: it may have been committed or not.
    """
    position = replace(position, writer=place.branch)
    run = replace(run, position=None if position.state == positions.RUNNING else position)

    def landed() -> int | None:
        loaded = commits.load(place.spark, place.table)
        current = positions.find(place.spark, loaded, place.run_id)
        return commits.tip(loaded) if current is not None and current[1] == position else None

    def decide(loaded: Java) -> publication.Append:
        _refuse_moved(place, loaded, before)
        files = _files(loaded, place, carried) if carried is not None else ()
        return publication.Append(
            positions.summary(run, position), files, properties=_properties(loaded, run, before, position),
            refs=lambda snapshot: _refs(loaded, place, snapshot, over=run.position is not None),
        )  # fmt: skip

    publication.append(place.spark, place.table, decide, landed=landed, tries=TRIES)
    return position


def wave(
    place: Place, run: Run, before: Position, frame: DataFrame, items: int, position: Position, *,
    unchanged: Callable[[], None],
) -> Position:  # fmt: skip
    """Write a wave's rows and publish them with a new position; return the position, its failures counted.

    Args:
        place: Place.
        run: Run.
        before: the position that the wave begins from.
        frame: the rows.
        items: how many items they must be of.
        position: the new one, `failed` without those of this wave.
        unchanged: function that raises ItemsChanged where a file is not as it was when it was looked at.

    Raises:
        AnotherWriter: the position moved.
        ItemsChanged: the rows are of more or fewer items, or of files that were changed.
    """
    staged = publication.stage(
        place.spark, place.table, place.branch, check=lambda loaded: _refuse_moved(place, loaded, before),
        branch_age_ms=BRANCH_AGE_MS, tries=TRIES,
    )  # fmt: skip
    root = staged.root_snapshot_id
    summary = positions.summary(run, replace(position, writer=f"{place.branch} staged"))
    writer = frame.writeTo(identifiers.on_branch(place.table, place.branch)).option("distribution-mode", "none")
    for key, value in summary.items():
        writer = writer.option(f"snapshot-property.{key}", value)

    def landed() -> int | None:
        top = commits.head(commits.load(place.spark, place.table), place.branch)
        return top if top not in (None, root) else None

    try:
        commits.attempt(writer.append, landed=landed)
    except Exception as error:
        if commits.head(commits.load(place.spark, place.table), place.branch) is None:
            raise _another(place, "its branch was dropped") from error
        raise
    top = landed()
    if top is None:
        raise _another(place, "its branch was dropped")
    unchanged()
    written, failed = _counted(place, root, top)
    if written != items:
        raise ItemsChanged(
            f"wave {position.waves} of run {place.run_id} gave {written:,} items, its files had {items:,} when "
            "they were looked at: they were changed meanwhile. Nothing of this wave was published"
        )
    return note(place, run, before, replace(position, failed=position.failed + failed), carried=top)


def _counted(place: Place, root: int, top: int) -> tuple[int, int]:
    """Return how many items the staged rows are of, and how many of them failed."""
    rows = (
        place.spark.read.format("iceberg")
        .option("start-snapshot-id", str(root))
        .option("end-snapshot-id", str(top))
        .load(identifiers.quoted(place.table))
    )
    (counts,) = (
        rows.where("_record <= 1")
        .selectExpr(
            "coalesce(sum(_items), 0) AS items", "coalesce(sum(if(_error IS NULL, 0, _items)), 0) AS failed"
        )
        .collect()
    )
    return counts["items"], counts["failed"]


def _properties(loaded: Java, run: Run, before: Position | None, position: Position) -> Mapping[str, str]:
    """Return the table property of the run where this commit begins it, ends it, or begins it again."""
    over = position.state != positions.RUNNING
    begins = before is None or before.state != positions.RUNNING
    if over:
        run = replace(run, sequence=loaded.currentSnapshot().sequenceNumber())
    return positions.entry(run) if begins or over else {}


def _files(loaded: Java, place: Place, snapshot_id: int) -> list[Java]:
    if (snapshot := loaded.snapshot(snapshot_id)) is None:
        raise _another(place, "its branch was dropped")
    return list(snapshot.addedDataFiles(loaded.io()))


def _refs(loaded: Java, place: Place, snapshot: int, *, over: bool) -> commits.Refs:
    """Return the refs of a commit: its tag, and the removal of older tags and of other processes' branches."""
    prefix = positions.ref(place.run_id)
    tag = f"{prefix}{snapshot}"
    kept = () if over else (tag, place.branch)
    removed = [name for name in list(loaded.refs()) if name.startswith(prefix) and name not in kept]
    return commits.Refs(tags={} if over else {tag: snapshot}, removed=tuple(removed))


def _refuse_moved(place: Place, loaded: Java, before: Position | None) -> None:
    current = positions.find(place.spark, loaded, place.run_id)
    if (current[1] if current else None) != before:
        raise _another(place, "its position moved")


def _another(place: Place, what: str) -> AnotherWriter:
    return AnotherWriter(
        f"another process runs {place.run_id} into {place.table}, or the table was rolled back: {what}. Nothing "
        "of this wave was published; let one process run it"
    )
