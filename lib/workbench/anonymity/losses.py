"""Check what was lost or changed between a table and the one that it was made of."""

from collections.abc import Sequence

from workbench._base import identifiers
from workbench.anonymity import pairs
from workbench.anonymity.pairs import Pair


def by_key(pair: Pair, key: Sequence[str]) -> None:
    """Note rows that are in one of both only, by their key."""
    assert pair.source is not None
    before, after = (frame.select(*map(pairs.named, key)) for frame in (pair.source, pair.table))
    pair.add(
        "rows by key", ", ".join(key), before.exceptAll(after).count(), f"rows of {pair.source_name} are lost"
    )
    pair.add(
        "rows by key",
        ", ".join(key),
        after.exceptAll(before).count(),
        f"rows are not in {pair.source_name}, or are there less often",
    )


def by_month(pair: Pair, month: str) -> None:
    """Note months with another number of rows."""
    from pyspark.sql import functions as F

    assert pair.source is not None
    counts = [
        frame.groupBy(F.date_trunc("month", F.col(identifiers.column(month))).alias("m")).agg(
            F.count("*").alias(name)
        )
        for frame, name in ((pair.source, "before"), (pair.table, "after"))
    ]
    both = counts[0].join(counts[1], counts[0].m.eqNullSafe(counts[1].m), "full")
    count = both.where("coalesce(before, 0) <> coalesce(after, 0)").count()
    pair.add(
        "rows by month", month, count, f"months of {month} have another number of rows than in {pair.source_name}"
    )


def unchanged(pair: Pair, columns: Sequence[str]) -> None:
    """Note rows that differ in columns that must be the same."""
    assert pair.source is not None
    before, after = (frame.select(*map(pairs.named, columns)) for frame in (pair.source, pair.table))
    names = ", ".join(columns)
    pair.add(
        "unchanged",
        names,
        before.exceptAll(after).count(),
        f"rows of {pair.source_name} differ in {names}, or are lost",
    )
    if before.count() != after.count():
        pair.add(
            "unchanged",
            names,
            after.exceptAll(before).count(),
            f"rows differ in {names} from {pair.source_name}, or were added",
        )


def shares(pair: Pair, columns: Sequence[str], tolerance: float) -> None:
    """Note values whose share of the rows moved."""
    from pyspark.sql import functions as F

    assert pair.source is not None
    totals = [frame.count() for frame in (pair.source, pair.table)]
    for column in columns:
        parts = [
            frame.groupBy(F.col(identifiers.column(column)).alias("c")).agg(
                (F.count("*") / F.lit(total)).alias(name)
            )
            for frame, total, name in zip((pair.source, pair.table), totals, ("before", "after"), strict=True)
        ]
        both = parts[0].join(parts[1], parts[0].c.eqNullSafe(parts[1].c), "full")
        moved = F.abs(F.coalesce("before", F.lit(0.0)) - F.coalesce("after", F.lit(0.0)))
        count = both.where(moved > F.lit(tolerance + 1e-12)).count()
        pair.add("shares", column, count, f"values of {column} have another share than in {pair.source_name}")
