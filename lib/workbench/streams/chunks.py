"""A micro-batch on its way: read and parsed in one process a shard, carried through Spark as Arrow payloads.

A frame of chunks has one row an answer of Kinesis: what it holds in figures, its good rows as one Arrow payload
and its dead ones as another. It is small in rows, so keeping it (`persist`) costs little; the batch is read
once, its positions are known before anything is written, and the rows are unpacked as often as they are needed.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession, StructType
from workbench.records import aggregates
from workbench.records.parsing import Parse, Parsed
from workbench.streams import nulls
from workbench.streams.readers import reading, shards, sources

SCHEMA = (
    "shard STRING, first STRING, last STRING, records BIGINT, good BIGINT, dead BIGINT, dropped BIGINT, "
    "unknown BIGINT, bytes BIGINT, arrived DOUBLE, status STRING, good_rows BINARY, dead_rows BINARY"
)
NAMES = [column.split()[0] for column in SCHEMA.split(", ")]
DEAD = (
    "raw BINARY, raw_bytes BIGINT, raw_sha256 STRING, stream STRING, shard_id STRING, sequence_number STRING, "
    f"partition_key STRING, approximate_arrival_timestamp TIMESTAMP, {aggregates.COLUMN} BIGINT, reason STRING, "
    "message STRING"
)
RAW, RAW_BYTES = "_raw", 64 * 1024
# of a reading, as `ingest` promises them; a source of the user's own may raise a plain ValueError
FAILURES = (shards.RecordsLost, sources.StreamNotFound, ArgumentError, ValueError)


@dataclass
class Reading:
    """Reads and parses tasks: a function for mapInArrow over their numbers.

    Attributes:
        source: Source.
        tasks: list of Task.
        parser: function of a list of bytes that returns parsing.Parsed.
        lineage: names of the source's lineage that the rows get too, RAW for the record itself, and nulls.COLUMN.
        raw_bytes: how much of a dead record is kept.
        keyless: what the key of a record without one becomes, one of nulls.KEYLESS.
        timed: whether a record without a time is a dead letter.
        tombstones: whether a record without a value becomes a row, of nulls, and no dead letter.
    """

    source: sources.RecordSource
    tasks: list[shards.Task]
    parser: Parse
    lineage: tuple[str, ...]
    raw_bytes: int = RAW_BYTES
    keyless: str = "null"
    timed: bool = False
    tombstones: bool = False

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield a batch of one row a chunk, and one with the status of each task."""
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                for row in self._chunks(self.tasks[number]):
                    arrays = [[row.get(name)] for name in NAMES]
                    yield pa.RecordBatch.from_arrays(
                        [pa.array(value, kind) for value, kind in zip(arrays, _kinds(), strict=True)], names=NAMES
                    )

    def _chunks(self, task: shards.Task) -> Iterator[dict[str, Any]]:
        progress = reading.Progress(task.position or None)
        read = self.source.read(task, progress)
        while True:
            try:
                records = next(read, None)
            except FAILURES as error:
                if type(error) not in FAILURES:
                    raise
                # Spark would make a traceback of it, which nobody can catch by its name. It counts as good and as
                # dead, so that a reading that is repeated fails where it is unpacked, too
                failed = json.dumps({"failed": type(error).__name__, "message": str(error)})
                yield {"shard": task.shard, "status": failed, "good": 1, "dead": 1}
                return
            if records is None:
                break
            yield self._chunk(task, records)
        status = {
            "passed": progress.passed,
            "position": progress.position,
            "behind_millis": progress.behind_millis,
            "unbroken": progress.unbroken,
            "gap": progress.gap,
        }
        yield {"shard": task.shard, "status": json.dumps(status)}

    def _chunk(self, task: shards.Task, records: reading.Records) -> dict[str, Any]:
        aside = nulls.aside(records, keyless=self.keyless, timed=self.timed, tombstones=self.tombstones)
        parsed = nulls.parsed(self.parser, records.data, aside)
        count, good, dead = len(records), len(parsed.good), len(parsed.dead)
        return {
            "shard": task.shard,
            "first": records.sequence[0],
            "last": records.sequence[-1],
            "records": count,
            "good": good,
            "dead": dead,
            "dropped": count - good - dead,
            "unknown": parsed.unknown,
            "bytes": sum(len(data or b"") for data in records.data),
            "arrived": records.arrived[-1],
            "good_rows": _payload(self._with_lineage(task, records, parsed)) if good else None,
            "dead_rows": _payload(self._dead(task, records, parsed.dead)) if dead else None,
        }

    def _with_lineage(self, task: shards.Task, records: reading.Records, parsed: Parsed) -> Any:
        import pyarrow as pa

        every = parsed.good == list(range(len(records)))  # tombstones stand behind the others
        rows, count = parsed.rows, len(parsed.good)

        def take(values: list[Any]) -> list[Any]:
            return values if every else [values[n] for n in parsed.good]

        for name in self.lineage:
            column = {
                "stream": lambda: pa.repeat(pa.scalar(self.source.stream), count),
                "shard_id": lambda: pa.repeat(pa.scalar(task.shard), count),
                "sequence_number": lambda: pa.array(take(records.sequence), pa.string()),
                nulls.KEY: lambda: pa.array(self._keys(take(records.key)), pa.string()),
                "approximate_arrival_timestamp": lambda: _times(take(records.arrived)),
                aggregates.COLUMN: lambda: pa.array(take(records.places()), pa.int64()),
                "offset": lambda: pa.array(map(int, take(records.sequence)), pa.int64()),
                RAW: lambda: pa.array(take(records.data), pa.binary()),
                nulls.COLUMN: lambda: pa.array([data is None for data in take(records.data)], pa.bool_()),
            }[name]()
            rows = rows.append_column(name, column)
        return rows

    def _keys(self, keys: list[str | None]) -> list[str | None]:
        return [key or "" for key in keys] if self.keyless == "empty" else keys

    def _dead(self, task: shards.Task, records: reading.Records, dead: list[tuple[int, str, str]]) -> Any:
        import pyarrow as pa

        places = [place for place, _, _ in dead]
        raw = [records.data[n] for n in places]

        def each(what: Callable[[bytes], Any]) -> list[Any]:  # null of a record without a value
            return [None if data is None else what(data) for data in raw]

        columns = {
            "raw": pa.array(each(lambda data: data[: self.raw_bytes]), pa.binary()),
            "raw_bytes": pa.array(each(len), pa.int64()),
            "raw_sha256": pa.array(each(lambda data: hashlib.sha256(data).hexdigest()), pa.string()),
            "stream": pa.repeat(pa.scalar(self.source.stream), len(dead)),
            "shard_id": pa.repeat(pa.scalar(task.shard), len(dead)),
            "sequence_number": pa.array([records.sequence[n] for n in places], pa.string()),
            "partition_key": pa.array([records.key[n] for n in places], pa.string()),
            "approximate_arrival_timestamp": _times([records.arrived[n] for n in places]),
            aggregates.COLUMN: self._within(records, places),
            "reason": pa.array([reason for _, reason, _ in dead], pa.string()),
            "message": pa.array([message for _, _, message in dead], pa.string()),
        }
        return pa.RecordBatch.from_pydict(columns)

    def _within(self, records: reading.Records, places: list[int]) -> Any:
        """Return the places of dead records in their aggregates; null for a topic, which has none."""
        import pyarrow as pa

        if aggregates.COLUMN not in self.source.lineage:
            return pa.nulls(len(places), pa.int64())
        every = records.places()
        return pa.array([every[n] for n in places], pa.int64())


