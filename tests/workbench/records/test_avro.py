"""Avro records: columns of the schema, and a reason for everything that is no value of it."""

import json
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from employees import AVRO, record

from workbench import streams

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ONE = {"employee_id": 7, "age": 41, "start_date": NOON, "team": "Solutions Architects", "role": "ARCHITECT"}


def of(*fields, **more):
    return json.dumps(
        {"type": "record", "name": "One", "fields": [{"name": n, "type": t} for n, t in fields]} | more
    )


def parsed(schema, *data, **options):
    return streams.Avro(schema, **options).parser()(list(data))


def test_columns_of_the_schema(spark):
    found = streams.Avro(AVRO).fields()
    assert [(one.name, one.dataType.simpleString(), one.nullable) for one in found] == [
        ("employee_id", "bigint", False), ("age", "int", True), ("start_date", "timestamp", False),
        ("team", "string", False), ("role", "string", False),
    ]  # fmt: skip


def test_records_become_rows_and_others_are_dead(spark):
    good = [record(ONE), record(ONE | {"age": None})]
    data = [good[0], b"", good[1], good[0] + b"x", good[0][:-3], b"\xff" * 30]
    found = parsed(AVRO, *data)
    assert found.rows.to_pylist() == [ONE, ONE | {"age": None}] and found.good == [0, 2]
    assert [(place, reason) for place, reason, _ in found.dead] == [
        (1, "empty"), (3, "more_than_one"), (4, "not_avro"), (5, "not_avro"),
    ]  # fmt: skip
    assert found.dead[1][2] == "1 bytes follow the value"


@pytest.mark.parametrize(
    ("kind", "value", "spark_type"),
    [
        ("boolean", True, "boolean"),
        ("float", 1.5, "float"),
        ("bytes", b"\x00\xff", "binary"),
        ({"type": "fixed", "name": "F", "size": 2}, b"ab", "binary"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
            Decimal("-1.25"),
            "decimal(5,2)",
        ),
        ({"type": "int", "logicalType": "date"}, date(2026, 2, 28), "date"),
        ({"type": "long", "logicalType": "timestamp-micros"}, NOON.replace(microsecond=1), "timestamp"),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, NOON.replace(tzinfo=None), "timestamp_ntz"),
        ({"type": "array", "items": ["null", "long"]}, [1, None], "array<bigint>"),
        ({"type": "record", "name": "R", "fields": [{"name": "x", "type": "int"}]}, {"x": 1}, "struct<x:int>"),
    ],
)
def test_types(spark, kind, value, spark_type):
    schema = of(("v", kind))
    assert streams.Avro(schema).fields()["v"].dataType.simpleString() == spark_type
    assert parsed(schema, record({"v": value}, schema)).rows.to_pylist() == [{"v": value}]


def test_maps_and_uuids(spark):
    schema = of(("m", {"type": "map", "values": "long"}), ("u", {"type": "string", "logicalType": "uuid"}))
    one = uuid.UUID(int=7)
    found = parsed(schema, record({"m": {"a": 1}, "u": one}, schema)).rows.to_pylist()
    assert found == [{"m": [("a", 1)], "u": str(one)}]


def test_a_record_of_an_older_writer_is_resolved(spark):
    old, new = of(("id", "int")), json.loads(of(("id", "long")))
    new["fields"].append({"name": "note", "type": ["null", "string"], "default": None})
    framed = b"\x00" + (3).to_bytes(4, "big") + record({"id": 5}, old)
    found = parsed(json.dumps(new), framed, b"\x01" + framed[1:], b"\x00\x00\x00\x00\x09", b"", writers={3: old})
    assert found.rows.to_pylist() == [{"id": 5, "note": None}]
    assert [(place, reason) for place, reason, _ in found.dead] == [
        (1, "not_framed"), (2, "unknown_schema"), (3, "not_framed"),
    ]  # fmt: skip
    assert found.dead[1][2] == "no schema 9 was given; there are 3"


def test_values_that_their_own_type_does_not_hold(spark):
    wide = of(("v", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}))
    narrow = of(("v", {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2}))
    text = of(("v", "bytes"))
    found = parsed(narrow, record({"v": Decimal("1.25")}, wide), record({"v": Decimal("12345.67")}, wide))
    assert found.rows.to_pylist() == [{"v": Decimal("1.25")}]
    assert [(place, reason) for place, reason, _ in found.dead] == [(1, "out_of_range")]
    found = parsed(of(("v", "string")), record({"v": b"\xff\xfe"}, text))
    assert [(place, reason) for place, reason, _ in found.dead] == [(0, "not_utf8")]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "is not an Avro schema"),
        (of((5, "int")), "is not an Avro schema: the name of a field is 5"),
        (
            of(("v", "double")).replace('"double"', f'"double", "default": {2**1024}'),
            "is not an Avro schema: int too large",
        ),
        (
            of(("v", "int")).replace('"int"', '{"type":"array","items":' * 3000 + '"int"' + "}" * 3000),
            "is not an Avro",
        ),
        ('{"type": "recrd", "name": "A"}', "is not an Avro schema"),
        ('{"type": "array", "items": "long"}', "not that of a record"),
        (of(("v", ["null", "int", "string"])), "v is a union of 2 types"),
        (of(("v", {"type": "int", "logicalType": "time-millis"})), "logical type time-millis"),
        (of(("v", {"type": "array", "items": "null"})), r"v\.element is of the type null"),
        (of(("v", ["null", "One"])), "One holds itself"),
        (of(), "has no fields"),
    ],
)
def test_schemas_that_give_no_columns(spark, schema, said):
    with pytest.raises(ValueError, match=said):
        streams.Avro(schema).fields()


def test_a_logical_type_that_is_no_name_is_ignored(spark):
    schema = of(("v", {"type": "bytes", "logicalType": ["decimal"]}))
    assert streams.Avro(schema).fields().simpleString() == "struct<v:binary>"


def test_a_writers_schema_is_checked_before_a_record_comes(spark):
    with pytest.raises(ValueError, match="is not an Avro schema"):
        streams.Avro(AVRO, writers={1: "{"}).fields()
