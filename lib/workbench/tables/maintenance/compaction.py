"""Small files rewritten by Iceberg's own action on Spark, some partitions at a time."""

import json
import time
import uuid
from dataclasses import dataclass

from workbench.tables import commits
from workbench.tables.commits import marks
from workbench.tables.maintenance import deletes, metadata
from workbench.tables.maintenance import groups as sizes
from workbench.tables.maintenance.results import Reason, Remark

_AGAIN = (commits.CONFLICT, commits.VALIDATION)
_LITERALS = ("string", "int", "long", "date", "boolean")
_COMMITS = 10  # of one call at most, Iceberg's own default for partial progress
_NEVER_TOO_LARGE = 2**63 - 1  # large files are left alone: only small ones and those with deletes are planned


@dataclass(frozen=True)
class Rewritten:
    """What rewriting some groups did.

    Attributes:
        files: data files replaced.
        files_after: data files in their place.
        bytes: of the replaced files.
        commits: snapshots.
        tries: how often it was begun.
        skipped: data files left as they are, because others changed the table under it each time.
        remarks: on what was left.
    """

    files: int = 0
    files_after: int = 0
    bytes: int = 0
    commits: int = 0
    tries: int = 0
    skipped: int = 0
    remarks: tuple[Remark, ...] = ()


def by_spark(spark, table, groups, policy, *, tries=5, max_commits=None, max_files=None, sleep=time.sleep):
    """Rewrite the groups of some partitions through `rewrite_data_files`.

    Iceberg plans anew from the table's present state, so that what was rewritten before is left alone. A file
    group that another commit refuses is skipped by Iceberg and tried again here, from a fresh look.

    Args:
        spark: classic session.
        table: its name.
        groups: of `groups.found`.
        policy: Policy.
        tries: how often at most.
        max_commits: snapshots at most.
        max_files: data files rewritten at most.
        sleep: function that waits; for tests.

    Returns:
        Rewritten.
    """
    mark, files, after, size, skipped, begun, remarks = uuid.uuid4().hex, 0, 0, 0, 0, 0, ()
    for tried in range(1, tries + 1):
        left = max_commits if max_commits is None else max_commits - _made(spark, table, mark)
        room = max_files if max_files is None else max_files - files
        if left == 0 or (files and room is not None and room < 2):
            full = "max_commits" if left == 0 else "max_bytes"
            remarks = (Remark(Reason.FILES_LEFT, limit=full, count=skipped),)
            break
        options, drops = _options(spark, policy, left, room), left is None and _drops(spark, table, groups, policy)
        try:
            attempt = commits.attempt(
                lambda options=options, drops=drops: _once(spark, table, groups, options, mark, drops),
                landed=lambda: None,
                conditional=True,  # what landed unseen is not planned again
                again=_AGAIN,
                tries=tries,
                sleep=sleep,
            )
        except Exception as error:
            if not isinstance(error, commits.OutcomeUnknown) and commits.kind(error) not in _AGAIN:
                raise
            skipped = sum(one.files for one in groups)
            remarks = (Remark(Reason.REWRITE_REFUSED, error=commits.errors.first_line(error)),)
            begun += tries
            break
        done, begun = attempt.value, begun + attempt.tries
        files, after, size, skipped = files + done[0], after + done[1], size + done[2], done[3]
        if not skipped:
            break
        if tried < tries:
            sleep(min(0.1 * 2**tried, 10))
    if skipped and not remarks:
        remarks = (Remark(Reason.FILES_CHANGED, count=skipped, tries=tries),)
    return Rewritten(files, after, size, _made(spark, table, mark), begun, skipped, remarks)


def _made(spark, table, mark):
    """Return how many snapshots have a mark."""
    known = commits.snapshots_of(spark, commits.load(spark, table))
    return sum(one["summary"].get(marks.KEY) == mark for one in known)


