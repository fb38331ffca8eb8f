"""Maintenance that is stopped or killed in a stage: begun again, the table is as if nobody had stopped it."""

import maintenance_kills as kills
import pytest

from workbench.tables import commits, maintenance


def test_an_expiry_that_stopped_behind_its_commit_and_is_begun_again(spark, namespace):
    """The snapshots are gone, and all the files that only they needed are there."""
    table = f"{namespace}.t"
    before = kills.sick(spark, table)
    mine = kills.planned(spark, table, "expire_snapshots", fast=False)
    expiry = commits.load(spark, table).expireSnapshots().cleanExpiredFiles(False)
    for one in mine.actions[0].snapshots:
        expiry = expiry.expireSnapshotId(one)
    expiry.commit()
    assert any(one.endswith(".avro") for one in maintenance.inventory(spark, table).unknown)
    assert kills.begun_again(spark, table, mine, before) == []


@pytest.mark.proof(
    "test_an_expiry_that_stopped_behind_its_commit_and_is_begun_again leaves what a kill there leaves, and "
    "test_a_run_that_was_killed_and_is_begun_again_is_harmless stops a rewrite behind its commit"
)
@pytest.mark.parametrize("point", kills.POINTS)
def test_killed_and_begun_again(spark, namespace, point):
    table = f"{namespace}.t"
    before = kills.sick(spark, table)
    assert kills.begun_again(spark, table, kills.killed(spark, table, point), before) == []
