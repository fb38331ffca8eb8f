"""Avro's binary values, type by type: the bytes that the specification gives, fastavro's reading of them, and ours."""

import io
import json
import struct
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pytest

from workbench import streams

DAYS, MILLIS = 18_262, 1_577_836_800_000  # from 1970-01-01 to 2020-01-01
AT, LOCAL = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1)
ENUM = {"type": "enum", "name": "Suit", "symbols": ["SPADES", "HEARTS"]}
FIXED = {"type": "fixed", "name": "Two", "size": 2}
PAIR = {
    "type": "record",
    "name": "Pair",
    "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}],
}
LONGS = {"type": "array", "items": "long"}
EMPTY = {"type": "record", "name": "Empty", "fields": []}


def zigzag(number):
    number, found = (number << 1) ^ (number >> 63), b""
    while number > 0x7F:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def text(value):
    return zigzag(len(value.encode())) + value.encode()


def logical(base, name, /, **more):
    return {"type": base, "logicalType": name, **more}


def decimal(precision, scale=0, base="bytes", **more):
    return logical(base, "decimal", precision=precision, scale=scale, **more)


def schema(kind, *others):
    fields = [{"name": name, "type": one} for name, one in zip("vwxyz", (kind, *others), strict=False)]
    return json.dumps({"type": "record", "name": "One", "fields": fields})


def parsed(kind, *data):
    return streams.Avro(schema(kind)).parser()(list(data))


def by_fastavro(kind, data):
    known = fastavro.parse_schema(json.loads(schema(kind)))
    return fastavro.schemaless_reader(io.BytesIO(data), known, None)["v"]


VALUES = [  # type, bytes, value; the first ones are examples of the specification itself
    ("int", b"\x00", 0),
    ("int", b"\x01", -1),
    ("int", b"\x02", 1),
    ("int", b"\x7f", -64),
    ("int", b"\x80\x01", 64),
    ("string", b"\x06foo", "foo"),
    (PAIR, b"\x36\x06foo", {"a": 27, "b": "foo"}),
    (LONGS, b"\x04\x06\x36\x00", [3, 27]),
    (["null", "string"], b"\x00", None),
    (["null", "string"], b"\x02\x02a", "a"),
    ("int", zigzag(-(2**31)), -(2**31)),
    ("int", zigzag(2**31 - 1), 2**31 - 1),
    ("int", b"\x82\x80\x00", 1),  # longer than it has to be
    ("long", zigzag(-(2**63)), -(2**63)),
    ("long", zigzag(2**63 - 1), 2**63 - 1),
    ("boolean", b"\x00", False),
    ("boolean", b"\x01", True),
    ("float", struct.pack("<f", 1.5), 1.5),
    ("float", struct.pack("<f", float("-inf")), float("-inf")),
    ("double", struct.pack("<d", 0.1), 0.1),
    ("bytes", b"\x04\x00\xff", b"\x00\xff"),
    ("string", text("ü\0😀"), "ü\0😀"),
    (FIXED, b"\x00\xff", b"\x00\xff"),
    (ENUM, b"\x02", "HEARTS"),
    ({"type": "map", "values": "int"}, b"\x02" + text("a") + b"\x04\x00", {"a": 2}),
    ({"type": "map", "values": "int"}, b"\x01\x06" + text("a") + b"\x04\x00", {"a": 2}),
    (LONGS, b"\x00", []),
    (LONGS, b"\x02\x06\x02\x36\x00", [3, 27]),
    (LONGS, b"\x03\x04\x06\x36\x00", [3, 27]),  # a block with its size
    (LONGS, b"\x03\x06\x06\x36\x00", [3, 27]),  # with a wrong one, which Java's library does not look at either
    (logical("int", "date"), zigzag(DAYS), date(2020, 1, 1)),
    (logical("int", "date"), zigzag(-1), date(1969, 12, 31)),
    (logical("int", "date"), zigzag(-719_162), date(1, 1, 1)),
    (logical("int", "date"), zigzag(2_932_896), date(9999, 12, 31)),
    (logical("long", "timestamp-millis"), zigzag(MILLIS), AT),
    (logical("long", "timestamp-millis"), zigzag(-1), datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC)),
    (logical("long", "timestamp-micros"), zigzag(MILLIS * 1000 + 1), AT.replace(microsecond=1)),
    (logical("long", "local-timestamp-millis"), zigzag(MILLIS), LOCAL),
    (logical("long", "local-timestamp-micros"), zigzag(MILLIS * 1000), LOCAL),
    (logical("long", "timestamp-millis"), zigzag(-62_135_596_800_000), datetime(1, 1, 1, tzinfo=UTC)),
    (decimal(9, 2), b"\x02\x00", Decimal("0.00")),
    (decimal(9, 2), b"\x02\x83", Decimal("-1.25")),
    (decimal(9, 2), b"\x04\x00\x7d", Decimal("1.25")),
    (decimal(9, 2), b"\x08\x3b\x9a\xc9\xff", Decimal("9999999.99")),
    (decimal(38), b"\x20" + (10**38 - 1).to_bytes(16, "big"), Decimal(10**38 - 1)),
    (decimal(9, 2, "fixed", name="F", size=4), b"\xff\xff\xff\x83", Decimal("-1.25")),
    (logical("string", "uuid"), text(str(uuid.UUID(int=7))), uuid.UUID(int=7)),
    (logical("string", "email"), text("a@b"), "a@b"),  # a logical type that Avro does not know is ignored
]


