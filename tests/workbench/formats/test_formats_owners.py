"""Nothing that the workbench or Iceberg does to a moved table deletes a file of its source; VACUUM there breaks what it says."""

from datetime import UTC, datetime, timedelta

import pytest
from golden_tables import digest_of, namespace, unpacked

from workbench import formats
from workbench.tables import commits, maintenance
from workbench.tables.maintenance import owners

POLICY = {"keep_snapshots": 1, "snapshots_older_than_days": 0, "orphans_older_than_days": 0}


def moved(spark, namespace, folder, name="vectors"):
    """A table that followed its source from version 2 to the newest."""
    source, table = unpacked(name, folder), f"{namespace}.moved"
    formats.move(spark, source, table, version=2)
    formats.follow(spark, table)
    return source, table


@pytest.mark.parametrize(
    "gc",
    [
        "true",
        pytest.param("false", marks=pytest.mark.proof("33_move_to_iceberg plans maintenance of such a table")),
    ],
)
def test_maintenance_deletes_no_file_of_the_source_and_says_so(gc, spark, namespace, tmp_path):
    source, table = moved(spark, namespace, tmp_path)
    before = digest_of(source)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('gc.enabled' = '{gc}')")  # by somebody who knows nothing
    policy = maintenance.Policy(actions=("expire_snapshots", "remove_orphans"), **POLICY)
    now = datetime.now(UTC) + timedelta(days=9)
    planned = maintenance.plan(spark, table, policy=policy, now=now)
    assert planned.actions == ()
    held = f"its files are those of file://{source}, which it follows: formats.take_over makes them its own"
    assert [sentence.partition(": ")[2] for sentence in maintenance.sentences(planned)] == [held, held]
    assert digest_of(source) == before
    assert len(commits.snapshots_of(spark, commits.load(spark, table))) == 2


def test_a_table_that_was_taken_over_is_cleaned_up(spark, namespace, tmp_path):
    _, table = moved(spark, namespace, tmp_path)
    formats.take_over(spark, table, files="adopted")
    assert owners.obstacle(commits.load(spark, table)) is None
    policy = maintenance.Policy(actions=("expire_snapshots",), **POLICY)
    planned = maintenance.plan(spark, table, policy=policy, now=datetime.now(UTC) + timedelta(days=9))
    assert [action.name for action in planned.actions] == ["expire_snapshots"]


def test_iceberg_itself_refuses_too(spark, namespace, tmp_path):
    source, table = moved(spark, namespace, tmp_path)
    before = digest_of(source)
    for statement in (
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '2100-01-01', retain_last => 1)",
        f"CALL system.remove_orphan_files(table => '{table}', older_than => TIMESTAMP '2000-01-01')",
        f"DROP TABLE {table} PURGE",
    ):
        with pytest.raises(Exception, match="GC is disabled|gc.enabled"):
            spark.sql(statement)
    assert digest_of(source) == before
    spark.sql(f"DROP TABLE {table}")
    assert digest_of(source) == before


def test_what_vacuum_at_the_source_breaks(spark, namespace, tmp_path):
    from deltalake import DeltaTable

    source, table = moved(spark, namespace, tmp_path, "plain")
    old, new = [
        row.snapshot_id for row in spark.sql(f"SELECT * FROM {table}.snapshots ORDER BY committed_at").collect()
    ]
    DeltaTable(source).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert formats.verify(spark, table).equal  # the newest snapshot has what the source has
    assert spark.sql(f"SELECT * FROM {table} VERSION AS OF {new}").count() == 140
    with pytest.raises(Exception, match=r"(?i)does not exist|no such file"):
        spark.sql(f"SELECT * FROM {table} VERSION AS OF {old}").collect()
    assert formats.follow(spark, table).version == formats.look(source).version  # VACUUM writes to the log
