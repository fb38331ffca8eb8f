"""What notebook 72 takes from here: readings by two ways alike, rows of footers, a watcher that is lost."""

import pytest
from conftest import ENVIRONMENT

from workbench import session
from workbench_proofs import watches


def test_readings_are_the_formula(spark):
    frame = watches.formula(rows=320, seed=7)
    days = [watches.readings(spark, day, rows=320, seed=7) for day in range(watches.DAYS)]
    assert [tuple(row) for day in days for row in day.collect()] == [*frame.itertuples(index=False, name=None)]
    assert [day.rdd.getNumPartitions() for day in days] == [4] * 8
    assert frame["value"].between(0, 999).all() and frame["value"].nunique() > 100


def test_rows_of_footers_are_not_taken_for_rows_of_a_table_with_delete_files(spark, namespace):
    table = f"{namespace}.readings"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES ('write.delete.mode'='merge-on-read')"
    )
    spark.range(0, 40, 1, 4).writeTo(table).append()
    catalog = session.catalog(ENVIRONMENT)
    assert watches.rows_in_footers(catalog, table) == 40
    spark.sql(f"DELETE FROM {table} WHERE id = 3")
    with pytest.raises(ValueError, match="has delete files: not each row of a file is a row of the table"):
        watches.rows_in_footers(catalog, table)


def test_a_job_that_fails_is_not_saved_by_its_watch(spark, tmp_path):
    assert watches.close_logs(spark) == 0
    with pytest.raises(ZeroDivisionError):
        watches.survive(spark, tmp_path, lambda: 1 / 0)
    answers = iter(("before", "after"))
    survival = watches.survive(spark, tmp_path / "again", lambda: next(answers))
    assert survival == watches.Survival(None, ("before", "after"))
