"""Kinesis and Kafka into Iceberg, each record exactly once, whatever is killed, throttled or resharded.

    streams.ingest(spark, "sales.events", source=streams.Source("events", region="eu-central-1"),
                   parse=streams.Json("id BIGINT NOT NULL, price DECIMAL(10, 2)"),
                   dead_letters="sales.events_dead")

The parts:

    sources, shards, reading      a stream, its shards and positions, one shard read
    aggregates                    records that the Kinesis Producer Library packed into one
    topics                        the same of a Kafka topic
    kinesis, reports, backlog     `format("kinesis")` for any sink, a backlog read whole
    parsing, types, schemas       strict JSON
    avro, protobuf                the same of records with a schema of their own
    chunks, tables, keys          a micro-batch on its way to the table's rows
    positions, publish            exactly once
    dead_letters, batches         what could not become rows, what a batch did
    nulls                         records of Kafka without a value or a key
    loop, ingesting               the run, into one table
    delivery, routes, errors      into several tables, by unique keys, with an error store
    replays                       errors brought to their tables after all
    proposals                     a schema from a sample
    sending, kills                producers; a run stopped from outside in a window of its work

How it works and what was measured: docs/streams.md.
"""

from workbench.streams import kinesis
from workbench.streams.avro import Avro
from workbench.streams.backlog import drain
from workbench.streams.batches import Batch, Ingested, line
from workbench.streams.delivery import Delivered, deliver
from workbench.streams.ingesting import ingest
from workbench.streams.keys import RecordKey
from workbench.streams.kills import WINDOWS
from workbench.streams.loop import TooManyBad
from workbench.streams.parsing import Json
from workbench.streams.positions import AnotherWriter, PositionsLost
from workbench.streams.proposals import Proposal, propose
from workbench.streams.protobuf import Protobuf
from workbench.streams.replays import Replayed, replay
from workbench.streams.routes import Target
from workbench.streams.sending import produce, send
from workbench.streams.shards import RecordsLost
from workbench.streams.sources import Source, StreamNotFound
from workbench.streams.topics import Topic

__all__ = [
    "WINDOWS", "AnotherWriter", "Avro", "Batch", "Delivered", "Ingested", "Json", "PositionsLost", "Proposal",
    "Protobuf", "RecordKey", "RecordsLost", "Replayed", "Source", "StreamNotFound", "Target", "TooManyBad",
    "Topic", "deliver", "drain", "ingest", "kinesis", "line", "produce", "propose", "replay", "send",
]  # fmt: skip
