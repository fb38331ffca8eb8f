"""`format("kinesis")`: Kinesis as a source of Spark 4, in Python, without a jar.

    kinesis.register(spark)
    df = spark.readStream.format("kinesis").options(streamName="events", region="eu-central-1",
                                                    positionsPath="/checkpoints/events/kinesis").load()

One row a record, in the order of its shard. Aggregates of the Kinesis Producer Library are taken apart; one that
cannot be is a row as it is. Options (any case):

    streamName              needed
    region, endpointUrl     by default the AWS chain's
    startingPosition        trim_horizon (default), latest or at_timestamp
    startingTimestamp       ISO time with zone, for at_timestamp
    maxRecordsPerBatch      of a micro-batch over all shards, default 100000
    failOnDataLoss          default true: stop where records may have been trimmed unread
    positionsPath           readStream only: folder that driver and workers share, one for each query
    subSequenceNumber       true adds the column sub_sequence_number: the place of a record in the aggregate of the
                            Kinesis Producer Library that it came in, 0 for one that came alone; default false

With a sink that is not idempotent the delivery is at least once, as always with Spark; `streams.ingest` is exactly
once. A batch read (`spark.read`) gives what is there from the starting position to the present end.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from workbench._base import releases
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataStreamWriter, SparkSession, StreamingQuery
from workbench.records import aggregates
from workbench.streams.readers import reading, reports, shards, sources

SCHEMA = (
    "data BINARY, stream STRING, shard_id STRING, sequence_number STRING, partition_key STRING, "
    "approximate_arrival_timestamp TIMESTAMP"
)
NUMBERED_SCHEMA = f"{SCHEMA}, {aggregates.COLUMN} BIGINT"
_NAMES = {
    "streamname", "region", "endpointurl", "startingposition", "startingtimestamp", "maxrecordsperbatch",
    "failondataloss", "positionspath", "path", "subsequencenumber",
}  # fmt: skip
_NOT_YET = "not yet"
_LOOK_MILLIS = 60_000  # how often it is noted that nothing is there
_WHOLE = 10**9  # more records than a shard gives in one reading


def register(spark: SparkSession) -> None:
    """Make `format("kinesis")` known to a session.

    Raises:
        ValueError: its Spark is older than 4.0.
    """
    releases.need(spark, "a data source written in Python, which Kinesis is here,", since="4.0")
    spark.dataSource.register(data_source())


def data_source() -> type:
    """Return the class of the data source, for `spark.dataSource.register`."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

    class Partition(InputPartition):
        pass

    class BatchReader(Batch, DataSourceReader):
        partition = Partition

    class StreamReader(Streaming, DataSourceStreamReader):
        partition = Partition

    class KinesisSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return "kinesis"

        def schema(self) -> str:
            return NUMBERED_SCHEMA if numbered(self.options) else SCHEMA

        def reader(self, schema: Any) -> Any:
            return BatchReader(parse(self.options)[0], numbered(self.options))

        def streamReader(self, schema: Any) -> Any:
            return StreamReader(*parse(self.options), numbered(self.options))

    return KinesisSource


def parse(options: Mapping[str, str]) -> tuple[sources.Source, str | None]:
    """Return (Source, folder of the positions or None) of Spark's options.

    Raises:
        ValueError: an option is missing, unknown or wrong.
    """
    given = {key.lower(): value for key, value in dict(options).items()}
    if unknown := sorted(set(given) - _NAMES):
        raise ArgumentError(
            f"{unknown[0]} is not an option of the kinesis source; it has {', '.join(sorted(_NAMES))}"
        )
    if not given.get("streamname"):
        raise ArgumentError("the kinesis source needs the option streamName")
    most, loss = given.get("maxrecordsperbatch", "100000"), _flag(given, "failOnDataLoss", "true")
    if not most.isascii() or not most.isdigit():
        raise ArgumentError(f"maxRecordsPerBatch must be an integer of at least 1, found {most!r}")
    at = given.get("startingtimestamp")
    source = sources.Source(
        stream=given["streamname"],
        region=given.get("region"),
        endpoint=given.get("endpointurl"),
        start=given.get("startingposition", "trim_horizon").lower(),
        at=datetime.fromisoformat(at) if at else None,
        max_records_per_batch=int(most),
        fail_on_data_loss=loss,
    )
    return source, given.get("positionspath")


