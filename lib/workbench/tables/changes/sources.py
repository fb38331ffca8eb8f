"""The rows that steps removed and added, as few as metadata and a comparison by keys allow."""

from workbench._base import identifiers
from workbench.tables.changes import compare, lineage


def deleted(reader, lives, steps):
    """Return the rows deleted in files that stayed, with the step that did it: frames with `_step` and `_side`.

    Each file is read once, under its last deletes; which step a row fell to is told by the positions alone, for
    which Iceberg decodes no column.

    Args:
        reader: of the table.
        lives: `Touched.deleted`.
        steps: those that can change rows.
    """
    from pyspark.sql import functions as F

    by_last, at = {}, {}
    for life in lives:
        by_last.setdefault(life[-1][0], []).append(life[-1][1])
        for step, piece in life[:-1]:
            if piece.deletes:
                at.setdefault(step, []).append(piece)
    frames = []
    for step, pieces in by_last.items():
        rows = reader.rows(pieces)
        names = [identifiers.column(name) for name in rows.columns]
        rows = rows.where("_deleted").select(*names, "_file", "_pos", F.lit(step).alias("_last"))
        frames.append(rows)
    full, found = compare.union(frames), F.col("_last")
    if at:
        seen = compare.union([_positions(reader, pieces, step) for step, pieces in at.items()])
        seen = seen.groupBy("_file", "_pos").agg(F.min("_at").alias("_at"))
        full, found = full.join(seen, ["_file", "_pos"], "left"), F.coalesce(F.col("_at"), F.col("_last"))
    full = full.select(*names, found.alias("_step"), F.lit(-1).alias("_side"))
    return [full.where(F.col("_step").isin(sorted(steps)))]  # not -1: deleted before the file's first state here


def _positions(reader, pieces, step):
    from pyspark.sql import functions as F

    return reader.rows(pieces).where("_deleted").select("_file", "_pos", F.lit(step).alias("_at"))


def by_difference(reader, found, schema, key):
    """Return rows of rewritten files whose key changed: all values are read, keys and hashes are compared.

    Returns:
        list of frames of the table's columns with `_step` and `_side`.
    """
    from pyspark.sql import functions as F

    rewriting = set(found.removed)
    tags = {}
    for side, steps in ((0, found.added), (1, found.removed)):
        for step in rewriting & set(steps):
            for piece in steps[step]:
                tags.setdefault((piece.path, piece.deletes), [piece, None, None])[side + 1] = step
    groups = {}
    for piece, added, removed in tags.values():
        groups.setdefault((added, removed), []).append(piece)
    read = [(reader.rows(pieces), *steps) for steps, pieces in groups.items()]
    keys, count = compare.changed_keys(read, schema, key)
    frames = []
    for frame, added, removed in read:
        places = [F.struct(F.lit(step).alias("_step"), F.lit(side).alias("_side"))
                  for step, side in ((added, 1), (removed, -1)) if step is not None]  # fmt: skip
        names = [identifiers.column(name) for name in frame.columns]
        few = compare.only(frame, keys, count, key).select(*names, F.explode(F.array(*places)).alias("_at"))
        frames.append(few.select(*names, "_at.*"))  # read once, though one step added it and another removed it
    return frames


def plain_additions(reader, found):
    """Return (step, frame with `_step` and `_side`) of files that were added by steps that removed none."""
    return [
        (step, lineage.sided(reader.rows(pieces), step, 1))
        for step, pieces in sorted(found.added.items())
        if step not in found.removed
    ]
