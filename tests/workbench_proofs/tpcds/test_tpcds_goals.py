"""The figures of each goal, worked out by hand, and what a planted fault does to them."""

import dataclasses
import json

import pytest
from bench import evidence, tpcds_goals, tpcds_levers, tpcds_plans
from bench import tpcds as bench

from workbench_proofs.tpcds import choices, layouts, runs
from workbench_proofs.tpcds.measuring import Unit
from workbench_proofs.tpcds.runs import Result
from workbench_proofs.tpcds.verdicts import Judgement


def results(engine, seconds, *, layout="flat", rounds=1, phase="warm", read=(None, None), kind="equal"):
    """Results of an engine: query to seconds, the same in each round."""
    return [
        Result(engine, query, Judgement(kind, "so it is"), spent, 0.0, *read, None, layout, number, phase)
        for number in range(1, rounds + 1)
        for query, spent in seconds.items()
    ]


def wrong(results, query, engine, number=1):
    """Plant a wrong answer."""
    return [
        dataclasses.replace(one, verdict=Judgement("different", "found 1, expected 2"))
        if (one.query, one.engine, one.round) == (query, engine, number)
        else one
        for one in results
    ]


MEASURED = [
    *results("baseline", {"q1": 12.0, "q2": 8.0}, rounds=3),
    *results("spark41", {"q1": 6.0, "q2": 1.0}, rounds=3),
    *results("sail", {"q1": 1.0, "q2": 4.0}, rounds=3),
    *results("duckdb", {"q1": 0.5, "q2": 0.004}, rounds=3),
]


def goals(results, chosen):
    best = tpcds_goals.best(results, chosen)
    return best, tpcds_goals.compared(results, best.engines)


def test_a_is_the_best_engine_of_each_query_and_d_how_much_longer_than_duckdb():
    best, found = goals(MEASURED, {"q1": "sail"})
    assert best == tpcds_goals.Best({"q1": "sail", "q2": "spark41"}, {}, {})
    assert found["a_best_against_baseline"] == {"queries": 2, "total": 10.0, "geomean": pytest.approx(96**0.5)}
    assert found["a_best_against_tuned"] == {"queries": 2, "total": 3.5, "geomean": pytest.approx(6**0.5)}
    assert found["b_sail_against_baseline"]["total"] == 4.0
    assert found["d_best_times_duckdb"]["total"] == pytest.approx(2 / 0.504)
    told = tpcds_goals.reached(found, None)
    assert tpcds_goals.digits(told["a_total"]) == {"wanted": "at least 6", "found": 10.0, "reached": True}
    assert tpcds_goals.digits(told["d_total"]) == {"wanted": "at most 5", "found": 3.97, "reached": True}
    assert told["e_rows"] == {"wanted": "at least 4.1", "found": None, "reached": None}


def test_a_choice_that_is_slow_where_it_is_measured_keeps_its_query():
    """Else the faster of two would be taken in the rounds that measure it, and noise would count as speed."""
    best, found = goals(MEASURED, {"q1": "sail", "q2": "sail"})
    assert best == tpcds_goals.Best({"q1": "sail", "q2": "sail"}, {}, {"q2": 4.0})
    assert found["a_best_against_baseline"]["total"] == 4.0


def test_a_choice_that_is_wrong_once_goes_back_and_has_no_time():
    best, found = goals(wrong(MEASURED, "q1", "sail", number=3), {"q1": "sail"})
    assert best.engines == {"q1": "spark41", "q2": "spark41"}
    assert best.went_back == {"q1": "sail is different: found 1, expected 2"}
    assert found["a_best_against_baseline"]["total"] == pytest.approx(20 / 7)
    assert found["b_sail_against_baseline"] == {"queries": 1, "total": 2.0, "geomean": pytest.approx(2.0)}


def test_a_choice_that_is_wrong_cold_goes_back_too_and_one_that_is_wrong_on_another_layout_does_not():
    """Only its warm answers counted: the goal had a query that the page says goes back."""
    cold = results("sail", {"q1": 2.0}, phase="cold", kind="different")
    best, found = goals([*MEASURED, *cold], {"q1": "sail"})
    assert (best.engines["q1"], best.went_back) == ("spark41", {"q1": "sail is different: so it is"})
    assert found["a_best_against_baseline"]["total"] == pytest.approx(20 / 7)
    elsewhere = results("sail", {"q1": 2.0}, layout="ours", kind="different")
    assert goals([*MEASURED, *elsewhere], {"q1": "sail"})[0].engines["q1"] == "sail"


