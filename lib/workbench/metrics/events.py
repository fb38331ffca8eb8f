"""Read Spark's event log: what an application did, by its own account, also where it was killed.

    run = events.read("watched/local-1764288000000.zstd.inprogress")
    [(stage.name, stage.spilled_bytes) for stage in run.stages]

The events are those of Spark's JsonProtocol (core/src/main/scala/org/apache/spark/util/JsonProtocol.scala), of
Spark 3 and 4.
"""

import json
import statistics
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench._base import secrets
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics import folding, plans
from workbench.metrics.folding import moment
from workbench.metrics.logs import Lines
from workbench.metrics.runs import Execution, Executor, Run, Stage, Task

_SQL = "org.apache.spark.sql.execution.ui.SparkListener"
_STREAM = "org.apache.spark.sql.streaming.StreamingQueryListener$"
_OLDEST = 3
_SUMMED = (
    "run_seconds", "cpu_seconds", "gc_seconds", "fetch_wait_seconds", "spilled_bytes",
)  # fmt: skip
_SUMMED_OF_SUCCEEDED = (
    "rows_in",
    "bytes_in",
    "rows_out",
    "bytes_out",
    "shuffle_bytes_read",
    "shuffle_bytes_written",
)


@checked
def read(path: str | Path) -> Run:
    """Read an event log.

    Args:
        path: the file, plain or zstd, finished or `.inprogress`; the folder `eventlog_v2_…` of a rolling log; or
            a folder that holds one log, as that of `watch`.

    Returns:
        Run. Settings, statements and errors have no secrets, as far as they can be told by their form or name.
        Where the log is cut off, the run is what it tells until there, and `cut_off` says so.

    Raises:
        ValueError: there is no such log, it is of another program or of a Spark before 3, a part is missing, a
            line in the middle is damaged, or it is compressed by another codec than zstd.
    """
    lines = Lines(Path(path))
    log = _Log()
    damaged = None
    for where, line in lines:
        if damaged is not None:
            raise ArgumentError(f"{damaged} is not an event: the log is damaged before its end")
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except ValueError:
            damaged = where
            continue
        if not isinstance(event, dict) or "Event" not in event:
            raise ArgumentError(f"{where} is JSON and not an event of Spark: {path} is not an event log")
        log.take(event)
    if damaged is not None:
        if not log.events:
            raise ArgumentError(f"{path} is not an event log: {damaged} is not JSON")
        lines.cut_off = True
    return log.run(path, cut_off=lines.cut_off, compacted=lines.compacted)


