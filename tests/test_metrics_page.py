"""What docs/observability.md says of the cost of a watch is what docs/evidence/metrics.json holds."""

import json
import statistics

import pytest
from conftest import ROOT

EVIDENCE = ROOT / "docs" / "evidence"
FOUND = json.loads((EVIDENCE / "metrics.json").read_text(encoding="utf-8"))
NOTEBOOKS = json.loads((EVIDENCE / "metrics_runs.json").read_text(encoding="utf-8"))

DETECTED = json.loads((EVIDENCE / "incidents.json").read_text(encoding="utf-8"))


def test_the_page_says_how_often_detectors_are_right():
    text = " ".join((ROOT / "docs" / "observability.md").read_text(encoding="utf-8").split())
    assert f"makes {DETECTED['runs']} real runs" in text and f"and {DETECTED['healthy']} healthy ones" in text
    assert DETECTED["healthy_with_false_alarms"] == 0 and "no healthy run had a false alarm" in text
    assert f"{DETECTED['planted_with_false_alarms']} of {DETECTED['planted']} planted ones had" in text
    scores = DETECTED["detectors"]
    assert {score["recall"] for score in scores.values()} == {1.0} and "(recall 1.0 of each)" in text
    less = {cause: score["precision"] for cause, score in scores.items() if score["precision"] < 1}
    assert (
        f"{min(less.values())} for {' and '.join(f'`{cause}`' for cause in less)}, and 1.0 for the others" in text
    )
    assert min(less.values()) == max(less.values())


def test_the_evidence_adds_up():
    pairs = zip(*(FOUND["cpu_seconds"][half] for half in ("watched", "unwatched")), strict=True)
    ratios = [watched / unwatched for watched, unwatched in pairs]
    assert FOUND["ratios"] == pytest.approx(ratios, abs=0.01) and len(ratios) == FOUND["pairs"] >= 10
    assert FOUND["median_ratio"] == pytest.approx(statistics.median(ratios), abs=0.01)
    assert FOUND["answers_equal"] is True
    totals = {
        way: [sum(values) for values in zip(*of.values(), strict=True)]
        for way, of in NOTEBOOKS["cpu_seconds"].items()
    }
    ratios = [watched / bare for watched, bare in zip(totals["watched"], totals["unwatched"], strict=True)]
    assert NOTEBOOKS["ratios"] == pytest.approx(ratios, abs=0.001) and NOTEBOOKS["answers_equal"] is True
    assert NOTEBOOKS["median_ratio"] == pytest.approx(statistics.median(ratios), abs=0.001)


@pytest.mark.parametrize("page", ["observability.md", "figures.md"])
def test_the_pages_say_what_was_measured(page):
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    low, high = FOUND["quartile_ratios"]
    assert f"{FOUND['median_ratio']:.2f} times" in text and f"{NOTEBOOKS['median_ratio']:.2f} times" in text
    assert page == "figures.md" or (f"{low:.2f} to {high:.2f}" in text and f"{FOUND['tasks']} tasks" in text)
