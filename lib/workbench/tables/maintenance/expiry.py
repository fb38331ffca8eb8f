"""Expire snapshots, but none that a branch, a tag, a mark or a reader that continues from one of them needs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import metadata, owners
from workbench.tables.maintenance.metadata import Lineage
from workbench.tables.maintenance.policy import Policy
from workbench.tables.maintenance.results import Hindrance, Mark, Obstacle

MAX_AGE = "history.expire.max-ref-age-ms"


@dataclass(frozen=True)
class Expiry:
    """The snapshots that may go, and what holds the rest.

    Attributes:
        snapshots: ids that may go, oldest first.
        needed: how many more would be old enough, but are needed by the marks.
        by: name of the oldest mark that needs some; None without.
        drops: names of refs whose maximum age is over: Iceberg drops them with any expiry.
        refused: why nothing may be expired; None where it may.
    """

    snapshots: tuple[int, ...]
    needed: int
    by: str | None
    drops: tuple[str, ...]
    refused: Obstacle | None


def marked(spark: SparkSession, loaded: Java, marks: Iterable[Mark]) -> dict[str, int]:
    """Return {name: snapshot id} of readers' marks, each a snapshot id or the name of a branch or tag.

    Raises:
        ValueError: one of them is neither.
    """
    known, refs = metadata.lineage(spark, loaded), metadata.refs(loaded)
    places = {}
    for mark in marks:
        if isinstance(mark, str) and mark in refs:
            places[mark] = refs[mark].snapshotId()
        elif not isinstance(mark, str) and mark in known:
            places[f"snapshot {mark}"] = mark
        elif isinstance(mark, str) and mark.strip().isdecimal() and int(mark) in known:
            raise ArgumentError(
                f"{mark!r} is a text, and the id of a snapshot is a number: say marks=[{int(mark)}]"
            )
        else:
            raise ArgumentError(
                f"{mark!r} is neither a snapshot of {loaded.name()} nor one of its branches and tags "
                f"({', '.join(refs) or 'none'}): a reader there has lost its place already"
            )
    return places


def expirable(
    spark: SparkSession, loaded: Java, policy: Policy, *, marks: Iterable[Mark], now: datetime
) -> Expiry:
    """Return which snapshots of a loaded table may go.

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
    kept = set(main[: policy.keep_snapshots]) | {
        id for id, snapshot in known.items() if snapshot["timestamp-ms"] >= before
    }
    clock = max(now, datetime.now(UTC))  # Iceberg goes by its own when it drops refs and what branches call old
    for ref in refs.values():
        kept |= set(own(known, main, ref.snapshotId(), branch=ref.isBranch())) | _promised(ref, known, clock)
    readers = {
        name: ref.snapshotId() for name, ref in refs.items() if name != "main" and not solitary(name, policy)
    }
    after = {name: _after(known, main, id) for name, id in (readers | given).items()}
    needed: set[int] = set().union(*after.values())
    drops = tuple(name for name, ref in refs.items() if name != "main" and _over(loaded, ref, known, clock))
    going = tuple(id for id in known if id not in kept | needed)
    needed_only = set(known) & (needed - kept)
    longest = sorted(after, key=lambda name: -len(after[name]))
    by = next((name for name in longest if needed_only & after[name]), None)
    refused = _refused(loaded, refs, known, clock, kept | needed, set(drops) & set(map(str, marks)))
    return Expiry(() if refused else going, len(needed_only), by, drops, refused)


