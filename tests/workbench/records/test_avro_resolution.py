"""Avro records of another schema than the reader's: defaults, promotions, and what a number means.

What Avro's Java library 1.12.1 reads from the same bytes with the same schemas was looked at for each kind of case. It
is the same but where both schemas name a meaning and they differ: Java takes milliseconds for microseconds and days for
milliseconds without a word, here they are converted or refused.
"""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_avro_values import AT, DAYS, ENUM, FIXED, LOCAL, MILLIS, PAIR, decimal, logical, schema, text, zigzag

from workbench import streams

FRAME = b"\x00\x00\x00\x00\x07"
OLD = {"type": "record", "name": "One", "fields": [{"name": "id", "type": "long"}]}


def resolved(written, read, *data):
    return streams.Avro(read, writers={7: written}).parser()([FRAME + one for one in data])


def with_default(kind, default):
    return json.dumps(OLD | {"fields": [*OLD["fields"], {"name": "more", "type": kind, "default": default}]})


DEFAULTS = [  # type, default as JSON, value
    ("boolean", True, True),
    ("int", 5, 5),
    ("long", -(2**63), -(2**63)),
    ("float", 1.5, 1.5),
    ("double", 1, 1.0),
    ("string", "ü", "ü"),
    ("bytes", "\u00ff\u0000", b"\xff\x00"),
    (FIXED, "\u00ff\u0000", b"\xff\x00"),
    (ENUM, "HEARTS", "HEARTS"),
    (["null", "string"], None, None),
    (["null", "string"], "a", "a"),  # since 1.12 not only of the first branch
    (["bytes", "null"], "\u00fe", b"\xfe"),
    ({"type": "array", "items": "bytes"}, ["\u00ff"], [b"\xff"]),
    ({"type": "map", "values": "bytes"}, {"a": "\u00ff"}, [("a", b"\xff")]),
    (PAIR, {"a": 1, "b": "x"}, {"a": 1, "b": "x"}),
    (logical("int", "date"), DAYS, date(2020, 1, 1)),
    (logical("long", "timestamp-millis"), MILLIS, AT),
    (logical("long", "timestamp-micros"), MILLIS * 1000, AT),
    (logical("long", "local-timestamp-millis"), MILLIS, LOCAL),
    (logical("long", "local-timestamp-micros"), MILLIS * 1000, LOCAL),
    (["null", logical("long", "timestamp-millis")], MILLIS, AT),
    (decimal(9, 2), "\u0000", Decimal("0.00")),
    (decimal(9, 2), "\u00ff\u0083", Decimal("-1.25")),
    (decimal(9, 2, "fixed", name="F", size=4), "\u0000\u0000\u0000\u007d", Decimal("1.25")),
    (logical("string", "uuid"), "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233-4455-6677-8899-aabbccddeeff"),
    ({"type": "array", "items": logical("long", "timestamp-millis")}, [MILLIS], [AT]),
]


@pytest.mark.parametrize(("kind", "default", "value"), DEFAULTS)
def test_a_default_is_read_as_its_type(kind, default, value):
    found = resolved(json.dumps(OLD), with_default(kind, default), b"\x02")
    assert found.rows.to_pylist() == [{"id": 1, "more": value}]


def test_a_default_within_a_default():
    inner = {
        "type": "record", "name": "Inner",
        "fields": [{"name": "raw", "type": "bytes", "default": "\u00ff"}, {"name": "n", "type": "long"}],
    }  # fmt: skip
    found = resolved(json.dumps(OLD), with_default(inner, {"n": 3}), b"\x02")
    assert found.rows.to_pylist() == [{"id": 1, "more": {"raw": b"\xff", "n": 3}}]


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("int", 2**31), ("long", 2**63), ("bytes", "\u0100"), (FIXED, "abc"), (ENUM, "CLUBS"), (["null", "int"], 2**31),
        ({"type": "array", "items": "bytes"}, ["\u0100"]), (decimal(3, 2), "\u007f\u007f"), (decimal(3, 2), ""),
        (logical("int", "date"), 2**31 - 1), (logical("string", "uuid"), "no"), (PAIR, {"a": 1}),
        ("float", 3.5e39), (["null", "float"], -3.5e39), ("double", float("inf")),
    ],
)  # fmt: skip
def test_a_default_that_is_no_value_of_its_type_is_refused_before_a_record_comes(kind, default):
    with pytest.raises(ValueError, match=r"the default of One\.more"):
        streams.Avro(with_default(kind, default), writers={7: json.dumps(OLD)}).fields()


