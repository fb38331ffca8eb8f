"""What stands before a value: which schema it was written with, by a registry's id or by Avro's own fingerprint.

Source: Confluent's wire format; AWSSchemaRegistryConstants, MessageIndexFinder and ProtobufWireFormatEncoder of
awslabs/aws-glue-schema-registry; avro.apache.org, Specification 1.12, Single object encoding.
"""

import json
import re
import uuid
import zlib
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.records import varints
from workbench.records.types import Bad

CONFLUENT, GLUE = "confluent", "glue"
FRAMINGS = (CONFLUENT, GLUE)  # of registries
SINGLE_OBJECT = "single_object"  # of Avro alone
BEGIN = {CONFLUENT: b"\x00", GLUE: b"\x03", SINGLE_OBJECT: b"\xc3\x01"}
# that byte and four of an id; that byte, one of compression, and a UUID; two bytes and eight of a fingerprint
HEADER = {CONFLUENT: 5, GLUE: 18, SINGLE_OBJECT: 10}
PLAIN, ZLIB = 0, 5
LARGEST = 2**28  # bytes of a value that came compressed
NAMED = {
    CONFLUENT: "a zero and the id of a schema", GLUE: "the byte 3, a compression and the UUID of a schema",
    SINGLE_OBJECT: "the bytes C3 01 and the fingerprint of a schema",
}  # fmt: skip
FINGERPRINT = re.compile("[0-9a-f]{16}")


def of_id(number: Any) -> str:
    """Return the framing whose schemas have such an id.

    Whole numbers are Confluent's, UUIDs are Glue's, sixteen hexadecimal digits fingerprints of single objects.

    Raises:
        ValueError: it is none of these.
    """
    if type(number) is int and 0 <= number < 2**32:
        return CONFLUENT
    if isinstance(number, str) and FINGERPRINT.fullmatch(number):
        return SINGLE_OBJECT
    try:
        if str(uuid.UUID(number)) == number:
            return GLUE
    except (ValueError, TypeError, AttributeError):
        pass
    raise ArgumentError(
        f"{number!r} is not the id of a writer's schema: a whole number of 32 bits (Confluent), a UUID as "
        "text, in lower case and with dashes (Glue), or a fingerprint as 16 hexadecimal digits (single objects)"
    )


def fingerprint(schema: str) -> str:
    """Return the CRC-64-AVRO fingerprint of an Avro schema's canonical form: the bytes of a header, hexadecimal.

    Args:
        schema: JSON text of a schema that was looked at before.
    """
    from fastavro import schema as fast

    return fast.fingerprint(fast.to_parsing_canonical_form(json.loads(schema)), "CRC-64-AVRO")


def opened(raw: bytes, framings: tuple[str, ...]) -> tuple[int | str, bytes]:
    """Return (id of the schema, what follows) of a record in one of some framings; or raise Bad."""
    framing = next((name for name in framings if raw.startswith(BEGIN[name])), None)
    if framing is None or len(raw) < HEADER[framing]:
        raise Bad("not_framed", f"the record does not begin with {', or '.join(NAMED[name] for name in framings)}")
    body = raw[HEADER[framing] :]
    if framing == CONFLUENT:
        return int.from_bytes(raw[1:5], "big"), body
    if framing == SINGLE_OBJECT:
        return raw[2:10].hex(), body
    if raw[1] not in (PLAIN, ZLIB):
        raise Bad("not_framed", f"the compression is {raw[1]}, expected {PLAIN} (none) or {ZLIB} (zlib)")
    return str(uuid.UUID(bytes=raw[2:18])), _inflated(body) if raw[1] == ZLIB else body


def _inflated(body: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        value = stream.decompress(body, LARGEST)
    except zlib.error as error:
        raise Bad("not_framed", f"the compressed value cannot be read: {error}") from None
    if not stream.eof:
        more = f"has more than {LARGEST} bytes" if stream.unconsumed_tail else "ends before its end"
        raise Bad("not_framed", f"the compressed value {more}")
    return value


def message_of(framing: str, body: bytes) -> tuple[list[int], bytes]:
    """Return (where a Protobuf record's message is in its file, its bytes); or raise Bad."""
    number, place = _varint(body, 0)
    if framing == GLUE:
        return [number], body[place:]
    count, path = varints.signed(number), list[int]()
    if count < 0 or count > len(body):
        raise Bad("not_framed", f"the record names its message by {count} numbers")
    for _ in range(count):
        number, place = _varint(body, place)
        path.append(varints.signed(number))
    return path or [0], body[place:]


def place_of(framing: str, descriptor: Any) -> list[int]:
    """Return where a message is in its file, as a record says it: Confluent counts in each message, Glue all."""
    if framing == GLUE:
        names, more = [], list(descriptor.file.message_types_by_name.values())
        while more:
            message = more.pop()
            names.append(message.full_name)
            more += message.nested_types
        return [sorted(names).index(descriptor.full_name)]
    above = descriptor.containing_type
    beside = above.nested_types if above else descriptor.file.message_types_by_name.values()
    names = [message.full_name for message in beside if not message.GetOptions().map_entry]
    return [*(place_of(framing, above) if above else ()), names.index(descriptor.full_name)]


def _varint(data: bytes, place: int) -> tuple[int, int]:
    try:
        return varints.unsigned(data, place, most_bytes=5)
    except (IndexError, OverflowError):
        raise Bad("not_framed", "the record does not say which message it is") from None
