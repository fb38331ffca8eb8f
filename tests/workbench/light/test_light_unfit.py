"""Rows, values, keys and batches that do not fit: each a sentence, and what can be stored as it is, is stored."""

import datetime as dt
from decimal import Decimal
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from light_cases import own_lake
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    TruncateTransform,
    VoidTransform,
)
from pyiceberg.types import LongType, NestedField, StructType, TimeType, UUIDType

from workbench import light
from workbench.light import functions

SCHEMA = pa.schema(
    [
        ("id", pa.int64()), ("name", pa.string()), ("n", pa.int32()), ("at", pa.timestamp("us")), ("u", pa.uuid()),
        ("pair", pa.struct([("a", pa.int32()), ("b", pa.int32())])), ("parts", pa.list_(pa.int32())),
    ]
)  # fmt: skip
MOMENT = dt.datetime(2026, 5, 1, 12)


@pytest.fixture
def lake(tmp_path):
    lake = own_lake(tmp_path)
    light.catalogs.load(lake).create_table("n.t", SCHEMA)
    return lake


def row(id=1, **values):
    given = {"name": "x", "n": 7, "at": MOMENT, "u": uuid4().bytes, "pair": {"a": 1, "b": 2}, "parts": [1]}
    return {"id": id} | given | values


def arrow(*rows, **columns):
    table = pa.Table.from_pylist(list(rows) or [row()], SCHEMA)
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SELECT sum(id) AS total FROM n.t",
            "^total is greater than a long holds, and a sum of integers is a long; ",
        ),
        (
            "SELECT [sum(id)] AS all FROM n.t",
            r"^all is HUGEINT\[\], and integers of 128 bits are no type of Spark",
        ),
        ("SELECT name::INT FROM n.t", "ends in an error: Conversion Error: Could not convert string 'x' to INT32"),
        ("SELECT id * id FROM n.t", "ends in an error: Out of Range Error: Overflow in multiplication of INT64"),
        ("SELECT (SELECT id FROM n.t)", "ends in an error: Invalid Input Error: More than one row returned"),
        ("SELECT id FROM n.t WHERE id = $x", "ends in an error: Conversion Error: Could not convert string 'abc'"),
        ("PIVOT n.t ON name USING sum(id)", "^PIVOT has the columns that its rows tell"),
        ("SELECT 1 FROM n.t, n.T", r"^n\.t and n\.T are one name for DuckDB, which does not look at case"),
    ],
)
def test_a_statement_that_ends_in_an_error_of_an_engine(lake, sql, said):
    light.append(lake, "n.t", [row(2**62), row(2**62 + 1)])
    with pytest.raises(ValueError, match=said):
        light.query(lake, sql, **({"x": "abc"} if "$x" in sql else {}))


@pytest.mark.parametrize("value", [object(), 2**200], ids=["object", "integer"])
def test_a_value_that_duckdb_has_no_type_for(lake, value):
    with pytest.raises(ValueError, match="the statement, with these values and rows, ends in an error: "):
        light.query(lake, "SELECT id FROM n.t WHERE id = $x", x=value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (arrow(id=pa.array(["a"])), "^the column id is string, expected long$"),
        (arrow(n=pa.array([1], pa.int64())), "^the column n is long, expected int$"),
        (arrow(at=pa.array([MOMENT], pa.timestamp("us", "UTC"))), "^the column at is timestamptz, expected timestamp$"),
        (arrow(at=pa.array([1], pa.timestamp("ns"))), r"^the column at is timestamp\[ns\], not .* would lose data"),
        (arrow(pair=pa.array([{"a": 1, "c": 2}])), r"^the rows do not fit the columns: .*: pair\.c$"),
        (arrow(pair=pa.array([{"a": "x"}])), r"^the column pair\.a is string, expected int$"),
        (arrow(parts=pa.array([{"a": 1}])), r"^the rows do not fit the columns: .*: parts\.a$"),
        (arrow(parts=pa.array([3])), r"^the column parts is long, expected list<int>$"),
        (arrow().append_column("more", pa.array([1])), "^more is not a column; it has id, name, n, "),
        (arrow().append_column("id", pa.array([1])), "^the rows have the column id twice$"),
        ([row(), row(id="x")], "^row 1 does not fit the columns: id is 'x', expected int64: "),
        ([row(), row(name=3)], "^row 1 does not fit the columns: name is 3, expected string: "),
        ([row(at="2026-05-01")], "^row 0 does not fit the columns: at is '2026-05-01', expected timestamp"),
        ([row(n=Decimal("1.5"))], "^row 0 does not fit the columns: n is Decimal"),
        ([row(parts=["x"])], r"^row 0 does not fit the columns: parts is \['x'\], expected list<"),
    ],
)  # fmt: skip
def test_rows_that_do_not_fit(lake, rows, said, capsys):
    for write in (light.append, lambda *given: light.merge(*given, key=["id"])):
        with pytest.raises(ValueError, match=said):
            write(lake, "n.t", rows)
    assert capsys.readouterr().out == ""  # PyIceberg prints a table of what differs
    assert light.catalogs.load(lake).load_table("n.t").current_snapshot() is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (pa.table({"d": pa.array([Decimal("1.505")], pa.decimal128(10, 3))}), r"^the column d is decimal128\(10, 3\), not"),
        (pa.table({"n": pa.array([2**31], pa.uint32())}), "^the column n is uint32, not int32: Integer value 2147483648"),
        (pa.table({"id": pa.array([2**63], pa.uint64())}), "^the column id is uint64, not int64"),
        (pa.table({"at": pa.array([2**62], pa.timestamp("s"))}), r"^the column at is timestamp\[s\], not"),
        (pa.table({"name": pa.array([b"x"])}), "^the column name is binary, expected string$"),
        (pa.table({"raw": pa.array(["x"])}), "^the column raw is string, expected binary$"),
        ([{"at": dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(dt.timedelta(hours=-5)))}], "at has a time before the year 1 or after 9999 in UTC$"),
        ([{"day": np.datetime64("2020-01-01T05", "ns")}], "^row 0 does not fit the columns: day is "),
    ],
)  # fmt: skip
def test_values_that_the_type_of_a_column_does_not_hold(tmp_path, rows, said):
    lake = own_lake(tmp_path)
    light.catalogs.load(lake).create_table("n.v", VALUES)
    with pytest.raises(ValueError, match=said):
        light.append(lake, "n.v", rows)
    assert not list(tmp_path.rglob("*.parquet"))  # nothing is left behind


