"""The command refuses with a sentence, lists what there is, and prunes only when told to."""

import json
import os
import pty
import subprocess

import inside
import pytest
from conftest import COMMAND, PROVE, shown_on, workbench, write_notebook

from workbench._base.errors import ArgumentError, MissingPackageError, ProcessError
from workbench_ops import cli
from workbench_ops.cli import printing, progress


@pytest.fixture
def command(monkeypatch, capsys):
    """What calls the command: a proof in a process, as a person does, the check in this one."""
    return workbench if PROVE else inside.command(monkeypatch, capsys)


@pytest.fixture
def two_notebooks(project):
    write_notebook(project / "notebooks" / "01_good.ipynb", "x = N", parameters="N: int = 1  # how many")
    write_notebook(project / "notebooks" / "02_bad.ipynb", "1 / 0")
    (project / "params" / "01_good").mkdir(parents=True)
    (project / "params" / "01_good" / "more.yml").write_text("N: 2\n")
    return project


def test_all_notebooks_a_table_and_the_listing(two_notebooks, command):
    project = two_notebooks
    said = workbench("run", "--jobs", "1", cwd=project)
    assert said.returncode == 1
    table = [line.split() for line in said.stdout.splitlines()]
    assert table[0] == ["NOTEBOOK", "VERDICT", "SECONDS", "REPORT"]
    assert [(row[0], row[1]) for row in table[1:3]] == [("01_good", "passed"), ("02_bad", "failed")]
    assert all((project / row[3]).is_file() for row in table[1:3])
    assert said.stdout.splitlines()[-1] == "all runs: runs/index.html"

    listed = command("runs", cwd=project).stdout.splitlines()
    assert [line.split()[1:3] for line in listed] == [
        ["NOTEBOOK", "STATUS"],
        ["02_bad", "failed"],
        ["01_good", "passed"],
    ]
    assert len(command("runs", "--status", "failed", cwd=project).stdout.splitlines()) == 2
    assert (
        len(command("runs", "--notebook", "01_good", "--since", "2020-01-01", cwd=project).stdout.splitlines())
        == 2
    )
    run_id = listed[1].split()[0]
    assert json.loads(command("runs", "--show", run_id, cwd=project).stdout)["status"] == "failed"
    assert "index  runs/index.html" in command("report", run_id, cwd=project).stdout

    assert "needs --older-than-days" in command("runs", "--prune", cwd=project).stderr
    assert workbench("runs", "--prune", "--older-than-days", "0", cwd=project).returncode == 1  # nobody answered
    assert len(list((project / "runs").glob("*/*/run.json"))) == 2
    assert (
        "deleted the files of 2 runs"
        in command("runs", "--prune", "--older-than-days", "0", "--yes", cwd=project).stdout
    )
    assert list((project / "runs").glob("*/*/run.json")) == []
    assert len(command("runs", cwd=project).stdout.splitlines()) == 3  # the ledger keeps its rows
    assert json.loads(command("runs", "--show", run_id, cwd=project).stdout)["status"] == "failed"


def test_parameters_are_listed(two_notebooks, command):
    said = command("params", "01_good", cwd=two_notebooks).stdout.splitlines()
    assert [line.split() for line in said] == [
        ["PARAMETER", "TYPE", "DEFAULT"],
        ["N", "int", "1", "how", "many"],
        ["file", "params/01_good/more.yml"],
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "01_goood"], "no notebook 01_goood"),
        (["run", "--set", "A=1"], "--params and --set belong to one notebook"),
        (["run"], "there are no notebooks here"),
        (["run", "--jobs", "0"], "--jobs takes a number of notebooks of at least 1, found 0"),
        (["run", "01_good", "--jobs", "2"], "--jobs is for all notebooks, and 01_good runs alone"),
        (["runs", "--status", "green"], "no status 'green'; there are passed, failed"),
        (["runs", "--since", "soon"], "'soon' is not an ISO date"),
        (["runs", "--show", "nowhere"], "no run nowhere"),
        (["report", "nowhere"], "no run nowhere"),
        (["params", "nowhere"], "no notebook nowhere"),
    ],
)
def test_refusals_are_sentences(project, command, arguments, sentence):
    said = command(*arguments, cwd=project)
    assert said.returncode == 2
    assert said.stderr.startswith(f"workbench: {sentence}") and "Traceback" not in said.stderr


