"""Evidence that is cheaper than dbt's own statement says zero only where that statement does."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import lakes
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.types import LongType, StringType

from workbench import dbt
from workbench._base.errors import ArgumentError

NAME = '"shop"."main"."orders"'
SCHEMA = pa.schema(
    [
        ("id", pa.int32()), ("kind", pa.string()), ("price", pa.float64()), ("day", pa.date32()), ("note", pa.string()),
    ]
)  # fmt: skip


def rows(*values):
    return pa.Table.from_pylist(
        [dict(zip(SCHEMA.names, (*row, *[None] * (5 - len(row))), strict=True)) for row in values], schema=SCHEMA
    )


ORDERS = rows((1, "a", 1.5, date(2026, 1, 1), "x1"), (2, "b", 2.5, date(2026, 1, 2), "x2"))
MORE = rows((3, "a", 3.5, date(2026, 1, 3), "x3"))


@pytest.fixture
def orders(tmp_path):
    catalog = lakes.catalog(tmp_path)
    catalog.create_namespace("main")
    table = catalog.create_table("main.orders", SCHEMA, properties={"format-version": "2"})
    table.append(ORDERS)
    return table


def check(where, *, select="*", **options):
    return dbt.Test(unique_id=f"test.shop.{where}", sql=f"select {select} from {NAME} where {where}", **options)


def own(planned):
    """The same tests, answered by dbt's own statement alone."""
    return [replace(entry, kind="own", steady=False) for entry in planned]


def proved(tests, table, **options):
    """The outcomes, after they were compared with those of dbt's own statements."""
    planned, there = dbt.plan(tests), {NAME: table.metadata_location}
    outcomes = dbt.prove(planned, there, **options)
    counted = dbt.prove(own(planned), there)
    assert [(o.status, o.failures, o.message) for o in outcomes] == [
        (o.status, o.failures, o.message) for o in counted
    ]
    assert {o.told_by for o in counted} == {"dbt"}
    return outcomes


def told(outcomes):
    return [(outcome.told_by, outcome.files_read) for outcome in outcomes]


UNIQUE = f"select id as unique_field, count(*) as n_records from {NAME} where id is not null group by id having count(*) > 1"
KINDS = (
    f"with all_values as (select kind as value_field, count(*) as n_records from {NAME} group by kind) "
    "select * from all_values where value_field not in ('a','b')"
)


def test_each_kind_of_evidence(orders, tmp_path):
    tests = [
        check("id < 0"), check("note not like 'x%'"), dbt.Test("test.shop.kinds", KINDS),
        dbt.Test("test.shop.unique", UNIQUE), check("id > (select 5)"), check("id > 1"),
    ]  # fmt: skip
    ledger = tmp_path / "ledger.db"
    assert [entry.kind for entry in dbt.plan(tests)] == ["rows", "rows", "keys", "unique", "own", "rows"]
    first = proved(tests, orders, ledger=ledger)
    assert told(first) == [("metrics", 0), ("scan", 1), ("scan", 1), ("hash", 1), ("dbt", 1), ("dbt", 1)]
    assert [o.status for o in first] == ["pass"] * 5 + ["fail"]
    again = proved(tests, orders, ledger=ledger)
    assert [o.told_by for o in again] == ["known"] * 5 + ["dbt"]
    orders.append(MORE)
    grown = proved(tests, orders, ledger=ledger)
    assert told(grown) == [("metrics", 0), ("scan", 1), ("scan", 1), ("hash", 2), ("dbt", 2), ("dbt", 2)]
    with orders.update_schema() as update:
        update.add_column("more", StringType())
    widened = proved(tests, orders, ledger=ledger)
    assert told(widened)[1:3] == [("files", 0), ("files", 0)]


def test_a_compaction_leaves_what_is_known(orders, tmp_path):
    """A snapshot that only replaced files, as a compaction writes one; PyIceberg writes none itself."""
    tests, ledger = [check("note not like 'x%'")], tmp_path / "ledger.db"
    proved(tests, orders, ledger=ledger)
    orders.append(ORDERS.slice(0, 0))
    location = orders.metadata_location.removeprefix("file://")
    text = json.loads(Path(location).read_text())
    text["snapshots"][-1]["summary"]["operation"] = "replace"
    compacted = tmp_path / "00009-compacted.metadata.json"
    compacted.write_text(json.dumps(text))
    (outcome,) = dbt.prove(dbt.plan(tests), {NAME: str(compacted)}, ledger=ledger)
    assert outcome.told_by == "known"
    text["snapshots"][-1]["summary"]["operation"] = "overwrite"
    compacted.write_text(json.dumps(text))
    (outcome,) = dbt.prove(dbt.plan(tests), {NAME: str(compacted)}, ledger=ledger)
    assert outcome.told_by != "known"


def test_nan_is_greater_than_every_number(orders):
    orders.append(rows((3, "a", float("nan"))))
    outcomes = proved([check("price > 100"), check("not price <= 100"), check("price < 0")], orders)
    assert [o.failures for o in outcomes] == [1, 1, 0]


def test_metrics_of_texts_are_cut_and_can_be_missing(orders):
    orders.append(rows((3, "b" * 40 + "z", 1.0, None, "x")))
    tests = [check(f"kind > '{'b' * 40}y'"), check("kind > 'c'"), check("kind = 'zz'"), check("kind is null")]
    outcomes = proved(tests, orders)
    assert [(o.failures, o.told_by) for o in outcomes] == [
        (1, "dbt"),
        (0, "metrics"),
        (0, "metrics"),
        (0, "metrics"),
    ]
    with orders.transaction() as change:
        change.set_properties({"write.metadata.metrics.default": "none"})
    orders.append(rows((4, None, -1.0, None, "x")))
    outcomes = proved([*tests, check("price < 0"), check("day is null")], orders)
    assert [o.failures for o in outcomes] == [1, 0, 0, 1, 1, 2]


