"""Entries that are a command of workbench: checked as the command checks it, run, ended and not left behind."""

import os
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest
from conftest import COMMAND, ROOT, workbench

from workbench.maps import read
from workbench_ops.schedules import airflow, entries
from workbench_ops.schedules.running import Place

MACHINE = ROOT / "params" / "34_map_items" / "machine.asl.json"
NAMES = "--name Partition=aws --name AnalyseArn=arn:aws:lambda:eu-central-1:123456789012:function:a --name StreamName=s"


@pytest.fixture
def scheduled(project):
    (project / "params").mkdir(exist_ok=True)

    def write(command, **keys):
        entry = {"command": command, "cron": "15 2 * * *"} | keys
        lines = "".join(f"  {key}: {value!r}\n" for key, value in entry.items())
        (project / "params" / "schedules.yml").write_text(f"night:\n{lines}")
        return project

    return write


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("map run x.json", "command: workbench map run: Missing argument 'table'."),
        ("map", "command: workbench map has commands of its own, and none is named"),
        ("map rnu", "command: workbench map has no command 'rnu'"),
        ("map run x.json n.t --run-id a --threads 0", "command: workbench map run: Invalid value for '--threads'"),
        ("map run --help", "command: --help runs nothing"),
        ("lab", "command: 'lab' is not a command that may be called again; there are dbt, formats, "),
        ("run 00_template", "command: 'run' is not a command that may be called again"),
        ("map run 'x", "it is not a command line: no closing quotation"),
        ("pull --token AKIAIOSFODNN7EXAMPLE", "it holds "),
    ],
)
def test_a_command_is_checked_as_it_checks_itself(scheduled, command, said):
    answer = workbench("schedule", "check", cwd=scheduled(command))
    assert answer.returncode == 2 and said in answer.stderr and "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"notebook": "a"},
            "an entry has a notebook, a command of workbench or a script, found notebook and command",
        ),
        ({"params": "a.yml", "environment": "b"}, "environment, params: of a notebook; a command has options"),
    ],
)
def test_keys_that_do_not_go_with_a_command(scheduled, keys, said):
    answer = workbench("schedule", "check", cwd=scheduled("maintain", **keys))
    assert answer.returncode == 2 and said in answer.stderr


def test_neither_notebook_nor_command(tmp_path):
    (file := tmp_path / "schedules.yml").write_text('night: {cron: "15 2 * * *"}\n')
    with pytest.raises(
        ValueError, match="night: an entry has a notebook, a command of workbench or a script, found none"
    ):
        entries.read(file)


def test_a_command_runs_with_its_date(scheduled):
    project = scheduled(f"map check machine-{{date}}.json {NAMES}")
    machine = project / "machine-2026-01-31.json"
    machine.write_text(MACHINE.read_text())
    answer = workbench("schedule", "check", "--now", "2026-01-30T03:00", cwd=project)
    assert answer.returncode == 0 and "2026-01-31 02:15" in answer.stdout
    assert "night  workbench map check machine-{date}.json" in answer.stdout
    answer = workbench("schedule", "run", "night", "--date", "2026-01-31", cwd=project)
    assert (
        read(machine, names=dict(word.split("=", 1) for word in NAMES.split() if "=" in word)).state
        in answer.stdout
    )
    assert answer.returncode == 0, answer.stderr
    answer = workbench("schedule", "run", "night", "--date", "2026-02-01", cwd=project)
    assert answer.returncode == 2 and "machine-2026-02-01.json" in answer.stderr


def hanging(scheduled, **keys):
    """Return a project whose entry reads a pipe that nobody writes to: it never ends by itself."""
    project = scheduled("map check pipe", **keys)
    os.mkfifo(project / "pipe")
    return project


def of(project):
    """Return the processes that have the pipe of a project in their command line, ours left out."""
    listed = subprocess.run(["pgrep", "-f", "map check pipe"], capture_output=True, text=True).stdout.split()
    return [pid for pid in listed if os.path.realpath(f"/proc/{pid}/cwd") == str(project)]


def until(answers):
    """Wait for an answer that is true, and return it: a second look may already see another one."""
    end = time.monotonic() + 60
    while not (answer := answers()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return answer


@contextmanager
def scheduling(project, **options):
    """`schedule run` of a project's entry; it is ended where the test fails, and is not waited for."""
    with subprocess.Popen([COMMAND, "schedule", "run", "night"], cwd=project, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_command_that_takes_too_long_is_ended(scheduled):
    project = hanging(scheduled, timeout_seconds=3)
    answer = workbench("schedule", "run", "night", cwd=project)
    assert (answer.returncode, answer.stderr) == (3, "workbench: night was ended after 3 seconds\n")
    assert of(project) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_never_outlives_who_called_it(scheduled, number):
    project = hanging(scheduled)
    with scheduling(project) as process:
        until(lambda: len(of(project)) == 1)
        answer = workbench("schedule", "run", "night", "--try", "1", cwd=project)
        assert (answer.returncode, answer.stderr) == (2, "workbench: night is still running\n")
        process.send_signal(number)
        assert process.wait(60) == (143 if number == signal.SIGTERM else -9)
    until(lambda: of(project) == [])


def test_a_command_that_dies_is_tried_again(scheduled):
    project = hanging(scheduled, retries=1, retry_wait_seconds=0)
    with scheduling(project, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(2):
            (pid,) = until(lambda: of(project))
            os.kill(int(pid), signal.SIGKILL)
            until(lambda pid=pid: pid not in of(project))
        said = process.stderr.read()
        assert process.wait(60) == 4
    assert "night died, exit code -9" in said and "night ended with 4, try 2 of 2 follows" in said


def test_a_command_in_a_dag(scheduled):
    project = scheduled("map run m.json n.t --run-id {date}", time_zone="Europe/Berlin")
    read_entries = entries.read(project / "params" / "schedules.yml")
    text = airflow.text(read_entries, Place("/home", "/bin/workbench", {}))
    compile(text, "dag.py", "exec")
    assert "zone='Europe/Berlin'" in text and "A command of workbench" in text and "--run-id {date}" in text
