"""Tests of a dbt project on Iceberg tables: dbt's own outcomes, whatever evidence told them.

`golden` holds what dbt-core 1.11.16 with dbt-duckdb 1.11.1 left of the same rows: its manifest, without macros, and its
outcomes.
"""

import json
import shutil
from pathlib import Path

import dbt_projects
import pytest
from dbt_projects import GOLDEN, PEOPLE, VISITS
from pyiceberg.types import StringType

from workbench import dbt
from workbench._base.errors import ArgumentError

PEOPLE_NAME, VISITS_NAME = '"shop"."main"."people"', '"shop"."main"."visits"'


@pytest.fixture
def tables(tmp_path):
    made = dbt_projects.tables(tmp_path, {"people": PEOPLE, "visits": VISITS})
    return {f'"shop"."main"."{name}"': table for name, table in made.items()}


@pytest.fixture
def target(tmp_path):
    return Path(shutil.copytree(GOLDEN, tmp_path / "target"))


def locations(tables):
    return {name: table.metadata_location for name, table in tables.items()}


def shape(outcomes):
    return {o.test.unique_id: [o.status, o.failures, None if o.status == "error" else o.message] for o in outcomes}


def told(outcomes):
    return {o.test.unique_id.split(".")[2]: o.told_by for o in outcomes}


def not_null(**settings):
    sql = f"select kind from {PEOPLE_NAME} where kind is null"
    return dbt.Test(unique_id="test.shop.kind", sql=sql, **settings)


DBTS = json.loads((GOLDEN / "dbt_outcomes.json").read_text())


def test_outcomes_are_dbts(target, tables):
    outcomes = dbt.prove(dbt.plan(dbt.tests(target)), locations(tables))
    assert shape(outcomes) == DBTS
    assert {name for name, by in told(outcomes).items() if by == "metrics"} == {"source_not_null_main_people_id"}


def test_unchanged_tables_are_known_and_failures_are_counted_again(target, tables, tmp_path):
    plan, ledger = dbt.plan(dbt.tests(target)), tmp_path / "ledger.db"
    first = dbt.prove(plan, locations(tables), ledger=ledger)
    again = dbt.prove(plan, locations(tables), ledger=ledger)
    assert shape(again) == shape(first) == DBTS
    assert {o.status for o in again if o.told_by == "known"} == {"pass"}
    assert {name for name, by in told(again).items() if by == "known"} == {
        "mail_allows", "source_not_null_main_people_id", "source_not_null_main_people_mail", "source_unique_main_people_id",
    }  # fmt: skip


def test_a_change_makes_the_tests_of_its_table_unknown(target, tables, tmp_path):
    plan, ledger = dbt.plan(dbt.tests(target)), tmp_path / "ledger.db"
    dbt.prove(plan, locations(tables), ledger=ledger)
    tables[PEOPLE_NAME].append(PEOPLE.slice(2))
    outcomes = dbt.prove(plan, locations(tables), ledger=ledger)
    assert "known" not in told(outcomes).values()
    assert shape(outcomes)["test.shop.source_unique_main_people_id.a23aaadb55"][:2] == ["fail", 1]


def test_a_run_that_ended_after_any_test_continues_with_what_it_proved(target, tables, tmp_path):
    plan, ledger = dbt.plan(dbt.tests(target)), tmp_path / "ledger.db"
    for n in range(len(plan)):
        dbt.prove(plan[:n], locations(tables), ledger=ledger)
    assert shape(dbt.prove(plan, locations(tables), ledger=ledger)) == DBTS


def test_a_parent_that_loses_a_row_fails_its_references(target, tables, tmp_path):
    plan, ledger = dbt.plan(dbt.tests(target)), tmp_path / "ledger.db"
    dbt.prove(plan, locations(tables), ledger=ledger)
    tables[PEOPLE_NAME].overwrite(PEOPLE.slice(1))
    (found,) = [
        o for o in dbt.prove(plan, locations(tables), ledger=ledger) if "relationships" in o.test.unique_id
    ]
    assert (found.status, found.failures) == ("fail", 2)


def test_a_dropped_column_that_was_added_again_is_another_column(tables, tmp_path):
    plan, ledger = dbt.plan([not_null()]), tmp_path / "ledger.db"
    assert [o.told_by for o in dbt.prove(plan, locations(tables), ledger=ledger)] == ["metrics"]
    with tables[PEOPLE_NAME].update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("kind")
    with tables[PEOPLE_NAME].update_schema() as update:
        update.add_column("kind", StringType())
    (outcome,) = dbt.prove(plan, locations(tables), ledger=ledger)
    assert (outcome.status, outcome.failures, outcome.told_by) == ("fail", 3, "dbt")


