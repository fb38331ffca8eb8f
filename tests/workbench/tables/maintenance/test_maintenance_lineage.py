"""Format 3: a row's id and the commit that last changed it stay with it, whatever is written anew.

And its deletion vectors go with their data files, in one commit, where format 2 needs a second one.
"""

import pytest
from maintenance_cases import ALL, BY_PARTITION, MERGE_ON_READ, append, ids, made, plan, run

from workbench._base import releases
from workbench.tables import maintenance
from workbench.tables.maintenance import sentences


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def lineage(spark, table):
    spark.sql(f"REFRESH TABLE {table}")
    rows = spark.sql(f"SELECT id, _row_id, _last_updated_sequence_number FROM {table}").collect()
    return sorted(map(tuple, rows))


RAISED = pytest.mark.proof("the same test shows it for a table that was of format 3 from the beginning")


@pytest.mark.parametrize("born", [pytest.param("2", marks=RAISED), "3"])
def test_row_ids_stay_when_manifests_and_files_are_written_together(spark, table, born):
    """Iceberg 1.11's own rewrite of manifests on Spark gives all rows of the table new ids."""
    made(spark, table, properties=MERGE_ON_READ.replace("'2'", f"'{born}'"), appends=4)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3')")
    append(spark, table, 4)
    spark.sql(f"UPDATE {table} SET v = 'new' WHERE id % 10 = 3")
    before = lineage(spark, table)
    assert len({row_id for _, row_id, _ in before} - {None}) == 50
    done = run(spark, table, "rewrite_manifests", min_manifests=2)["rewrite_manifests"]
    assert (done.files, done.files_after, done.commits) == (6, 1, 1)
    assert lineage(spark, table) == before
    assert run(spark, table, "rewrite_manifests", min_manifests=2) == {}
    assert run(spark, table, "compact_data", min_deletes_per_file=1)["compact_data"].files_after == 1
    assert lineage(spark, table) == before


def deleted_from(spark, table, version, **more):
    """Five files with a delete file each."""
    made(spark, table, properties=BY_PARTITION.replace("'2'", f"'{version}'"), appends=5, **more)
    for n in range(5):
        spark.sql(f"DELETE FROM {table} WHERE id BETWEEN {10 * n} AND {10 * n + 4}")
    return len(ids(spark, table))


@pytest.mark.proof(
    "test_limits_hold_and_the_next_run_goes_on shows that commits are counted, where nothing is deleted"
)
@pytest.mark.parametrize(
    ("version", "partitioned", "commits", "left"),
    [
        ("3", "", 1, 0),
        ("3", "v", 3, 0),  # one for each partition; deletion vectors that went with it were taken for one more
        ("2", "v", 3 + 1, 3),  # delete files go behind it; before Iceberg 1.12 but those of where it began
    ],
)
def test_a_compaction_counts_the_commits_in_the_history(spark, table, version, partitioned, commits, left):
    before = deleted_from(spark, table, version, partitioned=partitioned)
    done = run(spark, table, *ALL[:2], min_deletes_per_file=1)["compact_data"]
    assert (done.commits, len(ids(spark, table)) - before) == (commits, commits)
    assert spark.table(f"{table}.delete_files").count() == (left if releases.iceberg_before(spark, "1.12") else 0)


@pytest.mark.proof(
    "test_limits_hold_and_the_next_run_goes_on shows that commits are counted, where nothing is deleted"
)
def test_deletion_vectors_take_none_of_the_commits_that_are_left(spark, table):
    before = deleted_from(spark, table, 3)
    planned = plan(spark, table, *ALL[:3])
    done = maintenance.run(spark, planned, max_commits=2)
    assert [(one.name, one.commits, sentences(one)[1:]) for one in done] == [
        ("compact_data", 1, ()), ("rewrite_manifests", 1, ()),
    ]  # fmt: skip
    assert len(ids(spark, table)) - before == 2
