"""The page says what the evidence says."""

import json
import re

import pytest
from bench import tpcds_levers
from conftest import ROOT

from workbench_proofs.tpcds import choices

PAGE = (ROOT / "docs" / "tpcds.md").read_text(encoding="utf-8")
FIGURES = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
EVIDENCE = json.loads((ROOT / "docs" / "evidence" / "tpcds.json").read_text(encoding="utf-8"))
LARGE = json.loads((ROOT / "docs" / "evidence" / "tpcds_sf10.json").read_text(encoding="utf-8"))
BEFORE, LARGER, BEHIND = re.split(r"^### (?=A scale factor of 10|Levers)", PAGE, flags=re.MULTILINE)
ROW = re.compile(r"^\| .+? \| `(\w+)` \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


def rows(page):
    """Return the comparisons of a page: name in the evidence to (queries, total, geometric mean)."""
    return {
        name: (int(queries), float(total), float(geomean)) for name, queries, total, geomean in ROW.findall(page)
    }


def expected(evidence=EVIDENCE):
    return {name: tuple(one.values()) for name, one in evidence["comparisons"].items() if one}


def test_every_comparison_of_the_page_is_that_of_the_evidence():
    found, larger = rows(BEFORE + BEHIND), rows(LARGER)
    assert len(found) >= 9 and len(larger) >= 4
    assert found.items() <= expected().items()
    assert larger.items() <= expected(LARGE).items()
    assert not larger.items() <= expected().items()  # a scale factor has figures of its own


def test_a_figure_that_is_another_is_seen():
    (before, *_) = ROW.finditer(PAGE)
    planted = PAGE.replace(before[0], before[0].replace(f"| {before[3]} |", "| 99.9 |"))
    assert not rows(planted).items() <= expected().items()


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a_best_against_baseline", "| TPC-DS derived, scale factor 1, 101 queries"),
        ("d_best_times_duckdb", "| the same, DuckDB"),
        ("b_spark41_against_baseline", "| the same, Spark 4.1 alone"),
    ],
)
def test_the_page_of_figures_has_the_same_ratios(name, start):
    (line,) = [line for line in FIGURES.splitlines() if line.startswith(start)]
    found = EVIDENCE["comparisons"][name]
    said = line.split("|")[3]  # how many times as fast, and by geometric mean where it is said
    figures = [float(figure) for figure in re.findall(r"\d+\.\d+", said)]
    assert figures == [round(found[kind], 1) for kind in ("total", "geomean")][: len(figures)]
    assert figures


def verdicts(evidence):
    """Return the verdicts on flat tables: (engine, query) to kind."""
    return {(engine, query): kind for engine, layout, query, kind, *_ in evidence["cells"] if layout == "flat"}


def large(evidence):
    """Return what the page says of a scale factor of 10 beside its table, as the evidence has it."""
    seconds = {(engine, query): cold for engine, _, query, _, cold, *_ in evidence["cells"]}
    kinds = verdicts(evidence)
    best = {query: one for query, one in evidence["best"].items() if kinds[one, query] != "vacuous"}
    most, earlier = ("q72", "q14a"), choices.read(ROOT / "params" / "engines" / "choices.yml")
    of_one = {query: getattr(earlier.queries.get(query), "engine", earlier.fallback) for query in best}
    ours, theirs, before = (
        sum(seconds[of(one), one] for one in best) for of in (best.get, lambda _: "baseline", of_one.get)
    )
    share = sum(seconds[best[query], query] for query in most)
    rest = (theirs - sum(seconds["baseline", query] for query in most)) / (ours - share)
    taken, name = list(best.values()), "a_best_against_baseline"
    small, now = EVIDENCE["comparisons_cold"][name], evidence["comparisons"][name]
    gigabytes = {name: f"{size / 1e9:.1f}" for name, size in evidence["peak_bytes"].items()}
    q72, q14a = ([round(seconds[name, query]) for name in ("sail", "spark41", "duckdb")] for query in most)
    return (
        f"cold they were {small['total']:.1f} in total and {small['geomean']} by geometric mean at a scale factor of 1, "
        f"and are {now['total']:.1f} and {now['geomean']:.1f}.",
        f"Two queries are {100 * share / ours:.0f}% of the chosen engines' seconds, "
        f"q72 with {q72[1]} and q14a with {q14a[1]}",
        f"without them the total is {rest:.1f} times",
        f"PySail is slower there, {q72[0]} and {q14a[0]} seconds, and DuckDB takes {q72[2]} and {q14a[2]}",
        f"the total is {theirs / before:.1f} times. PySail takes {taken.count('sail')} queries here",
        f"{gigabytes['baseline']} GB for `baseline`, {gigabytes['spark41']} for `spark41`, {gigabytes['sail']} for PySail",
    )


