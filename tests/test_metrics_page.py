"""What docs/observability.md says of the cost of a watch is what docs/evidence/metrics.json holds."""

import json
import statistics

import pytest
from conftest import ROOT

FOUND = json.loads((ROOT / "docs" / "evidence" / "metrics.json").read_text(encoding="utf-8"))


def test_the_evidence_adds_up():
    pairs = zip(*(FOUND["cpu_seconds"][half] for half in ("watched", "unwatched")), strict=True)
    ratios = [watched / unwatched for watched, unwatched in pairs]
    assert FOUND["ratios"] == pytest.approx(ratios, abs=0.01) and len(ratios) == FOUND["pairs"] >= 10
    assert FOUND["median_ratio"] == pytest.approx(statistics.median(ratios), abs=0.01)
    assert FOUND["answers_equal"] is True


@pytest.mark.parametrize("page", ["observability.md", "figures.md"])
def test_the_pages_say_what_was_measured(page):
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    low, high = FOUND["quartile_ratios"]
    assert f"{FOUND['median_ratio']:.2f} times" in text
    assert page == "figures.md" or (f"{low:.2f} to {high:.2f}" in text and f"{FOUND['tasks']} tasks" in text)
