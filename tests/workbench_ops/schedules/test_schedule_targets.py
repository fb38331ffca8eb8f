"""Entries that are a script for a target: refused when wrong, and submitted once a date whoever asks and how often."""

import signal
import subprocess
from types import SimpleNamespace

import pytest
from conftest import COMMAND
from typer.testing import CliRunner
from waiting import until

from workbench._base.errors import WorkbenchError
from workbench_ops import submit
from workbench_ops.cli import app
from workbench_ops.schedules import airflow, entries, submitted
from workbench_ops.schedules.running import Place
from workbench_ops.submit import aws, process, standalone

LINE = (
    'import sys, pathlib\nwith pathlib.Path("lines.txt").open("a") as lines:\n    print(sys.argv[1], file=lines)\n'
)
STANDALONE = "type: standalone\nrest: http://127.0.0.1:9\nmaster: spark://127.0.0.1:9\n"


@pytest.fixture
def scheduled(project):
    (project / "params" / "targets").mkdir(parents=True)
    (project / "params" / "targets" / "here.yml").write_text("type: process\n")
    (project / "params" / "targets" / "own.yml").write_text(STANDALONE)

    def write(code=LINE, **keys):
        (project / "load.py").write_text(code)
        entry = {"script": "load.py {date}", "target": "here", "cron": "15 2 * * *"} | keys
        lines = "".join(f"  {key}: {value!r}\n" for key, value in entry.items() if value is not None)
        (project / "params" / "schedules.yml").write_text(f"night:\n{lines}")
        return project

    return write


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Go back to where the tests are afterwards: the command goes to the project's folder."""
    monkeypatch.chdir(".")


def called(*words):
    """Call the command in this process; what is refused is the exception's text."""
    done = CliRunner().invoke(app, ["schedule", *words])
    if isinstance(done.exception, WorkbenchError):
        return SimpleNamespace(returncode=2, stdout=done.stdout, stderr=str(done.exception))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


def run(project, *options):
    return called("run", "night", *options)


