"""Kinesis and Kafka into Iceberg, each record exactly once, whatever is killed, throttled or resharded.

    streams.ingest(spark, "sales.events", source=streams.Source("events", region="eu-central-1"),
                   parse=streams.Json("id BIGINT NOT NULL, price DECIMAL(10, 2)"),
                   dead_letters="sales.events_dead")

The parts:

    readers/                      where records come from
      sources, shards, reading    a stream, its shards and positions, one shard read
      topics                      the same of a Kafka topic
      reports                     what a reader tells Spark
    nulls, keys                   records of Kafka without a value or a key; what names a record
    proposals                     a schema from a sample
    kinesis                       `format("kinesis")` for any sink, and a backlog of it read whole
    chunks, tables                a micro-batch on its way to the table's rows
    positions, publish            exactly once
    dead_letters, batches         what could not become rows, what a batch did
    loop, ingesting               the run, into one table
    delivery, routes, errors      into several tables, by unique keys, with an error store
    replays                       errors brought to their tables after all
    sending                       producers

What a record holds is read by workbench.records. How it works and what was measured: docs/streams.md.
"""

from workbench.records.avro import Avro
from workbench.records.parsing import Json
from workbench.records.protobuf import Protobuf
from workbench.streams import kinesis
from workbench.streams.batches import Batch, Ingested, line
from workbench.streams.delivery import Delivered, deliver
from workbench.streams.ingesting import ingest
from workbench.streams.keys import RecordKey
from workbench.streams.kinesis import drain
from workbench.streams.loop import TooManyBad
from workbench.streams.positions import AnotherWriter, PositionsLost
from workbench.streams.proposals import Proposal, propose
from workbench.streams.readers.shards import RecordsLost
from workbench.streams.readers.sources import Source, StreamNotFound
from workbench.streams.readers.topics import Topic
from workbench.streams.replays import Replayed, replay
from workbench.streams.routes import Target
from workbench.streams.sending import produce, send

__all__ = [
    "AnotherWriter", "Avro", "Batch", "Delivered", "Ingested", "Json", "PositionsLost", "Proposal",
    "Protobuf", "RecordKey", "RecordsLost", "Replayed", "Source", "StreamNotFound", "Target", "TooManyBad",
    "Topic", "deliver", "drain", "ingest", "kinesis", "line", "produce", "propose", "replay", "send",
]  # fmt: skip
