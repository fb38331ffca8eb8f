"""Find what went wrong with a run: by figures against thresholds whose origin is named, and by its errors.

run, kept = events.read(folder), reports.read(folder)
for incident in incidents.find(run, kept):
    print(incident.cause, incident.where, incident.evidence, incidents.cures(incident))
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench._base import secrets
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.causes import CAUSES, SOURCES, Cause, Incident, Thresholds
from workbench.metrics.collectors.results import Collection
from workbench.metrics.cures import Cure, cures
from workbench.metrics.detectors import DETECTORS, Evidence, Figure
from workbench.metrics.reports import NONE, Reports
from workbench.metrics.runs import Run
from workbench.metrics.trials import Trial, mitigate, trial

__all__ = [
    "CAUSES",
    "SOURCES",
    "Cause",
    "Cure",
    "Incident",
    "Slower",
    "Thresholds",
    "Trial",
    "calibrate",
    "cures",
    "find",
    "measure",
    "mitigate",
    "slower",
    "trial",
]

_SEVERITIES = ("failed", "slow", "hint")
_MARGIN = 1.5  # by which a calibrated threshold is above the highest healthy figure


@checked
def find(
    run: Run,
    reports: Reports = NONE,
    *,
    error: str | BaseException | None = None,
    collection: Collection | None = None,
    thresholds: Thresholds | None = None,
) -> tuple[Incident, ...]:
    """Find the incidents of a run.

    Where nothing of a kind was kept its causes are not looked for: without reports there is no `retry_storm` and
    no `file_explosion`, without a collector's log no `gc_thrash`. Of an error that nobody saw but the caller (a
    script that ended before Spark did anything) the log has nothing: hand it in.

    Args:
        run: of `events.read`.
        reports: of `reports.read`.
        error: what the job ended with.
        collection: of `collectors.read`, the log of the driver's or an executor's collector.
        thresholds: left out, the defaults; `calibrate` makes others.

    Returns:
        Incidents: those that failed something first, then by how far they are above their threshold.

    Raises:
        ValueError: an argument is of another type.
    """
    limits = thresholds or Thresholds()
    incidents = [
        incident
        for figure in measure(run, reports, error=error, collection=collection, thresholds=limits)
        if (incident := _judged(figure, limits)) is not None
    ]
    return tuple(
        sorted(incidents, key=lambda i: (_SEVERITIES.index(i.severity), -i.figure / i.threshold, i.cause, i.where))
    )


@checked
def measure(
    run: Run,
    reports: Reports = NONE,
    *,
    error: str | BaseException | None = None,
    collection: Collection | None = None,
    thresholds: Thresholds | None = None,
) -> tuple[Figure, ...]:
    """Measure a run by every cause, also where the figure is below its threshold.

    Args:
        run: as of `find`.
        reports: as of `find`.
        error: as of `find`.
        collection: as of `find`.
        thresholds: as of `find`; those that say when a figure counts at all, such as `skew_bytes`.

    Returns:
        Figures in the order of the detectors.
    """
    text = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
    seen = Evidence(run, reports, (secrets.redact(text),) if text else (), collection)
    return tuple(figure for detect in DETECTORS for figure in detect(seen, thresholds or Thresholds()))


def _judged(figure: Figure, limits: Thresholds) -> Incident | None:
    cause = CAUSES[figure.cause]
    threshold = 1.0 if cause.threshold == "once" else float(getattr(limits, cause.threshold))
    if figure.value < threshold:
        return None
    source = SOURCES[cause.threshold]
    if cause.threshold != "once" and getattr(limits, cause.threshold) != getattr(Thresholds(), cause.threshold):
        source = "the caller's, or calibrated"
    return Incident(figure.cause, figure.where, figure.value, threshold, source, figure.sentence)


@checked
def calibrate(healthy: Sequence[Run], reports: Sequence[Reports] = ()) -> Thresholds:
    """Raise the thresholds above what runs show that are known to be healthy.

    No threshold is lowered: that healthy runs show little of a thing does not make a little more of it an
        incident.

    Args:
        healthy: runs of the same kind of jobs, on the same machines; at least 3.
        reports: of each of them, in the same order; or none.

    Returns:
        Thresholds, each the default or one and a half times the highest healthy figure.

    Raises:
        ValueError: there are fewer than 3 runs, or another number of reports.
    """
    if len(healthy) < 3:
        raise ArgumentError(
            f"healthy must be at least 3 runs, found {len(healthy)}: fewer do not show what is usual"
        )
    if reports and len(reports) != len(healthy):
        raise ArgumentError(f"reports must be one of each run, found {len(reports)} of {len(healthy)} runs")
    limits = Thresholds()
    kept = list(reports) or [NONE] * len(healthy)
    highest: dict[str, float] = {}
    for run, report in zip(healthy, kept, strict=True):
        for figure in measure(run, report):
            name = CAUSES[figure.cause].threshold
            if name != "once":
                highest[name] = max(highest.get(name, 0.0), figure.value)
    raised = {name: value * _MARGIN for name, value in highest.items() if value * _MARGIN > getattr(limits, name)}
    whole: dict[str, Any] = {
        name: int(value) if isinstance(getattr(limits, name), int) else value for name, value in raised.items()
    }
    return replace(limits, **whole)


@dataclass(frozen=True)
class Slower:
    """A run against its history.

    Attributes:
        factor: its time over the median of the earlier runs.
        grown: figures that grew, (name, now, median of the earlier ones), the one that grew most first.
        sentence: what it comes to.
    """

    factor: float
    grown: tuple[tuple[str, float, float], ...]
    sentence: str


_COMPARED = {
    "rows_in": "rows read",
    "bytes_in": "bytes read",
    "shuffle_bytes_read": "bytes of shuffles read",
    "spilled_bytes": "bytes spilled",
    "cpu_seconds": "CPU seconds",
    "gc_seconds": "seconds of collection in tasks",
    "fetch_wait_seconds": "seconds of waiting for shuffles",
}


@checked
def slower(run: Run, earlier: Sequence[Run], *, factor: float = 1.5) -> Slower | None:
    """Compare a run with earlier ones of the same job, and name what grew where it is slower.

    Args:
        run: of now.
        earlier: at least 3.
        factor: of the earlier runs' median time, from which on a run is slower.

    Returns:
        Slower; None where the run is not slower.

    Raises:
        ValueError: there are fewer than 3 earlier runs, or a log of any of them is not whole, so that its figures
            are too small.
    """
    if len(earlier) < 3:
        raise ArgumentError(f"earlier must be at least 3 runs, found {len(earlier)}")
    if partial := [other for other in (run, *earlier) if not other.whole]:
        raise ArgumentError(
            f"the log of {partial[0].application_id or 'a run'} is not whole, its figures are too small"
        )
    now = _seconds(run)
    usual = statistics.median(_seconds(other) for other in earlier)
    if now < factor * usual or not usual:
        return None
    grown = []
    for name in [*_COMPARED, "data_files", "planning_seconds", "tasks"]:
        value, median = _figure(run, name), statistics.median(_figure(other, name) for other in earlier)
        if value >= factor * median and value > 0:
            grown.append((_COMPARED.get(name, name.replace("_", " ")), value, median))
    grown.sort(key=lambda entry: -entry[1] / max(entry[2], 1e-9))
    first = f"it took {now:,.1f} s, {now / usual:.1f} times the median of {len(earlier)} earlier runs"
    if not grown:
        return Slower(
            now / usual, (), f"{first}; no figure of it grew, so that it waited, or the machine was busy"
        )
    name, value, median = grown[0]
    return Slower(now / usual, tuple(grown), f"{first}; most grew {name}: {value:,.6g} after {median:,.6g}")


def _seconds(run: Run) -> float:
    return ((run.ended or run.until) - run.started).total_seconds()


def _figure(run: Run, name: str) -> float:
    if name == "tasks":
        return float(len(run.tasks))
    if name in ("data_files", "planning_seconds"):
        return float(sum(getattr(scan, name) for scan in run.scans))
    return run.total(name)
