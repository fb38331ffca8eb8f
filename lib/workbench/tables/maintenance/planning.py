"""What maintenance would do to a table, what it costs and what it would break: a value made of metadata."""

from dataclasses import dataclass, replace
from datetime import datetime

from workbench._base import arguments, identifiers
from workbench.tables import commits
from workbench.tables.maintenance import deletes, expiry, groups, limits, manifests, metadata, statistics
from workbench.tables.maintenance.groups import Group
from workbench.tables.maintenance.policy import Policy, or_default
from workbench.tables.maintenance.remarks import Remark, fact, texts, undone


@dataclass(frozen=True)
class Action:
    """One thing that would be done.

    Attributes:
        name: of `policy.ACTIONS`.
        what: a sentence.
        files: files touched: rewritten, or deleted; None where only looking at the storage could tell.
        files_after: how many there will be in their place.
        bytes_read: to do it.
        bytes_written: about; compression decides.
        bytes_freed: of files that are deleted with it. A rewrite frees nothing until its old snapshots expire.
        breaks: sentences on who would notice.
        groups: of compaction.
        snapshots: ids, of expiry.
    """

    name: str
    what: str
    files: int | None = 0
    files_after: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    bytes_freed: int = 0
    breaks: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    snapshots: tuple[int, ...] = ()


