"""A headless ingest: `python -m workbench.streams TABLE --stream NAME --schema DDL`; prints its figures as JSON.

Of Kafka: `--topic NAME --bootstrap HOST:PORT`.

Exit codes: 0 done · 1 stopped by what it found (another writer, lost records, too many bad ones) · 2 refused.
An interrupt (SIGINT, SIGTERM, SIGHUP) ends it behind the batch that is under way, a second one at once.
"""

import argparse
import json
import os
import signal
import sys
from dataclasses import asdict


def main(arguments=None):
    """Run the command; returns its exit code."""
    from py4j.protocol import Py4JError

    from workbench import session, streams
    from workbench.streams import plain
    from workbench.tables import commits

    asked = _parser().parse_args(arguments)
    try:
        source = _source(asked)
        parse = streams.Json(asked.schema, unknown=asked.unknown)
        spark = session.start(asked.environment)
        # executors elsewhere read the stream as whoever starts this does
        aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        spark.sparkContext.environment |= aws
        if asked.plain:
            plain.append(spark, asked.table, source=source, parse=parse, checkpoint=asked.plain)
            return 0
        done = streams.ingest(
            spark,
            asked.table,
            source=source,
            parse=parse,
            dead_letters=asked.dead_letters,
            max_bad_share=asked.max_bad_share,
            record_key=streams.RecordKey(tuple(asked.record_key.split(","))) if asked.record_key else None,
            lineage=tuple(filter(None, asked.lineage.split(","))),
            until_caught_up=not asked.forever,
            stop=_asked_to_stop(),
            on_batch=lambda batch: print(streams.line(batch), file=sys.stderr, flush=True),
        )
    except ValueError as error:
        print(f"workbench.streams: {error}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(f"workbench.streams: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        if not commits.causes(error) and not isinstance(error, (Py4JError, ConnectionError)):
            raise
        said = commits.errors.first_line(error)
        print(
            f"workbench.streams: Spark or the catalog failed: {said}\nNothing is lost: run it again",
            file=sys.stderr,
        )
        return 1
    print(json.dumps(asdict(done)))
    return 0


def _source(asked):
    from workbench import streams

    common = {
        "start": asked.start,
        "max_records_per_batch": asked.max_records_per_batch,
        "fail_on_data_loss": not asked.accept_data_loss,
    }
    if asked.stream:
        if asked.bootstrap or asked.kafka_config:
            raise ValueError("--bootstrap and --kafka-config go with --topic")
        return streams.Source(asked.stream, region=asked.region, endpoint=asked.endpoint, **common)
    if asked.plain:
        raise ValueError("--plain reads a stream of Kinesis")
    if not asked.bootstrap or asked.region or asked.endpoint:
        raise ValueError(
            "--topic needs --bootstrap, the address of a broker; --region and --endpoint are Kinesis'"
        )
    if wrong := [one for one in asked.kafka_config if "=" not in one]:
        raise ValueError(f"--kafka-config is NAME=VALUE, not {wrong[0]!r}")
    config = dict(one.split("=", 1) for one in asked.kafka_config)
    return streams.Topic(asked.topic, asked.bootstrap, config=config, **common)


def _asked_to_stop():
    """Return a function that says whether this process was asked to end; asked twice, it ends without a word more.

    Nothing is lost by either: what is not committed is read again. Python's own way, an exception in the middle of
    a call to the JVM, would end in that call's traceback.
    """
    asked = []

    def ask(number, _):
        if asked:
            os._exit(128 + number)  # the JVM ends with its input
        asked.append(number)
        print("workbench.streams: ends behind this batch; once more ends it now", file=sys.stderr, flush=True)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ask)
    return lambda: bool(asked)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m workbench.streams", description=__doc__)
    add = parser.add_argument
    add("table", help="namespace.name, there already")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--stream", help="of Kinesis")
    which.add_argument("--topic", help="of Kafka")
    add("--schema", required=True, help="Spark DDL of the JSON records")
    add("--environment", default="lake", help="file in params/environments; default lake")
    add("--region")
    add("--endpoint", help="address of another endpoint than the region's")
    add("--bootstrap", metavar="HOST:PORT", help="address of a Kafka broker")
    add(
        "--kafka-config",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="of librdkafka; more than one goes",
    )
    add("--start", default="trim_horizon", choices=["trim_horizon", "latest"])
    add("--unknown", default="ignore", choices=["ignore", "dead"])
    add("--dead-letters", metavar="TABLE")
    add("--max-bad-share", type=float, default=1.0)
    add("--max-records-per-batch", type=int, default=100_000)
    add("--record-key", metavar="COLUMNS", help="comma-separated")
    add("--lineage", metavar="COLUMNS", default="", help="comma-separated")
    add("--accept-data-loss", action="store_true", help="go on where records were trimmed unread, and record it")
    add("--forever", action="store_true", help="go on when everything was read")
    add(
        "--plain",
        metavar="FOLDER",
        help="foreachBatch and append instead, with this checkpoint: doubles when killed",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
