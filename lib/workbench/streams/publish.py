"""Rows and positions into a table in one commit that a second writer of the same stream cannot make.

    branch at main's snapshot S, whose positions are the ones the batch was read from
    append to the branch: rows and positions, one snapshot
    main to that snapshot, its tag in the place of the last one: one commit, bound to the metadata it was checked
    with

If main moved meanwhile and the stream's positions did not (compaction, another stream's ingest), the files that
are written go into a commit on the new main. If the positions moved, this writer is a zombie and stops.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from workbench._base import identifiers
from workbench._base.typing import DataFrame, Java, SparkSession
from workbench.streams import positions
from workbench.streams.readers import sources
from workbench.tables import commits, publication

TRIES = 30  # of a commit that does not take long: enough for a table to which others commit all the time


@dataclass(frozen=True)
class Place:
    """Where a run writes.

    Attributes:
        table: its name.
        stream: Stream.
        branch: the run's own branch.
    """

    table: str
    stream: sources.Stream
    branch: str


def stage(spark: SparkSession, place: Place, expected: dict[str, str] | None) -> int | None:
    """Move the run's branch to main's snapshot, and return that snapshot's id; None for an empty table.

    Args:
        spark: session.
        place: Place.
        expected: the positions that main must have; None for none.

    Raises:
        AnotherWriter: it has others.
        PositionsLost: it has none any more.
    """

    def check(loaded: Java) -> None:
        _refuse_moved(spark, loaded, place, expected)

    return publication.stage(spark, place.table, place.branch, check=check, tries=TRIES).base_snapshot_id


@contextmanager
def still_there(spark: SparkSession, place: Place) -> Iterator[None]:
    """Raise AnotherWriter for an error of which the reason is that the run's branch is gone."""
    try:
        yield
    except Exception as error:
        if commits.head(commits.load(spark, place.table), place.branch) is None:
            raise _another(place, "its branch was dropped") from error
        raise


def append(
    spark: SparkSession, place: Place, frame: DataFrame, base: int | None, summary: dict[str, str]
) -> tuple[int, int]:
    """Append rows and positions to the run's branch; return (snapshot id, rows added).

    Raises:
        AnotherWriter: somebody else dropped or moved the branch, as the run that publishes first does.
    """
    writer = frame.writeTo(identifiers.on_branch(place.table, place.branch))
    for key, value in summary.items():
        writer = writer.option(f"snapshot-property.{key}", value)
    return commit(spark, place, base, summary, writer.append)


def commit(
    spark: SparkSession, place: Place, base: int | None, summary: dict[str, str], write: Callable[[], Any]
) -> tuple[int, int]:
    """Call a function that commits once to the run's branch, with this summary; return as `append`."""

    def landed() -> tuple[int, int] | None:
        loaded = commits.load(spark, place.table)
        top = commits.head(loaded, place.branch)
        if top is None or top == base:
            return None
        snapshot = loaded.snapshot(top)
        if snapshot.summary().get(positions.BATCH) != summary[positions.BATCH]:
            return None
        return top, int(snapshot.summary().get("added-records") or 0)

    with still_there(spark, place):
        commits.attempt(write, landed=landed)
    if (landing := landed()) is None:
        raise _another(place, "its branch was moved")
    return landing


def publish(
    spark: SparkSession, place: Place, staged: int, base: int | None, expected: dict[str, str] | None
) -> None:
    """Move main to what was staged and tag it, in one commit.

    Raises:
        MainMoved: main moved and the positions did not; `note` carries what was staged over, or it is done again.
        AnotherWriter: the positions moved, or the branch is not as it was left.
        OutcomeUnknown: main may have been moved or not.
    """

    def check(loaded: Java) -> None:
        _refuse_moved(spark, loaded, place, expected)

    try:
        commits.fast_forward(
            spark, place.table, to=staged, expected=base, branch=place.branch, tries=TRIES, check=check,
            refs=lambda loaded: _tagged(loaded, place, staged), known=True,
        )  # fmt: skip
    except commits.BranchMoved as error:
        raise _another(place, "its branch was moved") from error


