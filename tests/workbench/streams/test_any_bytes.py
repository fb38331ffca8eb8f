"""Whatever bytes come, and whatever schema is declared: each record is a row or a dead letter, and alone in that."""

import json
import re

from aggregate_cases import aggregate, field, message, sealed
from google.protobuf import descriptor_pb2, message_factory
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.records import aggregates, avro, framing, parsing, protobuf, schemas

WORD, NAMES = re.compile(r"[a-z]+(_[a-z0-9]+)*"), st.sampled_from(["a", "b", "A", "é", "id", "straße", "x y", "0"])
KINDS = descriptor_pb2.FieldDescriptorProto


def hold(parser, records):
    """The promise of every parser."""
    found = parser(records)
    assert sorted([*found.good, *(place for place, _, _ in found.dead)]) == list(range(len(records)))
    assert found.rows.num_rows == len(found.good) and found.good == sorted(found.good)
    assert all(WORD.fullmatch(reason) and message for _, reason, message in found.dead)
    assert all(len(message) <= parsing.MESSAGE_LENGTH for _, _, message in found.dead)
    assert 0 <= found.unknown <= len(found.good)
    found.rows.validate(full=True)
    alone = [parser([one]) for one in records]
    assert [place for place, one in enumerate(alone) if one.good] == found.good
    assert [one.dead[0][1] for one in alone if one.dead] == [reason for _, reason, _ in found.dead]
    rows = [row for one in alone for row in one.rows.to_pylist()]
    assert repr(found.rows.to_pylist()) == repr(rows)  # as texts, in which one NaN is like another


def spoiled(good):
    """Bytes that once were a record: cut, with a byte more, or with some of them changed."""

    def changed(data, place, byte):
        return data[: place % (len(data) + 1)] + bytes([byte]) + data[place % (len(data) + 1) + 1 :]

    place, byte = st.integers(0, 200), st.integers(0, 255)
    cut = st.builds(lambda data, end: data[: end % (len(data) + 1)], good, place)
    return st.one_of(good, st.builds(changed, good, place, byte), cut, st.builds(lambda a, b: a + b, good, good))


def chunk(good):
    return st.lists(st.one_of(good, spoiled(good), st.binary(max_size=40)), min_size=1, max_size=5)


# JSON

SIMPLE = st.one_of(
    st.sampled_from(sorted(schemas.SIMPLE)),
    st.integers(1, 38).flatmap(lambda p: st.builds(lambda s: f"decimal({p},{s})", st.integers(0, p))),
)


def struct(inner):
    def made(fields):
        return {
            "type": "struct",
            "fields": [
                {"name": n, "type": t, "nullable": null, "metadata": {}} for n, (t, null) in fields.items()
            ],
        }

    return st.builds(made, st.dictionaries(NAMES, st.tuples(inner, st.booleans()), min_size=1, max_size=3))


JSON_TYPE = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        struct(inner),
        st.builds(lambda t, null: {"type": "array", "elementType": t, "containsNull": null}, inner, st.booleans()),
        st.builds(
            lambda t, null: {"type": "map", "keyType": "string", "valueType": t, "valueContainsNull": null},
            inner,
            st.booleans(),
        ),
    ),
    max_leaves=5,
)
TIMES = st.sampled_from([
        "2026-01-31", "2026-02-30", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00+23:59", "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00", "2026-01-31T10:00:00+00:99", "2026-01-31 10:00:00.5",
])  # fmt: skip
TEXT = st.one_of(TIMES, st.text(max_size=4), st.just("\ud800"))
NUMBER = st.sampled_from(
    ["1", "-0", "1.0", "1e5", "1E-400", "1e999", "1e99999999999", "9" * 40, "9" * 5000, "NaN", "0.1"]
)
JSON_TEXT = st.recursive(
    st.one_of(NUMBER, TEXT.map(json.dumps), st.sampled_from(["null", "true"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
        st.lists(st.tuples(NAMES, inner), max_size=3).map(
            lambda pairs: "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in pairs) + "}"
        ),
    ),
    max_leaves=6,
)


def written(pairs):
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in pairs) + "}"


