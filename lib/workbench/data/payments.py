"""Payments that a table takes in commit by commit: a statement each, and what the table then holds, in Python."""

import random
from dataclasses import dataclass
from typing import Annotated

from workbench._base.bounds import Ge
from workbench._base.door import checked

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


@checked
def made(*, commits: Annotated[int, Ge(1)] = 24, seed: int = 1) -> list[Step]:
    """Make the commits of a table made by `CREATE`; the same arguments give the same ones.

    Three appends of 100 payments, each one file, then an UPDATE that raises one payment in ten by 1: copy-on-write
    replaces all the files by one, and only older snapshots need the old ones.

    Args:
        commits: how many.
        seed: any integer; which payments are raised, and the amounts.

    Returns:
        list of Step.

    Raises:
        ValueError: commits is not an integer of at least 1.
    """
    chance, steps = random.Random(seed), []
    rows: dict[int, int] = {}
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
        steps.append(Step(sql, 0 if number % EVERY == 0 else ROWS, rows))
    return steps