def _once(spark, table, groups, options, mark, drops):
    """Return (files replaced, files added, bytes replaced, files that failed).

    With `drops`, delete files that apply to nothing any more go in a commit behind it.
    """
    loaded = metadata.own(spark, table)
    actions = spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)
    action = actions.rewriteDataFiles(loaded).snapshotProperty(marks.KEY, mark).binPack()
    for name, value in options.items():
        action = action.option(name, str(value))
    done = action.filter(where(spark, loaded, groups)).execute()
    if drops:
        # not by the rewrite's own option, whose commit has no mark. Nor does the count of what it dropped tell of
        # one: among them are deletion vectors that went with their data files, in the same commit
        actions.removeDanglingDeleteFiles(loaded).snapshotProperty(marks.KEY, mark).execute()
    return (
        done.rewrittenDataFilesCount(), done.addedDataFilesCount(), done.rewrittenBytesCount(),
        done.failedDataFilesCount(),
    )  # fmt: skip


def _drops(spark, table, groups, policy):
    """Say whether delete files that apply to nothing any more go with a rewrite: it is one commit more."""
    if "rewrite_deletes" not in policy.actions or not any(one.with_deletes for one in groups):
        return False
    loaded = metadata.still(spark, commits.load(spark, table))
    return metadata.uuid_field(loaded) is None and not deletes.apply_everywhere(spark, loaded)


def _options(spark, policy, max_commits, max_files):
    options = {
        "target-file-size-bytes": policy.target_file_bytes,
        "min-file-size-bytes": sizes.small(policy),
        "max-file-size-bytes": _NEVER_TOO_LARGE,
        "min-input-files": policy.min_input_files,
        "delete-file-threshold": policy.min_deletes_per_file,
        "delete-ratio-threshold": policy.min_delete_ratio,
        "max-concurrent-file-group-rewrites": spark.sparkContext.defaultParallelism,
        "partial-progress.enabled": "true",
        "partial-progress.max-commits": max_commits or _COMMITS,
    }
    return options | ({"max-files-to-rewrite": max_files} if max_files else {})


def where(spark, loaded, groups):
    """Return Iceberg's expression for the partitions of some groups; all rows where it cannot be said.

    A group of files of another spec than the table's own spans many partitions, so that it stands for all.
    """
    expressions = spark._jvm.org.apache.iceberg.expressions.Expressions
    found = None
    for group in groups:
        if group.spec_id != loaded.spec().specId():
            return expressions.alwaysTrue()
        one = _partition(expressions, loaded, json.loads(group.partition))
        found = one if found is None else getattr(expressions, "or")(found, one)
    return found


def _partition(expressions, loaded, values):
    """Return the expression for one partition; a field whose values are no plain literals is left out."""
    found, types = expressions.alwaysTrue(), {}
    for field in loaded.spec().partitionType().fields():
        types[field.name()] = field.type().toString()
    for field in loaded.spec().fields():
        term = _term(expressions, loaded.schema().findColumnName(field.sourceId()), field.transform().toString())
        if term is None or types[field.name()] not in _LITERALS:
            continue
        value = values.get(field.name())
        one = expressions.isNull(term) if value is None else expressions.equal(term, value)
        found = getattr(expressions, "and")(found, one)
    return found


def told(loaded, groups):
    """Say whether `where` is for the partitions of some groups of a loaded table alone."""
    return not_told(loaded) is None and all(one.spec_id == loaded.spec().specId() for one in groups)


def not_told(loaded):
    """Return the type of a partition field whose values are no plain literals; None where all are."""
    kinds = [field.type().toString() for field in loaded.spec().partitionType().fields()]
    return next((one for one in kinds if one not in _LITERALS), None)


def _term(expressions, column, transform):
    name, _, width = transform.removesuffix("]").partition("[")
    if column is None or name not in ("identity", "year", "month", "day", "hour", "bucket", "truncate"):
        return None
    if name == "identity":
        return expressions.ref(column)
    make = getattr(expressions, name)
    return make(column, int(width)) if width else make(column)
