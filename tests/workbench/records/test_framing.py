"""Records of schema registries: Confluent's and Glue's framing of Avro and Protobuf."""

import uuid
import zlib

import pytest
from google.protobuf import descriptor_pb2
from test_avro_values import schema, text, zigzag
from test_protobuf import KINDS, within

from workbench import streams
from workbench.records import framing, protobuf

ONE, TWO = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))


def glue(number, data, compression=0):
    return bytes([3, compression]) + uuid.UUID(number).bytes + data


def confluent(number, data):
    return b"\x00" + number.to_bytes(4, "big") + data


def outcome(found):
    return found.rows.columns[0].to_pylist(), [(place, reason) for place, reason, _ in found.dead]


def test_avro_of_glue_and_of_confluent_each_by_its_id():
    writers = {7: schema("int"), ONE: schema("long"), TWO: schema("string")}
    data = zigzag(5)
    records = [
        confluent(7, data), glue(ONE, data), glue(ONE, zlib.compress(zigzag(6)), 5), glue(TWO, text("a")),
        glue(str(uuid.UUID(int=3)), data), confluent(8, data), data, b"", glue(ONE, b"")[:17], glue(ONE, b""),
        glue(ONE, data, 4), glue(ONE, data, 5), glue(ONE, zlib.compress(data)[:-1], 5), confluent(7, b""),
    ]  # fmt: skip
    rows, dead = outcome(streams.Avro(schema("long"), writers=writers).parser()(records))
    assert rows == [5, 5, 6]
    assert dead == [
        (3, "not_resolved"), (4, "unknown_schema"), (5, "unknown_schema"), (6, "not_framed"), (7, "not_framed"),
        (8, "not_framed"), (9, "empty"), (10, "not_framed"), (11, "not_framed"), (12, "not_framed"), (13, "empty"),
    ]  # fmt: skip


def test_a_framing_that_no_writer_has_is_not_one():
    rows, dead = outcome(streams.Avro(schema("long"), writers={7: schema("long")}).parser()([glue(ONE, b"\x02")]))
    assert (rows, dead) == ([], [(0, "not_framed")])
    rows, dead = outcome(
        streams.Avro(schema("long"), writers={ONE: schema("long")}).parser()([confluent(7, b"\x02")])
    )
    assert (rows, dead) == ([], [(0, "not_framed")])


@pytest.mark.parametrize(
    "number", [-1, 2**32, True, None, "7", "{" + ONE + "}", "D18C909D-F961-4E4C-A25B-E3431C1A42C9"]
)
def test_ids_that_are_none(number):
    with pytest.raises(ValueError, match="is not the id of a writer's schema: a whole number of 32 bits"):
        streams.Avro(schema("long"), writers={number: schema("long")}).fields()


# share/test/data/schema-tests.txt of apache/avro: schema, fingerprint as a signed long
FINGERPRINTS = [
    ('"null"', 7195948357588979594), ('{"type":"boolean"}', -6970731678124411036), ('"int"', 8247732601305521295),
    ('{"type":"long"}', -3434872931120570953), ('"float"', 5583340709985441680), ('"double"', -8181574048448539266),
    ('"bytes"', 5746618253357095269), ('"string"', -8142146995180207161), ("[  ]", -1241056759729112623),
    ('[ "int"  ]', -5232228896498058493), ('[ "int" , {"type":"boolean"} ]', 5392556393470105090),
    ('{"fields":[], "type":"record", "name":"foo"}', -4824392279771201922),
    ('{"fields":[], "type":"record", "name":"foo", "namespace":"x.y"}', 5916914534497305771),
    ('{"fields":[], "type":"record", "name":"a.b.foo", "namespace":"x.y"}', -4616218487480524110),
    ('{"fields":[], "type":"record", "name":"foo", "doc":"foo", "aliases":["foo","bar"]}', -4824392279771201922),
    ('{"fields":[{"type":{"type":"boolean"}, "name":"f1"}], "type":"record", "name":"foo"}', 7843277075252814651),
    ('{"fields":[{"type":"boolean", "aliases":[], "name":"f1", "default":true}, {"order":"descending","name":"f2",'
     '"doc":"Hello","type":"int"}], "type":"record", "name":"foo"}', -4860222112080293046),
    ('{"type":"enum", "name":"foo", "symbols":["A1"]}', -6342190197741309591),
    ('{"namespace":"x.y.z", "type":"enum", "name":"foo", "doc":"foo bar", "symbols":["A1", "A2"]}',
     -4448647247586288245),
    ('{"name":"foo","type":"fixed","size":15}', 1756455273707447556),
    ('{"namespace":"x.y.z", "type":"fixed", "name":"foo", "doc":"foo bar", "size":32}', -3064184465700546786),
    ('{ "items":{"type":"null"}, "type":"array"}', -589620603366471059),
    ('{ "values":"string", "type":"map"}', -8732877298790414990),
    ('{"name":"PigValue","type":"record","fields":[{"name":"value", "type":["null", "int", "long", "PigValue"]}]}',
     -1759257747318642341),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), FINGERPRINTS)
