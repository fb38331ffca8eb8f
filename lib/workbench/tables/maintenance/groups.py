"""Find the data files that are worth rewriting, partition by partition, by the rules of Iceberg's own planner."""

from dataclasses import dataclass

from workbench._base.typing import Column, DataFrame, Java, SparkSession
from workbench.tables.maintenance import metadata
from workbench.tables.maintenance.policy import Policy

SMALL = 0.75  # of the target: Iceberg's own default for what is too small
_PATH_ID = 2147483546  # field id of a delete file's column file_path


@dataclass(frozen=True)
class Group:
    """Data files of one partition that would be rewritten together.

    Attributes:
        partition: JSON text, field name to value; `{}` where the table has no partitions.
        spec_id: of the partition spec they were written with.
        files: how many.
        bytes: of all.
        largest: bytes of the largest.
        with_deletes: how many of them are rewritten for their deleted rows.
        files_after: how many there will be.
    """

    partition: str
    spec_id: int
    files: int
    bytes: int
    largest: int
    with_deletes: int
    files_after: int


def small(policy: Policy) -> int:
    """Return the size below which a file is small."""
    return int(policy.target_file_bytes * SMALL)


def worth(files: int, size: int, policy: Policy, *, with_deletes: int = 0) -> bool:
    """Say whether so many small files are worth being rewritten."""
    enough = files >= policy.min_input_files or (files > 1 and size > policy.target_file_bytes)
    return enough or with_deletes > 0


def files_after(size: int, target: int) -> int:
    """Return how many files of about the target size bytes make, as Iceberg counts them."""
    whole, rest = divmod(size, target)
    if whole == 0:
        return 1
    spread = rest <= target * SMALL and size / whole < target * 1.1
    return whole if rest == 0 or spread else whole + 1


def worthwhile(spark: SparkSession, loaded: Java, policy: Policy) -> tuple[Group, ...]:
    """Return the groups of a loaded table that are worth a rewrite, those with most files for their bytes first.

    A data file of another spec than the table's own counts to one group with all of its kind: rewritten, they
    take the table's.
    """
    if loaded.currentSnapshot() is None:
        return ()
    rows = _candidates(spark, loaded, policy).collect()
    sums: dict[tuple[str, int], tuple[int, int, int, int]] = {}
    for row in rows:
        own = row.spec_id == loaded.spec().specId()
        key = (metadata.partition_of(row.partition) if own else "{}", row.spec_id)
        files, size, largest, deletes = sums.get(key, (0, 0, 0, 0))
        sums[key] = files + row.files, size + row.bytes, max(largest, row.largest), deletes + row.with_deletes
    groups = [
        Group(partition, spec_id, files, size, largest, deletes, files_after(size, policy.target_file_bytes))
        for (partition, spec_id), (files, size, largest, deletes) in sums.items()
        if worth(files, size, policy, with_deletes=deletes)
    ]
    return tuple(sorted(groups, key=lambda group: (group.bytes / group.files, group.partition, group.spec_id)))


def _candidates(spark: SparkSession, loaded: Java, policy: Policy) -> DataFrame:
    """Return a frame of partitions with what in them is small or has many deletes."""
    from pyspark.sql import functions as F

    live = metadata.entries(spark, loaded)
    data = live.where("content = 0").select(
        "file_path", "spec_id", "partition", "record_count", "seq", F.col("file_size_in_bytes").alias("size")
    )
    data = data.withColumn("worn", F.lit(False))
    if int((loaded.currentSnapshot().summary() or {}).get("total-delete-files") or 0):
        data = _worn(data.drop("worn"), live.where("content > 0"), policy)
    chosen = data.where((F.col("size") < small(policy)) | F.col("worn"))
    return chosen.groupBy("spec_id", "partition").agg(
        F.count("*").alias("files"),
        F.sum("size").alias("bytes"),
        F.max("size").alias("largest"),
        F.count_if("worn").alias("with_deletes"),
    )


def one_file(alias: str) -> Column:
    """Return a Column: the one data file that a position-delete file is for; null where it may be for several."""
    from pyspark.sql import functions as F

    lowest, highest = _bounds(alias)
    return F.coalesce(F.col(f"{alias}.referenced_data_file"), F.when(lowest == highest, lowest))


def _bounds(alias: str) -> list[Column]:
    from pyspark.sql import functions as F

    return [F.decode(F.col(f"{alias}.{name}_bounds")[F.lit(_PATH_ID)], "utf-8") for name in ("lower", "upper")]


def _worn(data: DataFrame, deletes: DataFrame, policy: Policy) -> DataFrame:
    """Add whether a data file has so many delete files, or deleted rows, that it is rewritten for them.

    Which delete file applies to which data file is Iceberg's rule: the same partition and not older, the file that
    it names or whose path is within its bounds. Equality deletes are counted without looking at their bounds.
    """
    from pyspark.sql import functions as F

    lowest, highest = _bounds("d")
    path, named = F.col("f.file_path"), one_file("d")
    in_bounds = F.coalesce(named == path, F.coalesce((lowest <= path) & (path <= highest), F.lit(True)))
    position = (F.col("d.content") == 1) & (F.col("d.seq") >= F.col("f.seq")) & in_bounds
    equality = (F.col("d.content") == 2) & (F.col("d.seq") > F.col("f.seq"))
    same = (F.col("d.spec_id") == F.col("f.spec_id")) & F.col("d.partition").eqNullSafe(F.col("f.partition"))
    joined = data.alias("f").join(deletes.alias("d"), same & (position | equality), "left")
    counted = joined.groupBy("f.file_path").agg(
        F.count("d.file_path").alias("deletes"),
        F.sum(F.when(named == path, F.col("d.record_count"))).alias("deleted"),
    )
    share = F.try_divide(F.coalesce(F.col("deleted"), F.lit(0)), F.col("record_count"))  # some writers leave 0
    worn = (F.col("deletes") >= policy.min_deletes_per_file) | (share >= policy.min_delete_ratio)
    return data.join(counted, "file_path").withColumn("worn", worn)