class _Log:
    """What was taken of the events until now."""

    def __init__(self) -> None:
        self.events = 0
        self.application: dict[str, Any] = {}
        self.version = ""
        self.ended: int | None = None
        self.first: int | None = None
        self.last = 0
        self.settings: dict[str, str] = {}
        self.tasks: list[Task] = []
        self.submitted: dict[tuple[int, int], dict[str, Any]] = {}
        self.completed: dict[tuple[int, int], dict[str, Any]] = {}
        self.jobs: set[int] = set()  # that began in the log, as the stages
        self.stages: set[int] = set()
        self.execution_of: dict[int, int] = {}
        self.sql = plans.Plans()
        self.executors: dict[str, Executor] = {}
        self.streams = folding.Streams()
        self.errors: list[str] = []

    def take(self, event: Mapping[str, Any]) -> None:
        """Fold an event in; of those that say nothing here only the name is looked at."""
        self.events += 1
        name = str(event["Event"])
        name = name.removeprefix(_SQL).removeprefix(_STREAM).removeprefix("SparkListener")
        if take := getattr(self, f"_take_{name}", None):
            try:
                take(event)
            except (KeyError, TypeError, AttributeError) as error:
                raise ArgumentError(
                    f"event {self.events} of the log, {name}, has another form than Spark "
                    f"{self.version or '3 and 4'} writes: {type(error).__name__} {error}"
                ) from None

    def _at(self, milliseconds: int | None) -> None:
        if milliseconds:
            self.first = milliseconds if self.first is None else min(self.first, milliseconds)
            self.last = max(self.last, milliseconds)

    def _take_LogStart(self, event: Mapping[str, Any]) -> None:
        self.version = str(event["Spark Version"])
        major = self.version.split(".")[0]
        if not major.isdigit() or int(major) < _OLDEST:
            raise ArgumentError(f"the log is of Spark {self.version}; logs of Spark {_OLDEST} and 4 are read")

    def _take_ApplicationStart(self, event: Mapping[str, Any]) -> None:
        self.application = dict(event)
        self._at(event["Timestamp"])

    def _take_ApplicationEnd(self, event: Mapping[str, Any]) -> None:
        self.ended = event["Timestamp"]
        self._at(self.ended)

    def _take_EnvironmentUpdate(self, event: Mapping[str, Any]) -> None:
        properties = event.get("Spark Properties") or {}
        pairs = properties.items() if isinstance(properties, Mapping) else properties
        self.settings = {key: secrets.redact(secrets.hide(key, str(value))) for key, value in pairs}

    def _take_ExecutorAdded(self, event: Mapping[str, Any]) -> None:
        name, cores = str(event["Executor ID"]), int(event["Executor Info"].get("Total Cores", 0))
        self._at(event["Timestamp"])
        self.executors[name] = Executor(name, cores, moment(event["Timestamp"]), None, None)

    def _take_ExecutorRemoved(self, event: Mapping[str, Any]) -> None:
        name, at = str(event["Executor ID"]), event["Timestamp"]
        before = self.executors.get(name)
        self._at(at)
        self.executors[name] = Executor(
            name,
            before.cores if before else 0,
            before.added if before else moment(at),
            moment(at),
            secrets.redact(str(event.get("Removed Reason", ""))),
        )

    def _take_JobStart(self, event: Mapping[str, Any]) -> None:
        self._at(event["Submission Time"])
        self.jobs.add(event["Job ID"])
        self.stages |= set(event["Stage IDs"])
        execution = (event.get("Properties") or {}).get("spark.sql.execution.id")
        if execution is not None:
            self.execution_of |= {stage: int(execution) for stage in event["Stage IDs"]}

    def _take_JobEnd(self, event: Mapping[str, Any]) -> None:
        # Spark wakes the caller of a job that failed before it posts the ends of the job, its stages, its last
        # tasks and its SQL execution, so that they may come into the log of what the caller did next, and are no
        # failures of that.
        if event["Job ID"] not in self.jobs:
            return
        self._at(event["Completion Time"])
        failure = event["Job Result"].get("Exception") or {}
        if event["Job Result"]["Result"] != "JobSucceeded":
            self._failed(failure.get("Message") or "a job failed")

    def _take_StageSubmitted(self, event: Mapping[str, Any]) -> None:
        stage = event["Stage Info"]
        self._at(stage.get("Submission Time"))
        self.stages.add(stage["Stage ID"])
        self.submitted[stage["Stage ID"], stage["Stage Attempt ID"]] = stage

    def _take_StageCompleted(self, event: Mapping[str, Any]) -> None:
        stage = event["Stage Info"]
        if stage["Stage ID"] not in self.stages:
            return
        self._at(stage.get("Completion Time"))
        self.completed[stage["Stage ID"], stage["Stage Attempt ID"]] = stage
        if failure := stage.get("Failure Reason"):
            self._failed(failure)

    def _take_TaskEnd(self, event: Mapping[str, Any]) -> None:
        if event["Stage ID"] not in self.stages:
            return
        self._at(event["Task Info"]["Finish Time"])
        self.tasks.append(folding.task(event))
        execution = self.execution_of.get(event["Stage ID"])
        self.sql.take_updates(execution, event["Task Info"].get("Accumulables", ()))

    def _take_SQLExecutionStart(self, event: Mapping[str, Any]) -> None:
        self._at(event["time"])
        self.sql.start(event)

    def _take_SQLAdaptiveExecutionUpdate(self, event: Mapping[str, Any]) -> None:
        self.sql.plan(event["executionId"], event["sparkPlanInfo"])

    def _take_DriverAccumUpdates(self, event: Mapping[str, Any]) -> None:
        self.sql.take_driver(event["executionId"], event["accumUpdates"])

    def _take_SQLExecutionEnd(self, event: Mapping[str, Any]) -> None:
        if event["executionId"] not in self.sql.started:
            return
        self._at(event["time"])
        self.sql.end(event)
        if error := event.get("errorMessage"):
            self._failed(error)

    def _take_QueryProgressEvent(self, event: Mapping[str, Any]) -> None:
        progress = event["progress"]
        batch = self.streams.progress(json.loads(progress) if isinstance(progress, str) else progress)
        self._at(int((batch.at.timestamp() + batch.seconds) * 1000))

    def _take_QueryStartedEvent(self, event: Mapping[str, Any]) -> None:
        self.streams.start(event)

    def _take_QueryIdleEvent(self, event: Mapping[str, Any]) -> None:
        self._at(int(self.streams.idle(event).timestamp() * 1000))

    def _take_QueryTerminatedEvent(self, event: Mapping[str, Any]) -> None:
        self.streams.end(event, moment(self.last))
        if event.get("exception"):
            self._failed(event["exception"])

    def _failed(self, text: object) -> None:
        sentence = secrets.redact(str(text))
        if sentence not in self.errors:
            self.errors.append(sentence)

    def run(self, path: str | Path, *, cut_off: bool, compacted: bool) -> Run:
        """Return what the events say."""
        if not self.events or not (self.version or self.application):
            raise ArgumentError(
                f"{path} is not a whole event log: it has {self.events} events, and neither Spark's version nor "
                "an application is among them"
            )
        started = self.application.get("Timestamp") or self.first or 0
        stages, executions = self._stages(), self.sql.executions()
        ends = self._missing_ends(executions) if self.ended is not None else 0
        return Run(
            application_id=str(self.application.get("App ID", "")),
            name=secrets.redact(str(self.application.get("App Name", ""))),
            spark_version=self.version,
            started=moment(started),
            ended=None if self.ended is None else moment(self.ended),
            until=moment(max(self.last, started)),
            settings=self.settings,
            stages=stages,
            tasks=tuple(sorted(self.tasks, key=lambda task: task.started)),
            executions=executions,
            executors=tuple(sorted(self.executors.values(), key=lambda executor: executor.added)),
            streams=self.streams.all(),
            errors=tuple(self.errors),
            cut_off=cut_off,
            compacted=compacted,
            missing_tasks=0 if compacted else self._missing_tasks(),
            missing_ends=ends,
        )

    def _missing_ends(self, executions: tuple[Execution, ...]) -> int:
        stages = [key for key in self.submitted if key not in self.completed]
        return len(stages) + sum(execution.ended is None for execution in executions)

    def _missing_tasks(self) -> int:
        """Return how many tasks ended well, by what their stages say, without an end in the log.

        A try of a stage after a lost shuffle counts on parts that an earlier try finishes, so that the parts are
        counted over its tries.
        """
        parts: dict[int, set[int]] = defaultdict(set)
        for task in self.tasks:
            if task.succeeded:
                parts[task.stage_id].add(task.partition)
        expected: dict[int, int] = {}
        for (number, attempt), stage in self.completed.items():
            if not stage.get("Failure Reason") and (number, attempt) in self.submitted:
                expected[number] = max(expected.get(number, 0), stage["Number of Tasks"])
        return sum(max(0, count - len(parts[number])) for number, count in expected.items())

    def _stages(self) -> tuple[Stage, ...]:
        by_stage: dict[tuple[int, int], list[Task]] = defaultdict(list)
        for task in self.tasks:
            by_stage[task.stage_id, task.stage_attempt].append(task)
        infos = self.submitted | self.completed
        stages = [
            _stage(info, by_stage[key], self.execution_of.get(key[0])) for key, info in sorted(infos.items())
        ]
        return tuple(sorted(stages, key=lambda stage: stage.started or datetime.max.replace(tzinfo=UTC)))


