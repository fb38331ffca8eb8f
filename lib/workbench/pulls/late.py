"""How old figures were when they changed: read from the table's own history."""

import json
from collections import defaultdict
from datetime import date

from workbench._base import moments
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.pulls import positions
from workbench.pulls.results import Age, Lateness
from workbench.tables import commits, publication


@checked
def lateness(spark: SparkSession, table: str, source: str) -> Lateness:
    """Say how old figures were when they changed, and whether `settled_days` suffices.

    It is read from the summaries of the pulls' commits, as far as metadata files still have them. A change after
    a day is settled cannot be seen: that nothing changed at the last ages that are asked for is what makes it
    unlikely.

    Args:
        spark: classic session.
        table: that was pulled by `run`.
        source: its name.

    Returns:
        Lateness.

    Raises:
        TableNotFound: no such table.
        ValueError: the table was not pulled from that source.
    """
    loaded = commits.load(spark, table)
    ages: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    newest, pulls, sources = None, 0, set()
    for snapshot in publication.positions.line(spark, loaded, commits.head(loaded)):
        if (position := positions.parse(snapshot)) is None:
            continue
        sources.add(position.source)
        if position.source != source or not position.first:
            continue
        newest, pulls = newest or position, pulls + 1
        changes = json.loads(snapshot.summary().get(positions.CHANGES))
        # a pull may have asked for days that were not over
        asked = min(changes["until"], moments.utc(snapshot.timestampMillis()).date().isoformat())
        for day, counts in changes["days"].items():
            if day in changes.get("repaired", ()):  # others had changed it, the source had not
                continue
            # a day before the first one of then is pulled for the first time, and so is one after the last
            if changes.get("seen_first", position.first) <= day <= changes["seen"] and day <= asked:
                age = (date.fromisoformat(asked) - date.fromisoformat(day)).days
                ages[age] = [total + count for total, count in zip(ages[age], (1, *counts), strict=True)]
    if newest is None:
        known = f"it is pulled from {', '.join(sorted(sources))}" if sources else "no pull is in its history"
        raise ArgumentError(f"{table} is not pulled by days from {source}: {known}")
    latest, days = max(ages, default=None), newest.settled_days
    suffices = None if latest is None else latest < days
    by_age = tuple(Age(age, *counts) for age, counts in sorted(ages.items()))
    return Lateness(pulls, by_age, days, suffices, _sentence(pulls, latest, days))


def _sentence(pulls: int, latest: int | None, settled_days: int) -> str:
    if latest is None:
        return f"nothing changed after it was first pulled, in {pulls} pulls: settled_days is not put to the test"
    if latest < settled_days:
        return f"the latest change came {latest} days after its day: settled_days {settled_days} suffices so far"
    return (
        f"figures changed {latest} days after their day, the last age that is asked for or beyond: settled_days "
        f"{settled_days} may be too few, raise it until its last ages have no change"
    )
