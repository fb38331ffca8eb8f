"""Say in sentences what maintenance plans and did: the command, notebooks and reports print the same ones."""

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import PandasFrame
from workbench.tables.maintenance.results import Action, Done, Hindrance, Obstacle, Planned, Reason, Remark

_REMARKS = {
    Reason.SNAPSHOTS_HELD: "{older_snapshots_stay}, needed from {name} on",
    Reason.COLUMN_NOT_COUNTED: (
        "column {name} is not counted: Iceberg finds none by a name with a dot or backtick"
    ),
    Reason.NO_COLUMN_COUNTED: "no distinct values are counted: the table has no column of a plain type",
    Reason.THROUGH_SPARK: "through Spark: {why}",
    Reason.ACTION_NOT_BEGUN: "not begun: {limit} is reached",
    Reason.PARTITIONS_LEFT: "{limit} is reached: {count} partitions are left",
    Reason.PARTITION_IN_PART: "{limit} left room for a part of {partition}",
    Reason.PARTITION_TOO_LARGE: "{limit} leaves no room for {partition}",
    Reason.FILES_LEFT: "{limit} is reached: {count} files were left as they are",
    Reason.ORPHANS_LEFT: "{limit} is reached: {orphans} left, or known to the table by now",
    Reason.FILES_CHANGED: "{count} files were left as they are: other commits changed them each of {tries} times",
    Reason.REWRITE_REFUSED: "left as they are: {error}",
    Reason.DELETES_NOT_REWRITTEN: "delete files are left as they are: {why}",
    Reason.EXPIRY_NOT_PLANNED: "no snapshot is expired: {why}",
    Reason.NOTHING_EXPIRED: "nothing is expired: {why}",
    Reason.ORPHANS_NOT_PLANNED: "no orphan is looked for: {why}",
    Reason.NOTHING_REMOVED: "nothing is removed: {why}",
    Reason.REMOVAL_NOT_AGREED: "{count} orphans are found; say remove_orphans=True",
}
_OBSTACLES = {
    Hindrance.FAST_OFF: "the policy says fast: false",
    Hindrance.FAST_REFUSED: "the fast way was refused {number} times: {error}",
    Hindrance.FORMAT_VERSION: "the table has format {number}{lineage}",
    Hindrance.DELETE_FILES: "the table has delete files",
    Hindrance.SORT_ORDER: "the table has a sort order",
    Hindrance.OLDER_PARTITIONING: "some files have an older partitioning",
    Hindrance.DROPPED_PARTITION_FIELD: "a field was dropped from its partitioning",
    Hindrance.PARTITION_TYPE: "it is partitioned by values of type {name}",
    Hindrance.LARGE_GROUP: "a group is larger than {mb} MB",
    Hindrance.FILE_FORMAT: "some of its files are not Parquet",
    Hindrance.SORTED_FILES: "some of its files are sorted",
    Hindrance.OTHER_COLUMNS: "some of its files were written with other columns than it has now",
    Hindrance.COLUMN_TYPE: "its column {name} is of type {kind}",
    Hindrance.WRITE_FORMAT: "its files are written as {name}",
    Hindrance.PROPERTY: "it has the property {name}, which only Iceberg's own writer knows",
    Hindrance.CODEC: "its files are compressed by {name}",
    Hindrance.CODEC_LEVEL: "its files are compressed by {name} at level {number}",
    Hindrance.FILE_IO: "its files are reached by {name} at {kind}:",
    Hindrance.STORAGE_SETTING: "its storage has the setting {name}, which only Iceberg's own writer knows",
    Hindrance.FILES_ELSEWHERE: "some of its files lie elsewhere, at {kind}:",
    Hindrance.UUID_PARTITION: (
        "partition field {name} holds a UUID, and Iceberg's actions for delete files cannot read such a partition "
        "on Spark"
    ),
    Hindrance.GC_DISABLED: "the table has gc.enabled false, its files may belong to others",
    Hindrance.SOURCE_OWNS: (
        "its files are those of {location}, which it follows: formats.take_over makes them its own"
    ),
    Hindrance.MARK_EXPIRES: "{name} is a reader's mark, and its maximum age is over: expiry would drop it",
    Hindrance.BRANCH_SNAPSHOT_AGE: (
        "branch {name} has a maximum snapshot age of its own, by which Iceberg would also expire {number} that "
        "are needed: drop that setting"
    ),
    Hindrance.LISTING_REFUSED: "what is an orphan of {name} cannot be told, nothing is removed: {error}",
    Hindrance.UNREADABLE_METADATA: (
        "metadata that cannot be read lies below {location}, in {folder}: its table's files may be among what is "
        "taken for orphans. Nothing is removed"
    ),
    Hindrance.METADATA_OF_ANOTHER: (
        "another table's metadata lies below {location}, in {folder}: its files would be taken for orphans. "
        "Nothing is removed"
    ),
    Hindrance.UNKNOWN_COMMIT: (
        "{location} was committed, and the metadata file that the catalog names does not know it: the catalog "
        "came back from an old copy, or another one has the table too. Nothing is removed"
    ),
}


def obstacle(hindering: Obstacle) -> str:
    """Return what is in the way, as half a sentence that can follow a colon."""
    lineage = ", whose row lineage would be lost" if (hindering.number or 0) > 2 else ""
    mb = (hindering.number or 0) // 1024**2
    return _OBSTACLES[hindering.hindrance].format(**vars(hindering), lineage=lineage, mb=mb)


