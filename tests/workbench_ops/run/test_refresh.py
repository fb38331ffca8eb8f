"""Notebooks are brought to one form, and only when every cell passed."""

import json

import nbformat
import pytest
from conftest import ROOT, workbench, write_notebook

from workbench_ops.run import refresh as refreshing


def test_outputs_are_stored_in_normal_form(project):
    path = write_notebook(
        project / "notebooks" / "01_x.ipynb", "# Title", "print('a')\nprint('b')", "1 + 1", "x = 3"
    )
    assert refreshing.refresh(path) is True
    first = path.read_bytes()
    nb = json.loads(first)
    assert [cell.get("execution_count") for cell in nb["cells"]] == [None, 1, 2, 3]
    assert nb["cells"][1]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["a\n", "b\n"]}]
    assert all(cell["metadata"] == {} for cell in nb["cells"])
    assert set(nb["metadata"]) == {"kernelspec", "language_info"}
    assert first.endswith(b"}\n")
    assert refreshing.refresh(path) is False
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [("1/0", "01_x.ipynb failed and was not refreshed: ZeroDivisionError"), ("import sys; print('w', file=sys.stderr)", "writes to stderr: w")],
)  # fmt: skip
def test_a_notebook_that_fails_is_left_as_it_was(project, cell, sentence):
    path = write_notebook(project / "notebooks" / "01_x.ipynb", "# Title", cell)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=sentence):
        refreshing.refresh(path)
    assert path.read_bytes() == before


def test_a_new_notebook_comes_from_the_template(project):
    said = workbench("new", "25_find_duplicates", cwd=project)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("notebooks/25_find_duplicates.ipynb: edit it")
    made = nbformat.read(project / "notebooks" / "25_find_duplicates.ipynb", 4)
    template = nbformat.read(ROOT / "notebooks" / "00_template.ipynb", 4)
    assert made.cells[0].source.splitlines()[0] == "# Find duplicates"
    assert [c.source for c in made.cells[1:]] == [c.source for c in template.cells[1:]]
    assert all(not c.outputs and c.execution_count is None for c in made.cells if c.cell_type == "code")
    assert "25_find_duplicates exists already" in workbench("new", "25_find_duplicates", cwd=project).stderr
    assert "is not a name for a notebook" in workbench("new", "../x", cwd=project).stderr
