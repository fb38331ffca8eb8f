"""`workbench submit` and `workbench submissions`: what they print, and their exit codes."""

import pytest
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "here.yml").write_text(f"type: process\nfolder: {tmp_path / 'runs'}\n")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    return tmp_path


def call(project, *words):
    where = ["--targets", str(project / "targets")]
    done = CliRunner().invoke(app, [*map(str, words), *where])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def script(project, text):
    (project / "job.py").write_text(text)
    return project / "job.py"


def test_a_script_runs_once_however_often_it_is_submitted(project):
    path = script(project, f"import sys; print(sys.argv[1:]); open({str(project / 'out')!r}, 'a').write('line')")
    words = ["submit", path, "one", "--token", "load 1", "--wait", "--timeout-seconds", 60]
    assert call(project, *words) == (0, "['one']\n")
    assert call(project, *words) == (0, "['one']\n")
    assert (project / "out").read_text() == "line"
    code, printed = call(project, "submissions", "list")
    assert code == 0 and printed.splitlines()[1].split()[:5] == ["load", "1", "1", "1", "here"]
    assert call(project, "submissions", "state", "load 1") == (0, "passed\n")
    assert call(project, "submissions", "logs", "load 1") == (0, "['one']\n")
    assert call(project, "submissions", "cost", "load 1") == (0, "0 USD\n")


def test_a_failed_one_a_slow_one_and_a_cancelled_one(project):
    path = script(project, "import sys, time; time.sleep(float(sys.argv[1])); sys.exit(3)")
    assert call(project, "submit", path, "0", "--token", "failed", "--wait") == (1, "")
    slow = ["submit", path, "600", "--token", "slow"]
    assert call(project, *slow, "--wait", "--timeout-seconds", 0.2) == (3, "")
    assert call(project, "submissions", "cancel", "slow") == (0, "cancelled\n")
    assert call(project, "submissions", "state", "slow") == (143, "cancelled\n")
    with pytest.raises(ArgumentError, match="the run of slow was cancelled"):
        call(project, *slow)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "--token is missing: it names the one run that is wanted"),
        (["--token", "a", "--queue", "web"], "no target serves the queue 'web'; there are default"),
        (["--token", "a", "--conf", "x"], "--conf must be NAME=VALUE, found 'x'"),
        (["--token", "a", "--variable", "x=1", "--variable", "x=2"], "--variable x is given twice"),
        (["--token", "a", "--claims", "gs://x"], "claims must be a folder or s3://bucket/prefix"),
    ],
)
def test_what_is_refused(project, words, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        call(project, "submit", script(project, ""), *words)
    assert not (project / "runs").exists()


def test_a_token_under_which_nothing_was_submitted(project):
    with pytest.raises(ArgumentError, match="nothing was submitted under the token a"):
        call(project, "submissions", "state", "a")
