"""Protobuf records: columns of the message, and a reason for everything that is no message of it."""

from datetime import UTC, datetime

import pytest
from employees import descriptors, message
from google.protobuf import descriptor_pb2, timestamp_pb2, wrappers_pb2

from workbench import streams
from workbench.records import protobuf

NAME, NOON = "gsr.proto.post.Employee", datetime(2026, 1, 31, 12, tzinfo=UTC)
ONE = {
    "id": 7, "name": "Dummy7", "address": "", "employee_age": 41, "start_date": NOON,
    "team": {"name": "Solutions Architects", "location": "Australia"}, "role": "ARCHITECT",
}  # fmt: skip
BYTES = message(
    id=7, name="Dummy7", employee_age=41, start_date=int(NOON.timestamp() * 1e6),
    team=("Solutions Architects", "Australia"), role=2,
)  # fmt: skip
UNKNOWN = bytes([99 << 3 & 0x7F | 0x80, 99 << 3 >> 7, 1])  # field 99, the number 1


def made(**options):
    return streams.Protobuf(descriptors(), NAME, **options)


def of(*fields, syntax="proto3", more=None):
    """Descriptors of a message One with fields (name, type, label)."""
    file = descriptor_pb2.FileDescriptorProto(name="one.proto", syntax=syntax)
    one = file.message_type.add(name="One")
    for number, (name, kind, label) in enumerate(fields, 1):
        one.field.add(name=name, number=number, type=kind, label=label, type_name=more)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


KINDS = descriptor_pb2.FieldDescriptorProto


def test_columns_of_the_message(spark):
    assert [(one.name, one.dataType.simpleString(), one.nullable) for one in made().fields()] == [
        ("id", "int", False), ("name", "string", False), ("address", "string", False), ("employee_age", "int", True),
        ("start_date", "timestamp", True), ("team", "struct<name:string,location:string>", True),
        ("role", "string", False),
    ]  # fmt: skip


def test_records_become_rows_and_others_are_dead(spark):
    found = made().parser()([BYTES, b"", BYTES[:-9], message(role=1), b"\xff\xff"])
    nothing = {"id": 0, "name": "", "address": "", "employee_age": None, "start_date": None, "team": None}
    assert found.rows.to_pylist() == [ONE, nothing | {"role": "MANAGER"}, nothing | {"role": "DEVELOPER"}]
    assert (found.good, found.unknown) == ([0, 1, 3], 0)
    assert [(place, reason) for place, reason, _ in found.dead] == [(2, "not_protobuf"), (4, "not_protobuf")]


def test_fields_that_are_not_in_the_message(spark):
    found = made().parser()([BYTES + UNKNOWN, BYTES])
    assert (found.good, found.unknown, found.dead) == ([0, 1], 1, [])
    found = made(unknown="dead").parser()([BYTES + UNKNOWN, BYTES])
    assert found.good == [1] and found.dead == [(0, "unknown_field", f"field number 99 is not in {NAME}")]


