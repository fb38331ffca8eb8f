"""Tables of other formats: docs/formats.md."""

from typing import assert_type

from pyspark.sql import SparkSession

from workbench import formats
from workbench.formats.results import Kind


def moved(spark: SparkSession) -> None:
    look = formats.look("/lake/orders")
    assert_type((look.kind, look.rows, look.obstacles), tuple[Kind, int, tuple[str, ...]])
    assert_type(formats.move(spark, "/lake/orders", "sales.orders", version=3).snapshot_id, int)
    follow = formats.follow(spark, "sales.orders")
    assert_type(follow, formats.Follow)
    assert_type(follow.snapshot_id, int | None)
    assert_type(formats.verify(spark, "sales.orders", reader="duckdb").equal, bool)
    assert_type(formats.take_over(spark, "sales.orders", files="copied"), formats.TakeOver)
    formats.move(spark, "/lake/orders")  # wrong: call-arg
    formats.move(spark, "/lake/orders", "sales.orders", version="3")  # wrong: arg-type
    formats.verify(spark, "sales.orders", reader="spark")  # wrong: arg-type
    formats.take_over(spark, "sales.orders")  # wrong: call-arg
    print(look.deleted)  # wrong: attr-defined
