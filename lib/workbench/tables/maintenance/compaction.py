"""Small files rewritten by Iceberg's own action on Spark, some partitions at a time."""

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.commits import marks
from workbench.tables.maintenance import deletes, metadata
from workbench.tables.maintenance import groups as sizes
from workbench.tables.maintenance.groups import Group
from workbench.tables.maintenance.policy import Policy
from workbench.tables.maintenance.results import Reason, Remark

_LITERALS = ("string", "int", "long", "date", "boolean")
Result = tuple[int, int, int, int]  # data files replaced, added, bytes replaced, files that failed
_COMMITS = 10  # of one call at most, Iceberg's own default for partial progress
_NEVER_TOO_LARGE = 2**63 - 1  # large files are left alone: only small ones and those with deletes are planned


@dataclass(frozen=True)
class Rewritten:
    """The result of rewriting some groups.

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


def by_spark(
    spark: SparkSession,
    table: str,
    groups: Sequence[Group],
    policy: Policy,
    *,
    tries: int = 5,
    max_commits: int | None = None,
    max_files: int | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Rewritten:
    """Rewrite the groups of some partitions through `rewrite_data_files`.

    Iceberg plans anew from the table's present state, so that what was rewritten before is left alone. A file
    group that another commit refuses is skipped by Iceberg and tried again here, from a fresh look.

    Args:
        spark: classic session.
        table: its name.
        groups: of `groups.worthwhile`.
        policy: Policy.
        tries: how often at most.
        max_commits: snapshots at most.
        max_files: data files rewritten at most.
        sleep: function that waits; for tests.

    Returns:
        Rewritten.
    """
    mark, files, after, size, skipped, tries_made = uuid.uuid4().hex, 0, 0, 0, 0, 0
    remarks: tuple[Remark, ...] = ()
    for tried in range(1, tries + 1):
        commits_left = max_commits if max_commits is None else max_commits - _made(spark, table, mark)
        room = max_files if max_files is None else max_files - files
        if commits_left == 0 or (files and room is not None and room < 2):
            full = "max_commits" if commits_left == 0 else "max_bytes"
            remarks = (Remark(Reason.FILES_LEFT, limit=full, count=skipped),)
            break
        options = _options(spark, policy, commits_left, room)
        drops = commits_left is None and _drops(spark, table, groups, policy)
        try:
            attempt = commits.attempt(
                partial(_once, spark, table, groups, options, mark, drops),
                landed=lambda: None,
                conditional=True,  # what landed unseen is not planned again
                again=commits.REPEATABLE,
                tries=tries,
                sleep=sleep,
            )
        except Exception as error:
            if not isinstance(error, commits.OutcomeUnknown) and commits.kind(error) not in commits.REPEATABLE:
                raise
            skipped = sum(group.files for group in groups)
            remarks = (Remark(Reason.REWRITE_REFUSED, error=commits.errors.first_line(error)),)
            tries_made += tries
            break
        result, tries_made = attempt.value, tries_made + attempt.tries
        files, after, size, skipped = files + result[0], after + result[1], size + result[2], result[3]
        if not skipped:
            break
        if tried < tries:
            sleep(min(0.1 * 2**tried, 10))
    if skipped and not remarks:
        remarks = (Remark(Reason.FILES_CHANGED, count=skipped, tries=tries),)
    return Rewritten(files, after, size, _made(spark, table, mark), tries_made, skipped, remarks)


def _made(spark: SparkSession, table: str, mark: str) -> int:
    """Return how many snapshots have a mark."""
    known = commits.snapshots_of(spark, commits.load(spark, table))
    return sum(snapshot["summary"].get(marks.KEY) == mark for snapshot in known)


def _once(
    spark: SparkSession, table: str, groups: Sequence[Group], options: Mapping[str, object], mark: str, drops: bool
) -> Result:
    """Rewrite groups by one call of Iceberg's action.

    With `drops`, delete files that apply to nothing any more go in a commit behind it.
    """
    loaded = metadata.own(spark, table)
    actions = metadata.actions(spark)
    action = actions.rewriteDataFiles(loaded).snapshotProperty(marks.KEY, mark).binPack()
    for name, value in options.items():
        action = action.option(name, str(value))
    result = action.filter(where(spark, loaded, groups)).execute()
    if drops:
        # not by the rewrite's own option, whose commit has no mark. Nor does the count of what it dropped tell of
        # one: among them are deletion vectors that went with their data files, in the same commit
        actions.removeDanglingDeleteFiles(loaded).snapshotProperty(marks.KEY, mark).execute()
    return (
        result.rewrittenDataFilesCount(), result.addedDataFilesCount(), result.rewrittenBytesCount(),
        result.failedDataFilesCount(),
    )  # fmt: skip


def _drops(spark: SparkSession, table: str, groups: Sequence[Group], policy: Policy) -> bool:
    """Say whether delete files that apply to nothing any more go with a rewrite: it is one commit more."""
    if "rewrite_deletes" not in policy.actions or not any(group.with_deletes for group in groups):
        return False
    loaded = metadata.still(spark, commits.load(spark, table))
    return metadata.uuid_field(loaded) is None and not deletes.apply_everywhere(spark, loaded)


def _options(
    spark: SparkSession, policy: Policy, max_commits: int | None, max_files: int | None
) -> dict[str, object]:
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


def where(spark: SparkSession, loaded: Java, groups: Sequence[Group]) -> Java:
    """Return Iceberg's expression for the partitions of some groups; all rows where it has none.

    A group of files of another spec than the table's own spans many partitions, so that it stands for all.
    """
    expressions = metadata.jvm(spark).org.apache.iceberg.expressions.Expressions
    expression = None
    for group in groups:
        if group.spec_id != loaded.spec().specId():
            return expressions.alwaysTrue()
        partition = _partition(expressions, loaded, json.loads(group.partition))
        expression = partition if expression is None else getattr(expressions, "or")(expression, partition)
    return expression


def _partition(expressions: Java, loaded: Java, values: Mapping[str, Any]) -> Java:
    """Return the expression for one partition; a field whose values are not plain literals is left out."""
    expression, types = expressions.alwaysTrue(), {}
    for field in loaded.spec().partitionType().fields():
        types[field.name()] = field.type().toString()
    for field in loaded.spec().fields():
        term = _term(expressions, loaded.schema().findColumnName(field.sourceId()), field.transform().toString())
        if term is None or types[field.name()] not in _LITERALS:
            continue
        value = values.get(field.name())
        equal = expressions.isNull(term) if value is None else expressions.equal(term, value)
        expression = getattr(expressions, "and")(expression, equal)
    return expression


def selectable(loaded: Java, groups: Sequence[Group]) -> bool:
    """Say whether `where` selects the partitions of some groups of a loaded table alone."""
    return opaque_type(loaded) is None and all(group.spec_id == loaded.spec().specId() for group in groups)


def opaque_type(loaded: Java) -> str | None:
    """Return the type of a partition field whose values are not plain literals; None where all are."""
    kinds = [field.type().toString() for field in loaded.spec().partitionType().fields()]
    return next((kind for kind in kinds if kind not in _LITERALS), None)


def _term(expressions: Java, column: str | None, transform: str) -> Java:
    name, _, width = transform.removesuffix("]").partition("[")
    if column is None or name not in ("identity", "year", "month", "day", "hour", "bucket", "truncate"):
        return None
    if name == "identity":
        return expressions.ref(column)
    make = getattr(expressions, name)
    return make(column, int(width)) if width else make(column)