def test_two_tests_that_differ_in_one_constant_stay_two(tables, tmp_path):
    pair = [
        dbt.Test(unique_id=f"test.shop.t{n}", sql=f"select * from {PEOPLE_NAME} where id > {n}") for n in (3, 2)
    ]
    ledger = tmp_path / "ledger.db"
    dbt.prove(dbt.plan(pair[:1]), locations(tables), ledger=ledger)
    outcomes = dbt.prove(dbt.plan(pair), locations(tables), ledger=ledger)
    assert [(o.status, o.told_by) for o in outcomes] == [("pass", "known"), ("fail", "dbt")]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ("pass", 0, "metrics")),
        ({"warn_if": "= 0"}, ("warn", 0, "dbt")),
        ({"error_if": "= 0"}, ("fail", 0, "dbt")),
        ({"error_if": "= 0", "severity": "warn"}, ("pass", 0, "dbt")),
        ({"fail_calc": "count(*) + 1"}, ("fail", 1, "dbt")),
        ({"warn_if": "> 10", "error_if": "> 100"}, ("pass", 0, "dbt")),
    ],
)
def test_settings_decide_as_in_dbt(tables, settings, expected):
    (outcome,) = dbt.prove(dbt.plan([not_null(**settings)]), locations(tables))
    if settings.get("warn_if") == "> 10":
        expected = (*expected[:2], "metrics")
    assert (outcome.status, outcome.failures, outcome.told_by) == expected


@pytest.mark.parametrize(
    "sql",
    [
        f"select * from {PEOPLE_NAME} where current_date < date '2020-01-01'",
        f"select * from {PEOPLE_NAME} where random() > 1",
        f"select * from (select * from {PEOPLE_NAME} limit 1) where id > 3",
        f"select * from {PEOPLE_NAME} tablesample 1 rows where id > 3",
        f"select * from {PEOPLE_NAME} where an_unknown_function(id)",
        f"select row_number() over () as n from {PEOPLE_NAME} where id > 3",
        "select * from read_csv('a.csv')",
    ],
)
def test_what_depends_on_more_than_its_tables_is_never_known(sql):
    (planned,) = dbt.plan([dbt.Test(unique_id="test.shop.t", sql=sql)])
    assert (planned.kind, planned.steady and bool(planned.tables)) == ("own", False)


@pytest.mark.parametrize(
    "sql",
    [
        f"select count(*) from {PEOPLE_NAME} where kind is null",
        f"select kind from {PEOPLE_NAME} where kind.x is null",
        f"select kind, count(*) as n from {PEOPLE_NAME} group by kind having kind is null",
        f"with q as (select kind, count(*) as n from {PEOPLE_NAME} group by kind) select * from q where n > 3",
        f"with q(mail, kind) as (select kind, mail from {PEOPLE_NAME}) select * from q where kind is null",
        f"with q as (select * from p where id is null), p as (select * from {PEOPLE_NAME}) select * from q",
        f"select cast(mail as integer) from {PEOPLE_NAME} where kind is null",
        f"select max(kind) from {PEOPLE_NAME} where kind is null group by id",
        f"select kind from {PEOPLE_NAME} where kind is null union all select mail from {PEOPLE_NAME}",
        f"select p.kind from {PEOPLE_NAME} p left join {VISITS_NAME} v on true where v.note is null",
        f"select kind from {PEOPLE_NAME} p left join {PEOPLE_NAME} v on false where mail is null",
        "with q as (select null as kind) select kind from q where kind is null",
        f"select 1 as n from {PEOPLE_NAME} group by kind having kind is null",
    ],
)
def test_other_statements_are_not_judged_by_their_rows(sql):
    (planned,) = dbt.plan([dbt.Test(unique_id="test.shop.t", sql=sql)])
    assert planned.fails is None


def test_an_unknown_table_concerns_its_tests_alone(target, tables):
    outcomes = dbt.prove(dbt.plan(dbt.tests(target)), {PEOPLE_NAME: tables[PEOPLE_NAME].metadata_location})
    errors = {o.test.unique_id: o.message for o in outcomes if o.told_by == "nothing"}
    assert set(errors.values()) == {"shop.main.visits is not among the tables; they are shop.main.people"}
    assert {k: v for k, v in shape(outcomes).items() if k not in errors} == {
        k: v for k, v in DBTS.items() if k not in errors
    }


