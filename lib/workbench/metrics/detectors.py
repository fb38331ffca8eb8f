"""Figures of a run by cause: each detector yields all that it can measure, whatever the threshold."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from types import MappingProxyType

from workbench.metrics import errors
from workbench.metrics.causes import OPEN_COST_BYTES, Thresholds
from workbench.metrics.collectors.results import Collection
from workbench.metrics.reports import Commit, Reports
from workbench.metrics.runs import Run, Scan, Stage, Stream

_EXPECTED_END = re.compile(
    r"killed by driver|[Ii]dle|[Dd]ecommission|exited with code 0\b|unregistered|shutdown", re.I
)
_LAST_BATCHES = 3


@dataclass(frozen=True)
class Evidence:
    """What is looked at: a run, and what was kept beside its log."""

    run: Run
    reports: Reports
    errors: tuple[str, ...]
    collection: Collection | None


@dataclass(frozen=True)
class Figure:
    """A figure of a cause, where it was measured, and what it says."""

    cause: str
    where: str
    value: float
    sentence: str


def skew(seen: Evidence, limits: Thresholds) -> Iterator[Figure]:
    """Yield how much larger the largest task of each stage is than the median task."""
    for stage in seen.run.stages:
        if (
            stage.ended_tasks - stage.failed_tasks < limits.skew_tasks
            or stage.largest_task_bytes < limits.skew_bytes
        ):
            continue
        factor = stage.largest_task_bytes / max(stage.median_task_bytes, 1)
        yield Figure(
            "skew", f"stage {stage.stage_id}", factor,
            f"the largest of {stage.tasks} tasks read {stage.largest_task_bytes:,} bytes, the median task "
            f"{stage.median_task_bytes:,}",
        )  # fmt: skip


def spill(seen: Evidence, _: Thresholds) -> Iterator[Figure]:
    """Yield what each stage wrote to disk for want of memory."""
    for stage in seen.run.stages:
        if stage.spilled_bytes:
            yield Figure(
                "spill", f"stage {stage.stage_id}", stage.spilled_bytes,
                f"{stage.tasks} tasks wrote {stage.spilled_bytes:,} bytes to disk; the largest had "
                f"{stage.peak_memory_bytes:,} bytes of memory",
            )  # fmt: skip


def small_files(seen: Evidence, _: Thresholds) -> Iterator[Figure]:
    """Yield what opening the files of each table costs over reading them, of its worst scan.

    Files that were planned and not read, because of a LIMIT or a filter found at run time, are not opened.
    """
    return _worst(_opened(scan) for scan in seen.run.scans)


def _opened(scan: Scan) -> Figure:
    return _opening("small_files", scan.table, *_read_of(scan), "a scan opened")


def _read_of(scan: Scan) -> tuple[int, int]:
    """Return how many files of a scan were read, and their bytes on average times that."""
    files = scan.data_files if scan.splits is None else min(scan.splits, scan.data_files)
    return files, scan.bytes * files // max(scan.data_files, 1)


def file_explosion(seen: Evidence, _: Thresholds) -> Iterator[Figure]:
    """Yield what opening the files of each table's worst commit costs over reading them."""
    return _worst(
        _opening("file_explosion", commit.table, commit.added_data_files, commit.added_bytes, "a commit added")
        for commit in seen.reports.commits
    )


def _opening(cause: str, table: str, files: int, size_bytes: int, words: str) -> Figure:
    """Return what opening files costs over reading them, in bytes that could be read meanwhile."""
    average = size_bytes // max(files, 1)
    sentence = f"{words} {files:,} files of {average:,} bytes on average"
    return Figure(cause, f"table {table}", files * OPEN_COST_BYTES - size_bytes, sentence)


def _worst(figures: Iterator[Figure]) -> Iterator[Figure]:
    """Yield the largest figure of each place, the first of equal ones, where it is above 0."""
    worst: dict[str, Figure] = {}
    for figure in figures:
        if figure.value > 0 and (figure.where not in worst or figure.value > worst[figure.where].value):
            worst[figure.where] = figure
    yield from worst.values()