def test_the_ratios_of_a_phase_are_of_that_phase():
    found = (
        MEASURED + results("baseline", {"q1": 30.0}, phase="cold") + results("spark41", {"q1": 3.0}, phase="cold")
    )
    cold, warm = (
        tpcds_goals.compared(found, {"q1": "spark41"}, phase=phase)["a_best_against_baseline"]["total"]
        for phase in ("cold", None)
    )
    assert (cold, warm) == (10.0, 2.0)


def test_a_query_that_is_not_in_all_ratios_is_named():
    """It fell out of both sums, and nothing but their number of queries told of it."""
    taken = {"q1": "spark41", "q2": "spark41"}
    assert tpcds_goals.missing(MEASURED, taken) == {}
    assert tpcds_goals.missing(wrong(MEASURED, "q1", "spark41"), taken) == {"q1": "spark41 different"}
    assert tpcds_goals.missing(wrong(MEASURED, "q1", "duckdb"), taken) == {"q1": "duckdb different"}
    nothing = [dataclasses.replace(one, verdict=Judgement("vacuous", "empty")) for one in MEASURED]
    assert tpcds_goals.missing(nothing, taken) == {}
    alone = [one for one in MEASURED if one.engine != "baseline"]
    assert tpcds_goals.missing(alone, taken) == dict.fromkeys(taken, "baseline not measured")


def test_an_answer_that_nobody_could_judge_is_named():
    lost = dataclasses.replace(MEASURED[0], verdict=Judgement("unverified", f"{runs.UNHEARD}: no memory"))
    assert tpcds_goals.unheard([*MEASURED, lost]) == [
        "baseline flat round 1 warm q1: the oracle gave no answer: no memory"
    ]


def test_the_most_memory_of_an_engine_is_told():
    found = [dataclasses.replace(one, peak_bytes=of) for one, of in zip(MEASURED, [3, 9, None], strict=False)]
    assert tpcds_goals.peaks([*found, *results("sail", {"q1": 1.0})]) == {"baseline": 9, "sail": None}


def test_what_agrees_only_in_another_scale_can_be_left_out():
    mixed = [one for one in MEASURED if (one.engine, one.query) != ("sail", "q1")]
    mixed += results("sail", {"q1": 1.0}, rounds=3, kind="same value in another scale")
    best, found = goals(mixed, {"q1": "sail"})
    assert best.engines["q1"] == "sail"
    assert found["a_best_against_baseline"]["queries"] == 2
    assert found["a_best_against_baseline_exact"] == {"queries": 1, "total": 8.0, "geomean": pytest.approx(8.0)}


def test_nothing_is_rounded_up_to_a_goal_and_small_ratios_keep_their_digits():
    near = {"a_best_against_baseline": {"queries": 1, "total": 5.9999, "geomean": 8.0}}
    told = tpcds_goals.digits(tpcds_goals.reached(near, {"bytes": 3.3999, "rows": 4.1}))
    assert [one["reached"] for one in told.values()] == [False, True, None, False, True]
    assert tpcds_goals.digits({"total": 0.004567, "seconds": 1234.56, "n": 12345}) == {
        "total": 0.00457, "seconds": 1234.6, "n": 12345,
    }  # fmt: skip
    over = tpcds_goals.reached({"d_best_times_duckdb": {"total": 5.001}}, None)
    assert over["d_total"]["reached"] is False


LOADS = {"ours": {"seconds": 40.0}, "published": {"seconds": 240.0}}


