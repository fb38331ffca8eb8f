"""Find what hurts a table, in its metadata alone."""

from collections.abc import Iterable
from datetime import datetime

from pydantic import InstanceOf

from workbench._base import arguments
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.doctor import growth, layout, looking, order
from workbench.tables.doctor.findings import SEVERITIES, Diagnosis
from workbench.tables.doctor.thresholds import Thresholds
from workbench.tables.maintenance import Policy, limits

_CAUSES = (
    layout.small_files,
    layout.delete_files,
    layout.partitioning,
    layout.skewed_partitions,
    layout.skewed_files,
    order.unsorted_files,
    growth.many_manifests,
    growth.old_snapshots,
    growth.metadata_versions,
    growth.large_metadata,
    growth.dangling_refs,
)


@checked
def diagnose(
    spark: SparkSession,
    table: str,
    *,
    policy: InstanceOf[Policy] | None = None,
    now: datetime | None = None,
    columns: Iterable[str] = (),
    thresholds: Thresholds | None = None,
) -> Diagnosis:
    """Diagnose what hurts a table: causes with figures, what to do, and what would do it.

    Reads metadata only; nothing is changed. Two diagnoses of one state with one `now` are equal. A healthy table
    has no finding, and so have an empty one and one of a single file.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        policy: Policy of maintenance: the sizes and ages by which files, snapshots and refs are judged.
        now: datetime with a zone, by which ages are measured; this moment by default.
        columns: that the owner's queries ask by, see `asked`; without, those of the sort order.
        thresholds: Thresholds; from where on something is a cause.

    Returns:
        Diagnosis.

    Raises:
        TableNotFound: no such table.
        ValueError: it is not an Iceberg table, a column is not in it, or an argument is wrong.
    """
    policy, now, columns = policy or Policy(), limits.moment(now), arguments.texts("columns", columns, "columns")
    bound = thresholds or Thresholds()
    look = looking.look(spark, table, policy=policy, thresholds=bound, now=now, columns=columns)
    check_columns(table, look.loaded, columns)
    findings = [finding for cause in _CAUSES if (finding := cause(look)) is not None]
    return Diagnosis(
        table=table,
        uuid=look.loaded.uuid().toString(),
        snapshot=commits.head(look.loaded),
        now=now,
        policy=policy,
        findings=tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))),
    )


def check_columns(table: str, loaded: Java, columns: Iterable[str]) -> None:
    """Refuse a column that a loaded table does not have.

    Raises:
        ValueError: with those there are.
    """
    if unknown := [name for name in columns if loaded.schema().findField(name) is None]:
        raise ArgumentError(
            f"{unknown[0]} is not a column of {table}; it has {', '.join(commits.columns_of(loaded))}"
        )
