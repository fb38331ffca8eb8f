"""Format 3: a row's id and the commit that last changed it stay with it, whatever is written anew."""

import pytest
from maintenance_cases import MERGE_ON_READ, append, made, run


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def lineage(spark, table):
    spark.sql(f"REFRESH TABLE {table}")
    rows = spark.sql(f"SELECT id, _row_id, _last_updated_sequence_number FROM {table}").collect()
    return sorted(map(tuple, rows))


@pytest.mark.parametrize("born", ["2", "3"])
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
