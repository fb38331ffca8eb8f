"""Writing records, one or many. Each operation takes (store, members of the request, region)."""

import binascii
import json
from bisect import bisect_left
from collections.abc import Callable, Mapping
from hashlib import md5
from json.encoder import encode_basestring_ascii
from typing import Any

from workbench_standins.kinesis import request, sequence, tokens
from workbench_standins.kinesis.limits import MIB
from workbench_standins.kinesis.refusal import Refused, constraint, invalid, rate_exceeded, too_fast
from workbench_standins.kinesis.request import Asked
from workbench_standins.kinesis.store import WRITABLE, Store
from workbench_standins.kinesis.stream import Shard, Stream

THROUGHPUT = "ProvisionedThroughputExceededException"
Prepared = tuple[int, bytes, bytes, int]  # hash key, partition key as JSON, data as base64, size in bytes


def put_record(store: Store, asked: Asked, region: str) -> dict[str, Any]:
    """Put one record; a shard over its rate refuses the call."""
    stream = store.stream(asked, region, states=WRITABLE)
    prepared = _prepare(stream, asked)
    if asked.get("SequenceNumberForOrdering") is not None:
        try:
            sequence.parse(asked["SequenceNumberForOrdering"])
        except ValueError:
            raise invalid(f"SequenceNumberForOrdering {asked['SequenceNumberForOrdering']} is invalid.") from None
    millis = store.clock.millis()
    shard = _shard_of_key(stream, prepared[0])
    if _full(shard, prepared[-1], millis):
        raise too_fast(shard, stream)
    return {
        "ShardId": shard.id,
        "SequenceNumber": _store(stream, shard, prepared, millis, _arrival(millis)),
        "EncryptionType": "NONE",
    }


def put_records(
    store: Store, asked: Asked, region: str, *, fails: Callable[[str], str | None] | None = None
) -> bytes:
    """Put up to 500 records in their order; each is stored or refused by itself.

    Args:
        store: the streams.
        asked: the request.
        region: the caller's.
        fails: fault script: function of a shard's id to the error code by which a record is refused, or None.

    Returns:
        bytes of the answer's JSON text.
    """
    stream = store.stream(asked, region, states=WRITABLE)
    prepared = _prepare_all(stream, asked["Records"])
    millis, answers, failed = store.clock.millis(), [], 0
    arrival = _arrival(millis)
    for record in prepared:
        shard = _shard_of_key(stream, record[0])
        code = fails and fails(shard.id)
        if not code and _full(shard, record[-1], millis):
            code = THROUGHPUT
        if code:
            failed += 1
            message = rate_exceeded(shard, stream) if code == THROUGHPUT else "Internal service failure."
            answers.append(json.dumps({"ErrorCode": code, "ErrorMessage": message}))
        else:
            number = _store(stream, shard, record, millis, arrival)
            answers.append(f'{{"SequenceNumber":"{number}","ShardId":"{shard.id}"}}')
    return f'{{"FailedRecordCount":{failed},"EncryptionType":"NONE","Records":[{",".join(answers)}]}}'.encode()


def shards_of(store: Store, operation: str, asked: Any, region: str) -> set[str]:
    """Return the ids of a call's shards, for faults of some shards; none where the call is invalid."""
    try:
        if operation == "GetRecords":
            return {sequence.shard_id(tokens.unseal(tokens.ITERATOR, store.key, asked["ShardIterator"])[2])}
        if operation in ("PutRecord", "PutRecords"):
            stream = store.stream(asked, region)
            entries = asked["Records"] if operation == "PutRecords" else [asked]
            return {
                _shard_of_key(stream, _hash_key(entry, entry["PartitionKey"].encode())).id for entry in entries
            }
        members = ("ShardId", "ShardToSplit", "ShardToMerge", "AdjacentShardToMerge")
        return {asked[member] for member in members if asked.get(member)}
    except (Refused, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return set()


def _prepare_all(stream: Stream, entries: Any) -> list[Prepared]:
    """Check a PutRecords as a whole; nothing is stored of an invalid one."""
    most, size = stream.limits.call_records_in, stream.limits.call_bytes_in
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise request.wrong_type("Records", "a list of objects")
    if not entries:
        raise constraint("records", None, "Member must have length greater than or equal to 1")
    if most is not None and len(entries) > most:
        raise constraint("records", None, f"Member must have length less than or equal to {most}")
    prepared = [_prepare(stream, entry, "records.{}.member.", n) for n, entry in enumerate(entries, 1)]
    if size is not None and sum(record[-1] for record in prepared) > size:
        raise invalid(f"Records size exceeds {size // MIB} MB limit")
    return prepared


def _prepare(stream: Stream, entry: Mapping[str, Any], where: str = "", n: int = 0) -> Prepared:
    key, data = entry.get("PartitionKey"), entry.get("Data")
    if key is None or data is None:
        member = "partitionKey" if key is None else "data"
        raise constraint(where.format(n) + member, None, "Member must not be null")
    if not (isinstance(key, str) and key.isascii() and 0 < len(key) <= 256):  # as most keys are
        request.text("PartitionKey", key)
    if not isinstance(data, str):
        raise request.wrong_type("Data", "a base64 text")
    try:
        length = len(binascii.a2b_base64(data, strict_mode=True)) if data else 0
    except ValueError as error:  # binascii.Error is one
        raise request.wrong_type("Data", f"a base64 text ({error})") from None
    if stream.record_bytes is not None and length > stream.record_bytes:
        raise constraint(
            where.format(n) + "data", None, f"Member must have length less than or equal to {stream.record_bytes}"
        )
    encoded = key.encode()
    return _hash_key(entry, encoded), encode_basestring_ascii(key).encode(), data.encode(), length + len(encoded)


def _hash_key(entry: Mapping[str, Any], encoded: bytes) -> int:
    """Return the hash key of a record; its partition key is given as UTF-8."""
    explicit = entry.get("ExplicitHashKey")
    if explicit is None:
        return int.from_bytes(md5(encoded, usedforsecurity=False).digest(), "big")
    request.text("ExplicitHashKey", explicit)
    if int(explicit) >= sequence.HASH_KEYS:
        raise invalid(
            f"Invalid ExplicitHashKey. ExplicitHashKey must be in the range: [0, 2^128-1]. Specified {explicit}"
        )
    return int(explicit)


def _shard_of_key(stream: Stream, key: int) -> Shard:
    lasts, shards = stream.route()
    return shards[bisect_left(lasts, key)]


def _full(shard: Shard, size: int, millis: int) -> bool:
    return not (shard.records_in.open(millis, 1) and shard.bytes_in.open(millis, size))


def _arrival(millis: int) -> bytes:
    """Return the text between number and data of every record of a call."""
    return b'","ApproximateArrivalTimestamp":%.3f,"Data":"' % (millis / 1000)


def _store(stream: Stream, shard: Shard, prepared: Prepared, millis: int, arrival: bytes) -> str:
    """Append a record and return its sequence number as text."""
    _, key, data, size = prepared
    shard.records_in.take()
    shard.bytes_in.take(size)
    counter, stream.counter = stream.counter, stream.counter + 1
    second = max(millis // 1000, shard.created_second)
    number = str(sequence.number(shard.base, counter, second))
    fragment = b"".join((b'{"SequenceNumber":"', number.encode(), arrival, data, b'","PartitionKey":', key, b"}"))
    shard.append(counter, millis, fragment, size)
    return number
