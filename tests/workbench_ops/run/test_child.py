"""What the executing process says of a notebook's end: passed, or which cell failed, and why."""

from argparse import Namespace

import nbformat
import pytest
from conftest import write_notebook

from workbench_ops.run import child, processes
from workbench_ops.run import notebook as notebooks

SHOWN = "try:\n    int('x')\nexcept ValueError:\n    get_ipython().showtraceback()"


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Execute cells in a kernel, without the process around it; returns how they ended and the notebook's cells."""

    def call(*cells, tagged=(), parameters=None):
        path = write_notebook(tmp_path / "x.ipynb", *cells, parameters="N: int = 1" if parameters else None)
        nb = nbformat.read(path, 4)
        for index in tagged:
            nb.cells[index].metadata["tags"] = ["raises-exception"]
        nbformat.write(nb, path)
        monkeypatch.setenv(processes.TAG, f"test-{tmp_path.name[-8:]}")
        monkeypatch.setattr(child._Executing, "tell", lambda **event: None, raising=False)
        for name, empty in (("where", None), ("places", {}), ("raised", {})):
            monkeypatch.setattr(child._Executing, name, empty)
        output = tmp_path / "done.ipynb"
        given = Namespace(input=str(path), output=str(output), kernel="", cwd=str(tmp_path))
        ended = child._execute(given, parameters or {})
        return ended, nbformat.read(output, 4).cells

    return call


def test_a_cell_that_is_meant_to_raise_fails_no_run(execute):
    """jupyter execute, JupyterLab and nbval go on behind it; the cell behind it was blamed."""
    ended, cells = execute("print(1)", "1 / 0", "print(2)", tagged=[1])
    assert ended == {"status": "passed", "reason": None, "failing_cell": None}
    assert [cell.outputs[0].get("ename", cell.outputs[0].get("text")) for cell in cells] == [
        "1\n",
        "ZeroDivisionError",
        "2\n",
    ]


def test_the_first_failing_cell_is_blamed_where_the_notebook_went_on(execute):
    ended, cells = execute("1 / 0", SHOWN, "", "print(N)\n%%sql", "2 / 0", tagged=[1], parameters={"N": 5})
    assert ended["reason"] == "cell 4 failed: ValueError"  # after the parameters, those given, and the tagged cell
    assert ended["failing_cell"] == {
        "number": 4,
        "first_line": "try:",
        "error": "ValueError",
        "message": "invalid literal for int() with base 10: 'x'",
        "line": "get_ipython().showtraceback()",  # IPython's own word for where the cell is
    }
    marked = [n for n, cell in enumerate(cells) if "papermill-error-cell-tag" in (cell.metadata.get("tags") or [])]
    assert marked == [0, 4] and cells[5].source == SHOWN


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "%%sql\nSELECT 1",
            'Cell magic `%%sql` not found. Write spark.sql("…").show(), or load a package that has it, such as '
            "JupySQL, by %load_ext.",
        ),
        ("%no_such_thing", "Line magic function `%no_such_thing` not found."),
    ],
)
def test_a_magic_that_does_not_exist_is_named(execute, source, message):
    """IPython writes it to stderr, and no error is among the outputs: the message was empty."""
    ended, _ = execute("print(1)", source, "print(2)")
    assert ended["failing_cell"] == {
        "number": 2,
        "first_line": source.splitlines()[0],
        "error": "UsageError",
        "message": message,
    }


def test_what_fails_a_run(tmp_path):
    """In the order of the cells; sys.exit(0) is looked at by what it leaves undone."""

    def cell(*errors, tags=()):
        outputs = [nbformat.v4.new_output("error", ename=name, evalue=value) for name, value in errors]
        return nbformat.v4.new_code_cell("1", outputs=outputs, metadata={"tags": list(tags)})

    def failing(*cells, raised=()):
        stopped = {index: cells[index].outputs[0] for index in raised}
        nb = nbformat.v4.new_notebook(cells=list(cells))
        return [(index, error.ename) for index, error in child._failures(nb, stopped)]

    meant = cell(("A", "1"), tags=["raises-exception"])
    assert failing(cell(), meant, cell(), cell(("B", "1")), raised=[3]) == [(3, "B")]
    assert failing(meant, cell(("B", "1"), tags=["raises-exception"])) == []
    assert failing(cell(("A", "1"), ("B", "2")), cell(("C", "1"))) == [(0, "A"), (1, "C")]
    assert failing(cell(("SystemExit", "")), cell(("SystemExit", "0"), ("B", "2"))) == [(1, "B")]
    assert failing(cell(("SystemExit", "1")), raised=[0]) == [(0, "SystemExit")]


def test_a_notebook_without_outputs_kernel_or_metadata_runs(execute, tmp_path, monkeypatch):
    """Tools that write or strip notebooks leave them away; AttributeError: outputs was all that was said."""
    monkeypatch.setattr(child.notebooks, "read", lambda path, read=notebooks.read: read(tmp_path / "bare.ipynb"))
    (tmp_path / "bare.ipynb").write_text(
        '{"nbformat": 4, "nbformat_minor": 5, '
        '"cells": [{"cell_type": "code", "source": "print(1)"}, {"cell_type": "markdown", "source": "# A"}]}'
    )
    ended, cells = execute("1")
    assert (ended["status"], cells[0].outputs[0].text) == ("passed", "1\n")
    assert nbformat.read(tmp_path / "done.ipynb", 4).metadata.kernelspec.name == "python3"
