"""Do what was planned: within limits, beside writers, and again after a kill."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from workbench._base import identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, Judged, SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import (
    arrow,
    compaction,
    deletes,
    expiry,
    groups,
    limits,
    manifests,
    metadata,
    orphans,
    statistics,
)
from workbench.tables.maintenance.compaction import Rewritten
from workbench.tables.maintenance.groups import Group
from workbench.tables.maintenance.limits import Allowance
from workbench.tables.maintenance.results import Action, Done, Hindrance, Mark, Obstacle, Planned, Reason, Remark

_BATCH_BYTES, _BATCH_GROUPS = 1024**3, 100
_DONE = "maintenance_done"  # attribute of an error: what a run had done before it


@dataclass(frozen=True)
class Options:
    """What holds for all actions of a run; as of `run`.

    Attributes:
        marks: those of the plan and of the run.
        now: by which ages are measured.
        tries: how often each thing is begun at most.
        remove_orphans: whether orphans that are found are deleted.
        no_commit_under_way: the caller's word.
    """

    marks: tuple[Mark, ...]
    now: datetime
    tries: int
    remove_orphans: bool
    no_commit_under_way: bool


@checked
def run(
    spark: SparkSession,
    planned: Planned,
    *,
    marks: Judged[Iterable[Mark]] = (),
    max_bytes: limits.MaxBytes | None = None,
    max_minutes: limits.MaxMinutes | None = None,
    max_commits: limits.MaxCommits | None = None,
    remove_orphans: bool = False,
    no_commit_under_way: bool = False,
    now: datetime | None = None,
    tries: Annotated[int, Ge(1)] = 5,
) -> tuple[Done, ...]:
    """Do what was planned, with writers running.

    It may be killed at any place and begun again, with the same plan: what is done is not done twice, and what was
    half done left no trace but files that the removal of orphans finds. What others change meanwhile is skipped
    and tried again from a fresh look. Marks, branches and tags are looked at anew before anything is expired.

    Args:
        spark: classic session whose catalog holds the table.
        planned: Planned.
        marks: more snapshot ids and names of refs that readers need, beside those of the plan.
        max_bytes: of data files that are rewritten; the policy's limit by default, as for the next two;
            0 is nothing.
        max_minutes: after which nothing new is begun.
        max_commits: of all actions.
        remove_orphans: delete the orphans that are found; else they are only named.
        no_commit_under_way: the caller's word that no writer is at work on the table, without which orphans
            younger than 24 hours are refused.
        now: datetime with a zone, by which ages are measured; this moment by default.
        tries: how often each thing is begun at most.

    Returns:
        tuple of Done, one for each action of the plan, in its order.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, a mark among them is not in the table, the table was made anew since it
            was planned, or the guard of orphans; nothing was done. What an action refuses later is said in its
            Done. Of any other error that comes then `done_before` returns what was done before it; its notes
            have the same.
    """
    policy, marks, now = planned.policy, limits.several(marks), limits.moment(now)
    loaded = metadata.still(spark, commits.load(spark, planned.table))
    if (uuid := loaded.uuid().toString()) != planned.uuid:
        raise ArgumentError(f"{planned.table} was planned as table {planned.uuid} and is now {uuid}: plan it anew")
    if marks:  # those of the plan were known when it was made
        expiry.marked(spark, loaded, marks)
    if any(action.name == "remove_orphans" for action in planned.actions):
        orphans.check(policy, now=now, no_commit_under_way=no_commit_under_way)
    allowance = limits.begun(policy.limits, max_bytes=max_bytes, max_minutes=max_minutes, max_commits=max_commits)
    options = Options((*planned.marks, *marks), now, tries, remove_orphans, no_commit_under_way)
    results: list[Done] = []
    for action in planned.actions:
        full = allowance.reached()
        if full and not (full == "max_bytes" and action.name != "compact_data"):
            results.append(Done(action.name, remarks=(Remark(Reason.ACTION_NOT_BEGUN, limit=full),)))
            continue
        with _carried(results):
            results.append(_STEPS[action.name](spark, planned, action, allowance, options))
        allowance = allowance.after(results[-1])
    spark.sql(f"REFRESH TABLE {identifiers.quoted(planned.table)}")
    return tuple(results)


@contextmanager
def _carried(done: Sequence[Done]) -> Iterator[None]:
    """Let an error carry what was done before it: the caller gets those results no other way."""
    try:
        yield
    except Exception as error:
        setattr(error, _DONE, (*done, *done_before(error)))
        for before in done:
            error.add_note(f"done before: {before}")
        raise


@checked
def done_before(error: BaseException) -> tuple[Done, ...]:
    """Return what a run had done when an error ended it: one Done an action, none where the run was refused."""
    return getattr(error, _DONE, ())


def _compact(
    spark: SparkSession, planned: Planned, action: Action, allowance: Allowance, options: Options
) -> Done:
    done, waiting, every = Done("compact_data"), list(action.groups), action.groups
    state: Java = None
    if allowance.bytes is not None:  # more may have come since it was planned
        state = metadata.still(spark, commits.load(spark, planned.table))
        every = groups.worthwhile(spark, state, planned.policy)
        now = {(group.partition, group.spec_id): group for group in every}
        waiting = [now.get((group.partition, group.spec_id), group) for group in waiting]
    while waiting:
        if full := allowance.reached():
            return _remarking(done, Remark(Reason.PARTITIONS_LEFT, limit=full, count=len(waiting)))
        batch = first_batch(waiting, allowance.bytes)
        whole = batch and (state is None or compaction.selectable(state, batch))
        with _carried([done] if done.commits else []):
            if whole:
                part = _batch(spark, planned, batch, allowance, options.tries)
            else:
                batch = waiting[:1]
                others = () if compaction.selectable(state, batch) else every
                part = _in_part(spark, planned, batch[0], others, allowance, options.tries)
        waiting = waiting[len(batch) :]
        done, allowance = _sum(done, part), allowance.after(part)
    return done


def first_batch(waiting: Sequence[Group], most: int | None) -> list[Group]:
    """Return the first groups of one spec that together stay below a gigabyte and what is left of the limit.

    Args:
        waiting: of `groups.worthwhile`.
        most: bytes left; None without a limit.

    Returns:
        list; the first group alone where it is larger than a gigabyte, none where it is larger than what is left.
    """
    batch: list[Group] = []
    size = 0
    for group in waiting[:_BATCH_GROUPS]:
        size += group.bytes
        over = most is not None and size > most
        if over or (batch and (size > _BATCH_BYTES or group.spec_id != batch[0].spec_id)):
            break
        batch.append(group)
    return batch


def _batch(
    spark: SparkSession, planned: Planned, batch: Sequence[Group], allowance: Allowance, tries: int
) -> Done:
    """Compact some groups, the fast way where that is possible."""
    table, policy = planned.table, planned.policy
    why: Obstacle | None = Obstacle(Hindrance.FAST_OFF)
    if policy.fast:
        fast, why = arrow.rewrite(spark, table, batch, policy, tries=tries)
        if fast is not None:
            return _compacted(fast, fast.remarks, fast=fast.files)
    done = compaction.by_spark(spark, table, batch, policy, tries=tries, max_commits=allowance.commits)
    return _compacted(done, (*done.remarks, Remark(Reason.THROUGH_SPARK, obstacle=why)))


def _in_part(
    spark: SparkSession, planned: Planned, group: Group, others: Sequence[Group], allowance: Allowance, tries: int
) -> Done:
    """Compact as many files of a group as surely fit into what is left of the bytes.

    Where no expression of Iceberg's selects the partition alone, it may take files of any of the `others`.
    """
    files = (allowance.bytes or 0) // max(candidate.largest for candidate in (group, *others))
    if files < 2:
        remark = Remark(Reason.PARTITION_TOO_LARGE, limit="max_bytes", name=group.partition)
        return Done("compact_data", remarks=(remark,))
    done = compaction.by_spark(
        spark, planned.table, [group], planned.policy, tries=tries, max_commits=allowance.commits, max_files=files
    )
    remark = Remark(Reason.PARTITION_IN_PART, limit="max_bytes", name=group.partition)
    return _compacted(done, (*done.remarks, remark))


def _compacted(done: Rewritten, remarks: tuple[Remark, ...], fast: int = 0) -> Done:
    return Done(
        "compact_data", done.files, done.files_after, done.bytes, done.commits, done.tries, remarks, fast=fast
    )


def _sum(done: Done, part: Done) -> Done:
    added = {
        name: getattr(done, name) + getattr(part, name)
        for name in ("files", "files_after", "bytes_read", "commits", "tries", "fast")
    }
    return replace(done, remarks=tuple(dict.fromkeys((*done.remarks, *part.remarks))), **added)


def _remarking(done: Done, remark: Remark) -> Done:
    return replace(done, remarks=(*done.remarks, remark))


def _rewritten(name: str, rewrite: Callable[[], tuple[commits.Attempt, int, int, int]]) -> Done:
    """Return what a function did that gives (Attempt, files, files after, commits); a last refusal is a remark."""
    try:
        attempt, before, after, committed = rewrite()
    except Exception as error:
        refused = commits.kind(error) in (commits.CONFLICT, commits.VALIDATION)
        if not refused and not isinstance(error, commits.OutcomeUnknown):
            raise
        return Done(name, remarks=(Remark(Reason.REWRITE_REFUSED, error=commits.errors.first_line(error)),))
    return Done(name, before, after, commits=committed, tries=attempt.tries)


def _deletes(
    spark: SparkSession, planned: Planned, action: Action, allowance: Allowance, options: Options
) -> Done:
    table, policy = planned.table, planned.policy
    return _rewritten(
        action.name,
        lambda: deletes.rewrite(spark, table, policy, tries=options.tries, max_commits=allowance.commits),
    )


def _manifests(
    spark: SparkSession, planned: Planned, action: Action, allowance: Allowance, options: Options
) -> Done:
    return _rewritten(action.name, lambda: manifests.rewrite(spark, planned.table, tries=options.tries))


def _expire(spark: SparkSession, planned: Planned, action: Action, allowance: Allowance, options: Options) -> Done:
    table, policy, ids = planned.table, planned.policy, frozenset(action.snapshots)
    for tries in range(1, options.tries + 1):
        try:
            expired, content, metadata_files = expiry.expire(
                spark, table, policy, planned=ids, marks=options.marks, now=options.now
            )
            break
        except ValueError as error:  # a mark is gone
            return Done(action.name, remarks=(Remark(Reason.NOTHING_EXPIRED, error=str(error)),))
        except Exception as error:
            # others expired the same, which Iceberg calls an illegal argument, or missing when it comes to files;
            # or somebody named a snapshot that was to go. A fresh look says what is left to do
            gone = commits.missing_file(error)
            others = commits.kind(error) in (commits.CONFLICT, commits.VALIDATION)
            others = others or gone or "java.lang.IllegalArgumentException" in commits.causes(error)
            if not others or (tries == options.tries and gone):
                raise
            refused = commits.errors.first_line(error)
    else:
        return Done(action.name, tries=tries, remarks=(Remark(Reason.NOTHING_EXPIRED, error=refused),))
    if expired.refused:
        return Done(action.name, tries=tries, remarks=(Remark(Reason.NOTHING_EXPIRED, obstacle=expired.refused),))
    return Done(
        action.name,
        content,
        commits=int(bool(expired.snapshots)),
        tries=tries,
        snapshots=expired.snapshots,
        metadata_files=metadata_files,
    )


def _orphans(
    spark: SparkSession, planned: Planned, action: Action, allowance: Allowance, options: Options
) -> Done:
    try:
        locations = orphans.find(
            spark, planned.table, planned.policy,
            now=options.now, no_commit_under_way=options.no_commit_under_way,
        )  # fmt: skip
    except orphans.Ambiguous as error:
        return Done(action.name, remarks=(Remark(Reason.NOTHING_REMOVED, obstacle=error.obstacle),))
    if not options.remove_orphans:
        remark = Remark(Reason.REMOVAL_NOT_AGREED, count=len(locations))
        return Done(action.name, remarks=(remark,), orphans=locations)
    deleted = orphans.remove(spark, planned.table, locations, go_on=lambda: allowance.reached() != "max_minutes")
    return Done(action.name, deleted, orphans=locations)


def _statistics(
    spark: SparkSession, planned: Planned, action: Action, allowance: Allowance, options: Options
) -> Done:
    attempt = statistics.compute(spark, planned.table, tries=options.tries)
    return Done(action.name, commits=attempt.value, tries=attempt.tries)


_STEPS = {
    "compact_data": _compact,
    "rewrite_deletes": _deletes,
    "rewrite_manifests": _manifests,
    "expire_snapshots": _expire,
    "remove_orphans": _orphans,
    "compute_statistics": _statistics,
}