def retry_storm(seen: Evidence, limits: Thresholds) -> Iterator[Figure]:
    """Yield how many tries of each table's commits were lost for one that landed."""
    by_table: dict[str, list[Commit]] = defaultdict(list)
    for commit in seen.reports.commits:
        by_table[commit.table].append(commit)
    for table, commits in by_table.items():
        lost = sum(commit.tries - 1 for commit in commits)
        if lost >= limits.retries:
            sentence = f"{len(commits):,} commits took {lost + len(commits):,} tries, {lost:,} of them lost"
            yield Figure("retry_storm", f"table {table}", lost / len(commits), sentence)


def lost_executors(seen: Evidence, _: Thresholds) -> Iterator[Figure]:
    """Yield the executors that ended while the application went on."""
    for executor in seen.run.executors:
        reason = executor.reason or ""
        if executor.removed is None or _EXPECTED_END.search(reason) or errors.cause(reason) == "out_of_memory":
            continue
        where = f"executor {executor.executor_id}"
        yield Figure(
            "lost_executor", where, 1, f"it was removed: {reason.splitlines()[0][:300] if reason else '?'}"
        )


def slow_storage(seen: Evidence, limits: Thresholds) -> Iterator[Figure]:
    """Yield which share of its time each stage waited that reads slowly; a busy machine looks alike."""
    for stage in seen.run.stages:
        size_bytes = stage.bytes_in or _planned_bytes(seen.run, stage)
        if size_bytes < limits.wait_bytes or not stage.run_seconds:
            continue
        speed = size_bytes / stage.run_seconds
        if speed >= limits.wait_bytes_a_second:
            continue
        waited = stage.run_seconds - stage.cpu_seconds - stage.gc_seconds - stage.fetch_wait_seconds
        sentence = (
            f"a task read {speed:,.0f} bytes a second, and {waited:,.1f} of {stage.run_seconds:,.1f} s of its "
            "tasks were neither CPU nor collection; Python, or a busy machine, looks alike"
        )
        yield Figure("slow_storage", f"stage {stage.stage_id}", max(0.0, waited) / stage.run_seconds, sentence)


def _planned_bytes(run: Run, stage: Stage) -> float:
    """Return the bytes of the files that a stage's rows are of, where its tasks do not say what they read.

    Tasks count bytes of Hadoop's file systems alone: what Iceberg's S3FileIO reads is rows without bytes. Files
    are counted whole, so that the speed is rather too high.
    """
    if not stage.rows_in:
        return 0.0
    rows = sum(
        other.rows_in for other in run.stages if other.execution_id == stage.execution_id and not other.bytes_in
    )
    scans = [scan for scan in run.scans if scan.execution_id == stage.execution_id]
    return sum(_read_of(scan)[1] for scan in scans) * stage.rows_in / rows


def streams(seen: Evidence, _: Thresholds) -> Iterator[Figure]:
    """Yield how the batches of each stream grew, and how long it was silent before its end, or the log's."""
    for stream in seen.run.streams:
        where = f"stream {stream.name}"
        if (growth := _growth(stream)) is not None:
            yield Figure("stream_lag", where, *growth)
        if (silence := _silence(stream, seen.run.until)) is not None:
            yield Figure("stream_stuck", where, *silence)


def _silence(stream: Stream, until: datetime) -> tuple[float, str] | None:
    """Return how long after its last sign of life a stream ended, or the log; None where it keeps such pauses.

    A trigger may be minutes long, which no event says: a pause up to twice the longest one before is the stream's
    own. Of a stream that waits for rows Spark tells that it is idle.
    """
    if not stream.batches:
        return None
    ends = [batch.at + timedelta(seconds=batch.seconds) for batch in stream.batches]
    last = max([ends[-1], *([stream.idle] if stream.idle else [])])
    silent = ((stream.ended or until) - last).total_seconds()
    usual = max(((b.at - a.at).total_seconds() for a, b in pairwise(stream.batches)), default=0.0)
    if silent <= 2 * usual:
        return None
    number = stream.batches[-1].batch
    return (
        silent,
        f"its last batch, {number}, ended {silent:,.0f} s before the {'query' if stream.ended else 'log'}",
    )


