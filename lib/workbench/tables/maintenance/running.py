"""What was planned, done: within limits, beside writers, and again after a kill."""

from contextlib import contextmanager
from dataclasses import replace

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
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
    results,
    statistics,
)
from workbench.tables.maintenance.results import Done, Hindrance, Obstacle, Reason, Remark

_BATCH_BYTES, _BATCH_GROUPS = 1024**3, 100


def run(
    spark,
    planned,
    *,
    marks=(),
    max_bytes=None,
    max_minutes=None,
    max_commits=None,
    remove_orphans=False,
    no_commit_under_way=False,
    now=None,
    tries=5,
):
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
        now: datetime with a zone, by which ages are told; this moment by default.
        tries: how often each thing is begun at most.

    Returns:
        tuple of Done, one an action of the plan, in its order.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, a mark among them is not in the table, the table was made anew since it
            was planned, or the guard of orphans; nothing was done. What an action refuses later is said in its
            Done. Of any other error that comes then `done_before` returns what was done before it; its notes
            have the same.
    """
    most = {"max_bytes": max_bytes, "max_minutes": max_minutes, "max_commits": max_commits}
    flags = {"remove_orphans": remove_orphans, "no_commit_under_way": no_commit_under_way}
    results.check(planned)
    limits.check(**most, **flags, tries=tries)
    policy, marks, now = planned.policy, limits.several(marks), limits.moment(now)
    loaded = metadata.still(spark, commits.load(spark, planned.table))
    if (uuid := loaded.uuid().toString()) != planned.uuid:
        raise ArgumentError(f"{planned.table} was planned as table {planned.uuid} and is now {uuid}: plan it anew")
    if marks:  # those of the plan were there when it was made
        expiry.marked(spark, loaded, marks)
    if any(one.name == "remove_orphans" for one in planned.actions):
        orphans.check(policy, now=now, no_commit_under_way=no_commit_under_way)
    left = limits.begun(policy.limits, **most)
    options = {"marks": (*planned.marks, *marks), "now": now, "tries": tries} | flags
    found = []
    for action in planned.actions:
        full = left.nothing()
        if full and not (full == "max_bytes" and action.name != "compact_data"):
            found.append(Done(action.name, remarks=(Remark(Reason.ACTION_NOT_BEGUN, limit=full),)))
            continue
        with _carried(found):
            found.append(_STEPS[action.name](spark, planned, action, left, options))
        left = left.after(found[-1])
    spark.sql(f"REFRESH TABLE {identifiers.quoted(planned.table)}")
    return tuple(found)


@contextmanager
def _carried(done):
    """Let an error carry what was done before it: nobody is given those results any more."""
    try:
        yield
    except Exception as error:
        error.maintenance_done = (*done, *done_before(error))
        for action_done in done:
            error.add_note(f"done before: {action_done}")
        raise


def done_before(error: BaseException) -> tuple[Done, ...]:
    """Return what a run had done when an error ended it: one Done an action, none where the run was refused."""
    return getattr(error, "maintenance_done", ())


def _compact(spark, planned, action, left, options):
    done, waiting, every, seen = Done("compact_data"), list(action.groups), action.groups, None
    if left.bytes is not None:  # more may have come since it was planned
        seen = metadata.still(spark, commits.load(spark, planned.table))
        every = groups.found(spark, seen, planned.policy)
        now = {(one.partition, one.spec_id): one for one in every}
        waiting = [now.get((one.partition, one.spec_id), one) for one in waiting]
    while waiting:
        if full := left.nothing():
            return _remarking(done, Remark(Reason.PARTITIONS_LEFT, limit=full, count=len(waiting)))
        batch = first_batch(waiting, left.bytes)
        whole = batch and (seen is None or compaction.told(seen, batch))
        with _carried([done] if done.commits else []):
            if whole:
                part = _batch(spark, planned, batch, left, options["tries"])
            else:
                batch = waiting[:1]
                others = () if compaction.told(seen, batch) else every
                part = _in_part(spark, planned, batch[0], others, left, options["tries"])
        waiting = waiting[len(batch) :]
        done, left = _sum(done, part), left.after(part)
    return done


def first_batch(waiting, most):
    """Return the first groups of one spec that together stay below a gigabyte and what is left of the limit.

    Args:
        waiting: of `groups.found`.
        most: bytes left; None without a limit.

    Returns:
        list; the first group alone where it is larger than a gigabyte, none where it is larger than what is left.
    """
    batch, size = [], 0
    for group in waiting[:_BATCH_GROUPS]:
        size += group.bytes
        over = most is not None and size > most
        if over or (batch and (size > _BATCH_BYTES or group.spec_id != batch[0].spec_id)):
            break
        batch.append(group)
    return batch


def _batch(spark, planned, batch, left, tries):
    """Compact some groups, the fast way where that is possible."""
    table, policy, why = planned.table, planned.policy, Obstacle(Hindrance.FAST_OFF)
    if policy.fast:
        done, why = arrow.rewrite(spark, table, batch, policy, tries=tries)
        if why is None:
            return _compacted(done, done.remarks, fast=done.files)
    done = compaction.by_spark(spark, table, batch, policy, tries=tries, max_commits=left.commits)
    return _compacted(done, (*done.remarks, Remark(Reason.THROUGH_SPARK, obstacle=why)))


def _in_part(spark, planned, group, others, left, tries):
    """Compact as many files of a group as surely fit into what is left of the bytes.

    Where it cannot be said to Iceberg which partition is meant, it may take files of any of the `others`.
    """
    files = left.bytes // max(one.largest for one in (group, *others))
    if files < 2:
        remark = Remark(Reason.PARTITION_TOO_LARGE, limit="max_bytes", name=group.partition)
        return Done("compact_data", remarks=(remark,))
    done = compaction.by_spark(
        spark, planned.table, [group], planned.policy, tries=tries, max_commits=left.commits, max_files=files
    )
    remark = Remark(Reason.PARTITION_IN_PART, limit="max_bytes", name=group.partition)
    return _compacted(done, (*done.remarks, remark))


def _compacted(done, remarks, fast=0):
    return Done(
        "compact_data", done.files, done.files_after, done.bytes, done.commits, done.tries, remarks, fast=fast
    )


def _sum(done, part):
    added = {
        name: getattr(done, name) + getattr(part, name)
        for name in ("files", "files_after", "bytes_read", "commits", "tries", "fast")
    }
    return replace(done, remarks=tuple(dict.fromkeys((*done.remarks, *part.remarks))), **added)


def _remarking(done, remark):
    return replace(done, remarks=(*done.remarks, remark))


def _rewritten(name, rewrite):
    """Return what a function did that gives (Attempt, files, files after, commits); a last refusal is a remark."""
    try:
        attempt, before, after, made = rewrite()
    except Exception as error:
        refused = commits.kind(error) in (commits.CONFLICT, commits.VALIDATION)
        if not refused and not isinstance(error, commits.OutcomeUnknown):
            raise
        return Done(name, remarks=(Remark(Reason.REWRITE_REFUSED, error=commits.errors.first_line(error)),))
    return Done(name, before, after, commits=made, tries=attempt.tries)


def _deletes(spark, planned, action, left, options):
    more = {"tries": options["tries"], "max_commits": left.commits}
    return _rewritten(action.name, lambda: deletes.rewrite(spark, planned.table, planned.policy, **more))


def _manifests(spark, planned, action, left, options):
    return _rewritten(action.name, lambda: manifests.rewrite(spark, planned.table, tries=options["tries"]))


def _expire(spark, planned, action, left, options):
    given = {"planned": frozenset(action.snapshots), "marks": options["marks"], "now": options["now"]}
    for tries in range(1, options["tries"] + 1):
        try:
            found, content, metadata_files = expiry.expire(spark, planned.table, planned.policy, **given)
            break
        except ValueError as error:  # a mark is gone
            return Done(action.name, remarks=(Remark(Reason.NOTHING_EXPIRED, error=str(error)),))
        except Exception as error:
            # others expired the same, which Iceberg calls an illegal argument, or missing when it comes to files;
            # or somebody named a snapshot that was to go. A fresh look says what is left to do
            gone = commits.missing_file(error)
            others = commits.kind(error) in (commits.CONFLICT, commits.VALIDATION)
            others = others or gone or "java.lang.IllegalArgumentException" in commits.causes(error)
            if not others or (tries == options["tries"] and gone):
                raise
            refused = commits.errors.first_line(error)
    else:
        return Done(action.name, tries=tries, remarks=(Remark(Reason.NOTHING_EXPIRED, error=refused),))
    if found.refused:
        return Done(action.name, tries=tries, remarks=(Remark(Reason.NOTHING_EXPIRED, obstacle=found.refused),))
    return Done(
        action.name,
        content,
        commits=int(bool(found.snapshots)),
        tries=tries,
        snapshots=found.snapshots,
        metadata_files=metadata_files,
    )


def _orphans(spark, planned, action, left, options):
    under_way, policy = options["no_commit_under_way"], planned.policy
    try:
        found = orphans.find(spark, planned.table, policy, now=options["now"], no_commit_under_way=under_way)
    except orphans.Ambiguous as error:
        return Done(action.name, remarks=(Remark(Reason.NOTHING_REMOVED, obstacle=error.obstacle),))
    if not options["remove_orphans"]:
        remark = Remark(Reason.REMOVAL_NOT_AGREED, count=len(found))
        return Done(action.name, remarks=(remark,), orphans=found)
    deleted = orphans.remove(spark, planned.table, found, go_on=lambda: left.nothing() != "max_minutes")
    return Done(action.name, deleted, orphans=found)


def _statistics(spark, planned, action, left, options):
    done = statistics.compute(spark, planned.table, tries=options["tries"])
    return Done(action.name, commits=done.value, tries=done.tries)


_STEPS = {
    "compact_data": _compact,
    "rewrite_deletes": _deletes,
    "rewrite_manifests": _manifests,
    "expire_snapshots": _expire,
    "remove_orphans": _orphans,
    "compute_statistics": _statistics,
}
