"""What was understood of tests is kept in a file, and understood anew by another version."""

import json

import pytest

from workbench import dbt
from workbench.dbt import planning

SQL = {
    "rows": 'select * from "shop"."main"."people" where id < 0',
    "unique": 'select id as unique_field, count(*) as n_records from "shop"."main"."people" where id is not null '
    "group by id having count(*) > 1",
    "own": 'select * from "shop"."main"."people" where id < random()',
    "not SQL": "select from where",
}
TESTS = [dbt.Test(f"test.shop.{number}", sql) for number, sql in enumerate(SQL.values())]


def seen(plan):
    return [
        (entry.test, entry.kind, entry.tables, entry.steady, entry.columns, repr(entry.fails), repr(entry.unique))
        for entry in plan
    ]


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "plans.json"
    assert [entry.kind for entry in dbt.plan(TESTS, kept=path)] == ["rows", "unique", "own", "own"]
    return path


def understood(monkeypatch):
    """Return a list that takes each test which is understood anew."""
    anew, planned = [], planning._planned
    monkeypatch.setattr(planning, "_planned", lambda test, dialect: anew.append(test) or planned(test, dialect))
    return anew


def test_what_is_kept_is_what_is_understood(kept, monkeypatch):
    anew = understood(monkeypatch)
    assert seen(dbt.plan(TESTS, kept=kept)) == seen(dbt.plan(TESTS))
    assert anew == TESTS  # by the plan without a file
    more = dbt.Test("test.shop.more", 'select * from "shop"."main"."people" where id < 1')
    assert dbt.plan([*TESTS, more], kept=kept)[-1].kind == "rows"
    assert anew[len(TESTS) :] == [more]


@pytest.mark.parametrize("fault", ["another version", "a cut file", "no such entry", "another dialect"])
def test_what_something_else_understood_is_not_taken(kept, monkeypatch, fault):
    anew, dialect = understood(monkeypatch), "duckdb"
    content = json.loads(kept.read_text())
    if fault == "another version":
        kept.write_text(json.dumps(content | {"planner": "duckdb 1.0 0"}))
    elif fault == "a cut file":
        kept.write_text(kept.read_text()[:100])
    elif fault == "no such entry":
        kept.write_text(json.dumps({"tests": content["tests"]}))
    else:
        dialect = "spark"
    dbt.plan(TESTS, dialect=dialect, kept=kept)
    assert anew == TESTS
