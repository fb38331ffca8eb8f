"""Scripts of commits to a table of keyed rows, and the history that follows from them, told by no table.

A script is a list with one dictionary a commit, the first makes the table: key to (value, updated_at), or to None
when the key's row is deleted. A value is a whole number, updated_at a column of the application.
"""

import random
from typing import Annotated

from workbench._base.bounds import Ge, Gt, Le
from workbench._base.door import checked
from workbench.data import nyc

Script = list[dict[str, tuple[int, int] | None]]


@checked
def products(
    *,
    rows: Annotated[int, Ge(1)],
    share: Annotated[float, Gt(0), Le(1)],
    commits: Annotated[int, Ge(0)],
    seed: int,
) -> Script:
    """Make up the lives of products: a tenth of the changes deletes, a tenth keeps updated_at.

    Args:
        rows: products of the first commit; keys P0000000 and up.
        share: share of them that each later commit changes, above 0, up to 1; a deleted one comes back.
        commits: commits after the first.
        seed: any integer; the same arguments give the same script.

    Returns:
        list of commits + 1 dictionaries.

    Raises:
        ValueError: an argument is out of its range.
    """
    chance, keys = random.Random(seed), [f"P{n:07}" for n in range(rows)]
    script: Script = [{key: (n % 997, 0) for n, key in enumerate(keys)}]
    for number in range(1, commits + 1):
        some = chance.sample(keys, max(1, round(rows * share)))
        script.append({key: _changed(chance, number) for key in some})
    return script


def _changed(chance: random.Random, number: int) -> tuple[int, int] | None:
    if chance.random() < 0.1:
        return None
    return chance.randrange(997), 0 if chance.random() < 0.1 else number


@checked
def planes(*, commits: Annotated[int, Ge(0), Le(11)]) -> Script:
    """Read the lives of the real aircraft of New York 2013: how many flights each made, month by month.

    An aircraft that did not fly in a month is gone in that month's commit.

    Args:
        commits: months after January, 0 to 11.

    Returns:
        list of commits + 1 dictionaries; keys are tail numbers, values flights in the month.

    Raises:
        ValueError: commits is not an integer from 0 to 11.
    """
    import pandas as pd

    flown = pd.read_csv(nyc.csv("flights"), usecols=["month", "tailnum"]).groupby("month").tailnum.value_counts()
    script: Script = []
    before: set[str] = set()
    for month in range(1, commits + 2):
        now = {key: (int(count), month) for key, count in sorted(flown[month].to_dict().items())}
        script.append({**now, **dict.fromkeys(sorted(before - set(now)))})
        before = set(now)
    return script


def history(script: Script) -> list[tuple[str, int, int, int | None]]:
    """Return the versions that a script's rows went through, by plain Python.

    Returns:
        list of (key, value, first commit, commit that ended it or None), sorted; commits count from 1. A commit
        that leaves a row as it was begins no version.
    """
    versions: list[tuple[str, int, int, int | None]] = []
    alive: dict[str, tuple[int, tuple[int, int]]] = {}
    for number, step in enumerate(script, 1):
        for key, row in step.items():
            if key in alive and alive[key][1] != row:
                start, (value, _) = alive.pop(key)
                versions.append((key, value, start, number))
            if row is not None and key not in alive:
                alive[key] = (number, row)
    versions += [(key, row[0], start, None) for key, (start, row) in alive.items()]
    return sorted(versions, key=lambda version: (version[0], version[2]))
