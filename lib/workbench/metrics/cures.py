"""What helps against an incident, tried: a cure that does not help is said not to help.

Nothing here changes a table or a session. A cure is settings for a repeat of the run, statements for the caller to
run, or words for a person; `trial` judges the repeat by the same figure, and by its CPU.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from workbench._base import identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.causes import Incident, Thresholds
from workbench.metrics.detectors import DETECTORS, Evidence
from workbench.metrics.reports import NONE, Reports
from workbench.metrics.runs import Run

Verdict = Literal["helped", "no effect", "worse", "void"]
_TOLERANCE = 0.1  # of CPU seconds, which differ as much between two runs of one job


@dataclass(frozen=True)
class Cure:
    """What may help against an incident.

    Attributes:
        name: short.
        words: what it does, and what it costs.
        settings: of Spark, for a repeat.
        at_start: whether the settings are read only when a session starts.
        statements: to be run before a repeat; they change the table that they name.
    """

    name: str
    words: str
    settings: Mapping[str, str] = field(default_factory=dict)
    at_start: bool = False
    statements: tuple[str, ...] = ()

    @property
    def by_hand(self) -> bool:
        """Return whether a person must do it."""
        return not self.settings and not self.statements


@dataclass(frozen=True)
class Trial:
    """A cure that was tried.

    Attributes:
        incident: that it was for.
        cure: that was tried.
        verdict: helped: the incident is gone, or the run takes a tenth less CPU; no effect; worse: more CPU by a
            tenth, a larger figure, or a new failure; void: the answers differ, or nobody compared them.
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


_WORDS: Mapping[str, tuple[Cure, ...]] = {
    "skew": (
        Cure(
            "split skewed partitions",
            "Spark splits what is far above the median, of joins alone; it takes more reads",
            {
                "spark.sql.adaptive.enabled": "true",
                "spark.sql.adaptive.skewJoin.enabled": "true",
                "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": str(4 << 20),
                "spark.sql.adaptive.advisoryPartitionSizeInBytes": str(4 << 20),
            },
        ),
        Cure(
            "salt the key",
            "give the frequent key a second part by chance, aggregate or join by both, then by the key",
        ),
    ),
    "spill": (
        Cure(
            "more partitions",
            "each task has less to hold; many small tasks cost time",
            {"spark.sql.shuffle.partitions": "64", "spark.sql.adaptive.coalescePartitions.enabled": "false"},
        ),
        Cure(
            "more memory",
            "of the process that runs tasks",
            {"spark.executor.memory": "4g", "spark.driver.memory": "4g"},
            at_start=True,
        ),
    ),
    "out_of_memory": (
        Cure(
            "more partitions",
            "each task has less to hold",
            {"spark.sql.shuffle.partitions": "64", "spark.sql.adaptive.coalescePartitions.enabled": "false"},
        ),
        Cure(
            "no broadcast",
            "joins are sorted and not held in memory",
            {"spark.sql.autoBroadcastJoinThreshold": "-1"},
        ),
        Cure(
            "more memory",
            "of the process that runs tasks",
            {"spark.executor.memory": "4g", "spark.driver.memory": "4g"},
            at_start=True,
        ),
    ),
    "lost_executor": (
        Cure(
            "more memory beside the heap",
            "a container's limit kills without a word in the log",
            {"spark.executor.memoryOverheadFactor": "0.2"},
            at_start=True,
        ),
        Cure("look at the machine", "whether it was taken back, restarted, or short of memory"),
    ),
    "fetch_failure": (
        Cure(
            "wait longer",
            "for an executor that is busy or moved",
            {"spark.shuffle.io.maxRetries": "10", "spark.shuffle.io.retryWait": "10s"},
            at_start=True,
        ),
        Cure("see why the executor or its files went", "a lost executor, or a disk that was cleaned"),
    ),
    "slow_storage": (Cure("compare with a read outside of Spark", "the same file, from the same machine"),),
    "stream_lag": (
        Cure("more partitions", "more tasks share a batch", {"spark.sql.shuffle.partitions": "64"}),
        Cure(
            "more cores, or less work a row",
            "a limit on a batch's rows keeps batches short, and the backlog grows all the same",
        ),
    ),
    "stream_stuck": (Cure("look at the last batch", "a task that waits, a source that does not answer, a lock"),),
    "disk_full": (
        Cure("another disk for shuffles", "a folder with more space; set spark.local.dir to it at the start"),
    ),
    "gc_thrash": (
        Cure(
            "more memory",
            "of the JVM whose log it is",
            {"spark.executor.memory": "4g", "spark.driver.memory": "4g"},
            at_start=True,
        ),
    ),
    "missing_class": (
        Cure("add the jar or package", "spark.jars or spark.jars.packages, at the start; Python's by pip"),
    ),
    "permission_denied": (Cure("give the right that is named", "to the role that the job runs as"),),
    "schema_change": (Cure("compare the columns", "with those the table had: DESCRIBE, and its metadata log"),),
}


