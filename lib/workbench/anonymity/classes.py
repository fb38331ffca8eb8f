"""Check how many people are alike, and that no value is of few people."""

from collections.abc import Mapping, Sequence
from typing import Any

from workbench._base import identifiers
from workbench.anonymity import pairs
from workbench.anonymity.pairs import Pair


def smallest(pair: Pair, quasi: Sequence[str], token: str | None, k: int) -> int | None:
    """Note people in classes of fewer than k; returns the size of the smallest class, None without rows."""
    from pyspark.sql import functions as F

    what = F.countDistinct(F.struct(identifiers.column(token))) if token else F.count("*")
    sizes = pair.table.groupBy(*map(pairs.named, quasi)).agg(what.alias("_n"))
    row: Any = sizes.agg(F.min("_n"), F.sum(F.when(F.col("_n") < k, F.col("_n")))).head()
    people = "people" if token else "rows"
    pair.add("k", ", ".join(quasi), row[1] or 0, f"{people} are in a class of fewer than {k}")
    return row[0]


def least_diverse(pair: Pair, quasi: Sequence[str], sensitive: str, token: str | None, l: int) -> int | None:  # noqa: E741
    """Note people in classes with fewer than l values; returns the fewest values of a class, None without rows."""
    from pyspark.sql import functions as F

    people = F.countDistinct(F.struct(identifiers.column(token))) if token else F.count("*")
    classes = pair.table.groupBy(*map(pairs.named, quasi)).agg(
        F.countDistinct(F.struct(identifiers.column(sensitive))).alias("_l"), people.alias("_n")
    )
    row: Any = classes.agg(F.min("_l"), F.sum(F.when(F.col("_l") < l, F.col("_n")))).head()
    pair.add(
        "l",
        sensitive,
        row[1] or 0,
        f"{'people' if token else 'rows'} are in a class with fewer than {l} values of {sensitive}",
    )
    return row[0]


def above(pair: Pair, most: Mapping[str, float]) -> None:
    """Note values that should have been cut off."""
    from pyspark.sql import functions as F

    for column, greatest in most.items():
        count = pair.table.where(F.col(identifiers.column(column)) > F.lit(greatest)).count()
        pair.add("top-coded", column, count, f"rows have a {column} above {greatest:g}")


def days(pair: Pair, columns: Sequence[str]) -> None:
    """Note dates within a month."""
    from pyspark.sql import functions as F

    for column in columns:
        moment = F.col(identifiers.column(column))
        count = pair.table.where(moment != F.date_trunc("month", moment)).count()
        pair.add("dates", column, count, f"rows have a {column} that is not the first of a month")


def small_areas(pair: Pair, areas: Mapping[str, str], least_people: int) -> None:
    """Note areas of few people."""
    from pyspark.sql import functions as F

    for column, name in areas.items():
        known = pairs.read(pair.spark, name)
        pairs.columns(name, known, [column, "people"])
        pairs.numbers(name, known, ["people"])
        large = known.where(F.col("people") >= least_people).select(pairs.named(column))
        rows = pair.table.select(pairs.named(column)).where(F.col(identifiers.column(column)).isNotNull())
        count = rows.join(large, column, "left_anti").count()
        pair.add(
            "areas",
            column,
            count,
            f"rows have a {column} of fewer than {least_people:,} people, or of an unknown number",
        )
