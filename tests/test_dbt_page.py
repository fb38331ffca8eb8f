"""What docs/dbt.md, docs/figures.md and docs/missed.md say of the cost of dbt tests is what docs/evidence/dbt.json holds."""

import json

import pytest
from conftest import ROOT

MEASURED = json.loads((ROOT / "docs" / "evidence" / "dbt.json").read_text(encoding="utf-8"))
CPU, RATIOS, GOALS = (MEASURED[part] for part in ("cpu_seconds", "ratios_of_cpu", "goals"))


def page(name):
    return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())


def test_the_evidence_adds_up():
    assert MEASURED["outcomes_equal"] is True and MEASURED["failed"] > 0 and MEASURED["rounds"] >= 3
    for step, ratios in RATIOS.items():
        of = "grown" if step == "grown" else "first"
        for way, ratio in ratios.items():
            assert ratio == pytest.approx(CPU[f"{way}_{of}"] / CPU[step], abs=0.06)


def test_the_page_says_what_was_measured():
    text = page("dbt.md")
    assert f"by {MEASURED['tests']:,} tests, of which {MEASURED['failed']} fail" in text
    for step, ratios in RATIOS.items():
        assert f"| {CPU[step]:.1f} |" in text
        for way, ratio in ratios.items():
            assert f"{ratio} times (goal {GOALS[step][way]})" in text or (
                f"{ratio} times as many (goal {GOALS[step][way]})" in text
            )


def test_figures_and_what_is_missed_say_it_too():
    figures, missed = page("figures.md"), page("missed.md")
    for step, ratios in RATIOS.items():
        both = [f"{ratios[way]}×" for way in ("dbt_spark", "dbt_duckdb")]
        assert ", ".join(both) in figures
        misses = any(ratio < GOALS[step][way] for way, ratio in ratios.items())
        assert (", ".join(both) in missed) == misses
