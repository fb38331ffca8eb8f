"""Protobuf's values, type by type: the bytes that the specification gives, what the library reads, and the row."""

import struct
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from google.protobuf import descriptor_pb2
from test_protobuf import KINDS, nested, of, within

from workbench import streams
from workbench.records import protobuf

INFINITY = float("inf")


def varint(number):
    number, found = number & (2**64 - 1), b""
    while number > 0x7F:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def zigzag(number):
    return varint((number << 1) ^ (number >> 63))


VALUES = [  # type, wire type, bytes, what the library reads, the row's value where it is another one
    ("INT32", 0, varint(150), 150),  # the specification's own example: 96 01
    ("INT32", 0, b"\x96\x01", 150),
    ("INT32", 0, varint(2**31 - 1), 2**31 - 1),
    ("INT32", 0, varint(-(2**31)), -(2**31)),  # ten bytes
    ("INT32", 0, varint(2**32 + 5), 5),  # a larger one is cut, as the specification says
    ("INT64", 0, varint(-(2**63)), -(2**63)),
    ("INT64", 0, varint(2**63 - 1), 2**63 - 1),
    ("UINT32", 0, varint(2**32 - 1), 2**32 - 1),
    ("UINT64", 0, varint(2**64 - 1), 2**64 - 1, Decimal(2**64 - 1)),
    ("SINT32", 0, zigzag(-(2**31)), -(2**31)),
    ("SINT64", 0, zigzag(-(2**63)), -(2**63)),
    ("SINT64", 0, b"\x03", -2),
    ("FIXED32", 5, struct.pack("<I", 2**32 - 1), 2**32 - 1),
    ("FIXED64", 1, struct.pack("<Q", 2**64 - 1), 2**64 - 1, Decimal(2**64 - 1)),
    ("SFIXED32", 5, struct.pack("<i", -(2**31)), -(2**31)),
    ("SFIXED64", 1, struct.pack("<q", -(2**63)), -(2**63)),
    ("BOOL", 0, b"\x01", True),
    ("BOOL", 0, varint(2**40), True),  # whatever is not 0
    ("BOOL", 0, b"\x80\x00", False),
    ("FLOAT", 5, struct.pack("<f", 1.5), 1.5),
    ("FLOAT", 5, struct.pack("<f", -INFINITY), -INFINITY),
    ("DOUBLE", 1, struct.pack("<d", 0.1), 0.1),
    ("STRING", 2, b"\x05\xc3\xbc\x00ab", "ü\0ab"),
    ("STRING", 2, b"\x00", ""),
    ("BYTES", 2, b"\x02\x00\xff", b"\x00\xff"),
]


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
@pytest.mark.parametrize("case", VALUES, ids=lambda case: f"{case[0]}-{case[2].hex()}")
def test_a_value_is_that_of_the_specification_and_of_the_library(syntax, case):
    kind, wire_type, data, read, *row = case
    file = of(("v", getattr(KINDS, f"TYPE_{kind}"), KINDS.LABEL_OPTIONAL), syntax=syntax)
    record = bytes([8 | wire_type]) + data
    assert protobuf._message(file, "One").FromString(record).v == read
    found = streams.Protobuf(file, "One").parser()([record])
    assert found.rows["v"].to_pylist() == (row or [read]) and (found.dead, found.unknown) == ([], 0)


DEFAULTS = [
    ("INT32", 0), ("INT64", 0), ("UINT32", 0), ("UINT64", Decimal(0)), ("SINT32", 0), ("FIXED64", Decimal(0)),
    ("BOOL", False), ("FLOAT", 0.0), ("DOUBLE", 0.0), ("STRING", ""), ("BYTES", b""),
]  # fmt: skip
OTHER = b"\x10\x01"  # field 2


@pytest.mark.parametrize(("kind", "zero"), DEFAULTS)
def test_what_is_not_there(kind, zero):
    """Without presence it is 0 or empty; with it null, whatever default the schema of proto2 names; of a list none."""
    kind = getattr(KINDS, f"TYPE_{kind}")
    for syntax, label, value in (
        ("proto3", KINDS.LABEL_OPTIONAL, zero), ("proto2", KINDS.LABEL_OPTIONAL, None), ("proto3", KINDS.LABEL_REPEATED, []),
    ):  # fmt: skip
        file = of(("v", kind, label), ("w", KINDS.TYPE_INT32, KINDS.LABEL_OPTIONAL), syntax=syntax)
        assert streams.Protobuf(file, "One").parser()([OTHER]).rows["v"].to_pylist() == [value]


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_a_message_of_no_byte_is_one_of_which_nothing_was_sent(syntax):
    file = of(("v", KINDS.TYPE_STRING, KINDS.LABEL_OPTIONAL), syntax=syntax)
    assert protobuf._message(file, "One")().SerializeToString() == b""
    found = streams.Protobuf(file, "One", unknown="dead").parser()([b"", b"\x0a\x01a"])
    assert found.rows["v"].to_pylist() == [None if syntax == "proto2" else "", "a"]
    required = of(("v", KINDS.TYPE_STRING, KINDS.LABEL_REQUIRED), syntax="proto2")
    found = streams.Protobuf(required, "One").parser()([b""])
    assert found.dead == [(0, "missing_field", "v is required and not there")]


