"""What docs/explore.md and docs/figures.md say of the cost of exploring is what docs/evidence/explore.json holds."""

import json
from statistics import median

import pytest
from conftest import ROOT

MEASURED = json.loads((ROOT / "docs" / "evidence" / "explore.json").read_text(encoding="utf-8"))
LOOK, CELL, NAMES, RESTART = (MEASURED[part] for part in ("look", "cell", "names", "restart"))


def middle(part, name):
    return median(part["seconds"][name])


def test_the_evidence_adds_up():
    assert LOOK["equal"] and NAMES["right"] and RESTART["equal"] and RESTART["as_meant"]
    assert all(rows["equal"] for rows in CELL.values())
    fast = middle(LOOK, "inspect.files") / middle(LOOK, "files, first")
    assert LOOK["files_times_as_fast"] == pytest.approx(fast, abs=0.1)
    assert RESTART["times_as_fast"] == pytest.approx(middle(RESTART, "cold") / middle(RESTART, "spare"), abs=0.1)
    for rows in CELL.values():
        assert rows["over_bare_seconds"] == pytest.approx(middle(rows, "cell") - middle(rows, "bare"), abs=0.001)


@pytest.mark.parametrize("page", ["explore.md", "figures.md"])
def test_the_pages_say_what_was_measured(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    few, many = (round(rows["over_bare_seconds"] * 1000) for rows in CELL.values())
    fast = f"{LOOK['files_times_as_fast']} times as fast", f"{LOOK['files_times_as_fast']}× faster"
    restarted = f"{RESTART['times_as_fast']} times as fast", f"{RESTART['times_as_fast']}× faster"
    cells = f"{few} ms, {many} ms", f"{few} ms and {many} ms more"
    assert all(any(figure in text for figure in figures) for figures in (fast, restarted, cells))
    assert f"{middle(NAMES, 'asked'):.2f} s" in text
    assert page == "figures.md" or f"{middle(LOOK, 'head'):.2f} s" in text


def test_what_holds_is_within_its_goal():
    assert LOOK["files_hold"] == (LOOK["files_times_as_fast"] >= LOOK["goal_ratio"])
    assert LOOK["head_holds"] == (middle(LOOK, "head") <= LOOK["head_most_seconds"])
    assert RESTART["holds"] == (RESTART["times_as_fast"] >= RESTART["goal_ratio"])