@dataclass(frozen=True)
class Planned:
    """What `run` will do.

    Attributes:
        table: its name.
        uuid: the table's own id, which one made anew under the name does not have.
        snapshot: main's when it was planned; None of an empty table.
        now: when.
        policy: Policy.
        marks: snapshot ids and names of refs that readers need.
        actions: in the order in which they run; only those for which there is something to do.
        remarks: what is not done, and why, Remark.
    """

    table: str
    uuid: str
    snapshot: int | None
    now: datetime
    policy: Policy
    marks: tuple
    actions: tuple[Action, ...]
    remarks: tuple[Remark, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences of the remarks."""
        return texts(self.remarks)


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
        raise ValueError(
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
    worn = sum(one.with_deletes for one in found)
    what = f"{_count(files, 'data file')} of {_count(len(found), 'partition')} become about {after}"
    if worn:
        what += f"; {worn} of them lose their deleted rows"
    evolved = sum(one.files for one in found if one.spec_id != loaded.spec().specId())
    if evolved:
        what += f"; {evolved} take the table's present partitioning"
    breaks = ("who reads changes from here on has to skip the snapshots of operation replace",)
    return Action("compact_data", what, files, after, size, size, breaks=breaks, groups=found), ()


def _deletes(spark, loaded, policy, marks, now):
    found = deletes.found(spark, loaded, policy)
    if found is None:
        return None, ()
    if field := metadata.uuid_field(loaded):
        return None, (
            f"delete files are left as they are: partition field {field} holds a UUID, and Iceberg's actions for "
            "delete files cannot read such a partition on Spark",
        )
    parts = []
    if found.small:
        parts.append(f"{_count(found.small, 'small delete file', 'become')} about {found.after}")
    if found.dangling:
        parts.append(f"{_count(found.dangling, 'dangling delete file', 'go')}")
    return Action(
        "rewrite_deletes", "; ".join(parts), found.small + found.dangling, found.after, found.bytes, found.bytes
    ), ()  # fmt: skip


def _manifests(spark, loaded, policy, marks, now):
    found = manifests.found(spark, loaded, policy)
    if found is None:
        return None, ()
    what = f"{_count(found.files, 'manifest', 'become')} about {found.after}"
    if not manifests.by_core(loaded):
        what += ", ordered by partition"
    return Action("rewrite_manifests", what, found.files, found.after, found.bytes, found.bytes), ()


def _expiry(spark, loaded, policy, marks, now):
    found = expiry.expirable(spark, loaded, policy, marks=marks, now=now)
    remarks = []
    if found.refused:
        remarks.append(undone(f"no snapshot is expired: {found.refused}"))
    if found.held:
        remarks.append(fact(f"{_count(found.held, 'older snapshot', 'stay')}, needed from {found.by} on"))
    if not found.snapshots:
        return None, remarks
    files, size = expiry.freed(spark, loaded, found.snapshots)
    many = len(found.snapshots)
    breaks = (f"{_count(many, 'snapshot')} can no longer be read, compared or gone back to",)
    breaks += tuple(f"{name} goes: its maximum age is over" for name in found.drops)
    what = f"{_count(many, 'snapshot', 'go')}, and {_count(files, 'data or delete file')} that only they needed"
    action = Action("expire_snapshots", what, files, bytes_freed=size, breaks=breaks, snapshots=found.snapshots)
    return action, remarks


def _orphans(spark, loaded, policy, marks, now):
    if (loaded.properties().get("gc.enabled") or "true").lower() == "false":
        why = "the table has gc.enabled false, its files may belong to others"
        return None, (undone(f"no orphan is looked for: {why}"),)
    what = (
        f"files below {loaded.location()} that no snapshot knows and that are older than "
        f"{policy.orphans_older_than_days:g} days are found, and removed when told so"
    )
    return Action("remove_orphans", what, files=None), ()


def _statistics(spark, loaded, policy, marks, now):
    snapshot = loaded.currentSnapshot()
    there = {one.snapshotId() for one in loaded.statisticsFiles()}
    if snapshot is None or snapshot.snapshotId() in there:
        return None, ()
    counted, uncounted = statistics.columns(loaded)
    why = "Iceberg finds none by a name with a dot or backtick"
    remarks = [fact(f"column {name} is not counted: {why}") for name in uncounted]
    if not counted:
        return None, (*remarks, fact("no distinct values are counted: the table has no column of a plain type"))
    size = int((snapshot.summary() or {}).get("total-files-size") or 0)
    files = int((snapshot.summary() or {}).get("total-data-files") or 0)
    what = f"distinct values of each column are counted; reads {_count(files, 'data file')}"
    return Action("compute_statistics", what, files, files, size), remarks


def _count(many, noun, verb=None):
    """Return a number with its noun, and with the verb that follows it: `1 snapshot goes`, `2 snapshots go`."""
    if many != 1:
        return f"{many} {noun}s{f' {verb}' if verb else ''}"
    return f"1 {noun}{f' {verb}' if verb else ''}{'es' if verb == 'go' else 's' if verb else ''}"


def check(planned):
    """Refuse what is no plan.

    Raises:
        ValueError: with what it is.
    """
    arguments.kind("planned", planned, Planned, "what maintenance.plan returns")


def told(planned):
    """Return a plan as a pandas DataFrame, to be shown.

    Returns:
        One row an action and one a note, in their order: action, files_before, files_after (Int64), mb_read,
        mb_written, mb_freed (float, MB of 2^20 bytes), what (string), breaks (string).

    Raises:
        ValueError: it is no plan.
    """
    import pandas as pd

    check(planned)
    mb = 1024 * 1024
    rows = [
        (one.name, one.files, one.files_after, one.bytes_read / mb, one.bytes_written / mb, one.bytes_freed / mb,
         one.what, "; ".join(one.breaks))
        for one in planned.actions
    ]  # fmt: skip
    rows += [("note", None, None, None, None, None, note, "") for note in planned.notes]
    columns = ["action", "files_before", "files_after", "mb_read", "mb_written", "mb_freed", "what", "breaks"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"files_before": "Int64", "files_after": "Int64"})


def only(planned, *names):
    """Return a plan with some of its actions alone.

    Raises:
        ValueError: it is no plan, or there is no such action in it.
    """
    check(planned)
    there = [one.name for one in planned.actions]
    if wrong := [name for name in names if name not in there]:
        raise ValueError(f"{wrong[0]!r} is no action of this plan; it has {', '.join(there) or 'none'}")
    return replace(planned, actions=tuple(one for one in planned.actions if one.name in names))
