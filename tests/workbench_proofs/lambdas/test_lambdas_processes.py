"""Functions that a queue calls as processes: what comes again, what ends in the dead letters, who was struck."""

import json

import pytest

from workbench_proofs import lambdas

CODE = '''
import json, os, sys, time
from pathlib import Path
import faults

SEEN = Path(os.environ["SEEN"])


def handler(event, context):
    """Note what came in a file of this process, and fail what cannot be read."""
    failures = []
    for record in event["Records"]:
        try:
            json.loads(record["body"])
        except ValueError:
            failures.append({"itemIdentifier": record["messageId"]})
    noted = [[record["messageId"], record["attributes"]["ApproximateReceiveCount"]] for record in event["Records"]]
    (SEEN / str(os.getpid())).write_text(json.dumps(noted))
    print("said by the function")
    faults.strike(event)
    return {"batchItemFailures": failures}


def meets(event, context):
    """Wait until so many functions run at once as may."""
    (SEEN / str(os.getpid())).touch()
    until = time.monotonic() + 60
    while len(os.listdir(SEEN)) < 3:
        assert time.monotonic() < until, "no other function came"
        time.sleep(0.01)


def leaves(event, context):
    os._exit(7)
'''


@pytest.fixture
def function(tmp_path):
    (tmp_path / "seen").mkdir()
    variables = {"SEEN": str(tmp_path / "seen")}
    return lambdas.written(CODE, tmp_path / "function", variables=variables, batch=2, concurrency=3)


def seen(function, tmp_path):
    """The batches that came, sorted: (name of a message, how often it had come) of each."""
    notes = (tmp_path / "seen").iterdir()
    return sorted([tuple(pair) for pair in json.loads(note.read_text())] for note in notes)


def body(id, fault=None):
    return json.dumps({"id": id, "rows": 1, "fault": fault})


def test_what_is_not_acknowledged_comes_again_and_ends_in_the_dead_letters(function, tmp_path):
    bodies = [body("a", "killed"), body("b"), "no json", body("c"), body("d", "raised"), body("e", "raised")]
    delivery = lambdas.deliver(function, "handler", bodies)
    # a batch that is killed or raises comes again whole, a message that cannot be read alone, five times in all
    assert seen(function, tmp_path) == [
        [("0", "1"), ("1", "1")],
        [("0", "2"), ("1", "2")],
        [("2", "1"), ("3", "1")],
        [("2", "2"), ("4", "2")],
        [("2", "3")],
        [("2", "4")],
        [("2", "5")],
        [("4", "1"), ("5", "1")],
        [("5", "2")],
    ]
    assert delivery.dead_letters == ("no json",)
    assert delivery.calls == {"killed": 1, "raised": 1, "in part": 5, "acknowledged": 2}
    assert lambdas.struck(function) == {"a", "d", "e"}
    assert (function.folder / "log").read_text().count("said by the function") == 9


def test_as_many_run_at_once_as_may(function):
    assert lambdas.deliver(function, "meets", [body(str(n)) for n in range(6)]).calls == {"acknowledged": 3}


def test_a_function_that_cannot_be_called_is_an_error_with_its_last_words(function):
    with pytest.raises(
        ChildProcessError, match="a function ended with exit code 7, which neither a raise nor a kill"
    ):
        lambdas.deliver(function, "leaves", [body("a")])
    with pytest.raises(ChildProcessError, match="has no attribute 'other'"):
        lambdas.deliver(function, "other", [body("a")])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"batch": 0}, "batch is 0: a call has a message at least"),
        ({"concurrency": 0}, "concurrency is 0: one call runs at least"),
        ({"folder": "."}, "exists; a function is written to a folder of its own"),
    ],
)
def test_a_function_that_cannot_be_written(tmp_path, arguments, sentence):
    given = {"folder": tmp_path / "function", "variables": {}, "batch": 1, "concurrency": 1} | arguments
    with pytest.raises(ValueError, match=sentence):
        lambdas.written(CODE, **given)