def test_c_has_the_loading_in_it():
    found = results("spark41", {"q1": 10.0, "q2": 50.0, "q3": 1.0}, layout="ours", phase="cold")
    found += results("spark41", {"q1": 40.0, "q2": 120.0}, layout="published", phase="cold")
    assert tpcds_goals.loading_included(found, LOADS, "spark41") == {
        "queries": 2,
        "loading_seconds": {"ours": 40.0, "published": 240.0},
        "query_seconds": {"ours": 60.0, "published": 160.0},
        "total": 4.0,
    }
    assert tpcds_goals.queries_alone(found)["c_queries_alone_spark41"]["total"] == pytest.approx(160 / 60)
    assert tpcds_goals.loading_included(found, {"ours": LOADS["ours"]}, "spark41") is None
    assert tpcds_goals.loading_included(found[:3], LOADS, "spark41") is None
    assert tpcds_goals.loading_included(wrong(found, "q1", "spark41"), LOADS, "spark41")["queries"] == 1


def test_what_a_layout_costs_is_the_median_of_its_loads(tmp_path, monkeypatch):
    """Each clone loads anew; the figures of the last one, on a slow day, took the place of all before."""
    data = type("Data", (), {"scale": "1"})()
    spent, there = iter([40.0, 90.0, 44.0]), []
    monkeypatch.setattr(bench.session, "start", lambda name: None)
    monkeypatch.setattr(bench.session, "stop", lambda spark: None)
    monkeypatch.setattr(bench, "ready", lambda spark, namespace, data: bool(there))
    monkeypatch.setattr(
        bench.derived, "load",
        lambda *_, **__: [layouts.Loaded("item", 1, 1, 2, 300, next(spent)), layouts.Loaded("store", 1, 0, 1, 5, 0.5)],
    )  # fmt: skip
    for _ in range(3):
        found = bench.loaded(data, tmp_path, ["ours"])
    assert found == (
        {"ours": "tpcds_sf1_ours"},
        {"ours": {"seconds": 44.5, "files": 3, "partitions": 1, "bytes": 305, "loads": 3}},
    )
    there.append("loaded")
    assert bench.loaded(data, tmp_path, ["ours"]) == found  # nothing is loaded twice in a clone
    (tmp_path / "trial").mkdir()
    spaces, loads = bench.loaded(data, tmp_path / "trial", ["ours"], trial=True)
    assert (spaces, loads) == ({"ours": "tpcds_sf1_ours"}, {})  # nor by a trial, which has no file of loads yet


def test_e_is_of_warm_queries_that_both_answered():
    found = results("spark41", {"q1": 1.0, "q3": 1.0}, layout="ours", read=(10, 5), rounds=2)
    found += results("spark41", {"q1": 1.0, "q2": 1.0}, layout="published", read=(35, 20), rounds=2)
    found += results("spark41", {"q1": 1.0}, layout="ours", read=(9999, 9999), phase="cold")  # its program too
    pair = ("spark41", "ours"), ("spark41", "published")
    assert tpcds_goals.less_read(found, *pair) == {
        "queries": 1,
        "bytes_read": {"spark41/ours": 10, "spark41/published": 35},
        "rows_read": {"spark41/ours": 5, "spark41/published": 20},
        "bytes": 3.5,
        "rows": 4.0,
    }
    assert tpcds_goals.less_read(wrong(found, "q1", "spark41"), *pair) is None
    untold = [dataclasses.replace(one, bytes_read=None) for one in found[:1]] + found[1:]
    assert tpcds_goals.less_read(untold, *pair) is None
    assert tpcds_goals.less_read(found, ("sail", "ours"), pair[1]) is None


def test_what_a_lever_is_worth_cold_and_warm():
    found = results("spark41", {"q1": 2.0}) + results("aqe_off", {"q1": 4.0})
    found += results("spark41", {"q1": 1.0}, layout="sorted")
    found += results("spark41", {"q1": 9.0}, phase="cold") + results("aqe_off", {"q1": 3.0}, phase="cold")
    told = tpcds_goals.worth(found, ("spark41", "flat"))
    assert {(name, phase): one and one["total"] for name, of in told.items() for phase, one in of.items()} == {
        ("aqe_off", "cold"): 3.0, ("aqe_off", "warm"): 0.5, ("sorted", "cold"): None, ("sorted", "warm"): 2.0,
    }  # fmt: skip


