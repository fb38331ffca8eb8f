"""Times by which people name a version of a table, and the snapshot that was current at one."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from workbench._base.errors import ArgumentError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Commit(NamedTuple):
    """What the metadata of a table say of a snapshot: its time in milliseconds, its parent, its number."""

    timestamp_ms: int
    parent_id: int | None
    sequence_number: int | None


def moment(at: Any) -> datetime | None:
    """Return the time that is given as one or as an ISO text, in UTC where it has no zone; None for another text.

    Digits alone are a day at most: Python takes one in 300 ids of snapshots for a time, as of the year 7374.

    Raises:
        ValueError: it is neither a time nor a text.
    """
    if isinstance(at, str):
        if at.isdecimal() and len(at) != len("20261128"):
            return None
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            return None
    if not isinstance(at, datetime):
        raise ArgumentError(f"at must be a snapshot's id, a tag, a branch or a time, found {at!r}")
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def current_at(
    moment: datetime, log: Sequence[tuple[int, int]], snapshots: Mapping[int, Commit], last_number: int, table: str
) -> int:
    """Return the id of the snapshot that was current at a time.

    Java takes all entries out of the log that are before an expired one. PyIceberg takes out the expired one
    alone, and its id from its children: the entry before it then reads as if it had been current all the time.

    Args:
        moment: with a zone.
        log: the table's snapshot log, oldest first: time in milliseconds, id.
        snapshots: those that the table has, by id.
        last_number: the table's last sequence number; 0 in version 1 of the format.
        table: its name, for messages.

    Raises:
        ValueError: there was none at that time, or it was expired, or that cannot be excluded.
    """
    until = (moment - EPOCH) // timedelta(milliseconds=1)  # a float is a little less than some of them
    past = [id for milliseconds, id in log if milliseconds <= until]
    if not past:
        raise ArgumentError(
            f"{table} has no snapshot of {moment.isoformat()} or before: {span(snapshots.values())}"
        )
    following = log[len(past)] if len(past) < len(log) else None
    if past[-1] not in snapshots or (following and _gap(past, following, snapshots, last_number)):
        raise ArgumentError(
            f"the snapshot of {table} that was current at {moment.isoformat()} was expired; "
            f"{span(snapshots.values())}"
        )
    return past[-1]


def _gap(
    past: Sequence[int], following: tuple[int, int], snapshots: Mapping[int, Commit], last_number: int
) -> bool:
    """Say whether a snapshot that is gone may have been current between `past` and the following entry."""
    milliseconds, snapshot_id = following
    if snapshot_id == past[-1]:  # main came back from another one
        return True
    commit = snapshots.get(snapshot_id)
    if commit and commit.timestamp_ms == milliseconds:
        return commit.parent_id != past[-1]
    # Main was set to a snapshot, whose parent says nothing of this moment. Nothing is gone where no number is;
    # version 1 of the format has no numbers, and its log is believed.
    later = (each.sequence_number or 0 for each in snapshots.values() if each.timestamp_ms > milliseconds)
    numbers = {each.sequence_number for each in snapshots.values()}
    return not numbers.issuperset(range(1, min(later, default=last_number + 1)))


def span(snapshots: Collection[Commit]) -> str:
    """Say how many snapshots a table has and of which times, for a message."""
    times = sorted(commit.timestamp_ms for commit in snapshots)
    if not times:
        return "it has no snapshots"
    first, last = (utc(time).isoformat(timespec="milliseconds") for time in (times[0], times[-1]))
    return f"it has {len(times)}, from {first} to {last}"


def utc(milliseconds: int) -> datetime:
    """Return a commit time, in UTC."""
    return EPOCH + timedelta(milliseconds=milliseconds)


def written(moment: datetime) -> str:
    """Return a commit time as people read it, to its millisecond: shorter, it would name the snapshot before."""
    return moment.isoformat(" ", "milliseconds").partition("+")[0]
