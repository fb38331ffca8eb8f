"""kill -9 in every stage of maintenance: begun again, the table is as if nobody had killed it."""

import os

import maintenance_kills as kills
import pytest

POINTS = (
    kills.POINTS
    if os.environ.get("WORKBENCH_SOAK")
    else ("behind the fast commit", "in expiry, behind its commit")
)


@pytest.mark.parametrize("point", POINTS)
def test_killed_and_begun_again(spark, namespace, point):
    table = f"{namespace}.t"
    before = kills.sick(spark, table)
    assert kills.begun_again(spark, table, kills.killed(spark, table, point), before) == []