@pytest.mark.parametrize(
    "text", ["{% if flags.WHICH in ['test'] %}", "{{ flags['WHICH'] }}", "{{ invocation_args_dict.which }}"]
)
def test_a_test_that_asks_for_dbts_command_is_an_error_and_the_others_are_answered(target, tables, text):
    """As elementary's: `dbt compile` leaves a query without rows of them, which would pass."""
    asking, singular = "test.shop.source_unique_main_people_id.a23aaadb55", "test.shop.visits_divided"

    def change(manifest):
        macros = {"macro.shop.asks": (text, []), "macro.shop.test_all": ("{{ asks() }}", ["macro.shop.asks"])}
        macros["macro.shop.test_more"] = ("{{ test_all() }}", ["macro.shop.test_all"])
        manifest["macros"] = {
            name: {"macro_sql": sql, "depends_on": {"macros": called}} for name, (sql, called) in macros.items()
        }
        manifest["nodes"][asking]["depends_on"] = {"macros": ["macro.shop.test_more"]}
        manifest["nodes"][singular]["raw_code"] = text
        for name in (asking, singular):
            manifest["nodes"][name]["compiled_code"] = "select * from (select 1 as n) as none where 1 = 0"

    dbt_projects.edit(target, change)
    outcomes = dbt.prove(dbt.plan(dbt.tests(target)), locations(tables))
    errors = {o.test.unique_id: o.message for o in outcomes if o.told_by == "nothing"}
    assert set(errors) == {asking, singular}
    assert all("asks which command dbt runs" in message for message in errors.values())
    assert {k: v for k, v in shape(outcomes).items() if k not in errors} == {
        k: v for k, v in DBTS.items() if k not in errors
    }


@pytest.mark.parametrize("gone", ["metadata", "manifests", "rows"])
def test_a_table_that_is_removed_during_the_run_concerns_its_tests_alone(target, tables, gone):
    """As by DROP TABLE … PURGE after its pointer was read."""
    found, visits = locations(tables), tables[VISITS_NAME]
    path = {"metadata": visits.metadata_location, "manifests": visits.current_snapshot().manifest_list}.get(
        gone, next(iter(visits.scan().plan_files())).file.file_path
    )
    Path(path.removeprefix("file://")).unlink()
    outcomes = dbt.prove(dbt.plan(dbt.tests(target)), found)
    reads = {o.test.unique_id for o in outcomes if "visits" in o.test.sql}
    errors = {o.test.unique_id: o.message for o in outcomes if o.status == "error"}
    assert set(errors) <= reads | {name for name, outcome in DBTS.items() if outcome[0] == "error"}
    assert errors
    if gone != "rows":
        assert set(errors) >= reads
        assert any(f"the {gone} of shop.main.visits cannot be read" in message for message in errors.values())
    assert {k: v for k, v in shape(outcomes).items() if k not in reads} == {
        k: v for k, v in DBTS.items() if k not in reads
    }


def test_all_tests_see_one_state_though_tables_are_changed_during_the_run(target, tables):
    def commit(outcome):
        tables[PEOPLE_NAME].append(PEOPLE.slice(2))
        tables[VISITS_NAME].append(VISITS)

    outcomes = dbt.prove(dbt.plan(dbt.tests(target)), locations(tables), on_outcome=commit)
    assert shape(outcomes) == DBTS


def test_the_artifact_holds_each_outcome(target, tables):
    outcomes = dbt.prove(dbt.plan(dbt.tests(target)), locations(tables))
    results = json.loads(dbt.write(outcomes, target).read_text())
    written = {
        r["unique_id"]: [r["status"], r["failures"], None if r["status"] == "error" else r["message"]]
        for r in results["results"]
    }
    assert written == DBTS
    assert results["metadata"]["dbt_version"] == "1.11.16"


def test_a_manifest_that_cannot_be_used_is_refused(target, tmp_path):
    def refused(sentence, change=None):
        shutil.copyfile(GOLDEN / "manifest.json", target / "manifest.json")
        if change:
            dbt_projects.edit(target, change)
        with pytest.raises(ArgumentError, match=sentence):
            dbt.tests(target)

    with pytest.raises(ArgumentError, match="there is no .*manifest.json; run `dbt compile`"):
        dbt.tests(tmp_path / "elsewhere")
    refused(
        "must be of the adapter duckdb or spark, found redshift",
        lambda m: m["metadata"].update(adapter_type="redshift"),
    )
    refused(
        "v12.json, found .*v20.json",
        lambda m: m["metadata"].update(dbt_schema_version="https://schemas.getdbt.com/dbt/manifest/v20.json"),
    )
    refused(
        "1 of 11 tests .* are not compiled, such as test.shop.visits_divided",
        lambda m: m["nodes"]["test.shop.visits_divided"].pop("compiled_code"),
    )
    refused("has no tests", lambda m: m.update(nodes={}))
    (target / "manifest.json").write_text("{")
    with pytest.raises(ArgumentError, match="is not valid JSON"):
        dbt.tests(target)


def test_another_file_is_no_ledger(target, tables, tmp_path):
    (tmp_path / "ledger.db").write_text("a text that is not a database, and is longer than a header")
    with pytest.raises(ArgumentError, match="is not a ledger of dbt tests"):
        dbt.prove(dbt.plan(dbt.tests(target)), locations(tables), ledger=tmp_path / "ledger.db")


def test_files_elsewhere_are_refused_before_anything_is_read(target):
    elsewhere = {PEOPLE_NAME: "s3://lake/people/metadata/1.metadata.json"}
    with pytest.raises(
        ArgumentError, match="shop.main.people is in s3:, and DuckDB is asked about files of this machine"
    ):
        dbt.prove(dbt.plan(dbt.tests(target)), elsewhere)
