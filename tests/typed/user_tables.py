"""Tables: changes to them, commits, upkeep. docs/library.md, docs/commits.md, docs/maintenance.md, docs/doctor.md."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import assert_type

from pandas import DataFrame as Frame
from pyspark.sql import DataFrame, SparkSession

from workbench import costs, show
from workbench.tables import browse, commits, doctor, maintenance, reads, snapshots, upserts
from workbench.tables.doctor import pointers


def looked_at(spark: SparkSession) -> None:
    assert_type(snapshots.history(spark, "sales.orders"), DataFrame)
    assert_type(snapshots.files_read(spark.table("sales.orders").where("day = DATE'2026-01-31'")), int)
    assert_type(snapshots.current(spark, "sales.orders", ref="audit"), int | None)
    assert_type(reads.counted(spark, "SELECT 1").data_files, int)
    snapshots.history("sales.orders")  # wrong: call-arg, arg-type
    snapshots.files_read("sales.orders")  # wrong: arg-type


def browsed(yesterday: datetime) -> None:
    lake = {"name": "lake", "type": "sql", "uri": "sqlite:////srv/lake/catalog.db"}
    assert_type(browse.tree(lake)[0].tables, tuple[str, ...])
    assert_type(browse.head(lake, "sales.orders").partitioned_by, tuple[str, ...])
    assert_type(browse.snapshots(lake, "sales.orders")[0].committed, datetime)
    assert_type(browse.files(lake, "sales.orders", at="end-of-year")[0].rows, int)
    assert_type(browse.difference(lake, "sales.orders", yesterday).added_rows, int)
    browse.preview(lake, "sales.orders", at=yesterday, limit=5)
    browse.preview(lake, "sales.orders", rows=5)  # wrong: call-arg
    browse.difference(lake, "sales.orders")  # wrong: call-arg
    browse.head("lake", "sales.orders")  # wrong: arg-type


def written(spark: SparkSession, new: DataFrame, updates: DataFrame) -> None:
    attempt = commits.retrying(spark, "sales.orders", lambda: new.writeTo("sales.orders").append(), id="load-1")
    assert_type(attempt.tries, int)
    commits.set_profile(spark, "sales.orders")
    upserts.merge(spark, "sales.stock", updates, key="product_id", sequence="changed_at")
    new.writeStream.foreachBatch(upserts.each_batch("sales.stock", key=["a", "b"], sequence="changed_at"))
    commits.retrying(spark, "sales.orders", new.write.save("a"))  # wrong: func-returns-value, arg-type
    commits.retrying(spark, "sales.orders", new.count, again=("unknown",))  # wrong: arg-type
    commits.retrying(spark, "sales.orders", new.count, retries=3)  # wrong: call-arg
    upserts.merge(spark, "sales.stock", updates, key="product_id")  # wrong: call-arg
    upserts.merge(spark, updates, key="product_id", sequence="changed_at")  # wrong: call-arg, arg-type
    assert_type(commits.kind(ValueError()), str | None)


def kept_up(spark: SparkSession, slowest: int) -> None:
    policy = maintenance.read_policy("sales_orders.yml")
    planned = maintenance.plan(
        spark, "sales.orders", policy=policy, marks=[slowest, "audit"], now=datetime.now(UTC)
    )
    assert_type(planned, maintenance.Planned)
    show.rows(maintenance.told(planned))
    assert_type(maintenance.told(planned), Frame)
    results = maintenance.run(spark, planned, max_minutes=30)
    assert_type(results, tuple[maintenance.Done, ...])
    assert_type(maintenance.sentences(results[0]), tuple[str, ...])
    assert_type(maintenance.usd(planned, costs.prices("compute"), dpus=2, mb_per_second=50), Decimal)
    marks = maintenance.stream_marks(spark, "sales.orders", "s3://jobs/orders_stream", available_now=False)
    maintenance.run(spark, maintenance.only(planned, "compact_data"), marks=marks)
    maintenance.plan(spark, "sales.orders", policy="sales_orders.yml")  # wrong: arg-type
    maintenance.plan(spark, "sales.orders", marks=slowest)  # wrong: arg-type
    maintenance.run(spark, "sales.orders")  # wrong: arg-type
    maintenance.run(spark, planned, max_hours=1)  # wrong: call-arg
    print(results[0].sentence)  # wrong: attr-defined
    maintenance.Policy(keep_snapshot=3)  # wrong: call-arg


def cured(spark: SparkSession, queries: list[str]) -> None:
    diagnosis = doctor.diagnose(spark, "sales.orders", policy=maintenance.read_policy("sales_orders.yml"))
    show.rows(doctor.told(diagnosis))
    show.rows(doctor.told(diagnosis.findings))
    assert_type(doctor.cure(spark, diagnosis, agreed=["wrong_partition_transform"]), doctor.Cured)
    for trial in doctor.trial(spark, "sales.orders", queries, agreed=["unsorted_files"]):
        assert_type((trial.equal, trial.files_before, trial.ratio), tuple[bool, int, float])
    pointer = pointers.look(spark, "sales.orders")
    if pointer.offered:
        pointers.restore(spark, "sales.orders", to=pointer.offered.location)
    doctor.told("sales.orders")  # wrong: arg-type
    doctor.cure(spark, "sales.orders")  # wrong: arg-type
    doctor.trial(spark, "sales.orders", queries, repeats="3")  # wrong: arg-type
    diagnosis.causes()  # wrong: operator
