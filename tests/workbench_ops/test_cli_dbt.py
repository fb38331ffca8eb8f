"""`workbench dbt test`: what it prints, what it writes, and its exit codes."""

import json
import shutil
from datetime import date
from pathlib import Path

import lakes
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app

GOLDEN = Path(__file__).parents[1] / "workbench" / "dbt" / "golden"
PEOPLE = pa.table({"id": [1, 2, 3], "mail": [None, "b@x", "c@x"], "kind": ["a", "b", "z"]})
VISITS = pa.table(
    {
        "person": [1, 2, 9, None],
        "day": [date(2026, 1, 2), date(2026, 1, 3), date(2026, 1, 4), date(2025, 12, 31)],
        "note": ["1", "x", "2", "3"],
    }
)


@pytest.fixture
def project(tmp_path):
    """A catalog with two tables, and the manifest that dbt left of a project of tests on them."""
    lakes.environment(tmp_path)
    catalog = lakes.catalog(tmp_path)
    catalog.create_namespace("main")
    for name, rows in (("main.people", PEOPLE), ("main.visits", VISITS)):
        catalog.create_table(name, rows.schema).append(rows)
    shutil.copytree(GOLDEN, tmp_path / "target")
    return tmp_path


def called(project, *options):
    command = ["dbt", "test", "--target", str(project / "target"), "--environment", str(project / "own.yml")]
    return CliRunner().invoke(app, [*command, *options])


def edited(project, change):
    path = project / "target" / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def test_outcomes_are_printed_and_written(project):
    result = called(project)
    assert result.exit_code == 1
    assert "11 tests: 4 pass, 1 warn, 4 fail, 2 error" in result.stdout
    assert "error  test.shop.visits_divided: Conversion Error" in result.stdout
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    outcomes = json.loads((GOLDEN / "dbt_outcomes.json").read_text())
    assert {r["unique_id"]: [r["status"], r["failures"]] for r in results} == {
        name: outcome[:2] for name, outcome in outcomes.items()
    }
    again = called(project, "--all")
    assert again.exit_code == 1
    assert sum(" known " in line for line in again.stdout.splitlines()) >= 4


def test_what_passes_exits_with_0(project):
    edited(project, lambda m: m.update(nodes={k: v for k, v in m["nodes"].items() if "not_null" in k}))
    result = called(project)
    assert (result.exit_code, "2 tests: 2 pass" in result.stdout) == (0, True)


def test_a_table_that_is_not_there_concerns_its_tests_alone(project):
    lakes.catalog(project).drop_table("main.visits")
    result = called(project)
    assert "shop.main.visits is not among the tables; they are shop.main.people" in result.stdout
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("options", "change", "sentence"),
    [
        (["--engine", "spark"], None, "are compiled for duckdb, and --engine is spark"),
        (["--catalog", "no_such"], None, "--catalog no_such is not in PyIceberg's configuration"),
        ([], lambda m: m["metadata"].update(adapter_type="redshift"), "must be of the adapter duckdb or spark, found redshift"),
        ([], lambda m: m.update(nodes={}), "has no tests"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused(project, options, change, sentence):
    if change:
        edited(project, change)
    result = called(project, *options)
    assert isinstance(result.exception, ArgumentError)
    assert sentence in str(result.exception)
    assert not (project / "target" / "run_results.json").exists()
