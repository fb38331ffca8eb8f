"""A range of snapshots on main: where it starts and ends, and every commit between."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits

Bound = int | datetime | None  # a snapshot id; a time, UTC when naive; the first or last


class HistoryExpired(ArgumentError):
    """A snapshot that the range needs is not an ancestor of main, or no longer; the message says which and why."""


@dataclass(frozen=True)
class Step:
    """One commit of a range.

    Attributes:
        snapshot_id: the snapshot it made.
        sequence: its sequence number in the table.
        millis: its commit time, milliseconds since 1970 UTC, as the writer's clock gave it.
        ordinal: 0, 1, 2 … among the commits of the range that can change rows; None for one that cannot
            (operation `replace`: compaction).
    """

    snapshot_id: int
    sequence: int
    millis: int
    ordinal: int | None


@dataclass(frozen=True)
class Range:
    """The commits after `start` up to and with the last of `steps`, oldest first.

    Attributes:
        name: the table, as Spark knows it.
        table: Iceberg's own handle of it (a Java object).
        start: Java snapshot whose rows are the state before; None before the first commit.
        snapshots: Java snapshots of the steps.
        steps: one a snapshot.
        truncated: whether the first step stands for all that came before it: its whole state is new.
        together: ids of snapshots that are not steps: the next step stands for them, too.
    """

    name: str
    table: Java = field(repr=False)
    start: Java = field(repr=False)
    snapshots: tuple[Java, ...] = field(repr=False)
    steps: tuple[Step, ...]
    truncated: bool = False
    together: tuple[int, ...] = ()


def ancestry(table: Java) -> tuple[list[Java], bool]:
    """Return main's Java snapshots, oldest first, and whether the oldest is the table's very first."""
    snapshots, snapshot = [], table.currentSnapshot()
    while snapshot is not None:
        snapshots.append(snapshot)
        parent = snapshot.parentId()
        snapshot = table.snapshot(parent) if parent is not None else None
    return snapshots[::-1], not snapshots or snapshots[-1].parentId() is None


def resolve(
    spark: SparkSession,
    name: str,
    start: Bound,
    end: Bound,
    *,
    truncated: bool = False,
    together: Sequence[int] = (),
) -> Range:
    """Return the range between two bounds, as `changes.between` describes them.

    Args:
        spark: the session.
        name: `namespace.name`.
        start: exclusive bound.
        end: inclusive bound.
        truncated: whether to begin with the oldest state that remains where the beginning was expired.
        together: ids of snapshots that are not steps of their own: the next commit that changes rows stands for
            them, too. Those outside the range have no effect.

    Raises:
        HistoryExpired: a bound, or a snapshot of `together`, is not an ancestor of main.
        ValueError: the end lies before the start, or no commit of the range comes after one of `together`.
    """
    table = commits.load(spark, name)
    line, whole = ancestry(table)
    cut = truncated and start is None and not whole
    whole = whole or cut
    first = _position(name, table, line, whole, start, missing=-1)
    last = _position(name, table, line, whole, end, missing=len(line) - 1)
    if last < first:
        raise ArgumentError(f"{name}: the range ends before it starts: from {start} to {end}")
    for snapshot_id in together:
        _snapshot(name, table, line, snapshot_id)
    steps: list[Step] = []
    chosen, folded, ordinal = [], [], 0
    waiting: int | None = None  # id of a snapshot that the next commit that changes rows stands for
    for snapshot in line[first + 1 : last + 1]:
        replaces = snapshot.operation() == "replace" and not (cut and not steps)
        if snapshot.snapshotId() in together or (waiting is not None and replaces):
            waiting = snapshot.snapshotId()
            folded.append(waiting)
            continue
        waiting = None
        chosen.append(snapshot)
        place = None if replaces else ordinal
        steps.append(Step(snapshot.snapshotId(), snapshot.sequenceNumber(), snapshot.timestampMillis(), place))
        ordinal += not replaces
    if waiting is not None:
        raise ArgumentError(
            f"{name}: snapshot {waiting} is to be taken together with the commit after it that changes rows, "
            "and there is none yet"
        )
    before = line[first] if first >= 0 else None
    return Range(name, table, before, tuple(chosen), tuple(steps), cut, tuple(folded))


def _position(name: str, table: Java, line: Sequence[Java], whole: bool, bound: Bound, *, missing: int) -> int:
    """Return a bound's place in main's line, -1 before the first commit."""
    if bound is None:
        place = missing
    elif not isinstance(bound, datetime):
        return _snapshot(name, table, line, bound)
    else:
        # as an integer: as a float, many a time of 2038 would lie before the commit that was made at it
        millis = since_1970(bound) // timedelta(milliseconds=1)
        _stood_on(name, table, line, bound, millis)
        place = max((n for n, snapshot in enumerate(line) if snapshot.timestampMillis() <= millis), default=-1)
    if place == -1 and not whole:
        state = "the table's beginning" if bound is None else f"the state of {bound}"
        raise HistoryExpired(
            f"{name}: {state} is gone, older snapshots were expired; the oldest that is left on main is "
            f"{line[0].snapshotId()} of {_time(line[0])}"
        )
    return place


def since_1970(moment: datetime) -> timedelta:
    """Return the time from the beginning of 1970 UTC to a datetime, which is UTC when naive."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)


def _stood_on(name: str, table: Java, line: Sequence[Java], bound: datetime, millis: int) -> None:
    """Refuse a time at which main stood at a snapshot that is not an ancestor of it now."""
    stood = [entry.snapshotId() for entry in table.history() if entry.timestampMillis() <= millis]
    if stood and stood[-1] not in {snapshot.snapshotId() for snapshot in line}:
        raise HistoryExpired(
            f"{name}: at {bound} main was snapshot {stood[-1]}, which is not an ancestor of main any more: it was "
            "rolled back, or the table was replaced"
        )


def _snapshot(name: str, table: Java, line: Sequence[Java], snapshot_id: int) -> int:
    for place, snapshot in enumerate(line):
        if snapshot.snapshotId() == snapshot_id:
            return place
    reach = f"main goes back to snapshot {line[0].snapshotId()} of {_time(line[0])}" if line else "main is empty"
    if table.snapshot(snapshot_id) is None:
        raise HistoryExpired(
            f"{name} has no snapshot {snapshot_id}: it was expired or is another table's; {reach}"
        )
    raise HistoryExpired(
        f"{name}: snapshot {snapshot_id} is not an ancestor of main: it is a branch's, main was rolled back "
        f"behind it, the table was replaced, or a snapshot between was expired; {reach}"
    )


def _time(snapshot: Java) -> str:
    return f"{datetime.fromtimestamp(snapshot.timestampMillis() / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