def json_of(kind):
    """Texts of values that often are of a type."""
    if isinstance(kind, str):
        pool = {"string": TEXT.map(json.dumps), "boolean": st.sampled_from(["true", "false"])}
        pool |= dict.fromkeys(("date", "timestamp", "timestamp_ntz"), TIMES.map(json.dumps))
        return pool.get(kind, st.one_of(st.integers(-200, 200).map(str), NUMBER))
    if kind["type"] == "array":
        return st.lists(json_of(kind["elementType"]), max_size=2).map(lambda items: f"[{','.join(items)}]")
    if kind["type"] == "map":
        return st.lists(st.tuples(NAMES, json_of(kind["valueType"])), max_size=2).map(written)
    fields = [st.tuples(st.just(one["name"]), json_of(one["type"])) for one in kind["fields"]]
    return st.tuples(*fields).map(written)


@st.composite
def json_records(draw):
    schema = draw(struct(JSON_TYPE))
    loose = st.lists(st.tuples(NAMES, JSON_TEXT), max_size=3).map(written)
    return schema, draw(chunk(st.one_of(json_of(schema), loose).map(str.encode)))


@settings(max_examples=40)
@given(json_records(), st.booleans())
def test_json(made, strict):
    schema, records = made
    hold(parsing.Parser(schema, strict), records)


# Avro

