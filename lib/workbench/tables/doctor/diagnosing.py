"""What hurts a table, found in its metadata."""

from workbench._base import arguments
from workbench._base.errors import ArgumentError
from workbench.tables import commits
from workbench.tables.doctor import growth, layout, looking, order
from workbench.tables.doctor.findings import SEVERITIES, Diagnosis
from workbench.tables.doctor.thresholds import Thresholds
from workbench.tables.maintenance import limits
from workbench.tables.maintenance.policy import or_default

_LOOKS = (
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


def diagnose(spark, table, *, policy=None, now=None, columns=(), thresholds=None):
    """Say what hurts a table: causes with figures, what to do, and what would do it.

    Reads metadata only; nothing is changed. Two diagnoses of one state with one `now` are equal. A healthy table
    has no finding, and so have an empty one and one of a single file.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        policy: Policy of maintenance: the sizes and ages by which files, snapshots and refs are judged.
        now: datetime with a zone, by which ages are told; this moment by default.
        columns: that the owner's queries ask by, see `asked`; without, those of the sort order.
        thresholds: Thresholds; from where on something is a cause.

    Returns:
        Diagnosis.

    Raises:
        TableNotFound: no such table.
        ValueError: it is no Iceberg table, a column is not in it, `now` has no zone, or an argument is something
            else.
    """
    policy, now, columns = or_default(policy), limits.moment(now), arguments.texts("columns", columns, "columns")
    bound = Thresholds() if thresholds is None else thresholds
    arguments.kind("thresholds", bound, Thresholds, "doctor.Thresholds")
    seen = looking.look(spark, table, policy=policy, thresholds=bound, now=now, columns=columns)
    check_columns(table, seen.loaded, columns)
    found = [one for cause in _LOOKS if (one := cause(seen)) is not None]
    return Diagnosis(
        table=table,
        uuid=seen.loaded.uuid().toString(),
        snapshot=commits.head(seen.loaded),
        now=now,
        policy=policy,
        findings=tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity))),
    )


def check_columns(table, loaded, columns):
    """Refuse a column that a loaded table does not have.

    Raises:
        ValueError: with those there are.
    """
    if unknown := [name for name in columns if loaded.schema().findField(name) is None]:
        raise ArgumentError(
            f"{unknown[0]} is no column of {table}; it has {', '.join(commits.columns_of(loaded))}"
        )
