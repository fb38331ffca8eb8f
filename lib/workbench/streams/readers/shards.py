"""Where a reader stands in the shards of a stream, and which of them it may read next.

Positions are a dict, shard id to text:

    a sequence number    everything up to and including it was read
    @1767225600000       nothing was read; it begins with what arrived at that time (milliseconds since 1970) or
                         later
    end                  a closed shard, read to its end
    (no entry)           nothing was read; it begins with the oldest record, once all parents have ended

Sequence numbers are decimal numbers of about 56 digits: no integer type holds them, and they are compared as
Python's integers, within one shard only.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench._base.errors import WorkbenchError

if TYPE_CHECKING:  # sources imports this module
    from workbench.streams.readers.sources import RecordSource, Start, Stream

END = "end"
OLDEST = ""


class RecordsLost(WorkbenchError, RuntimeError):
    """Records that were not read yet are gone: trimmed, or deleted with their stream."""


@dataclass(frozen=True)
class Task:
    """What one reader reads: a shard, from a position, so many records.

    Attributes:
        shard: its id.
        position: where it begins, as in the positions; OLDEST for the oldest record there is.
        limit: records at most.
        upto: sequence number with which it stops, when an earlier read of the same task did; else None.
        seen: whether this run has seen the shard read empty since its position, so that nothing can be missing.
        closed: whether the shard takes no more records, so that reading goes on until its end is told.
    """

    shard: str
    position: str
    limit: int
    upto: str | None = None
    seen: bool = False
    closed: bool = False


def begin(source: "Start", stream: "Stream", now_millis: int) -> dict[str, str]:
    """Return the positions of a reader that has none.

    Those of `trim_horizon` are empty. `latest` becomes the time at which it was asked for: a shard that nothing
    was read from has no other name for "the end", and a second start must not skip what came between.
    """
    if source.start == "trim_horizon":
        return {}
    millis = now_millis if source.at is None else round(source.at.timestamp() * 1000)
    return dict.fromkeys(stream.shards, f"@{millis}")


def plan(
    stream: "Stream", positions: Mapping[str, str], max_records: int, *, seen: Collection[str] = frozenset()
) -> list[Task]:
    """Return the tasks of the next micro-batch: parents before children, or the order of a key would break.

    Args:
        stream: Stream.
        positions: where the reader is.
        max_records: over all shards; each gets one at least.
        seen: ids of shards that this run has read empty.

    Returns:
        list of Task, one a shard that may be read now; empty when every shard has ended.
    """
    ready = [
        shard
        for shard, parents in stream.shards.items()
        if positions.get(shard) != END
        and all(positions.get(parent) == END for parent in parents if parent in stream.shards)
    ]
    share = max(1, max_records // max(1, len(ready)))
    return [
        Task(shard, positions.get(shard, OLDEST), share, seen=shard in seen, closed=shard not in stream.opened)
        for shard in ready  # each, also where there are more of them than records: one left out is never read
    ]


def present(
    source: "RecordSource", stream: "Stream", positions: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the positions without shards whose records expired before they were read, and a sentence on each.

    Raises:
        RecordsLost: there is one, and the source says to stop.
    """
    gone = sorted(shard for shard, at in positions.items() if at != END and shard not in stream.shards)
    lost = tuple(f"shard {shard} of {source.stream} expired before it was read to its end" for shard in gone)
    return {shard: at for shard, at in positions.items() if shard not in gone}, _lost(source, lost)


def _lost(source: "RecordSource", sentences: tuple[str, ...]) -> tuple[str, ...]:
    """Return sentences on what was lost; raise RecordsLost with the first where the source says to stop."""
    if sentences and source.fail_on_data_loss:
        raise RecordsLost(f"{sentences[0]}. To go on without it say fail_on_data_loss=False")
    return sentences


def unwatched(
    source: "RecordSource", stream: "Stream", positions: Mapping[str, str], millis: int
) -> tuple[str, ...]:
    """Return a sentence on each shard that has no record as its position and that nobody looked at for too long.

    Its reading begins with the oldest record there is, and that shows no sign of those that were trimmed.

    Args:
        source: Source.
        stream: Stream.
        positions: where the reader is.
        millis: how long nobody looked.

    Raises:
        RecordsLost: there is one, and the source says to stop.
    """
    if millis <= stream.retention_hours * 3_600_000:
        return ()
    lost = tuple(
        f"nothing of shard {task.shard} of {source.stream} is in the table, and nobody looked at it for "
        f"{millis / 3_600_000:.0f} hours; the stream keeps records for {stream.retention_hours}, and what came "
        "before may have been trimmed unread"
        for task in plan(stream, positions, 1)
        if not task.position.isdigit()
    )
    return _lost(source, lost)


def advance(stream: "Stream", positions: Mapping[str, str], ends: Mapping[str, str | None]) -> dict[str, str]:
    """Return the positions after a micro-batch.

    A shard that has ended is forgotten when the service has forgotten it: nobody asks for it any more.

    Args:
        stream: Stream of the batch.
        positions: before it.
        ends: shard id to where the batch stopped; None where nothing was read and nothing was there before.
    """
    moved = {**positions, **{shard: at for shard, at in ends.items() if at}}
    return {shard: at for shard, at in sorted(moved.items()) if at != END or shard in stream.shards}


def forward(positions: Mapping[str, str], ends: Mapping[str, str | None]) -> dict[str, str]:
    """Return positions moved to where something ended, each shard's only forward.

    Args:
        positions: shard id to position.
        ends: shard id to position, or None for none.
    """
    moved = {shard: end for shard, end in ends.items() if end and not further(positions.get(shard, OLDEST), end)}
    return {**positions, **moved}


def later(position: str, sequence: str) -> bool:
    """Tell whether a sequence number of a shard lies behind a position of that shard."""
    if position == END:
        return False
    return not position.isdigit() or int(sequence) > int(position)


def further(position: str, other: str) -> bool:
    """Tell whether a position of a shard lies behind another position of that shard."""
    if position == END:
        return other != END
    return position.isdigit() and later(other, position)
