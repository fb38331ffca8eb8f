"""What an event log says of a run: stages, tasks, SQL executions, scans, executors, batches of streams."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from workbench._base.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Task:
    """A try of a task that ended.

    Attributes:
        stage_id: of its stage.
        stage_attempt: of its stage, from 0.
        partition: which part of the stage it is.
        executor_id: `driver` in local mode.
        succeeded: whether its result was taken.
        failure: why not, one line and where Spark has it the error's text; None of a task that succeeded.
        started: when.
        seconds: from launch to end.
        run_seconds: in the executor.
        cpu_seconds: of its thread alone, not of Python workers.
        gc_seconds: pauses of its JVM meanwhile; tasks of one executor count the same pause, each for itself.
        fetch_wait_seconds: waiting for shuffled data.
        rows_in, bytes_in: read, as Spark counts it: from files, from its cache (where a row is a batch of them),
            and rows of `spark.range`.
        rows_out, bytes_out: written to files.
        shuffle_bytes_read, shuffle_bytes_written: as in the files of a shuffle.
        spilled_bytes: written to disk because memory was too small.
        peak_memory_bytes: of execution.
    """

    stage_id: int
    stage_attempt: int
    partition: int
    executor_id: str
    succeeded: bool
    failure: str | None
    started: datetime
    seconds: float
    run_seconds: float
    cpu_seconds: float
    gc_seconds: float
    fetch_wait_seconds: float
    rows_in: int
    bytes_in: int
    rows_out: int
    bytes_out: int
    shuffle_bytes_read: int
    shuffle_bytes_written: int
    spilled_bytes: int
    peak_memory_bytes: int


@dataclass(frozen=True)
class Stage:
    """A try of a stage. Rows and bytes are of tasks that succeeded, times and spill of all that ended.

    Attributes:
        stage_id: number in the application.
        attempt: from 0.
        name: as Spark names it.
        execution_id: of the SQL execution that it belongs to; None of a job without SQL.
        started, ended: `ended` is None where the log has no end of it.
        failure: why it failed; None otherwise.
        tasks: how many it has.
        ended_tasks: tries that ended, failed ones included.
        failed_tasks: tries that did not succeed.
        largest_task_bytes, median_task_bytes: read by a task, from files and shuffles; 0 without tasks.
        others: sums of its tasks', as in `Task`; peak_memory_bytes is the largest task's.
    """

    stage_id: int
    attempt: int
    name: str
    execution_id: int | None
    started: datetime | None
    ended: datetime | None
    failure: str | None
    tasks: int
    ended_tasks: int
    failed_tasks: int
    run_seconds: float
    cpu_seconds: float
    gc_seconds: float
    fetch_wait_seconds: float
    rows_in: int
    bytes_in: int
    rows_out: int
    bytes_out: int
    shuffle_bytes_read: int
    shuffle_bytes_written: int
    spilled_bytes: int
    peak_memory_bytes: int
    largest_task_bytes: int
    median_task_bytes: int


@dataclass(frozen=True)
class Scan:
    """What a SQL execution read of an Iceberg table, by Iceberg's own figures in the event log.

    What was planned need not be read: a filter that a join or a MERGE finds at run time, or a LIMIT, leaves splits
    out.

    Attributes:
        execution_id: of the SQL execution.
        table: as the plan names it.
        data_files, delete_files: that were planned.
        skipped_files: data files that their own figures ruled out.
        manifests, skipped_manifests: of data files.
        bytes: sizes of the data files, whole.
        planning_seconds: on the driver.
        rows: that came out; None where the plan does not say.
        splits: files, or parts of large ones, that were given to tasks that ended; None where none did.
    """

    execution_id: int
    table: str
    data_files: int
    delete_files: int
    skipped_files: int
    manifests: int
    skipped_manifests: int
    bytes: int
    planning_seconds: float
    rows: int | None
    splits: int | None


@dataclass(frozen=True)
class Execution:
    """A SQL execution.

    Attributes:
        execution_id: number in the application.
        description: the statement or the call, without secrets.
        started, ended: `ended` is None where the log has no end of it.
        error: what it failed with; None where it succeeded or has no end.
        scans: of Iceberg tables.
    """

    execution_id: int
    description: str
    started: datetime
    ended: datetime | None
    error: str | None
    scans: tuple[Scan, ...]

    @property
    def seconds(self) -> float | None:
        """Return how long it took; None where the log has no end of it."""
        return None if self.ended is None else (self.ended - self.started).total_seconds()


@dataclass(frozen=True)
class Executor:
    """An executor that the log names; in local mode there is none.

    Attributes:
        executor_id: as Spark names it.
        cores: that it has.
        added, removed: `removed` is None where the log has no end of it.
        reason: why it was removed.
    """

    executor_id: str
    cores: int
    added: datetime
    removed: datetime | None
    reason: str | None


@dataclass(frozen=True)
class Batch:
    """A progress report of a stream.

    Attributes:
        batch: number.
        at: when it was triggered.
        seconds: it took.
        rows: read in it.
        rows_behind: of the sources, that were there and not read; None where they do not say.
        rows_too_late: dropped behind the watermark.
    """

    batch: int
    at: datetime
    seconds: float
    rows: int
    rows_behind: int | None
    rows_too_late: int


@dataclass(frozen=True)
class Stream:
    """A streaming query, from one start to its end.

    Attributes:
        query_id: stays the same when the query goes on from its checkpoint.
        name: of the query, or its id.
        started: None where the log begins later.
        ended: None where the log has no end of it.
        error: what it failed with.
        batches: in their order.
        idle: when it last said that it has nothing to read; None where it never did.
    """

    query_id: str
    name: str
    started: datetime | None
    ended: datetime | None
    error: str | None
    batches: tuple[Batch, ...]
    idle: datetime | None = None


@dataclass(frozen=True)
class Run:
    """What an event log says of an application.

    Attributes:
        application_id, name, spark_version: as the log has them.
        started: the application, the watch where that began later, or the first event.
        ended: None where the log has no end: it was cut off, killed, or goes on.
        until: time of the last event.
        settings: Spark's, secrets hidden; empty where the log has none.
        stages, tasks, executions, executors, streams: in the order of their starts.
        errors: what failed, a text each: executions, stages, streams; each text once.
        cut_off: whether the file ends within a line or a compressed block.
        compacted: whether Spark dropped older events of a rolling log on purpose.
        missing_tasks: tasks of stages that ended well of which no end is in the log: events were dropped, and what
            is summed over tasks is too small.
        missing_ends: executions and stages without an end in a log that has an end.
    """

    application_id: str
    name: str
    spark_version: str
    started: datetime
    ended: datetime | None
    until: datetime
    settings: Mapping[str, str]
    stages: tuple[Stage, ...]
    tasks: tuple[Task, ...]
    executions: tuple[Execution, ...]
    executors: tuple[Executor, ...]
    streams: tuple[Stream, ...]
    errors: tuple[str, ...]
    cut_off: bool
    compacted: bool
    missing_tasks: int
    missing_ends: int

    @property
    def whole(self) -> bool:
        """Return whether the log has an end and no events of it were seen to be missing."""
        return (
            self.ended is not None
            and not (self.cut_off or self.compacted)
            and self.missing_tasks == self.missing_ends == 0
        )

    @property
    def scans(self) -> tuple[Scan, ...]:
        """Return what was read of Iceberg tables."""
        return tuple(scan for execution in self.executions for scan in execution.scans)

    def total(self, name: str) -> float:
        """Return the sum of a figure over all tasks that ended, by its name in `Task`, such as `cpu_seconds`.

        Raises:
            ValueError: tasks have no such figure.
        """
        if name not in FIGURES:
            raise ArgumentError(f"tasks have no figure {name}; they have {', '.join(FIGURES)}")
        return sum(getattr(task, name) for task in self.tasks)


FIGURES = (
    "seconds", "run_seconds", "cpu_seconds", "gc_seconds", "fetch_wait_seconds", "rows_in", "bytes_in", "rows_out",
    "bytes_out", "shuffle_bytes_read", "shuffle_bytes_written", "spilled_bytes",
)  # fmt: skip