MILLI, MICRO, NANO = (logical("long", f"timestamp-{unit}") for unit in ("millis", "micros", "nanos"))
MEANINGS = [  # written as, number, read as, value
    ("long", MILLIS, MILLI, AT),
    ("int", 1000, MILLI, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
    ("long", MILLIS * 1000, MICRO, AT),
    (MILLI, MILLIS, MILLI, AT),
    (MILLI, MILLIS, MICRO, AT),
    (MICRO, MILLIS * 1000 + 1, MILLI, AT.replace(microsecond=1)),
    (NANO, MILLIS * 1_000_000 + 1000, MICRO, AT.replace(microsecond=1)),
    (MILLI, MILLIS, "long", MILLIS),
    (MILLI, MILLIS, "double", float(MILLIS)),
    (logical("long", "of-my-own"), MILLIS, MILLI, AT),
    (logical("long", "time-micros"), 5, "long", 5),
    ("long", MILLIS, logical("long", "local-timestamp-millis"), LOCAL),
    (MILLI, MILLIS, logical("long", "local-timestamp-micros"), LOCAL),
    (["null", "long"], MILLIS, ["null", MILLI], AT),
    (["null", MICRO], MILLIS * 1000, ["null", MILLI], AT),
    (["null", "long"], MILLIS, MILLI, AT),
    ("long", MILLIS, ["null", MILLI], AT),
    ("int", DAYS, logical("int", "date"), date(2020, 1, 1)),
    (logical("int", "date"), DAYS, "int", DAYS),
    (logical("int", "date"), DAYS, "long", DAYS),
    (logical("int", "date"), DAYS, MILLI, AT),
]


@pytest.mark.parametrize(("written", "number", "read", "value"), MEANINGS)
def test_the_readers_schema_says_what_a_number_means(written, number, read, value):
    data = (b"\x02" if isinstance(written, list) else b"") + zigzag(number)
    found = resolved(schema(written), schema(read), data)
    assert found.rows["v"].to_pylist() == [value] and found.dead == []


@pytest.mark.parametrize(
    ("written", "data", "read", "value"),
    [
        ("bytes", b"\x02\x83", decimal(9, 2), Decimal("-1.25")),
        (decimal(9, 2), b"\x02\x83", "bytes", b"\x83"),
        (decimal(9, 2), b"\x02\x83", decimal(12, 4), Decimal("-1.2500")),
        (decimal(9, 4), b"\x04\x30\xd4", decimal(9, 2), Decimal("1.25")),
        ("string", text("ab"), "bytes", b"ab"),
        ("bytes", b"\x04ab", "string", "ab"),
        ("float", b"\x00\x00\xc0\x3f", "double", 1.5),
        ("int", b"\x06", "float", 3.0),
        ("long", b"\x06", "double", 3.0),
        ("string", text("00112233-4455-6677-8899-aabbccddeeff"), logical("string", "uuid"),
         "00112233-4455-6677-8899-aabbccddeeff"),
        ({"type": "array", "items": "int"}, b"\x02\x06\x00", {"type": "array", "items": "long"}, [3]),
        (ENUM, b"\x00", {"type": "enum", "name": "Suit", "symbols": ["HEARTS", "NONE"], "default": "NONE"}, "NONE"),
        (ENUM, b"\x02", {"type": "enum", "name": "a.b.Suit", "symbols": ["HEARTS"]}, "HEARTS"),
        ({**FIXED, "name": "Old"}, b"ab", {**FIXED, "name": "New", "aliases": ["Old"]}, b"ab"),
    ],
)  # fmt: skip
def test_promotions_and_names(written, data, read, value):
    found = resolved(schema(written), schema(read), data)
    assert found.rows["v"].to_pylist() == [value] and found.dead == []


@pytest.mark.parametrize(
    ("written", "data", "read", "reason", "said"),
    [
        ("string", text("1"), "long", "not_resolved", "One.v was written as string, and cannot be read as long"),
        ("long", b"\x02", "int", "not_resolved", "One.v was written as long, and cannot be read as int"),
        ("double", b"\x00" * 8, "float", "not_resolved", "One.v was written as double, and cannot be read as float"),
        (logical("int", "time-millis"), b"\x02", MILLI, "not_resolved",
         "One.v was written as int (time-millis), and cannot be read as long (timestamp-millis)"),
        ("string", text("1"), decimal(9, 2), "not_resolved",
         "One.v was written as string, and cannot be read as bytes (decimal)"),
        (MILLI, b"\x02", logical("int", "date"), "not_resolved",
         "One.v was written as long (timestamp-millis), and cannot be read as int (date)"),
        (FIXED, b"ab", {**FIXED, "size": 3}, "not_resolved",
         "One.v was written as fixed Two of 2 bytes, and cannot be read as fixed Two of 3 bytes"),
        (ENUM, b"\x00", {**ENUM, "name": "Other"}, "not_resolved",
         "One.v was written as enum Suit, and cannot be read as enum Other"),
        (ENUM, b"\x00", {**ENUM, "symbols": ["HEARTS"]}, "unknown_enum",
         "One.v: the reader's enum has no symbol SPADES, and no default"),
        (["null", "long"], b"\x00", "long", "not_resolved", "One.v was written as null, and cannot be read as long"),
        (NANO, b"\x02", MICRO, "too_precise", "1 ns are not a whole number of microseconds"),
        (decimal(9, 4), b"\x02\x01", decimal(9, 2), "too_precise", "the number has more than 2 digits behind the point"),
        ("bytes", b"\x02\xff", "string", "not_utf8", "a text is not UTF-8: invalid start byte"),
    ],
)  # fmt: skip
def test_schemas_that_do_not_go_together(written, data, read, reason, said):
    assert resolved(schema(written), schema(read), data).dead == [(0, reason, said)]


def test_a_branch_that_never_comes_stops_nothing():
    found = resolved(
        schema(["null", "string", "long"]), schema(["null", "long"]), b"\x04\x06", b"\x02\x02a", b"\x00"
    )
    assert found.rows["v"].to_pylist() == [3, None]
    assert [(place, reason) for place, reason, _ in found.dead] == [(1, "not_resolved")]


def test_a_field_without_a_default_an_alias_and_a_field_that_is_gone():
    written = json.dumps(OLD | {"fields": [{"name": "gone", "type": PAIR}, {"name": "was", "type": "int"}]})
    read = OLD | {"fields": [{"name": "now", "type": "long", "aliases": ["was"]}]}
    found = resolved(written, json.dumps(read), b"\x02" + text("x") + b"\x06")
    assert found.rows.to_pylist() == [{"now": 3}]
    found = resolved(written, json.dumps(OLD), b"\x02" + text("x") + b"\x06")
    assert found.dead == [(0, "not_resolved", "One.id is not in the writer's schema, and has no default")]


def test_a_writers_type_that_holds_itself_is_left_out():
    node = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
    written = json.dumps(OLD | {"fields": [{"name": "list", "type": node}, {"name": "id", "type": "long"}]})
    found = resolved(written, json.dumps(OLD), b"\x02" * 3 + b"\x00\x06", b"\x02" * 100_000, b"\x00\x08")
    assert found.rows["id"].to_pylist() == [3, 4]
    assert [(place, reason) for place, reason, _ in found.dead] == [(1, "too_deep")]


PLAIN = st.sampled_from(["boolean", "int", "long", "float", "double", "bytes", "string", ENUM, FIXED])
VALUE = {
    "boolean": st.booleans(), "int": st.integers(-(2**31), 2**31 - 1), "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False), "double": st.floats(allow_nan=False), "bytes": st.binary(max_size=4),
    "string": st.text(max_size=4), "enum": st.sampled_from(ENUM["symbols"]), "fixed": st.binary(min_size=2, max_size=2),
}  # fmt: skip


@st.composite
def written(draw):
    """Two or three fields of plain types, bare, in a union with null or in a list, and values of them."""
    kinds, value = [], {}
    for name, kind in zip("vwx", draw(st.lists(PLAIN, min_size=1, max_size=3)), strict=False):
        named = kind if isinstance(kind, str) else {**kind, "name": f"{kind['name']}{name}"}
        one = VALUE[kind if isinstance(kind, str) else kind["type"]]
        around = draw(st.sampled_from(["bare", "union", "list"]))
        kinds.append({"bare": named, "union": ["null", named], "list": {"type": "array", "items": named}}[around])
        value[name] = draw({"bare": one, "union": st.none() | one, "list": st.lists(one, max_size=3)}[around])
    return schema(*kinds), value


@settings(max_examples=200)
@given(written())
def test_whatever_fastavro_writes_is_read_as_fastavro_reads_it(made):
    known, value = made
    form, stream = fastavro.parse_schema(json.loads(known)), io.BytesIO()
    fastavro.schemaless_writer(stream, form, value)
    found = streams.Avro(known).parser()([stream.getvalue()])
    stream.seek(0)
    assert found.rows.to_pylist() == [fastavro.schemaless_reader(stream, form, None)] == [value]
