"""Planted visits are the same by the same seed, and their truth is one of its time."""

from datetime import date

import pytest

from workbench.data import visits


def test_the_same_visits_by_the_same_seed():
    made = visits.made(events=200, days=3, seed=4)
    assert made == visits.made(events=200, days=3, seed=4) != visits.made(events=200, days=3, seed=5)
    assert 200 < len(made) < 220  # one in thirty is moved, and stands there twice
    assert all(visit["gone"] is None or visit["known"] < visit["gone"] for visit in made)
    latest = max(visit["gone"] or visit["known"] for visit in made)
    assert latest <= visits.night(date(2026, 1, 3)) + 6 * visits.DAY_SECONDS


def test_the_truth_is_one_of_its_time():
    day, night = date(2026, 1, 1), visits.night(date(2026, 1, 1))
    visit = {"day": "2026-01-01", "user": 1, "new": 1, "cents": 5, "dims": {"country": "Italy", "deviceCategory": "mobile"}}  # fmt: skip
    made = [visit | {"known": night, "gone": night + 10}, visit | {"known": night + 5, "gone": None, "cents": 7}]
    key = (day, "Italy", "mobile")
    assert visits.truth(made, day, night - 1) == {}
    assert visits.truth(made, day, night)[key] == (1, 1, 5)
    assert visits.truth(made, day, night + 5)[key] == (1, 2, 12)
    assert visits.truth(made, day, night + 10)[key] == (1, 1, 7)
    assert visits.truth(made, date(2025, 12, 31), night) == {}


def test_wrong_arguments():
    with pytest.raises(ValueError, match="events must be"):
        visits.made(events=0, days=1)
