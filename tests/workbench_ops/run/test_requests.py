"""A scheduler that loses sight of a run asks again: one run is waited for or taken, and none is doubled."""

import json
import signal
import subprocess

import pytest
from conftest import COMMAND, write_notebook
from waiting import until

SCHEDULES = 'job: {notebook: job, cron: "15 2 * * *", retries: 2}\nslow: {notebook: slow, cron: "15 3 * * *", while_running: wait}\n'
# says that it runs, waits to be let go, and ends as it is told
WORK = """
import pathlib, time
here = pathlib.Path.cwd().parent
with (here / "ran.txt").open("a") as ran:
    print(N, file=ran, flush=True)
while (here / "wait").exists():
    time.sleep(0.05)
assert not (here / "fail").exists(), "it was told to fail"
"""


@pytest.fixture
def job(project):
    (project / "params").mkdir()
    (project / "params" / "schedules.yml").write_text(SCHEDULES)
    for name in ("job", "slow"):
        write_notebook(project / "notebooks" / f"{name}.ipynb", WORK, parameters="N: int = 1  # any")
    return project


def asked(project, request="dag/day/0", *, name="job", attempt=1):
    """Start one try of a request."""
    command = [COMMAND, "schedule", "run", name]
    command += ["--try", str(attempt), "--request", request] if request else []
    return subprocess.Popen(command, cwd=project, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process):
    """Return (exit code, run id in the path of the report, what it said) of a try."""
    out, said = process.communicate(timeout=300)
    return process.returncode, out.strip().split("/")[-2] if out.strip() else None, said


def runs(project):
    """How often the notebook has begun."""
    path = project / "ran.txt"
    return len(path.read_text().split()) if path.exists() else 0


def records(project, name="job"):
    return [json.loads(path.read_text()) for path in sorted((project / "runs" / name).glob("*/run.json"))]


def test_a_run_under_way_is_waited_for_and_its_verdict_taken(job):
    (job / "wait").touch()
    lost = asked(job)  # its task was killed, and nobody reads what it comes to
    until(lambda: runs(job))
    again, other = asked(job, attempt=2), asked(job, "dag/another day/0")
    code, _, said = ended(other)
    assert code == 2 and "runs already in this environment" in said
    assert again.poll() is None
    (job / "fail").touch()
    (job / "wait").unlink()
    assert ended(lost)[0] == 1
    code, run_id, said = ended(again)
    assert (code, run_id, runs(job)) == (1, records(job)[0]["run_id"], 1), said
    assert f"waits for the run under way, {run_id}" in said
    (job / "fail").unlink()
    assert (ended(asked(job, attempt=3))[0], runs(job)) == (0, 2)  # seen to have ended badly


def test_a_run_that_passed_is_taken_for_the_very_same_question_alone(job):
    code, first, _ = ended(asked(job))
    assert (code, runs(job)) == (0, 1)
    code, run_id, said = ended(asked(job, attempt=2))
    assert (code, run_id, runs(job)) == (0, first, 1)
    assert f"passed as {first}, which answers dag/day/0: not run again" in said
    ended(asked(job, "dag/day/1", attempt=3))
    assert runs(job) == 2  # a person cleared the task
    write_notebook(job / "notebooks" / "job.ipynb", WORK, parameters="N: int = 2  # any")
    ended(asked(job, attempt=2))
    assert runs(job) == 3  # another notebook
    assert all(record["request"].startswith("dag/day/") for record in records(job))


def test_a_run_whose_runner_was_killed_meanwhile_is_run_again(job):
    (job / "wait").touch()
    lost = asked(job)
    until(lambda: runs(job))
    again = asked(job, attempt=2)
    until(lambda: "waits" in again.stderr.readline(), "the sentence that it waits")
    lost.send_signal(signal.SIGKILL)
    lost.communicate(timeout=60)
    (job / "wait").unlink()
    code, _, said = ended(again)
    assert (code, runs(job)) == (0, 2), said
    assert [record["status"] for record in records(job)] == ["interrupted", "passed"]


def test_a_start_waits_for_the_one_under_way_where_the_entry_says_so(job):
    (job / "wait").touch()
    first = asked(job, None, name="slow")
    until(lambda: runs(job))
    second = asked(job, None, name="slow")
    assert "slow waits for its end" in until(second.stderr.readline)
    code, _, said = ended(asked(job, None, name="slow"))
    assert code == 2 and "another start waits; this one is refused" in said
    (job / "wait").unlink()
    assert (ended(first)[0], ended(second)[0], runs(job)) == (0, 0, 2)
