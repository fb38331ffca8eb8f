"""The inventory of a large prefix: how many requests, how flat the memory, and HEAD requests against a serial loop.

100,000 objects by listings that tell the state of restores; 5,000 objects by HEAD requests, each held back 30 ms by
the store, in turn: one after another, and as `archive.inventory` asks. Goals: 101 requests, ten times the loop.
"""

import sys
import time
import tracemalloc

from bench import evidence
from workbench import archive
from workbench.archive import objects
from workbench_standins import archive as local

LISTED, HEADED, LATENCY_S, WORKERS, GOAL = 100_000, 5_000, 0.03, 64, 10


def main(listed=LISTED, headed=HEADED, rounds=3):
    """Measure, print, and keep the figures."""
    with local.serve() as store:
        s3 = store.client(max_pool_connections=WORKERS)
        listing = by_listing(store, s3, listed)
        s3.create_bucket(Bucket="headed")
        store.plant("headed", "p/", headed, restored=headed // 3)
        store.set(latency_s=LATENCY_S, restore_status=False)
        things = {"serial loop": lambda: serial(s3), "archive.inventory": lambda: parallel(s3)}
        seconds, answers = evidence.in_turn(things, rounds=rounds)
    medians = {name: evidence.median(values) for name, values in seconds.items()}
    ratio = round(medians["serial loop"] / medians["archive.inventory"], 1)
    evidence.write(
        "archive",
        what="inventory of a prefix: requests and memory by listing; seconds by HEAD requests held back by the store",
        listing=listing,
        headed_objects=headed,
        latency_s=LATENCY_S,
        workers=WORKERS,
        seconds=seconds,
        median_seconds=medians,
        ratio=ratio,
        goal_ratio=GOAL,
        goal_reached=ratio >= GOAL,
        answers_equal=len({answer for found in answers.values() for answer in found}) == 1,
    )


def by_listing(store, s3, listed):
    """Take the inventory of many objects by listings; return requests, seconds, and the memory of a tenth and of all."""
    s3.create_bucket(Bucket="listed")
    store.plant("listed", "p/", listed, restored=listed // 3)
    tenth, found = listed // 10, {}
    before, begin = store.requests(), time.perf_counter()
    tracemalloc.start()
    for number, one in enumerate(archive.inventory("s3://listed/p/", s3=s3), 1):
        found[one.state] = found.get(one.state, 0) + 1
        if number == tenth:
            peak_of_a_tenth = tracemalloc.get_traced_memory()[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    requests = {name: n - before.get(name, 0) for name, n in store.requests().items() if n != before.get(name, 0)}
    return {
        "objects": listed,
        "states": found,
        "requests": requests,
        "requests_in_all": sum(requests.values()),
        "goal_requests": -(-listed // 1000) + 1,
        "seconds_with_memory_traced": round(time.perf_counter() - begin, 1),
        "peak_bytes_after_a_tenth": peak_of_a_tenth,
        "peak_bytes": peak,
    }


def serial(s3):
    """Look at every object, one after another."""
    begin, states = time.perf_counter(), []
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket="headed", Prefix="p/"):
        for row in page["Contents"]:
            head = s3.head_object(Bucket="headed", Key=row["Key"])
            states.append(objects.from_head(f"s3://headed/{row['Key']}", head).state)
    return time.perf_counter() - begin, answer(states)


def parallel(s3):
    """Take the inventory of a store whose listings tell nothing."""
    begin = time.perf_counter()
    states = [one.state for one in archive.inventory("s3://headed/p/", s3=s3, status="auto", workers=WORKERS)]
    return time.perf_counter() - begin, answer(states)


def answer(states):
    """Return how many objects are in each state, as text."""
    return ", ".join(f"{states.count(name)} {name}" for name in sorted(set(states)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
