"""Answers that were wrong without a word: each is right now, or refused by a sentence."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from light_cases import own_lake
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import DecimalType, IntegerType, ListType, LongType, NestedField, StringType, StructType

from workbench import light
from workbench.light import limits

TIMES = [datetime(1900, 3, 1, 5), datetime(1965, 7, 15, 12), datetime(1970, 1, 1), datetime(2020, 2, 29)]


@pytest.fixture
def lake(tmp_path):
    return own_lake(tmp_path)


def partitioned(lake, transform, times=TIMES):
    catalog = light.catalogs.load(lake)
    table = catalog.create_table("n.times", pa.schema([("ts", pa.timestamp("us"))]))
    with table.update_spec() as update:
        update.add_field("ts", transform, "part")
    light.append(lake, "n.times", [{"ts": moment} for moment in times])


def counted(lake, operator, moment):
    sql = f"SELECT count(*) AS n FROM n.times WHERE ts {operator} $moment"
    return light.query(lake, sql, moment=moment).to_pylist()[0]["n"]


@pytest.mark.parametrize("transform", [MonthTransform(), DayTransform()])
def test_times_before_1970_in_months_and_days_are_refused_where_they_are_compared(lake, transform, monkeypatch):
    partitioned(lake, transform)
    for operator in ("=", ">="):
        with pytest.raises(
            ValueError, match="its column ts may hold times before 1970, a partition cuts it to months"
        ):
            counted(lake, operator, TIMES[1])
    assert light.query(lake, "SELECT count(*) AS n FROM n.times").to_pylist() == [{"n": 4}]
    monkeypatch.setattr(limits, "_early_times", lambda *given: iter(()))  # the planted fault
    assert counted(lake, "=", TIMES[1]) == 0


@pytest.mark.parametrize("transform", [YearTransform(), HourTransform()])
def test_times_before_1970_in_years_and_hours_are_answered(lake, transform):
    partitioned(lake, transform)
    assert [counted(lake, "=", moment) for moment in TIMES] == [1] * 4
    assert [counted(lake, ">=", moment) for moment in TIMES] == [4, 3, 2, 1]


def test_times_from_1970_on_are_answered_in_days(lake):
    partitioned(lake, DayTransform(), [*TIMES[2:], None])
    assert [counted(lake, "=", moment) for moment in TIMES] == [0, 0, 1, 1]


def test_an_id_is_not_new_behind_an_overwrite_whose_beginning_expired(lake):
    catalog = light.catalogs.load(lake)
    table = catalog.create_table("n.t", pa.schema([("s", pa.string())]))
    light.append(lake, "n.t", [{"s": "A"}], ids="A")
    assert light.append(lake, "n.t", [{"s": "A"}], ids="A").rows == 0
    table.refresh()
    table.overwrite(pa.table({"s": pa.array(["A"], pa.string())}))
    current = table.current_snapshot().snapshot_id
    others = [snapshot.snapshot_id for snapshot in table.snapshots() if snapshot.snapshot_id != current]
    table.maintenance.expire_snapshots().by_ids(others).commit()
    with pytest.raises(light.IdsExpired, match="'A' may have been written by one of them"):
        light.append(lake, "n.t", [{"s": "A"}], ids="A")
    assert light.append(lake, "n.t", [{"s": "A"}], ids="A", id_column="s").rows == 0


def test_a_column_of_numbers_holds_no_ids(lake):
    light.catalogs.load(lake).create_table("n.t", pa.schema([("id", pa.int64())]))
    with pytest.raises(ValueError, match="id_column id of n.t is a column of long, and ids are texts"):
        light.append(lake, "n.t", [{"id": 17}], ids="17", id_column="id")


@pytest.mark.parametrize(
    "sql",
    [
        'with "{file}" as (select * from "{file}") select * from "{file}"',
        'select b.x from (with "{file}" as (select 1) select 1) a, "{file}" b',
        "with duckdb_settings as (select * from duckdb_tables), duckdb_tables as (select 1) select * from duckdb_settings",
        "with pg_am as (select 1) select * from pg_am",
        "with inside as (with a as (select 1) select * from a) select * from sqlite_master",
    ],
)
def test_a_name_of_with_is_no_file_and_no_view_of_duckdb(lake, tmp_path, sql):
    (tmp_path / "secret.csv").write_text("x\nsecret\n")
    with pytest.raises(ValueError, match="WITH gives the name|is not a table's name"):
        light.query(lake, sql.format(file=tmp_path / "secret.csv"))


def test_plain_names_of_with_are_answered(lake):
    light.catalogs.load(lake).create_table("n.t", pa.schema([("id", pa.int64())]))
    sql = "WITH Größe_1 AS (SELECT count(*) AS n FROM n.t) SELECT n FROM größe_1"
    assert light.query(lake, sql).to_pylist() == [{"n": 0}]


def test_none_but_spark_is_able_where_minus_zero_is_compared(lake):
    light.catalogs.load(lake).create_table("n.t", pa.schema([("id", pa.int64()), ("f", pa.float64())]))
    light.append(lake, "n.t", [{"id": 1, "f": 0.0}, {"id": 2, "f": 5.0}])
    compared = "SELECT * FROM n.t WHERE f < 0"
    assert light.able(lake, "n.t", compared)["datafusion"] == ()
    light.append(lake, "n.t", [{"id": 3, "f": -0.0}, {"id": 4, "f": 1.0}])
    for engine in ("duckdb", "pyiceberg", "polars", "datafusion"):
        (reason,) = light.able(lake, "n.t", compared)[engine]
        assert "its column f holds -0.0 and the statement compares it" in reason
        assert light.able(lake, "n.t", "SELECT * FROM n.t WHERE id < 3")[engine] == ()


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("a", pa.int64()), ("A", pa.int64())]),
        pa.schema([("l", pa.list_(pa.struct([("b", pa.int64()), ("B", pa.int64())])))]),
    ],
)
def test_columns_that_differ_by_case_only_are_refused(lake, schema):
    light.catalogs.load(lake).create_table("n.t", schema)
    with pytest.raises(ValueError, match="differ by case only, which DuckDB takes for one"):
        light.query(lake, "SELECT * FROM n.t")


@pytest.mark.parametrize("name", ["n.times", "own.n.times"])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", ""])
def test_moments_are_those_of_utc_on_a_machine_of_another_zone(lake, name, zone):
    """A cursor of DuckDB does not have the time zone that its connection was given."""
    catalog = light.catalogs.load(lake)
    catalog.create_table("n.times", pa.schema([("at", pa.timestamp("us", "UTC"))]))
    light.append(lake, "n.times", [{"at": datetime(2020, 1, 1, 23, 30, tzinfo=UTC)}])
    sql = (
        f'SELECT t."at"::DATE::VARCHAR AS day, hour(t."at") AS hour, t."at" = $moment AS same, '
        f"t.\"at\" < '2020-01-02' AS before, current_setting('TimeZone') AS zone FROM {name} AS t"
    )
    program = (
        "import datetime, json, sys\nfrom workbench import light\n"
        "lake, sql = json.loads(sys.stdin.read())\n"
        "print(json.dumps(light.query(lake, sql, moment=datetime.datetime(2020, 1, 1, 23, 30)).to_pylist()))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps([lake, sql]), env=os.environ | {"TZ": zone},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(answer.stdout) == [
        {"day": "2020-01-01", "hour": 23, "same": True, "before": True, "zone": "UTC"}
    ]


def test_fields_go_by_their_names_whatever_ids_a_file_of_another_table_gave_them(lake, tmp_path):
    """Arrow that is read from a file of Iceberg has the ids of that table in the types of structs and lists."""
    fields = (
        NestedField(1, "id", LongType()),
        NestedField(2, "p", _pair(3)),
        NestedField(5, "l", ListType(6, _pair(7))),
    )
    light.catalogs.load(lake).create_table("n.ids", Schema(*fields))

    def given(a, b):
        kinds = [pa.field(name, pa.int32(), metadata={b"PARQUET:field_id": str(id).encode()})
                 for name, id in (("a", a), ("b", b))]  # fmt: skip
        pair = pa.struct(kinds)
        return pa.table(
            {
                "id": [a],
                "p": pa.array([{"a": 10, "b": 20}], pair),
                "l": pa.array([[{"a": 10, "b": 20}]], pa.list_(pair)),
            }
        )

    for a, b in ((4, 3), (8, 7), (17, 18)):
        light.append(lake, "n.ids", given(a, b))
        light.merge(lake, "n.ids", given(a, b), key=["id"])
    pair = {"a": 10, "b": 20}
    answer = light.query(lake, "SELECT p, l FROM n.ids").to_pylist()
    assert answer == [{"p": pair, "l": [pair]}] * 3


def _pair(id):
    return StructType(NestedField(id, "a", IntegerType()), NestedField(id + 1, "b", IntegerType()))


@pytest.mark.parametrize("transform", [BucketTransform(16), IdentityTransform(), TruncateTransform(10)])
@pytest.mark.parametrize("scale", [0, 1, 3])
def test_decimals_of_another_scale_are_in_the_partition_of_their_value(lake, transform, scale):
    schema = Schema(NestedField(1, "amount", DecimalType(10, 2)), NestedField(2, "v", StringType()))
    spec = PartitionSpec(PartitionField(1, 1000, transform, "part"))
    light.catalogs.load(lake).create_table("n.amounts", schema, partition_spec=spec)
    amounts = [Decimal(number) for number in range(12)]
    given = pa.table({"amount": pa.array(amounts, pa.decimal128(10, scale)), "v": ["old"] * 12})
    light.append(lake, "n.amounts", given)
    if not isinstance(transform, TruncateTransform):  # of which DuckDB is refused a comparison
        for amount in amounts:
            sql = "SELECT v FROM n.amounts WHERE amount = $amount"
            assert light.query(lake, sql, amount=amount).to_pylist() == [{"v": "old"}]
    light.merge(lake, "n.amounts", [{"amount": amount, "v": "new"} for amount in amounts], key=["amount"])
    assert light.query(lake, "SELECT v, count(*) AS n FROM n.amounts GROUP BY v").to_pylist() == [
        {"v": "new", "n": 12}
    ]
