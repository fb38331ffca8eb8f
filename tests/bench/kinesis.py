"""The local Kinesis server against npm's kinesis-local: records a second in and out, in turn, the same records.

In by boto3's PutRecords, out by a raw HTTP client that looks for nothing but the next iterator. kinesis-local gets
the records once and ours many times over, because ours would be done before a clock could tell; rates are per
record. The goal is 20 times its rates.
"""

import base64
import hashlib
import http.client
import importlib.metadata
import json
import re
import subprocess
import time
from collections import Counter

import kinesis_local
import psutil
from kinesis_clients import client

from bench import evidence
from workbench_standins import kinesis

CALL, SHARDS, GOAL = 500, 4, 20
RECORDS = [(f"key-{n:05d}", hashlib.sha256(b"%d" % n).hexdigest().encode() * 3) for n in range(2_500)]
TIMES = {"ours": 20, "kinesis-local": 1}  # how often they are sent, and how often the stream is read
SIGNED = {  # kinesis-local wants a signature, any
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=anybody/20260101/us-east-1/kinesis/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0",
}
NEXT = re.compile(rb'"NextShardIterator": ?"([^"]+)"')


def main(rounds=5):
    """Measure, print, and keep the figures."""
    with kinesis.serve(limits=kinesis.UNLIMITED) as server, kinesis_local.running(seconds=900) as other:
        sides = {"ours": Side("ours", server.endpoint), "kinesis-local": Side("kinesis-local", other)}
        things = {f"{name} in": side.send for name, side in sides.items()}
        things |= {f"{name} out": side.read for name, side in sides.items()}
        seconds, answers = evidence.in_turn(things, rounds=rounds)
        rates = {f"{name} {way}": side.rates[way] for way in ("in", "out") for name, side in sides.items()}
    medians = {name: round(evidence.median(values)) for name, values in rates.items()}
    ratios = {way: round(medians[f"ours {way}"] / medians[f"kinesis-local {way}"], 1) for way in ("in", "out")}
    evidence.write(
        "kinesis",
        what="records a second: in by boto3 PutRecords of 500, out by raw HTTP GetRecords; in turn",
        records=len(RECORDS),
        data_bytes=len(RECORDS[0][1]),
        shards=SHARDS,
        sent_and_read_times=TIMES,
        compared=compared(),
        seconds=seconds,
        records_a_second=rates,
        median_records_a_second=medians,
        ratio=ratios,
        goal_ratio=GOAL,
        goal_reached=min(ratios.values()) >= GOAL,
        answers_equal=len({answer for found in answers.values() for answer in found}) == 1,
        server_bytes_a_record=bytes_a_record(),
    )


class Side:
    """One server, with a new stream for each round; `send` makes it and `read` reads it."""

    def __init__(self, name, endpoint):
        self.times, self.host = TIMES[name], endpoint.removeprefix("http://")
        self.client = client(endpoint, read_timeout=120)
        self.rates = {"in": [], "out": []}

    def send(self):
        """Send the records; the answer says whether all were acknowledged."""
        if self.rates["in"]:
            self.client.delete_stream(StreamName=self.stream)
        self.stream = f"bench-{len(self.rates['in'])}"
        self.client.create_stream(StreamName=self.stream, ShardCount=SHARDS)
        time.sleep(0.5)  # kinesis-local makes it meanwhile
        begin = time.perf_counter()
        failed = sum(put(self.client, self.stream) for _ in range(self.times))
        spent = time.perf_counter() - begin
        self.rates["in"].append(round(len(RECORDS) * self.times / spent))
        return spent, digest(RECORDS) if not failed else f"{failed} refused"

    def read(self):
        """Read the stream; the answer is a digest of what came, when each came as often as it was sent."""
        shards = [shard["ShardId"] for shard in self.client.list_shards(StreamName=self.stream)["Shards"]]
        connection = http.client.HTTPConnection(self.host, timeout=120)
        begin, count = time.perf_counter(), 0
        for _ in range(self.times):
            bodies = [body for shard in shards for body in pages(connection, self.stream, shard)]
            count += sum(body.count(b'"SequenceNumber"') for body in bodies)
        spent = time.perf_counter() - begin
        connection.close()
        self.rates["out"].append(round(count / spent))
        records = [record for body in bodies for record in json.loads(body)["Records"]]
        seen = Counter((record["PartitionKey"], base64.b64decode(record["Data"])) for record in records)
        wrong = sum(times != self.times for times in seen.values())
        return spent, digest(seen) if not wrong else f"{wrong} records not as often as sent"


def put(k, stream):
    """Send all records once; return how many were refused."""
    failed = 0
    for start in range(0, len(RECORDS), CALL):
        entries = [{"PartitionKey": key, "Data": data} for key, data in RECORDS[start : start + CALL]]
        failed += k.put_records(StreamName=stream, Records=entries)["FailedRecordCount"]
    return failed


def pages(connection, stream, shard):
    """Give the answers of a shard, from its oldest record to an answer without records."""
    asked = {"StreamName": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = json.loads(post(connection, "GetShardIterator", json.dumps(asked)))["ShardIterator"].encode()
    while b'"SequenceNumber"' in (body := post(connection, "GetRecords", b'{"ShardIterator":"%b"}' % iterator)):
        yield body
        iterator = (NEXT.search(body, len(body) - 2000) or NEXT.search(body)).group(1)


def post(connection, operation, body):
    """Send one request on an open connection and return the body of its answer."""
    target = {"X-Amz-Target": f"Kinesis_20131202.{operation}", "Content-Type": "application/x-amz-json-1.1"}
    connection.request("POST", "/", body, target | SIGNED)
    answer = connection.getresponse()
    found = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{operation}: {answer.status} {found[:200]}")
    return found


def digest(records):
    """Return the number of distinct records and a digest of them."""
    plain = sorted(set(records))
    return f"{len(plain)} records, {hashlib.sha256(repr(plain).encode()).hexdigest()[:8]}"


def compared():
    """Return the versions of what is measured and of what measures."""
    node = subprocess.run([kinesis_local.node(), "--version"], capture_output=True, text=True, check=True)
    found = {name: importlib.metadata.version(name) for name in ("aiohttp", "boto3")}
    package = json.loads((kinesis_local.PACKAGE / "package.json").read_text())
    return found | {"node": node.stdout.strip(), "kinesis-local": package["version"]}


def bytes_a_record(sendings=40):
    """Return by how much the server's memory grows for a record, data included."""
    before = set(psutil.Process().children())
    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        (process,) = set(psutil.Process().children()) - before
        k = client(server.endpoint)
        k.create_stream(StreamName="memory", ShardCount=SHARDS)
        put(k, "memory")
        begin = process.memory_info().rss
        for _ in range(sendings):
            put(k, "memory")
        return round((process.memory_info().rss - begin) / (sendings * len(RECORDS)))


if __name__ == "__main__":
    main()
