"""A pull that ends in any step, by an error or by signal 9: the table is as it was or pulled, and the next run right."""

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
IN_CHECK = ("dead publish", "write", "publish", "published")
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


@pytest.mark.proof("test_ended_in_each_step ends in the same places by an error that nothing catches")
def test_killed_in_each_step(project):
    first = child("none", 0)
    assert first.returncode == 0, first.stderr[-2000:]
    for number, step in enumerate(STEPS, 1):
        assert child(step, number).returncode == -9, step
        done = child("none", number)
        assert done.returncode == 0, done.stderr[-2000:]
        said = json.loads(done.stdout)
        assert said["rows"] == [["2026-03-01", "DE", number + 1]], step
        assert said["branches"] == ["main"]
        assert said["dead"] == number  # of each number one cell, once