@dataclass
class Unpacking:
    """Gives the rows of the payloads: a function for mapInArrow over a frame with one column of them."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches inside."""
        import pyarrow as pa

        for batch in batches:
            for payload in batch.column(0):
                if not payload.is_valid:
                    raise RuntimeError("a shard that had been read could not be read again")
                yield from pa.ipc.open_stream(payload.as_buffer())


def frame(
    spark: SparkSession,
    source: sources.RecordSource,
    tasks: list[shards.Task],
    parser: Parse,
    lineage: Iterable[str],
    raw_bytes: int = RAW_BYTES,
    **lacking: Any,
) -> DataFrame:
    """Return the frame of chunks of some tasks, one Spark task each; lazy, and reads anew each time it runs.

    `lacking` says what becomes of records without a key, a time or a value: keyless, timed and tombstones, as of
    Reading.
    """
    numbers = spark.range(0, len(tasks), 1, max(1, len(tasks)))
    return numbers.mapInArrow(Reading(source, tasks, parser, tuple(lineage), raw_bytes, **lacking), SCHEMA)


def rows(chunks: DataFrame, schema: StructType) -> DataFrame:
    """Return the good rows of a frame of chunks; lazy."""
    return chunks.where("good > 0").select("good_rows").mapInArrow(Unpacking(), schema)


