"""Real races on a real S3: the telling cells, twice, and a pair of a user's own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench._base import scratch

ENVIRONMENT = "s3"
pytestmark = pytest.mark.proof(
    "22_race_writers races the telling cells once and pairs of its own, and compares them with the committed matrix"
)


@pytest.fixture(scope="module")
def found():
    """What a process of its own saw: this one runs a session of another environment."""
    child = Path(__file__).with_name("conflicts_child.py")
    env = {name: value for name, value in os.environ.items() if name != scratch.VARIABLE}
    said = subprocess.run(
        [sys.executable, child, ENVIRONMENT], env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert said.returncode == 0, said.stderr[-3000:]
    return json.loads(said.stdout.splitlines()[-1])


TELLING = [
    ("append", "append", "retried_and_committed", None, 12, "both", "indistinguishable"),
    ("merge_insert_only", "merge_insert_only", "silent_anomaly", None, 10, "neither", "differ"),
    ("append", "update", "data_conflict", "ValidationException", 10, "first_alone", "differ"),
    ("append", "update", "retried_and_committed", None, 10, "second_first", "differ"),
    ("merge", "merge", "data_conflict", "ValidationException", 9, "first_alone", "indistinguishable"),
    (
        "update",
        "rewrite_data_files",
        "data_conflict",
        "ValidationException",
        8,
        "first_alone",
        "indistinguishable",
    ),
    ("expire_snapshots", "append", "retried_and_committed", None, 10, "both", "indistinguishable"),
    (
        "add_column",
        "add_column",
        "catalog_conflict",
        "CommitFailedException",
        8,
        "first_alone",
        "indistinguishable",
    ),
]


def test_the_telling_cells_are_the_same_twice(found):
    columns = ("first", "second", "outcome", "error_class", "rows", "equal_to", "orders")
    once, again = found["cells"][0::2], found["cells"][1::2]
    assert [tuple(one[name] for name in columns) for one in once] == TELLING
    assert once == again


def test_two_insert_only_merges_of_one_new_key_are_red(found):
    red = [one for one in found["cells"] if one["second"] == "merge_insert_only"]
    assert [(one["outcome"], one["error_class"]) for one in red] == [("silent_anomaly", None)] * 2


def test_nothing_is_left_in_the_namespace(found):
    assert found["left"] == []


def test_a_users_own_pair_on_a_users_own_table(found):
    assert found["own"]["ends"] == [[True, "validation", False], [True, None, True]]
    assert found["own"]["rows"] == [[2, False], [3, False]]


def test_a_second_statement_that_commits_nothing_is_said(found):
    before = "the second statement ended before a commit of its own could be held: "
    assert (found["own"]["quiet"], found["own"]["wrong"]) == (
        before + "it had nothing to commit",
        before + "it failed",
    )
