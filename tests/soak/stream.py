"""The ingest under kill -9: hundreds of kills in every window and at random moments, with random reshards.

    python -m soak.stream [KILLS]

Each round is a stream with a random number of shards, a random plan of splits and merges between its records, bad
records among them, and a table. A child ingests and is killed, again and again, until one lives to the end. Then every
record has to be there once: good ones in the table, as PyIceberg reads it, bad ones in the dead letters. A kill in a
window counts only with the evidence of `workbench.streams.kills`. The plain variant goes through the same kills.
"""

import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter

import boto3
from bench import evidence

from workbench import session
from workbench.local import kinesis
from workbench.streams import kills, sending

SCHEMA = "id BIGINT NOT NULL, text STRING"
REGION, RECORDS, KILLS_A_ROUND = "us-east-1", 6_000, 7
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"}


def main(wanted=200, seed=1):
    """Run rounds until there are as many kills as wanted; print as it goes; the exit code says whether all held."""
    os.environ.update(CREDENTIALS)
    chance, begin = random.Random(seed), time.monotonic()
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
    counted, total = Counter(), {"lost": 0, "doubled": 0, "dead_lost": 0, "dead_doubled": 0, "rounds": 0}
    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        while sum(counted.values()) < wanted:
            found = round_of_kills(spark, server, chance, total["rounds"], counted)
            total = {name: total[name] + found.get(name, 1) for name in total}
            print(f"round {total['rounds']}: {found}; kills so far {dict(counted)}", flush=True)
        plain = plain_round(spark, server, chance)
    wrong = [name for name in ("lost", "doubled", "dead_lost", "dead_doubled") if total[name]]
    wrong += [] if plain["doubled"] else ["the plain variant did not double"]
    wrong += [f"no kill while {name}" for name in kills.WINDOWS if not counted[name]]
    evidence.write(
        "stream_soak",
        what="kill -9 of an ingest in windows found from outside and at random moments, with random reshards",
        kills=sum(counted.values()),
        kills_by_window=dict(sorted(counted.items())),
        rounds=total["rounds"],
        records_a_round=RECORDS,
        rows_lost=total["lost"],
        rows_doubled=total["doubled"],
        dead_letters_lost=total["dead_lost"],
        dead_letters_doubled=total["dead_doubled"],
        plain_variant_rows_doubled=plain["doubled"],
        plain_variant_rows_lost=plain["lost"],
        wrong=wrong,
        minutes=round((time.monotonic() - begin) / 60, 1),
    )
    session.stop(spark)
    return 1 if wrong else 0


def round_of_kills(spark, server, chance, number, counted):
    """One stream into one table through several kills; returns what was lost or doubled."""
    stream, table = f"soak-{number}", f"soak.events_{number}"
    client = made(server, stream, chance)
    fill(client, stream, chance)
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING iceberg")
    letters, windows = f"{table}_dead", [*kills.WINDOWS, "random", "random"]
    for _ in range(KILLS_A_ROUND):
        window = min(chance.sample(windows, 3), key=lambda one: counted[one])
        if killed(server, stream, table, letters, window, chance):
            counted[window] += 1
    finish(server, stream, table, letters)
    found = compared(table, [n for n in range(RECORDS) if n % 10])
    rows = session.catalog("local").load_table(letters).scan().to_arrow().to_pylist()
    keys = Counter((row["shard_id"], row["sequence_number"]) for row in rows)
    client.delete_stream(StreamName=stream)
    for name in (table, letters):
        spark.sql(f"DROP TABLE {name} PURGE")
    return found | {"dead_lost": RECORDS // 10 - len(keys), "dead_doubled": sum(keys.values()) - len(keys)}


def killed(server, stream, table, letters, window, chance):
    """Start a child and kill it; returns whether the kill counts."""
    process = child(server, stream, table, "--dead-letters", letters)
    try:
        if window == "random":
            time.sleep(6 + chance.expovariate(0.25))
            alive = process.poll() is None
        else:
            reads = lambda: server.calls().get("GetRecords", 0)  # noqa: E731
            watch = kills.Watch(session.catalog("local"), table, dead_letters=letters, reads=reads)
            return kills.strike(process, watch, window, after_batches=chance.choice([0, 1, 2])) is not None
        return alive
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def finish(server, stream, table, letters):
    process = child(server, stream, table, "--dead-letters", letters)
    if process.wait(timeout=600) != 0:
        raise RuntimeError(f"the last run of {table} ended with {process.returncode}")


def plain_round(spark, server, chance):
    """The plain variant through three kills between its append and Spark's commit."""
    stream, table = "soak-plain", "soak.plain"
    fill(made(server, stream, chance), stream, chance)
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING iceberg")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            process = child(server, stream, table, "--plain", folder)
            watch = kills.Watch(session.catalog("local"), table, checkpoint=f"{folder}/spark")
            if kills.strike(process, watch, kills.APPENDED) is None and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        child(server, stream, table, "--plain", folder).wait(timeout=600)
    return compared(table, [n for n in range(RECORDS) if n % 10])


def child(server, stream, table, *more):
    return kills.start(
        table, "--stream", stream, "--region", REGION, "--endpoint", server.endpoint, "--schema", SCHEMA,
        "--environment", "local", "--max-records-per-batch", 500, *more,
    )  # fmt: skip


def made(server, stream, chance):
    client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION)
    client.create_stream(StreamName=stream, ShardCount=chance.randint(1, 4))
    return client


def fill(client, stream, chance, steps=6):
    """Send the records with a random split or merge between each sixth of them."""
    for step in range(steps):
        part = range(step * RECORDS // steps, (step + 1) * RECORDS // steps)
        sending.send(client, stream, [(f"key-{n % 13}", record(n)) for n in part])
        found = client.list_shards(StreamName=stream)["Shards"]
        opened = [one for one in found if "EndingSequenceNumber" not in one["SequenceNumberRange"]]
        opened.sort(key=lambda one: int(one["HashKeyRange"]["StartingHashKey"]))
        at = chance.randrange(len(opened))
        if chance.random() < 0.5 or len(opened) == 1:
            low, high = (int(opened[at]["HashKeyRange"][f"{name}HashKey"]) for name in ("Starting", "Ending"))
            client.split_shard(
                StreamName=stream,
                ShardToSplit=opened[at]["ShardId"],
                NewStartingHashKey=str((low + high) // 2 + 1),
            )
        else:
            at = min(at, len(opened) - 2)
            one, other = (opened[n]["ShardId"] for n in (at, at + 1))
            client.merge_shards(StreamName=stream, ShardToMerge=one, AdjacentShardToMerge=other)


def record(n):
    return b"bad" if n % 10 == 0 else json.dumps({"id": n, "text": "x" * 40}).encode()


def compared(table, expected):
    """Compare a table with what was sent, as PyIceberg reads it."""
    arrow = session.catalog("local").load_table(table).scan().to_arrow()
    times = Counter(arrow["id"].to_pylist())
    return {"lost": len(set(expected) - set(times)), "doubled": sum(times.values()) - len(times)}


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