def test_a_column_that_is_wider_now(orders):
    with orders.update_schema() as update:
        update.update_column("id", LongType())
    outcomes = proved(
        [check("id > 5000000000"), check("id < 2"), check("id > 5000000000 or note like 'y%'")], orders
    )
    assert [(o.failures, o.told_by) for o in outcomes] == [(0, "metrics"), (1, "dbt"), (0, "scan")]


def test_files_are_read_by_field_and_not_by_name(orders, tmp_path):
    ledger = tmp_path / "ledger.db"
    tests = [check("coalesce(note, 'none') = 'none'"), check("note is null"), check("kind not like '_'")]
    assert told(proved(tests, orders, ledger=ledger)) == [("scan", 1), ("metrics", 0), ("scan", 1)]
    with orders.update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("note")
        update.rename_column("kind", "sort")
    with orders.update_schema() as update:
        update.add_column("note", StringType())
    outcomes = proved(tests, orders, ledger=ledger)
    assert [(o.status, o.failures) for o in outcomes] == [("fail", 2), ("fail", 2), ("error", None)]


def test_a_deleted_row_that_comes_back_was_proved_with_the_file(orders, tmp_path):
    ledger, tests = tmp_path / "ledger.db", [check("note like 'x2'")]
    orders.delete("id = 2")
    proved(tests, orders, ledger=ledger)
    first = orders.history()[0].snapshot_id
    orders.manage_snapshots().rollback_to_snapshot(first).commit()
    (outcome,) = proved(tests, orders, ledger=ledger)
    assert (outcome.status, outcome.failures) == ("fail", 1)


def test_an_empty_table_passes(tmp_path, orders):
    empty = orders.catalog.create_table("main.none", SCHEMA)
    planned = dbt.plan([check("id > 0"), dbt.Test("test.shop.unique", UNIQUE)])
    there = {NAME: empty.metadata_location}
    outcomes = dbt.prove(planned, there)
    assert [(o.status, o.failures) for o in outcomes] == [
        (o.status, o.failures) for o in dbt.prove(own(planned), there)
    ]


def test_a_name_that_stands_for_another_column(orders):
    hidden = f"select kind from (select null as kind from {NAME}) where kind is null"
    renamed = f"with q as (select note as kind from {NAME}) select * from q where kind is null or kind like 'x1'"
    outcomes = proved([dbt.Test("test.shop.hidden", hidden), dbt.Test("test.shop.renamed", renamed)], orders)
    assert [outcome.failures for outcome in outcomes] == [2, 1]


@pytest.mark.parametrize("select", ["missing", "id, no_such_function(id)", "id, sum(id)"])
def test_what_dbt_cannot_read_is_an_error_though_no_row_could_fail(orders, select):
    (outcome,) = proved([check("id < 0", select=select)], orders)
    assert outcome.status == "error"


def test_a_row_that_raises_concerns_its_test_alone(orders):
    tests = [check("cast(note as integer) > 1"), check("id < 0"), check("1 / (id - 1) > 1 and error(note) = 1")]
    assert [o.status for o in proved(tests, orders)] == ["error", "pass", "error"]


def test_the_ledger_of_another_project_is_refused(orders, tmp_path):
    ledger = tmp_path / "ledger.db"
    proved([check("id < 0")], orders, ledger=ledger)
    other = dbt.plan([dbt.Test("test.bank.accounts", f"select * from {NAME} where id < 0")])
    with pytest.raises(ArgumentError, match=r"is the ledger of the project shop, and the tests are of bank"):
        dbt.prove(other, {NAME: orders.metadata_location}, ledger=ledger)


NUMBERS = st.sampled_from([-1, 0, 1, 2, 3])
LEAVES = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(["id", "price"]), st.sampled_from(["<", "<=", "=", "<>", ">", ">="]), NUMBERS),
    st.builds("{} is {}".format, st.sampled_from(SCHEMA.names), st.sampled_from(["null", "not null"])),
    st.builds("id between {} and {}".format, NUMBERS, NUMBERS),
    st.builds("id {} ({}, {})".format, st.sampled_from(["in", "not in"]), NUMBERS, NUMBERS),
    st.builds("kind {} 'b'".format, st.sampled_from(["<", "=", "<>", ">", "like"])),
    st.builds("day {} date '2026-01-0{}'".format, st.sampled_from(["<", "=", ">="]), st.integers(1, 4)),
    st.sampled_from(["1 = 1", "1 = 2", "length(note) > 2", "trim(kind) = ''", "(id > 1) = true", "(kind = 'a') = false"]),
)  # fmt: skip
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)
VALUES = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1, 2]), st.sampled_from([None, "a", "b", ""]),
        st.sampled_from([None, 0.5, 1.0, float("nan")]), st.sampled_from([None, date(2026, 1, 2)]),
        st.sampled_from([None, "xy", "xyz"]),
    ),
    max_size=3,
)  # fmt: skip


@pytest.mark.proof("conditions by hand, each with its evidence: test_each_kind_of_evidence")
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(VALUES, min_size=1, max_size=3),
    conditions=st.lists(CONDITIONS, min_size=12, max_size=12),
    data=st.data(),
)
def test_random_conditions_on_random_files(orders, tmp_path, files, conditions, data):
    orders.overwrite(rows(*files[0]))
    for values in files[1:]:
        orders.append(rows(*values))
    if data.draw(st.booleans()):
        orders.delete("id = 1")
    proved([check(condition) for condition in conditions], orders, ledger=tmp_path / "ledger.db")
