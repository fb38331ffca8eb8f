"""What a look says of a request, case by case; the runs through a store are in test_archive_restoring."""

from dataclasses import replace
from datetime import timedelta

import pytest
from archive_attic import NOW, made

from workbench.archive import looks
from workbench.archive.planning import PROLONG, RESTORE, WAIT, Step
from workbench.archive.requests import ASKED, ASKING, FAILED, PLANNED, READY, text

HOUR = timedelta(hours=1)
ARCHIVED, RESTORING = made("a"), made("a", state="restoring")
RESTORED, LATER = (made("a", state="restored", until_hours=hours) for hours in (24, 48))
ACTIVE = made("a", "STANDARD", "active")
DEEP, OTHER = made("a", "DEEP_ARCHIVE"), replace(ARCHIVED, etag="other")


def row(action, state, **more):
    """A request of five hours and two days, noted now."""
    return {
        "uri": ARCHIVED.uri, "version": ARCHIVED.version, "version_id": None, "action": action, "tier": "Standard",
        "days": 2, "hours": 5.0, "state": state, "status": None, "asked_at": text(NOW),
        "until": text(RESTORED.restored_until) if action == PROLONG else None, "why": None,
    } | more  # fmt: skip


def step(action):
    return Step({RESTORE: ARCHIVED, PROLONG: RESTORED, WAIT: RESTORING}[action], action, "Standard", 5.0)


def state(values):
    return values and values["state"]


@pytest.mark.parametrize(
    ("action", "found", "expected"),
    [
        (RESTORE, ARCHIVED, None),
        (RESTORE, RESTORING, ASKED),
        (RESTORE, RESTORED, READY),
        (RESTORE, ACTIVE, READY),
        (RESTORE, DEEP, FAILED),
        (RESTORE, OTHER, FAILED),
        (RESTORE, None, FAILED),
        (PROLONG, RESTORED, None),
        (
            PROLONG,
            made("a", state="restored", until_hours=61),
            None,
        ),  # two days from now end at midnight, in 62 hours
        (PROLONG, made("a", state="restored", until_hours=62), READY),
        (PROLONG, RESTORING, ASKED),
        (PROLONG, ARCHIVED, FAILED),
        (PROLONG, ACTIVE, READY),
    ],
)
def test_before_asking(action, found, expected):
    assert state(looks.before_asking(step(action), row(action, PLANNED), found, NOW)) == expected


@pytest.mark.parametrize(
    ("action", "earlier", "found", "made_at", "now", "expected"),
    [
        (RESTORE, ASKING, ARCHIVED, NOW, NOW, None),
        (RESTORE, ASKING, RESTORING, NOW, NOW, ASKED),
        (RESTORE, ASKING, RESTORED, NOW, NOW, READY),
        (RESTORE, ASKED, ARCHIVED, NOW, NOW, ASKED),  # the plan is as old as the request
        (RESTORE, ASKED, ARCHIVED, NOW + HOUR, NOW + HOUR, None),  # the plan saw it archived after the request
        (RESTORE, ASKED, ARCHIVED, NOW, NOW + 76 * HOUR, ASKED),  # five hours, two days and a day
        (RESTORE, ASKED, ARCHIVED, NOW, NOW + 77 * HOUR, None),
        (RESTORE, ASKED, OTHER, NOW, NOW, FAILED),
        (RESTORE, READY, ARCHIVED, NOW, NOW, None),
        (RESTORE, READY, RESTORED, NOW, NOW, READY),
        (RESTORE, READY, None, NOW, NOW, FAILED),
        (PROLONG, ASKING, RESTORED, NOW, NOW, None),
        (PROLONG, ASKING, LATER, NOW, NOW, READY),
        (PROLONG, READY, RESTORED, NOW, NOW, None),
        (PROLONG, READY, ARCHIVED, NOW, NOW, FAILED),
        (WAIT, ASKED, ARCHIVED, NOW, NOW, FAILED),
        (WAIT, READY, RESTORING, NOW, NOW, ASKED),
    ],
)
def test_of_an_earlier_run(action, earlier, found, made_at, now, expected):
    assert state(looks.of_earlier(step(action), row(action, earlier), found, made_at, now)) == expected


def test_somebody_elses_restore_of_what_was_ready_is_waited_for():
    assert looks.of_earlier(step(WAIT), row(RESTORE, READY), RESTORING, NOW, NOW) == {
        "state": ASKED,
        "action": WAIT,
    }


@pytest.mark.parametrize(
    ("action", "before", "found", "now", "expected"),
    [
        (RESTORE, ASKED, RESTORING, NOW, ASKED),
        (RESTORE, ASKED, RESTORED, NOW, READY),
        (RESTORE, ASKED, ARCHIVED, NOW + 76 * HOUR, ASKED),
        (RESTORE, ASKED, ARCHIVED, NOW + 77 * HOUR, PLANNED),  # its copy came and went
        (RESTORE, ASKING, ARCHIVED, NOW, PLANNED),
        (RESTORE, ASKED, OTHER, NOW, FAILED),
        (RESTORE, ASKED, None, NOW, FAILED),
        (PROLONG, ASKING, RESTORED, NOW, PLANNED),
        (PROLONG, ASKING, LATER, NOW, READY),
        (PROLONG, ASKED, RESTORED, NOW, READY),
        (PROLONG, ASKED, ARCHIVED, NOW, FAILED),
        (WAIT, ASKED, ARCHIVED, NOW, FAILED),
    ],
)
def test_under_way(action, before, found, now, expected):
    assert state(looks.under_way(row(action, before), found, now)) == expected


def test_a_version_is_known_by_its_id_and_not_by_its_content():
    versioned = row(RESTORE, ASKED, version_id="1")
    assert state(looks.under_way(versioned, replace(OTHER, state="restoring"), NOW)) == ASKED


def test_what_is_ready_keeps_its_end():
    assert looks.under_way(row(RESTORE, ASKED), RESTORED, NOW) == {
        "state": READY,
        "until": text(RESTORED.restored_until),
    }
    assert looks.under_way(row(RESTORE, ASKED), ACTIVE, NOW) == {"state": READY, "until": None}