def test_what_is_said_of_a_scale_factor_of_10_is_in_its_evidence():
    page = " ".join(LARGER.split())
    assert [said for said in large(LARGE) if said not in page] == []
    planted = json.loads(json.dumps(LARGE))
    next(cell for cell in planted["cells"] if cell[0] == "spark41" and cell[2] == "q72")[4] = 1.0
    assert [said.partition(" ")[0] for said in large(planted) if said not in page] == ["Two"]


def test_the_page_of_figures_says_who_answers_and_what_is_read():
    kinds = verdicts(EVIDENCE)
    asked = [engine for query, engine in EVIDENCE["best"].items() if kinds[engine, query] != "vacuous"]
    less = EVIDENCE["e_read_warm"]["tuned_ours_against_tuned_published"]
    expected = (
        f"{len(asked)} queries, each by the engine chosen for it "
        f"({asked.count('sail')} by PySail, {asked.count('spark41')} by Spark 4.1)",
        f"| in the published layout | {less['bytes']:.1f}× fewer |",
        f"| in the published layout | **{1 / less['rows']:.1f}× as many** |",
    )
    assert [said for said in expected if said not in FIGURES] == []


def sentences(evidence):
    """Return what the page says of layouts, as the evidence has it."""
    loaded, reading = evidence["c_ours_against_published_loading_included"], evidence["e_read_warm"]
    less = reading["tuned_ours_against_tuned_published"]
    seconds = {}
    for engine, layout, _, _, _, warm, *_ in evidence["cells"]:
        seconds[engine, layout] = seconds.get((engine, layout), 0) + warm
    flat = {name: f"{seconds[name, 'ours'] / seconds[name, 'flat']:.2f}" for name in evidence["peak_bytes"]}
    alone = [evidence["comparisons"][f"c_queries_alone_{name}"]["total"] for name in ("baseline", "spark41")]
    return (
        f"{loaded['baseline']['total']:.1f} times as long as ours by `baseline`, {loaded['spark41']['total']:.1f} times by",
        f"without loading: {alone[0]:.1f} and {alone[1]:.1f} times",
        f"reads {less['bytes']:.2f} times fewer",
        f"{1 / less['rows']:.1f} times as many",
        f"({reading['tuned_ours_against_tuned_flat']['bytes']:.2f} times fewer)",
        f"took `baseline` {flat['baseline']} of the seconds of flat tables, warm, `spark41` {flat['spark41']}, "
        f"DuckDB {flat['duckdb']} and PySail {flat['sail']}",
    )


def test_what_is_said_of_layouts_is_in_the_evidence():
    page = " ".join(PAGE.split())
    assert [said for said in sentences(EVIDENCE) if said not in page] == []
    planted = json.loads(json.dumps(EVIDENCE))
    planted["e_read_warm"]["tuned_ours_against_tuned_published"]["bytes"] = 99.9
    assert [said for said in sentences(planted) if said not in page] == ["reads 99.90 times fewer"]


LEVER = re.compile(r"^\| .+? \| `(\w+)` " + r"\| ([\d.]+) " * 4 + r"\|$", re.MULTILINE)


def levers(page):
    """Return what a page says of levers: name to (cold total, cold mean, warm total, warm mean), as numbers."""
    return {name: tuple(map(float, of)) for name, *of in LEVER.findall(page)}


def test_every_lever_stands_on_the_page_with_what_the_evidence_says_of_it():
    known = {
        name: tuple(phases[phase][kind] for phase in ("cold", "warm") for kind in ("total", "geomean"))
        for name, phases in EVIDENCE["levers"].items()
    }
    assert set(known) == set(tpcds_levers.EVERY.split(","))
    assert levers(PAGE) == known
    (one, *_) = LEVER.finditer(PAGE)
    assert levers(PAGE.replace(one[0], one[0].replace(f"| {one[2]} |", "| 99.9 |", 1))) != known


def test_no_answer_by_the_chosen_engines_is_different_and_all_are_judged():
    kinds = verdicts(EVIDENCE)
    chosen = {query: kinds[engine, query] for query, engine in EVIDENCE["best"].items()}
    assert len(chosen) == 103
    assert sorted(query for query, kind in chosen.items() if kind == "vacuous") == ["q17", "q78"]
    assert not {"different", "unverified"} & set(chosen.values())
