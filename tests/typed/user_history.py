"""Slowly changing dimensions: docs/history.md."""

from datetime import datetime
from typing import assert_type

from pyspark.sql import DataFrame, SparkSession

from workbench import history
from workbench.tables import changes


def nightly(spark: SparkSession, last_week: datetime) -> DataFrame:
    assert_type(changes.between(spark, "shop.products", key="product_id", start=last_week), DataFrame)
    changes.between(spark, "shop.products", key=["shop", "product_id"], start=3_051_729_675_574_597_004, net=True)
    changes.between(spark, "shop.products", start=last_week)  # wrong: call-arg
    changes.between(spark, "shop.products", key="product_id", start="2026-03-01")  # wrong: arg-type
    changes.between(spark, "shop.products", key="product_id", back_end="row_lineage")  # wrong: arg-type
    built = history.build(spark, "shop.products", "shop.products_history", key="product_id")
    assert_type(built, history.Built)
    assert_type(built.snapshot_id, int | None)
    history.build(spark, "shop.products", "shop.products_history", key=7)  # wrong: arg-type
    history.build(spark, "shop.products", key="product_id")  # wrong: call-arg
    history.build(spark, "shop.products", "shop.products_history", key="id", backend="auto")  # wrong: call-arg
    print(built.versions)  # wrong: attr-defined
    assert_type(history.current(spark, "shop.products_history"), DataFrame)
    history.as_of(spark, "shop.products_history", "2026-03-01")  # wrong: arg-type
    return history.as_of(spark, "shop.products_history", datetime(2026, 3, 1))
