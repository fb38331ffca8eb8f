"""How often a publication asks a REST catalog for its table: counted by a proxy before the catalog.

    python -m bench.publication [before|after]

Each kind of publication is made on a table that nobody else writes to, twice to warm up and then three times, and the
requests of each are counted. The goal: a publication loads an idle table at most 4 times.
"""

import os
import sys
from collections import Counter

import boto3

from bench import evidence, proxied
from workbench import history, streams, wap
from workbench.verdicts import Verdict
from workbench_standins import kinesis

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"}
REGION, GOAL_LOADS, ROUNDS = "us-east-1", 4, 3
COLUMNS = "id BIGINT, room STRING"


def main(moment="after"):
    """Count, print, and keep the figures under `before` or `after`; the others stay."""
    os.environ.update(CREDENTIALS)  # before the session, whose Python workers keep what they began with
    with proxied.behind("rest", "uri") as (spark, catalog), kinesis.serve(limits=kinesis.UNLIMITED) as server:
        figures = count(spark, catalog, server)
    kept = {} if moment == "before" else evidence.kept("publication", ["before"], goal_loads=GOAL_LOADS)
    kept[moment] = figures
    evidence.write("publication", what=__doc__.splitlines()[0], goal_loads=GOAL_LOADS, **kept)


def count(spark, catalog, server):
    """Return the requests of each kind of publication: name to a list, an entry a round.

    Args:
        spark: session whose catalog is asked through a proxy.
        catalog: the proxy.
        server: kinesis.Server with a stream for the ingest.
    """
    streams.kinesis.register(spark)
    figures = {}
    publications = {
        "wap.run": gate(spark, catalog),
        "streams.ingest, the second batch of a run": batch(spark, catalog, server),
        "history.build": build(spark, catalog),
    }
    for name, publish in publications.items():
        figures[name] = [requests(*publish()) for _ in range(2 + ROUNDS)][2:]
        print(name, *(f"\n    {line}" for line in figures[name]), flush=True)
    return figures


def requests(table, log):
    """Return how often a table was loaded and committed to, and how many other requests there were."""
    mine = [line for line in log if line.path.endswith(f"/tables/{table}")]
    kinds = Counter(line.method for line in mine)
    other = Counter(f"{line.method} {line.path.split('/v1/')[-1]}" for line in log if line not in mine)
    return {
        "loads": kinds["GET"],
        "commits": kinds["POST"],
        "heads": kinds["HEAD"],
        "other": dict(sorted(other.items())),
    }


def gate(spark, catalog):
    """Return a function that publishes ten rows through the gate; it gives the table's name and the requests."""
    spark.sql(f"CREATE TABLE bench.gated ({COLUMNS})")
    rows = spark.range(10).selectExpr("id", "'a' AS room")

    def publish():
        begin = len(catalog.log)
        wap.run(
            spark,
            "bench.gated",
            write=lambda stage: rows.writeTo(stage.table).append(),
            audit=lambda df: Verdict(df.count() > 0, rules="count > 0"),
        )
        return "gated", catalog.log[begin:]

    return publish


def batch(spark, catalog, server):
    """Return a function that ingests twenty records in two batches; it gives the table's name and the second's requests."""
    client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION)
    client.create_stream(StreamName="bench", ShardCount=1)
    spark.sql(f"CREATE TABLE bench.streamed ({COLUMNS})")
    source = streams.Source("bench", region=REGION, endpoint=server.endpoint, max_records_per_batch=10)

    def publish():
        records = [{"Data": b'{"id":%d,"room":"a"}' % n, "PartitionKey": "k"} for n in range(20)]
        client.put_records(StreamName="bench", Records=records)
        ends = []
        streams.ingest(
            spark, "bench.streamed", source=source, parse=streams.Json(COLUMNS),
            on_batch=lambda batch: ends.append((batch.good, len(catalog.log))),
        )  # fmt: skip
        (first, begin), (second, end), *_ = ends
        if (first, second) != (10, 10):
            raise SystemExit(f"two batches of 10 records came as {ends}")
        return "streamed", catalog.log[begin:end]

    return publish


def build(spark, catalog):
    """Return a function that takes one commit of a source into its history; it gives the target and the requests."""
    spark.sql(f"CREATE TABLE bench.source ({COLUMNS})")
    spark.sql("INSERT INTO bench.source SELECT id, 'a' FROM range(10)")

    def publish():
        spark.sql("UPDATE bench.source SET room = room || 'b' WHERE id = 3")
        begin = len(catalog.log)
        history.build(spark, "bench.source", "bench.lives", key=["id"])
        return "lives", catalog.log[begin:]

    return publish


if __name__ == "__main__":
    main(*sys.argv[1:])
