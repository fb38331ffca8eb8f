"""Metrics of a run as OpenMetrics text, and the dashboard and alert rules that are made of the same definitions.

For a house that has Prometheus: the text is for node_exporter's textfile collector, a push gateway, or the
    endpoint
of `serving`. Names, units and types by OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/):
base units, the unit as suffix, `_total` of counters. All are gauges but the counts of a run: a run that ended does
not count on.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench._base import secrets
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.causes import CAUSES, Incident
from workbench.metrics.reports import NONE, Commit, Reports
from workbench.metrics.runs import Run

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
Sample = tuple[Mapping[str, str], float]


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        name: of the family; a counter's samples have `_total` behind it.
        kind: gauge or counter.
        unit: the last word of its name, or empty where it is a count or a state.
        words: what it says.
        labels: beside `run` and `job`.
        samples: (labels, value) of a run.
    """

    name: str
    kind: Literal["gauge", "counter"]
    unit: str
    words: str
    labels: tuple[str, ...]
    samples: Callable[[Run, Reports, Sequence[Incident]], Iterator[Sample]]


def _of_tasks(name: str) -> Callable[..., Iterator[Sample]]:
    return lambda run, reports, incidents: iter([({}, run.total(name))])


def _of_tables(name: str, source: Literal["commits", "scans"]) -> Callable[..., Iterator[Sample]]:
    def samples(run: Run, reports: Reports, incidents: Sequence[Incident]) -> Iterator[Sample]:
        sums: dict[str, float] = defaultdict(float)
        for entry in reports.commits if source == "commits" else run.scans:
            sums[entry.table] += 1 if name == "count" else getattr(entry, name)
        return iter([({"table": table}, value) for table, value in sorted(sums.items())])

    return samples


def _last_of_tables(name: str) -> Callable[..., Iterator[Sample]]:
    return lambda run, reports, incidents: iter(
        [({"table": commit.table}, getattr(commit, name)) for commit in _last(reports)]
    )


def _last(reports: Reports) -> list[Commit]:
    """Return the last commit of each table, by the tables' names."""
    last = {commit.table: commit for commit in reports.commits}
    return [last[table] for table in sorted(last)]


def _tasks(run: Run, reports: Reports, incidents: Sequence[Incident]) -> Iterator[Sample]:
    succeeded = sum(task.succeeded for task in run.tasks)
    yield {"outcome": "succeeded"}, succeeded
    yield {"outcome": "failed"}, len(run.tasks) - succeeded


def _executions(run: Run, reports: Reports, incidents: Sequence[Incident]) -> Iterator[Sample]:
    failed = sum(execution.error is not None for execution in run.executions)
    unended = sum(execution.ended is None for execution in run.executions)
    yield {"outcome": "succeeded"}, len(run.executions) - failed - unended
    yield {"outcome": "failed"}, failed
    yield {"outcome": "not_ended"}, unended


def _incidents(run: Run, reports: Reports, incidents: Sequence[Incident]) -> Iterator[Sample]:
    for cause in CAUSES.values():
        count = sum(incident.cause == cause.name for incident in incidents)
        yield {"cause": cause.name, "severity": cause.severity}, count


def _seconds(run: Run, reports: Reports, incidents: Sequence[Incident]) -> Iterator[Sample]:
    yield {}, ((run.ended or run.until) - run.started).total_seconds()


def _retries(run: Run, reports: Reports, incidents: Sequence[Incident]) -> Iterator[Sample]:
    sums: dict[str, float] = defaultdict(float)
    for commit in reports.commits:
        sums[commit.table] += commit.tries - 1
    for table, value in sorted(sums.items()):
        yield {"table": table}, value


