"""Cures that were tried: a cure that does not help is said not to help.

A cure is judged by a repeat of the run: by the figure of the incident itself, and by the CPU that the run takes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.causes import Incident, Thresholds
from workbench.metrics.collectors.results import Collection
from workbench.metrics.cures import Cure, cures
from workbench.metrics.detectors import DETECTORS, Evidence
from workbench.metrics.reports import NONE, Reports
from workbench.metrics.runs import Run

Verdict = Literal["helped", "no effect", "worse", "void"]
_TOLERANCE = 0.1  # of CPU seconds, which differ as much between two runs of one job


@dataclass(frozen=True)
class Trial:
    """A cure that was tried.

    Attributes:
        incident: that it was for.
        cure: that was tried.
        verdict: helped: the incident is gone, or the run takes a tenth less CPU; no effect; worse: more CPU by a
            tenth, but where the run before failed and this one does not, a larger figure, or a new failure; void:
            the answers differ, or nobody compared them.
        figure_before, figure_after: of the incident's cause, at its worst; 0 where it does not occur.
        cpu_seconds_before, cpu_seconds_after: of tasks, the cure's own included; Python workers are not.
        peak_memory_bytes_before, peak_memory_bytes_after: of the largest task.
        sentence: what it comes to.
    """

    incident: Incident
    cure: Cure
    verdict: Verdict
    figure_before: float
    figure_after: float
    cpu_seconds_before: float
    cpu_seconds_after: float
    peak_memory_bytes_before: int
    peak_memory_bytes_after: int
    sentence: str


@checked
def trial(
    incident: Incident,
    cure: Cure,
    before: Run,
    after: Run,
    *,
    answers_equal: bool | None,
    reports_before: Reports = NONE,
    reports_after: Reports = NONE,
    collection_before: Collection | None = None,
    collection_after: Collection | None = None,
    cure_cpu_seconds: Annotated[float, Ge(0)] = 0.0,
    thresholds: Thresholds | None = None,
) -> Trial:
    """Judge a cure by a run without it and one with it.

    Args:
        incident: of `before`.
        cure: of `cures(incident)`.
        before: the run that the incident is of.
        after: its repeat with the cure.
        answers_equal: whether both gave the same answer; None where nobody compared, which makes the trial void.
        reports_before: of the first run.
        reports_after: of the second.
        collection_before: the collector's log of the first run, for `gc_thrash`.
        collection_after: of the second.
        cure_cpu_seconds: what the cure's own statements took.
        thresholds: as of `find`.

    Returns:
        Trial; where a run failed that did not before, it is worse.

    Raises:
        ValueError: the cure is for another incident, the incident is not in `before`, or a log has no end or lacks
            tasks, so that its figures are too small.
    """
    if cure not in cures(incident):
        names = ", ".join(other.name for other in cures(incident))
        raise ArgumentError(
            f"{cure.name} is not a cure for {incident.cause} of {incident.where}; those are {names}"
        )
    for name, run in (("before", before), ("after", after)):
        if run.missing_tasks or run.cut_off or run.ended is None:
            raise ArgumentError(f"the log of {name} is not whole: figures of it would be too small")
    limits = thresholds or Thresholds()
    figures = (
        _worst(incident.cause, Evidence(before, reports_before, (), collection_before), limits),
        _worst(incident.cause, Evidence(after, reports_after, (), collection_after), limits),
    )
    if figures[0] < incident.threshold:
        raise ArgumentError(
            f"before has no {incident.cause}: it is not the run of the incident, or its "
            "reports or its collector's log are missing"
        )
    cpu = (before.total("cpu_seconds"), after.total("cpu_seconds") + cure_cpu_seconds)
    verdict, why = _verdict(incident, before, after, figures, cpu, answers_equal)
    peaks = (_peak(before), _peak(after))
    sentence = (
        f"{cure.name}: {verdict}, {why}; {incident.cause} {figures[0]:,.4g} to {figures[1]:,.4g} {incident.unit}, "
        f"CPU {cpu[0]:,.1f} to {cpu[1]:,.1f} s"
    )
    return Trial(incident, cure, verdict, *figures, *cpu, *peaks, sentence)


def _verdict(
    incident: Incident,
    before: Run,
    after: Run,
    figures: tuple[float, float],
    cpu: tuple[float, float],
    equal: bool | None,
) -> tuple[Verdict, str]:
    if len(after.errors) > len(before.errors):
        return "worse", f"it failed: {after.errors[-1].splitlines()[0][:200]}"
    if equal is not True:
        return "void", "the answers differ" if equal is False else "nobody compared the answers"
    if figures[1] > figures[0] * (1 + _TOLERANCE):
        return "worse", "there is more of it"
    gone = figures[1] < incident.threshold
    if gone and incident.severity == "failed" and len(after.errors) < len(before.errors):
        return "helped", "it is gone"  # what a run took until it failed is no measure of a whole one
    if cpu[1] > cpu[0] * (1 + _TOLERANCE):
        return "worse", "it takes more CPU"
    if gone:
        return "helped", "it is gone"
    if cpu[1] < cpu[0] * (1 - _TOLERANCE):
        return "helped", "it takes less CPU"
    return "no effect", "it is still there"


def _peak(run: Run) -> int:
    return max((stage.peak_memory_bytes for stage in run.stages), default=0)


def _worst(cause: str, seen: Evidence, limits: Thresholds) -> float:
    detectors = [detect for detect, causes in DETECTORS.items() if cause in causes]
    figures = (figure for detect in detectors for figure in detect(seen, limits))
    return max((figure.value for figure in figures if figure.cause == cause), default=0.0)


@checked
def mitigate(
    incident: Incident,
    before: Run,
    repeat: Callable[..., Any],
    *,
    reports_before: Reports = NONE,
    tries: Annotated[int, Ge(1)] = 2,
) -> tuple[Trial, ...]:
    """Try the cures of an incident on repeats of its run, one after another, until one helps.

    Args:
        incident: of `before`.
        before: the run.
        repeat: called with a Cure; runs the job again with it, on a twin of its tables where the cure changes
            them, and returns (Run, Reports, whether the answer is that of `before`).
        reports_before: of the run.
        tries: how many cures at most. Those for a person are not tried.

    Returns:
        Trials, in their order; the last one helped, or none did.
    """
    trials: list[Trial] = []
    for cure in [cure for cure in cures(incident) if not cure.by_hand][:tries]:
        after, reports, equal = repeat(cure)
        trials.append(
            trial(
                incident,
                cure,
                before,
                after,
                answers_equal=equal,
                reports_before=reports_before,
                reports_after=reports,
            )
        )
        if trials[-1].verdict == "helped":
            break
    return tuple(trials)
