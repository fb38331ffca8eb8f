"""Slowly changing dimensions, type 2, from an Iceberg table's own history: one row a version of a key.

`build` follows a source's commits into a target table, by one commit a run; `as_of` and `current` read it. The
target says in its own snapshots how far it is, so a build that was killed at any point is simply run again. See
docs/history.md for what is guaranteed and what it costs.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, SparkSession
from workbench.history import advance, targets
from workbench.history.advance import Built, NullKey
from workbench.history.doubles import KeyTwice
from workbench.history.positions import OtherSource
from workbench.tables import changes, commits
from workbench.tables.changes import BackEnd, HistoryExpired, ranges
from workbench.tables.commits import MainMoved

__all__ = [
    "Built", "HistoryExpired", "KeyTwice", "MainMoved", "NullKey", "OtherSource", "as_of", "build", "current",
]  # fmt: skip


@checked
def build(
    spark: SparkSession,
    source: str,
    target: str,
    *,
    key: str | Sequence[str],
    back_end: BackEnd = "auto",
    truncated: bool = False,
    together: Sequence[int] = (),
) -> Built:
    """Bring a history table up to date with its source, by one commit.

    The target gets the source's columns and: valid_from (timestamp: time of the commit that brought the version),
    valid_to (timestamp: of the commit that ended it; null while it is open), is_current (boolean: open), version
    (int: 1, 2, 3 … a key), change_ordinal (int: number of the commit that brought it, from 0, compactions not
    counted). It is made when it is missing; a table that is there keeps its partitioning and properties. A column
    that was added to the source is added to the target, in older versions null or its initial default.

    Args:
        spark: session whose catalog holds both; a classic one, not Spark Connect.
        source: `namespace.name` of a table.
        target: `namespace.name` of the history.
        key: column or columns that name a row; unique in every snapshot, never null.
        back_end: how changes are found, as in `changes.between`.
        truncated: for a first build of a source whose oldest snapshots were expired: start with the oldest state
            that is left. Its rows then seem to begin there.
        together: ids of the source's snapshots that left a key twice and were corrected by a later commit: each is
            taken as one commit with the next that changes rows, at whose time and number their changes stand. Ids
            that the target has passed have no effect, as long as the source has them.

    Returns:
        Built.

    Raises:
        HistoryExpired: commits that the target has not seen are no longer there, or `together` names one that is
            not the source's.
        OtherSource: the target was built from another table.
        KeyTwice: a commit left two rows of one key; the message names it and how to go on.
        NullKey: a row has no key.
        MainMoved: somebody else made or changed the target meanwhile; nothing was published. Run it again.
        ValueError: a name, column, key or back-end is wrong, or a column was dropped, renamed or retyped.
    """
    name = identifiers.quoted(source)
    identifiers.quoted(target)
    key = (key,) if isinstance(key, str) else tuple(key)
    table = commits.load(spark, source)
    schema = spark.table(name).schema
    changes.check_columns(source, schema, list(key))
    for name in schema.names:
        identifiers.in_sql(name)  # a merge parses the names that it fills once more
    if taken := [name for name in schema.names if name.lower() in targets.COLUMNS]:
        raise ArgumentError(f"{source} has a column {taken[0]}, which the history adds")
    return advance.run(spark, source, table, schema, target, key, back_end, truncated, tuple(together))


@checked
def as_of(spark: SparkSession, target: str, when: datetime) -> DataFrame:
    """Return the versions that were valid at a time.

    Args:
        spark: the session.
        target: a table that `build` made.
        when: datetime, UTC when naive. A version is valid from valid_from, inclusive, to valid_to, exclusive.

    Returns:
        DataFrame of the target's columns, at most one row a key. Lazy.

    Raises:
        ValueError: `when` is not a datetime, or the table is not a history.
        TableNotFound: no such table; the message lists those there are.
    """
    from pyspark.sql import functions as F

    moment = _literal(when)
    open_or_later = F.col("valid_to").isNull() | (F.col("valid_to") > moment)
    return _versions(spark, target).where((F.col("valid_from") <= moment) & open_or_later)


def _literal(when: datetime) -> Column:
    """Return a datetime as a Column: PySpark's own literal is days off before 1582."""
    from pyspark.sql import functions as F

    return F.timestamp_micros(F.lit(ranges.since_1970(when) // timedelta(microseconds=1)))


@checked
def current(spark: SparkSession, target: str) -> DataFrame:
    """Return the open versions: the source as it was when the target was built last.

    Returns:
        DataFrame of the target's columns, at most one row a key. Lazy.

    Raises:
        ValueError: the table is not a history.
        TableNotFound: no such table; the message lists those there are.
    """
    return _versions(spark, target).where("is_current")


def _versions(spark: SparkSession, target: str) -> DataFrame:
    commits.load(spark, target)  # its error names the tables that are there
    rows = spark.table(identifiers.quoted(target))
    if missing := [name for name in targets.COLUMNS if name not in rows.columns]:
        raise ArgumentError(f"{target} is not a history: it has no column {missing[0]}; {', '.join(rows.columns)}")
    return rows
