"""Tests of dbt, dbt_utils and dbt_expectations on tables that are fine, wrong, NULL and empty: the real dbt's outcomes.

`golden/packages_*.json.xz` hold the rows of four tables, the manifest that dbt-core 1.11.16 compiled of 57 tests on each,
without macros, and the outcomes that dbt left.
"""

import json
import lzma
from collections import Counter
from datetime import date

import lakes
import pyarrow as pa
import pytest
from dbt_projects import GOLDEN

from workbench import dbt

SCHEMA = pa.schema(
    [
        ("id", pa.int64()), ("kind", pa.string()), ("price", pa.float64()), ("day", pa.date32()),
        ("parent", pa.int64()), ("token", pa.string()),
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def golden():
    return json.loads(lzma.open(GOLDEN / "packages_duckdb.json.xz").read())


@pytest.fixture(scope="module")
def tables(golden, tmp_path_factory):
    """The four tables, of two files where they have more than two rows."""
    folder = tmp_path_factory.mktemp("lake")
    catalog = lakes.catalog(folder)
    catalog.create_namespace("main")
    locations = {}
    for name, rows in golden["rows"].items():
        table = catalog.create_table(f"main.{name}", SCHEMA)
        values = [dict(zip(SCHEMA.names, row, strict=True)) for row in rows]
        for row in values:
            row["day"] = row["day"] and date.fromisoformat(row["day"])
        for part in filter(None, (values[:2], values[2:])):
            table.append(pa.Table.from_pylist(part, schema=SCHEMA))
        locations[f'"shop"."main"."{name}"'] = table.metadata_location
    return locations


def compared(golden, tables, tmp_path, names):
    """Prove tests twice; return by what they were told, after each outcome was compared with dbt's."""
    manifest = golden["manifest"]
    nodes = {name: node for name, node in manifest["nodes"].items() if names(name)}
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "nodes": nodes}))
    plan, told = dbt.plan(dbt.tests(tmp_path)), []
    for _ in range(2):
        outcomes = dbt.prove(plan, tables, ledger=tmp_path / "ledger.db")
        shapes = {
            o.test.unique_id: [o.status, o.failures, None if o.status == "error" else o.message] for o in outcomes
        }
        assert shapes == {name: golden["outcomes"][name] for name in nodes}
        told.append(Counter(outcome.told_by for outcome in outcomes))
    return told


def test_outcomes_of_packages_are_dbts(golden, tables, tmp_path):
    first, _ = compared(golden, tables, tmp_path, lambda name: ".wrong_" in name)
    assert first.total() == 57


@pytest.mark.proof("the tests of one of four tables: test_outcomes_of_packages_are_dbts")
def test_all_outcomes_of_packages_are_dbts(golden, tables, tmp_path):
    first, again = compared(golden, tables, tmp_path, lambda name: True)
    assert first == {"dbt": 122, "metrics": 55, "scan": 31, "hash": 20}
    assert again == {"known": 135, "dbt": 93}
