"""Reading records: iterators and records. Each operation takes (store, members of the request, region)."""

import json
from datetime import UTC, datetime
from typing import Any

from workbench_standins.kinesis import sequence, tokens
from workbench_standins.kinesis.limits import MIB
from workbench_standins.kinesis.refusal import Refused, invalid, too_fast
from workbench_standins.kinesis.request import Asked
from workbench_standins.kinesis.store import ACCOUNT, WRITABLE, Store, shard_of
from workbench_standins.kinesis.stream import Shard, Stream

ITERATOR_LIFE_MILLIS = 300_000
ANSWER_RECORDS, ANSWER_BYTES = 10_000, 10 * MIB


def get_shard_iterator(store: Store, asked: Asked, region: str) -> dict[str, Any]:
    """Return an iterator: a position in a shard, valid for five minutes."""
    stream = store.stream(asked, region, states=WRITABLE)
    shard, millis = shard_of(stream, asked["ShardId"]), store.clock.millis()
    position = _position(stream, shard, asked, millis)
    if not shard.iterators.open(millis, 1):
        raise too_fast(shard, stream)
    shard.iterators.take()
    return {"ShardIterator": _iterator(store, stream, shard, position, millis)}


def get_records(store: Store, asked: Asked, region: str, *, empty: bool = False, late_end: bool = False) -> bytes:
    """Read a shard from an iterator on.

    A closed shard's last records come with its end: no NextShardIterator, and ChildShards.
    MillisBehindLatest is the age of the next record; it is 0 where there is none, and only there.

    Args:
        store: the streams.
        asked: the request.
        region: the caller's.
        empty: fault script: return no record although there are some.
        late_end: fault script: return the end of a closed shard one answer after its last record.

    Returns:
        bytes of the answer's JSON text.
    """
    stream, shard, position, millis = _resolve(store, asked)
    if not (shard.reads.open(millis, 1) and shard.bytes_out.open(millis)):
        raise too_fast(shard, stream)
    most = 0 if empty else asked.get("Limit") or ANSWER_RECORDS
    records, position, size, next_arrival = shard.read(position, records=most, size=ANSWER_BYTES)
    shard.reads.take()
    shard.bytes_out.take(size)
    behind = 0 if next_arrival is None else max(1, millis - next_arrival)
    answer: dict[str, Any] = {"MillisBehindLatest": behind}
    if shard.closed_millis is not None and next_arrival is None and not (late_end and records):
        answer |= {"NextShardIterator": None, "ChildShards": stream.children(shard)}
    else:
        answer["NextShardIterator"] = _iterator(store, stream, shard, position, millis)
    return b'{"Records":[' + b",".join(records) + b"]," + json.dumps(answer)[1:].encode()


def _resolve(store: Store, asked: Asked) -> tuple[Stream, Shard, int, int]:
    """Return (stream, shard, position, time) of an iterator."""
    try:
        issued, incarnation, index, position = tokens.unseal(tokens.ITERATOR, store.key, asked["ShardIterator"])
    except ValueError:
        raise invalid("Invalid ShardIterator.") from None
    millis = store.clock.millis()
    if millis - issued > ITERATOR_LIFE_MILLIS:
        raise expired(issued, millis)
    stream, name = store.incarnation(incarnation), sequence.shard_id(index)
    if stream is None or stream.status not in WRITABLE:
        raise Refused("ResourceNotFoundException", f"The stream of shard {name} under account {ACCOUNT} is gone.")
    return stream, shard_of(stream, name), position, millis


def expired(issued: int, millis: int) -> Refused:
    """Return the ExpiredIteratorException of an iterator of one time at another, both in milliseconds."""
    then, now = (f"{datetime.fromtimestamp(at / 1000, UTC):%a %b %d %H:%M:%S UTC %Y}" for at in (issued, millis))
    return Refused(
        "ExpiredIteratorException",
        f"Iterator expired. The iterator was created at time {then} while right now it is {now} which is further "
        f"in the future than the tolerated delay of {ITERATOR_LIFE_MILLIS} milliseconds.",
    )


def _position(stream: Stream, shard: Shard, asked: Asked, millis: int) -> int:
    kind, start = asked["ShardIteratorType"], asked.get("StartingSequenceNumber")
    if kind.endswith("SEQUENCE_NUMBER") != (start is not None):
        raise invalid(
            "Must either specify (1) AT_SEQUENCE_NUMBER or AFTER_SEQUENCE_NUMBER and StartingSequenceNumber or "
            "(2) TRIM_HORIZON, LATEST or AT_TIMESTAMP and no StartingSequenceNumber. "
            f"Request specified {kind} and {'a' if start is not None else 'no'} StartingSequenceNumber."
        )
    if kind == "TRIM_HORIZON":
        return 0
    if kind == "LATEST":
        return stream.counter
    if kind == "AT_TIMESTAMP":
        if asked.get("Timestamp") is None:
            raise invalid("Must specify timestampInMillis parameter for iterator of type AT_TIMESTAMP.")
        moment = round(asked["Timestamp"] * 1000)
        if moment > millis:
            raise invalid(
                "The timestampInMillis parameter cannot be greater than the currentTimestampInMillis. "
                f"timestampInMillis: {moment}, currentTimestampInMillis: {millis}"
            )
        counter = shard.counter_at(max(0, moment))
        return stream.counter if counter is None else counter
    return _counter(stream, shard, asked["StartingSequenceNumber"]) + (kind == "AFTER_SEQUENCE_NUMBER")


def _counter(stream: Stream, shard: Shard, text: str) -> int:
    where = f"StartingSequenceNumber {text} used in GetShardIterator on shard {shard.id} in stream {stream.name}"
    try:
        base, counter, _, index = sequence.parse(text)
    except ValueError:
        raise invalid(f"{where} under account {ACCOUNT} is invalid.") from None
    if index != shard.index:
        raise invalid(
            f"Invalid StartingSequenceNumber. It encodes {sequence.shard_id(index)}, while it was used in a call "
            f"to a shard with {shard.id}"
        )
    if base != shard.base:
        raise invalid(f"{where} under account {ACCOUNT} is invalid because it did not come from this stream.")
    return counter


def _iterator(store: Store, stream: Stream, shard: Shard, position: int, millis: int) -> str:
    return tokens.seal(
        tokens.ITERATOR,
        store.key,
        millis=millis,
        incarnation=stream.incarnation,
        shard=shard.index,
        position=position,
    )