def on_a_terminal(*arguments, cwd):
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen([COMMAND, *arguments], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = shown_on(ours)
    running.wait()
    os.close(ours)
    return text.decode()


def test_what_the_lines_of_runs_that_go_on_say():
    known = {"01_publish": 60, "02_x": 20, "03_y": 200, "04_z": 30}
    running = [
        progress.Running("01_publish", 60, begin=100, cell="cell 7 of 25", heading="3 Publish what passed"),
        progress.Running("02_x", 20, begin=100),
        progress.Running("05_new", None, begin=130),
    ]
    own = [
        "01_publish  cell 7 of 25  31 s  about 30 s left  3 Publish what passed",
        "02_x        starting  31 s  longer than the usual 20 s",
        "05_new      starting  1 s",
    ]
    assert progress.lines(running, None, now=131) == own
    ended = {"04_z": "passed"}
    several = progress.Several(2, known, ended)
    assert progress.lines(running[:2], several, now=131)[2:] == ["1 of 4 have ended, about 3 min left"]  # 03_y's
    several = progress.Several(2, known | {"05_new": None}, ended | {"03_y": "failed"})
    assert progress.lines([], several, now=131) == ["2 of 5 have ended, 1 without passing"]
    assert progress.lines([], progress.Several(2, {"02_x": 20}), now=131) == ["0 of 1 have ended, about 20 s left"]
    late = progress.Several(2, {"02_x": 20})
    assert progress.lines(running[1:2], late, now=131)[1:] == ["0 of 1 have ended"]


@pytest.mark.proof(
    "test_a_terminal_has_a_line_a_run_and_verdicts_above shows cells and titles of runs by the same lines"
)
def test_a_run_shows_where_it_is(project, command):
    write_notebook(project / "notebooks" / "01_x.ipynb", "# Title", "a = 1", "## 1 Think hard", "b = 2")
    shown = on_a_terminal("run", "01_x", cwd=project)
    assert "01_x  cell 1 of 2  " in shown and "  Title" in shown
    assert "01_x  cell 2 of 2  " in shown and "  1 Think hard" in shown
    plain = command("run", "01_x", cwd=project).stderr
    assert "cell 1 of 2" not in plain and plain.startswith("01_x  passed")


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (ArgumentError("limit must be an integer, found 'x'"), 2, ["limit must be an integer, found 'x'"]),
        (MissingPackageError("duckdb is not installed", name="duckdb"), 2, ["duckdb is not installed"]),
        (ProcessError("the kernel ended"), 1, ["the kernel ended"]),
        (ValueError("of ours"), 1, ["Traceback", "of ours", "this is a defect of the workbench"]),
        (KeyError("of ours"), 1, ["Traceback", "of ours", "this is a defect of the workbench"]),
    ],
)
def test_what_was_foreseen_is_a_sentence_and_a_defect_shows_itself(monkeypatch, capsys, error, code, shown):
    def fail(**options):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == code
    assert [text in said for text in shown] == [True] * len(shown)
    assert ("Traceback" in said) == ("Traceback" in shown)


def test_work_goes_on_where_nobody_reads_what_is_said(project):
    """The reader of standard error ends at once; the run is recorded as it would be with one."""
    write_notebook(project / "notebooks" / "01_x.ipynb", "x = N", parameters="N: int = 1  # how many")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [COMMAND, "run", "01_x"], cwd=project, stdout=subprocess.PIPE, stderr=writing, check=False
    )
    os.close(writing)
    assert done.returncode == 0
    listed = subprocess.Popen(
        [COMMAND, "params", "01_x"], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    listed.stdout.close()
    assert (listed.stderr.read(), listed.wait()) == (b"", 1)


def test_an_empty_name_does_not_mean_all_notebooks(command, project):
    said = command("run", "", cwd=project)
    assert said.returncode == 2
    assert said.stderr == (
        "workbench: the name of the notebook is empty; give one, or leave it out to run all notebooks\n"
    )


def test_what_is_printed_in_columns_stays_in_its_line(capsys):
    """A table's owner may name a column so that a terminal obeys it, or a row looks like two."""
    printing.columns([("NAME", "ROWS"), ("a\x1b[2Jb\nc", 3)])
    assert capsys.readouterr().out == "NAME          ROWS\na\\x1b[2Jb\\nc  3\n"