def numbered(options: Mapping[str, str]) -> bool:
    """Tell whether Spark's options ask for the place of each record in its aggregate.

    Raises:
        ValueError: the option is neither true nor false.
    """
    return _flag({key.lower(): value for key, value in dict(options).items()}, "subSequenceNumber", "false")


def _flag(options: Mapping[str, str], name: str, default: str) -> bool:
    """Return an option that is true or false."""
    value = options.get(name.lower(), default).lower()
    if value not in ("true", "false"):
        raise ArgumentError(f"{name} must be true or false, found {value!r}")
    return value == "true"


class Batch:
    """Reads what is there; each shard is a partition, so no order between parents and children."""

    partition: Callable[[Any], Any] = tuple

    def __init__(self, source: sources.Source, numbered: bool = False) -> None:
        self.source, self.numbered = source, numbered

    def partitions(self) -> list[Any]:
        """Return a task a shard."""
        stream = sources.describe(self.source)
        positions = self.source.begin(stream)
        tasks = [shards.Task(shard, positions.get(shard, shards.OLDEST), _WHOLE) for shard in stream.shards]
        return [self.partition(asdict(task)) for task in tasks]

    def read(self, partition: Any) -> Iterator[Any]:
        """Yield the records of a task as Arrow batches."""
        task = shards.Task(**partition.value)
        progress = reading.Progress(task.position or None)
        for records in reading.read(self.source, task, progress):
            yield columns(self.source, task, records, self.numbered)


class Streaming:
    """Spark's offsets are counters, {"batch": 7}; what a micro-batch holds is in the positions folder."""

    partition: Callable[[Any], Any] = tuple

    def __init__(self, source: sources.Source, folder: str | None, numbered: bool = False) -> None:
        if not folder:
            raise ArgumentError("readStream of the kinesis source needs the option positionsPath, a shared folder")
        self.source, self.folder, self.numbered = source, folder.removeprefix("file://"), numbered
        self.owner: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, int]:
        """Return the offset before the first micro-batch."""
        return {"batch": 0}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:
        """Return the offset behind the next micro-batch, the last one's where nothing is there.

        Spark 4.1 calls it without arguments, 4.2 with where the query is and a read limit. The batch is planned
        when Spark asks for its partitions; this only looks whether there is anything.
        """
        stream = self._stream()
        number = reports.last(self.folder)
        positions, now = self._positions(stream, number), sources.now_millis()
        before = reports.looked(self.folder)
        if before is not None:
            shards.unwatched(self.source, stream, positions, now - before)
        tasks = shards.plan(stream, positions, self.source.max_records_per_batch)
        more = any(self._something(task) for task in tasks)
        if before is None or (not more and now - before > _LOOK_MILLIS):
            reports.look(self.folder, now)
        return {"batch": number + more}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Any]:
        """Return the tasks of the micro-batches behind `start` up to `end`: planned once, repeated as reported."""
        stream, partitions = self._stream(), []
        if (known := reports.last(self.folder)) < start["batch"]:
            raise ArgumentError(
                f"{self.folder} knows of {known} micro-batches and the checkpoint of {start['batch']}: they do "
                "not belong together, one of them was deleted or is another query's"
            )
        for number in range(start["batch"] + 1, end["batch"] + 1):
            plan = self._plan(stream, number)
            reported = reports.reported(self.folder, number)
            for task in plan["tasks"]:
                upto = reported.get(task["shard"], {}).get("position", _NOT_YET)
                if upto == _NOT_YET:
                    partitions.append(self.partition([number, task]))
                elif upto is not None and upto != task["position"]:
                    partitions.append(self.partition([number, task | {"upto": upto, "limit": _WHOLE}]))
        return partitions

    def read(self, partition: Any) -> Iterator[Any]:
        """Yield the records of a task as Arrow batches; then report where it stopped."""
        number, given = partition.value
        task = shards.Task(**given)
        progress = reading.Progress(task.position or None)
        for records in reading.read(self.source, task, progress):
            yield columns(self.source, task, records, self.numbered)
        content = {"position": progress.position, "behind_millis": progress.behind_millis, "gap": progress.gap}
        if task.upto is None:
            reports.report(self.folder, number, task.shard, content)

    def commit(self, end: dict[str, int]) -> None:
        """Forget the micro-batches that Spark will not ask for again."""
        reports.forget(self.folder, end["batch"] - 1)

    def stop(self) -> None:
        """Do nothing: nothing is held open."""

    def _stream(self) -> sources.Stream:
        stream = sources.describe(self.source)
        owner = {"arn": stream.arn, "created_millis": stream.created}
        if self.owner != owner:
            reports.claim(self.folder, owner)
            self.owner = owner
        return stream

    def _plan(self, stream: sources.Stream, number: int) -> dict[str, Any]:
        path = reports.batch(self.folder, number) / "plan.json"
        if (plan := reports.get(path)) is not None:
            return plan
        if number != reports.last(self.folder) + 1:
            raise ArgumentError(
                f"{self.folder} has no plan of micro-batch {number}: it and the checkpoint do not belong together"
            )
        positions = self._positions(stream, number - 1)
        positions, _ = shards.present(self.source, stream, positions)
        tasks = shards.plan(stream, positions, self.source.max_records_per_batch)
        planned = {"positions": positions, "tasks": [asdict(task) for task in tasks]}
        return reports.put(path, planned | {"millis": sources.now_millis()})

    def _positions(self, stream: sources.Stream, number: int) -> dict[str, str]:
        """Return the positions behind a micro-batch."""
        if number == 0:
            first = reports.batch(self.folder, 0) / "start.json"  # `latest` is a time, and stays that time
            return reports.put(first, self.source.begin(stream))
        before = reports.get(reports.batch(self.folder, number) / "plan.json")["positions"]
        ends = {shard: report["position"] for shard, report in reports.reported(self.folder, number).items()}
        return shards.advance(stream, before, ends)

    def _something(self, task: shards.Task) -> bool:
        """Tell whether a task would get anywhere, by one call for at most two records of its shard."""
        look, progress = replace(task, limit=1, seen=True), reading.Progress(task.position or None)
        for _ in reading.read(self.source, look, progress):
            return True
        return progress.position != (task.position or None) or progress.behind_millis > 0