@pytest.mark.parametrize(("kind", "data", "value"), VALUES)
def test_a_value_is_that_of_the_specification_and_of_fastavro(kind, data, value):
    assert by_fastavro(kind, data) == value
    found = parsed(kind, data)
    right = {uuid.UUID: str, dict: lambda one: list(one.items())}.get(type(value), lambda one: one)
    assert found.rows["v"].to_pylist() == [value if kind is PAIR else right(value)] and found.dead == []


def test_a_uuid_of_sixteen_bytes():
    """Since 1.12 a fixed may be one; fastavro gives its bytes."""
    one = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    found = parsed(logical("fixed", "uuid", name="U", size=16), one.bytes)
    assert found.rows["v"].to_pylist() == [str(one)]


NONE = [  # type, bytes that are no value of it, reason
    ("int", b"", "empty"),
    ("int", b"\x80", "not_avro"),
    ("int", zigzag(2**31), "out_of_range"),
    ("int", zigzag(-(2**31) - 1), "out_of_range"),
    ("long", b"\x80" * 10 + b"\x01", "not_avro"),
    ("long", b"\xff" * 9 + b"\x7f", "not_avro"),
    ("long", b"\xff" * 40 + b"\x01", "not_avro"),
    ("boolean", b"\x02", "not_avro"),
    ("float", b"\x00\x00\x00", "not_avro"),
    ("double", b"\x00" * 7, "not_avro"),
    ("bytes", b"\x01ab", "not_avro"),
    ("bytes", b"\x06ab", "not_avro"),
    ("bytes", zigzag(2**62) + b"ab", "not_avro"),
    ("string", b"\x02\xff", "not_utf8"),
    ("string", text("a") + b"b", "more_than_one"),
    ({"type": "map", "values": "int"}, b"\x02\x02\xff\x02\x00", "not_utf8"),
    (FIXED, b"a", "not_avro"),
    (ENUM, b"\x04", "not_avro"),
    (ENUM, b"\x01", "not_avro"),
    (["null", "long"], b"\x01\x02", "not_avro"),
    (["null", "long"], b"\x03", "not_avro"),
    (["null", "long"], b"\x04\x02", "not_avro"),
    (LONGS, b"\x04\x06\x00", "not_avro"),
    (LONGS, zigzag(2**62) + b"\x06", "not_avro"),
    (LONGS, zigzag(-(2**63)) + b"\x02\x06", "not_avro"),
    (logical("int", "date"), zigzag(-719_163), "out_of_range"),
    (logical("int", "date"), zigzag(2_932_897), "out_of_range"),
    (logical("long", "timestamp-millis"), zigzag(-62_135_596_800_001), "out_of_range"),
    (logical("long", "timestamp-micros"), zigzag(253_402_300_800_000_000), "out_of_range"),
    (logical("long", "local-timestamp-millis"), zigzag(2**63 - 1), "out_of_range"),
    (decimal(3, 2), b"\x04\x03\xe8", "out_of_range"),
    (decimal(3, 2), b"\x04\xfc\x18", "out_of_range"),
    (decimal(3, 2), zigzag(100_000) + b"\x7f" * 100_000, "out_of_range"),
    (decimal(3, 2), b"\x00", "not_avro"),
    (logical("string", "uuid"), text("no"), "wrong_type"),
]


