"""The ingest under kill -9: hundreds of kills in every window and at random moments, with random reshards.

    python -m soak.stream [KILLS [SOURCE]]

of Kinesis, or of Kafka.

Each round is a stream with a random number of shards, a random plan of splits and merges between its records, bad
records among them, and a table. A child ingests and is killed, again and again, until one lives to the end. Then every
record has to be there once: good ones in the table, as PyIceberg reads it, bad ones in the dead letters. A kill in a
window counts only with the evidence of `workbench_proofs.kills`. The plain variant goes through the same kills. What
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

from bench import evidence

from soak import sources
from workbench import session
from workbench_proofs import kills

SCHEMA = "id BIGINT NOT NULL, text STRING"
RECORDS, KILLS_A_ROUND = sources.RECORDS, 7
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"}


def main(wanted=200, source="kinesis", seed=1):
    """Run the rounds that are missing until there are as many kills as wanted; the exit code says whether all held.

    A round is kept when it is done, with a seed of its own, so that a proof that was interrupted goes on where it
    was; rounds of other versions are made again.
    """
    os.environ.update(CREDENTIALS)
    wanted, service = int(wanted), sources.NAMED[source]
    rounds = kept(service, seed)
    print(f"{len(rounds)} rounds of {kills_of(rounds)} kills are there, {wanted} kills are wanted", flush=True)
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
    with service.serve() as server:
        while kills_of(rounds) < wanted or (missed(service, rounds) and len(rounds) < wanted):
            counted = Counter(name for one in rounds for name in one["kills"].elements())
            rounds.append(one_round(spark, service, server, f"{seed}-{len(rounds)}", len(rounds), counted))
            told(service, seed, rounds)
            print(f"round {len(rounds)}: {rounds[-1]}; {kills_of(rounds)} of {wanted} kills", flush=True)
        plain = plain_round(spark, service, server, random.Random(f"{seed}-plain")) if service.plain else {}
    wrong = told(service, seed, rounds, plain)
    session.stop(spark)
    return 1 if wrong else 0


def one_round(spark, service, server, seed, number, counted):
    """Return a round's figures with its kills by window and its minutes."""
    begin, here = time.monotonic(), Counter()
    found = round_of_kills(spark, service, server, random.Random(seed), number, counted, here)
    return found | {"kills": here, "minutes": round((time.monotonic() - begin) / 60, 1)}


def kept(service, seed):
    """Return the rounds of the last time, if they were made with these versions and this seed."""
    path = evidence.FOLDER / f"{service.evidence}.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    same = evidence.made_from() | {"seed": seed, "records_a_round": RECORDS}
    if any(found.get(name) != value for name, value in same.items()):
        return []
    return [one | {"kills": Counter(one["kills"])} for one in found["rounds"]]


def kills_of(rounds):
    return sum(one["kills"].total() for one in rounds)


def missed(service, rounds):
    """Return the windows in which no kill counted yet."""
    return [name for name in service.windows if not any(one["kills"][name] for one in rounds)]


def told(service, seed, rounds, plain=None):
    """Write the evidence so far; returns what is wrong in it."""
    total = {name: sum(one[name] for one in rounds) for name in ("lost", "doubled", "dead_lost", "dead_doubled")}
    wrong = [name for name, count in total.items() if count]
    wrong += [f"no kill while {name}" for name in missed(service, rounds)]
    if service.plain and not (plain and plain["doubled"]):
        wrong.append("the plain variant was not seen to double")
    by_window = sum((one["kills"] for one in rounds), Counter())
    evidence.write(
        service.evidence,
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
        **{f"plain_variant_rows_{one}": count for one, count in sorted((plain or {}).items())},
        wrong=wrong,
        minutes=round(sum(one["minutes"] for one in rounds), 1),
        rounds=rounds,
    )
    return wrong


def round_of_kills(spark, service, server, chance, number, counted, here):
    """One stream into one table through several kills, which `here` counts; returns what was lost or doubled."""
    stream, table = f"soak-{number}", f"soak.events_{number}"
    service.fill(server, stream, chance)
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING iceberg")
    letters, windows = f"{table}_dead", [*service.windows, "random", "random"]
    arguments = (*service.asked(server, stream), "--dead-letters", letters)
    for _ in range(KILLS_A_ROUND):
        window = min(chance.sample(windows, 3), key=lambda one: counted[one] + here[one])
        reads = service.reads and (lambda: service.reads(server))
        if killed(table, letters, arguments, window, chance, reads):
            here[window] += 1
    finish(table, arguments)
    found = compared(table, [n for n in range(RECORDS) if n % 10])
    rows = session.catalog("local").load_table(letters).scan().to_arrow().to_pylist()
    keys = Counter((row["shard_id"], row["sequence_number"]) for row in rows)
    service.remove(server, stream)
    for name in (table, letters):
        spark.sql(f"DROP TABLE {name} PURGE")
    return found | {"dead_lost": RECORDS // 10 - len(keys), "dead_doubled": sum(keys.values()) - len(keys)}


def killed(table, letters, arguments, window, chance, reads):
    """Start a child and kill it; returns whether the kill counts."""
    process = child(table, *arguments)
    try:
        if window == "random":
            time.sleep(6 + chance.expovariate(0.25))
            alive = process.poll() is None
        else:
            watch = kills.Watch(session.catalog("local"), table, dead_letters=letters, reads=reads)
            return kills.strike(process, watch, window, after_batches=chance.choice([0, 1, 2])) is not None
        return alive
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def finish(table, arguments):
    process = child(table, *arguments)
    if process.wait(timeout=600) != 0:
        raise RuntimeError(f"the last run of {table} ended with {process.returncode}")


def plain_round(spark, service, server, chance):
    """The plain variant through three kills between its append and Spark's commit."""
    stream, table = "soak-plain", "soak.plain"
    service.fill(server, stream, chance)
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING iceberg")
    with tempfile.TemporaryDirectory() as folder:
        arguments = (*service.asked(server, stream), "--plain", folder)
        for _ in range(3):
            process = child(table, *arguments)
            watch = kills.Watch(session.catalog("local"), table, checkpoint=f"{folder}/spark")
            if kills.strike(process, watch, kills.APPENDED) is None and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        child(table, *arguments).wait(timeout=600)
    return compared(table, [n for n in range(RECORDS) if n % 10])


def child(table, *arguments):
    more = ("--schema", SCHEMA, "--environment", "local", "--max-records-per-batch", 500)
    return kills.start(table, *arguments, *more)


def compared(table, expected):
    """Compare a table with what was sent, as PyIceberg reads it."""
    arrow = session.catalog("local").load_table(table).scan().to_arrow()
    times = Counter(arrow["id"].to_pylist())
    return {"lost": len(set(expected) - set(times)), "doubled": sum(times.values()) - len(times)}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
