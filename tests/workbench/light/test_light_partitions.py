"""Partitions by which an engine passes over files that hold the rows."""

import operator
from decimal import Decimal
from operator import itemgetter

import pytest
from light_cases import own_lake
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import BinaryType, DecimalType, LongType, NestedField

from workbench import light

VALUES = [Decimal("-0.01"), Decimal("-12.34"), Decimal(9_999_999_999_999_999_999_999_999_999) / 10]


def test_a_decimal_that_a_partition_truncates_is_not_compared(tmp_path):
    """Of DuckDB 1.5.5 the answer is empty or an internal error."""
    lake = own_lake(tmp_path)
    catalog = light.catalogs.load(lake)
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "v", DecimalType(38, 2)))
    spec = PartitionSpec(PartitionField(2, 1000, TruncateTransform(2), "p"))
    catalog.create_table("n.t", schema, partition_spec=spec)
    light.append(lake, "n.t", [{"id": number, "v": value} for number, value in enumerate(VALUES)])
    assert light.query(lake, "SELECT * FROM n.t ORDER BY id")["v"].to_pylist() == VALUES
    assert light.query(lake, "SELECT count(*) AS n FROM n.t WHERE id >= 1").to_pylist() == [{"n": 2}]
    for condition in ("v = $x", "v >= $x", "w.w < $x"):
        source = "(SELECT id, v AS w FROM n.t) AS w" if "w" in condition else "n.t"
        with pytest.raises(
            ValueError, match="its column v is a decimal that a partition truncates and the statement"
        ):
            light.query(lake, f"SELECT id FROM {source} WHERE {condition}", x=VALUES[1])
    reasons = light.able(lake, "n.t", "SELECT id FROM n.t WHERE v = 1")
    assert "DuckDB computes such partitions wrongly" in reasons["duckdb"][0]


BYTES = [
    b"",
    b"\x00",
    b"\x00\xff",
    b"\xff",
    b"\xffab",
    b"\x80\x01",
    b"abc",
    b"abd",
    "é".encode(),
    b"a/b=c%2F",
    None,
]


@pytest.mark.parametrize("transform", [IdentityTransform(), TruncateTransform(1), BucketTransform(3)])
def test_bytes_by_which_a_table_is_partitioned(tmp_path, transform):
    """Written by append and by merge, from dicts, and found by each comparison as in Python."""
    lake = own_lake(tmp_path)
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "x", BinaryType()))
    spec = PartitionSpec(PartitionField(2, 1000, transform, "p"))
    table = light.catalogs.load(lake).create_table("n.t", schema, partition_spec=spec)
    rows = [{"id": number, "x": value} for number, value in enumerate(BYTES)]
    light.append(lake, "n.t", rows[:7], ids="a")
    light.merge(lake, "n.t", rows[4:], key=["id"])
    assert sorted(table.refresh().scan().to_arrow().to_pylist(), key=itemgetter("id")) == rows
    for name, compare, value in (
        ("=", operator.eq, b"abc"),
        ("<", operator.lt, b"\xff"),
        (">=", operator.ge, b"\xff"),
    ):
        ids = light.query(lake, f"SELECT id FROM n.t WHERE x {name} $value ORDER BY id", value=value)["id"]
        assert ids.to_pylist() == [row["id"] for row in rows if row["x"] is not None and compare(row["x"], value)]
