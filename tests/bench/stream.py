"""What the ingest costs, against a bare boto3 reader and against foreachBatch with append; in turn, the same records.

    python -m bench.stream [RECORDS [PART]]

The goals: a million records at 60 % or more of the bare reader's rate (limits off, as many processes as Spark has
tasks); exactly once at most 15 % over the plain append at 500,000 records a batch; the Arrow source at least five times
a row-wise twin; memory flat from 200,000 to 2,000,000 records; lag at 20 shards of 1,000 records a second.
"""

import gc
import http.client
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

import boto3
import workers

from bench import evidence
from workbench import session, streams
from workbench.streams import sending
from workbench_proofs import plain
from workbench_standins import kinesis

REGION, SHARDS, TASKS = "us-east-1", 4, 2
PARSE = streams.Json("id BIGINT NOT NULL, room STRING, temperature DOUBLE, day DATE")
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"}
BATCHES = {10_000: 5, 100_000: 3, 500_000: 2}  # records a batch: batches in a round


def main(records=1_000_000, only=None, rounds=3):
    """Measure, print, and keep the figures; `only` names a part to measure anew, the others stay as they are."""
    os.environ.update(CREDENTIALS)
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench")
    streams.kinesis.register(spark)
    spark.dataSource.register(row_wise())
    parts = {
        "reading": lambda server: in_turn(spark, server, records, rounds),
        "exactly_once_over_plain_append": lambda server: exactly_once(spark, server, rounds, records),
        "memory": lambda server: flat(spark, server, records),
        "lag": lambda _: lag(spark, records),
    }
    if only and only not in parts:
        raise SystemExit(f"no part {only!r}; there are {', '.join(parts)}")
    size = {"records": records, "shards": SHARDS, "tasks": TASKS}
    figures = evidence.kept("stream", parts, **size) if only else {}
    for name in [only] if only else parts:
        with kinesis.serve(limits=kinesis.UNLIMITED) as server:
            figures[name] = parts[name](server)
        ordered = {part: figures[part] for part in parts if part in figures}
        what = "a stream read bare, ingested exactly once, and appended plainly; seconds, in turn"
        evidence.write("stream", what=what, **size, **ordered)
    session.stop(spark)


