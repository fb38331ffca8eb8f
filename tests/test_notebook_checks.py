"""The notebook check, and the proof that it can fail: faults are planted, outputs are tampered with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from conftest import ROOT, execute, workbench

from workbench import checks, results, scratch
from workbench.run import notebook as notebooks
from workbench.run import refresh as refreshing

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SAMPLES = [path for path in NOTEBOOKS if path.stem[:2] in ("00", "01")]  # the others: make soak-faults
BIN = Path(sys.executable).parent


def by_name(path):
    return path.stem


def faults(paths):
    found = []
    for path in paths:
        for fault in yaml.safe_load((ROOT / "tests" / "faults" / f"{path.stem}.yml").read_text()):
            found.append(pytest.param(path, fault, id=f"{path.stem[:2]}-{fault['check']}"))
    return found


def soak(paths):
    """The samples, or every notebook when WORKBENCH_SOAK asks for it."""
    return NOTEBOOKS if os.environ.get("WORKBENCH_SOAK") else paths


def run(path, project, *options):
    """Run a notebook under the runner with another home, and return the record."""
    said = workbench("run", path, "--json", *options, cwd=project)
    return json.loads(said.stdout.splitlines()[-1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_a_second_set_of_values(path, project):
    record = run(path, project, "--params", ROOT / "params" / path.stem / "check.yml")
    assert record["status"] == "passed", record["failing_cell"]
    assert record["checks"] and all(check["passed"] for check in record["checks"])
    assert record["results"]
    title = nbformat.read(path, 4).cells[0].source
    assert bool(record["tables"]) == ("*Writes* nothing." not in title), (
        "the title and the run disagree on writing"
    )


@pytest.mark.skipif(not os.environ.get("WORKBENCH_SOAK"), reason="a third run of a notebook: make soak-faults")
def test_so_few_records_that_none_of_a_kind_is_there(project):
    """Seven records of the second topic have no delete among them, and nothing bad."""
    few = ("--set", "RECORDS=7", "--set", "BAD_SHARE=0")
    record = run(ROOT / "notebooks/12_ingest_kafka.ipynb", project, *few)
    assert record["status"] == "passed", record["failing_cell"]
    assert record["results"]["deletes"] == 0


FAULT = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import execute
fault = json.loads(sys.argv[3])
stopped = execute(Path(sys.argv[2]), Path(sys.argv[4]), parameters=fault.get("parameters"), fault=fault)
print(repr(type(stopped)), stopped)
"""


def stopped_in_a_process_of_its_own(path, fault, run_dir):
    """Run a faulted notebook whose environment is not `local`: a process runs one session, of one environment."""
    command = [sys.executable, "-c", FAULT, str(ROOT / "tests"), str(path), json.dumps(fault), str(run_dir)]
    # a lake of its own too: one whose tables lie in the store of another process is of no use
    env = {name: value for name, value in os.environ.items() if name != scratch.VARIABLE}
    said = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    return said.stdout.splitlines()[-1]


@pytest.mark.parametrize(("path", "fault"), faults(soak(SAMPLES)))
def test_a_planted_fault_fails_exactly_its_check(path, fault, request, tmp_path):
    declared = notebooks.parameters(nbformat.read(path, 4))
    if declared["ENVIRONMENT"].default == "local":
        request.getfixturevalue("spark")
        stopped = execute(path, tmp_path, parameters=fault.get("parameters"), fault=fault)
        assert isinstance(stopped, checks.CheckFailed), stopped
    else:
        stopped = stopped_in_a_process_of_its_own(path, fault, tmp_path)
        assert stopped.startswith(repr(checks.CheckFailed)), stopped
    assert [c["name"] for c in results.read(tmp_path)["checks"] if not c["passed"]] == [fault["check"]]