def _stage(info: Mapping[str, Any], tasks: list[Task], execution: int | None) -> Stage:
    succeeded = [task for task in tasks if task.succeeded]
    sizes = [task.bytes_in + task.shuffle_bytes_read for task in succeeded]
    sums: dict[str, Any] = {name: sum(getattr(task, name) for task in tasks) for name in _SUMMED}
    sums |= {name: sum(getattr(task, name) for task in succeeded) for name in _SUMMED_OF_SUCCEEDED}
    failure = info.get("Failure Reason")
    return Stage(
        stage_id=info["Stage ID"],
        attempt=info["Stage Attempt ID"],
        name=secrets.redact(str(info.get("Stage Name", ""))),
        execution_id=execution,
        started=moment(info["Submission Time"]) if info.get("Submission Time") else None,
        ended=moment(info["Completion Time"]) if info.get("Completion Time") else None,
        failure=secrets.redact(failure) if failure else None,
        tasks=info["Number of Tasks"],
        ended_tasks=len(tasks),
        failed_tasks=len(tasks) - len(succeeded),
        peak_memory_bytes=max((task.peak_memory_bytes for task in tasks), default=0),
        largest_task_bytes=max(sizes, default=0),
        median_task_bytes=int(statistics.median(sizes)) if sizes else 0,
        **sums,
    )
