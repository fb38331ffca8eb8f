"""A build that is stopped in its middle, or killed: run again, the history is the one of a build that nobody stopped."""

import signal
import subprocess
import sys

import oracle
import pytest
import scripts
from conftest import PROVE
from test_history_oracle import FOUND, as_version

from workbench import history
from workbench.history import publish

KEY = ["shop", "id"]
PLAYED = scripts.COMMITS if PROVE else 5
EXPECTED = oracle.versions(scripts.states(FOUND[:60], KEY)[:PLAYED], scripts.TIMES[:PLAYED])
WHOLE = len(EXPECTED)

# the child stops itself and its JVM at a named point of the build; the group is killed whole, so nothing goes on
CHILD = """
import os, signal, sys
from workbench import history, session
from workbench.history import positions, publish

source, target, point = sys.argv[1:]
spark = session.start("local")

def die(*arguments, **options):
    os.killpg(os.getpgid(0), signal.SIGKILL)

merge, keep = publish.merge, positions.keep
if point == "before the commit":
    publish.merge = lambda *a: die
elif point == "after the commit":
    def committed_then_dead(*a):
        write = merge(*a)
        def write_and_die(table):
            write(table)
            die()
        return write_and_die
    publish.merge = committed_then_dead
elif point == "after the publication":
    publish_commit = publish.commit
    publish.commit = lambda *a: die(publish_commit(*a))
elif point == "before the tags are dropped":
    positions.keep = lambda *a, alone=False, **options: die() if alone else keep(*a, **options)
history.build(spark, source, target, key=["shop", "id"])
print("not killed", flush=True)
"""
POINTS = ["before the commit", "after the commit", "after the publication", "before the tags are dropped"]


@pytest.fixture
def play(spark, namespace):
    play = scripts.Play(spark, f"{namespace}.source", "v3_mor", FOUND[:60])
    play.until(3)
    history.build(spark, play.table, f"{namespace}.target", key=KEY)
    play.until(PLAYED)
    return play


def whole(spark, play, target):
    """Build to the end, and see that nothing is lost, doubled or left behind."""
    history.build(spark, play.table, target, key=KEY)
    places = [scripts.COLUMNS.index(name) for name in KEY]
    found = [as_version(row, places) for row in spark.table(target).collect()]
    assert sorted(found, key=lambda v: (v.key, v.number)) == EXPECTED
    refs = spark.sql(f"SELECT name FROM {target}.refs WHERE name <> 'main'").collect()
    assert len(refs) == 1 and refs[0].name.startswith("history_")


class Stopped(BaseException):
    """What nothing catches."""


def test_stopped_behind_its_commit_and_run_again(spark, namespace, play, monkeypatch):
    """The rerun has most to do here: the branch is there, and the target is not moved to it."""
    target, merge = f"{namespace}.target", publish.merge
    before = spark.table(target).count()

    def stopping(*arguments):
        def write(table):
            merge(*arguments)(table)
            raise Stopped

        return write

    with monkeypatch.context() as patched, pytest.raises(Stopped):
        patched.setattr(publish, "merge", stopping)
        history.build(spark, play.table, target, key=KEY)
    spark.catalog.refreshTable(target)
    assert spark.table(target).count() == before
    assert spark.sql(f"SELECT name FROM {target}.refs WHERE type = 'BRANCH'").count() == 2
    whole(spark, play, target)


@pytest.mark.proof("test_stopped_behind_its_commit_and_run_again stops in one of these places, without a kill")
def test_killed_and_run_again(spark, namespace, play):
    target = f"{namespace}.target"
    for point in POINTS:
        before = spark.table(target).count()
        child = subprocess.run(
            [sys.executable, "-c", CHILD, play.table, target, point],
            capture_output=True, text=True, start_new_session=True, timeout=300, check=False,
        )  # fmt: skip
        assert (child.returncode, child.stdout) == (-signal.SIGKILL, ""), child.stderr[-2000:]
        spark.catalog.refreshTable(target)
        assert spark.table(target).count() == (WHOLE if point in POINTS[2:] else before)
    whole(spark, play, target)