@checked
def cures(incident: Incident) -> tuple[Cure, ...]:
    """Return what may help against an incident, what can be tried first.

    Args:
        incident: of `find`.

    Returns:
        Cures. Settings hold usual values, to be changed to what the machines have. Statements name the table of
        the incident.

    Raises:
        ValueError: the incident is of no known cause, or names no table where its cause does.
    """
    if incident.cause in _WORDS:
        return _WORDS[incident.cause]
    if incident.cause not in _OF_TABLES:
        known = ", ".join(sorted([*_WORDS, *_OF_TABLES]))
        raise ArgumentError(f"there is no cause {incident.cause}; there are {known}")
    if not incident.where.startswith("table "):
        return _BY_HAND
    table = incident.where.removeprefix("table ")
    try:
        identifiers.parts(table)
    except ArgumentError:  # reports and plans write names without backticks: which dot divides is not known
        return tuple(
            Cure(cure.name, f"{cure.words}; of the table {table}") for cure in _OF_TABLES[incident.cause]("n.t")
        )
    return _OF_TABLES[incident.cause](table)


def _small_files(table: str) -> tuple[Cure, ...]:
    return (
        Cure("compact", "write the small files together; readers and writers go on", statements=(_call(table),)),
        Cure(
            "write larger files",
            "rows of a partition go to one task, for writes to come",
            statements=(_properties(table, {"write.distribution-mode": "hash"}),),
        ),
    )


def _file_explosion(table: str) -> tuple[Cure, ...]:
    larger, compact = _small_files(table)[::-1]
    return (larger, compact)


def _retries(table: str) -> tuple[Cure, ...]:
    return (
        Cure(
            "more and later retries",
            "a commit waits for its turn; it can take seconds",
            statements=(
                _properties(
                    table,
                    {
                        "commit.retry.num-retries": "20",
                        "commit.retry.min-wait-ms": "200",
                        "commit.retry.max-wait-ms": "5000",
                    },
                ),
            ),
        ),
        Cure("fewer writers", "let one job collect what the others bring"),
    )


_OF_TABLES: Mapping[str, Callable[[str], tuple[Cure, ...]]] = {
    "small_files": _small_files,
    "file_explosion": _file_explosion,
    "retry_storm": _retries,
    "commit_conflicts": _retries,
}
_BY_HAND = (  # of the table that an error names
    Cure("more and later retries", "its table property commit.retry.num-retries"),
    Cure("fewer writers", "let one job collect what the others bring"),
)


def _call(table: str) -> str:
    catalog, name = _parts(table)
    prefix = f"{identifiers.column(catalog)}." if catalog else ""
    literal = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"CALL {prefix}system.rewrite_data_files(table => '{literal}', options => map('min-input-files', '2'))"


def _properties(table: str, properties: Mapping[str, str]) -> str:
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    return f"ALTER TABLE {identifiers.quoted(table)} SET TBLPROPERTIES ({pairs})"


def _parts(table: str) -> tuple[str | None, str]:
    """Return the catalog of a table's name, None where it has two parts, and the rest as SQL has it."""
    parts = identifiers.parts(table)
    catalog = parts[0] if len(parts) > 2 else None
    return catalog, ".".join(identifiers.column(part) for part in (parts[1:] if catalog else parts))


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
        _worst(incident.cause, before, reports_before, limits),
        _worst(incident.cause, after, reports_after, limits),
    )
    if figures[0] < incident.threshold:
        raise ArgumentError(
            f"before has no {incident.cause}: it is not the run of the incident, or its reports are missing"
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
    if cpu[1] > cpu[0] * (1 + _TOLERANCE):
        return "worse", "it takes more CPU"
    if figures[1] < incident.threshold:
        return "helped", "it is gone"
    if cpu[1] < cpu[0] * (1 - _TOLERANCE):
        return "helped", "it takes less CPU"
    return "no effect", "it is still there"


def _peak(run: Run) -> int:
    return max((stage.peak_memory_bytes for stage in run.stages), default=0)


def _worst(cause: str, run: Run, reports: Reports, limits: Thresholds) -> float:
    seen = Evidence(run, reports, (), None)
    found = (detect for detect, causes in DETECTORS.items() if cause in causes)
    return max(
        (figure.value for detect in found for figure in detect(seen, limits) if figure.cause == cause), default=0.0
    )


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
