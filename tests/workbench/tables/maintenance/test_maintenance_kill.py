"""kill -9 in every stage of maintenance: begun again, the table is as if nobody had killed it."""

import maintenance_kills as kills
import pytest

CHECKED = "in expiry, behind its commit"
FAST = pytest.mark.proof("test_a_run_that_was_killed_and_is_begun_again_is_harmless shows it without a process")
OTHERS = pytest.mark.proof("the same test shows a real kill, in a run of expiry behind its commit")


def point(name):
    return pytest.param(name, marks=FAST if name.endswith(" the fast commit") else OTHERS, id=name)


@pytest.mark.parametrize("point", [name if name == CHECKED else point(name) for name in kills.POINTS])
def test_killed_and_begun_again(spark, namespace, point):
    table = f"{namespace}.t"
    before = kills.sick(spark, table)
    assert kills.begun_again(spark, table, kills.killed(spark, table, point), before) == []
