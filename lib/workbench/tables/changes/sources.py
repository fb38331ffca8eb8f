"""The rows that steps removed and added, as few as metadata and a comparison by keys allow."""

from collections.abc import Sequence, Set
from typing import Any

from workbench._base import identifiers
from workbench._base.typing import DataFrame, StructType
from workbench.tables.changes import compare, lineage
from workbench.tables.changes.files import Piece, Reader, Touched


def deleted(reader: Reader, lives: Sequence[Sequence[tuple[int, Piece]]], steps: Set[int]) -> list[DataFrame]:
    """Return the rows deleted in files that stayed, with the step that did it: frames with `_step` and `_side`.

    Each file is read once, under its last deletes; which step deleted a row is known by the positions alone, for
    which Iceberg decodes no column.

    Args:
        reader: of the table.
        lives: `Touched.deleted`.
        steps: those that can change rows.
    """
    from pyspark.sql import functions as F

    by_last: dict[int, list[Piece]] = {}
    at: dict[int, list[Piece]] = {}
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
    full, step_column = compare.union(frames), F.col("_last")
    if at:
        seen = compare.union([_positions(reader, pieces, step) for step, pieces in at.items()])
        seen = seen.groupBy("_file", "_pos").agg(F.min("_at").alias("_at"))
        full, step_column = full.join(seen, ["_file", "_pos"], "left"), F.coalesce(F.col("_at"), F.col("_last"))
    full = full.select(*names, step_column.alias("_step"), F.lit(-1).alias("_side"))
    return [full.where(F.col("_step").isin(sorted(steps)))]  # not -1: deleted before the file's first state here


def _positions(reader: Reader, pieces: Sequence[Piece], step: int) -> DataFrame:
    from pyspark.sql import functions as F

    return reader.rows(pieces).where("_deleted").select("_file", "_pos", F.lit(step).alias("_at"))


def by_difference(reader: Reader, touched: Touched, schema: StructType, key: Sequence[str]) -> list[DataFrame]:
    """Return rows of rewritten files whose key changed: all values are read, keys and hashes are compared.

    Returns:
        list of frames of the table's columns with `_step` and `_side`.
    """
    from pyspark.sql import functions as F

    rewriting = set(touched.removed)
    tags: dict[tuple[str, tuple[str, ...]], list[Any]] = {}  # to [piece, step that added it, step that removed it]
    for side, steps in ((0, touched.added), (1, touched.removed)):
        for step in rewriting & set(steps):
            for piece in steps[step]:
                tags.setdefault((piece.path, piece.deletes), [piece, None, None])[side + 1] = step
    groups: dict[tuple[int | None, int | None], list[Piece]] = {}
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


def plain_additions(reader: Reader, touched: Touched) -> list[tuple[int, DataFrame]]:
    """Return (step, frame with `_step` and `_side`) of files that were added by steps that removed none."""
    return [
        (step, lineage.sided(reader.rows(pieces), step, 1))
        for step, pieces in sorted(touched.added.items())
        if step not in touched.removed
    ]
