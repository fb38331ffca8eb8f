"""Streams and topics: docs/streams.md, docs/delivery.md."""

from typing import assert_type

from pyspark.sql import DataFrame, SparkSession

from workbench import streams

events = streams.Source("events", region="eu-central-1", max_records_per_batch=500_000)
topic = streams.Topic("sales", "broker-1:9092", config={"security.protocol": "SASL_SSL"})
parse = streams.Json("id BIGINT NOT NULL, at TIMESTAMP NOT NULL, price DECIMAL(10, 2)")
tables = {"sales.orders": streams.Target(lineage=("offset",)),
          "hr.people": streams.Target(key=("id",), sequence=("at",), operation="op", deleted="gone")}  # fmt: skip
streams.Source(region="eu-central-1")  # wrong: call-arg
streams.Topic("sales", "broker-1:9092", start=0)  # wrong: arg-type
streams.RecordKey("id", time="at")  # wrong: arg-type
streams.Json(schema=["id BIGINT"])  # wrong: arg-type


def taken_in(spark: SparkSession) -> bool:
    run = streams.ingest(
        spark, "sales.events", source=events, parse=parse, dead_letters="sales.events_dead", max_bad_share=0.05,
        record_key=streams.RecordKey(("id",), time="at", hours=24), on_batch=lambda batch: print(streams.line(batch)),
    )  # fmt: skip
    streams.ingest(spark, "sales.events", source=topic, parse=parse, lineage=("shard_id", "offset"))
    streams.ingest(spark, "sales.events", source="events", parse=parse)  # wrong: arg-type
    streams.ingest(spark, "sales.events", source=events, parse="id BIGINT")  # wrong: arg-type
    streams.ingest(spark, "sales.events", events, parse=parse)  # wrong: call-arg
    streams.ingest(spark, "sales.events", source=events, parse=parse, max_batch=1)  # wrong: call-arg
    print(run.rows)  # wrong: attr-defined
    assert_type(run.snapshot_id, int | None)
    return run.records == run.good + run.dead + run.duplicates + run.dropped


def delivered(spark: SparkSession, mended: streams.Json, df: DataFrame) -> None:
    run = streams.deliver(
        spark, source=topic, parse=parse, route="'sales.orders'", tables=tables, errors="ops.errors"
    )
    assert_type(run.run, streams.Ingested)
    assert_type(run.tables, dict[str, dict[str, int]])
    streams.deliver(spark, source=topic, parse=parse, tables=["a.b"], errors="ops.errors")  # wrong: arg-type
    streams.deliver(spark, source=topic, parse=parse, tables=tables)  # wrong: call-arg
    streams.replay(spark, "ops.errors", source=topic, parse=mended, tables=tables, where="reason = 'no_route'")
    streams.replay(spark, source=topic, parse=mended, tables=tables)  # wrong: call-arg
    streams.kinesis.register(spark)
    query = streams.drain(df.writeStream.option("checkpointLocation", "/checkpoints/events"))
    assert_type(query.drained, bool)
    streams.drain(df)  # wrong: arg-type
    assert_type(streams.propose(events, records=100).schema, str)
