"""The cases that take minutes, under `make prove PART=streams`: half a minute of refusals, reshards under way, fixed memory."""

import random
import threading
import time

import pytest
import workers
from stream_server import server, stream
from test_ingest import files_twice, ids, ingest, table

from workbench_standins.kinesis import Fault


@pytest.mark.proof("test_faults_lose_and_double_nothing meets the same refusals for a few calls")
@pytest.mark.parametrize("share", [0.25, 1.0])
def test_half_a_minute_of_throughput_errors(spark, stream, table, share):
    stream.send(range(2_000))
    stream.server.faults.set([Fault("throughput_exceeded", share=share, until_seconds=30)])
    begin = time.monotonic()
    done = ingest(spark, table, stream)
    assert done.good == 2_000 and ids(spark, table) == list(range(2_000))
    assert stream.server.faults.injected()[0].hit > 0
    assert share < 1 or time.monotonic() - begin > 20


@pytest.mark.proof("test_a_key_keeps_its_order_through_splits_and_merges shows it for the reading of shards")
def test_random_reshards_while_it_reads(spark, stream, table):
    """Case 8: producer and resharder work while the ingest does; a key's rows come in its order."""
    records, chance, ended = 20_000, random.Random(5), threading.Event()

    def produce():
        for begin in range(0, records, 500):
            stream.send(range(begin, begin + 500))
            opened = stream.shards()
            if chance.random() < 0.5 and len(opened) < 8:
                stream.split(chance.choice(opened))
            time.sleep(0.2)
        ended.set()

    producer = threading.Thread(target=produce)
    producer.start()
    batches = []
    ingest(
        spark, table, stream, max_records_per_batch=2_000, until_caught_up=False, poll_seconds=0.2,
        stop=ended.is_set, on_batch=batches.append,
    )  # fmt: skip
    producer.join()
    ingest(spark, table, stream, on_batch=batches.append)
    assert ids(spark, table) == list(range(records)) and files_twice(spark, table) == []
    assert len(batches) > 5


@pytest.mark.proof(
    "test_rows_positions_and_figures shows the small batches that memory follows from, which is not looked at"
)
def test_two_hundred_thousand_records_in_fixed_memory(spark, stream, table):
    stream.split(stream.shards()[0])
    stream.split(stream.shards()[0])
    seen = []

    def look(batch):
        spark._jvm.System.gc()
        runtime = spark._jvm.java.lang.Runtime.getRuntime()
        seen.append(((runtime.totalMemory() - runtime.freeMemory()) / 2**20, workers.resident_mib()))

    for begin in range(0, 200_000, 20_000):
        stream.send(range(begin, begin + 20_000), key=lambda n: f"k{n}")
        ingest(spark, table, stream, on_batch=look)
    assert ids(spark, table) == list(range(200_000))
    heap, resident = zip(*seen, strict=True)
    early, late = len(seen) // 3, -len(seen) // 3
    assert min(heap[late:]) < 1.1 * max(heap[:early]) and min(resident[late:]) < 1.1 * max(resident[:early])