VALUES = pa.schema(
    [("id", pa.int64()), ("n", pa.int32()), ("d", pa.decimal128(10, 2)), ("at", pa.timestamp("us")),
     ("zoned", pa.timestamp("us", "UTC")), ("day", pa.date32()), ("f", pa.float32()), ("name", pa.string()),
     ("raw", pa.binary())]
)  # fmt: skip


def test_narrower_types_are_stored_as_the_column_has_them(tmp_path):
    lake = own_lake(tmp_path)
    catalog = light.catalogs.load(lake)
    catalog.create_table("n.v", VALUES)
    with catalog.load_table("n.v").update_spec() as update:
        for name, transform in (("id", BucketTransform(4)), ("n", TruncateTransform(10)), ("at", DayTransform())):
            update.add_field(name, transform)
        update.add_field("zoned", HourTransform())
    second = dt.datetime(2026, 5, 1, 12, 30)
    rows = pa.table(
        {"id": pa.array([7], pa.uint16()), "n": pa.array([-3], pa.int8()), "d": pa.array([Decimal(5)], pa.decimal128(3, 0)),
         "at": pa.array([second], pa.timestamp("s")), "zoned": pa.array([second], pa.timestamp("ms", "UTC")),
         "f": pa.array([np.float16(1.5)], pa.float16())}
    )  # fmt: skip
    light.append(lake, "n.v", rows)
    light.append(lake, "n.v", [{"id": 8, "zoned": pd.NaT, "day": pd.NaT}])
    expected = {"id": 7, "n": -3, "d": Decimal("5.00"), "at": second, "f": 1.5}
    for condition in ("id = 7", "n = -3", "t.\"at\" = '2026-05-01 12:30'"):
        answer = light.query(lake, f'SELECT id, n, d, t."at", f FROM n.v AS t WHERE {condition}')
        assert answer.to_pylist() == [expected]
    assert light.query(lake, "SELECT zoned, day FROM n.v WHERE id = 8").to_pylist() == [
        {"zoned": None, "day": None}
    ]


@pytest.mark.parametrize("transform", [IdentityTransform(), VoidTransform(), BucketTransform(4)])
def test_partitions_and_orders_by_uuid(tmp_path, transform):
    lake = own_lake(tmp_path)
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "u", UUIDType()))
    spec = PartitionSpec(PartitionField(2, 1000, transform, "part"))
    light.catalogs.load(lake).create_table(
        "n.u", schema, partition_spec=spec, sort_order=SortOrder(SortField(2, IdentityTransform()))
    )
    names = sorted(uuid4() for _ in range(4))
    light.append(lake, "n.u", [{"id": n, "u": name} for n, name in enumerate(names)])
    answer = light.query(lake, "SELECT u::VARCHAR AS u FROM n.u ORDER BY id").to_pylist()
    assert [row["u"] for row in answer] == list(map(str, names))