def publish_or_carry(
    spark: SparkSession,
    place: Place,
    staged: int,
    base: int | None,
    expected: dict[str, str] | None,
    summary: dict[str, str],
) -> int:
    """Publish what was staged; where main moved and the positions did not, in a commit on the new main.

    Returns:
        Id of main's snapshot with it.
    """
    try:
        publish(spark, place, staged, base, expected)
    except commits.MainMoved:
        return note(spark, place, expected, summary, carried=staged)
    return staged


def note(
    spark: SparkSession,
    place: Place,
    expected: dict[str, str] | None,
    summary: dict[str, str],
    *,
    mark: bool = False,
    carried: int | None = None,
) -> int:
    """Commit positions in a snapshot of their own, without rows or with files that are written; return its id.

    Args:
        spark: session.
        place: Place.
        expected: the positions that main must have; None for none.
        summary: entries of the snapshot's summary.
        mark: set the table property that says that the stream is ingested.
        carried: id of a staged snapshot whose rows belong to the positions. Its files go in as they are, so that
            main may move as often as it will while they are written.

    Raises:
        AnotherWriter: it has others, or somebody else dropped what was staged.
    """

    def landed() -> int | None:
        position = positions.find(spark, commits.load(spark, place.table), place.stream)
        return position.snapshot_id if position and _positions_in(summary) == position.shards else None

    def decide(loaded: Java) -> publication.Append:
        _refuse_moved(spark, loaded, place, expected)
        files = _files(loaded, place, carried) if carried else ()
        properties = dict([positions.mark(place.stream)]) if mark else {}
        return publication.Append(
            summary, files, properties=properties, refs=lambda snapshot: _tagged(loaded, place, snapshot)
        )

    return publication.append(spark, place.table, decide, landed=landed, tries=TRIES)


def _files(loaded: Java, place: Place, snapshot_id: int) -> list[Java]:
    """Return the data files that a snapshot added; an append gives their rows new numbers."""
    if (snapshot := loaded.snapshot(snapshot_id)) is None:
        raise _another(place, "its branch was dropped")
    return list(snapshot.addedDataFiles(loaded.io()))


def drop(spark: SparkSession, place: Place) -> None:
    """Drop the run's branch where there is one."""
    publication.drop(spark, place.table, place.branch, known=True, tries=TRIES)


def _tagged(loaded: Java, place: Place, snapshot: int) -> commits.Refs:
    """Return the refs of a publication: its tag, and the removal of older tags and of other runs' branches."""
    refs, prefix = loaded.refs(), positions.ref(place.stream)
    tag = f"{prefix}{snapshot}"
    removed = [name for name in list(refs) if name.startswith(prefix) and name not in (tag, place.branch)]
    return commits.Refs(tags={tag: snapshot}, removed=tuple(removed))


def _refuse_moved(spark: SparkSession, loaded: Java, place: Place, expected: dict[str, str] | None) -> None:
    position = positions.find(spark, loaded, place.stream)
    if position is None and expected is not None:
        raise positions.PositionsLost(
            f"no snapshot in main's history of {place.table} says any more how far {place.stream.arn} was "
            "ingested: the table was replaced or rolled back while this run worked. Nothing of this batch was "
            "committed"
        )
    if (position.shards if position else None) != expected:
        if positions.rolled_back(spark, loaded, place.stream):
            raise positions.PositionsLost(
                f"main of {place.table} was rolled back behind what this run had brought. Nothing of this batch "
                "was committed; a next run goes on from where main is now"
            )
        raise _another(place, "its positions moved")


def _another(place: Place, what: str) -> positions.AnotherWriter:
    return positions.AnotherWriter(
        f"another run ingests {place.stream.arn} into {place.table}: {what}. Nothing of this batch was committed; "
        "let one of the two run"
    )


def _positions_in(summary: Mapping[str, str]) -> dict[str, str]:
    return json.loads(summary[positions.POSITIONS])["shards"]
