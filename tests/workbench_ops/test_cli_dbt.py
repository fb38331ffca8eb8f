"""`workbench dbt test`: what it prints, what it writes, and its exit codes."""

import json
import shutil

import dbt_projects
import lakes
import pytest
from dbt_projects import GOLDEN, PEOPLE, VISITS
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app


@pytest.fixture
def project(tmp_path):
    """A catalog with two tables, and the manifest that dbt left of a project of tests on them."""
    lakes.environment(tmp_path)
    dbt_projects.tables(tmp_path, {"people": PEOPLE, "visits": VISITS})
    shutil.copytree(GOLDEN, tmp_path / "target")
    return tmp_path


def called(project, *options):
    command = ["dbt", "test", "--target", str(project / "target"), "--environment", str(project / "own.yml")]
    return CliRunner().invoke(app, [*command, *options])


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
    dbt_projects.edit(
        project / "target", lambda m: m.update(nodes={k: v for k, v in m["nodes"].items() if "not_null" in k})
    )
    result = called(project)
    assert (result.exit_code, "2 tests: 2 pass" in result.stdout) == (0, True)


def test_a_table_that_is_not_there_concerns_its_tests_alone(project):
    lakes.catalog(project).drop_table("main.visits")
    result = called(project)
    assert "shop.main.visits is not among the tables; they are shop.main.people" in result.stdout
    assert result.exit_code == 1


def uncompiled(manifest):
    next(node for node in manifest["nodes"].values() if node["resource_type"] == "test").pop("compiled_code")


@pytest.mark.parametrize(
    ("options", "change", "sentence"),
    [
        (["--engine", "spark"], None, "are compiled for duckdb, and --engine is spark"),
        (["--catalog", "no_such"], None, "--catalog no_such is not in PyIceberg's configuration"),
        ([], lambda m: m["metadata"].update(adapter_type="redshift"), "must be of the adapter duckdb or spark, found redshift"),
        ([], lambda m: m["metadata"].update(dbt_schema_version="v20"), "/v12.json, found v20"),
        ([], uncompiled, "1 of 11 tests in "),
        ([], lambda m: m.update(nodes={}), "has no tests"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused(project, options, change, sentence):
    if change:
        dbt_projects.edit(project / "target", change)
    result = called(project, *options)
    assert isinstance(result.exception, ArgumentError)
    assert sentence in str(result.exception)
    assert not (project / "target" / "run_results.json").exists()


def test_without_a_manifest_or_with_the_ledger_of_another_project_nothing_is_asked(project):
    ledger = project / "target" / "workbench_ledger.db"
    called(project)
    (project / "target" / "run_results.json").unlink()
    dbt_projects.edit(project / "target", lambda m: m.update(nodes=of_another_project(m["nodes"])))
    result = called(project)
    assert isinstance(result.exception, ArgumentError)
    assert str(result.exception) == (
        f"{ledger} is the ledger of the project shop, and the tests are of bank: name a ledger of its own"
    )
    (project / "target" / "manifest.json").unlink()
    result = called(project)
    assert isinstance(result.exception, ArgumentError)
    assert "/manifest.json; run `dbt compile`, or name dbt's target folder" in str(result.exception)
    assert not (project / "target" / "run_results.json").exists()


def of_another_project(nodes):
    named = {name.replace(".shop.", ".bank."): node for name, node in nodes.items()}
    return {name: {**node, "unique_id": name} for name, node in named.items()}
