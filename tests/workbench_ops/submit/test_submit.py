"""What a submission returns, refuses and says, on processes of this machine."""

import os
import signal

import pytest
from submit_kills import Place

from workbench_ops.submit import RunCancelled, TokenReused, cancel, cost, job, logs, run_of, start, state, wait
from workbench_ops.submit import process as processes


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def begun(place, text, token="load", **options):
    place.script.write_text(text)
    return start(job(place.script), place.targets, token=token, claims=place.claims, **options)


def until_running(run):
    assert wait_for(run, "running")


def wait_for(run, wanted):
    import time

    until = time.monotonic() + 60
    while state(run) != wanted and time.monotonic() < until:
        time.sleep(0.05)
    return state(run) == wanted


def test_a_run_passes_and_is_returned_ever_after(place):
    run = begun(place, "print('x' * 100_000); print('last')", queue="default")
    states = []
    assert wait(run, timeout_seconds=60, poll_seconds=0.05, on_state=states.append) == "passed"
    assert states[-1] == "passed"
    assert (len(logs(run)), logs(run)[-5:], cost(run)) == (100_006, "last\n", "0")
    again = begun(place, "print('x' * 100_000); print('last')", queue="default")
    assert (again.adopted, again.run_id, run.adopted) == (True, run.run_id, False)
    assert run_of("load", claims=place.claims, targets=place.targets).run_id == run.run_id


def test_a_run_that_failed_is_followed_by_a_new_generation_only_then(place):
    text = f"import os, sys\nmark = {str(place.out)!r}\nif not os.path.exists(mark): open(mark, 'w'); sys.exit(3)"
    first = begun(place, text)
    assert wait(first, timeout_seconds=60, poll_seconds=0.05) == "failed"
    second = begun(place, text)
    assert (second.generation, second.adopted) == (2, False)
    assert wait(second, timeout_seconds=60, poll_seconds=0.05) == "passed"
    assert state(first) == "failed"


@pytest.mark.parametrize("leader", [True, False])
def test_a_run_whose_processes_are_killed_failed(place, leader):
    run = begun(place, "import time; time.sleep(600)")
    until_running(run)
    pid = processes._read(place.targets["here"].service().folder / run.run_id, "supervisor")["pid"]
    (os.kill if leader else os.killpg)(pid, signal.SIGKILL)
    assert wait_for(run, "failed")
    assert begun(place, "import time; time.sleep(600)").generation == 2
    cancel(run_of("load", claims=place.claims, targets=place.targets))


def test_a_cancelled_run_ends_and_starts_nothing_any_more(place):
    run = begun(place, "import time; time.sleep(600)")
    until_running(run)
    cancel(run)
    assert state(run) == "cancelled"
    with pytest.raises(RunCancelled, match="the run of load was cancelled; to run its job after all, use another"):
        begun(place, "import time; time.sleep(600)")


def test_one_cancelled_before_it_begins_never_runs(place):
    run = begun(place, f"open({str(place.out)!r}, 'w')")
    cancel(run)
    assert wait(run, timeout_seconds=60, poll_seconds=0.05) in ("cancelled", "passed")
    assert (state(run) == "passed") == place.out.exists()


def test_a_run_that_passed_stays_so_when_it_is_cancelled(place):
    run = begun(place, "")
    assert wait(run, timeout_seconds=60, poll_seconds=0.05) == "passed"
    cancel(run)
    assert begun(place, "").run_id == run.run_id


def test_a_token_names_one_content_and_one_queue(place):
    run = begun(place, "print(1)")
    with pytest.raises(TokenReused, match="the token load belongs to another job: script, its text"):
        begun(place, "print(2)")
    with pytest.raises(TokenReused, match="the token load belongs to the queue None, found 'default'"):
        begun(place, "print(1)", queue="default")
    assert wait(run, timeout_seconds=60, poll_seconds=0.05) == "passed"


def test_a_wait_that_is_too_short_says_so_and_the_run_goes_on(place):
    run = begun(place, "import time; time.sleep(600)")
    with pytest.raises(TimeoutError, match=r"of load is (queued|running) after 0\.1 seconds"):
        wait(run, timeout_seconds=0.1, poll_seconds=0.05)
    cancel(run)


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("", "token must be 1 to 512 printable characters without spaces around them, found ''"),
        (" a", "found ' a'"),
        ("a\nb", r"found 'a\\nb'"),
        ("a" * 513, "found 'a{60}…'"),
    ],
)
def test_a_token_that_is_none_is_refused(place, token, sentence):
    with pytest.raises(ValueError, match=sentence):
        begun(place, "", token=token)
    assert list(place.claims.listed()) == []


def test_jobs_that_are_refused(place, tmp_path):
    with pytest.raises(ValueError, match=r"the script .*nowhere.py cannot be read: No such file"):
        job(tmp_path / "nowhere.py")
    with pytest.raises(ValueError, match=r"job.py is not Python: invalid syntax"):
        begun(place, "this is not")
    with pytest.raises(ValueError, match=r"conf\.spark\.password holds a value under the name spark\.password"):
        job(place.script, conf={"spark.password": "x"})
    with pytest.raises(ValueError, match="nothing was submitted under the token other"):
        run_of("other", claims=place.claims, targets=place.targets)
