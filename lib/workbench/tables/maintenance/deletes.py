"""Delete files: small ones written together, and those that apply to no data file any more."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench._base import releases
from workbench._base.typing import Java, Row, SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import groups, metadata
from workbench.tables.maintenance.policy import Policy

TARGET = "write.delete.target-file-size-bytes"
GRANULARITY = "write.delete.granularity"
SmallFile = tuple[str | None, int, bool]  # the one data file it is for, its bytes, whether a rewrite keeps it
_DEFAULT = 64 * 1024 * 1024


@dataclass(frozen=True)
class Worthwhile:
    """Delete files that are worth a rewrite.

    Attributes:
        small: position-delete files that would be written together.
        after: how many there would be in their place.
        dangling: delete files that apply to no live data file.
        bytes: of all of them.
    """

    small: int
    after: int
    dangling: int
    bytes: int


def worthwhile(spark: SparkSession, loaded: Java, policy: Policy) -> Worthwhile | None:
    """Return what of a loaded table's delete files is worth a rewrite; None when nothing is.

    Deletion vectors (format 3) are never written together: there is one a data file already. The same is true of
    position-delete files for one data file each, which Spark writes unless the table's granularity is partition.
    """
    from pyspark.sql import functions as F

    snapshot = loaded.currentSnapshot()
    if snapshot is None or not int((snapshot.summary() or {}).get("total-delete-files") or 0):
        return None
    live = metadata.entries(spark, loaded)
    oldest = live.where("content = 0").groupBy("spec_id", "partition").agg(F.min("seq").alias("oldest"))
    paths = live.where("content = 0").select(F.col("file_path").alias("live_path"))
    gone = live.where("content > 0").alias("d")
    gone = gone.join(
        oldest.alias("o"),
        (F.col("d.spec_id") == F.col("o.spec_id")) & F.col("d.partition").eqNullSafe(F.col("o.partition")),
        "left",
    ).join(paths, groups.one_file("d") == F.col("live_path"), "left")
    # Iceberg's rule: older than each data file of its partition, or of a data file that is not there
    older = F.col("oldest").isNull() | F.when(F.col("d.content") == 1, F.col("d.seq") < F.col("oldest")).otherwise(
        F.col("d.seq") <= F.col("oldest")
    )
    lost = (F.col("d.file_format") == "PUFFIN") & F.col("live_path").isNull()
    if apply_everywhere(spark, loaded):
        older = lost = F.lit(False)
    elif releases.iceberg_before(spark, "1.12") and len(loaded.specs()) == 1 and loaded.spec().isUnpartitioned():
        older = F.lit(False)  # its action passes over such tables: each run would do nothing
    rows = gone.select(
        "d.content",
        "d.file_format",
        "d.spec_id",
        "d.partition",
        "d.file_size_in_bytes",
        groups.one_file("d").alias("named"),
        F.col("live_path").isNotNull().alias("is_live"),
        (older | lost).alias("lost"),
    ).collect()
    by_file = (loaded.properties().get(GRANULARITY) or "file").lower() == "file"
    return _counted(rows, int(loaded.properties().get(TARGET) or _DEFAULT), policy, by_file=by_file)


def apply_everywhere(spark: SparkSession, loaded: Java) -> bool:
    """Say whether a table that was partitioned later has deletes by equality from before: they apply to all files.

    The own removal of Iceberg before 1.12 looks for what they apply to among files without partitions alone, takes
    them for dangling, and the deleted rows come back.
    """
    specs = dict(loaded.specs()).items()
    plain = [number for number, spec in specs if spec.isUnpartitioned()]
    if not plain or len(specs) == 1:
        return False
    live = metadata.entries(spark, loaded)
    return not live.where((live.content == 2) & live.spec_id.isin(plain)).isEmpty()


def _counted(rows: Iterable[Row], target: int, policy: Policy, *, by_file: bool) -> Worthwhile | None:
    dangling = [row.file_size_in_bytes for row in rows if row.lost]
    by_partition: dict[tuple[int, str], list[SmallFile]] = {}
    for row in rows:
        few = row.file_size_in_bytes < target * groups.SMALL
        if not row.lost and row.content == 1 and row.file_format != "PUFFIN" and few:
            # a data file that was compacted away leaves its deletes behind; by their age alone Iceberg keeps them
            stays = row.named is None or row.is_live
            by_partition.setdefault((row.spec_id, metadata.partition_of(row.partition)), []).append(
                (row.named, row.file_size_in_bytes, stays)
            )
    together = [(files, _after(files, target, by_file)) for files in by_partition.values()]
    worth = [group for group in together if len(group[0]) >= policy.min_input_files and group[1] < len(group[0])]
    if not worth and not dangling:
        return None
    small, size = sum(len(files) for files, _ in worth), sum(size for files, _ in worth for _, size, _ in files)
    return Worthwhile(small, sum(after for _, after in worth), len(dangling), size + sum(dangling))


def _after(files: Sequence[SmallFile], target: int, by_file: bool) -> int:
    """Return how many files small ones of a partition make; by file there stays one for each live data file."""
    sums: dict[str | int | None, int] = {}
    for n, (named, size, stays) in enumerate(files):
        key = (named or n) if by_file else None
        if stays:
            sums[key] = sums.get(key, 0) + size
    return sum(groups.files_after(size, target) for size in sums.values())


def rewrite(
    spark: SparkSession, table: str, policy: Policy, *, tries: int, max_commits: int | None = None
) -> tuple[commits.Attempt, int, int, int]:
    """Write small position-delete files together and drop those that apply to nothing: a commit each.

    Args:
        spark: classic session.
        table: its name.
        policy: Policy.
        tries: how often it is begun at most.
        max_commits: with 1, what applies to nothing waits where there was something to write together.

    Returns:
        (commits.Attempt, delete files before, delete files after, commits), of the files touched.
    """
    committed: list[tuple[int, int]] = []  # (before, after) of each, also by a try whose second commit was refused

    def commit() -> None:
        loaded = metadata.own(spark, table)
        actions = metadata.actions(spark)
        planned = worthwhile(spark, metadata.still(spark, loaded), policy)
        if planned is not None and planned.small and loaded.operations().current().formatVersion() == 2:
            action = actions.rewritePositionDeletes(loaded)
            result = action.option("min-input-files", str(policy.min_input_files)).execute()
            if before := result.rewrittenDeleteFilesCount():
                committed.append((before, result.addedDeleteFilesCount()))
        if len(committed) == max_commits:
            return
        loaded = metadata.own(spark, table)
        if apply_everywhere(spark, metadata.still(spark, loaded)):
            return
        dropped = actions.removeDanglingDeleteFiles(loaded).execute()
        if count := len(list(dropped.removedDeleteFiles())):
            committed.append((count, 0))

    attempt = commits.attempt(commit, landed=lambda: None, conditional=True, again=commits.REPEATABLE, tries=tries)
    before, after = sum(count for count, _ in committed), sum(count for _, count in committed)
    return attempt, before, after, len(committed)