def dead(chunks: DataFrame) -> DataFrame:
    """Return the dead rows of a frame of chunks, columns as in DEAD; lazy."""
    return chunks.where("dead > 0").select("dead_rows").mapInArrow(Unpacking(), DEAD)


@dataclass(frozen=True)
class Read:
    """What a micro-batch read, before anything is written.

    Attributes:
        ends: shard id to where its task stopped; None where there is no position yet.
        behind: shard id to the age of the first record left, in milliseconds; 0 when none was.
        gaps: sentences on what may have been lost.
        unbroken: shards whose position was still there.
        records, good, dead, dropped, unknown, bytes: counts.
        arrived: when the newest record came, seconds since 1970; None without records.
    """

    ends: dict[str, str | None]
    behind: dict[str, int]
    gaps: tuple[str, ...]
    unbroken: frozenset[str]
    records: int
    good: int
    dead: int
    dropped: int
    unknown: int
    bytes: int
    arrived: float | None


def read(chunks: DataFrame, tasks: list[shards.Task]) -> Read:
    """Return the Read of a frame of chunks; runs it, so that `persist` keeps it.

    Raises:
        RecordsLost, StreamNotFound, ValueError: as the reading of a shard raised it.
        RuntimeError: a task did not report where it stopped, or stopped elsewhere than its last chunk.
    """
    collected = chunks.drop("good_rows", "dead_rows").collect()
    statuses = {row.shard: json.loads(row.status) for row in collected if row.status}
    if failed := next((statuses[shard] for shard in sorted(statuses) if "failed" in statuses[shard]), None):
        raise {failure.__name__: failure for failure in FAILURES}[failed["failed"]](failed["message"])
    data = [row for row in collected if not row.status]
    last: dict[str, str] = {}
    for row in data:
        if row.shard not in last or int(row.last) > int(last[row.shard]):
            last[row.shard] = row.last
    for task in tasks:
        status = statuses.get(task.shard, {"position": None, "passed": None})
        stopped = status["passed"] or last.get(task.shard, task.position or None)
        if task.shard not in statuses or status["position"] not in (stopped, shards.END):
            raise RuntimeError(
                f"the reading of shard {task.shard} stopped at {stopped} and reported {status['position']}"
            )
    total = {key: sum(row[key] for row in data) for key in NAMES[3:9]}
    return Read(
        ends={shard: status["position"] for shard, status in statuses.items()},
        behind={shard: status["behind_millis"] for shard, status in statuses.items()},
        gaps=tuple(status["gap"] for status in statuses.values() if status["gap"]),
        unbroken=frozenset(shard for shard, status in statuses.items() if status["unbroken"]),
        arrived=max((row.arrived for row in data if row.arrived is not None), default=None),
        **total,
    )


def _payload(batch: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _times(seconds: Iterable[float | None]) -> Any:
    import pyarrow as pa

    micros = [None if second is None else round(second * 1000) * 1000 for second in seconds]
    return pa.array(micros, pa.timestamp("us", tz="UTC"))


def _kinds() -> list[Any]:
    import pyarrow as pa

    kinds = {"STRING": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BINARY": pa.binary()}
    return [kinds[column.split()[1]] for column in SCHEMA.split(", ")]