def test_fingerprints_are_those_of_avros_own_tests(text, number):
    assert framing.fingerprint(text) == number.to_bytes(8, "little", signed=True).hex()


def single(text, data):
    return b"\xc3\x01" + bytes.fromhex(framing.fingerprint(text)) + data


def test_avro_of_single_objects():
    """A wrong fingerprint is another schema's, and the record no row of this one."""
    text, other = schema("long"), schema("string")
    records = [
        single(text, zigzag(5)), single(other, zigzag(5)), zigzag(5), confluent(7, zigzag(5)), b"", single(text, b""),
        single(text, b"")[:9], single(text, zigzag(6) + b"x"), single(schema("int"), zigzag(7)), b"\xc3\x02" + b"0" * 9,
    ]  # fmt: skip
    found = streams.Avro(text, framing="single_object").parser()(records)
    rows, dead = outcome(found)
    assert rows == [5]
    assert dead == [
        (1, "unknown_schema"), (2, "not_framed"), (3, "not_framed"), (4, "not_framed"), (5, "empty"),
        (6, "not_framed"), (7, "more_than_one"), (8, "unknown_schema"), (9, "not_framed"),
    ]  # fmt: skip
    own, wrong = framing.fingerprint(text), framing.fingerprint(other)
    assert found.dead[0][2] == f"no schema {wrong} was given; there are {own}"
    assert found.dead[1][2] == "the record does not begin with the bytes C3 01 and the fingerprint of a schema"
    older = {framing.fingerprint(schema("int")): schema("int"), 7: schema("int")}
    rows, dead = outcome(streams.Avro(text, framing="single_object", writers=older).parser()(records))
    assert rows == [5, 5, 7] and [place for place, _ in dead] == [1, 2, 4, 5, 6, 7, 9]
    rows, dead = outcome(streams.Avro(text, writers=older).parser()(records))  # not its own
    assert rows == [5, 7]


def test_what_cannot_be_said_of_single_objects():
    with pytest.raises(
        ValueError, match="framing must be single_object or None, found 'glue'; those of registries"
    ):
        streams.Avro(schema("long"), framing="glue")
    wrong = framing.fingerprint(schema("int"))
    with pytest.raises(ValueError, match=f"{wrong} is not the fingerprint of its writer's schema, which is "):
        streams.Avro(schema("long"), writers={wrong: schema("long")}).fields()


def test_a_value_that_would_be_too_large_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(framing, "LARGEST", 1000)
    record = glue(ONE, zlib.compress(b"\x00" * 1_000_000), 5)
    found = streams.Avro(schema("long"), writers={ONE: schema("long")}).parser()([record])
    assert found.dead == [(0, "not_framed", "the compressed value has more than 1000 bytes")]


