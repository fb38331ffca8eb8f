"""What may help against an incident: settings for a repeat, statements for the caller to run, words for a person.

Nothing here changes a table or a session.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.causes import Incident


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
    if incident.cause == "commit_conflicts" and _CHANGED.search(incident.evidence):
        return _AGAIN
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
_CHANGED = re.compile(r"Found (?:new )?(?:conflicting|concurrently)")  # of Iceberg's checks before a commit
_AGAIN = (  # Iceberg tries such a commit no second time
    Cure("run the job again", "what it read has changed; no retry of the commit lands, however many there are"),
    Cure("change less", "a narrower condition, or other hours, so that two jobs do not change the same rows"),
)
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
