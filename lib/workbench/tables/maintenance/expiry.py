"""Which snapshots may go: none that a branch, a tag, a reader's mark or whoever goes on from one needs."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from workbench._base.errors import ArgumentError
from workbench.tables import commits
from workbench.tables.maintenance import metadata
from workbench.tables.maintenance.results import Hindrance, Obstacle

MAX_AGE = "history.expire.max-ref-age-ms"


@dataclass(frozen=True)
class Expiry:
    """What may go and what holds the rest.

    Attributes:
        snapshots: ids that may go, oldest first.
        held: how many more would be old enough, but are needed by the marks.
        by: name of the oldest mark that holds some; None without.
        drops: names of refs whose maximum age is over: Iceberg drops them with any expiry.
        refused: why nothing may be expired; None where it may.
    """

    snapshots: tuple[int, ...]
    held: int
    by: str | None
    drops: tuple[str, ...]
    refused: Obstacle | None


def marked(spark, loaded, marks):
    """Return {name: snapshot id} of readers' marks, each a snapshot id or the name of a branch or tag.

    Raises:
        ValueError: one of them is neither.
    """
    known, refs = metadata.lineage(spark, loaded), metadata.refs(loaded)
    found = {}
    for mark in marks:
        if mark in refs:
            found[mark] = refs[mark].snapshotId()
        elif mark in known:
            found[f"snapshot {mark}"] = mark
        elif isinstance(mark, str) and mark.strip().isdecimal() and int(mark) in known:
            raise ArgumentError(
                f"{mark!r} is a text, and the id of a snapshot is a number: say marks=[{int(mark)}]"
            )
        else:
            raise ArgumentError(
                f"{mark!r} is neither a snapshot of {loaded.name()} nor one of its branches and tags "
                f"({', '.join(refs) or 'none'}): a reader there has lost its place already"
            )
    return found


def expirable(spark, loaded, policy, *, marks, now):
    """Say which snapshots of a loaded table may go.

    A mark, and every branch and tag that the policy does not call solitary, is the place from which somebody goes
    on: it holds its own snapshot and all that came after it on main. A branch holds all that is its own, and what
    its own retention promises to keep, be it main's too.

    Args:
        spark: classic session.
        loaded: Java handle of the table.
        policy: Policy.
        marks: snapshot ids or names of refs.
        now: datetime with a zone.

    Returns:
        Expiry.

    Raises:
        ValueError: a mark is not in the table.
    """
    known, refs, given = metadata.lineage(spark, loaded), metadata.refs(loaded), marked(spark, loaded, marks)
    main = metadata.ancestors(known, commits.head(loaded))
    before = (now - timedelta(days=policy.snapshots_older_than_days)).timestamp() * 1000
    kept = set(main[: policy.keep_snapshots]) | {id for id, one in known.items() if one["timestamp-ms"] >= before}
    clock = max(now, datetime.now(UTC))  # Iceberg goes by its own when it drops refs and what branches call old
    for ref in refs.values():
        kept |= set(own(known, main, ref.snapshotId(), branch=ref.isBranch())) | _promised(ref, known, clock)
    readers = {
        name: ref.snapshotId() for name, ref in refs.items() if name != "main" and not solitary(name, policy)
    }
    after = {name: _after(known, main, id) for name, id in (readers | given).items()}
    needed = set().union(*after.values())
    drops = tuple(name for name, ref in refs.items() if name != "main" and _over(loaded, ref, known, clock))
    going = tuple(id for id in known if id not in kept | needed)
    held = [id for id in known if id in needed - kept]
    by = next((name for name in sorted(after, key=lambda one: -len(after[one])) if set(held) & after[name]), None)
    refused = _refused(loaded, refs, known, clock, kept | needed, set(drops) & set(map(str, marks)))
    return Expiry(() if refused else going, len(held), by, drops, refused)


def expire(spark, table, policy, *, planned, marks, now):
    """Expire what was planned and may still go, in one commit, and delete the files that only it needed.

    Args:
        spark: classic session.
        table: its name.
        policy: Policy.
        planned: ids; others are left alone, however old they are.
        marks: as of `expirable`.
        now: as of `expirable`.

    Returns:
        (Expiry of those that went, data and delete files deleted, manifests and manifest lists deleted).
    """
    loaded = metadata.own(spark, table)
    found = expirable(spark, metadata.still(spark, loaded), policy, marks=marks, now=now)
    found = replace(found, snapshots=tuple(id for id in found.snapshots if id in planned))
    if not found.snapshots:
        return found, 0, 0
    actions = spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)
    # older than 0: of itself Iceberg would add what it thinks is old by the table's properties
    action = actions.expireSnapshots(loaded).expireOlderThan(0)
    for snapshot_id in found.snapshots:
        action = action.expireSnapshotId(snapshot_id)
    gone = action.execute()
    content = gone.deletedDataFilesCount() + gone.deletedPositionDeleteFilesCount()
    content += gone.deletedEqualityDeleteFilesCount()
    return found, content, gone.deletedManifestsCount() + gone.deletedManifestListsCount()


def freed(spark, loaded, snapshot_ids):
    """Return (files, bytes) of the data and delete files that nobody needs without some snapshots."""
    from pyspark.sql import functions as F

    if not snapshot_ids:
        return 0, 0
    columns = ("file_path", "file_size_in_bytes")
    every = metadata.frame(spark, loaded, "ALL_FILES").select(*columns).distinct()
    left = metadata.frame(spark, metadata.without(spark, loaded, snapshot_ids), "ALL_FILES").select("file_path")
    row = every.join(left, "file_path", "left_anti").agg(F.count("*"), F.sum("file_size_in_bytes")).collect()[0]
    return row[0], row[1] or 0


def own(known, main, snapshot_id, *, branch):
    """Return a ref's snapshot and, of a branch, those before it that are not main's, and where it left main."""
    if not branch or snapshot_id in main[:1]:
        return [snapshot_id]
    line = metadata.ancestors(known, snapshot_id)
    return line[: next((n + 1 for n, id in enumerate(line) if id in set(main)), len(line))]


def _promised(ref, known, now):
    """Return the snapshots that a branch's own retention keeps: so many of its newest, and those below an age.

    Iceberg takes no heed of it where snapshots are expired by their ids.
    """
    least, age = (ref.minSnapshotsToKeep(), ref.maxSnapshotAgeMs()) if ref.isBranch() else (None, None)
    line = metadata.ancestors(known, ref.snapshotId())
    return {
        id
        for n, id in enumerate(line)
        if (least and n < least) or (age and now.timestamp() * 1000 - known[id]["timestamp-ms"] <= age)
    }


def _after(known, main, snapshot_id):
    """Return what who goes on from a snapshot needs: itself, the way to main, and main from there."""
    line = own(known, main, snapshot_id, branch=True)
    if line[-1] in main:
        return {*line, *main[: main.index(line[-1]) + 1]}
    # the way to main was cut: whatever came later may be on it
    since = known[snapshot_id].get("sequence-number", 0)
    return {*line, *(id for id in main if known[id].get("sequence-number", 0) >= since)}


def solitary(name, policy):
    """Say whether a policy calls a ref one that nobody goes on from."""
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in policy.solitary_refs)


def max_age(loaded, ref):
    """Return a ref's maximum age in milliseconds, its own or by the table's property; None without an end."""
    own, every = ref.maxRefAgeMs(), loaded.properties().get(MAX_AGE)
    return own if own is not None else None if every is None else int(every)


def _over(loaded, ref, known, now):
    age = max_age(loaded, ref)
    return age is not None and now.timestamp() * 1000 - known[ref.snapshotId()]["timestamp-ms"] > age


def _refused(loaded, refs, known, now, kept, lost):
    """Say why Iceberg would take more than it is told to; None where it would not."""
    if metadata.gc_disabled(loaded):
        return Obstacle(Hindrance.GC_DISABLED)
    if lost:
        return Obstacle(Hindrance.MARK_EXPIRES, name=min(lost))
    for name, ref in refs.items():
        if ref.isBranch() and (age := ref.maxSnapshotAgeMs()) is not None:
            line = metadata.ancestors(known, ref.snapshotId())[ref.minSnapshotsToKeep() or 1 :]
            old = {id for id in line if now.timestamp() * 1000 - known[id]["timestamp-ms"] > age}
            if old & kept:
                return Obstacle(Hindrance.BRANCH_SNAPSHOT_AGE, name=name, number=len(old & kept))
    return None
