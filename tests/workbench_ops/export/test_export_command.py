"""`workbench export` as a person calls it: files beside each other, where the wheel goes, exit codes."""

import json
import shlex
import zipfile

import nbformat
import pytest
from conftest import ROOT, workbench, write_notebook
from typer.testing import CliRunner

from workbench_ops import cli
from workbench_ops.export import wheel

WHEEL = wheel.name()


@pytest.fixture
def call(project, monkeypatch):
    """Call the command in this process, in an empty project; returns (exit code, lines)."""
    monkeypatch.chdir(project)

    def called(*words):
        said = CliRunner().invoke(cli.app, ["export", *map(str, words)])
        if said.exception and not isinstance(said.exception, SystemExit):
            raise said.exception
        return said.exit_code, said.output.splitlines()

    return called


@pytest.fixture
def built(monkeypatch):
    """Do not build a wheel: one test does."""

    def build(folder):
        (found := folder / WHEEL).write_bytes(b"")
        return found

    monkeypatch.setattr("workbench_ops.export.build", build)


def test_the_notebook_and_the_wheel(tmp_path):
    """The real command on a real notebook: what it writes and says."""
    said = workbench(
        "export", "glue", "00_template", "--output", tmp_path / "out", "--place", "s3://mine/w", cwd=ROOT
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert [line.split()[0] for line in said.stdout.splitlines()] == [
        "wrote",
        "wrote",
        "wheel",
        "cost",
        "next",
        "next",
        "check",
    ]
    lines = said.stdout.splitlines()
    assert lines[2] == f"wheel  aws s3 cp {tmp_path / 'out' / WHEEL} s3://mine/w/{WHEEL}"
    assert lines[3].startswith("cost   2 workers G.1X cost USD 0.88 an hour")
    assert lines[4] == "next   replace s3://YOUR-BUCKET/warehouse in the file by your own"
    assert lines[6] == "check  differs, 1 finding: workbench export check 00_template --version 6.0"
    nbformat.validate(nbformat.read(tmp_path / "out" / "00_template.ipynb", as_version=4))
    names = zipfile.ZipFile(tmp_path / "out" / WHEEL).namelist()
    assert {"workbench/environments/aws-glue.yml", "workbench_ops/export/glue.toml"} <= set(names)


def test_values_of_a_params_file_and_the_folder(call, built, project):
    path = write_notebook(project / "notebooks" / "01_mine.ipynb", "x = N", parameters="N: int = 1  # how many")
    (project / "mine.yml").write_text("N: 5\n")
    code, lines = call("glue", "01_mine", "--params", "mine.yml", "--version", "5.1")
    assert (code, lines[0]) == (0, "wrote  exports/glue-5.1/01_mine.ipynb")
    found = nbformat.read(project / "exports" / "glue-5.1" / "01_mine.ipynb", as_version=4)
    assert [cell.source for cell in found.cells[3:]] == ["N: int = 5  # how many", "x = N"]
    assert call("glue", "01_mine", "--params", "mine.yml", "--job")[1][0] == "wrote  exports/glue-6.0/01_mine.py"
    write_notebook(project / "notebooks" / "02_two.ipynb", "import duckdb", 'open("x")', parameters="N: int = 1")
    last = call("glue", "02_two", "--params", "mine.yml")[1][-1]
    assert last == "check  cannot run, 2 findings: workbench export check 02_two --params mine.yml --version 6.0"
    assert 'N: int = _argument("N", 5)' in (project / "exports" / "glue-6.0" / "01_mine.py").read_text()
    assert "exports/" in (ROOT / ".gitignore").read_text().split()
    with pytest.raises(ValueError, match="is the notebook itself"):
        call("glue", path, "--output", path.parent)
    (project / "mine.yml").write_text("M: 5\n")
    with pytest.raises(ValueError, match="M is not a parameter of this notebook; it has N"):
        call("glue", "01_mine", "--params", "mine.yml")


def test_the_commands_that_it_names_can_be_pasted(call, built, project):
    path = write_notebook(project / "my notes" / "it's.ipynb", 'open("x")')
    _, lines = call("glue", path, "--output", "out put")
    given = [shlex.split(line)[1:] for line in lines if line.split()[0] in ("wheel", "check")]
    assert given[0][3] == f"out put/{WHEEL}"
    assert given[1][-3:] == [str(path), "--version", "6.0"]


def test_without_a_checkout_no_wheel_is_built(call, project, monkeypatch):
    write_notebook(project / "notebooks" / "01_mine.ipynb", "x = 1")
    monkeypatch.setattr(wheel, "ROOT", project)
    _, lines = call("glue", "01_mine")
    assert (
        lines[1]
        == f"wheel  put the one that this library was installed from to s3://YOUR-BUCKET/workbench/{WHEEL}"
    )
    assert lines[-1] == "check  runs"


def test_a_wheel_that_cannot_be_built(project, monkeypatch):
    (project / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(wheel, "ROOT", project)
    with pytest.raises(ChildProcessError, match="the wheel could not be built by hatchling: "):
        wheel.build(project / "out")


def test_the_check_of_one_and_of_all(call, project):
    with pytest.raises(ValueError, match="there are no notebooks here; name one"):
        call("check")
    write_notebook(project / "notebooks" / "01_good.ipynb", "x = 1")
    write_notebook(project / "notebooks" / "02_differs.ipynb", "import duckdb")
    assert call("check", "01_good") == (0, ["01_good                      Glue 6.0: runs"])
    code, lines = call("check", "02_differs", "--version", "5.1")
    assert (code, len(lines)) == (0, 2)
    assert lines[1].startswith("  differs    cell 1, line 1: duckdb is not in Glue 5.1: ")
    write_notebook(project / "notebooks" / "03_bad.ipynb", 'x = open("x")')
    code, lines = call("check", "--json")
    facts = json.loads(lines[-1])
    assert [(one["notebook"], one["glue"], one["verdict"]) for one in facts] == [
        ("01_good", "6.0", "runs"), ("02_differs", "6.0", "differs"), ("03_bad", "6.0", "cannot run"),
    ]  # fmt: skip
    assert code == 1 and facts[2]["findings"][0]["rule"] == "file"
    with pytest.raises(ValueError, match="--params belongs to one notebook"):
        call("check", "--params", "mine.yml")
    with pytest.raises(ValueError, match="no Glue version '4.0'"):
        call("check", "01_good", "--version", "4.0")