def test_a_partition_that_pyiceberg_does_not_write(tmp_path):
    lake = own_lake(tmp_path)
    spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "part"))
    light.catalogs.load(lake).create_table("n.c", Schema(NestedField(1, "clock", TimeType())), partition_spec=spec)
    with pytest.raises(
        ValueError, match=r"^PyIceberg does not write the partition bucket\[4\] of this table; write it"
    ):
        light.append(lake, "n.c", [{"clock": dt.time(1)}])


def test_a_left_out_field_that_a_table_is_partitioned_by(tmp_path):
    lake = own_lake(tmp_path)
    inner = StructType(NestedField(3, "r", LongType()), NestedField(4, "x", LongType()))
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "s", inner))
    spec = PartitionSpec(PartitionField(4, 1000, IdentityTransform(), "x"))
    light.catalogs.load(lake).create_table("n.f", schema, partition_spec=spec)
    light.append(lake, "n.f", pa.table({"id": [1], "s": pa.array([{"r": 3}], pa.struct([("r", pa.int64())]))}))
    assert light.query(lake, "SELECT s FROM n.f WHERE s.x IS NULL").to_pylist() == [{"s": {"r": 3, "x": None}}]


def test_messages_of_several_types_are_one_batch_and_a_bad_one_fails_alone(tmp_path):
    lake = own_lake(tmp_path)
    light.catalogs.load(lake).create_table("n.v", VALUES)
    bodies = {
        "tenth": {"d": pa.array([Decimal("1.5")], pa.decimal128(10, 1))},
        "cent": {"d": pa.array([Decimal("1.55")], pa.decimal128(10, 2))},
        "unsigned": {"n": pa.array([1], pa.uint32())},
        "signed": {"n": pa.array([1], pa.int32())},
        "too large": {"id": pa.array([2**63], pa.uint64())},
        "too fine": {"d": pa.array([Decimal("1.505")], pa.decimal128(10, 3))},
        "bytes": {"name": pa.array([b"\xff"])},
    }
    handle = functions.handler(lambda body: pa.table(bodies[body]), catalog=lake, table="n.v")
    answer = handle({"Records": [{"messageId": body, "body": body} for body in bodies]})
    failed = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
    assert failed == ["too large", "too fine", "bytes"]
    assert light.query(lake, "SELECT count(*) AS n, sum(d) AS d FROM n.v").to_pylist() == [
        {"n": 4, "d": Decimal("3.05")}
    ]


class Own(pa.ExtensionType):
    """A type of the user's own, which cannot be hashed."""

    def __init__(self):
        super().__init__(pa.int64(), "own")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def test_a_type_of_the_users_own(lake):
    column = pa.ExtensionArray.from_storage(Own(), pa.array([1], pa.int64()))
    with pytest.raises(ValueError, match="^the rows do not fit the columns: "):
        light.append(lake, "n.t", pa.table({"id": column}))


def test_half_a_character_is_no_text(lake):
    with pytest.raises(ValueError, match=r"^\$x is no text: surrogates not allowed at character 1$"):
        light.query(lake, "SELECT id FROM n.t WHERE name = $x", x="a\ud800")
    with pytest.raises(ValueError, match="^sql is no text: surrogates not allowed"):
        light.query(lake, "SELECT '\ud800' FROM n.t")


def test_required_columns_of_arrow(tmp_path):
    lake = own_lake(tmp_path)
    inner = pa.struct([pa.field("a", pa.int32(), nullable=False)])
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("pair", inner)])
    light.catalogs.load(lake).create_table("n.r", schema)
    given = pa.table({"id": [1, 2], "pair": pa.array([{"a": 1}] * 2, inner)})
    assert given.schema.field("id").nullable  # as pandas has it, and never null
    assert light.append(lake, "n.r", given).rows == 2
    assert light.append(lake, "n.r", given.select(["id"])).rows == 2  # what is null has nothing that is required
    optional = pa.struct([("a", pa.int32())])
    assert light.append(lake, "n.r", pa.table({"id": [1], "pair": pa.array([{"a": 1}], optional)})).rows == 1
    null = pa.array([{"a": None}], optional)
    for rows, said in (
        (given.set_column(0, "id", [[1, None]]), "^the column id is required, and row 1 has null there$"),
        (given.select(["pair"]), "^the column id is required, and the rows have none$"),
        (pa.table({"id": [1], "pair": null}), r"^pair\.a is required, and a row has null there$"),
    ):
        with pytest.raises(ValueError, match=said):
            light.append(lake, "n.r", rows)


