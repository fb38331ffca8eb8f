"""`workbench ingest`: a stream or a topic into a table, each record once; prints its figures as JSON.

Exit codes: 0 done · 1 stopped by what it found (another writer, lost records, too many bad ones) · 2 refused.
An interrupt (SIGINT, SIGTERM, SIGHUP) ends it after the batch that is under way, a second one at once.
"""

import json
import os
import signal
from collections.abc import Callable
from dataclasses import asdict
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.saying import on_stderr, say

if TYPE_CHECKING:
    from workbench.streams import Source, Topic

Start = Literal["trim_horizon", "latest"]
Unknown = Literal["ignore", "dead"]


def ingest(
    table: Annotated[str, typer.Argument(help="namespace.name of a table that exists")],
    schema: Annotated[str, typer.Option(help="Spark DDL of the JSON records")],
    stream: Annotated[str | None, typer.Option(metavar="NAME", help="name of a Kinesis stream")] = None,
    topic: Annotated[str | None, typer.Option(metavar="NAME", help="name of a Kafka topic")] = None,
    environment: Annotated[str, typer.Option(help="file in params/environments")] = "lake",
    region: Annotated[str | None, typer.Option(help="AWS region of the stream")] = None,
    endpoint: Annotated[str | None, typer.Option(help="address of an endpoint other than the region's")] = None,
    bootstrap: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="address of a Kafka broker")] = None,
    kafka_config: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="setting of librdkafka; may be repeated")
    ] = None,
    start: Annotated[Start, typer.Option(help="where the first run begins")] = "trim_horizon",
    unknown: Annotated[Unknown, typer.Option(help="what happens to fields without a column")] = "ignore",
    dead_letters: Annotated[
        str | None, typer.Option(metavar="TABLE", help="table for records that cannot become rows")
    ] = None,
    max_bad_share: Annotated[
        float, typer.Option(help="share of bad records in a batch above which the run stops")
    ] = 1.0,
    max_records_per_batch: Annotated[int, typer.Option(help="records in a micro-batch at most")] = 100_000,
    record_key: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="key of a record: later duplicates are dropped; comma-separated"),
    ] = None,
    lineage: Annotated[
        str, typer.Option(metavar="COLUMNS", help="columns for a record's origin; comma-separated")
    ] = "",
    accept_data_loss: Annotated[
        bool,
        typer.Option(
            "--accept-data-loss", help="continue although records were trimmed unread, and record the loss"
        ),
    ] = False,
    forever: Annotated[bool, typer.Option("--forever", help="wait for more when everything was read")] = False,
) -> None:
    """Bring a Kinesis stream or a Kafka topic of JSON records into a table, each record once."""
    from py4j.protocol import Py4JError

    from workbench import session, streams
    from workbench.tables import commits

    source = _source(
        stream, topic, region, endpoint, bootstrap, kafka_config or [],
        start=start, max_records_per_batch=max_records_per_batch, fail_on_data_loss=not accept_data_loss,
    )  # fmt: skip
    parse = streams.Json(schema, unknown=unknown)
    try:
        spark = session.start(environment)
        # executors elsewhere read the stream as whoever starts this does
        aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        spark.sparkContext.environment |= aws
        figures = streams.ingest(
            spark,
            table,
            source=source,
            parse=parse,
            dead_letters=dead_letters,
            max_bad_share=max_bad_share,
            record_key=streams.RecordKey(tuple(record_key.split(","))) if record_key else None,
            lineage=tuple(filter(None, lineage.split(","))),
            until_caught_up=not forever,
            stop=asked_to_stop(),
            on_batch=lambda batch: on_stderr(streams.line(batch)),
        )
    except RuntimeError as error:
        say(str(error))
        raise typer.Exit(1) from None
    except ValueError:  # the command prints it
        raise
    except Exception as error:
        if not commits.causes(error) and not isinstance(error, (Py4JError, ConnectionError)):
            raise
        reason = commits.errors.first_line(error)
        say(f"Spark or the catalog failed: {reason}\nNothing is lost: run it again")
        raise typer.Exit(1) from None
    print(json.dumps(asdict(figures)))


def _source(
    stream: str | None,
    topic: str | None,
    region: str | None,
    endpoint: str | None,
    bootstrap: str | None,
    kafka_config: list[str],
    **common: Any,
) -> "Source | Topic":
    from workbench import streams

    if stream is not None and topic is None:
        if bootstrap or kafka_config:
            raise ArgumentError("--bootstrap and --kafka-config go with --topic")
        return streams.Source(stream, region=region, endpoint=endpoint, **common)
    if topic is None or stream is not None:
        raise ArgumentError("name --stream, of Kinesis, or --topic, of Kafka, and not both")
    if not bootstrap or region or endpoint:
        raise ArgumentError(
            "--topic needs --bootstrap, the address of a broker; --region and --endpoint are Kinesis'"
        )
    if wrong := [setting for setting in kafka_config if "=" not in setting]:
        raise ArgumentError(f"--kafka-config must be NAME=VALUE, found {wrong[0]!r}")
    config = dict(setting.split("=", 1) for setting in kafka_config)
    return streams.Topic(topic, bootstrap, config=config, **common)


def asked_to_stop() -> Callable[[], bool]:
    """Return a function that says whether this process was asked to end; asked twice, it ends at once.

    Nothing is lost either way: what is not committed is read again. Python's own way, an exception in the midst of
    a call to the JVM, would end in that call's traceback.
    """
    asked: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        if asked:
            os._exit(128 + number)  # the JVM ends with its input
        asked.append(number)
        say("ends after this batch; once more ends it now")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ask)
    return lambda: bool(asked)
