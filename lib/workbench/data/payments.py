"""Payments that a table takes in commit by commit: a statement each, and what the table then holds, in Python."""

import random
from dataclasses import dataclass

from workbench._base.errors import ArgumentError

# Spark would shuffle an UPDATE's rows by the drawn names of their files, and write one file or two by chance
CREATE = (
    "CREATE TABLE {table} (id BIGINT, amount BIGINT) USING iceberg"
    " TBLPROPERTIES ('write.update.distribution-mode' = 'none')"
)
ROWS = 100  # of an append
EVERY = 4  # each fourth commit is an UPDATE


@dataclass(frozen=True)
class Step:
    """A commit.

    Attributes:
        sql: the statement, with `{table}` for the table's name.
        appended: rows that it appends; 0 of an UPDATE.
        rows: id to amount, of the whole table afterwards.
    """

    sql: str
    appended: int
    rows: dict[int, int]


def made(*, commits=24, seed=1):
    """Make the commits of a table made by `CREATE`; the same arguments give the same ones.

    Three appends of 100 payments, each one file, then an UPDATE that raises one payment in ten by 1: copy-on-write
    replaces all the files by one, and only older snapshots need the old ones.

    Args:
        commits: how many.
        seed: any integer; which payments are raised, and the amounts.

    Returns:
        list of Step.

    Raises:
        ValueError: commits is no whole number from 1.
    """
    if isinstance(commits, bool) or not isinstance(commits, int) or commits < 1:
        raise ArgumentError(f"commits is {commits!r}, expected a whole number from 1")
    chance, rows, found = random.Random(seed), {}, []
    for number in range(1, commits + 1):
        if number % EVERY == 0:
            digit = chance.randrange(10)
            sql = f"UPDATE {{table}} SET amount = amount + 1 WHERE id % 10 = {digit}"
            rows = {id: amount + (id % 10 == digit) for id, amount in rows.items()}
        else:
            first, factor = len(rows), chance.randrange(1, 1000)
            values = (
                f"SELECT /*+ COALESCE(1) */ id, id * {factor} % 1000 AS amount FROM range({first}, {first + ROWS})"
            )
            sql = f"INSERT INTO {{table}} {values}"
            rows = rows | {id: id * factor % 1000 for id in range(first, first + ROWS)}
        found.append(Step(sql, 0 if number % EVERY == 0 else ROWS, rows))
    return found
