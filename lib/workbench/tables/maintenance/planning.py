"""What maintenance would do to a table, what it costs and what it would break: a value made of metadata."""

import math
from dataclasses import replace
from decimal import Decimal
from numbers import Real

from workbench import costs
from workbench._base import arguments, identifiers
from workbench._base.errors import ArgumentError
from workbench.tables import commits
from workbench.tables.maintenance import deletes, expiry, groups, limits, manifests, metadata, results, statistics
from workbench.tables.maintenance.policy import or_default
from workbench.tables.maintenance.results import Action, Hindrance, Obstacle, Planned, Reason, Remark


def plan(spark, table, *, policy=None, marks=(), now=None):
    """Say what would be done to a table. Reads metadata only; nothing is changed.

    Two plans of the same state with the same `now` are equal.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        policy: Policy; the default one without.
        marks: what readers need: snapshot ids, or names of branches and tags. Each branch and tag of the table is
            one by itself, unless the policy calls it solitary.
        now: datetime with a zone, by which ages are told; this moment by default.

    Returns:
        Planned.

    Raises:
        TableNotFound: no such table.
        ValueError: a mark is not in the table, marks or policy are something else, `now` has no zone, or Iceberg
            cannot read the table's metadata tables.
    """
    policy, now, marks = or_default(policy), limits.moment(now), limits.several(marks)
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
    found = [steps[name](spark, loaded, policy, marks, now) for name in policy.actions]
    head = commits.head(loaded)
    return Planned(
        table=table,
        uuid=loaded.uuid().toString(),
        snapshot=head,
        now=now,
        policy=policy,
        marks=marks,
        actions=tuple(one for one, _ in found if one is not None),
        remarks=tuple(remark for _, remarks in found for remark in remarks),
    )


def _readable(spark, loaded):
    """Refuse a table whose partition fields, of all its specs, have a name twice: it would be Java's error.

    Raises:
        ValueError: with the name and what mends it.
    """
    fields = spark._jvm.org.apache.iceberg.Partitioning.partitionType(loaded).fields()
    names = [one.name() for one in fields]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        field = identifiers.spelled((twice[0],))
        raise ArgumentError(
            f"{loaded.name()} had another partition field with the name of the present {twice[0]}, and Iceberg "
            f"can read none of its metadata tables: say ALTER TABLE … REPLACE PARTITION FIELD {field} WITH the "
            "same transform AS another name"
        )


def _compaction(spark, loaded, policy, marks, now):
    found = groups.found(spark, loaded, policy)
    if not found:
        return None, ()
    files, size = sum(one.files for one in found), sum(one.bytes for one in found)
    after = sum(one.files_after for one in found)
    evolved = sum(one.files for one in found if one.spec_id != loaded.spec().specId())
    return Action("compact_data", files, after, size, size, groups=found, evolved=evolved), ()


def _deletes(spark, loaded, policy, marks, now):
    found = deletes.found(spark, loaded, policy)
    if found is None:
        return None, ()
    if field := metadata.uuid_field(loaded):
        why = Obstacle(Hindrance.UUID_PARTITION, name=field)
        return None, (Remark(Reason.DELETES_NOT_REWRITTEN, obstacle=why),)
    files = found.small + found.dangling
    action = Action("rewrite_deletes", files, found.after, found.bytes, found.bytes, dangling=found.dangling)
    return action, ()


def _manifests(spark, loaded, policy, marks, now):
    found = manifests.found(spark, loaded, policy)
    if found is None:
        return None, ()
    ordered = not manifests.by_core(loaded)
    return Action(
        "rewrite_manifests", found.files, found.after, found.bytes, found.bytes, by_partition=ordered
    ), ()  # fmt: skip


def _expiry(spark, loaded, policy, marks, now):
    found = expiry.expirable(spark, loaded, policy, marks=marks, now=now)
    remarks = []
    if found.refused:
        remarks.append(Remark(Reason.EXPIRY_NOT_PLANNED, obstacle=found.refused))
    if found.held:
        remarks.append(Remark(Reason.SNAPSHOTS_HELD, count=found.held, name=found.by))
    if not found.snapshots:
        return None, remarks
    files, size = expiry.freed(spark, loaded, found.snapshots)
    action = Action(
        "expire_snapshots", files, bytes_freed=size, snapshots=found.snapshots, drops=found.drops
    )  # fmt: skip
    return action, remarks


def _orphans(spark, loaded, policy, marks, now):
    if metadata.gc_disabled(loaded):
        return None, (Remark(Reason.ORPHANS_NOT_PLANNED, obstacle=Obstacle(Hindrance.GC_DISABLED)),)
    days = policy.orphans_older_than_days
    return Action("remove_orphans", files=None, location=loaded.location(), older_than_days=days), ()


def _statistics(spark, loaded, policy, marks, now):
    snapshot = loaded.currentSnapshot()
    there = {one.snapshotId() for one in loaded.statisticsFiles()}
    if snapshot is None or snapshot.snapshotId() in there:
        return None, ()
    counted, uncounted = statistics.columns(loaded)
    remarks = [Remark(Reason.COLUMN_NOT_COUNTED, name=name) for name in uncounted]
    if not counted:
        return None, (*remarks, Remark(Reason.NO_COLUMN_COUNTED))
    size = int((snapshot.summary() or {}).get("total-files-size") or 0)
    files = int((snapshot.summary() or {}).get("total-data-files") or 0)
    return Action("compute_statistics", files, files, size), remarks


def only(planned, *names):
    """Return a plan with some of its actions alone.

    Raises:
        ValueError: it is not a plan, or there is no such action in it.
    """
    results.check(planned)
    there = [one.name for one in planned.actions]
    if wrong := [name for name in names if name not in there]:
        raise ArgumentError(f"{wrong[0]!r} is no action of this plan; it has {', '.join(there) or 'none'}")
    return replace(planned, actions=tuple(one for one in planned.actions if one.name in names))


def usd(planned, listed, *, dpus, mb_per_second):
    """Return what it would cost to do a plan as a managed Spark job of its own.

    Args:
        planned: Planned.
        listed: costs.Prices of compute.
        dpus: data processing units of the job.
        mb_per_second: MB of 2^20 bytes that such a job reads and rewrites a second: measure it.

    Returns:
        Decimal, USD; also a plan of few bytes costs the shortest time that is billed. 0 when nothing is to do.

    Raises:
        ValueError: the plan or the prices are none, an amount is no number from 0, or the rate none above 0.
    """
    results.check(planned)
    arguments.kind("listed", listed, costs.Prices, 'what costs.prices("compute") returns')
    for name, value in (("dpus", dpus), ("mb_per_second", mb_per_second)):
        if isinstance(value, bool) or not isinstance(value, Real | Decimal):
            raise ArgumentError(f"{name} is {value!r}, expected a number")
    if not 0 < mb_per_second < math.inf:
        raise ArgumentError(f"mb_per_second is {mb_per_second}; a rate is above 0")
    if not planned.actions:
        return costs.glue_usd(listed, dpus=0, seconds=0)
    size = sum(one.bytes_read for one in planned.actions) / 1024**2
    return costs.glue_usd(listed, dpus=dpus, seconds=round(size / float(mb_per_second), 3))
