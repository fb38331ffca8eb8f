"""The ingest under kill -9: hundreds of kills in every window and at random moments, with random reshards.

    python -m soak.stream [KILLS]

Each round is a stream with a random number of shards, a random plan of splits and merges between its records, bad
records among them, and a table. A child ingests and is killed, again and again, until one lives to the end. Then every
record has to be there once: good ones in the table, as PyIceberg reads it, bad ones in the dead letters. A kill in a
window counts only with the evidence of `workbench.streams.kills`. The plain variant goes through the same kills. What
is there for the same versions is kept: started again, the proof goes on.
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
from workbench.run import record as records
from workbench.streams import kills, sending

SCHEMA = "id BIGINT NOT NULL, text STRING"
REGION, RECORDS, KILLS_A_ROUND = "us-east-1", 6_000, 7
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"}


def main(wanted=200, seed=1):
    """Run the rounds that are missing until there are as many kills as wanted; the exit code says whether all held.

    A round is kept when it is done, with a seed of its own, so that a proof that was interrupted goes on where it
    was; rounds of other versions are made again.
    """
    os.environ.update(CREDENTIALS)
    rounds = kept(seed)
    print(f"{len(rounds)} rounds of {kills_of(rounds)} kills are there, {wanted} kills are wanted", flush=True)
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        while kills_of(rounds) < wanted or (missed(rounds) and len(rounds) < wanted):
            counted = Counter(name for one in rounds for name in one["kills"].elements())
            rounds.append(one_round(spark, server, f"{seed}-{len(rounds)}", len(rounds), counted))
            told(seed, rounds)
            print(f"round {len(rounds)}: {rounds[-1]}; {kills_of(rounds)} of {wanted} kills", flush=True)
        plain = plain_round(spark, server, random.Random(f"{seed}-plain"))
    wrong = told(seed, rounds, plain)
    session.stop(spark)
    return 1 if wrong else 0


def one_round(spark, server, seed, number, counted):
    """Return a round's figures with its kills by window and its minutes."""
    begin, here = time.monotonic(), Counter()
    found = round_of_kills(spark, server, random.Random(seed), number, counted, here)
    return found | {"kills": here, "minutes": round((time.monotonic() - begin) / 60, 1)}


def kept(seed):
    """Return the rounds of the last time, if they were made with these versions and this seed."""
    path = evidence.FOLDER / "stream_soak.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    same = {"versions": records.versions(), "seed": seed, "records_a_round": RECORDS}
    if any(found.get(name) != value for name, value in same.items()):
        return []
    return [one | {"kills": Counter(one["kills"])} for one in found["rounds"]]


def kills_of(rounds):
    return sum(one["kills"].total() for one in rounds)


def missed(rounds):
    """Return the windows in which no kill counted yet."""
    return [name for name in kills.WINDOWS if not any(one["kills"][name] for one in rounds)]


def told(seed, rounds, plain=None):
    """Write the evidence so far; returns what is wrong in it."""
    total = {name: sum(one[name] for one in rounds) for name in ("lost", "doubled", "dead_lost", "dead_doubled")}
    wrong = [name for name, count in total.items() if count]
    wrong += [f"no kill while {name}" for name in missed(rounds)]
    wrong += [] if plain and plain["doubled"] else ["the plain variant was not seen to double"]
    by_window = sum((one["kills"] for one in rounds), Counter())
    evidence.write(
        "stream_soak",
        show=plain is not None,
        what="kill -9 of an ingest in windows found from outside and at random moments, with random reshards",
        seed=seed,
        records_a_round=RECORDS,
        kills=kills_of(rounds),
        kills_by_window=dict(sorted(by_window.items())),
        rows_lost=total["lost"],
        rows_doubled=total["doubled"],
        dead_letters_lost=total["dead_lost"],
        dead_letters_doubled=total["dead_doubled"],
        plain_variant_rows_doubled=plain["doubled"] if plain else None,
        plain_variant_rows_lost=plain["lost"] if plain else None,
        wrong=wrong,
        minutes=round(sum(one["minutes"] for one in rounds), 1),
        rounds=rounds,
    )
    return wrong


def round_of_kills(spark, server, chance, number, counted, here):
    """One stream into one table through several kills, which `here` counts; returns what was lost or doubled."""
    stream, table = f"soak-{number}", f"soak.events_{number}"
    client = made(server, stream, chance)
    fill(client, stream, chance)
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING iceberg")
    letters, windows = f"{table}_dead", [*kills.WINDOWS, "random", "random"]
    for _ in range(KILLS_A_ROUND):
        window = min(chance.sample(windows, 3), key=lambda one: counted[one] + here[one])
        if killed(server, stream, table, letters, window, chance):
            here[window] += 1
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
