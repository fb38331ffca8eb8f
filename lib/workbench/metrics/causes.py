"""Causes of incidents: what each is told by, from which figure on, and where that threshold comes from.

`chosen` is a number that we chose; the others are the defaults of Spark and Iceberg, named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal

from workbench._base.errors import ArgumentError

Severity = Literal["failed", "slow", "hint"]
OPEN_COST_BYTES = 4 << 20  # spark.sql.files.openCostInBytes: what is read in the time of opening a file
SPLIT_BYTES = 128 << 20  # spark.sql.files.maxPartitionBytes


@dataclass(frozen=True)
class Thresholds:
    """From which figure on a cause is an incident.

    Attributes:
        skew_factor: bytes of the largest task of a stage over those of the median task.
        skew_bytes: that the largest task must have read at least.
        skew_tasks: that the stage must have at least, so that there is a median.
        spill_bytes: written to disk by a stage.
        open_cost_bytes: what opening many small files costs, in bytes that could be read meanwhile.
        retries_a_commit: tries of a table's commits that were lost, over its commits.
        retries: lost tries of a table's commits that there must be at least.
        wait_share: of a stage's time in executors that was neither CPU, nor collection, nor waiting for a shuffle.
        wait_bytes_a_second: below which, a task, reading is slow.
        wait_bytes: that the stage must have read at least.
        lag_growth: time of a stream's last batch over that of the batch before the last three.
        stuck_seconds: without a batch of a stream that was not ended, while the log went on.
        gc_share: seconds of pauses, and of threads that wait for memory, a second of a collector's log.
        gc_pauses: and waits that there must be at least.
    """

    skew_factor: float = 5.0
    skew_bytes: int = OPEN_COST_BYTES
    skew_tasks: int = 4
    spill_bytes: int = 1 << 20
    open_cost_bytes: int = SPLIT_BYTES
    retries_a_commit: float = 1.0
    retries: int = 4
    wait_share: float = 0.8
    wait_bytes_a_second: int = 1 << 20
    wait_bytes: int = 16 << 20
    lag_growth: float = 2.0
    stuck_seconds: float = 60.0
    gc_share: float = 0.3
    gc_pauses: int = 5

    def __post_init__(self) -> None:
        """Refuse what allows nothing or everything."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ArgumentError(f"{field.name} must be a number above 0, found {value!r}")


SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "skew_factor": "Spark, spark.sql.adaptive.skewJoin.skewedPartitionFactor",
        "skew_bytes": "Spark, spark.sql.files.openCostInBytes: a smaller task costs less than opening a file",
        "skew_tasks": "chosen",
        "spill_bytes": "chosen: Spark spills where memory is short only",
        "open_cost_bytes": "Spark, openCostInBytes a file over maxPartitionBytes: a whole split's worth",
        "retries_a_commit": "chosen: more tries are lost than land",
        "retries": "Iceberg, commit.retry.num-retries: after so many a commit is refused",
        "wait_share": "chosen",
        "wait_bytes_a_second": "chosen",
        "wait_bytes": "chosen",
        "lag_growth": "chosen: the time of a batch doubles within three",
        "stuck_seconds": "Spark, spark.sql.streaming.noDataProgressEventInterval, six times",
        "gc_share": "chosen",
        "gc_pauses": "HotSpot, UseGCOverheadLimit: five collections one after another that give back little",
        "once": "once is enough",
    }
)


@dataclass(frozen=True)
class Cause:
    """What can be wrong with a run.

    Attributes:
        name: as in `Incident.cause`.
        words: what it is.
        unit: of its figure.
        threshold: the field of Thresholds that its figure is held against; `once` where one occurrence is enough.
        severity: `failed` ends a job or loses work, `slow` costs time, `hint` may have another reason.
    """

    name: str
    words: str
    unit: str
    threshold: str
    severity: Severity


CAUSES: Mapping[str, Cause] = MappingProxyType(
    {
        cause.name: cause
        for cause in (
            Cause(
                "skew",
                "one task reads far more than the others of its stage",
                "times the median",
                "skew_factor",
                "slow",
            ),
            Cause(
                "spill", "memory is too small for a stage, which writes to disk", "bytes", "spill_bytes", "slow"
            ),
            Cause(
                "small_files",
                "opening a table's files costs more than reading them",
                "bytes",
                "open_cost_bytes",
                "slow",
            ),
            Cause("file_explosion", "a commit adds many small files", "bytes", "open_cost_bytes", "slow"),
            Cause(
                "commit_conflicts", "commits are refused because others were faster", "refusals", "once", "failed"
            ),
            Cause(
                "retry_storm",
                "more tries of commits are lost than land",
                "retries a commit",
                "retries_a_commit",
                "slow",
            ),
            Cause("out_of_memory", "a process ran out of memory", "errors", "once", "failed"),
            Cause("lost_executor", "an executor ended while it was needed", "executors", "once", "failed"),
            Cause("fetch_failure", "shuffled data was gone when it was read", "tasks", "once", "failed"),
            Cause("slow_storage", "tasks wait while they read", "share", "wait_share", "hint"),
            Cause("stream_lag", "batches of a stream take longer and longer", "times", "lag_growth", "slow"),
            Cause("stream_stuck", "a stream reports nothing any more", "seconds", "stuck_seconds", "slow"),
            Cause("disk_full", "a disk has no space left", "errors", "once", "failed"),
            Cause(
                "gc_thrash", "the JVM collects garbage instead of working", "seconds a second", "gc_share", "slow"
            ),
            Cause("missing_class", "a class or data source is not on the class path", "errors", "once", "failed"),
            Cause("permission_denied", "storage or a catalog refuses access", "errors", "once", "failed"),
            Cause("schema_change", "a column is not there, or has another type", "errors", "once", "failed"),
        )
    }
)


@dataclass(frozen=True)
class Incident:
    """What was found wrong with a run.

    Attributes:
        cause: a name of CAUSES.
        where: what it is about: `stage 3`, `table lake.sales.orders`, `executor 2`, `stream …`, `run`.
        figure: in the unit of its cause.
        threshold: from which figure on it is an incident.
        source: where the threshold comes from.
        evidence: a sentence with the figures, without secrets.
    """

    cause: str
    where: str
    figure: float
    threshold: float
    source: str
    evidence: str

    @property
    def severity(self) -> Severity:
        """Return how bad its cause is."""
        return CAUSES[self.cause].severity

    @property
    def unit(self) -> str:
        """Return the unit of its figure."""
        return CAUSES[self.cause].unit
