"""A throw-away folder belongs to the run: shared with children, removed by the last one out, swept after a kill."""

import os
import signal
import subprocess
import sys

import pytest

from workbench._base import scratch

HOLD = "from workbench._base import scratch; print(scratch.enter(), flush=True); import sys; sys.stdin.read()"


@pytest.fixture
def alone(project):
    """No other throw-away folder is entered in this process."""
    yield project
    for folder in [f for f in scratch._held if f.is_relative_to(project)]:
        scratch.leave(folder)


def hold(**env):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | env,
    )
    return process, process.stdout.readline().strip()


def test_children_share_it_and_the_last_one_out_removes_it(alone):
    folder = scratch.enter()
    assert folder == scratch.enter() and folder.is_relative_to(alone)
    child, named = hold()
    assert named == str(folder)
    scratch.leave(folder)
    assert folder.exists()  # the child is still in it
    child.communicate()
    assert not folder.exists()


def test_what_a_killed_process_left_is_swept(alone):
    child, named = hold()
    assert scratch.sweep() == 0 and os.path.exists(named)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert os.path.exists(named)
    assert scratch.sweep() == 1 and not os.path.exists(named)


def test_a_kept_folder_stays(alone):
    folder = scratch.enter()
    scratch.keep(folder)
    scratch.leave(folder)
    assert scratch.sweep() == 0 and folder.exists()


def test_an_unwritable_home_falls_back_to_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("a file, so no folder can be made in it")
    monkeypatch.delenv("WORKBENCH_SCRATCH", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = scratch.enter()
    assert folder.parent == tmp_path / f"iceberg-workbench-{os.getuid()}"
    scratch.leave(folder)


def test_a_folder_that_is_not_ours_is_neither_entered_nor_removed(alone, tmp_path, monkeypatch):
    precious = tmp_path / "mine"
    precious.mkdir()
    (precious / "precious").touch()
    monkeypatch.setenv(scratch.VARIABLE, str(precious))
    folder = scratch.enter()
    assert folder != precious
    scratch.leave(folder)
    assert (precious / "precious").exists()
