"""A pull that ends in any step, by an error or by signal 9: the table is as it was or pulled, and the next run right.

Two processes that pull into one table at once: one of two is refused, and none brings back older figures.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROVE
from restated import Source, by_another_engine, make, night, options

from workbench import pulls

STEPS = (
    "ask", "dead stage", "dead write", "dead publish", "stage", "write", "publish", "published",
)  # fmt: skip
IN_CHECK = ("dead publish", "publish")
CHILD = Path(__file__).with_name("pull_child.py")


class Ended(BaseException):
    """As if the process ended here: nothing catches it."""


def test_ended_in_each_step(spark, namespace):
    table, dead, source = f"{namespace}.t", f"{namespace}.dead", Source()
    make(spark, table)
    source.put(night(0), "DE", 1)
    pulls.run(spark, table, **options(source, night(0)))
    ask, number = source.ask, 1

    def answer(since, until):
        return pulls.Answer(ask(since, until), dead=[pulls.DeadCell(f"S!A{number}", "no number", "x")])

    steps = STEPS if PROVE else IN_CHECK
    for number, step in enumerate(steps, 1):
        before = source.truth(night(0))
        source.put(night(0), "DE", number + 1)

        def end(at, step=step):
            if at == step:
                raise Ended

        given = options(source, night(0), ask=answer, dead_letters=dead)
        with pytest.raises(Ended):
            pulls.run(spark, table, on_step=end, **given)
        after = source.truth(night(0))
        assert by_another_engine(spark, table) == (after if step == "published" else before), step
        pulls.run(spark, table, **given)
        assert by_another_engine(spark, table) == after, step
    addresses = sorted(row.address for row in spark.table(dead).collect())
    assert addresses == [f"S!A{n}" for n in range(1, len(steps) + 1)]
    refs = [row.name for row in spark.sql(f"SELECT name FROM {table}.refs WHERE type = 'BRANCH'").collect()]
    assert refs == ["main"]  # branches of runs that ended were swept


def child(*arguments):
    return subprocess.run(
        [sys.executable, CHILD, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def done(*arguments):
    child_done = child(*arguments)
    assert child_done.returncode == 0, child_done.stderr[-2000:]
    return json.loads(child_done.stdout.splitlines()[-1])


@pytest.mark.proof("test_ended_in_each_step ends in the same places by an error that nothing catches")
@pytest.mark.parametrize("way", ["run", "first", "whole"])
def test_killed_in_each_step(project, way):
    if way != "first":
        done("kill", way, "none", 0)
    for number, step in enumerate(STEPS, 1):
        assert child("kill", way, step, number).returncode == -9, step
        said = done("kill", way, "none", number)
        assert said["rows"] == [["2026-03-01", "DE", number + 1]], step
        assert said["branches"] == ["main"]
        assert said["dead"] == number  # of each number one cell, once


PULLS = 15  # of each process


@pytest.mark.proof("test_pulls_meanwhile lets a second run overtake the first one in every step")
def test_two_processes_race(project):
    """Nothing is published over a newer answer, and what was acknowledged is in the history."""
    counter = project / "asked"
    counter.write_text("0")
    done("kill", "run", "none", 0)
    done("make")
    racing = [
        subprocess.Popen(
            [sys.executable, CHILD, "race", counter, str(PULLS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    try:
        assert [process.stdout.readline() for process in racing] == ["ready\n"] * 2
        ends = []
        for process in racing:
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in racing:
            out, error = process.communicate(timeout=1800)
            assert process.returncode == 0, error[-2000:]
            ends.append(json.loads(out.splitlines()[-1]))
    finally:
        for process in racing:
            process.kill()
            process.wait()
    history = done("history")
    published = {snapshot_id: number for end in ends for snapshot_id, number in end["published"]}
    assert len(published) + sum(end["refused"] for end in ends) == 2 * PULLS
    assert len(published) >= PULLS  # of two at once at most one is refused
    assert [published[snapshot_id] for snapshot_id, _ in history] == [number for _, number in history]
    assert [number for _, number in history] == sorted(published.values())