def sentence(remark: Remark) -> str:
    """Return the sentence of a remark."""
    return _REMARKS[remark.reason].format(
        **vars(remark),
        why=obstacle(remark.obstacle) if remark.obstacle else remark.error,
        partition="the table's files" if remark.name == "{}" else f"partition {remark.name}",
        older_snapshots_stay=count(remark.count or 0, "older snapshot", "stay"),
        orphans=count(remark.count or 0, "orphan"),
    )


@checked
def sentences(result: Planned | Done) -> tuple[str, ...]:
    """Return what is to be said of a plan, or of an action beside its figures: its remarks, and what expired."""
    if isinstance(result, Done) and result.name == "expire_snapshots" and not result.remarks:
        return (gone(result),)
    return tuple(sentence(remark) for remark in result.remarks)


def gone(done: Done) -> str:
    """Return what expiry took beside data and delete files."""
    return f"{len(done.snapshots)} snapshots went, {done.metadata_files} manifests and manifest lists with them"


def figures(done: Done) -> str:
    """Return what an action did, in figures."""
    if done.name == "remove_orphans":
        return f"{count(len(done.orphans), 'orphan')} found, {done.files:,} deleted"
    fate = "deleted" if done.name == "expire_snapshots" else f"before, {done.files_after:,} after"
    parts = [f"{count(done.files, 'file')} {fate}"]
    parts += [f"{done.bytes_read:,} bytes read"] if done.bytes_read else []
    tries = "1 try" if done.tries == 1 else f"{done.tries:,} tries"
    return ", ".join([*parts, count(done.commits, "commit"), tries])


def action(planned: Action) -> str:
    """Return what an action of a plan would do.

    Raises:
        ValueError: maintenance has no action of that name.
    """
    if planned.name not in _ACTIONS:
        raise ArgumentError(f"{planned.name!r} is not an action; there are {', '.join(_ACTIONS)}")
    return _ACTIONS[planned.name](planned)


def _compaction(planned: Action) -> str:
    files, partitions = count(planned.files or 0, "data file"), count(len(planned.groups), "partition")
    parts = [f"{files} of {partitions} become about {planned.files_after:,}"]
    if worn := sum(group.with_deletes for group in planned.groups):
        parts.append(f"{worn:,} of them lose their deleted rows")
    if planned.evolved:
        parts.append(f"{planned.evolved:,} take the table's present partitioning")
    return "; ".join(parts)


def _deletes(planned: Action) -> str:
    parts = []
    if small := (planned.files or 0) - planned.dangling:
        parts.append(f"{count(small, 'small delete file', 'become')} about {planned.files_after:,}")
    if planned.dangling:
        parts.append(count(planned.dangling, "dangling delete file", "go"))
    return "; ".join(parts)


def _manifests(planned: Action) -> str:
    order = ", ordered by partition" if planned.by_partition else ""
    return f"{count(planned.files or 0, 'manifest', 'become')} about {planned.files_after:,}{order}"


def _expiry(planned: Action) -> str:
    files = count(planned.files or 0, "data or delete file")
    return f"{count(len(planned.snapshots), 'snapshot', 'go')}, and {files} that only they needed"


def _orphans(planned: Action) -> str:
    return (
        f"files below {planned.location} that no snapshot knows and that are older than "
        f"{planned.older_than_days:g} days are found, and removed when told so"
    )


def _statistics(planned: Action) -> str:
    return f"distinct values of each column are counted; reads {count(planned.files or 0, 'data file')}"


_ACTIONS = {
    "compact_data": _compaction,
    "rewrite_deletes": _deletes,
    "rewrite_manifests": _manifests,
    "expire_snapshots": _expiry,
    "remove_orphans": _orphans,
    "compute_statistics": _statistics,
}


def breaks(planned: Action) -> tuple[str, ...]:
    """Return who would notice that an action was done, a sentence each."""
    if planned.name == "compact_data":
        return ("who reads changes from here on has to skip the snapshots of operation replace",)
    if planned.name != "expire_snapshots":
        return ()
    lost = f"{count(len(planned.snapshots), 'snapshot')} can no longer be read, compared or gone back to"
    return (lost, *(f"{name} goes: its maximum age is over" for name in planned.drops))


@checked
def told(planned: Planned) -> PandasFrame:
    """Return a plan as a pandas DataFrame, to be shown.

    Returns:
        One row an action and one a note, in their order: action, files_before, files_after (Int64), mb_read,
        mb_written, mb_freed (float, MB of 2^20 bytes), what (string), breaks (string).
    """
    import pandas as pd

    mb = 1024 * 1024
    rows: list[tuple[object, ...]] = []
    for step in planned.actions:
        sizes = (step.bytes_read / mb, step.bytes_written / mb, step.bytes_freed / mb)
        rows.append((step.name, step.files, step.files_after, *sizes, action(step), "; ".join(breaks(step))))
    rows += [("note", None, None, None, None, None, note, "") for note in sentences(planned)]
    columns = ["action", "files_before", "files_after", "mb_read", "mb_written", "mb_freed", "what", "breaks"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"files_before": "Int64", "files_after": "Int64"})


def count(many: int, noun: str, verb: str | None = None) -> str:
    """Return a number with its noun and the verb that follows it: `1 snapshot goes`, `2,000 snapshots go`."""
    if many != 1:
        return f"{many:,} {noun}s{f' {verb}' if verb else ''}"
    return f"1 {noun}{f' {verb}' if verb else ''}{'es' if verb == 'go' else 's' if verb else ''}"