LOGICAL = [
    ("int", "date"), ("long", "timestamp-millis"), ("long", "timestamp-micros"), ("long", "local-timestamp-millis"),
    ("long", "local-timestamp-micros"), ("string", "uuid"), ("string", "of-my-own"),
]  # fmt: skip
AVRO_LEAF = st.one_of(
    st.sampled_from(["boolean", "int", "long", "float", "double", "bytes", "string"]),
    st.sampled_from(LOGICAL).map(lambda one: {"type": one[0], "logicalType": one[1]}),
    st.integers(1, 38).map(lambda n: {"type": "bytes", "logicalType": "decimal", "precision": n, "scale": n // 2}),
    st.sampled_from([{"type": "enum", "symbols": ["A", "B"]}, {"type": "fixed", "size": 3}]),
)
AVRO_TYPE = st.recursive(
    AVRO_LEAF,
    lambda inner: st.one_of(
        inner.map(lambda one: {"type": "array", "items": one}),
        inner.map(lambda one: {"type": "map", "values": one}),
        inner.map(lambda one: one if isinstance(one, list) else ["null", one]),
        st.lists(inner, min_size=1, max_size=2).map(lambda kinds: {"type": "record", "kinds": kinds}),
    ),
    max_leaves=5,
)


def avro_text(kinds):
    """A schema of these types; each named one gets a name, by its place."""

    def named(kind, path):
        if isinstance(kind, list):
            return ["null", named(kind[1], path)]
        if isinstance(kind, str):
            return kind
        made = {key: value for key, value in kind.items() if key != "kinds"}
        made |= {key: named(made[key], path) for key in ("items", "values") if key in made}
        if made["type"] in ("enum", "fixed", "record"):
            made["name"] = f"N{path}"
        if "kinds" in kind:
            made["fields"] = fields(kind["kinds"], path)
        return made

    def fields(kinds, path):
        return [{"name": f"f{n}", "type": named(one, f"{path}{n}")} for n, one in enumerate(kinds)]

    return json.dumps({"type": "record", "name": "One", "fields": fields(kinds, "")})


KIND = st.lists(AVRO_TYPE, min_size=1, max_size=3)
FRAGMENT = st.sampled_from([b"\x00", b"\x01", b"\x02", b"\x03\x04", b"\xff" * 9 + b"\x01", b"\x02\xff", b"\x80"])
SMALL = st.sampled_from([b"\x00", b"\x01", b"\x02", b"\xfe\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x0f"])
SIZED = st.binary(max_size=3).map(lambda data: bytes([len(data) * 2]) + data)
LEAVES = {
    "boolean": st.sampled_from([b"\x00", b"\x01"]), "int": SMALL, "float": st.binary(min_size=4, max_size=4),
    "long": st.one_of(SMALL, st.sampled_from([b"\xff" * 9 + b"\x01", b"\xfe" + b"\xff" * 8 + b"\x01"])),
    "double": st.binary(min_size=8, max_size=8), "bytes": SIZED, "enum": st.sampled_from([b"\x00", b"\x02"]),
    "string": st.one_of(st.sampled_from([b"\x00", b"\x02a", b"\x04\xc3\xbc", b"\x48" + b"0" * 36]), SIZED),
    "fixed": st.binary(min_size=3, max_size=3),
}  # fmt: skip


def avro_of(kind):
    """Bytes that often are a value of a type."""
    if isinstance(kind, list):
        return st.one_of(st.just(b"\x00"), avro_of(kind[1]).map(lambda data: b"\x02" + data))
    base = kind if isinstance(kind, str) else kind["type"]
    if base == "record":
        return st.tuples(*map(avro_of, kind["kinds"])).map(b"".join)
    if base == "array":
        return st.lists(avro_of(kind["items"]), max_size=2).map(blocks)
    if base == "map":
        return st.lists(avro_of(kind["values"]).map(lambda data: b"\x02k" + data), max_size=2).map(blocks)
    return LEAVES[base]


def blocks(items):
    return (bytes([len(items) * 2]) + b"".join(items) if items else b"") + b"\x00"


@st.composite
def avro_records(draw):
    """Types and a reader's others, which mostly are the same, and records of the former."""
    kinds = draw(KIND)
    others = [draw(st.one_of(st.just(kind), st.just(kind), AVRO_TYPE)) for kind in kinds][
        : draw(st.integers(1, 3))
    ]
    value = st.one_of(avro_of({"type": "record", "kinds": kinds}), st.lists(FRAGMENT, max_size=8).map(b"".join))
    return avro_text(kinds), avro_text(others), draw(chunk(value))


@settings(max_examples=60)
@given(avro_records())
def test_avro(made):
    schema, _, records = made
    hold(avro.Avro(schema).parser(), records)


@settings(max_examples=60)
@given(avro_records(), st.booleans())
def test_avro_of_another_schema(made, framed):
    written, read, records = made
    header = b"\x00\x00\x00\x00\x01" if framed else b""
    hold(avro.Avro(read, writers={1: written}).parser(), [header + one for one in records])


# Protobuf

TYPES = [n for n in range(1, 19) if n not in (KINDS.TYPE_GROUP, KINDS.TYPE_MESSAGE)]
MESSAGES = (".Inner", ".google.protobuf.Timestamp", ".google.protobuf.StringValue", ".google.protobuf.UInt64Value")
FIELD = st.tuples(
    st.one_of(st.sampled_from(TYPES), st.sampled_from(MESSAGES), st.just(KINDS.TYPE_STRING)),
    st.sampled_from(["one", "many", "map", "required"]),
)


def descriptors(syntax, fields, inner):
    """A message Outer with these fields, and one Inner, which has an enum, a text and what `inner` says."""
    from google.protobuf import timestamp_pb2, wrappers_pb2

    file = descriptor_pb2.FileDescriptorProto(name="any.proto", syntax=syntax)
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    kind = file.enum_type.add(name="Kind")
    for number, name in enumerate(("ZERO", "ONE")):
        kind.value.add(name=name, number=number)

    def add(message, name, number, kind, label):
        of_type = kind if isinstance(kind, str) else ".Kind" if kind == KINDS.TYPE_ENUM else None
        kind = KINDS.TYPE_MESSAGE if isinstance(kind, str) else kind
        message.field.add(name=name, number=number, type=kind, type_name=of_type, label=label)

    message = file.message_type.add(name="Inner")
    for number, kind in enumerate((KINDS.TYPE_ENUM, KINDS.TYPE_STRING, *inner), 1):
        add(message, f"i{number}", number, kind, KINDS.LABEL_OPTIONAL)
    message = file.message_type.add(name="Outer")
    labels = {"many": KINDS.LABEL_REPEATED, "map": KINDS.LABEL_REPEATED, "one": KINDS.LABEL_OPTIONAL}
    labels["required"] = KINDS.LABEL_REQUIRED if syntax == "proto2" else KINDS.LABEL_OPTIONAL
    for number, (kind, shape) in enumerate(fields, 1):
        if shape == "map":
            entry = message.nested_type.add(name=f"F{number}Entry")
            entry.options.map_entry = True
            add(entry, "key", 1, KINDS.TYPE_STRING if number % 2 else KINDS.TYPE_INT32, KINDS.LABEL_OPTIONAL)
            add(entry, "value", 2, kind, KINDS.LABEL_OPTIONAL)
            kind = f".Outer.F{number}Entry"
        add(message, f"f{number}", number, kind, labels[shape])
    found = descriptor_pb2.FileDescriptorSet()
    for needed in (timestamp_pb2, wrappers_pb2):
        needed.DESCRIPTOR.CopyToProto(found.file.add())
    found.file.add().CopyFrom(file)
    return found.SerializeToString()


def wire(data):
    return st.one_of(
        st.builds(lambda n, value: bytes([n << 3]) + value, st.integers(1, 4), st.sampled_from(
            [b"\x00", b"\x01", b"\x09", b"\xff" * 9 + b"\x01", b"\x80\x80\x80\x80\x10"])),
        st.builds(lambda n, size: bytes([n << 3 | (1 if size == 8 else 5)]) + b"\xff" * size,
                  st.integers(1, 4), st.sampled_from([4, 8])),
        st.builds(lambda n, inner: bytes([n << 3 | 2, len(inner)]) + inner, st.integers(1, 4), data),
    )  # fmt: skip


PROTOBUF_DATA = st.lists(
    wire(st.one_of(st.binary(max_size=5), st.lists(wire(st.binary(max_size=3)), max_size=3).map(b"".join))),
    max_size=4,
).map(b"".join)


VARINTS = st.sampled_from([b"\x00", b"\x01", b"\x09", b"\xff" * 9 + b"\x01"])
TEXTS = st.sampled_from([b"", b"a", "ü".encode(), b"\xff\xfe"])
FIXED = dict.fromkeys((KINDS.TYPE_DOUBLE, KINDS.TYPE_FIXED64, KINDS.TYPE_SFIXED64), (1, 8))
FIXED |= dict.fromkeys((KINDS.TYPE_FLOAT, KINDS.TYPE_FIXED32, KINDS.TYPE_SFIXED32), (5, 4))
WITHIN = {  # fields of the messages: number and type; 15 is a number that none has
    ".Inner": [(1, KINDS.TYPE_ENUM), (2, KINDS.TYPE_STRING), (15, KINDS.TYPE_INT64)],
    ".google.protobuf.Timestamp": [(1, KINDS.TYPE_INT64), (2, KINDS.TYPE_INT32)],
    ".google.protobuf.StringValue": [(1, KINDS.TYPE_STRING)],
    ".google.protobuf.UInt64Value": [(1, KINDS.TYPE_UINT64)],
}


def field_of(number, kind, shape="one"):
    """A field whose value often is of its type."""

    def long(data):
        return bytes([number << 3 | 2, len(data)]) + data

    if shape == "map":
        key = field_of(1, KINDS.TYPE_STRING if number % 2 else KINDS.TYPE_INT32)
        return st.tuples(key, field_of(2, kind)).map(b"".join).map(long)
    if kind in FIXED:
        wire_type, size = FIXED[kind]
        return st.binary(min_size=size, max_size=size).map(lambda data: bytes([number << 3 | wire_type]) + data)
    if kind in WITHIN:
        return st.lists(st.one_of([field_of(*one) for one in WITHIN[kind]]), max_size=2).map(b"".join).map(long)
    if kind in (KINDS.TYPE_STRING, KINDS.TYPE_BYTES):
        return TEXTS.map(long)
    return VARINTS.map(lambda data: bytes([number << 3]) + data)


@st.composite
def protobuf_records(draw):
    fields = draw(st.lists(FIELD, min_size=1, max_size=3))
    good = st.one_of([field_of(number, *one) for number, one in enumerate(fields, 1)])
    return fields, draw(chunk(st.one_of(st.lists(good, min_size=1, max_size=3).map(b"".join), PROTOBUF_DATA)))


@settings(max_examples=60)
@given(
    st.sampled_from(["proto2", "proto3"]), protobuf_records(), st.lists(st.sampled_from(TYPES), max_size=2),
    st.sampled_from(parsing.UNKNOWN_FIELDS), st.sampled_from([None, None, *framing.FRAMINGS]),
)  # fmt: skip
@example("proto2", ([(KINDS.TYPE_STRING, "one")], [b"\x0a\x02\xff\xfe"]), [], "ignore", None)
@example("proto2", ([(".Inner", "map")], [b"\x0a\x03\x0a\x01\xff"]), [], "ignore", None)
def test_protobuf(syntax, made, inner, unknown, framed):
    fields, records = made
    header = {
        None: b"",
        "confluent": b"\x00\x00\x00\x00\x01\x02\x02",
        "glue": b"\x03\x00" + b"\x00" * 16 + b"\x01",
    }
    parse = protobuf.Protobuf(descriptors(syntax, fields, inner), "Outer", unknown=unknown, framing=framed)
    hold(parse.parser(), [header[framed] + one for one in records] + records[:1])


# Aggregates

AGGREGATE = descriptor_pb2.FileDescriptorProto(name="aggregate.proto", package="kpl", syntax="proto2")
for name, fields in {  # its texts are bytes here, which are the same on the wire: the library looks at texts
    "Tag": [("key", "REQUIRED", "BYTES"), ("value", "OPTIONAL", "BYTES")],
    "Record": [
        ("partition_key_index", "REQUIRED", "UINT64"), ("explicit_hash_key_index", "OPTIONAL", "UINT64"),
        ("data", "REQUIRED", "BYTES"), ("tags", "REPEATED", "Tag"),
    ],
    "Whole": [("keys", "REPEATED", "BYTES"), ("hash_keys", "REPEATED", "BYTES"), ("records", "REPEATED", "Record")],
}.items():  # fmt: skip
    made = AGGREGATE.message_type.add(name=name)
    for number, (called, label, kind) in enumerate(fields, 1):
        within = kind in ("Tag", "Record")
        made.field.add(
            name=called, number=number, label=getattr(KINDS, f"LABEL_{label}"),
            type=KINDS.TYPE_MESSAGE if within else getattr(KINDS, f"TYPE_{kind}"),
            type_name=f".kpl.{kind}" if within else None,
        )  # fmt: skip
Whole = message_factory.GetMessages([AGGREGATE])["kpl.Whole"]
PLACES = st.one_of(st.integers(0, 3), st.sampled_from([127, 128, 300, 2**63, 2**64 - 1]))
RECORD = st.tuples(st.binary(max_size=200), PLACES, st.none() | PLACES)
KEY = st.text(max_size=5) | st.just("k" * 150)
MESSAGE = st.builds(
    lambda records, keys, hash_keys: message(*records, keys=keys, hash_keys=hash_keys),
    st.lists(RECORD, min_size=1, max_size=4), st.lists(KEY, max_size=3), st.lists(KEY, max_size=2),
)  # fmt: skip
PART = st.sampled_from(
    [field(1, b"k"), field(3, b""), field(4, 1), field(3, field(1, 0) + field(3, b"x")), b"\x00"]
)


@settings(max_examples=300)
@given(st.one_of(MESSAGE, spoiled(MESSAGE), st.lists(PART, max_size=5).map(b"".join), st.binary(max_size=40)))
def test_a_message_of_an_aggregate(body):
    """Whatever is in it: its records, as Google's library reads them, or one that says why not."""
    raw = sealed(body)
    found = aggregates.records(raw, "k")
    assert found and all(wrong is None or (WORD.fullmatch(wrong[0]) and wrong[1]) for _, _, wrong in found)
    assert all(wrong is None or len(wrong[1]) <= parsing.MESSAGE_LENGTH for _, _, wrong in found)
    if found[0][0] == raw:
        ((_, key, (reason, _)),) = found
        assert (key, reason) == ("k", "aggregated")
        return
    expected = Whole.FromString(body)
    keys, count = [one.decode("utf-8", "replace") for one in expected.keys], len(expected.hash_keys)
    assert [data for data, _, _ in found] == [one.data for one in expected.records]
    for (_, key, wrong), one in zip(found, expected.records, strict=True):
        place, hash_place = one.partition_key_index, one.explicit_hash_key_index
        assert key == (keys[place] if place < len(keys) else None)
        missing = one.HasField("explicit_hash_key_index") and hash_place >= count
        assert (wrong is not None) == (key is None or missing)


@given(st.lists(RECORD, min_size=1, max_size=4))
def test_an_aggregate_that_nobody_spoiled_is_taken_apart(records):
    found = aggregates.records(aggregate(*records, keys="abcd", hash_keys="1234"), "k")
    assert [data for data, _, _ in found] == [data for data, _, _ in records]


@given(st.one_of(st.binary(max_size=60), spoiled(MESSAGE.map(sealed))))
def test_bytes_that_may_be_an_aggregate(raw):
    found = aggregates.records(raw, "k")
    assert found and (found == [(raw, "k", None)]) == (aggregates.reason(raw) is None)
