"""Archived data: docs/archive.md."""

from decimal import Decimal
from typing import assert_type

import boto3
from pyspark.sql import DataFrame, SparkSession

from workbench import archive

s3 = boto3.client("s3")


def brought_back(spark: SparkSession) -> None:
    objects = list(archive.inventory("sales.orders", spark=spark, s3=s3, where="year = 2021"))
    assert_type(objects, list[archive.Object])
    plan = archive.plan(objects, tier="Bulk", days=5)
    assert_type((plan.usd, plan.hours, plan.query), tuple[Decimal, float, str])
    outcome = archive.restore(plan, s3=s3, state="orders.db")
    assert_type(outcome, archive.Outcome)
    archive.plan(objects, tier={"GLACIER": "Bulk"}, prices="own.toml")
    archive.plan(objects, days="5")  # wrong: arg-type
    archive.plan("sales.orders", days=5)  # wrong: arg-type
    archive.restore(plan, s3=s3)  # wrong: call-arg
    archive.restore(objects, s3=s3, state="orders.db")  # wrong: arg-type
    archive.inventory("sales.orders", spark, s3=s3)  # wrong: misc
    print(outcome.usd)  # wrong: attr-defined


def read(spark: SparkSession) -> DataFrame:
    reading = archive.read("s3://attic/sales/", s3=s3, spark=spark, mode=archive.READ_RESTORED_GLACIER_OBJECTS,
                           format="csv", schema="id BIGINT", options={"header": "true"}, copy_to="copies")  # fmt: skip
    assert_type(reading, archive.Reading)
    print(reading.rows.count(), len(reading.read), [entry.uri for entry in reading.skipped])
    assert_type(archive.read("s3://attic/sales/", s3=s3, spark=spark, schema="id INT").rows, DataFrame)
    archive.read("s3://attic/sales/", s3=s3, spark=spark, mode="READ_SOME")  # wrong: call-overload
    archive.read("sales.orders", s3=s3, where="year = 2021")  # wrong: call-overload
    whole = archive.read("sales.orders", spark=spark, s3=s3)
    assert isinstance(whole, DataFrame)
    return archive.read("sales.orders", spark=spark, s3=s3, where="year = 2021")
