"""Every notebook holds its checks for a second set of values, too: params/<notebook>/check.yml, through the runner."""

import json

import nbformat
import pytest
from conftest import ROOT, workbench

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def run(path, project, *options):
    """Run a notebook under the runner with another home, and return the record."""
    done = workbench("run", path, "--json", *options, cwd=project)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.proof(
    "nbval runs each notebook with its defaults, and test_notebook_checks.py 00_template with these values, too"
)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_second_set_of_values(path, project):
    record = run(path, project, "--params", ROOT / "params" / path.stem / "check.yml")
    assert record["status"] == "passed", record["failing_cell"]
    assert record["checks"] and all(check["passed"] for check in record["checks"])
    assert record["results"]
    title = nbformat.read(path, 4).cells[0].source
    assert bool(record["tables"]) == ("*Writes* nothing." not in title), (
        "the title and the run disagree on writing"
    )