def nested(syntax="proto3"):
    """Descriptors of a message Outer: an Inner, a list and a map of them, an enum, a map of enums, a time, a count."""
    file = descriptor_pb2.FileDescriptorProto(name="nested.proto", syntax=syntax)
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    kind = file.enum_type.add(name="Kind")
    for number, name in enumerate(("ZERO", "ONE")):
        kind.value.add(name=name, number=number)
    inner = file.message_type.add(name="Inner")
    inner.field.add(name="x", number=1, type=KINDS.TYPE_INT32, label=KINDS.LABEL_OPTIONAL)
    outer = file.message_type.add(name="Outer")
    for number, value in ((3, ".Inner"), (5, ".Kind")):
        entry = outer.nested_type.add(name=f"M{number}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=KINDS.TYPE_STRING, label=KINDS.LABEL_OPTIONAL)
        kind = KINDS.TYPE_ENUM if value == ".Kind" else KINDS.TYPE_MESSAGE
        entry.field.add(name="value", number=2, type=kind, type_name=value, label=KINDS.LABEL_OPTIONAL)
    one, many = KINDS.LABEL_OPTIONAL, KINDS.LABEL_REPEATED
    for number, name, kind, of_type, label in (
        (1, "inner", KINDS.TYPE_MESSAGE, ".Inner", one), (2, "list", KINDS.TYPE_MESSAGE, ".Inner", many),
        (3, "m3", KINDS.TYPE_MESSAGE, ".Outer.M3Entry", many), (4, "kind", KINDS.TYPE_ENUM, ".Kind", one),
        (5, "m5", KINDS.TYPE_MESSAGE, ".Outer.M5Entry", many), (6, "kinds", KINDS.TYPE_ENUM, ".Kind", many),
        (7, "at", KINDS.TYPE_MESSAGE, ".google.protobuf.Timestamp", one),
        (8, "count", KINDS.TYPE_MESSAGE, ".google.protobuf.Int32Value", one),
    ):  # fmt: skip
        outer.field.add(name=name, number=number, type=kind, type_name=of_type, label=label)
    found = descriptor_pb2.FileDescriptorSet()
    for needed in (timestamp_pb2, wrappers_pb2):
        needed.DESCRIPTOR.CopyToProto(found.file.add())
    found.file.add().CopyFrom(file)
    return found.SerializeToString()


def within(number, *data):
    """A field that holds a message or a text."""
    data = b"".join(data)
    return bytes([number << 3 | 2, len(data)]) + data


X, NEW = b"\x08\x05", b"\x10\x06"  # of an Inner: x is 5, and a field 2 that it does not have


@pytest.mark.parametrize(
    ("record", "where"),
    [
        (UNKNOWN, "99 is not in Outer"),
        (within(1, X, NEW), "2 is not in Inner"),
        (within(2, X) + within(2, X, NEW), "2 is not in Inner"),
        (within(3, within(1, b"a"), within(2, X, NEW)), "2 is not in Inner"),
        (within(7, b"\x18\x01"), "3 is not in google.protobuf.Timestamp"),
        (within(8, b"\x10\x01"), "2 is not in google.protobuf.Int32Value"),
        (UNKNOWN + within(1, NEW), "99 is not in Outer"),
    ],
)
@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_fields_that_are_not_in_a_message_at_any_depth(syntax, record, where):
    known = within(1, X) + within(2, X) + within(3, within(1, b"a"), within(2, X))
    loose = streams.Protobuf(nested(syntax), "Outer").parser()([record, known])
    assert (loose.good, loose.unknown, loose.dead) == ([0, 1], 1, [])
    strict = streams.Protobuf(nested(syntax), "Outer", unknown="dead").parser()([record, known])
    assert (strict.good, strict.unknown) == ([1], 0)
    assert strict.dead == [(0, "unknown_field", f"field number {where}")]


@pytest.mark.parametrize("unknown", ["ignore", "dead"])
@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
@pytest.mark.parametrize(
    ("record", "reason", "said"),
    [
        (b"\x20\x09", "unknown_enum", "field 'kind': Kind has no value 9"),
        (b"\x30\x01\x30\x09", "unknown_enum", "field 'kinds': Kind has no value 9"),
        (within(6, b"\x01\x09"), "unknown_enum", "field 'kinds': Kind has no value 9"),
        (within(5, within(1, b"a"), b"\x10\x09"), "unknown_enum", "field 'm5': "),
        (b"\x08\x01", "wrong_type", "field 'inner' of Outer is there with wire type 0"),
        (within(1, within(1, b"a")), "wrong_type", "field 'x' of Inner is there with wire type 2"),
        (
            within(3, within(1, b"a"), within(2, X), b"\x18\x01"),
            "unknown_field",
            "field 'm3' of Outer: an entry has",
        ),
    ],
)
def test_a_field_of_the_message_whose_value_is_lost_is_never_a_row(syntax, unknown, record, reason, said):
    """To the library such values are unknown fields: the column would be null or 0."""
    found = streams.Protobuf(nested(syntax), "Outer", unknown=unknown).parser()([within(1, X), record])
    assert found.good == [0] and [(place, why) for place, why, _ in found.dead] == [(1, reason)]
    assert found.dead[0][2].startswith(said)


def test_an_extension_is_a_field_that_is_not_in_the_message():
    file = descriptor_pb2.FileDescriptorProto(name="one.proto", syntax="proto2")
    one = file.message_type.add(name="One")
    one.field.add(name="id", number=1, type=KINDS.TYPE_INT64, label=KINDS.LABEL_OPTIONAL)
    one.extension_range.add(start=100, end=200)
    file.extension.add(name="more", number=100, type=KINDS.TYPE_INT64, label=KINDS.LABEL_OPTIONAL, extendee=".One")
    data = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    found = streams.Protobuf(data, "One").parser()([b"\x08\x01\xa0\x06\x05", b"\x08\x02"])
    assert (found.good, found.unknown) == ([0, 1], 1)
    found = streams.Protobuf(data, "One", unknown="dead").parser()([b"\x08\x01\xa0\x06\x05", b"\x08\x02"])
    assert found.dead == [(0, "unknown_field", "field number 100 is not in One")]


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
@pytest.mark.parametrize("label", [KINDS.LABEL_OPTIONAL, KINDS.LABEL_REPEATED])
def test_a_text_that_is_not_utf8_is_dead_and_alone(syntax, label):
    file = of(("id", KINDS.TYPE_INT64, KINDS.LABEL_OPTIONAL), ("name", KINDS.TYPE_STRING, label), syntax=syntax)
    records = [b"\x08\x01\x12\x02ab", b"\x08\x02\x12\x02\xff\xfe", b"\x08\x03\x12\x01z"]
    found = streams.Protobuf(file, "One").parser()(records)
    assert found.rows["id"].to_pylist() == [1, 3] and found.good == [0, 2]
    assert [(place, reason) for place, reason, _ in found.dead] == [(1, "not_utf8")]


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_a_key_that_is_not_utf8_and_a_text_within_a_message(syntax):
    bad = within(3, within(1, b"\xff"), within(2, X))
    found = streams.Protobuf(nested(syntax), "Outer").parser()([within(1, X), bad, within(2, X)])
    assert found.good == [0, 2] and [reason for _, reason, _ in found.dead] == ["not_utf8"]


def test_values_that_are_none(spark):
    def start(seconds, nanos):
        value = b"\x08" + _varint(seconds) + b"\x10" + _varint(nanos)
        return b"\x2a" + bytes([len(value)]) + value

    data = [message(role=9), start(253_402_300_800, 0), start(1, 1), start(1, 1000)]
    found = made().parser()(data)
    assert [(place, reason) for place, reason, _ in found.dead] == [
        (0, "unknown_enum"), (1, "out_of_range"), (2, "too_precise"),
    ]  # fmt: skip
    assert found.rows["start_date"].to_pylist() == [datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)]


