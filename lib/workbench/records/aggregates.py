"""Aggregates: records that the Kinesis Producer Library, or who writes like it, packed into one.

Source: aggregation-format.md of awslabs/amazon-kinesis-producer: four bytes, a Protobuf message, and the MD5 of
that message. The message has a table of partition keys, one of explicit hash keys, and the records, each with the
places of its keys in the tables. What AWS's own consumers make of it: AggregatorUtil of
awslabs/amazon-kinesis-client.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from workbench.records import varints
from workbench.records.types import Bad

MAGIC = b"\xf3\x89\x9a\xc2"  # no beginning of a text: it is not UTF-8
DIGEST = 16
COLUMN = "sub_sequence_number"  # the lineage column that takes the place of a record within its aggregate
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5  # wire types
MESSAGE = {1: LENGTH, 2: LENGTH, 3: LENGTH}  # partition keys, explicit hash keys, records
RECORD = {1: VARINT, 2: VARINT, 3: LENGTH, 4: LENGTH}  # places of its two keys, data, tags
LARGEST_FIELD, LARGEST_NUMBER = 2**29 - 1, 2**64 - 1

Within = tuple[bytes, str | None, tuple[str, str] | None]


def among(data: list[bytes]) -> bool:
    """Tell whether any of some records begins like an aggregate; the maximum alone says no where all are texts."""
    return bool(data) and max(data) >= MAGIC and any(raw.startswith(MAGIC) for raw in data)


def records(raw: bytes, key: str | None) -> list[Within]:
    """Return the records within a record of a stream; one that is not an aggregate holds itself alone.

    As for AWS's consumers, an aggregate with a wrong digest is an ordinary record of those bytes. An aggregate
    whose message cannot be read stays whole too, with the reason.

    Args:
        raw: its bytes.
        key: its partition key.

    Returns:
        list of (bytes, partition key, None); where something is wrong with the record, of (bytes, partition key or
        None, (reason, message)).
    """
    message = _message(raw)
    if message is None:
        return [(raw, key, None)]
    try:
        keys, hash_keys, packed = _unpacked(message)
    except Bad as bad:
        return [(raw, key, (bad.reason, str(bad)))]
    return [_within(keys, hash_keys, *record) for record in packed]


def reason(raw: bytes) -> tuple[str, str] | None:
    """Return (reason, message) of an aggregate that no source took apart; None where a record is not one."""
    message = _message(raw)
    if message is None:
        return None
    try:
        _, _, packed = _unpacked(message)
    except Bad as bad:
        return bad.reason, str(bad)
    return "aggregated", (
        f"{len(packed)} records that the Kinesis Producer Library packed into one (F3 89 9A C2 …); they are taken "
        "apart where a stream of Kinesis brings them, and not within another aggregate"
    )


def _message(raw: bytes) -> bytes | None:
    """Return the message of an aggregate; None where a record is not one, or is a damaged one."""
    if not raw.startswith(MAGIC):
        return None
    message = raw[len(MAGIC) : -DIGEST]
    return message if hashlib.md5(message, usedforsecurity=False).digest() == raw[-DIGEST:] else None


def _within(keys: list[bytes], hash_keys: int, key_at: int, hash_key_at: int, data: bytes) -> Within:
    """Return a record with the key that it names; as `records`."""
    if key_at >= len(keys):
        return data, None, _unknown("partition key", key_at, len(keys))
    key = keys[key_at].decode("utf-8", "replace")
    if hash_key_at >= hash_keys:
        return data, key, _unknown("explicit hash key", hash_key_at, hash_keys)
    return data, key, None


def _unknown(what: str, place: int, count: int) -> tuple[str, str]:
    return "unknown_key", f"the record names the {what} {place}, counted from 0, of an aggregate that has {count}"


def _unpacked(message: bytes) -> tuple[list[bytes], int, list[tuple[int, int, bytes]]]:
    """Return (partition keys, number of explicit hash keys, records) of a message; or raise Bad.

    A record is (place of its partition key, place of its explicit hash key or -1, data). The tables may come
    behind the records. Fields that the format does not have are passed over, as every reader of Protobuf does.
    """
    keys: list[bytes] = []
    packed: list[tuple[int, int, bytes]] = []
    hash_keys = 0
    try:
        for number, value in _fields(message, MESSAGE):
            if number == 1:
                keys.append(value)
            elif number == 2:
                hash_keys += 1
            elif number == 3:
                packed.append(_record(value))
    except IndexError:
        raise _unreadable("a number ends behind its end") from None
    except OverflowError as error:
        raise _unreadable(str(error)) from None
    if not packed:
        raise _unreadable("it has no record")
    return keys, hash_keys, packed


def _record(message: bytes) -> tuple[int, int, bytes]:
    key_at, hash_key_at, data = None, -1, None
    for number, value in _fields(message, RECORD):
        if number == 3:
            data = value
        elif number == 1:
            key_at = value
        elif number == 2:
            hash_key_at = value
    if key_at is None or data is None:
        raise _unreadable(f"a record has no {'data' if data is None else 'partition key'}")
    return key_at, hash_key_at, data


def _fields(message: bytes, known: dict[int, int]) -> Iterator[tuple[int, Any]]:
    """Yield (number, value) of a message's fields; a known one has the wire type that it should have."""
    place, end = 0, len(message)
    while place < end:
        tag = message[place]
        place += 1
        if tag > 0x7F:
            tag, place = varints.unsigned(message, place - 1, most_bytes=5)
        number, wire = tag >> 3, tag & 7
        if not 0 < number <= LARGEST_FIELD:
            raise _unreadable(f"a field has the number {number}")
        if known.get(number, wire) != wire:
            raise _unreadable(f"field {number} has wire type {wire}, expected {known[number]}")
        value: Any
        if wire in (VARINT, LENGTH):
            value = message[place]
            place += 1
            if value > 0x7F:
                value, place = varints.unsigned(message, place - 1)
                if value > LARGEST_NUMBER:
                    raise _unreadable(f"field {number} has a number of more than 64 bits")
        elif wire in (EIGHT_BYTES, FOUR_BYTES):
            value = 8 if wire == EIGHT_BYTES else 4
        else:
            raise _unreadable(f"field {number} has wire type {wire}")
        if wire != VARINT:
            begin, place = place, place + value
            if place > end:
                raise _unreadable(f"field {number} ends {place - end} bytes behind its end")
            value = message[begin:place]
        yield number, value


def _unreadable(why: str) -> Bad:
    return Bad("aggregated", f"an aggregate of the Kinesis Producer Library that cannot be taken apart: {why}")
