"""Rows as Python values, or with nulls: each value is stored as it was given, or refused by a sentence."""

import json
import math
import uuid
from collections import namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from light_cases import own_lake
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from workbench import light
from workbench.light import functions

PLACE = StructType(NestedField(101, "x", LongType(), required=True), NestedField(102, "y", StringType()))
TYPES = {
    "n": LongType(), "i": IntegerType(), "f": DoubleType(), "small": FloatType(), "ok": BooleanType(),
    "price": DecimalType(9, 2), "text": StringType(), "raw": BinaryType(), "three": FixedType(3), "u": UUIDType(),
    "day": DateType(), "at": TimestampType(), "moment": TimestamptzType(), "clock": TimeType(), "place": PLACE,
    "numbers": ListType(103, LongType(), element_required=False),
    "counts": MapType(104, StringType(), 105, LongType(), value_required=True),
}  # fmt: skip
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    *(NestedField(2 + number, name, kind) for number, (name, kind) in enumerate(TYPES.items())),
)
EAST = timezone(timedelta(hours=5))
NOON = datetime(2026, 1, 1, 12)
UUID = uuid.UUID(int=2**127 + 5)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    properties = own_lake(tmp_path_factory.mktemp("lake"))
    light.catalogs.load(properties).create_table("n.t", SCHEMA)
    return properties


def test_values_are_stored_as_they_were_given(lake):
    rows = [
        {"n": 2**62, "i": -5, "f": -0.0, "small": 0.1, "ok": False, "price": Decimal("-1.5"), "text": "é\0", "u": UUID,
         "raw": b"\0\xff", "three": b"ab\0", "day": date(1, 1, 1), "at": datetime(1500, 2, 28, 1, 2, 3, 4),
         "moment": NOON.replace(tzinfo=EAST), "clock": time(1, 2, 3, 4), "place": {"x": 1, "y": None},
         "numbers": [1, None], "counts": {"a": 1}},
        {"f": 3, "n": 4.0, "price": 7, "moment": NOON, "at": NOON.replace(tzinfo=EAST), "raw": "é".encode(), "u": UUID.bytes,
         "numbers": [], "counts": {}, "place": {"x": 2}},
        {"f": math.nan, "small": math.inf},
    ]  # fmt: skip
    light.append(lake, "n.t", [{"id": number, **row} for number, row in enumerate(rows)])
    answer = light.query(lake, "SELECT * FROM n.t WHERE id <= 2 ORDER BY id").to_pylist()
    assert [{name: value for name, value in row.items() if value is not None} for row in answer[:2]] == [
        {"id": 0, **rows[0], "small": 0.10000000149011612, "price": Decimal("-1.50"), "u": str(UUID),
         "moment": datetime(2026, 1, 1, 7, tzinfo=UTC), "counts": [("a", 1)]},
        {"id": 1, "f": 3.0, "n": 4, "price": Decimal("7.00"), "moment": NOON.replace(tzinfo=UTC), "u": str(UUID),
         "at": datetime(2026, 1, 1, 7), "raw": "é".encode(), "numbers": [], "counts": [],
         "place": {"x": 2, "y": None}},
    ]  # fmt: skip
    assert math.copysign(1, answer[0]["f"]) == -1
    assert math.isnan(answer[2]["f"]) and answer[2]["small"] == math.inf


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"i": 1.5}, "row 1 does not fit the columns: i is 1.5, which would be stored as 1 in a column of int32"),
        ({"n": -0.5}, "n is -0.5, which would be stored as 0"),
        ({"small": 1e300}, "small is 1e[+]300, which would be stored as inf in a column of float"),
        ({"f": True}, "f is True, which would be stored as 1.0"),
        ({"day": 5}, "day is 5, which would be stored as datetime.date.1970, 1, 6. in a column of date32"),
        ({"day": NOON}, "day is datetime.datetime.2026, 1, 1, 12, 0., which would be stored as datetime.date"),
        ({"at": 1_700_000_000}, "at is 1700000000, which would be stored as datetime.datetime.1970, 1, 1"),
        ({"moment": 1_700_000_000}, "moment is 1700000000, which would be stored as datetime.datetime.1970"),
        ({"clock": 5}, "clock is 5, which would be stored as datetime.time"),
        ({"clock": time(1, tzinfo=EAST)}, "clock is datetime.time.1, 0, tzinfo"),
        ({"place": {"x": 1, "z": 2}}, "place.z is not a field of the column; place has x, y"),
        ({"place": namedtuple("Row", "y x")(2, "a")}, "place is Row.y=2, x='a'., expected a dict of x, y"),
        ({"place": (1, "a")}, "place is .1, 'a'., expected a dict of x, y"),
        ({"numbers": [1, 2.5]}, "numbers.element is 2.5, which would be stored as 2"),
        ({"counts": {"a": 0.5}}, "counts.value is 0.5, which would be stored as 0"),
        ({"raw": "é"}, "raw is 'é', which would be stored as b'.xc3.xa9' in a column of large_binary"),
        ({"text": b"abc"}, "text is b'abc', which would be stored as 'abc' in a column of large_string"),
        ({"three": "abc"}, "three is 'abc', which would be stored as b'abc'"),
        ({"n": 2**70}, "row 1 does not fit the columns: n is .* too"),
        ({"text": "\ud800"}, "row 1 does not fit the columns: text is .*surrogates"),
        ({"id": None}, "the column id is required, and row 1 has null there"),
        ({"place": {"y": "a"}}, "place.x is required, and a row has null there"),
        ({"counts": {"a": None}}, "counts.value is required, and a row has null there"),
    ],
)
def test_a_value_that_would_be_changed_is_refused(lake, values, sentence):
    with pytest.raises(ValueError, match=sentence):
        light.append(lake, "n.t", [{"id": 100}, {"id": 101, **values}])
    assert light.query(lake, "SELECT count(*) AS n FROM n.t WHERE id >= 100").to_pylist() == [{"n": 0}]