def test_no_lever_is_always_measured_first():
    todo, profiles = tpcds_levers.units(tpcds_levers.named("aqe_off,sorted,class_data_off"))
    assert todo == [
        Unit("spark41", "flat", 1), Unit("aqe_off", "flat", 1), Unit("spark41", "sorted", 1),
        Unit("class_data_off", "flat", 1), Unit("class_data_off", "flat", 2), Unit("spark41", "sorted", 2),
        Unit("aqe_off", "flat", 2), Unit("spark41", "flat", 2),
    ]  # fmt: skip
    assert profiles["aqe_off"].conf["spark.sql.adaptive.enabled"] is False
    assert profiles["aqe_off"].conf["spark.sql.shuffle.partitions"] == "4"
    assert (profiles["class_data_off"].class_data, profiles["aqe_off"].class_data) == (False, True)
    assert tpcds_levers.layouts(tpcds_levers.named(tpcds_levers.EVERY)) == list(tpcds_levers.TABLES)
    assert set(tpcds_levers.TABLES) == set(layouts.WAYS) - set(layouts.LAYOUTS)
    assert tpcds_levers.QUERIES[:4] == ("q3", "q8", "q13", "q17") and "q72" not in tpcds_levers.QUERIES
    with pytest.raises(ValueError, match="no lever 'aqe'; there are shuffle_200,"):
        tpcds_levers.named("aqe")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"rounds": "0"}, "ROUNDS is '0'; expected a number from 1 on"),
        ({"rounds": "x"}, "ROUNDS is 'x'"),
        ({"queries": "q1,q100"}, "QUERIES has 'q100', which is no query; there are q1 to q99"),
        ({"parts": "nope"}, "no part 'nope'; there are choose, rounds, levers"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_made(given, sentence, monkeypatch):
    monkeypatch.setattr(bench.derived, "generate", None)
    with pytest.raises(ValueError, match=sentence):
        bench.main("1", **given)


def test_each_scale_factor_and_each_trial_has_files_of_its_own(project):
    files = [bench.file("1", None, ".json"), bench.file("10", None, ".json"), bench.file("1", project, ".json")]
    assert [one.relative_to(evidence.FOLDER.parents[1]) for one in files[:2]] == [
        evidence.FOLDER.relative_to(evidence.FOLDER.parents[1]) / name
        for name in ("tpcds.json", "tpcds_sf10.json")
    ]
    assert files[2] == project / "tpcds.json"
    assert [bench.choices_file(*one).relative_to(project) for one in (("1", None), ("10", None))] == [
        bench.choices_file("1", None).relative_to(project),
        bench.choices_file("1", None).relative_to(project).with_name("choices_sf10.yml"),
    ]
    whole, one, other = (bench.folders("1", queries)[1] for queries in ("", "q1", "q2"))
    loads, mine = bench.folders("1", "", mine=True)
    assert loads == mine == one.parent / "own"  # of this machine alone: nothing that is committed counts
    assert bench.folders("1", "q1", mine=True) == (mine, mine / one.name)
    assert len({whole, one, other}) == 3 and whole == evidence.FOLDER / "tpcds_units" / "sf1"
    assert (
        {one.parent, other.parent} == {bench.folders("1", "q1")[0]} == {project / ".workbench" / "tpcds" / "sf1"}
    )


def test_choices_are_made_in_one_round_and_held_in_another(tmp_path, project):
    class Data:
        scale = "1"

    found = results("spark41", {"q1": 2.0, "q2": 2.0}, rounds=2)
    found += [
        dataclasses.replace(one, round=number, seconds=seconds)
        for number, times in ((1, (1.0, 1.0)), (2, (1.0, 3.0)))
        for one, seconds in zip(results("sail", {"q1": 0, "q2": 0}), times, strict=True)
    ]
    taken = bench.choose(found, Data, tmp_path / "choices.yml")
    assert {query: one.engine for query, one in taken.items()} == {"q1": "sail", "q2": "spark41"}
    written = tmp_path / "choices.yml"
    assert list(choices.read(written).queries) == ["q1"]
    written.write_text(old := written.read_text().replace("flat tables, 2", "flat tables, 1"))
    bench.choose(found, Data, written)
    assert written.read_text() == old  # the date stays that of the choice
    bench.choose([dataclasses.replace(one, seconds=2 * one.seconds) for one in found], Data, written)
    assert "flat tables, 2" in written.read_text()


def test_where_queries_are_asked_once_choices_are_held_in_no_other_round(tmp_path, project):
    class Data:
        scale = "10"

    asked = [("spark41", {"q1": 2.0, "q2": 2.0}), ("sail", {"q1": 1.0, "q2": 3.0})]
    found = [one for name, seconds in asked for one in results(name, seconds, phase="cold")]
    taken = bench.choose(found, Data, tmp_path / "choices.yml")
    assert {query: (one.chosen, one.engine) for query, one in taken.items()} == {
        "q1": ("sail", "sail"),
        "q2": ("spark41", "spark41"),
    }
    assert "made in one round, measured in others" in (tmp_path / "choices.yml").read_text()


@pytest.mark.parametrize(("planted", "code"), [(None, 0), ("choose", 1), ("rounds", 1), ("levers", 1)])
def test_a_different_answer_in_any_unit_ends_in_an_exit_code_and_comes_first(
    planted, code, project, monkeypatch, capsys
):
    """The whole main, its engines' results planted."""

    def measured(asked, todo, about, path, **options):
        assert set(todo) <= set(options["every"])
        found = [one for unit in todo for one in unit_of(unit)]
        return wrong(found, "q1", todo[-1].engine, todo[-1].round) if path.stem == planted else found

    def unit_of(unit):
        both = {"layout": unit.layout, "read": (8, 4)}
        pair = [
            *results(unit.engine, {"q1": 2.0}, **both),
            *results(unit.engine, {"q1": 3.0}, phase="cold", **both),
        ]
        return [dataclasses.replace(one, round=unit.round) for one in pair]

    monkeypatch.setattr(bench, "measured", measured)
    monkeypatch.setattr(bench, "loaded", lambda data, folder, wanted, **_: (dict.fromkeys(wanted, "n"), LOADS))
    monkeypatch.setattr(bench.engines, "lacks", lambda engine: None)
    monkeypatch.setattr(bench.session, "catalog", lambda name: None)
    monkeypatch.setattr(tpcds_plans, "write", lambda *given: None)
    assert bench.main("0.01", "2", queries="q1", levers="aqe_off") == code
    said = [
        line for line in capsys.readouterr().out.splitlines() if not line.startswith(("skipped", "2 q", "1 q"))
    ]
    assert said[0].startswith("DIFFERENT: ") is bool(code)
    (written,) = (project / ".workbench" / "tpcds" / "sf0.01").glob("trial-*/tpcds_sf0.01.json")
    found = json.loads(written.read_text())
    assert all(line.startswith(f"{planted}: ") for line in found["different"])
    assert len(found["different"]) == {None: 0, "choose": 2, "rounds": 6, "levers": 2}[planted]
    assert found["goals"]["e_bytes"] == {"wanted": "at least 3.4", "found": 1.0, "reached": False}
    assert found["cells"]


def test_what_is_not_asked_for_is_taken_from_the_file_and_without_rounds_no_evidence_is_written(
    project, monkeypatch, capsys
):
    asked = []

    def run(todo, *about, **options):
        asked.append((options["file"].stem, len(todo), len(options["queries"])))
        return []

    monkeypatch.setattr(bench.measuring, "run", run)
    monkeypatch.setattr(bench, "loaded", lambda data, folder, wanted, **_: (dict.fromkeys(wanted, "n"), LOADS))
    monkeypatch.setattr(bench.engines, "lacks", lambda engine: None)
    monkeypatch.setattr(bench.session, "catalog", lambda name: None)
    before = {path: path.read_bytes() for path in evidence.FOLDER.rglob("tpcds*.*")}
    assert bench.main("0.01", "1", "flat", "levers", "", "aqe_off") == 0
    assert asked == [("choose", 0, 103), ("rounds", 0, 103), ("levers", 4, 21)]
    assert "no rounds were measured yet: the evidence stays as it is" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in evidence.FOLDER.rglob("tpcds*.*")} == before
    kept = [*results("spark41", {"q1": 2.0}, layout="ours")]
    monkeypatch.setattr(bench.measuring, "stored", lambda todo, data, **options: kept if todo[0].round else [])
    about = (0, 0, 0), project
    assert bench.measured(False, todo := [Unit("spark41", "ours", 1)], *about, every=todo, queries=["q1"]) == kept


