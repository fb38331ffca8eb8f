"""Single events of the log as values: a task that ended, a batch of a stream."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from workbench._base import secrets
from workbench.metrics.runs import Batch, Stream, Task


def moment(milliseconds: float) -> datetime:
    """Return a moment of the log, in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def task(event: Mapping[str, Any]) -> Task:
    """Return the task whose end an event tells."""
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    succeeded = event["Task End Reason"]["Reason"] == "Success"
    read, written = metrics.get("Input Metrics") or {}, metrics.get("Output Metrics") or {}
    shuffled, shuffling = metrics.get("Shuffle Read Metrics") or {}, metrics.get("Shuffle Write Metrics") or {}
    part = info.get("Partition ID", -1)
    return Task(
        stage_id=event["Stage ID"],
        stage_attempt=event["Stage Attempt ID"],
        partition=part if part >= 0 else info["Index"],  # Spark 3.0 to 3.2 have no partition
        executor_id=str(info["Executor ID"]),
        succeeded=succeeded,
        failure=None if succeeded else secrets.redact(_failure(event["Task End Reason"])),
        started=moment(info["Launch Time"]),
        seconds=max(0, info["Finish Time"] - info["Launch Time"]) / 1e3,
        run_seconds=metrics.get("Executor Run Time", 0) / 1e3,
        cpu_seconds=metrics.get("Executor CPU Time", 0) / 1e9,
        gc_seconds=metrics.get("JVM GC Time", 0) / 1e3,
        fetch_wait_seconds=shuffled.get("Fetch Wait Time", 0) / 1e3,
        rows_in=read.get("Records Read", 0),
        bytes_in=read.get("Bytes Read", 0),
        rows_out=written.get("Records Written", 0),
        bytes_out=written.get("Bytes Written", 0),
        shuffle_bytes_read=shuffled.get("Remote Bytes Read", 0) + shuffled.get("Local Bytes Read", 0),
        shuffle_bytes_written=shuffling.get("Shuffle Bytes Written", 0),
        spilled_bytes=metrics.get("Disk Bytes Spilled", 0),
        peak_memory_bytes=metrics.get("Peak Execution Memory", 0),
    )


def _failure(reason: Mapping[str, Any]) -> str:
    """Return why a task failed: the kind first, by which causes are told, then what Spark says of it."""
    words = [str(reason["Reason"])]
    keys = ("Class Name", "Description", "Message", "Loss Reason", "Kill Reason", "Full Stack Trace")
    words += [f"{reason[key]}" for key in keys if reason.get(key)]
    return "\n".join(dict.fromkeys(word for word in words if word))


def batch(progress: Mapping[str, Any]) -> Batch:
    """Return the batch that a stream's progress tells."""
    durations = progress.get("durationMs") or {}
    sources = progress.get("sources") or ()
    behind = [_behind(source) for source in sources]
    return Batch(
        batch=int(progress.get("batchId", -1)),
        at=datetime.fromisoformat(progress["timestamp"]),
        seconds=durations.get("triggerExecution", 0) / 1e3,
        rows=sum(int(source.get("numInputRows", 0)) for source in sources),
        rows_behind=None if not behind or None in behind else sum(rows for rows in behind if rows is not None),
        rows_too_late=sum(
            int(state.get("numRowsDroppedByWatermark", 0)) for state in progress.get("stateOperators") or ()
        ),
    )


class Streams:
    """Streaming queries, as events tell them; the end of one has no time of its own."""

    def __init__(self) -> None:
        self._streams: dict[str, Stream] = {}

    def start(self, event: Mapping[str, Any]) -> None:
        """Take the start of a query."""
        at = datetime.fromisoformat(event["timestamp"]) if event.get("timestamp") else None
        self._streams[str(event["runId"])] = _stream(event, at)

    def progress(self, progress: Mapping[str, Any]) -> Batch:
        """Take a batch of a query, and return it."""
        known = self._streams.get(str(progress["runId"])) or _stream(progress, None)
        new = batch(progress)
        self._streams[str(progress["runId"])] = replace(known, batches=(*known.batches, new))
        return new

    def idle(self, event: Mapping[str, Any]) -> datetime:
        """Take that a query has nothing to read, and return when."""
        at = datetime.fromisoformat(event["timestamp"])
        if known := self._streams.get(str(event["runId"])):
            self._streams[str(event["runId"])] = replace(known, idle=at)
        return at

    def end(self, event: Mapping[str, Any], at: datetime) -> None:
        """Take the end of a query."""
        known = self._streams.get(str(event["runId"])) or _stream(event, None)
        error = secrets.redact(str(event["exception"])) if event.get("exception") else None
        self._streams[str(event["runId"])] = replace(known, ended=at, error=error)

    def all(self) -> tuple[Stream, ...]:
        """Return the queries, in the order in which they were first seen."""
        return tuple(self._streams.values())


def _stream(event: Mapping[str, Any], started: datetime | None) -> Stream:
    name = secrets.redact(str(event.get("name") or event["id"]))
    return Stream(str(event["id"]), name, started, None, None, ())


def _behind(source: Mapping[str, Any]) -> int | None:
    """Return how many records of a source are there and were not read; None where its offsets are not counts.

    Kafka's offsets are counts by topic and partition, and it alone tells the newest ones at each batch.
    """
    if "kafka" not in str(source.get("description", "")).lower():
        return None
    latest, end = source.get("latestOffset"), source.get("endOffset")
    if not isinstance(latest, Mapping) or not isinstance(end, Mapping):
        return None
    known = dict(_numbers(end))
    return sum(max(0, number - known.get(place, 0)) for place, number in _numbers(latest))


def _numbers(offsets: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:
    for key, value in offsets.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, (*place, str(key)))
        elif isinstance(value, int):
            yield (*place, str(key)), value