def test_a_row_that_is_not_a_dict(lake):
    with pytest.raises(ValueError, match="row 1 is 5, expected a dict whose keys are columns"):
        light.append(lake, "n.t", [{"id": 100}, 5])


def test_nulls_of_an_arrow_table_in_required_columns(lake):
    """Those inside of what is null itself are none."""
    kind = light.catalogs.load(lake).load_table("n.t").schema().as_arrow()
    own = pa.schema([kind.field("id"), kind.field("place")])
    rows = pa.Table.from_pylist([{"id": 200, "place": None}, {"id": 201, "place": {"x": 1}}], own)
    assert light.append(lake, "n.t", rows).rows == 2
    for rows, sentence in (
        ([{"id": 202}, {"id": None}], "the column id is required, and row 1 has null there"),
        ([{"id": 202, "place": {"y": "a"}}], "place.x is required"),
    ):
        with pytest.raises(ValueError, match=sentence):
            light.append(lake, "n.t", pa.Table.from_pylist(rows, own))


def test_a_message_that_would_be_changed_or_lacks_a_value_fails_alone(lake):
    bodies = [{"id": 300}, {"id": None}, {"n": 1}, {"id": 301, "place": {"x": 1, "z": 2}}, {"id": 302, "at": 5},
              {"id": 303, "place": {"y": "a"}}, {"id": 304}]  # fmt: skip
    records = [{"messageId": f"m{n}", "body": json.dumps(body)} for n, body in enumerate(bodies)]
    answer = functions.handler(json.loads, catalog=lake, table="n.t", since=lambda _: datetime.now(UTC))(
        {"Records": records}
    )
    assert [failure["itemIdentifier"] for failure in answer["batchItemFailures"]] == ["m1", "m2", "m3", "m4", "m5"]
    written = light.query(lake, "SELECT id FROM n.t WHERE id >= 300 ORDER BY id")
    assert written["id"].to_pylist() == [300, 304]
