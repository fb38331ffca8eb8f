"""Plan what maintenance would do to a table and what it costs, from metadata alone."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import InstanceOf

from workbench import costs
from workbench._base import identifiers
from workbench._base.bounds import Gt, Lt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, Judged, SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import deletes, expiry, groups, limits, manifests, metadata, owners, statistics
from workbench.tables.maintenance.policy import Policy
from workbench.tables.maintenance.results import Action, Hindrance, Mark, Obstacle, Planned, Reason, Remark

Marks = tuple[Mark, ...]
Step = tuple[Action | None, Sequence[Remark]]


@checked
def plan(
    spark: SparkSession,
    table: str,
    *,
    policy: InstanceOf[Policy] | None = None,
    marks: Judged[Iterable[Mark]] = (),
    now: datetime | None = None,
) -> Planned:
    """Plan what would be done to a table. Reads metadata only; nothing is changed.

    Two plans of the same state with the same `now` are equal.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        policy: Policy; the default one without.
        marks: what readers need: snapshot ids, or names of branches and tags. Each branch and tag of the table is
            one by itself, unless the policy calls it solitary.
        now: datetime with a zone, by which ages are measured; this moment by default.

    Returns:
        Planned.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, a mark is not in the table, or Iceberg cannot read the table's metadata
            tables.
    """
    policy, now, marks = policy or Policy(), limits.moment(now), limits.several(marks)
    loaded = metadata.still(spark, commits.load(spark, table))
    _readable(spark, loaded)
    expiry.marked(spark, loaded, marks)
    steps = {
        "compact_data": _compaction,
        "rewrite_deletes": _deletes,
        "rewrite_manifests": _manifests,
        "expire_snapshots": _expiry,
        "remove_orphans": _orphans,
        "compute_statistics": _statistics,
    }
    steps_planned = [steps[name](spark, loaded, policy, marks, now) for name in policy.actions]
    head = commits.head(loaded)
    return Planned(
        table=table,
        uuid=loaded.uuid().toString(),
        snapshot=head,
        now=now,
        policy=policy,
        marks=marks,
        actions=tuple(action for action, _ in steps_planned if action is not None),
        remarks=tuple(remark for _, remarks in steps_planned for remark in remarks),
    )


def _readable(spark: SparkSession, loaded: Java) -> None:
    """Refuse a table whose partition fields, of all its specs, have a name twice: it would be Java's error.

    Raises:
        ValueError: with the name and what mends it.
    """
    fields = metadata.jvm(spark).org.apache.iceberg.Partitioning.partitionType(loaded).fields()
    names = [field.name() for field in fields]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        field = identifiers.spelled((twice[0],))
        raise ArgumentError(
            f"{loaded.name()} had an earlier partition field with the same name as {twice[0]}, so Iceberg cannot "
            f"read its metadata tables; rename it: ALTER TABLE … REPLACE PARTITION FIELD {field} WITH the "
            "same transform AS another name"
        )


def _compaction(spark: SparkSession, loaded: Java, policy: Policy, marks: Marks, now: datetime) -> Step:
    planned = groups.worthwhile(spark, loaded, policy)
    if not planned:
        return None, ()
    files, size = sum(group.files for group in planned), sum(group.bytes for group in planned)
    after = sum(group.files_after for group in planned)
    evolved = sum(group.files for group in planned if group.spec_id != loaded.spec().specId())
    return Action("compact_data", files, after, size, size, groups=planned, evolved=evolved), ()


def _deletes(spark: SparkSession, loaded: Java, policy: Policy, marks: Marks, now: datetime) -> Step:
    worthwhile = deletes.worthwhile(spark, loaded, policy)
    if worthwhile is None:
        return None, ()
    if field := metadata.uuid_field(loaded):
        why = Obstacle(Hindrance.UUID_PARTITION, name=field)
        return None, (Remark(Reason.DELETES_NOT_REWRITTEN, obstacle=why),)
    files = worthwhile.small + worthwhile.dangling
    action = Action(
        "rewrite_deletes",
        files,
        worthwhile.after,
        worthwhile.bytes,
        worthwhile.bytes,
        dangling=worthwhile.dangling,
    )
    return action, ()


def _manifests(spark: SparkSession, loaded: Java, policy: Policy, marks: Marks, now: datetime) -> Step:
    worthwhile = manifests.worthwhile(spark, loaded, policy)
    if worthwhile is None:
        return None, ()
    files, size, after = worthwhile.files, worthwhile.bytes, worthwhile.after
    by_partition = not manifests.by_core(loaded)
    return Action("rewrite_manifests", files, after, size, size, by_partition=by_partition), ()


def _expiry(spark: SparkSession, loaded: Java, policy: Policy, marks: Marks, now: datetime) -> Step:
    expiring = expiry.expirable(spark, loaded, policy, marks=marks, now=now)
    remarks = []
    if expiring.refused:
        remarks.append(Remark(Reason.EXPIRY_NOT_PLANNED, obstacle=expiring.refused))
    if expiring.needed:
        remarks.append(Remark(Reason.SNAPSHOTS_HELD, count=expiring.needed, name=expiring.by))
    if not expiring.snapshots:
        return None, remarks
    files, size = expiry.freed(spark, loaded, expiring.snapshots)
    action = Action(
        "expire_snapshots", files, bytes_freed=size, snapshots=expiring.snapshots, drops=expiring.drops
    )  # fmt: skip
    return action, remarks


def _orphans(spark: SparkSession, loaded: Java, policy: Policy, marks: Marks, now: datetime) -> Step:
    if held := owners.obstacle(loaded):
        return None, (Remark(Reason.ORPHANS_NOT_PLANNED, obstacle=held),)
    days = policy.orphans_older_than_days
    return Action("remove_orphans", files=None, location=loaded.location(), older_than_days=days), ()


def _statistics(spark: SparkSession, loaded: Java, policy: Policy, marks: Marks, now: datetime) -> Step:
    snapshot = loaded.currentSnapshot()
    counted_snapshots = {file.snapshotId() for file in loaded.statisticsFiles()}
    if snapshot is None or snapshot.snapshotId() in counted_snapshots:
        return None, ()
    counted, uncounted = statistics.columns(loaded)
    remarks = [Remark(Reason.COLUMN_NOT_COUNTED, name=name) for name in uncounted]
    if not counted:
        return None, (*remarks, Remark(Reason.NO_COLUMN_COUNTED))
    size = int((snapshot.summary() or {}).get("total-files-size") or 0)
    files = int((snapshot.summary() or {}).get("total-data-files") or 0)
    return Action("compute_statistics", files, files, size), remarks


@checked
def only(planned: Planned, *names: str) -> Planned:
    """Return a plan with some of its actions alone.

    Raises:
        ValueError: there is no such action in it.
    """
    known = [action.name for action in planned.actions]
    if wrong := [name for name in names if name not in known]:
        raise ArgumentError(f"{wrong[0]!r} is not an action of this plan; it has {', '.join(known) or 'none'}")
    return replace(planned, actions=tuple(action for action in planned.actions if action.name in names))


@checked
def usd(
    planned: Planned,
    listed: costs.Prices,
    *,
    dpus: float | Decimal,
    mb_per_second: Annotated[float | Decimal, Gt(0), Lt(math.inf)],
) -> Decimal:
    """Return what it would cost to do a plan as a managed Spark job of its own.

    Args:
        planned: Planned.
        listed: costs.Prices of compute.
        dpus: data processing units of the job.
        mb_per_second: MB of 2^20 bytes that such a job reads and rewrites a second: measure it.

    Returns:
        Decimal, USD; also a plan of few bytes costs the shortest time that is billed. 0 when nothing is to do.

    Raises:
        ValueError: an argument is wrong.
    """
    if not planned.actions:
        return costs.glue_usd(listed, dpus=0, seconds=0)
    size = sum(action.bytes_read for action in planned.actions) / 1024**2
    return costs.glue_usd(listed, dpus=dpus, seconds=round(size / float(mb_per_second), 3))
