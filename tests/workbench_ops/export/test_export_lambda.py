"""`workbench export lambda`: the zip of a module or of a notebook's cells, and what comes next."""

import zipfile

import nbformat
import pytest
from conftest import write_notebook
from typer.testing import CliRunner

from workbench.light import functions
from workbench_ops import cli
from workbench_ops.export import lambdas

CODE = "import json\n\nfrom workbench.light import functions\n\nhandler = functions.handler(json.loads, catalog={}, table='a.b')\n"


@pytest.fixture
def call(project, monkeypatch):
    """Call the command in this process, in an empty project, with few packages; returns (exit code, lines)."""
    monkeypatch.chdir(project)
    monkeypatch.setattr(functions, "NEEDED", ("tenacity",))

    def called(*words):
        said = CliRunner().invoke(cli.app, ["export", "lambda", *map(str, words)])
        if said.exception and not isinstance(said.exception, SystemExit):
            raise said.exception
        return said.exit_code, said.output.splitlines()

    return called


def test_a_module(project, call):
    (project / "orders.py").write_text(CODE)
    code, lines = call("orders.py")
    assert code == 0 and lines[0].startswith("wrote  exports/lambda/orders.zip: ")
    with zipfile.ZipFile(project / "exports" / "lambda" / "orders.zip") as archive:
        assert archive.read("orders.py").decode() == CODE
        assert {"tenacity/__init__.py", "workbench/light/__init__.py"} <= set(archive.namelist())
    assert "--handler orders.handler" in lines[2] and "--runtime python3." in lines[2]
    assert "ReportBatchItemFailures" in lines[3] and lines[1].endswith("s3://YOUR-BUCKET/orders.zip")


def test_a_folder_and_a_package_more(project, call):
    (project / "orders").mkdir()
    (project / "orders" / "app.py").write_text(CODE)
    (project / "orders" / "rules.py").write_text("")
    code, lines = call("orders", "--output", "out", "--package", "strictyaml")
    assert code == 0 and "--handler app.handler" in lines[2]
    with zipfile.ZipFile(project / "out" / "orders.zip") as archive:
        assert {"app.py", "rules.py", "strictyaml/__init__.py"} <= set(archive.namelist())


def test_the_cells_of_a_notebook(project, call):
    path = write_notebook(project / "notebooks" / "13_own.ipynb", "# A title\n", "import json", CODE, "print(1)")
    notebook = nbformat.read(path, 4)
    for number in (1, 2):
        notebook.cells[number].metadata.tags = ["lambda"]
    nbformat.write(notebook, path)
    code, lines = call("13_own")
    assert code == 0 and "--handler app.handler" in lines[2]
    with zipfile.ZipFile(project / "exports" / "lambda" / "13_own.zip") as archive:
        assert archive.read("app.py").decode() == f"import json\n\n\n{CODE}"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.py", "x = 1\ndef f(): pass\n", "a.py makes no handler; it makes f, x"),
        ("a.py", "%pip install x\n", "a.py is not Python alone, line 1"),
        ("a-b.py", CODE, "'a-b' is not the name of a module"),
        ("folder/b.py", CODE, "folder is not a module: expected a .py file, or a folder with app.py in it"),
    ],
)
def test_modules_that_are_refused(project, call, name, text, sentence):
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text)
    with pytest.raises(ValueError, match=sentence):
        lambdas.of_module(
            project / name.split("/")[0] if "/" in name else project / name, project / "x.zip", packages=[]
        )
    assert not (project / "x.zip").exists()


def test_notebooks_that_are_refused(project):
    notebook = nbformat.read(write_notebook(project / "notebooks" / "a.ipynb", CODE), 4)
    with pytest.raises(ValueError, match="no cell of a has the tag lambda"):
        lambdas.cells(notebook, "a")
    notebook.cells[0].metadata.tags = ["lambda"]
    notebook.cells[0].source = "def other(): pass"
    with pytest.raises(ValueError, match="a makes no handler; it makes other"):
        lambdas.cells(notebook, "a")