def _growth(stream: Stream) -> tuple[float, str] | None:
    """Return how many times longer the last of a row of batches took than its first, where each took longer.

    The batches are those with rows, at least four one after another, each of more rows than the one before. A
    stream that keeps up may have one long batch; one whose work comes faster than it is done has longer and longer
    ones, as each reads what came during the one before: by a fourth each time, where the work of a second takes
    one and a fourth.
    """
    busy = [batch for batch in stream.batches if batch.rows][1:]  # the first one starts up
    best: tuple[float, str] | None = None
    first = 0
    for end, batch in enumerate(busy):
        if end and not (batch.seconds > busy[end - 1].seconds and batch.rows > busy[end - 1].rows):
            first = end
        factor = batch.seconds / max(busy[first].seconds, 0.001)
        if end - first >= _LAST_BATCHES and (best is None or factor > best[0]):
            best = factor, (
                f"batches {busy[first].batch} to {batch.batch} took {busy[first].seconds:,.1f} to "
                f"{batch.seconds:,.1f} s, with {busy[first].rows:,} to {batch.rows:,} rows"
            )  # fmt: skip
    return best


def told_by_errors(seen: Evidence, _: Thresholds) -> Iterator[Figure]:
    """Yield the causes that errors tell, each with how many of them and the line of the first."""
    texts: dict[str, list[str]] = defaultdict(list)
    for text in [*seen.errors, *seen.run.errors, *(executor.reason or "" for executor in seen.run.executors)]:
        if name := errors.cause(text):
            texts[name].append(text)
    tasks: dict[str, list[str]] = defaultdict(list)
    for task in seen.run.tasks:
        if task.failure and (name := errors.cause(task.failure)):
            tasks[name].append(task.failure)
    for name in [*dict.fromkeys([*texts, *tasks])]:
        if name == "lost_executor" and any(lost_executors(seen, _)):
            continue  # told by the executor itself
        first = (tasks.get(name) or texts[name])[0]
        count = len(tasks.get(name, ())) or len(texts[name])
        if name == "commit_conflicts":
            refused = sum(bool(e.error and errors.cause(e.error) == name) for e in seen.run.executions)
            count = max(refused, 1)
        yield Figure(name, "run", count, errors.line(first, name))


def gc_thrash(seen: Evidence, limits: Thresholds) -> Iterator[Figure]:
    """Yield which share of the time the JVM stood still, by its collector's log; task metrics cannot tell it.

    A long collection or two that make the heap free again, which are a third of a short run, are none.
    """
    if seen.collection is not None and seen.collection.seconds:
        if len(seen.collection.pauses) + len(seen.collection.stalls) < limits.gc_pauses:
            return
        stopped = seen.collection.pause_seconds + seen.collection.stall_seconds
        sentence = (
            f"{seen.collection.collector} paused {seen.collection.pause_seconds:,.2f} s and threads waited "
            f"{seen.collection.stall_seconds:,.2f} s for memory, within {seen.collection.seconds:,.1f} s"
        )
        yield Figure("gc_thrash", "JVM", stopped / seen.collection.seconds, sentence)


DETECTORS: Mapping[Callable[[Evidence, Thresholds], Iterator[Figure]], tuple[str, ...]] = MappingProxyType({
    skew: ("skew",), spill: ("spill",), small_files: ("small_files",), file_explosion: ("file_explosion",),
    retry_storm: ("retry_storm",), lost_executors: ("lost_executor",), slow_storage: ("slow_storage",),
    streams: ("stream_lag", "stream_stuck"), gc_thrash: ("gc_thrash",),
    told_by_errors: tuple(errors.PATTERNS),
})  # fmt: skip
