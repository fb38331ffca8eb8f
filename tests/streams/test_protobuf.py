"""Protobuf records: columns of the message, and a reason for everything that is no message of it."""

from datetime import UTC, datetime

import pytest
from employees import descriptors, message
from google.protobuf import descriptor_pb2

from workbench import streams
from workbench.streams import protobuf

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
    nothing = dict.fromkeys(("employee_age", "start_date", "team"))
    assert found.rows.to_pylist() == [ONE, {"id": 0, "name": "", "address": "", "role": "DEVELOPER"} | nothing]
    assert (found.good, found.unknown) == ([0, 3], 0)
    assert [(place, reason) for place, reason, _ in found.dead] == [
        (1, "empty"), (2, "not_protobuf"), (4, "not_protobuf"),
    ]  # fmt: skip


def test_fields_that_are_not_in_the_message(spark):
    found = made().parser()([BYTES + UNKNOWN, BYTES])
    assert (found.good, found.unknown, found.dead) == ([0, 1], 1, [])
    found = made(unknown="dead").parser()([BYTES + UNKNOWN, BYTES])
    assert found.good == [1] and found.dead == [(0, "unknown_field", f"field number 99 is not in {NAME}")]


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
        ((b"\xff", NAME), "no FileDescriptorSet"),
        ((descriptors(), "Employee"), "no message 'Employee' .* there are .*gsr.proto.post.Employee"),
        ((of(("one", KINDS.TYPE_MESSAGE, KINDS.LABEL_OPTIONAL), more=".One"), "One"), "One holds itself"),
        ((of(), "One"), "One has no fields"),
    ],
)
def test_descriptors_that_give_no_columns(spark, given, said):
    with pytest.raises(ValueError, match=said):
        streams.Protobuf(*given).fields()


def test_what_unknown_can_be():
    with pytest.raises(ValueError, match="unknown is 'no', expected one of ignore, dead"):
        made(unknown="no")
