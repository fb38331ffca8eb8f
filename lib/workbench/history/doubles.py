"""Keys that a commit left twice: which states of the source have them, and how a history continues after these."""

import operator
from collections.abc import Sequence
from functools import reduce

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession, StructType
from workbench.tables.changes import compare
from workbench.tables.changes.ranges import Range

STATES_READ = 50  # of the source, at most, to say which have the key twice


class KeyTwice(ArgumentError):
    """A commit left two rows of one key; the message names it, the commit, and how to go on."""


def error(
    spark: SparkSession,
    source: str,
    commits: Range,
    schema: StructType,
    key: tuple[str, ...],
    values: list[str] | None = None,
) -> KeyTwice:
    """Return what to raise where a key is there twice.

    Args:
        spark: the session.
        source: name of the table.
        commits: the range that is built.
        schema: of the source.
        key: columns that name a row.
        values: of the key that is there twice, as `compare.shown` gives them; None where they are not known.
    """
    which = f"{', '.join(key)} = {', '.join(values)}" if values else "a key"
    twice, corrected = _states(spark, source, commits, schema, key, values) if values else ([], False)
    message = f"{source} has two rows with {which} after one commit"
    message += f", snapshot {twice[0]}" if twice else ""
    message += "; a history needs keys that name one row"
    if twice:
        ids = [*commits.together, *twice]
        advice = "A later commit has corrected it: build" if corrected else "Correct it by a commit, then build"
        message += f". {advice} with together={ids}, and they are taken as one with the commit after them"
    return KeyTwice(message)


def _states(
    spark: SparkSession, source: str, commits: Range, schema: StructType, key: Sequence[str], values: Sequence[str]
) -> tuple[list[int], bool]:
    """Return (ids of the first states in a row with the key twice, whether a state after them has it once)."""
    twice = []
    equal = [column == value for column, value in zip(compare.shown(schema, key), values, strict=True)]
    same = reduce(operator.and_, equal)
    for step in commits.steps[:STATES_READ]:
        rows = spark.sql(f"SELECT * FROM {identifiers.quoted(source)} VERSION AS OF {step.snapshot_id}")
        if not set(key) <= set(rows.columns):  # named in another way then
            continue
        if rows.where(same).limit(2).count() > 1:
            twice.append(step.snapshot_id)
        elif twice:
            return twice, True
    return twice, False
