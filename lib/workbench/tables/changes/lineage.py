"""Rows of rewritten files by row lineage: which are new, and what they replaced.

In format 3 every row has an id that it keeps, and the sequence number of the commit that wrote it last. A row that
was only carried over keeps both, so what a commit changed in a file that it rewrote is a filter. What a row was
before is the version with the next smaller sequence number: it is among the new rows of an earlier commit of the
range, or in the state before the range. So each state's files are read once, not once as new and again as old.
"""

from collections.abc import Mapping, Sequence

from workbench._base.typing import DataFrame
from workbench.tables.changes import compare, files
from workbench.tables.changes.files import Reader, Touched

ID, WRITTEN = "_row_id", "_last_updated_sequence_number"


def rewritten(
    reader: Reader, touched: Touched, limits: Mapping[int, tuple[int, int]], began: int, *, compared: bool = True
) -> tuple[list[DataFrame], list[DataFrame]]:
    """Return rows of rewritten files that were written anew, and what they replaced or what is gone.

    Args:
        reader: of the table.
        touched: what the range touched.
        limits: step to (its rows' sequence numbers are above this one, first row id not given out before it).
        began: sequence number of the state before the range.
        compared: False spares reading what new rows replaced where nothing was deleted.

    Returns:
        (list of frames of the table's columns with `_step` and `_side`; list of such with `_old`, whether the row
        was there before: not to be compared). New rows are read at the call.
    """
    from pyspark.sql import functions as F

    fresh, others, updated, alone = {}, [], [], []
    for step in sorted(touched.removed):
        sequence, first_row_id = limits[step]
        if not (added := touched.added.get(step)):
            others.append(sided(reader.rows(touched.removed[step]), step, -1))
            continue
        rows = reader.rows(added, lineage=True)
        new = rows.where(F.col(WRITTEN) > F.lit(sequence)).localCheckpoint()
        old = F.col(ID) < first_row_id
        counts = new.agg(F.count("*"), F.count_if(old)).collect()[0]
        if _nothing_deleted(touched, step, *counts):
            if not compared:
                alone.append(sided(new.withColumn("_old", old), step, 1))
                continue
            updated.append((step, sequence, new.where(old).select(ID), counts[1]))
        else:
            others.append(sided(_gone(reader, touched, step, sequence), step, -1))
        fresh[step] = new
    others += [sided(new, step, 1) for step, new in fresh.items()]
    if sum(count for *_, count in updated):
        others.append(_before(reader, touched, fresh, updated, began))
    return others, alone


def sided(frame: DataFrame, step: int, side: int) -> DataFrame:
    """Return a frame without lineage, with its step and side."""
    from pyspark.sql import functions as F

    return frame.drop(ID, WRITTEN).withColumns({"_step": F.lit(step), "_side": F.lit(side)})


def _nothing_deleted(touched: Touched, step: int, new: int, updated: int) -> bool:
    """Say whether a step's removed files had just the rows that were carried over or updated, by counts alone."""
    if any(at == step for life in touched.deleted for at, _ in life):
        return False  # the row an update replaced may stand in a file that stayed
    before, after = files.live_rows(touched.removed[step]), files.live_rows(touched.added[step])
    return before is not None and after is not None and before == after - new + updated


def _gone(reader: Reader, touched: Touched, step: int, sequence: int) -> DataFrame:
    """Return the rows of a step's removed files that were not carried over: updated or deleted."""
    from pyspark.sql import functions as F

    old = reader.rows(touched.removed[step], lineage=True)
    kept = reader.rows(touched.added[step], lineage=True).where(F.col(WRITTEN) <= F.lit(sequence)).select(ID)
    gone = old.select(ID).join(kept, ID, "left_anti").localCheckpoint()
    return compare.only(old, gone, gone.count(), [ID])


def _before(
    reader: Reader,
    touched: Touched,
    fresh: Mapping[int, DataFrame],
    updated: Sequence[tuple[int, int, DataFrame, int]],
    began: int,
) -> DataFrame:
    """Return what updated rows were before: of each the version that was written last before its update.

    Args:
        reader: of the table.
        touched: what the range touched.
        fresh: step to its new rows in rewritten files.
        updated: list of (step, sequence number before it, ids of the rows it updated, how many).
        began: sequence number of the state before the range.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    updates = compare.union(
        [ids.select(ID, F.lit(s).alias("_step"), F.lit(q).alias("_up_to")) for s, q, ids, _ in updated]
    )
    count = sum(count for *_, count in updated)
    known = {piece.path for pieces in touched.added.values() for piece in pieces}
    first = [piece for pieces in touched.removed.values() for piece in pieces if piece.path not in known]
    # files of commits that only added rows, as far as a later commit (or a compaction) took them away
    plain = [
        piece
        for step, pieces in touched.added.items()
        if step not in touched.removed
        for piece in pieces
        if piece.path in touched.gone
    ]
    versions = list(fresh.values())
    if first:  # a compacted file also holds rows written within the range, which are read where they were new
        versions.append(reader.rows(first, lineage=True).where(F.col(WRITTEN) <= F.lit(began)))
    if plain:
        versions.append(reader.rows(plain, lineage=True))
    ids = updates.select(ID).distinct()
    few = compare.union([compare.only(rows, ids, count, [ID]) for rows in versions]).withColumnRenamed(ID, "_id")
    joined = updates.join(few, (F.col(ID) == F.col("_id")) & (F.col(WRITTEN) <= F.col("_up_to")), "left")
    newest = Window.partitionBy(ID, "_step").orderBy(F.desc_nulls_last(WRITTEN))
    joined = joined.withColumn("_n", F.row_number().over(newest)).where("_n = 1")
    lost = F.raise_error(F.concat(F.lit("row lineage names no earlier version of row "), F.col(ID)))
    step = F.when(F.col("_id").isNull(), lost.cast("int")).otherwise(F.col("_step"))
    return joined.withColumn("_step", step).drop(ID, "_id", WRITTEN, "_up_to", "_n").withColumn("_side", F.lit(-1))
