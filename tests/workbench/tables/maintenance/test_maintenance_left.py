"""What a run may still do, reckoned without a session: the limits' edges, and what is left after something is done."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from workbench.tables import maintenance
from workbench.tables.maintenance import limits
from workbench.tables.maintenance.limits import Allowance

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLANNED = maintenance.Planned("a.b", "", None, NOW, maintenance.Policy(), (), (), ())


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands at 100 seconds."""
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: 100.0))


@pytest.mark.parametrize(
    ("left", "reached"),
    [
        (Allowance(None, None, None), None),
        (Allowance(1, 1, 100.1), None),
        (Allowance(1, 1, 100.0), "max_minutes"),
        (Allowance(0, 0, 99.0), "max_minutes"),
        (Allowance(0, 0, None), "max_commits"),
        (Allowance(1, 0, None), "max_commits"),
        (Allowance(0, 1, None), "max_bytes"),
    ],
)
def test_which_limit_is_reached(clock, left, reached):
    assert left.reached() == reached


def test_what_is_left_is_never_less_than_nothing():
    assert Allowance(10, 3, 5.0).after(maintenance.Done("x", bytes_read=4, commits=1)) == Allowance(6, 2, 5.0)
    assert Allowance(10, 3, 5.0).after(maintenance.Done("x", bytes_read=11, commits=4)) == Allowance(0, 0, 5.0)
    assert Allowance(None, None, None).after(maintenance.Done("x", bytes_read=4, commits=1)) == Allowance(
        None, None, None
    )


@pytest.mark.parametrize(
    ("policy", "given", "expected"),
    [
        ({}, {}, Allowance(None, None, None)),
        ({"max_bytes": 7, "max_minutes": 2, "max_commits": 3}, {}, Allowance(7, 3, 220.0)),
        ({"max_bytes": 7, "max_minutes": 2, "max_commits": 3}, {"max_bytes": 0, "max_minutes": 0, "max_commits": 0},
         Allowance(0, 0, 100.0)),
        ({"max_bytes": 7, "max_minutes": 2, "max_commits": 3}, {"max_bytes": 9, "max_minutes": 1, "max_commits": 5},
         Allowance(9, 5, 160.0)),
    ],
)  # fmt: skip
def test_an_argument_goes_before_the_policy_and_nothing_is_not_no_limit(clock, policy, given, expected):
    arguments = dict.fromkeys(("max_bytes", "max_minutes", "max_commits")) | given
    assert limits.begun(maintenance.Limits(**policy), **arguments) == expected


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
        ({"tries": True}, "tries must be an integer of at least 1, found True"),
        ({"max_bytes": -1}, "max_bytes must be an integer of at least 0 or None, found -1"),
        ({"max_bytes": False}, "max_bytes must be an integer of at least 0 or None, found False"),
        ({"max_minutes": ""}, "max_minutes must be a number of at least 0 or None, found ''"),
        ({"max_minutes": float("nan")}, "max_minutes must be a number of at least 0 or None, found nan"),
    ],
)
def test_arguments_at_the_edge_of_what_goes(wrong, why):
    with pytest.raises(ValueError) as told:
        maintenance.run(None, PLANNED, **wrong)
    assert str(told.value) == why


def test_the_last_ones_that_go():
    with pytest.raises(ValueError, match="needs a classic Spark session"):  # what comes after the arguments
        maintenance.run(None, PLANNED, max_bytes=0, max_minutes=0, max_commits=2**31 - 1, tries=1)
    assert limits.moment(NOW) == NOW


def test_a_moment_without_a_zone_and_marks_that_are_none():
    with pytest.raises(ValueError, match="now must have a time zone, such as"):
        limits.moment(datetime(2026, 1, 1))
    with pytest.raises(ValueError, match=r"marks must be a list of ids .*, such as \[5\], found 5"):
        limits.several(5)
    with pytest.raises(ValueError, match="marks must be a list of ids .*, found True in it"):
        limits.several([True])
