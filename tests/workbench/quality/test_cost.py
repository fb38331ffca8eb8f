"""What an evaluation costs: one scan for all that a scan can answer, one for each key set, reference and statement."""

from datetime import UTC, datetime

import pytest
from conftest import views

from workbench import quality

ROWS = 50
SCANNED = """
    RowCount = 50, RowCount > 1 where "id > 3", IsComplete "id", Completeness "s" > 0.5, Mean "id" > 1, Sum "id" > 1,
    StandardDeviation "x" > 0.1, ColumnValues "id" between -1 and 60, ColumnValues "id" < 60, ColumnValues "x" >= 0,
    ColumnValues "s" in ["0", "1", "2"], ColumnValues "s" matches "[0-9]" with threshold > 0.9,
    ColumnLength "s" = 1, ColumnDataType "s" = "integer", DataFreshness "at" < 9 days, ColumnCount = 4,
    ColumnExists "x", ColumnValues "id" != 99 where "x > 0",
    (ColumnValues "id" >= 0) and (ColumnValues "x" >= 0), ColumnValues "at" <= now()
"""


@pytest.fixture(scope="module")
def source(spark):
    """A frame that counts how often its rows were read, and the function that tells."""
    from pyspark.sql import functions as F

    seen = spark.sparkContext.accumulator(0)

    def count(batches):
        for batch in batches:
            seen.add(batch.num_rows)
            yield batch

    df = spark.range(0, ROWS, 1, 2).select(
        "id",
        (F.col("id") / 7).alias("x"),
        (F.col("id") % 3).cast("string").alias("s"),
        F.lit(datetime(2024, 3, 9, tzinfo=UTC)).alias("at"),
    )
    df = df.mapInArrow(count, df.schema)

    def scans(rules, *, read=lambda result: None, **options):
        before = seen.value
        now = datetime(2024, 3, 10, tzinfo=UTC)
        result = quality.evaluate(spark, df, f"Rules = [{rules}]", now=now, **options)
        read(result)
        rows = seen.value - before
        assert rows % ROWS == 0
        return rows // ROWS

    return scans


def test_all_rules_of_a_scan_are_one_scan(source):
    assert source(SCANNED) == 1
    assert source(SCANNED, composite="ROW") == 1


def test_what_needs_no_rows_reads_none(source):
    assert source('ColumnCount = 4, ColumnExists "nope"') == 0


def test_one_more_for_each_key_set(source):
    keys = """IsUnique "s", Uniqueness "s" > 0, IsPrimaryKey "s", DistinctValuesCount "s" = 3, Entropy "s" > 1,
              IsUnique "id" "s", IsPrimaryKey "s" "id", IsUnique "s" where "id < 9", DistinctValuesCount "s" = 3"""
    assert source(f"{SCANNED}, {keys}") == 1 + 3


def test_one_more_for_each_reference_and_statement(spark, source):
    rules = """RowCountMatch "r" > 0, RowCountMatch "r" < 99, ReferentialIntegrity "id" "r.id" > 0,
               ReferentialIntegrity "id" "r.id" < 1, CustomSql "select count(*) from primary" = 50,
               CustomSql "select count(*) from primary" > 5"""
    assert source(f"{SCANNED}, {rules}", references={"r": spark.range(3)}) == 1 + 2


def test_row_level_frames_are_lazy_and_one_scan(source):
    assert source(SCANNED, read=lambda result: result.rowLevelOutcomes.collect()) == 2
    assert source(SCANNED, read=lambda result: result.good.write.format("noop").mode("overwrite").save()) == 2


def test_rows_are_not_collected(spark, source, monkeypatch):
    """Nothing but figures comes to the driver: one row an aggregation, two at most of a statement."""
    from pyspark.sql import DataFrame

    sizes, collect = [], DataFrame.collect
    kind = type(spark.range(1))

    def counted(self):
        rows = collect(self) if kind is DataFrame else original(self)
        sizes.append(len(rows))
        return rows

    original = kind.collect
    monkeypatch.setattr(kind, "collect", counted)
    source(
        f'{SCANNED}, IsUnique "s", CustomSql "select s from primary", CustomSql "select 1 as n from primary limit 1" = 1'
    )
    assert max(sizes) == 1


def test_views_exist_during_the_call_only_and_the_users_come_back(spark, source):
    spark.range(7).createOrReplaceTempView("primary")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW r AS SELECT 'mine' AS whose")
    before = views(spark)
    references = {"r": spark.range(3), "other": spark.range(4)}
    try:
        source('CustomSql "select count(*) from primary, r, other" = 600', references=references)
        assert (spark.table("primary").count(), spark.table("r").first().whose) == (7, "mine")
        with pytest.raises(ValueError, match="UNRESOLVED_COLUMN"):
            source('CustomSql "select nothing from other" = 1', references=references)
        assert (spark.table("primary").count(), spark.table("r").first().whose) == (7, "mine")
        assert views(spark) == before and not spark.catalog.tableExists("other")
    finally:
        spark.catalog.dropTempView("primary")
        spark.catalog.dropTempView("r")


def test_answers_do_not_depend_on_partitions(spark):
    from pyspark.sql import functions as F

    df = spark.range(1000).select("id", (F.col("id") * 0.1).alias("x"), (F.col("id") % 7).alias("k"))
    rules = 'Rules = [Sum "x" > 1, Mean "id" > 1, StandardDeviation "x" > 1, Entropy "k" > 1, Uniqueness "k" = 0]'
    one, many = (quality.evaluate(spark, df.repartition(n), rules) for n in (1, 7))
    for left, right in zip(one.outcomes, many.outcomes, strict=True):
        assert left.metrics == pytest.approx(right.metrics, rel=1e-12)
