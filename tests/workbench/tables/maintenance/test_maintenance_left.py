"""What a run may still do, reckoned without a session: the limits' edges, and what is left after something is done."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from workbench.tables import maintenance
from workbench.tables.maintenance import limits
from workbench.tables.maintenance.limits import Left

NO_LIMIT = "a limit is 0 or more, and None is no limit"


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands at 100 seconds."""
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: 100.0))


@pytest.mark.parametrize(
    ("left", "reached"),
    [
        (Left(None, None, None), None),
        (Left(1, 1, 100.1), None),
        (Left(1, 1, 100.0), "max_minutes"),
        (Left(0, 0, 99.0), "max_minutes"),
        (Left(0, 0, None), "max_commits"),
        (Left(1, 0, None), "max_commits"),
        (Left(0, 1, None), "max_bytes"),
    ],
)
def test_which_limit_is_reached(clock, left, reached):
    assert left.nothing() == reached


def test_what_is_left_is_never_less_than_nothing():
    assert Left(10, 3, 5.0).after(maintenance.Done("x", bytes_read=4, commits=1)) == Left(6, 2, 5.0)
    assert Left(10, 3, 5.0).after(maintenance.Done("x", bytes_read=11, commits=4)) == Left(0, 0, 5.0)
    assert Left(None, None, None).after(maintenance.Done("x", bytes_read=4, commits=1)) == Left(None, None, None)


@pytest.mark.parametrize(
    ("policy", "given", "expected"),
    [
        ({}, {}, Left(None, None, None)),
        ({"max_bytes": 7, "max_minutes": 2, "max_commits": 3}, {}, Left(7, 3, 220.0)),
        ({"max_bytes": 7, "max_minutes": 2, "max_commits": 3}, {"max_bytes": 0, "max_minutes": 0, "max_commits": 0},
         Left(0, 0, 100.0)),
        ({"max_bytes": 7, "max_minutes": 2, "max_commits": 3}, {"max_bytes": 9, "max_minutes": 1, "max_commits": 5},
         Left(9, 5, 160.0)),
    ],
)  # fmt: skip
def test_an_argument_goes_before_the_policy_and_nothing_is_not_no_limit(clock, policy, given, expected):
    arguments = dict.fromkeys(("max_bytes", "max_minutes", "max_commits")) | given
    assert limits.begun(maintenance.Limits(**policy), **arguments) == expected


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"tries": 0}, "tries is 0: a thing is begun at least once"),
        ({"tries": True}, "tries is True, expected a whole number: a thing is begun at least once"),
        ({"max_bytes": -1}, f"max_bytes is -1: {NO_LIMIT}"),
        ({"max_bytes": False}, f"max_bytes is False, expected a whole number: {NO_LIMIT}"),
        ({"max_minutes": ""}, f"max_minutes is '', expected a number: {NO_LIMIT}"),
        ({"max_minutes": float("nan")}, f"max_minutes is nan, expected a number: {NO_LIMIT}"),
    ],
)
def test_arguments_at_the_edge_of_what_goes(wrong, why):
    with pytest.raises(ValueError) as told:
        limits.check(**wrong)
    assert str(told.value) == why


def test_the_last_ones_that_go():
    limits.check(max_bytes=0, max_minutes=0, max_commits=2**31 - 1, tries=1)
    assert limits.moment(datetime(2026, 1, 1, tzinfo=UTC)).year == 2026


def test_a_moment_without_a_zone_and_marks_that_are_none():
    with pytest.raises(ValueError, match="now has no time zone: say"):
        limits.moment(datetime(2026, 1, 1))
    with pytest.raises(ValueError, match=r"marks are several: say marks=\[5\]"):
        limits.several(5)
    with pytest.raises(ValueError, match="True is no mark"):
        limits.several([True])
