"""Visits of a web shop as an analytics service knows them: late, taken back, moved; with the planted truth.

The walkthrough on Analytics and Sheets (AWS Big Data Blog, Amazon AppFlow) prints no figure, so they are planted
here: each visit has the night from which on reports have it, and the one from which on they have it no more.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked

COUNTRIES = ("Germany", "France", "Italy", "Poland", "Spain", "Sweden")
DEVICES = ("desktop", "mobile", "tablet")
DAY_SECONDS = 86_400


@checked
def made(
    *,
    events: Annotated[int, Ge(1), Le(10_000_000)],
    days: Annotated[int, Ge(1), Le(3650)],
    latest_days: Annotated[int, Ge(0), Le(365)] = 6,
    first: date = date(2026, 1, 1),
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = 1,
) -> list[dict[str, Any]]:
    """Make visits, as the stand-in of Google takes them.

    Args:
        events: how many, before some are moved.
        days: from `first` on.
        latest_days: how many days late a report may come to know, lose or move a visit.
        first: first day.
        seed: of what is drawn.

    Returns:
        Dicts of day, user, new, cents, dims (country, deviceCategory), known and gone (seconds since 1970). One in
        five visits is late, one in thirty taken back, one in thirty moved to another country.
    """
    draw = random.Random(seed)
    visits: list[dict[str, Any]] = []
    seen: set[int] = set()
    for _ in range(events):
        day = first + timedelta(draw.randrange(days))
        user = draw.randrange(max(2, events // 3))
        late = draw.randint(1, latest_days) if latest_days and draw.random() < 0.2 else 0
        visit: dict[str, Any] = {
            "day": day.isoformat(), "user": user, "new": int(user not in seen),
            "cents": draw.randint(100, 20_000) if draw.random() < 0.3 else 0,
            "dims": {"country": draw.choice(COUNTRIES), "deviceCategory": draw.choice(DEVICES)},
            "known": night(day) + late * DAY_SECONDS, "gone": None,
        }  # fmt: skip
        seen.add(user)
        visits.append(visit)
        change = draw.random()
        if late < latest_days and change < 2 / 30:
            visit["gone"] = night(day) + draw.randint(late + 1, latest_days) * DAY_SECONDS
            if change < 1 / 30:
                dims = visit["dims"] | {"country": draw.choice(COUNTRIES)}
                visits.append(visit | {"dims": dims, "known": visit["gone"], "gone": None})
    return visits


def night(day: date) -> float:
    """Return the midnight that ends a day, in seconds since 1970, UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() + DAY_SECONDS


def truth(
    visits: Sequence[Mapping[str, Any]], until: date, now: float
) -> dict[tuple[date, str, str], tuple[int, int, int]]:
    """Return what a report has at a time: (day, country, device) to (users, new users, cents)."""
    groups: dict[tuple[date, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for visit in visits:
        if visit["known"] <= now and (visit["gone"] is None or now < visit["gone"]):
            day = date.fromisoformat(visit["day"])
            if day <= until:
                groups[day, visit["dims"]["country"], visit["dims"]["deviceCategory"]].append(visit)
    return {
        key: (
            len({visit["user"] for visit in rows}),
            sum(visit["new"] for visit in rows),
            sum(visit["cents"] for visit in rows),
        )
        for key, rows in groups.items()
    }
