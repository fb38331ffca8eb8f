"""The two services whose records the soak of streams ingests: how one is started, filled, named to an ingest, removed.

A service's stream is cut anew between its records: shards are split and merged, partitions are added. Every tenth
record is bad. Kafka has an aborted transaction between the others, whose records nobody may see.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

import boto3

from workbench.streams import sending
from workbench_proofs import kills
from workbench_standins import kafka, kinesis
from workbench_standins.kafka import node

REGION, RECORDS, STEPS, WAIT_SECONDS = "us-east-1", 6_000, 6, 60


@dataclass(frozen=True)
class Service:
    """One of the two.

    Attributes:
        evidence: name of its figures.
        serve: function without arguments, the context manager of a server.
        fill: function (server, stream, chance): makes the stream and sends the records.
        asked: function (server, stream): arguments of the ingest's command line.
        remove: function (server, stream).
        reads: function (server): how many reads it was asked for; None where that cannot be told from outside.
        plain: whether the ingest's command line has a plain variant of it, to be seen doubling under such kills.
    """

    evidence: str
    serve: Callable
    fill: Callable
    asked: Callable
    remove: Callable
    reads: Callable | None
    plain: bool

    @property
    def windows(self):
        """Names of the windows that are seen here: `reading` only by the server's calls."""
        return [name for name in kills.WINDOWS if name != "reading" or self.reads]


def record(n):
    return b"bad" if n % 10 == 0 else json.dumps({"id": n, "text": "x" * 40}).encode()


def steps():
    """The records in six parts, between which the stream is cut anew."""
    return [range(step * RECORDS // STEPS, (step + 1) * RECORDS // STEPS) for step in range(STEPS)]


def client_of(server):
    return boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION)


def fill_stream(server, stream, chance):
    client = client_of(server)
    client.create_stream(StreamName=stream, ShardCount=chance.randint(1, 4))
    for part in steps():
        sending.send(client, stream, [(f"key-{n % 13}", record(n)) for n in part])
        reshard(client, stream, chance)


def reshard(client, stream, chance):
    """Split or merge a shard at random."""
    found = client.list_shards(StreamName=stream)["Shards"]
    opened = [one for one in found if "EndingSequenceNumber" not in one["SequenceNumberRange"]]
    opened.sort(key=lambda one: int(one["HashKeyRange"]["StartingHashKey"]))
    at = chance.randrange(len(opened))
    if chance.random() < 0.5 or len(opened) == 1:
        low, high = (int(opened[at]["HashKeyRange"][f"{name}HashKey"]) for name in ("Starting", "Ending"))
        new = str((low + high) // 2 + 1)
        client.split_shard(StreamName=stream, ShardToSplit=opened[at]["ShardId"], NewStartingHashKey=new)
    else:
        at = min(at, len(opened) - 2)
        one, other = (opened[n]["ShardId"] for n in (at, at + 1))
        client.merge_shards(StreamName=stream, ShardToMerge=one, AdjacentShardToMerge=other)


def fill_topic(broker, topic, chance):
    from confluent_kafka import Producer

    partitions = chance.randint(1, 4)
    broker.create_topic(topic, partitions=partitions)
    for step, part in enumerate(steps()):
        producer = Producer(broker.client() | {"transactional.id": f"{topic}-{step}"})
        producer.init_transactions(WAIT_SECONDS)
        for numbers, end in ((range(-50, 0), producer.abort_transaction), (part, producer.commit_transaction)):
            producer.begin_transaction()
            for n in numbers:
                producer.produce(topic, value=record(n), key=f"key-{n % 13}", partition=abs(n) % partitions)
            producer.flush(WAIT_SECONDS)
            end(WAIT_SECONDS)
        if chance.random() < 0.5:
            partitions += 1
            broker.add_partitions(topic, partitions)


KINESIS = Service(
    evidence="stream_soak",
    serve=lambda: kinesis.serve(limits=kinesis.UNLIMITED),
    fill=fill_stream,
    asked=lambda server, stream: ("--stream", stream, "--region", REGION, "--endpoint", server.endpoint),
    remove=lambda server, stream: client_of(server).delete_stream(StreamName=stream),
    reads=lambda server: server.calls().get("GetRecords", 0),
    plain=True,
)


def serve_broker():
    node.fetch()
    return kafka.serve()


KAFKA = Service(
    evidence="topic_soak",
    serve=serve_broker,
    fill=fill_topic,
    asked=lambda broker, topic: ("--topic", topic, "--bootstrap", broker.bootstrap),
    remove=lambda broker, topic: broker.delete_topic(topic),
    reads=None,
    plain=False,
)
NAMED = {"kinesis": KINESIS, "kafka": KAFKA}