def test_a_default_of_proto2_is_not_what_was_sent():
    file = descriptor_pb2.FileDescriptorProto(name="one.proto", syntax="proto2")
    one = file.message_type.add(name="One")
    one.field.add(name="v", number=1, type=KINDS.TYPE_INT32, label=KINDS.LABEL_OPTIONAL, default_value="7")
    one.field.add(name="w", number=2, type=KINDS.TYPE_INT32, label=KINDS.LABEL_OPTIONAL)
    parse = streams.Protobuf(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString(), "One")
    assert parse.parser()([OTHER, b"\x08\x07"]).rows["v"].to_pylist() == [None, 7]


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
@pytest.mark.parametrize(
    ("record", "value"),
    [
        (b"\x08\x01\x08\x02", [1, 2]),
        (b"\x0a\x02\x01\x02", [1, 2]),  # packed
        (b"\x0a\x01\x01\x08\x02\x0a\x01\x03", [1, 2, 3]),
        (b"\x0a\x00", []),
    ],
)
def test_a_list_is_one_however_it_is_packed(syntax, record, value):
    file = of(("v", KINDS.TYPE_INT32, KINDS.LABEL_REPEATED), syntax=syntax)
    assert streams.Protobuf(file, "One").parser()([record]).rows["v"].to_pylist() == [value]


X = b"\x08\x05"


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
@pytest.mark.parametrize(
    ("record", "column", "value"),
    [
        (within(1, X) + within(1, b""), "inner", {"x": 5}),  # messages are merged
        (within(1, X) + within(1, b"\x08\x06"), "inner", {"x": 6}),
        (within(3, within(1, b"a"), within(2, X)), "m3", [("a", {"x": 5})]),
        (within(3, within(1, b"a"), within(2, X)) + within(3, within(1, b"a"), within(2, b"\x08\x06")), "m3",
         [("a", {"x": 6})]),  # the last one of a key
        (within(5, within(1, b"a")), "m5", [("a", "ZERO")]),
        (within(5, b"\x10\x01"), "m5", [("", "ONE")]),
        (b"\x20\x01\x20\x00", "kind", "ZERO"),
        (within(6, b"\x01\x00"), "kinds", ["ONE", "ZERO"]),
        (within(7, b"\x08" + varint(1_577_836_800), b"\x10" + varint(1000)), "at",
         datetime(2020, 1, 1, 0, 0, 0, 1, UTC)),
        (within(7), "at", datetime(1970, 1, 1, tzinfo=UTC)),
        (within(7, b"\x08" + varint(-62_135_596_800)), "at", datetime(1, 1, 1, tzinfo=UTC)),
        (within(7, b"\x08" + varint(253_402_300_799), b"\x10" + varint(999_999_000)), "at",
         datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)),
        (within(7, b"\x08" + varint(-1), b"\x10" + varint(999_999_000)), "at",
         datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)),
        (within(8), "count", 0),
        (within(8, b"\x08" + varint(-1)), "count", -1),
    ],
)  # fmt: skip
def test_messages_maps_enums_times_and_wrappers(syntax, record, column, value):
    found = streams.Protobuf(nested(syntax), "Outer").parser()([record])
    assert found.dead == [] and found.unknown == 0
    assert found.rows.to_pylist()[0][column] == value


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"\x08", "not_protobuf"),
        (b"\x08" + b"\x80" * 10 + b"\x01", "not_protobuf"),
        (b"\x00\x01", "not_protobuf"),  # there is no field 0
        (b"\x0c", "not_protobuf"),
        (b"\x0e\x01", "not_protobuf"),
        (b"\x0a\x05ab", "not_protobuf"),
        (within(1, b"\x08"), "not_protobuf"),
        (within(7, b"\x08" + varint(-62_135_596_801)), "out_of_range"),
        (within(7, b"\x10" + varint(-1)), "out_of_range"),
        (within(7, b"\x10" + varint(1)), "too_precise"),
    ],
)
def test_bytes_that_are_no_message_have_a_reason(syntax, record, reason):
    found = streams.Protobuf(nested(syntax), "Outer").parser()([record])
    assert [(place, why) for place, why, _ in found.dead] == [(0, reason)]


def test_two_fields_that_are_one_column_to_spark():
    file = of(*((name, KINDS.TYPE_INT32, KINDS.LABEL_OPTIONAL) for name in ("id", "iD", "other")), syntax="proto2")
    with pytest.raises(ValueError, match="the message One has id and iD; a name can be there once, in one case"):
        streams.Protobuf(file, "One").fields()
