"""The notebook check, and the proof that it can fail: faults are planted, outputs are tampered with."""

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from conftest import PROVE, ROOT, write_notebook

from workbench import results
from workbench_ops.run import refresh as refreshing

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SAMPLES = [path for path in NOTEBOOKS if path.stem[:2] in ("00", "01")]
BIN = Path(sys.executable).parent


def by_name(path):
    return path.stem


ONE = pytest.mark.proof("the first case of this test runs 00_template by papermill from another folder")
EACH = [pytest.param(path, marks=[ONE] if path != SAMPLES[0] else []) for path in SAMPLES]


@pytest.mark.parametrize("path", EACH, ids=by_name)
def test_plain_papermill_from_another_folder(path, tmp_path, tmp_path_factory):
    """In the check its first section: nbval executes the others."""
    if not PROVE:
        part = tmp_path_factory.mktemp("part") / path.name
        nbformat.write(first_section(path), part)
        path = part
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


@pytest.mark.proof(
    "nbval compares each text that is stored with one of a new execution, and test_plots.py the bytes of figures"
)
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
    jobs, samples = {}, SAMPLES if PROVE else SAMPLES[:1]
    for path in samples:
        given = yaml.safe_load((ROOT / "params" / path.stem / "check.yml").read_text())
        jobs[str(path)] = given | {"ENVIRONMENT": "lake"}
    command = [sys.executable, "-c", TWICE, str(ROOT / "tests"), json.dumps(jobs)]
    said = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr[-2000:]
    for path in samples:
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


SEEN = pytest.mark.proof(
    "test_strict_comparison_sees_a_figure_that_was_tampered_with compares a right and a wrong output"
)


@pytest.mark.parametrize(
    "tamper", [pytest.param(one, marks=SEEN) for one in (another_figure, rows_in_another_order, None)]
)
def test_strict_comparison_sees_what_was_tampered_with(tamper, tmp_path):
    nb = first_section(SAMPLES[0])
    before = nbformat.writes(nb)
    if tamper:
        tamper(nb)
        assert nbformat.writes(nb) != before
    copy = tmp_path / SAMPLES[0].name
    nbformat.write(nb, copy)
    said = compared(copy)
    assert said.returncode == (1 if tamper else 0), said.stdout[-3000:]


def test_strict_comparison_sees_a_figure_that_was_tampered_with(tmp_path):
    """Two cells with the same stored output, right for the first one: no session is needed to see it."""
    copy = write_notebook(
        tmp_path / "two.ipynb", "import pandas as pd\npd.Series([15.0, 2.5])", "pd.Series([15.1, 2.5])"
    )
    nb = nbformat.read(copy, 4)
    text = "0    15.0\n1     2.5\ndtype: float64"
    for count, cell in enumerate(nb.cells, 1):
        cell.execution_count = count
        cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": text}, execution_count=count)]
    nbformat.write(nb, copy)
    said = compared(copy)
    assert said.returncode == 1 and "1 failed, 1 passed" in said.stdout, said.stdout[-3000:]


def compared(notebook):
    """Run a notebook as the check does, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env"]
    return subprocess.run([*command, notebook], cwd=notebook.parent, capture_output=True, text=True)


def test_a_stripped_notebook_is_seen(tmp_path):
    """nbval compares nothing where nothing is stored; the static test sees it."""
    import test_notebooks

    nb = nbformat.read(SAMPLES[0], 4)
    stripped(nb)
    copy = tmp_path / SAMPLES[0].name
    nbformat.write(nb, copy)
    with pytest.raises(AssertionError):
        test_notebooks.test_every_cell_has_a_count_and_its_output_is_stored(copy)