def in_turn(spark, server, records, rounds):
    """The ingest against a bare reader, and the source against its row-wise twin."""
    fill(server.endpoint, "million", records)
    things = {
        "bare boto3 reader": lambda: bare(server.endpoint, "million"),
        "ingest": lambda: ingested(spark, server, "million", records // 4),
        "HTTP alone, nothing parsed": lambda: bare(server.endpoint, "million", unparsed_shard),
        "source, Arrow": lambda: counted(spark, server, "kinesis", "million"),
        "source, row by row": lambda: counted(spark, server, "kinesis_rows", "million"),
    }
    fill(server.endpoint, "some", records // 5)
    ingested(spark, server, "some", records // 10)  # what a JVM does for the first time is not what is compared
    seconds, answers = evidence.in_turn(things, rounds=rounds)
    medians = {name: evidence.median(values) for name, values in seconds.items()}
    equal = all(len(set(found)) == 1 for found in answers.values())
    return {
        "seconds": seconds,
        "median_seconds": medians,
        "ingest_share_of_bare_reader": round(medians["bare boto3 reader"] / medians["ingest"], 2),
        "goal_share": 0.6,
        "arrow_source_share_of_http_alone": round(
            medians["HTTP alone, nothing parsed"] / medians["source, Arrow"], 2
        ),
        "arrow_source_times_row_wise": round(medians["source, row by row"] / medians["source, Arrow"], 2),
        "goal_times": 5,
        "answers_equal": equal and answers["ingest"][0] == answers["bare boto3 reader"][0] == records,
    }


def fill(endpoint, stream, records, shards=SHARDS):
    """Make a stream and send numbered readings to it."""
    client = boto3.client("kinesis", endpoint_url=endpoint, region_name=REGION)
    client.create_stream(StreamName=stream, ShardCount=shards)
    sending.send(client, stream, ((f"k{n % 997}", record(n)) for n in range(records)))


def record(n):
    return b'{"id":%d,"room":"room-%d","temperature":%d.5,"day":"2026-01-%02d"}' % (n, n % 40, n % 35, 1 + n % 28)


def bare(endpoint, stream, shard_of=None):
    """Read the stream with boto3 alone, its shards dealt over processes; (seconds, records)."""
    client = boto3.client("kinesis", endpoint_url=endpoint, region_name=REGION)
    shards = [one["ShardId"] for one in client.list_shards(StreamName=stream)["Shards"]]
    with multiprocessing.get_context("spawn").Pool(TASKS) as pool:
        pool.map(warm, range(TASKS))
        begin = time.perf_counter()
        counts = pool.starmap(shard_of or bare_shard, [(endpoint, stream, shard) for shard in shards], chunksize=1)
        return time.perf_counter() - begin, sum(counts)


def warm(_):
    boto3.client("kinesis", region_name=REGION)
    time.sleep(0.2)


def bare_shard(endpoint, stream, shard):
    client = boto3.client("kinesis", endpoint_url=endpoint, region_name=REGION)
    asked = {"StreamName": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator, count, behind = client.get_shard_iterator(**asked)["ShardIterator"], 0, 1
    while behind:
        answer = client.get_records(ShardIterator=iterator, Limit=10_000)
        count, iterator, behind = (
            count + len(answer["Records"]),
            answer["NextShardIterator"],
            answer["MillisBehindLatest"],
        )
    return count


def unparsed_shard(endpoint, stream, shard):
    """What the server gives when its client does nothing: the ceiling of whoever shares its processors."""
    client = boto3.client("kinesis", endpoint_url=endpoint, region_name=REGION)
    asked = {"StreamName": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator, count, behind = client.get_shard_iterator(**asked)["ShardIterator"], 0, True
    headers = {"X-Amz-Target": "Kinesis_20131202.GetRecords", "Content-Type": "application/x-amz-json-1.1"}
    headers["Authorization"] = "AWS4-HMAC-SHA256 Credential=anybody/20260101/us-east-1/kinesis/aws4_request"
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc)
    while behind:
        connection.request("POST", "/", json.dumps({"ShardIterator": iterator, "Limit": 10_000}), headers)
        body = connection.getresponse().read()
        rest = body[body.rindex(b"]") :]  # the records are a list, before or behind which the rest stands
        told = json.loads(body[: body.index(b"[")] + b"[" + rest)
        count += body.count(b'"SequenceNumber"')
        iterator, behind = told["NextShardIterator"], told["MillisBehindLatest"]
    return count


def source_of(server, stream, most):
    return streams.Source(stream, region=REGION, endpoint=server.endpoint, max_records_per_batch=most)


def empty(spark, table):
    spark.sql(f"DROP TABLE IF EXISTS {table} PURGE")
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT NOT NULL, room STRING, temperature DOUBLE, day DATE) USING iceberg"
    )


def ingested(spark, server, stream, most):
    """Ingest the stream into a new table; (seconds, distinct ids in it, which is checked against the rows)."""
    empty(spark, "bench.once")
    begin = time.perf_counter()
    done = streams.ingest(spark, "bench.once", source=source_of(server, stream, most), parse=PARSE)
    seconds = time.perf_counter() - begin
    return seconds, done.good if told(spark, "bench.once") == (done.good, done.good) else -1


def told(spark, table):
    spark.catalog.refreshTable(table)
    return tuple(spark.sql(f"SELECT count(*), count(DISTINCT id) FROM {table}").collect()[0])


def counted(spark, server, source, stream):
    """Read the stream with a source into nothing; (seconds, records)."""
    options = {"streamName": stream, "region": REGION, "endpointUrl": server.endpoint}
    df = spark.read.format(source).options(**options).load()
    begin = time.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    seconds = time.perf_counter() - begin
    return seconds, df.count()


def exactly_once(spark, server, rounds, records):
    """Seconds of a micro-batch, exactly once and plain, by records a batch; the first batch of a run is not counted."""
    found = {}
    for size, batches in BATCHES.items():
        size = min(size, records // 2)
        stream, ours, theirs = f"of-{size}", [], []
        fill(server.endpoint, stream, size * batches)
        for _ in range(rounds):
            empty(spark, "bench.once")
            told_by = []
            source = source_of(server, stream, size)
            streams.ingest(spark, "bench.once", source=source, parse=PARSE, on_batch=told_by.append)
            ours += [one.seconds for one in told_by[1:] if one.records > size // 2]
            empty(spark, "bench.plain")
            with tempfile.TemporaryDirectory() as folder:
                query = plain.append(spark, "bench.plain", source=source, parse=PARSE, checkpoint=folder)
            done = [one for one in query.recentProgress if one["numInputRows"] > size // 2]
            theirs += [one["durationMs"]["triggerExecution"] / 1000 for one in done[1:]]
            equal = told(spark, "bench.once") == told(spark, "bench.plain") == (size * batches,) * 2
        boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION).delete_stream(StreamName=stream)
        a, b = evidence.median(ours), evidence.median(theirs)
        found[str(size)] = {
            "exactly_once_seconds": ours, "plain_seconds": theirs, "ratio": round(a / b, 2), "tables_equal": equal,
        }  # fmt: skip
        print(f"{size} records a batch: exactly once {a} s, plain {b} s", flush=True)
    return found


def flat(spark, server, records):
    """Heap after GC and the workers' memory while one run reads from a fifth to twice the records."""
    seen, total, before = {}, 2 * records, records // 5
    fill(server.endpoint, "long", total)
    empty(spark, "bench.once")
    count = before

    def look(batch):
        nonlocal count
        count += batch.records
        if not seen or count == total:
            seen[count] = {"heap_mib": heap(spark), "workers_mib": round(workers.resident_mib())}

    source = source_of(server, "long", records // 10)
    streams.ingest(spark, "bench.once", source=source, parse=PARSE, max_batches=2)
    streams.ingest(spark, "bench.once", source=source, parse=PARSE, on_batch=look)
    assert len(seen) == 2 and max(seen) == total, f"memory was looked at after {sorted(seen)} of {total} records"
    first, last = seen[min(seen)], seen[total]
    boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION).delete_stream(StreamName="long")
    ratios = {name.replace("mib", "ratio"): round(last[name] / first[name], 2) for name in first}
    return {"first": first, "last": last, **ratios, "goal_ratio": 1.1}


def heap(spark):
    gc.collect()
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    for _ in range(2):
        spark._jvm.System.gc()
    return round((runtime.totalMemory() - runtime.freeMemory()) / 2**20)


def lag(spark, records, shards=20, seconds=60):
    """How far an ingest is behind 20 shards that get 1,000 records a second each, with the service's limits."""
    rate = shards * 1_000 if records >= 1_000_000 else shards * 50
    with kinesis.serve() as server:
        client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION)
        client.create_stream(StreamName="steady", ShardCount=shards)
        code = f"from bench import stream; stream.produce({server.endpoint!r}, {rate}, {seconds})"
        producer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        empty(spark, "bench.once")
        found, end = [], time.monotonic() + seconds + 30
        stop = lambda: producer.poll() is not None or time.monotonic() > end  # noqa: E731
        source = source_of(server, "steady", 200_000)
        streams.ingest(
            spark, "bench.once", source=source, parse=PARSE, until_caught_up=False, poll_seconds=0.1, stop=stop,
            on_batch=found.append,
        )  # fmt: skip
        sent = json.loads(producer.communicate(timeout=60)[0])
    lags, spent = sorted(one.lag_seconds for one in found), sorted(one.seconds for one in found)
    p95 = lags[int(len(lags) * 0.95)] if lags else None
    return {
        "shards": shards,
        "wanted_records_a_second": rate,
        "sent_records_a_second": round(sent["records"] / sent["seconds"]),
        "batches": len(found),
        "median_batch_seconds": evidence.median(spent),
        "lag_seconds_p95": p95,
        "lag_in_micro_batches": round(p95 / evidence.median(spent), 1),
        "goal_micro_batches": 2,
    }


def produce(endpoint, rate, seconds):
    """Send so many records a second for so long; a process of its own. Prints what it did."""
    client, begin, sent = boto3.client("kinesis", endpoint_url=endpoint, region_name=REGION), time.monotonic(), 0
    while (now := time.monotonic() - begin) < seconds:
        due = int(now * rate) - sent
        if due < 500:
            time.sleep(0.01)
            continue
        sending.send(client, "steady", ((f"k{n}", record(n)) for n in range(sent, sent + due)))
        sent += due
    print(json.dumps({"records": sent, "seconds": time.monotonic() - begin}))


def row_wise():
    """The source once more as it is usually written: what boto3 parsed, as tuples."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    class Reader(DataSourceReader):
        def __init__(self, options):
            self.options = dict(options)

        def partitions(self):
            client = boto3.client("kinesis", endpoint_url=self.options["endpointurl"], region_name=REGION)
            found = client.list_shards(StreamName=self.options["streamname"])["Shards"]
            return [InputPartition(one["ShardId"]) for one in found]

        def read(self, partition):
            name, shard = self.options["streamname"], partition.value
            client = boto3.client("kinesis", endpoint_url=self.options["endpointurl"], region_name=REGION)
            asked = {"StreamName": name, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
            iterator, behind = client.get_shard_iterator(**asked)["ShardIterator"], 1
            while behind:
                answer = client.get_records(ShardIterator=iterator, Limit=10_000)
                iterator, behind = answer["NextShardIterator"], answer["MillisBehindLatest"]
                for one in answer["Records"]:
                    arrived = one["ApproximateArrivalTimestamp"]
                    yield one["Data"], name, shard, one["SequenceNumber"], one["PartitionKey"], arrived

    class RowWise(DataSource):
        @classmethod
        def name(cls):
            return "kinesis_rows"

        def schema(self):
            return streams.kinesis.SCHEMA

        def reader(self, schema):
            return Reader({key.lower(): value for key, value in dict(self.options).items()})

    return RowWise


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