def expire(
    spark: SparkSession,
    table: str,
    policy: Policy,
    *,
    planned: Collection[int],
    marks: Iterable[Mark],
    now: datetime,
) -> tuple[Expiry, int, int]:
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
    expired = expirable(spark, metadata.still(spark, loaded), policy, marks=marks, now=now)
    expired = replace(expired, snapshots=tuple(id for id in expired.snapshots if id in planned))
    if not expired.snapshots:
        return expired, 0, 0
    # older than 0: of itself Iceberg would add what it thinks is old by the table's properties
    action = metadata.actions(spark).expireSnapshots(loaded).expireOlderThan(0)
    for snapshot_id in expired.snapshots:
        action = action.expireSnapshotId(snapshot_id)
    result = action.execute()
    content = result.deletedDataFilesCount() + result.deletedPositionDeleteFilesCount()
    content += result.deletedEqualityDeleteFilesCount()
    return expired, content, result.deletedManifestsCount() + result.deletedManifestListsCount()


def freed(spark: SparkSession, loaded: Java, snapshot_ids: Sequence[int]) -> tuple[int, int]:
    """Return (files, bytes) of the data and delete files that nobody needs without some snapshots."""
    from pyspark.sql import functions as F

    if not snapshot_ids:
        return 0, 0
    columns = ("file_path", "file_size_in_bytes")
    every = metadata.frame(spark, loaded, "ALL_FILES").select(*columns).distinct()
    kept = metadata.frame(spark, metadata.without(spark, loaded, snapshot_ids), "ALL_FILES").select("file_path")
    row = every.join(kept, "file_path", "left_anti").agg(F.count("*"), F.sum("file_size_in_bytes")).collect()[0]
    return row[0], row[1] or 0


def own(known: Lineage, main: list[int], snapshot_id: int, *, branch: bool) -> list[int]:
    """Return a ref's snapshot and, of a branch, those before it that are not main's, and where it left main."""
    if not branch or snapshot_id in main[:1]:
        return [snapshot_id]
    line = metadata.ancestors(known, snapshot_id)
    return line[: next((n + 1 for n, id in enumerate(line) if id in set(main)), len(line))]


def _promised(ref: Java, known: Lineage, now: datetime) -> set[int]:
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


def _after(known: Lineage, main: list[int], snapshot_id: int) -> set[int]:
    """Return what who goes on from a snapshot needs: itself, the way to main, and main from there."""
    line = own(known, main, snapshot_id, branch=True)
    if line[-1] in main:
        return {*line, *main[: main.index(line[-1]) + 1]}
    # the way to main was cut: whatever came later may be on it
    since = known[snapshot_id].get("sequence-number", 0)
    return {*line, *(id for id in main if known[id].get("sequence-number", 0) >= since)}


def solitary(name: str, policy: Policy) -> bool:
    """Say whether a policy calls a ref one from which nobody goes on."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in policy.solitary_refs
    )


def max_age(loaded: Java, ref: Java) -> int | None:
    """Return a ref's maximum age in milliseconds, its own or by the table's property; None without an end."""
    age, every = ref.maxRefAgeMs(), loaded.properties().get(MAX_AGE)
    return age if age is not None else None if every is None else int(every)


def _over(loaded: Java, ref: Java, known: Lineage, now: datetime) -> bool:
    age = max_age(loaded, ref)
    return age is not None and now.timestamp() * 1000 - known[ref.snapshotId()]["timestamp-ms"] > age


def _refused(
    loaded: Java,
    refs: Mapping[str, Java],
    known: Lineage,
    now: datetime,
    kept: set[int],
    lost: set[str],
) -> Obstacle | None:
    """Return why Iceberg would take more than it is asked to; None where it would not."""
    if held := owners.obstacle(loaded):
        return held
    if lost:
        return Obstacle(Hindrance.MARK_EXPIRES, name=min(lost))
    for name, ref in refs.items():
        if ref.isBranch() and (age := ref.maxSnapshotAgeMs()) is not None:
            line = metadata.ancestors(known, ref.snapshotId())[ref.minSnapshotsToKeep() or 1 :]
            old = {id for id in line if now.timestamp() * 1000 - known[id]["timestamp-ms"] > age}
            if old & kept:
                return Obstacle(Hindrance.BRANCH_SNAPSHOT_AGE, name=name, number=len(old & kept))
    return None
