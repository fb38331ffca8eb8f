"""A job runs once a token, whoever submits it, how often, and wherever a submitter is killed."""

import os
import random
import signal
import time

import pytest
import submit_kills
from submit_kills import Killing, Place, Unfenced, forked


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


# the writes of a submission: 1 the claim, 2 the attempt, then the service is asked, 3 the id
@pytest.mark.parametrize(("write", "before"), [(1, False), (2, False), (3, True), (3, False)])
def test_killed_between_two_writes_and_submitted_again(place, write, before):
    pid = forked(lambda: place.start("load", claims=Killing(place.claims.path, write, before)))
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    assert place.passed("load") == "passed"
    assert place.lines() == {"load": 1}


def test_without_the_fence_the_same_kill_starts_two(place):
    service = Unfenced(name="here", type="process", folder=str(place.out.parent / "runs"))
    killing = Killing(place.claims.path, 3, True)
    os.waitpid(forked(lambda: place.start("load", claims=killing, service=service)), 0)
    os.waitpid(forked(lambda: place.start("load", service=service)), 0)
    until = time.monotonic() + 60
    while place.lines() != {"load": 2}:
        assert time.monotonic() < until, place.lines()
        time.sleep(0.05)


def test_killed_at_random_and_raced(place):
    rng = random.Random(39)
    submit_kills.killed_at_random(place, "killed", rng)
    submit_kills.raced(place, "raced")
    assert [place.passed(token) for token in ("killed", "raced")] == ["passed", "passed"]
    assert place.lines() == {"killed": 1, "raced": 1}
