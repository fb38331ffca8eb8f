"""docs/maps.md says of the benchmark what its evidence says."""

import json

from conftest import ROOT

PAGE = " ".join((ROOT / "docs" / "maps.md").read_text(encoding="utf-8").split())
EVIDENCE, MEMORY = (
    json.loads((ROOT / "docs" / "evidence" / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("maps", "maps_memory")
)


def test_the_figures_of_the_page_are_those_of_the_benchmark():
    engines = EVIDENCE["engines"]
    moto, ministack = (engines["goals"][name]["ratio"] for name in ("moto", "ministack"))
    assert EVIDENCE["equal"] and engines["equal"] and f"on {EVIDENCE['date']}, two shared cores" in PAGE
    assert f"a delivery) runs {EVIDENCE['items_per_cpu_second']['map']:,} a CPU second" in PAGE
    assert f"{engines['items_per_cpu_second']['map']:,} a CPU second, {moto} times moto, {ministack} times" in PAGE
    rows = {
        "at most 5 times": (EVIDENCE["ratio"], EVIDENCE["met"]),
        "at least 25 times": (moto, engines["goals"]["moto"]["met"]),
        "at least 4 times": (ministack, engines["goals"]["ministack"]["met"]),
        "at most 1.2 times": (MEMORY["ratio"], MEMORY["met"]),
    }
    for asked, (ratio, met) in rows.items():
        row = PAGE.partition(f"| {asked}")[2][:120]
        assert f"| {ratio:.1f} | {'met' if met else 'missed'}" in row


def test_the_memory_of_the_page_is_that_of_the_benchmark():
    few, many = MEMORY["runs"]
    assert (
        f"at most {few['mib']} MiB at {few['items']:,} readings and [{many['mib']} MiB at {many['items']:,}]"
        in PAGE
    )
