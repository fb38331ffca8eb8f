"""Delete files: small ones written together, and those that apply to no data file any more."""

from dataclasses import dataclass

from workbench.tables import commits
from workbench.tables.maintenance import groups, metadata

TARGET = "write.delete.target-file-size-bytes"
_DEFAULT = 64 * 1024 * 1024


@dataclass(frozen=True)
class Found:
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


def found(spark, loaded, policy):
    """Return what of a loaded table's delete files is worth a rewrite; None when nothing is.

    Deletion vectors (format 3) are never written together: there is one a data file already.
    """
    from pyspark.sql import functions as F

    snapshot = loaded.currentSnapshot()
    if snapshot is None or not int((snapshot.summary() or {}).get("total-delete-files") or 0):
        return None
    live = metadata.entries(spark, loaded)
    if "partition" not in live.columns:
        live = live.withColumn("partition", F.lit(None))
    oldest = live.where("content = 0").groupBy("spec_id", "partition").agg(F.min("seq").alias("oldest"))
    paths = live.where("content = 0").select(F.col("file_path").alias("there"))
    gone = live.where("content > 0").alias("d")
    gone = gone.join(
        oldest.alias("o"),
        (F.col("d.spec_id") == F.col("o.spec_id")) & F.col("d.partition").eqNullSafe(F.col("o.partition")),
        "left",
    ).join(paths, F.col("d.referenced_data_file") == F.col("there"), "left")
    # Iceberg's rule: older than each data file of its partition, or of a data file that is not there
    older = F.col("oldest").isNull() | F.when(F.col("d.content") == 1, F.col("d.seq") < F.col("oldest")).otherwise(
        F.col("d.seq") <= F.col("oldest")
    )
    lost = (F.col("d.file_format") == "PUFFIN") & F.col("there").isNull()
    rows = gone.select(
        "d.content",
        "d.file_format",
        "d.spec_id",
        "d.partition",
        "d.file_size_in_bytes",
        (older | lost).alias("lost"),
    ).collect()
    return _counted(rows, int(loaded.properties().get(TARGET) or _DEFAULT), policy)


def _counted(rows, target, policy):
    dangling = [row.file_size_in_bytes for row in rows if row.lost]
    by_partition = {}
    for row in rows:
        few = row.file_size_in_bytes < target * groups.SMALL
        if not row.lost and row.content == 1 and row.file_format != "PUFFIN" and few:
            by_partition.setdefault((row.spec_id, metadata.partition_of(row.partition)), []).append(
                row.file_size_in_bytes
            )
    worth = [sizes for sizes in by_partition.values() if len(sizes) >= policy.min_input_files]
    if not worth and not dangling:
        return None
    small = sum(len(sizes) for sizes in worth)
    after = sum(groups.files_after(sum(sizes), target) for sizes in worth)
    return Found(small, after, len(dangling), sum(map(sum, worth)) + sum(dangling))


def rewrite(spark, table, policy, *, tries, max_commits=None):
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
    again = (commits.CONFLICT, commits.VALIDATION)

    def commit():
        loaded = metadata.own(spark, table)
        actions = spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)
        before = after = 0
        if loaded.operations().current().formatVersion() == 2:
            action = actions.rewritePositionDeletes(loaded)
            done = action.option("min-input-files", str(policy.min_input_files)).execute()
            before, after = done.rewrittenDeleteFilesCount(), done.addedDeleteFilesCount()
        if before and max_commits == 1:
            return before, after, 1
        dropped = actions.removeDanglingDeleteFiles(metadata.own(spark, table)).execute()
        gone = len(list(dropped.removedDeleteFiles()))
        return before + gone, after, bool(before) + bool(gone)

    done = commits.attempt(commit, landed=lambda: None, conditional=True, again=again, tries=tries)
    return done, *done.value
