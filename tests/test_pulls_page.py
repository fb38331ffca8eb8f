"""What docs/pulls.md, docs/figures.md and docs/missed.md say of the cost of pulls is what docs/evidence/pulls.json holds."""

import json

import pytest
from conftest import ROOT

MEASURED = json.loads((ROOT / "docs" / "evidence" / "pulls.json").read_text(encoding="utf-8"))
FIRST, SMALL, RATIOS, AGAIN = (MEASURED[part] for part in ("first_load", "small_load", "ratios", "re-pull"))


def page(name):
    return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())


def test_the_evidence_adds_up():
    for load, way in ((FIRST, "append"), (FIRST, "append of Arrow"), (SMALL, "upsert")):
        for kind in ("wall", "cpu"):
            assert RATIOS[f"{way} {kind}"] == pytest.approx(load[way][kind] / load["pulls"][kind], abs=0.051)
    night = AGAIN["a night later"]
    assert night["rows_written"] <= night["rows_of_changed_days"]
    assert [AGAIN["unchanged"][name] for name in ("requests", "files", "commits")] == [1, 0, 0]


def test_the_page_says_what_was_measured():
    text, night = page("pulls.md"), AGAIN["a night later"]
    for way in ("append", "append of Arrow", "upsert"):
        assert f"{RATIOS[f'{way} wall']} times" in text and f"{RATIOS[f'{way} cpu']} times" in text
    ask, ours, theirs = (FIRST[way]["wall"] for way in ("asking", "pulls", "append"))
    assert f"{ask:.1f} of our {ours:.1f} seconds" in text
    assert f"{ours - ask:.1f} seconds here and {theirs - ask:.1f} by dlt's append" in text
    assert f"{(theirs - ask) / (ours - ask):.1f} times as long" in text
    assert f"{night['rows_changed']:,} rows changed in {night['days_changed']} days" in text
    assert f"{night['rows_written']:,} rows written" in text
    assert all(f"{rows:,} rows" in text for rows in MEASURED["rows"].values())
    assert f"ask {AGAIN['unchanged']['requests_of_dlt_by_default']} times" in text


def test_figures_and_what_is_missed_say_it_too():
    goals = MEASURED["goals"]
    assert f"{RATIOS['append wall']}× faster" in page("figures.md")
    assert f"{RATIOS['upsert wall']}× faster | {goals['upsert wall']}" in page("figures.md")
    missed = f"against dlt's append | {goals['append wall']}× faster | {RATIOS['append wall']}×" in page(
        "missed.md"
    )
    assert missed == (RATIOS["append wall"] < goals["append wall"])