def lines(project):
    file = project / "lines.txt"
    return file.read_text().split() if file.exists() else []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"target": None}, "night: a script needs target: the name of a file in params/targets"),
        ({"script": None, "notebook": "x"}, "target and claims: of a script; a notebook or a command runs on this machine"),
        ({"script": "load.py 'x"}, "script: it is not a command line: no closing quotation"),
        ({"script": "load.py https://me:hidden@host/"}, "script: it holds a URL with a password"),
        ({"params": "x.yml"}, "params: of a notebook; a script has arguments, and {date} for the date"),
        ({"environment": "lake"}, "environment: of a notebook; a script has arguments"),
        ({"cron": "15 * * * *"}, "a script is submitted once a date, and night may begin more often (15 * * * *)"),
        ({"cron": "15,45 2 * * *"}, "expected a cron expression with one minute and one hour"),
        ({"cron": None, "after_update": "n.t", "environment": "lake"}, "may begin more often (an update of n.t)"),
        ({"target": "heer"}, "target: params/targets has no 'heer' (did you mean here?); there are here, own"),
        ({"target": "own"}, "load.py never calls fence(), and own may start it twice; expected as its first act"),
        ({"script": "laod.py"}, "the script laod.py cannot be read: No such file or directory"),
        ({"claims": "http://host/x"}, "claims must be a folder or s3://bucket/prefix, found 'http://host/x'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_sentence(scheduled, keys, said):
    scheduled(**keys)
    answer = called("check")
    assert answer.returncode == 2 and said in answer.stderr
    assert "hidden" not in answer.stderr


def test_types_of_targets_that_may_start_a_job_twice_are_those_whose_services_say_so():
    services = {
        "process": process.Processes, "standalone": standalone.Drivers, "emr-serverless": aws.EmrServerless,
        "emr-containers": aws.EmrContainers, "glue": aws.Glue,
    }  # fmt: skip
    assert {name for name, service in services.items() if not service.once} == set(submitted.FENCED)


def test_one_run_a_date_by_cron_by_a_try_of_airflow_and_by_a_backfill(scheduled):
    project = scheduled()
    answer = called("check", "--now", "2026-01-30T03:00")
    assert answer.returncode == 0 and "night  load.py {date} on here" in answer.stdout
    tries = ("--try", "2", "--request", "workbench_night/scheduled/0")
    for options in ((), tries, ("--try", "1", "--request", "workbench_night/backfill/0")):
        answer = run(project, "--date", "2026-01-31", *options)
        assert answer.returncode == 0, answer.stderr
    assert "adopted" in answer.stderr and lines(project) == ["2026-01-31"]
    assert run(project, "--date", "2026-01-30").returncode == 0  # a gap that is filled
    assert lines(project) == ["2026-01-31", "2026-01-30"]
    [claim, other] = submit.all_of(submit.Folder(project / ".workbench" / "claims"))
    assert {claim.token, other.token} == {"night 2026-01-31", "night 2026-01-30"}


def test_a_failed_run_is_followed_by_a_new_one_and_other_content_is_refused(scheduled):
    fails_once = LINE + "sys.exit(len(pathlib.Path('lines.txt').read_text().split()) == 1)\n"
    project = scheduled(fails_once, retries=1, retry_wait_seconds=0)
    answer = run(project, "--date", "2026-01-31")
    assert answer.returncode == 0 and "generation 2" in answer.stderr, answer.stderr
    assert lines(project) == ["2026-01-31"] * 2
    answer = run(scheduled(), "--date", "2026-01-31")
    assert answer.returncode == 2 and "the token night 2026-01-31 belongs to another job" in answer.stderr
    assert len(lines(project)) == 2


def waiting_script(project):
    """Return a script that works until a file is there."""
    return LINE + f"import time\nwhile not pathlib.Path({str(project / 'go')!r}).exists(): time.sleep(0.05)\n"


@pytest.mark.proof("the check adopts a run that ended; here whoever submitted it is killed while it goes on")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_outlives_who_submitted_it_and_is_adopted(scheduled, project, number):
    scheduled(waiting_script(project))
    words = [COMMAND, "schedule", "run", "night", "--date", "2026-01-31"]
    with subprocess.Popen(words, cwd=project) as process:
        until(lambda: lines(project), "the script's line", seconds=60)
        process.send_signal(number)
        assert process.wait(60) == (143 if number == signal.SIGTERM else -9)
    (project / "go").touch()
    answer = run(project, "--date", "2026-01-31", "--try", "2")
    assert answer.returncode == 0 and "adopted" in answer.stderr and lines(project) == ["2026-01-31"]


@pytest.mark.proof("its exit codes are those of `workbench submit`, which the check has")
def test_one_that_takes_too_long_goes_on_and_a_cancelled_one_is_not_begun_again(scheduled, project):
    scheduled(waiting_script(project), timeout_seconds=2)
    answer = run(project, "--date", "2026-01-31")
    assert answer.returncode == 3 and "is running after 2 seconds; it goes on" in answer.stderr
    begun = submit.run_of(
        "night 2026-01-31", claims=submit.place(), targets=submit.all_in(project / "params" / "targets")
    )
    assert submit.state(begun) == "running"
    submit.cancel(begun)
    answer = run(project, "--date", "2026-01-31")
    assert answer.returncode == 2 and "the run of night 2026-01-31 was cancelled" in answer.stderr
    assert lines(project) == ["2026-01-31"]


def test_a_target_that_does_not_answer_is_tried_again(scheduled):
    asks = "from workbench_ops.submit import fence\nif not fence():\n    raise SystemExit(0)\n" + LINE
    project = scheduled(asks, target="own", retries=1, retry_wait_seconds=0)
    answer = run(project, "--date", "2026-01-31")
    assert answer.returncode == 1 and "night ended with 1, try 2 of 2 follows" in answer.stderr
    assert "no target answers; own: http://127.0.0.1:9 does not answer" in answer.stderr
    assert not (project / ".workbench" / "claims").exists()


def test_a_script_in_a_dag_gets_its_date(scheduled):
    found = entries.read(scheduled(time_zone="Europe/Berlin") / "params" / "schedules.yml")
    text = airflow.text(found, Place("/home", "/bin/workbench", {}))
    compile(text, "dag.py", "exec")
    assert "zone='Europe/Berlin'" in text and "A script for here, once a date" in text
