"""SQL cells, predictions and errata: docs/explore.md."""

from datetime import date
from typing import assert_type

from pyspark.sql import DataFrame, SparkSession

from workbench import errata, predictions, sql


def asked(spark: SparkSession, day: date) -> None:
    sql.cells(spark, DAY=day, TABLE="sales.orders")
    late = sql.run(spark, "SELECT * FROM IDENTIFIER(session.TABLE) WHERE day = session.DAY ORDER BY id", limit=5)
    assert_type(late, DataFrame)
    assert_type(sql.plan(late).files_read, int)
    sql.declare(spark, {"DAY": day})
    sql.run(spark)  # wrong: call-arg
    sql.run(spark, "SELECT 1", limit="5")  # wrong: arg-type
    sql.plan("SELECT 1")  # wrong: arg-type


def taught(found: int) -> None:
    assert_type(predictions.compare("files read", None, found, within=1), bool | None)
    assert_type(predictions.score(), tuple[int, int])
    errata.show(2, says=10, found=found)
    predictions.compare("files read", 3)  # wrong: call-arg
    errata.show("2", says=10, found=found)  # wrong: arg-type