@pytest.mark.parametrize("path", SAMPLES, ids=by_name)
def test_plain_papermill_from_another_folder(path, tmp_path):
    params = ROOT / "params" / path.stem / "check.yml"
    said = subprocess.run(
        [BIN / "papermill", path, tmp_path / "out.ipynb", "-f", params, "--no-progress-bar"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr[-2000:]
    assert "unknown parameter" not in said.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["out.ipynb"]


@pytest.mark.parametrize("path", SAMPLES, ids=by_name)
def test_jupyter_execute_from_another_folder_gives_the_same_bytes(path, tmp_path):
    """What is stored came from a refresh; a second execution is, in normal form, the same, figures included."""
    said = subprocess.run(
        [BIN / "jupyter", "execute", path, f"--output={tmp_path / 'out'}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr[-2000:]
    assert [p.name for p in tmp_path.iterdir()] == ["out.ipynb"]
    assert refreshing.normal(nbformat.read(tmp_path / "out.ipynb", 4)) == path.read_text(encoding="utf-8")


TWICE = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import execute
from workbench import results
for folder in ("first", "second"):
    for notebook, parameters in json.loads(sys.argv[2]).items():
        run_dir = Path(folder, Path(notebook).stem)
        run_dir.mkdir(parents=True)
        stopped = execute(Path(notebook), run_dir, parameters=parameters)
        assert stopped is None, stopped
"""


def test_twice_on_a_lake_that_stays(project):
    """The second run finds the tables of the first one, and records the same facts."""
    jobs = {}
    for path in SAMPLES:
        given = yaml.safe_load((ROOT / "params" / path.stem / "check.yml").read_text())
        jobs[str(path)] = given | {"ENVIRONMENT": "lake"}
    command = [sys.executable, "-c", TWICE, str(ROOT / "tests"), json.dumps(jobs)]
    said = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr[-2000:]
    for path in SAMPLES:
        first, second = (results.read(project / folder / path.stem) for folder in ("first", "second"))
        assert first["results"] and first["results"] == second["results"]
        assert [t["name"] for t in first["tables"]] == [t["name"] for t in second["tables"]]
        assert first["tables"][0]["snapshot_id"] != second["tables"][0]["snapshot_id"]


def stripped(nb):
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def another_figure(nb):
    text = next(o for c in nb.cells if c.cell_type == "code" for o in c.outputs if "data" in o)
    text.data["text/plain"] = text.data["text/plain"].replace("15.0", "15.1")


def rows_in_another_order(nb):
    text = next(o for c in nb.cells if c.cell_type == "code" for o in c.outputs if "data" in o)
    lines = text.data["text/plain"].split("\n")
    text.data["text/plain"] = "\n".join([*lines[:2], lines[3], lines[2], *lines[4:]])


def first_section(path):
    """A notebook up to its first output, so that a copy runs quickly."""
    nb = nbformat.read(path, 4)
    last = next(i for i, c in enumerate(nb.cells) if c.cell_type == "code" and any("data" in o for o in c.outputs))
    nb.cells = nb.cells[: last + 1]
    return nb


@pytest.mark.parametrize("tamper", [another_figure, rows_in_another_order, None])
def test_strict_comparison_sees_what_was_tampered_with(tamper, tmp_path):
    nb = first_section(SAMPLES[0])
    before = nbformat.writes(nb)
    if tamper:
        tamper(nb)
        assert nbformat.writes(nb) != before
    copy = tmp_path / SAMPLES[0].name
    nbformat.write(nb, copy)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env"]
    said = subprocess.run([*command, copy], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == (1 if tamper else 0), said.stdout[-3000:]


def test_a_stripped_notebook_is_seen(tmp_path):
    """nbval compares nothing where nothing is stored; the static test sees it."""
    import test_notebooks

    nb = nbformat.read(SAMPLES[0], 4)
    stripped(nb)
    copy = tmp_path / SAMPLES[0].name
    nbformat.write(nb, copy)
    with pytest.raises(AssertionError):
        test_notebooks.test_every_cell_has_a_count_and_its_output_is_stored(copy)
