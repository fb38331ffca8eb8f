"""Reading one shard from a position on: what GetRecords gives, as columns, and where the reading stopped.

Aggregates are taken apart here, so that all behind it knows records alone. Positions are those of whole ones: a
reading neither stops nor begins within an aggregate.
"""

import binascii
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, cast

from workbench.records import aggregates
from workbench.streams.readers import shards, sources

CALL = 10_000  # records an answer holds at most
_FIELDS = ("Data", "SequenceNumber", "PartitionKey", "ApproximateArrivalTimestamp")
IDLE_SECONDS = 30.0  # how long empty answers are taken although records follow


@dataclass(frozen=True)
class Records:
    """Records of one answer, in the shard's order, a list a column.

    Attributes:
        data: bytes; None for a record of Kafka without a value, which is not an empty one.
        sequence: sequence numbers, decimal text; those that came in one aggregate have the same.
        key: partition keys; None for a record of Kafka without one.
        arrived: approximate time of arrival, seconds since 1970; None for a record of Kafka without a usable one.
        within: place of each in the aggregate that it came in, 0 for one that came alone; None where all did.
        wrong: place in these lists to (reason, message), of records that become no rows whatever their bytes say.
    """

    data: list[bytes | None]
    sequence: list[str]
    key: list[str | None]
    arrived: list[float | None]
    within: list[int] | None = None
    wrong: dict[int, tuple[str, str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.data)

    def places(self) -> list[int]:
        """Return the place of each in its aggregate; 0 for those that came alone."""
        return [0] * len(self) if self.within is None else self.within


@dataclass
class Progress:
    """How far a reading came; complete when the reading is.

    Attributes:
        position: as in the positions; None when nothing was read from a shard without a position.
        behind_millis: age of the first record that is left; 0 when none is.
        calls: calls of GetRecords.
        gap: what may have been lost, in words; else None.
        unbroken: whether the record of the position was still there, so that nothing behind it can be missing.
        passed: the position, where it lies behind the last record: what has no record was passed over.
    """

    position: str | None
    behind_millis: int = 0
    calls: int = 0
    gap: str | None = None
    unbroken: bool = False
    passed: str | None = None


def read(
    source: sources.Source,
    task: shards.Task,
    progress: Progress,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Any] = time.sleep,
) -> Iterator[Records]:
    """Read a shard until the task's limit, the shard's end, or until nothing is left; yield Records.

    An aggregate is taken whole, so there may be more records than the limit.

    A position is opened at the record it names, which is then dropped: that the service still has this record is
    the only proof that none behind it was trimmed, for a position older than the trim horizon is answered like
    any other.

    Args:
        source: Source.
        task: Task.
        progress: Progress, kept up to date; a caller that stops early knows from it where it was.
        clock: monotonic seconds; for tests.
        sleep: function that waits; for tests.

    Raises:
        RecordsLost: records that followed the position may have been trimmed, and the source says to stop; or
            a reading that has to be repeated cannot be.
        StreamNotFound: the stream or the shard is gone.
    """
    iterator, missing, since = _iterator(source, task, progress), task.limit, clock()
    awaited = task.position if task.position.isdigit() else None
    while iterator and (missing > 0 or awaited):
        answer = _answer(source, iterator, min(CALL, max(missing, 1) + bool(awaited)))
        if answer is None:  # the iterator expired
            iterator = _iterator(source, task, progress)
            awaited = progress.position if (progress.position or "").isdigit() else None
            continue
        progress.calls += 1
        records, iterator, behind = answer
        progress.behind_millis = behind
        if len(records) and awaited:
            records = _continued(source, task, progress, records, awaited)
            awaited = None
        given = len(records)
        records, taken, done = _cut(task, records, missing)
        if taken < given:  # the service counts what it gave, and not all of it is taken
            progress.behind_millis = max(behind, 1)
        if len(records):
            missing -= len(records)
            since = clock()
            progress.position = records.sequence[-1]
            yield records
        if done:
            break
        if iterator is None:
            _ended(source, task, progress, awaited)
            break
        if not behind and not task.closed:
            break
        if not len(records):
            if clock() - since > IDLE_SECONDS:
                break
            sleep(min(0.2, 0.01 * progress.calls))  # five calls a second are allowed; few empty ones are usual
    if task.upto is not None and progress.position != task.upto:
        raise shards.RecordsLost(
            f"shard {task.shard} of {source.stream} was read up to {task.upto} before and now only up to "
            f"{progress.position}: the reading cannot be repeated"
        )