PREFIX = "workbench_run_"
METRICS: tuple[Metric, ...] = (
    Metric(
        f"{PREFIX}duration_seconds", "gauge", "seconds", "From start to end, or to the last event.", (), _seconds
    ),
    Metric(
        f"{PREFIX}start_timestamp_seconds",
        "gauge",
        "seconds",
        "When the run started, Unix time.",
        (),
        lambda run, reports, incidents: iter([({}, run.started.timestamp())]),
    ),
    Metric(
        f"{PREFIX}ended",
        "gauge",
        "",
        "Whether the log has an end: 1, or 0 where it was cut off or goes on.",
        (),
        lambda run, reports, incidents: iter([({}, float(run.ended is not None))]),
    ),
    Metric(
        f"{PREFIX}log_whole",
        "gauge",
        "",
        "Whether no event is known to be missing; where 0, sums are too small.",
        (),
        lambda run, reports, incidents: iter([({}, float(run.whole and not reports.dropped_events))]),
    ),
    Metric(f"{PREFIX}tasks", "counter", "", "Tries of tasks that ended.", ("outcome",), _tasks),
    Metric(f"{PREFIX}executions", "counter", "", "SQL executions.", ("outcome",), _executions),
    Metric(
        f"{PREFIX}cpu_seconds",
        "counter",
        "seconds",
        "CPU of tasks, without Python workers.",
        (),
        _of_tasks("cpu_seconds"),
    ),
    Metric(
        f"{PREFIX}task_seconds", "counter", "seconds", "Time of tasks in executors.", (), _of_tasks("run_seconds")
    ),
    Metric(f"{PREFIX}read_bytes", "counter", "bytes", "Read from files.", (), _of_tasks("bytes_in")),
    Metric(f"{PREFIX}written_bytes", "counter", "bytes", "Written to files.", (), _of_tasks("bytes_out")),
    Metric(
        f"{PREFIX}shuffle_read_bytes",
        "counter",
        "bytes",
        "Read from shuffles.",
        (),
        _of_tasks("shuffle_bytes_read"),
    ),
    Metric(
        f"{PREFIX}spilled_bytes",
        "counter",
        "bytes",
        "Written to disk for want of memory.",
        (),
        _of_tasks("spilled_bytes"),
    ),
    Metric(
        f"{PREFIX}scan_data_files",
        "counter",
        "",
        "Data files read, by table.",
        ("table",),
        _of_tables("data_files", "scans"),
    ),
    Metric(
        f"{PREFIX}scan_skipped_files",
        "counter",
        "",
        "Data files ruled out by their figures, by table.",
        ("table",),
        _of_tables("skipped_files", "scans"),
    ),
    Metric(
        f"{PREFIX}scan_planning_seconds",
        "counter",
        "seconds",
        "Time of planning scans, by table.",
        ("table",),
        _of_tables("planning_seconds", "scans"),
    ),
    Metric(
        f"{PREFIX}commits",
        "counter",
        "",
        "Commits that landed, by table.",
        ("table",),
        _of_tables("count", "commits"),
    ),
    Metric(
        f"{PREFIX}commit_retries",
        "counter",
        "",
        "Tries of commits that landed which were lost, by table.",
        ("table",),
        _retries,
    ),
    Metric(
        f"{PREFIX}table_data_files",
        "gauge",
        "",
        "Data files of the table behind its last commit.",
        ("table",),
        _last_of_tables("total_data_files"),
    ),
    Metric(
        f"{PREFIX}table_size_bytes",
        "gauge",
        "bytes",
        "Files of the table behind its last commit.",
        ("table",),
        _last_of_tables("total_bytes"),
    ),
    Metric(
        f"{PREFIX}incidents",
        "gauge",
        "",
        "Incidents that were found, by cause.",
        ("cause", "severity"),
        _incidents,
    ),
)


@checked
def text(
    run: Run,
    reports: Reports = NONE,
    incidents: Sequence[Incident] = (),
    *,
    job: str,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Write a run's metrics as OpenMetrics text.

    Args:
        run: of `events.read`.
        reports: of `reports.read`.
        incidents: of `incidents.find`.
        job: what runs again and again, such as the notebook's name; label `workload`, as Prometheus sets `job`
            itself.
        labels: further labels of each sample. A label whose value is another one in each run makes new series each
            time, which Prometheus keeps in memory: the run's id is not among ours.

    Returns:
        The text, with `# EOF` at its end. Values of labels have no secrets, as far as they can be told.

    Raises:
        ValueError: a label has a name that OpenMetrics does not allow, or one of a metric's own.
    """
    common = {"workload": job} | dict(labels or {})
    own = {name for metric in METRICS for name in metric.labels} | {"job", "instance"}
    for name in common:
        if not NAME.fullmatch(name) or ":" in name or name.startswith("__"):
            raise ArgumentError(f"{name!r} is not a name of a label: letters, digits and _, no digit first")
        if name in own:
            raise ArgumentError(
                f"the label {name} is set by the metrics or by Prometheus itself; choose another name"
            )
    lines = []
    for metric in METRICS:
        lines += [f"# TYPE {metric.name} {metric.kind}"]
        lines += [f"# UNIT {metric.name} {metric.unit}"] if metric.unit else []
        lines += [f"# HELP {metric.name} {metric.words}"]
        end = "_total" if metric.kind == "counter" else ""
        for own_labels, value in metric.samples(run, reports, incidents):
            lines.append(f"{metric.name}{end}{_labelled(common | dict(own_labels))} {_number(value)}")
    return "\n".join([*lines, "# EOF", ""])


def names() -> frozenset[str]:
    """Return the names of all series, as queries have them."""
    return frozenset(metric.name + ("_total" if metric.kind == "counter" else "") for metric in METRICS)


def _labelled(labels: Mapping[str, str]) -> str:
    pairs = []
    for name, value in labels.items():
        shown = secrets.redact(str(secrets.hide(name, str(value))))
        escaped = shown.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
        pairs.append(f'{name}="{escaped}"')
    return "{" + ",".join(pairs) + "}"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
