"""`workbench dbt test --replay`, and the artifact that dbt reads: by the real dbt of the engine `dbt`."""

import hashlib
import json
import shutil
import subprocess
import sys

import dbt_projects
import duckdb
import jinja2
import lakes
import pyarrow as pa
import pytest
from dbt_projects import PEOPLE
from typer.testing import CliRunner

from workbench import dbt
from workbench._base.errors import ArgumentError
from workbench.dbt import replaying
from workbench.dbt.in_dbt import child
from workbench.dbt.outcomes import Outcome
from workbench_ops.cli import app

VISITS = pa.table({"person": [1, 2, 3], "note": ["x1", "x2", "x3"]})
SOURCES = {
    "people": {
        "id": ["unique", "not_null"],
        "mail": ["not_null", {"not_null": {"name": "mail_may_lack_one", "config": {"warn_if": "> 1", "error_if": "> 1"}}}],
        "kind": [{"accepted_values": {"arguments": {"values": ["a", "b"]}, "config": {"severity": "warn"}}}],
    },
    "visits": {
        "person": ["unique", {"relationships": {"arguments": {"to": "source('main', 'people')", "field": "id"}}}],
        "note": [{"not_null": {"config": {"store_failures": True}}}],
    },
}  # fmt: skip
SINGULAR = {
    # passes because it has rows: emptied, it would warn
    "must_have_rows": '{{ config(warn_if="= 0", error_if="= 0") }}\nselect * from {{ source("main", "visits") }} where length(note) > 0',
    "no_long_note": "select * from {{ source('main', 'visits') }} where length(note) > {{ var('most', 5) }}",
}
HOOK = '\non-run-end: ["{{ keep(results) }}"]\n'
KEEP = """
{% macro keep(results) %}
  create or replace table main.kept as
  select * from (values {% for r in results %}('{{ r.node.unique_id }}', '{{ r.status }}', {{ r.failures }})
  {%- if not loop.last %}, {% endif %}{% endfor %}) as kept(id, status, failures)
{% endmacro %}
"""
BY_DBT = pytest.mark.proof(
    "what may be emptied, without dbt: test_a_text_is_emptied_where_it_is_the_one_that_was_proved, "
    "test_what_needs_rows_to_pass_is_not_emptied"
)
STATUSES = {
    "must_have_rows": ["pass", 0],
    "no_long_note": ["pass", 0],
    "mail_may_lack_one": ["pass", 0],
    "source_unique_main_people_id": ["pass", 0],
    "source_not_null_main_people_id": ["pass", 0],
    "source_not_null_main_people_mail": ["fail", 1],
    "source_accepted_values_main_people_kind__a__b": ["warn", 1],
    "source_unique_main_visits_person": ["pass", 0],
    "source_relationships_main_visits_person__id__source_main_people_": ["pass", 0],
    "source_not_null_main_visits_note": ["pass", 0],
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A project of dbt-duckdb that dbt compiled, still without tables."""
    dbt_projects.python()
    folder = tmp_path_factory.mktemp("project")
    dbt_projects.write(folder, SOURCES, SINGULAR, {"keep": KEEP}, HOOK)
    dbt_projects.show(folder, {})
    dbt_projects.run(folder, "compile")
    return folder


@pytest.fixture
def project(compiled, tmp_path):
    """The project on two tables of a catalog."""
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    lakes.environment(tmp_path)
    dbt_projects.tables(tmp_path, {"people": PEOPLE, "visits": VISITS})
    show(tmp_path)
    return tmp_path


def show(project):
    catalog = lakes.catalog(project)
    names = ("people", "visits")
    dbt_projects.show(project, {name: catalog.load_table(f"main.{name}").metadata_location for name in names})


def called(project, *options):
    command = ["dbt", "test", "--target", str(project / "target"), "--environment", str(project / "own.yml")]
    return CliRunner().invoke(app, [*command, *options])


def by_name(outcomes):
    return {unique_id.split(".")[2]: outcome for unique_id, outcome in outcomes.items()}


def kept(project):
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        return {row[0]: list(row[1:]) for row in connection.execute("from main.kept").fetchall()}


def texts(path):
    return [result["compiled_code"] or "" for result in json.loads(path.read_text())["results"]]


def rendered(raw, proved):
    text = child.EMPTIED.format(raw=raw, digest=hashlib.md5(proved.encode()).hexdigest(), evidence="known")
    local_md5 = lambda value: hashlib.md5(value.encode()).hexdigest()  # noqa: E731
    return jinja2.Environment().from_string(text).render(local_md5=local_md5, most=5)


def test_a_text_is_emptied_where_it_is_the_one_that_was_proved():
    raw = "\n{% set least = 1 %}\nselect * from t where n > {{ most }} -- or {{ least }}"
    proved = "\n\nselect * from t where n > 5 -- or 1"
    emptied = rendered(raw, proved)
    assert emptied.startswith("/* iceberg-workbench: no row fails, told by known */\nselect * from (\n")
    assert emptied.endswith(f"{proved}\n) as workbench_proved where 1 = 0")
    assert rendered(raw, proved.replace("5", "6")) == proved


@pytest.mark.parametrize(
    ("told_by", "settings", "emptied"),
    [
        ("known", {}, True),
        ("scan", {"warn_if": "> 10"}, True),
        ("dbt", {}, False),  # by its own statement a moment ago, which may ask a clock
        ("known", {"warn_if": "= 0"}, False),
        ("known", {"error_if": "< 1"}, False),
        ("known", {"fail_calc": "max(n)"}, False),  # NULL without rows
    ],
)
def test_what_needs_rows_to_pass_is_not_emptied(told_by, settings, emptied):
    test = dbt.Test("test.shop.t", "select 1", **settings)
    assert replaying._emptied(Outcome(test, "pass", 0, None, told_by)) is emptied
    assert not replaying._emptied(Outcome(test, "warn", 1, "Got 1 result", told_by))


@BY_DBT
def test_dbt_runs_with_proved_tests_emptied_and_has_the_same_outcomes(project):
    first = called(project, "--replay")
    assert first.exit_code == 1, first.output
    assert "the replay by dbt agrees with all 10 tests; 5 of them it asked for no rows" in first.stdout
    again = called(project, "--replay")
    assert "the replay by dbt agrees with all 10 tests; 7 of them it asked for no rows" in again.stdout
    theirs = dbt_projects.results(project / "target" / "replay" / "run_results.json")
    ours = dbt_projects.results(project / "target" / "run_results.json")
    assert by_name(theirs) == by_name(ours) == STATUSES
    assert kept(project) == theirs  # a hook sees all of them
    manifest = json.loads((project / "target" / "manifest.json").read_text())
    assert child.MARK not in json.dumps(manifest)  # the next run judges the tests themselves
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        stored = "select table_name from information_schema.tables where table_schema like '%audit'"
        assert connection.execute(stored).fetchall() == [("source_not_null_main_visits_note",)]


@BY_DBT
def test_an_emptied_test_reads_no_file(project):
    assert called(project).exit_code == 1
    (file,) = (project / "main" / "visits" / "data").glob("*.parquet")
    file.unlink()
    result = called(project, "--replay")
    assert "differs  test.shop.must_have_rows" in result.stdout  # which is run by dbt itself
    assert result.stdout.count("differs  ") == 1, result.stdout
    assert result.exit_code == 1


@BY_DBT
def test_a_test_with_another_text_than_the_proved_one_is_run(project):
    result = called(project, "--replay", "--dbt-option", "--vars={most: 1}")
    assert "differs  test.shop.no_long_note: pass, 0 failures; dbt: fail, 3 failures" in result.stdout
    assert result.exit_code == 1


@BY_DBT
def test_a_table_that_moved_before_dbt_ran_is_named(project, monkeypatch):
    replay = dbt.replay

    def late(*arguments, **named):
        lakes.catalog(project).load_table("main.visits").append(VISITS)
        return replay(*arguments, **named)

    monkeypatch.setattr(dbt, "replay", late)
    result = called(project, "--replay")
    assert "shop.main.visits was changed by a commit during the run" in result.stdout
    assert result.exit_code == 1


@BY_DBT
def test_dbt_selects_by_the_artifact(project):
    assert called(project).exit_code == 1
    shutil.copytree(project / "target", project / "state")
    for status, name in (("fail", "people_mail"), ("warn", "people_kind")):
        listed = dbt_projects.run(project, "--quiet", "ls", "--select", f"result:{status}", "--state", "state")
        assert len(listed.splitlines()) == 1
        assert name in listed
    passed = dbt_projects.run(project, "--quiet", "ls", "--select", "result:pass", "--state", "state")
    assert len(passed.splitlines()) == 8


@BY_DBT
def test_dbt_spark_runs_in_a_session_of_the_environment(project):
    """A process of its own, because the session here is of another environment."""
    profiles = project / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("target: duckdb", "target: spark"))
    python, environment = dbt_projects.python(), str(project / "own.yml")
    plain = dbt.replay([], project / "target", python=python, environment=environment)
    expected = dbt_projects.results(plain.path)
    assert (by_name(expected), plain.emptied, plain.exit_code) == (STATUSES, 0, 1)
    shutil.copy(project / "target" / "replay" / "manifest.json", project / "target" / "manifest.json")
    command = ["dbt", "test", "--target", str(project / "target"), "--environment", environment, "--replay"]
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "workbench_ops.cli", *command], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stderr
        assert "the replay by dbt agrees with all 10 tests" in done.stdout
    assert dbt_projects.results(plain.path) == expected
    assert sum(child.MARK in text for text in texts(plain.path)) == 7


@BY_DBT
def test_what_cannot_be_replayed_is_refused(project):
    result = called(project, "--replay", "--dbt-python", sys.executable)
    assert isinstance(result.exception, ArgumentError)
    assert "dbt could not run the tests of " in str(result.exception)
    assert "ModuleNotFoundError: No module named 'dbt'" in str(result.exception)
    (project / "dbt_project.yml").rename(project / "away.yml")
    result = called(project, "--replay")
    assert "there is no dbt_project.yml in" in str(result.exception)
    result = called(project, "--dbt-option", "--vars={}")
    assert str(result.exception) == "--dbt-python and --dbt-option are for --replay"