@pytest.mark.parametrize(("kind", "data", "reason"), NONE)
def test_bytes_that_are_no_value_of_a_type_have_a_reason(kind, data, reason):
    found = parsed(kind, data)
    assert found.rows.num_rows == 0 and [(place, why) for place, why, _ in found.dead] == [(0, reason)]


@pytest.mark.parametrize(
    ("kind", "data", "read"),
    [
        (ENUM, b"\x01", "HEARTS"),
        (["null", "long"], b"\x01\x02", 1),
        ("boolean", b"\x02", True),
        ("long", b"\xff" * 40 + b"\x01", -(2**63)),
        ("int", zigzag(2**31), 2**31),
    ],
)
def test_what_fastavro_makes_of_bytes_that_no_writer_makes(kind, data, read):
    """Why the bytes are not read by it: the values are wrong, and nothing says so."""
    assert by_fastavro(kind, data) == read and parsed(kind, data).good == []


def test_an_array_of_what_has_no_byte_ends():
    """Three bytes say that there are 2^62 nulls, in a field that the reader does not have."""
    writer = schema("long", {"type": "array", "items": "null"}, {"type": "array", "items": EMPTY})
    parse = streams.Avro(schema("long"), writers={1: writer}).parser()
    framed = b"\x00\x00\x00\x00\x01"
    few = framed + b"\x02" + zigzag(7) + b"\x00" + zigzag(3) + b"\x00"
    many = framed + b"\x02" + zigzag(2**62) + b"\x00\x00"
    found = parse([few, many, framed + b"\x02\x00" + zigzag(2**62) + b"\x00"])
    assert found.rows["v"].to_pylist() == [1] and [reason for _, reason, _ in found.dead] == ["not_avro"] * 2


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (logical("string", "date"), "v is called date, which is not a logical type of string in Avro"),
        (logical("int", "timestamp-millis"), "v is called timestamp-millis, which is not a logical type of int"),
        (
            logical("fixed", "uuid", name="U", size=4),
            r"v is called uuid, which is not a logical type of fixed \(size 4\) in Avro",
        ),
        (decimal(39), "v is a decimal of 39 digits; Spark has 38 at most"),
        (logical("bytes", "decimal"), "v is called decimal, which is not a logical type of bytes in Avro"),
        (logical("long", "timestamp-nanos"), "logical type timestamp-nanos, which Spark has not"),
        (logical("bytes", "big-decimal"), "logical type big-decimal, which Spark has not"),
    ],
)
def test_logical_types_that_give_no_column(kind, said):
    with pytest.raises(ValueError, match=said):
        streams.Avro(schema(kind)).fields()


def test_two_fields_that_are_one_column_to_spark():
    fields = [{"name": name, "type": "long"} for name in ("id", "masse", "maße", "ID")]
    with pytest.raises(
        ValueError, match="the Avro record One has id and ID; a name can be there once, in one case"
    ):
        streams.Avro(json.dumps({"type": "record", "name": "One", "fields": fields})).fields()