def test_what_pandas_hands_over_is_stored(lake):
    frame = pd.DataFrame({"id": [1, 2], "name": [None, None], "at": [MOMENT, None]})
    frame["at"] = frame["at"].astype("datetime64[ns]")
    given = pa.Table.from_pandas(frame, preserve_index=False)
    assert str(given.schema.field("at").type) == "timestamp[ns]" and pa.types.is_null(
        given.schema.field("name").type
    )
    light.append(lake, "n.t", given)
    answer = light.query(lake, 'SELECT id, name, t."at" FROM n.t ORDER BY id').to_pylist()
    assert answer == [{"id": 1, "name": None, "at": MOMENT}, {"id": 2, "name": None, "at": None}]


def test_a_zone_of_a_column_is_kept_as_its_moment(tmp_path):
    lake = own_lake(tmp_path)
    light.catalogs.load(lake).create_table("n.z", pa.schema([("at", pa.timestamp("us", "UTC"))]))
    here = pa.array([dt.datetime(2026, 7, 1, 10)], pa.timestamp("us", "Europe/Berlin"))  # given as UTC
    light.append(lake, "n.z", pa.table({"at": here}))
    (found,) = light.query(lake, "SELECT * FROM n.z").to_pylist()
    assert found["at"] == dt.datetime(2026, 7, 1, 10, tzinfo=dt.UTC)


def test_columns_and_fields_in_another_order_are_merged_by_name(lake):
    light.append(lake, "n.t", [row(1), row(2)])
    changed = arrow(row(2, name="new", pair={"a": 3, "b": 4}), row(3, pair={"a": 5, "b": 6}))
    turned = pa.struct([("b", pa.int32()), ("a", pa.int32())])
    pairs = pa.array([{"b": 4, "a": 3}, {"b": 6, "a": 5}], turned)
    changed = changed.set_column(5, "pair", pairs).select(SCHEMA.names[::-1])
    assert light.merge(lake, "n.t", changed, key=["id"]).rows == 2
    answer = light.query(lake, "SELECT id, name, pair FROM n.t ORDER BY id").to_pylist()
    assert answer == [
        {"id": 1, "name": "x", "pair": {"a": 1, "b": 2}},
        {"id": 2, "name": "new", "pair": {"a": 3, "b": 4}},
        {"id": 3, "name": "x", "pair": {"a": 5, "b": 6}},
    ]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (["id", "id"], "^key is id, id, expected each column once$"),
        (["u"], "^the column u of the key is uuid, by which neither"),
        (["pair"], "^the column pair of the key is struct<"),
        (["id", "parts"], "^the column parts of the key is list<int>"),
    ],
)
def test_keys_by_which_no_row_is_found(lake, key, said):
    with pytest.raises(ValueError, match=said):
        light.merge(lake, "n.t", [row()], key=key)


def test_a_column_with_the_name_of_one_of_pyiceberg(tmp_path):
    lake = own_lake(tmp_path)
    light.catalogs.load(lake).create_table(
        "n.own", pa.schema([("id", pa.int64()), ("__source_index", pa.int64())])
    )
    with pytest.raises(ValueError, match="n.own has a column __source_index, which is what PyIceberg calls"):
        light.merge(lake, "n.own", [{"id": 1, "__source_index": 9}], key=["id"])


@pytest.mark.parametrize("record", [{"kinesis": {"data": ""}}, 3, {"messageId": "a"}], ids=str)
def test_a_batch_that_is_not_of_sqs_is_refused_as_a_whole(lake, record):
    handle = functions.handler(lambda body: [row()], catalog=lake, table="n.t")
    with pytest.raises(ValueError, match="^record 1 is not one of SQS: it has no messageId and body; it has "):
        handle({"Records": [{"messageId": "m", "body": ""}, record]})
    assert light.catalogs.load(lake).load_table("n.t").current_snapshot() is None


def test_properties_that_name_no_catalog(tmp_path):
    with pytest.raises(ValueError, match="^PyIceberg does not open the catalog: URI missing"):
        light.append({}, "n.t", [row()])


def test_metadata_that_is_cut_off(lake):
    light.append(lake, "n.t", [row()])
    path = light.catalogs.load(lake).load_table("n.t").metadata_location.removeprefix("file://")
    with open(path, "r+") as file:
        file.truncate(100)
    with pytest.raises(ValueError, match="the metadata of n.t, is not JSON: "):
        light.query(lake, "SELECT id FROM n.t")


@pytest.mark.parametrize("text", ["1446090911516064897", "7374031550911442214"])
def test_the_id_of_a_snapshot_as_a_text_is_no_time(lake, text):
    assert dt.datetime.fromisoformat(text).year in (1446, 7374)  # as Python reads it
    light.append(lake, "n.t", [row()])
    with pytest.raises(
        ValueError, match=rf"^n\.t has no tag, branch or time '{text}'.* id of a snapshot is an int$"
    ):
        light.query(lake, "SELECT id FROM n.t", at=text)