def _iterator(source: sources.Source, task: shards.Task, progress: Progress) -> str | None:
    """Return an iterator where the reading stands, on the last record that was read."""
    at = progress.position or task.position
    asked: dict[str, Any] = {"StreamName": source.stream, "ShardId": task.shard}
    if at.isdigit():
        asked |= {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "StartingSequenceNumber": at}
    elif at.startswith("@"):
        asked |= {"ShardIteratorType": "AT_TIMESTAMP", "Timestamp": int(at[1:]) / 1000}
    else:
        asked |= {"ShardIteratorType": "TRIM_HORIZON"}
    try:
        return sources.call(source, "get_shard_iterator", **asked)["ShardIterator"]
    except Exception as error:
        if at.startswith("@") and "currentTimestampInMillis" in str(error):
            return None  # the service's clock is behind ours: nothing of that time is there yet
        raise


def _answer(source: sources.Source, iterator: str, limit: int) -> tuple[Records, str | None, int] | None:
    """Return (Records, next iterator or None, milliseconds behind), or None when the iterator had expired."""
    import orjson  # of the extra `streams`; answers are megabytes, and this is what reading them costs

    try:
        body = sources.call(source, "get_records", ShardIterator=iterator, Limit=limit)["Body"]
    except Exception as error:
        if getattr(error, "response", {}).get("Error", {}).get("Code") == sources.EXPIRED:
            return None
        raise
    answer = orjson.loads(body)
    data, sequence, key, arrived = (list(map(itemgetter(name), answer["Records"])) for name in _FIELDS)
    records = Records(list(map(binascii.a2b_base64, data)), sequence, key, arrived)
    return records, answer.get("NextShardIterator"), answer.get("MillisBehindLatest", 0)


def _continued(
    source: sources.Source, task: shards.Task, progress: Progress, records: Records, awaited: str
) -> Records:
    """Return the records behind the awaited one; without it something may be missing."""
    if records.sequence[0] == awaited:
        progress.unbroken = True
        return _slice(records, 1, None)
    if not task.seen or progress.position != task.position:
        _lost(
            source,
            progress,
            f"shard {task.shard} of {source.stream}: the record of position {awaited} is no longer there, the "
            f"oldest one is {records.sequence[0]}; what came between may have been trimmed unread",
        )
    return _slice(records, sum(not shards.later(awaited, number) for number in records.sequence), None)


def _ended(source: sources.Source, task: shards.Task, progress: Progress, awaited: str | None) -> None:
    if awaited and (not task.seen or progress.position != task.position):
        _lost(
            source,
            progress,
            f"shard {task.shard} of {source.stream} ended, and the record of position {awaited} is no longer "
            "there; what came behind it may have been trimmed unread",
        )
    if task.upto is None or task.upto == shards.END:
        progress.position = shards.END


def _lost(source: sources.Source, progress: Progress, what: str) -> None:
    if source.fail_on_data_loss:
        raise shards.RecordsLost(f"{what}. To go on without it say fail_on_data_loss=False")
    progress.gap = what


def _cut(task: shards.Task, records: Records, limit: int) -> tuple[Records, int, bool]:
    """Return (what the task takes of the records, of how many it is taken, whether the task is done)."""
    if task.upto is None:
        records, taken = _apart(records, limit)
        return records, taken, len(records) >= limit
    if task.upto != shards.END and len(records):
        last = int(task.upto)
        records = _slice(records, 0, sum(int(number) <= last for number in records.sequence))
    done = bool(len(records)) and records.sequence[-1] == task.upto
    return *_apart(records), done


def _apart(records: Records, most: int | None = None) -> tuple[Records, int]:
    """Return (records with those within aggregates in the place of these, how many were taken to have `most`)."""
    data = cast(list[bytes], records.data)  # a record of Kinesis has a value
    if not aggregates.among(data):
        first = records if most is None or len(records) <= most else _slice(records, 0, most)
        return first, len(first)
    places: list[int] = []
    apart, taken = Records([], [], [], [], places), 0
    for raw, sequence, key, arrived in zip(data, records.sequence, records.key, records.arrived, strict=True):
        if most is not None and len(apart) >= most:
            break
        taken += 1
        for place, (within, own_key, wrong) in enumerate(aggregates.records(raw, key)):
            if wrong:
                apart.wrong[len(apart)] = wrong
            apart.data.append(within)
            apart.sequence.append(sequence)
            apart.key.append(own_key)
            apart.arrived.append(arrived)
            places.append(place)
    return apart, taken


def _slice(records: Records, start: int, stop: int | None) -> Records:
    within = slice(start, stop)
    return Records(records.data[within], records.sequence[within], records.key[within], records.arrived[within])
