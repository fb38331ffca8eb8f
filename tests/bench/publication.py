"""How often a publication asks a REST catalog for its table: counted by a proxy before the catalog.

    python -m bench.publication [before|after]

Each kind of publication is made on a table that nobody else writes to, twice to warm up and then three times, and the
requests of each are counted. The goal: a publication loads an idle table at most 4 times.
"""

import os
import sys
from collections import Counter
from contextlib import contextmanager

import boto3

from bench import evidence
from workbench import history, session, streams, wap
from workbench.verdicts import Verdict
from workbench_standins import kinesis, proxy

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"}
REGION, GOAL_LOADS, ROUNDS = "us-east-1", 4, 3
COLUMNS = "id BIGINT, room STRING"


def main(moment="after"):
    """Count, print, and keep the figures under `before` or `after`; the others stay."""
    os.environ.update(CREDENTIALS)
    with behind_proxy() as (spark, catalog), kinesis.serve(limits=kinesis.UNLIMITED) as server:
        spark.sql("CREATE NAMESPACE IF NOT EXISTS bench")
        streams.kinesis.register(spark)
        figures = {}
        for name, publication in {
            "wap.run": gate(spark),
            "streams.ingest, a batch": batch(spark, server),
            "history.build": build(spark),
        }.items():
            rounds = []
            for _ in range(2 + ROUNDS):
                begin = len(catalog.log)
                table = publication()
                rounds.append(requests(catalog.log[begin:], table))
            figures[name] = rounds[2:]
            print(name, *(f"\n    {one}" for one in figures[name]), flush=True)
    kept = {} if moment == "before" else evidence.kept("publication", ["before"], goal_loads=GOAL_LOADS)
    kept[moment] = figures
    evidence.write("publication", what=__doc__.splitlines()[0], goal_loads=GOAL_LOADS, **kept)


@contextmanager
def behind_proxy():
    """Give a session of the environment `rest` whose catalog is asked through a proxy, and the proxy."""
    spark = session.start("rest")
    try:
        key = f"spark.sql.catalog.{spark.conf.get('spark.sql.defaultCatalog')}"
        settings = {name: value for name, value in spark.conf.getAll.items() if name.startswith(key)}
        with proxy.between(settings[f"{key}.uri"]) as catalog:
            behind = spark.newSession()
            for name, value in (settings | {f"{key}.uri": catalog.endpoint}).items():
                behind.conf.set(name, value)
            yield behind, catalog
    finally:
        session.stop(spark)


def requests(log, table):
    """Return how often a table was loaded and committed to, and how many other requests there were."""
    mine = [line for line in log if line.path.endswith(f"/tables/{table}")]
    kinds = Counter(line.method for line in mine)
    other = Counter(f"{line.method} {line.path.split('/v1/')[-1]}" for line in log if line not in mine)
    return {"loads": kinds["GET"], "commits": kinds["POST"], "heads": kinds["HEAD"], "other": dict(sorted(other.items()))}


def gate(spark):
    """Return a function that publishes ten rows through the gate and gives the table's name."""
    spark.sql(f"CREATE TABLE bench.gated ({COLUMNS})")
    rows = spark.range(10).selectExpr("id", "'a' AS room")

    def publish():
        wap.run(
            spark,
            "bench.gated",
            write=lambda stage: rows.writeTo(stage.table).append(),
            audit=lambda df: Verdict(df.count() > 0, rules="count > 0"),
        )
        return "gated"

    return publish


def batch(spark, server):
    """Return a function that ingests ten records in one batch and gives the table's name."""
    client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION)
    client.create_stream(StreamName="bench", ShardCount=1)
    spark.sql(f"CREATE TABLE bench.streamed ({COLUMNS})")
    source = streams.Source("bench", region=REGION, endpoint=server.endpoint)

    def publish():
        records = [{"Data": b'{"id":%d,"room":"a"}' % n, "PartitionKey": "k"} for n in range(10)]
        client.put_records(StreamName="bench", Records=records)
        done = streams.ingest(spark, "bench.streamed", source=source, parse=streams.Json(COLUMNS))
        if done.good != 10:
            raise SystemExit(f"an ingest of 10 records brought {done}")
        return "streamed"

    return publish


def build(spark):
    """Return a function that takes one commit of a source into its history and gives the target's name."""
    spark.sql(f"CREATE TABLE bench.source ({COLUMNS})")
    spark.sql("INSERT INTO bench.source SELECT id, 'a' FROM range(10)")

    def publish():
        spark.sql("UPDATE bench.source SET room = room || 'b' WHERE id = 3")
        history.build(spark, "bench.source", "bench.lives", key=["id"])
        return "lives"

    return publish


if __name__ == "__main__":
    main(*sys.argv[1:])
