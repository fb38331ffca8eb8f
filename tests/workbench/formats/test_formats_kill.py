"""A process that moves or follows is killed in each place: there is no table or the right one, and a repeat mends it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from golden_tables import unpacked

from workbench import session

CHILD = Path(__file__).with_name("move_child.py")
STEPS = ("vectors", "files", "commit")
pytestmark = pytest.mark.proof("a move, a follow and a take-over that raise in each place leave the same")


def child(*arguments):
    return subprocess.run([sys.executable, CHILD, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("step", STEPS)
def test_killed_and_begun_again(step, project, tmp_path):
    source, table = unpacked("vectors", tmp_path / "sources"), "killed.moved"
    assert child("move", source, table, step).returncode == -9
    assert not session.catalog("lake").table_exists(table)
    assert json.loads(child("move", source, table, "none").stdout) == [4, 400, True]
    before = session.catalog("lake").load_table(table).current_snapshot()
    assert child("follow", source, table, step).returncode == -9
    assert session.catalog("lake").load_table(table).current_snapshot() == before
    assert json.loads(child("follow", source, table, "none").stdout) == [6, 386, True]