def _varint(number):
    found = b""
    while number > 0x7F:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def test_lists_large_numbers_and_required_fields(spark):
    file = of(("n", KINDS.TYPE_UINT64, KINDS.LABEL_REQUIRED), ("many", KINDS.TYPE_INT32, KINDS.LABEL_REPEATED),
              ("raw", KINDS.TYPE_BYTES, KINDS.LABEL_OPTIONAL), syntax="proto2")  # fmt: skip
    parse = streams.Protobuf(file, "One")
    assert [(one.dataType.simpleString(), one.nullable) for one in parse.fields()] == [
        ("decimal(20,0)", False), ("array<int>", False), ("binary", True),
    ]  # fmt: skip
    cls = protobuf._message(file, "One")
    full = cls(n=2**64 - 1, many=[1, -1], raw=b"\xff").SerializeToString()
    found = parse.parser()([full, cls(many=[1]).SerializePartialToString()])
    assert [{name: str(value) for name, value in row.items()} for row in found.rows.to_pylist()] == [
        {"n": "18446744073709551615", "many": "[1, -1]", "raw": "b'\\xff'"}
    ]
    assert found.dead == [(1, "missing_field", "n is required and not there")]


def test_descriptors_of_a_class(spark):
    cls = protobuf._message(descriptors(), NAME)
    again = streams.Protobuf(protobuf.described(cls), NAME)
    assert again.fields() == made().fields() and again.parser()([BYTES]).rows.to_pylist() == [ONE]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((b"\xff", NAME), "not a FileDescriptorSet"),
        ((descriptors(), "Employee"), "no message 'Employee' .* there are .*gsr.proto.post.Employee"),
        ((of(("one", KINDS.TYPE_MESSAGE, KINDS.LABEL_OPTIONAL), more=".One"), "One"), "One holds itself"),
        ((of(), "One"), "One has no fields"),
    ],
)
def test_descriptors_that_give_no_columns(spark, given, said):
    with pytest.raises(ValueError, match=said):
        streams.Protobuf(*given).fields()


def test_what_unknown_can_be():
    with pytest.raises(ValueError, match="unknown must be one of ignore, dead, found 'no'"):
        made(unknown="no")