def test_an_engine_that_lacks_here_keeps_what_was_measured_of_it_and_its_choices(project, monkeypatch):
    """A clone without PySail would write choices of none, and evidence without it, over what others measured."""
    asked, every = {}, {}

    def run(todo, *about, **options):
        asked[options["file"].stem] = {unit.engine for unit in todo}
        return []

    def there(todo, data, **options):
        every.setdefault(options["file"].stem, set()).update(unit.engine for unit in todo)
        return []

    monkeypatch.setattr(bench.measuring, "run", run)
    monkeypatch.setattr(bench.measuring, "stored", there)
    monkeypatch.setattr(bench, "loaded", lambda data, folder, wanted, **_: (dict.fromkeys(wanted, "n"), LOADS))
    monkeypatch.setattr(bench.engines, "lacks", lambda one: "it is not here" if one.name == "sail" else None)
    monkeypatch.setattr(bench.session, "catalog", lambda name: None)
    bench.main("0.01", "1", "flat", "choose,rounds")
    assert (asked["choose"], asked["rounds"]) == ({"spark41"}, {"baseline", "spark41", "duckdb"})
    assert every["choose"] == {"sail"} and "sail" in every["rounds"]


def test_one_round_of_a_layout_forgets_no_round_of_another(project, monkeypatch):
    """ROUNDS=1 LAYOUTS=ours wrote evidence of one round of flat tables, of which there were three."""
    kept = [*results("duckdb", {"q1": 1.0}, rounds=3), *results("duckdb", {"q1": 1.0}, layout="ours")]
    own = {Unit(one.engine, one.layout, one.round): [one] for one in kept}
    monkeypatch.setattr(bench.measuring, "run", lambda todo, *about, **options: [])
    monkeypatch.setattr(
        bench.measuring, "stored",
        lambda todo, data, **options: [
            one for unit in todo if options["file"].stem == "rounds" for one in own.get(unit, [])
        ],
    )  # fmt: skip
    monkeypatch.setattr(bench, "loaded", lambda data, folder, wanted, **_: (dict.fromkeys(wanted, "n"), LOADS))
    monkeypatch.setattr(bench.session, "catalog", lambda name: None)
    bench.main("0.01", "1", "published", "rounds", "q1")
    (written,) = (project / ".workbench" / "tpcds" / "sf0.01").glob("trial-*/tpcds_sf0.01.json")
    found = json.loads(written.read_text())
    assert (found["rounds"], found["rounds_by_layout"]) == (3, {"flat": 3, "ours": 1})