def columns(source: sources.Source, task: shards.Task, records: reading.Records, numbered: bool = False) -> Any:
    """Return records as an Arrow batch of SCHEMA, or of NUMBERED_SCHEMA."""
    import numpy as np
    import pyarrow as pa

    count = len(records)
    arrived = np.rint(np.array(records.arrived) * 1000).astype(np.int64) * 1000  # Kinesis gives milliseconds
    arrays = [
        pa.array(records.data, pa.binary()),
        pa.repeat(pa.scalar(source.stream), count),
        pa.repeat(pa.scalar(task.shard), count),
        pa.array(records.sequence, pa.string()),
        pa.array(records.key, pa.string()),
        pa.array(arrived, pa.timestamp("us", tz="UTC")),
    ]
    if numbered:
        arrays.append(pa.array(records.places(), pa.int64()))
    schema = NUMBERED_SCHEMA if numbered else SCHEMA
    return pa.record_batch(arrays, names=[column.split()[0] for column in schema.split(", ")])


if TYPE_CHECKING:

    class Drained(StreamingQuery):
        """A query that `drain` stopped."""

        drained: bool
else:
    Drained = Any


@checked
def drain(writer: DataStreamWriter, *, timeout_seconds: float | None = None) -> Drained:
    """Run a streaming query until its source has nothing left; then stop it.

    Args:
        writer: DataStreamWriter, not started and without a trigger: `df.writeStream.option(…).foreachBatch(…)`.
        timeout_seconds: stop after so long whatever is left: a stream that is always written to has no end.

    Returns:
        The stopped StreamingQuery; its `recentProgress` tells what was read. Whether the end was reached is
        `query.drained` (bool).

    Raises:
        pyspark.errors.StreamingQueryException: the query failed.
    """
    query = cast(Drained, writer.trigger(processingTime="0 seconds").start())
    over = threading.Event()

    def end() -> None:
        over.set()
        query.stop()

    timer = threading.Timer(timeout_seconds, end) if timeout_seconds is not None else None
    try:
        if timer:
            timer.daemon = True
            timer.start()
        query.processAllAvailable()
    finally:
        if timer:
            timer.cancel()
        query.stop()
    query.drained = not over.is_set()
    return query