def file():
    """Messages B { a map; A { D }; C } and A, each with a text: the example of Glue's own documentation, and more."""
    made = descriptor_pb2.FileDescriptorProto(name="one.proto", syntax="proto3")

    def message(above, name):
        one = above.add(name=name)
        one.field.add(name="v", number=1, type=KINDS.TYPE_STRING, label=KINDS.LABEL_OPTIONAL)
        return one

    first = message(made.message_type, "B")
    entry = first.nested_type.add(name="MEntry")
    entry.options.map_entry = True
    for number, name in ((1, "key"), (2, "value")):
        entry.field.add(name=name, number=number, type=KINDS.TYPE_STRING, label=KINDS.LABEL_OPTIONAL)
    label = KINDS.LABEL_REPEATED
    first.field.add(name="m", number=2, type=KINDS.TYPE_MESSAGE, type_name=".B.MEntry", label=label)
    message(first.nested_type, "C")
    message(message(first.nested_type, "A").nested_type, "D")
    message(made.message_type, "A")
    return descriptor_pb2.FileDescriptorSet(file=[made]).SerializeToString()


PLACES = {  # message: numbers that Confluent writes, in its bytes, and the number that Glue writes
    "B": ([0], b"\x00", 1), "A": ([1], b"\x02\x02", 0), "B.C": ([0, 0], b"\x04\x00\x00", 4),
    "B.A": ([0, 1], b"\x04\x00\x02", 2), "B.A.D": ([0, 1, 0], b"\x06\x00\x02\x00", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_protobuf_says_which_message_of_its_file_it_is(name):
    path, _, number = PLACES[name]
    descriptor = protobuf._message(file(), name).DESCRIPTOR
    assert framing.place_of("confluent", descriptor) == path and framing.place_of("glue", descriptor) == [number]
    value = within(1, b"x")
    records = [confluent(9, one + value) for _, one, _ in PLACES.values()]
    found = streams.Protobuf(file(), name, framing="confluent").parser()(records)
    place = list(PLACES).index(name)
    assert found.rows["v"].to_pylist() == ["x"] and found.good == [place]
    assert {reason for _, reason, _ in found.dead} == {"other_message"} and len(found.dead) == 4
    records = [glue(ONE, bytes([one]) + value) for _, _, one in PLACES.values()]
    found = streams.Protobuf(file(), name, framing="glue").parser()(records)
    assert found.rows["v"].to_pylist() == ["x"] and found.good == [place]
    assert {reason for _, reason, _ in found.dead} == {"other_message"} and len(found.dead) == 4


def test_framed_protobuf_that_is_not_and_values_of_no_byte():
    value = within(1, b"x")
    records = [
        confluent(9, b"\x00"), confluent(9, b"\x02\x00" + value), confluent(9, b""), value, b"", confluent(9, b"\x01"),
        confluent(9, b"\x02"), confluent(9, b"\xfe\xff\xff\xff\x0f"), glue(ONE, b"\x01" + value), confluent(9, b"\x00\x08"),
    ]  # fmt: skip
    rows, dead = outcome(streams.Protobuf(file(), "B", framing="confluent").parser()(records))
    assert rows == ["", "x"]
    assert dead == [*((place, "not_framed") for place in range(2, 9)), (9, "not_protobuf")]
    packed = glue(ONE, zlib.compress(b"\x01" + value), 5)
    assert outcome(streams.Protobuf(file(), "B", framing="glue").parser()([packed])) == (["x"], [])


def test_a_record_that_is_framed_and_nobody_said_so():
    """No message begins with the byte 0 or 3: there is no field 0."""
    found = streams.Protobuf(file(), "B").parser()([confluent(9, b"\x00" + within(1, b"x")), glue(ONE, b"\x01")])
    assert [(place, reason) for place, reason, _ in found.dead] == [(0, "not_protobuf"), (1, "not_protobuf")]
    assert found.dead[0][2].endswith("it begins as with framing='confluent'")
    assert found.dead[1][2].endswith("it begins as with framing='glue'")


def test_what_framing_can_be():
    with pytest.raises(ValueError, match="framing must be one of confluent, glue, or None, found 'kafka'"):
        streams.Protobuf(file(), "B", framing="kafka")