def test_the_rounds_of_a_layout_are_those_that_each_engine_has():
    found = [*results("duckdb", {"q1": 1.0}, rounds=3), *results("spark41", {"q1": 1.0}, rounds=2)]
    assert tpcds_goals.rounds(found) == {"flat": 2}


def test_what_there_is_not_is_refused(project):
    with pytest.raises(ValueError, match="no part 'round'; there are choose, rounds, levers"):
        bench.main("0.01", parts="choose,round")
    with pytest.raises(
        ValueError, match="no layout 'truncated' is measured in rounds; there are flat, published, ours"
    ):
        bench.main("0.01", wanted="truncated", parts="rounds")


def test_no_second_run_gets_at_the_tables_of_one(project):
    """A trial beside it loaded them anew, and what was being asked found no files: `different`, and kept for good."""
    with bench.alone("0.01"), pytest.raises(ValueError, match="another run measures scale factor 0.01 here"):
        bench.main("0.01", queries="q1")


def test_choices_of_a_scale_factor_come_before_those_of_1(project, monkeypatch):
    folder = project / "params" / "engines"
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(
        bench.choices, "read", lambda path: choices.Choices(made_from="d", fallback="spark41", queries={})
    )
    assert bench.assigned(None, "0.1") == ({}, "params/engines/choices.yml")
    (folder / "choices_sf0.1.yml").write_text("")
    assert bench.assigned(None, "0.1") == ({}, "params/engines/choices_sf0.1.yml")


