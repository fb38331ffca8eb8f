"""docs/collectors.md says nothing of a measurement that docs/evidence/collectors.json does not hold."""

import json
import statistics

import pytest
from bench import collectors_page, evidence

FOUND = json.loads((evidence.FOLDER / "collectors.json").read_text(encoding="utf-8"))
PAGE = collectors_page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("part", collectors_page.HEADS)
def test_the_evidence_adds_up(part):
    found = FOUND[part]
    assert found["rounds"] >= 3 and found["answers_equal"] is True
    for row in found["medians"]:
        repeats = [trial for trial in found["trials"] if trial["variant"] == row["variant"]]
        assert len(repeats) == row["rounds"] == found["rounds"]
        assert row["died"] == sum(trial["died"] for trial in repeats)
        for name in ("pause_seconds", "stall_seconds", "cpu_seconds", "peak_memory_bytes"):
            expected = statistics.median(trial[name] for trial in repeats)
            assert row[name] == pytest.approx(expected, abs=1e-5), (row["variant"], name)


def test_the_page_says_what_was_measured():
    assert collectors_page.written(PAGE, FOUND) == PAGE


def test_another_figure_is_seen():
    """The planted fault: a pause more of one collector."""
    row = FOUND["enough"]["medians"][0]
    changed = FOUND | {"enough": FOUND["enough"] | {"medians": [row | {"pauses": row["pauses"] + 1}]}}
    assert collectors_page.written(PAGE, changed) != PAGE


def test_a_page_without_its_places_is_refused():
    with pytest.raises(
        ValueError, match="collectors.md has no place for enough: expected <!-- measured: enough -->"
    ):
        collectors_page.written("# Another page", FOUND)
