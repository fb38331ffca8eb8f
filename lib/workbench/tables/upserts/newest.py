"""The greatest update of each key, and the one MERGE that brings them."""

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce

from workbench._base import identifiers, nested, releases
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame
from workbench.tables.upserts.shapes import KINDS, Shape


@contextmanager
def kept(updates: DataFrame, shape: Shape) -> Iterator[Callable[[], DataFrame | None]]:
    """Give a function that returns the greatest update of each key, materialised and checked once.

    A MERGE reads its source twice, to find the files and to write them: a frame that gave other rows the second
    time would insert keys that are there. So the updates are run once, and released at the end.

    Yields:
        Function without arguments: DataFrame of the columns `_s0`, `_s1` … for the table's, one row a key; None
        when there is no update. ValueError when a key or sequence is null or an operation unknown.
    """
    frames: list[DataFrame] = []

    def rows() -> DataFrame | None:
        if not frames:
            frames.append(_grouped(updates, shape).persist())
        return frames[0].select("_row.*") if _checked(frames[0], shape) else None

    try:
        yield rows
    finally:
        for frame in frames:
            frame.unpersist()


def write(rows: DataFrame | None, shape: Shape) -> None:
    """Merge the rows that `kept` gives, in one commit; None commits nothing."""
    from pyspark.sql import functions as F

    if rows is None:
        return
    ours = _aliases(shape)

    def table(name: str) -> Column:
        return F.col(identifiers.column(name))

    def source(name: str) -> Column:
        return F.col(ours[name])

    same = reduce(operator.and_, [table(name) == source(name) for name in shape.key])
    old, new = _sequence(shape, table), _sequence(shape, source)
    newer = (old < new) | ((old == new) & (_tie(shape, table) < _tie(shape, source)))
    values = {identifiers.in_sql(name): source(name) for name in shape.columns}
    merging = releases.merge_into(rows, identifiers.quoted(shape.table), same)
    merging.whenMatched(newer).update(values).whenNotMatched().insert(values).merge()


def _grouped(updates: DataFrame, shape: Shape) -> DataFrame:
    """Return one row a key: the greatest update as `_row`, and how many are wrong in which way. Lazy."""
    from pyspark.sql import functions as F

    columns = {name: F.col(identifiers.column(name)).cast(shape.columns[name]) for name in shape.given}
    unknown = F.lit(False)
    if shape.operation and shape.deleted:
        of = F.col(identifiers.column(shape.operation))
        kinds = {kind: [text for text, effect in shape.operations.items() if effect == kind] for kind in KINDS}
        columns[shape.deleted] = of.isin(kinds["delete"])
        unknown = ~F.coalesce(of.isin([*kinds["delete"], *kinds["upsert"]]), F.lit(False))
    nulls = {
        role: reduce(operator.or_, [F.col(identifiers.column(name)).isNull() for name in names])
        for role, names in (("_key", shape.key), ("_sequence", shape.sequence))
    }
    ours = _aliases(shape)
    rows = updates.select(
        *[columns[name].alias(ours[name]) for name in shape.columns],
        *[bad.alias(name) for name, bad in (nulls | {"_operation": unknown}).items()],
    )

    def value(name: str) -> Column:
        return F.col(ours[name])

    rank = F.struct(_sequence(shape, value).alias("sequence"), _tie(shape, value).alias("tie"))
    greatest = F.max_by(F.struct(*ours.values()), rank).alias("_row")
    wrong = [F.count_if(name).alias(name) for name in ("_key", "_sequence", "_operation")]
    return rows.groupBy(*[ours[name] for name in shape.key]).agg(greatest, *wrong)


def _checked(grouped: DataFrame, shape: Shape) -> int:
    """Return how many keys there are, and refuse updates that are wrong. Runs the updates."""
    from pyspark.sql import functions as F

    wrong = ("_key", "_sequence", "_operation")
    counts = grouped.agg(F.count("*").alias("keys"), *[F.sum(name).alias(name) for name in wrong]).collect()[0]
    faults = {
        "_key": f"a null in {' or '.join(shape.key)}, and a key names a row",
        "_sequence": f"a null in {' or '.join(shape.sequence)}, and could be older or newer than any other",
        "_operation": f"another {shape.operation} than {', '.join(shape.operations)}",
    }
    if bad := [f"{counts[name]} of them have {faults[name]}" for name in wrong if counts[name]]:
        raise ArgumentError(f"updates for {shape.table} are refused: {'; '.join(bad)}")
    return counts["keys"]


def _aliases(shape: Shape) -> dict[str, str]:
    """Return names that no column of the table has."""
    prefix = "_s"
    while any(name.lower().startswith(prefix) for name in shape.columns):
        prefix = f"_{prefix}"
    return {name: f"{prefix}{n}" for n, name in enumerate(shape.columns)}


def _sequence(shape: Shape, column: Callable[[str], Column]) -> Column:
    """Return what orders the updates of a key; a row without it is below all others."""
    from pyspark.sql import functions as F

    return F.struct(*[column(name).alias(f"n{n}") for n, name in enumerate(shape.sequence)])


def _tie(shape: Shape, column: Callable[[str], Column]) -> Column:
    """Return what orders updates of the same sequence."""
    from pyspark.sql import functions as F

    deleted = F.coalesce(column(shape.deleted), F.lit(False)) if shape.deleted else F.lit(False)
    values = [column(name).alias(name) for name in shape.values]
    text = F.to_json(F.struct(*values), nested.AS_JSON) if values else F.lit("")
    return F.struct(deleted.alias("deleted"), text.alias("text"))