def test_at_a_scale_factor_of_10_each_query_is_asked_once_and_the_ratios_are_of_that(project, monkeypatch, capsys):
    """Choices are made in one round; what was not asked a second time is not compared with what was."""
    asked, cold = {}, [dataclasses.replace(one, phase="cold", round=1) for one in MEASURED]

    def run(todo, *about, **options):
        asked[options["file"].stem] = (len(todo), options["phases"])
        for unit in todo:
            yield unit, [one for one in cold if (one.engine, one.layout) == (unit.engine, unit.layout)]

    ten = type("Data", (), {"scale": "10", "digest": "d"})()
    monkeypatch.setattr(bench.derived, "generate", lambda scale: ten)
    monkeypatch.setattr(bench.measuring, "run", run)
    monkeypatch.setattr(bench, "loaded", lambda data, folder, wanted, **_: (dict.fromkeys(wanted, "n"), LOADS))
    monkeypatch.setattr(bench.engines, "lacks", lambda engine: None)
    monkeypatch.setattr(bench.session, "catalog", lambda name: None)
    monkeypatch.setattr(tpcds_plans, "write", lambda *given: None)
    assert bench.main("10", "1", "flat", queries="q1,q2") == 0
    assert asked == {"choose": (2, ("cold",)), "rounds": (4, ("cold",)), "levers": (0, ("cold",))}
    assert "each query is asked once" in capsys.readouterr().out
    (written,) = (project / ".workbench" / "tpcds" / "sf10").glob("trial-*/tpcds_sf10.json")
    found = json.loads(written.read_text())
    assert found["phase"] == "cold" and found["comparisons"]["b_sail_against_baseline"]["total"] == 4.0
    own = "rounds of their own at this scale factor"
    assert (found["choices"], found["best"]) == (own, {"q1": "sail", "q2": "spark41"})
    monkeypatch.setattr(bench.measuring, "stored", lambda todo, *about, **options: [])
    assert bench.main("10", "1", "flat", "rounds", queries="q1,q2") == 0  # without that part, the committed ones
    found = json.loads(written.read_text())
    assert (found["choices"], found["best"]) == ("params/engines/choices.yml", {"q1": "sail", "q2": "sail"})
    assert [found["goals"][name]["found"] for name in ("a_total", "d_total", "e_rows")] == [4.0, 9.92, None]
    assert tpcds_goals.last(cold) == "cold" and tpcds_goals.last(cold + MEASURED) == "warm"
    read = [dataclasses.replace(one, bytes_read=7) for one in cold]
    assert {tuple(row[-2:]) for row in tpcds_goals.rows(read)} == {(7, None)}
    cells = [["sail", "flat", "q1", "equal", 2.0, None, None, None]]
    assert "   sail       equal: cold 2.000 s" in tpcds_plans.profile("q1", 2.0, None, cells, PLAN).splitlines()


PLAN = "== Physical Plan ==\n* Sort (2)\n+- Scan t (1)\n\n\n(1) Scan t\nOutput [1]: [a]\n\n"


def test_the_profile_of_a_query_holds_its_tree_and_what_each_engine_took():
    found = (
        MEASURED + results("spark41", {"q1": 7.0}, phase="cold") + results("spark41", {"q1": 0.1}, layout="ours")
    )
    assert list(tpcds_plans.worst(found)) == ["q2", "q1"]
    cells = [["spark41", "flat", "q2", "equal", 2.0, 1.0, 1234, 5.0], ["sail", "flat", "q2", "equal", 4.0, 4.0, None, None],
             ["spark41", "ours", "q2", "equal", 2.0, 1.0, 1234, 5.0]]  # fmt: skip
    assert tpcds_plans.profile("q2", 250.0, "spark41", cells, PLAN).splitlines() == [
        "== q2: spark41 takes 250 times as long as duckdb; best by spark41",
        "   spark41    equal: cold 2.000 s, warm 1.000 s, read 1,234 bytes, 5 rows",
        "   sail       equal: cold 4.000 s, warm 4.000 s",
        "== Physical Plan ==",
        "* Sort (2)",
        "+- Scan t (1)",
    ]
    cut = tpcds_plans.tree("\n".join(f"node {number}" for number in range(153)) + "\n\n\n(1) Scan t").splitlines()
    assert (len(cut), cut[149], cut[150]) == (151, "node 149", "… and 3 lines")
