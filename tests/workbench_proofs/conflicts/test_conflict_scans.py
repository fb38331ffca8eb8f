"""What lands behind a statement's scan, on a catalog of plain files: the same order every time."""

import pytest

from workbench.tables import commits
from workbench_proofs.conflicts import scans


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, v BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 10), (2, 20)")
    return name


@pytest.fixture
def other(spark):
    """A session that looks at the catalog anew, as another application does."""
    found = spark.newSession()
    found.conf.set("spark.sql.catalog.lake.cache-enabled", "false")
    return found


def test_it_lands_before_the_commit(spark, table, other):
    late = f"UPDATE {table} SET v = v + 1 WHERE id = 1"
    with (
        scans.meanwhile(other, table, f"DELETE FROM {table} WHERE id = 1 AND v < 15") as ended,
        pytest.raises(Exception) as refused,
    ):
        spark.sql(late)
    assert (ended.result(0), commits.kind(refused.value)) == (None, "validation")
    assert [tuple(row) for row in other.table(table).collect()] == [(2, 20)]


def test_its_own_error_is_in_the_future_and_the_statement_goes_on(spark, table, other):
    with scans.meanwhile(other, table, "SELECT nowhere") as ended:
        spark.sql(f"UPDATE {table} SET v = v + 1 WHERE id = 1")
    assert "UNRESOLVED_COLUMN" in str(ended.result(0))
    assert sorted(tuple(row) for row in other.table(table).collect()) == [(1, 11), (2, 20)]


def test_nothing_happens_without_a_scan_nor_after_the_context(spark, table, other):
    with scans.meanwhile(other, table, f"DELETE FROM {table}") as ended:
        spark.sql(f"INSERT INTO {table} VALUES (3, 30)")
    spark.sql(f"UPDATE {table} SET v = 0 WHERE id = 3")
    assert not ended.done()
    assert spark.table(table).count() == 3
    with pytest.raises(ValueError, match="is not a table name"), scans.meanwhile(other, "t; DROP", "SELECT 1"):
        pass
