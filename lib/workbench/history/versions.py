"""From changes to versions: the lives of keys, cut into intervals."""

from collections.abc import Sequence

from workbench._base import identifiers
from workbench._base.typing import DataFrame
from workbench.tables.changes import compare

TWICE, NULL = compare.TWICE, "NULL_KEY"


def events(changes: DataFrame, key: Sequence[str], ordinal: int, times: Sequence[int]) -> DataFrame:
    """Return changes with their place and time in the whole history.

    Args:
        changes: what `changes.between` returns.
        key: columns that name a row.
        ordinal: of the range's first commit in the whole history.
        times: of the range's commits in order, milliseconds since 1970 UTC, never falling.

    Returns:
        The frame with `_ordinal` (int) and `_time` (timestamp) for the columns that changes adds but change_type.
        A null in a key raises an error with NULL in it when the frame runs.
    """
    from pyspark.sql import functions as F

    moments = F.array(*[F.timestamp_millis(F.lit(millis)) for millis in times])
    null = F.lit(False)
    for name in key:
        null = null | F.col(identifiers.column(name)).isNull()
    error = compare.raised(NULL, changes.schema, key).cast("int")
    place = F.when(null, error).otherwise(F.col("change_ordinal") + F.lit(ordinal))
    return changes.withColumns(
        {"_ordinal": place, "_time": F.element_at(moments, F.col("change_ordinal") + 1)}
    ).drop("change_ordinal", "commit_snapshot_id", "commit_time")


def lives(changes: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return what happened to each key in order, with what follows.

    Args:
        changes: what `events` returns.
        key: columns that name a row.

    Returns:
        The frame with `_first` (boolean: the key's first row here) and `_until` (timestamp: of the key's next
        event, null for its last). A key that is inserted while it lives, or changed when it does not, raises an
        error with TWICE in it when the frame runs.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    keys = [F.col(identifiers.column(name)) for name in key]
    # within a commit the before-image comes first
    window = Window.partitionBy(*keys).orderBy("_ordinal", F.desc("change_type"))
    changes = changes.withColumns(
        {"_before": F.lag("change_type").over(window), "_until": F.lead("_time").over(window)}
    )
    error = compare.raised(TWICE, changes.schema, key)
    kind, before = F.col("change_type"), F.col("_before")
    wrong = ((kind == "insert") != (before == "delete")) & (kind != "update_after")
    place = F.when(before.isNotNull() & wrong, error.cast("int")).otherwise(F.col("_ordinal"))
    return changes.withColumns({"_ordinal": place, "_first": before.isNull()}).drop("_before")


def new(lived: DataFrame, key: Sequence[str], base: DataFrame | None = None) -> DataFrame:
    """Return the versions that begin with an event: columns of the source and the five of the history.

    An interval that ends when it begins (several commits within a millisecond, or clocks that step back) was never
    visible: it is dropped, and takes no version number.

    Args:
        lived: what `lives` returns.
        key: columns that name a row.
        base: frame of the key and `_base` (int), the versions that a key has already; None when none has.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    keys = [identifiers.column(name) for name in key]
    rows = lived.where("change_type IN ('insert', 'update_after') AND (_until IS NULL OR _until > _time)")
    number = F.row_number().over(Window.partitionBy(*[F.col(k) for k in keys]).orderBy("_ordinal"))
    if base is not None:
        rows = rows.withColumn("_number", number).join(base, list(key), "left")
        number = F.col("_number") + F.coalesce(F.col("_base"), F.lit(0))
    return rows.withColumns(
        {
            "valid_from": F.col("_time"),
            "valid_to": F.col("_until"),
            "is_current": F.col("_until").isNull(),
            "version": number.cast("int"),
            "change_ordinal": F.col("_ordinal").cast("int"),
        }
    )


def ends(lived: DataFrame) -> DataFrame:
    """Return the rows of `lives` that end a version which was open before: its values, and its end in `_time`."""
    return lived.where("_first AND change_type <> 'insert'")


def closed(ended: DataFrame) -> DataFrame:
    """Return the versions that end, as they are then, but those that would end when they began.

    Args:
        ended: what `ends` returns, with `_from`, `_version` and `_born` of the target's open versions.
    """
    from pyspark.sql import functions as F

    return ended.where("_time > _from").withColumns(
        {
            "valid_from": F.col("_from"),
            "valid_to": F.col("_time"),
            "is_current": F.lit(False),
            "version": F.col("_version"),
            "change_ordinal": F.col("_born"),
        }
    )
