"""Medians, ratios and choices, worked out by hand."""

import dataclasses
import json
import os
import shutil
from contextlib import nullcontext

import pytest
from conftest import ROOT

from workbench_proofs.tpcds import choices, figures, kept_units, layouts, measuring
from workbench_proofs.tpcds.measuring import Unit
from workbench_proofs.tpcds.runs import Result
from workbench_proofs.tpcds.verdicts import Judgement


def result(engine, query, seconds, kind="equal", number=1, phase="warm", layout="flat"):
    return Result(
        engine, query, Judgement(kind, "so it is"), seconds, 0.0, None, None, None, layout, number, phase
    )


def plant(monkeypatch, asked=lambda engine, others: [result(engine, "q1", 1.0)] * 2):
    """Measure nothing: engines are not opened, and what they answer to a unit is told by a function."""
    monkeypatch.setattr(measuring, "_opened", lambda *_: nullcontext())
    monkeypatch.setattr(measuring.asking, "run", lambda engine, query, process: warmed.append(query))
    warmed = []

    def answers(todo, engine, process, data, *, others, **_):
        found = asked(engine.name, others)
        yield from ((phase, one) for (phase, _), one in zip(todo, found[len(found) - len(todo) :], strict=True))

    monkeypatch.setattr(measuring, "_asked", answers)
    return warmed


def run(**seconds):
    """A run of one round: engine to seconds of q1, q2, …"""
    return [
        result(engine, f"q{n}", time)
        for engine, times in seconds.items()
        for n, time in enumerate(times, 1)
        if time
    ]


def test_medians_are_of_one_phase_over_the_rounds():
    times = [(3.0, 1, "warm"), (1.0, 2, "warm"), (2.0, 3, "warm"), (9.0, 1, "cold")]
    found = [result("a", "q1", seconds, number=number, phase=phase) for seconds, number, phase in times]
    assert figures.medians(found) == {"a": {"q1": 2.0}}
    assert figures.medians(found, phase="cold") == {"a": {"q1": 9.0}}
    assert figures.medians(found, layout="ours") == {}


@pytest.mark.parametrize(
    ("kind", "verified", "scales", "there"),
    [
        ("equal", True, False, True),
        ("same value in another scale", True, True, True),
        ("same value in another scale", True, False, False),
        ("tie at the limit", True, True, True),
        ("vacuous", True, True, False),
        ("unverified", True, True, False),
        ("vacuous", False, True, True),
        ("different", False, True, False),
    ],
)
def test_a_time_counts_where_its_verdict_allows(kind, verified, scales, there):
    found = figures.medians([result("a", "q1", 1.0, kind)], verified=verified, scales=scales)
    assert found == ({"a": {"q1": 1.0}} if there else {})


def test_a_query_that_was_wrong_in_one_round_has_no_time():
    rounds = [result("a", "q1", 1.0, number=1), result("a", "q1", 1.0, "different", number=2)]
    rounds += [result("a", "q2", 2.0, number=number) for number in (1, 2)]
    assert figures.medians(rounds) == {"a": {"q2": 2.0}}
    assert figures.medians(rounds[:2]) == {"a": {}}  # also where no other query says how many rounds there were


def test_a_ratio_is_over_the_queries_of_both():
    fast, slow = {"q1": 1.0, "q2": 4.0, "q3": 7.0}, {"q1": 4.0, "q2": 16.0, "q4": 1.0}
    found = figures.ratio(fast, slow)
    assert (found.queries, found.total, round(found.geomean, 9)) == (2, 4.0, 4.0)
    assert figures.total({"q1": 2.0, "q2": 8.0}) == (10.0, 4.0)
    assert figures.total({}) == (0.0, 0.0)
    with pytest.raises(ValueError, match="no query was verified for both engines"):
        figures.ratio({"q1": 1.0}, {"q2": 1.0})


def test_a_slow_machine_slows_nothing_and_a_slow_query_is_named():
    before = run(a=[1.0, 2.0, 4.0], b=[2.0, 2.0, 2.0])
    after = run(a=[2.0, 4.0, 12.0], b=[4.0, 4.0, 4.0])  # the machine is half as fast; q3 took half as long again
    assert figures.slower(before, after, engine="a", against="b") == {"q3": 1.5}
    assert figures.slower(before, after, engine="a", against="b", factor=1.5) == {}
    assert list(figures.slower(before, after, engine="a", factor=1.2)) == ["q3"]
    with pytest.raises(ValueError, match="the run did not measure c warm; it measured a warm, b warm"):
        figures.slower(before, after, engine="a", against="c")
    with pytest.raises(ValueError, match="the run did not measure a cold; it measured a warm, b warm"):
        figures.slower(before, after, engine="a", phase="cold")


def test_a_query_that_one_run_lacks_slows_no_other_one():
    """The engine's own geometric mean is of the queries of both runs: without the slow q3 it is another number."""
    before, after = run(a=[1.0, 1.0, 100.0]), run(a=[1.0, 2.0])
    assert figures.slower(before, after, engine="a") == {"q2": pytest.approx(2**0.5)}
    assert figures.slower(after, before, engine="a", factor=1.1) == {"q1": pytest.approx(2**0.5)}
    after += [result("a", "q3", 1.0, "different")]
    assert list(figures.slower(before, after, engine="a")) == ["q2"]
    with pytest.raises(ValueError, match="no query was answered in both runs"):
        figures.slower(run(a=[1.0]), run(a=[None, 1.0]), engine="a")


def test_runs_on_other_layouts_are_not_compared():
    """Each query is faster where the tables lie well: that would name all of those that are not."""
    flat, ours = run(a=[1.0, 2.0]), [result("a", "q1", 1.0, layout="ours"), result("a", "q2", 1.0, layout="ours")]
    with pytest.raises(
        ValueError, match="runs on different layouts cannot be compared; the runs are of flat and ours"
    ):
        figures.slower(flat, ours, engine="a")
    with pytest.raises(ValueError, match="the runs are of flat, ours and flat"):
        figures.slower(flat + ours, flat, engine="a")


def test_the_fastest_verified_engine_is_chosen_and_noise_is_not():
    found = run(plain=[1.0, 1.0, 1.0, 1.0], fast=[0.5, 0.95, 2.0, None], other=[0.6, 0.1, None, None])
    found += [result("fast", "q4", 0.1, "different"), result("plain", "q5", 1.0, "vacuous")]
    found += [result("plain", "q6", 1.0), result("fast", "q6", 0.95)]
    found += run(bound=[0.01, 0.01, 0.01])
    made = choices.make(found, fallback="plain", among=["fast", "other"])
    assert {query: (one.engine, one.reason) for query, one in made.queries.items()} == {
        "q1": ("fast", "0.50 of the time of plain, the answer verified"),
        "q2": ("other", "0.10 of the time of plain, the answer verified"),
    }
    with pytest.raises(ValueError, match="the run did not measure slow; it measured "):
        choices.make(found, fallback="slow", among=[])


def test_a_choice_is_given_back_where_it_does_not_hold():
    first = run(plain=[1.0] * 5, fast=[0.5] * 5)
    made = choices.make(first[:-1], fallback="plain", among=["fast"])
    second = run(plain=[1.0] * 5, fast=[0.4, 1.5, None, None, 0.1])
    second += [result("fast", "q3", 0.1, "different"), result("fast", "q4", 0.1, "vacuous")]
    found = choices.tried(made, second)
    assert {query: one.engine for query, one in found.items()} == {
        "q1": "fast", "q2": "plain", "q3": "plain", "q4": "plain", "q5": "plain",
    }  # fmt: skip
    assert list(choices.lines(found)) == [
        "4 queries by plain, 1 queries by fast",
        "q2 goes back to plain: fast took 1.50 times as long",
        "q3 goes back to plain: fast is different: so it is",
        "q4 goes back to plain: fast is vacuous: so it is",
    ]
    with pytest.raises(ValueError, match="measured in another run than the one that they were made from"):
        choices.tried(made, first[:-1])
    with pytest.raises(ValueError, match="measured in another run than the one that they were made from"):
        choices.tried(made, [*first[:-1], *(dataclasses.replace(one, round=2) for one in second)])  # among others
    with pytest.raises(ValueError, match="the run did not measure fast; it measured plain"):
        choices.tried(made, run(plain=[1.0]))


def test_choices_are_written_and_read(tmp_path):
    made = choices.make(run(plain=[1.0], fast=[0.5]), fallback="plain", among=["fast"])
    file = tmp_path / "choices.yml"
    choices.write(made, file, comment="of a test\nby hand")
    assert choices.read(file) == made
    assert file.read_text().startswith("# of a test\n# by hand\nfallback: plain\n")
    file.write_text(file.read_text().replace("reason:", "reasons:"))
    with pytest.raises(ValueError, match=r"queries\.q1\.reason: Field required"):
        choices.read(file)


PAIR = [choices.engines.engine(name) for name in ("duckdb", "spark41")]


def test_units_take_turns_and_what_must_be_vouched_for_comes_last_at_first():
    assert measuring.units(PAIR, ["flat"], rounds=3) == [
        Unit("spark41", "flat", 1), Unit("duckdb", "flat", 1), Unit("duckdb", "flat", 2), Unit("spark41", "flat", 2),
        Unit("spark41", "flat", 3), Unit("duckdb", "flat", 3),
    ]  # fmt: skip
    layouts = {"duckdb": ["ours"], "spark41": ["flat", "published"]}
    assert measuring.units(PAIR, layouts) == [
        Unit("spark41", "flat", 1), Unit("spark41", "published", 1), Unit("duckdb", "ours", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("engines", "layouts", "rounds", "sentence"),
    [
        ([], ["flat"], 1, "there is no engine to measure"),
        (PAIR, ["flat"], 0, "rounds is 0; expected a number from 1"),
        (PAIR, ["flat"], -1, "rounds is -1; expected a number from 1"),
        ([*PAIR, PAIR[0]], ["flat"], 1, "duckdb flat round 1 is given twice"),
        (PAIR, ["flat", "flat"], 1, "spark41 flat round 1 is given twice"),
    ],
)
def test_a_measurement_of_nothing_or_of_one_thing_twice_is_refused(engines, layouts, rounds, sentence):
    """Zero rounds, or engines that are all skipped, were measured without an error: no answer was wrong."""
    with pytest.raises(ValueError, match=sentence):
        measuring.units(engines, layouts, rounds=rounds)


@pytest.mark.parametrize("queries", [["q1", "q2", "q1"], []])
def test_a_query_that_stands_twice_is_refused_before_anything_runs(queries):
    """The second time is not cold; and it counted as a round, so that the times of all other queries fell away."""
    data, todo = type("Data", (), {"digest": "d", "scale": "1"})(), measuring.units(PAIR, ["flat"])
    expected = "q1 is given twice" if queries else "there is no query to measure"
    with pytest.raises(ValueError, match=expected):
        next(measuring.run(todo, None, data, {"flat": "n"}, queries=queries))


class Stopped(Exception):
    pass


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    """Killed in its third unit, it measures that one and the rest, and nothing twice; other conditions do count."""
    data = type("Data", (), {"digest": "d", "scale": "1"})()
    asked, told = [], []

    def measured(engine, others):
        asked.append(engine)
        told.append(sorted(others))
        if len(asked) == 3:
            raise Stopped
        return [result(engine, "q1", 1.0)] * 2

    plant(monkeypatch, measured)
    todo, file = measuring.units(PAIR, ["flat"], rounds=2), tmp_path / "units.json"

    def go(**options):
        return list(measuring.run(todo, None, data, {"flat": "n"}, queries=["q1"], file=file, **options))

    with pytest.raises(Stopped):
        go()
    found = go()
    assert asked == [one.engine for one in (*todo[:3], *todo[2:])]
    assert told[0] == [] and told[1:] == [["q1"]] * 4  # Spark's verdicts vouch, also those from the file
    assert [unit for unit, _ in found] == todo
    assert go() == found and len(asked) == 5
    again = measuring.stored(todo[::-1], data, queries=["q1"], file=file)
    assert again == [one for _, results in reversed(found) for one in results] and len(asked) == 5
    # measured under other conditions
    assert measuring.stored(todo, data, queries=["q1"], file=file, cores=3) == []
    assert measuring.stored([Unit("sail", "flat", 1)], data, queries=["q1"], file=file) == []
    go(cores=3)
    assert len(asked) == 9
    first = next(iter(json.loads(file.read_text())))
    assert first["of"][-1] == repr(layouts.WAYS["flat"])
    assert "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0" in first["of"]


def test_a_unit_that_was_stopped_goes_on_with_the_next_query(tmp_path, monkeypatch):
    """At a scale factor of 10 a unit takes an hour, and all of it was lost."""
    data, file = type("Data", (), {"digest": "d", "scale": "1"})(), tmp_path / "units.json"
    asked, todo, stops = [], measuring.units(PAIR[:1], ["flat"]), [2, 1, 9, 9]
    warmed = plant(monkeypatch)

    def answers(left, engine, process, data, *, others, **_):
        until = stops.pop(0)
        for number, (phase, query) in enumerate(left):
            if number == until:
                raise Stopped
            asked.append((phase, query))
            yield phase, result(engine.name, query, 1.0, phase="")

    monkeypatch.setattr(measuring, "_asked", answers)

    def go(**options):
        given = {"queries": ["q1", "q2", "q3"], "file": file} | options
        return list(measuring.run(todo, None, data, {"flat": "n"}, **given))

    for told in (2, 3):
        with pytest.raises(Stopped):
            go()
        ((unit, half),) = stopped_units(file).items()
        assert (unit, len(half["results"]), file.exists()) == (todo[0], told, False)
    ((_, found),) = go()
    every = [(phase, query) for phase in ("cold", "warm") for query in ("q1", "q2", "q3")]
    assert asked == every == [(one.phase, one.query) for one in found]
    assert kept_units.origins(file, todo)[0]["processes"] == 3
    assert warmed == ["q1", "q1"]  # by each process but the first
    assert stopped_units(file) == {}
    with kept_units.alone(file) as stopped:  # whole, and of other conditions: nothing of it counts
        kept_units.keep_half(stopped, *next(iter(kept_units.read(file).items())))
    go(cores=3)
    assert asked == every * 2


def stopped_units(file):
    with kept_units.alone(file) as stopped:
        return kept_units.halves(stopped)


def test_units_of_the_version_before_are_gone_on_with(tmp_path, monkeypatch):
    """One that was measured, and one that was stopped at the third of its four answers."""
    earlier = {}
    for name in ("units.json", "units.part.json"):
        shutil.copy(ROOT / "tests" / "earlier" / name, tmp_path)
        earlier |= kept_units.read(tmp_path / name)
    data, todo, asked = type("Data", (), {"digest": "d", "scale": "1"})(), list(earlier), []
    plant(monkeypatch)
    # on the machine and by the rules that they were measured on and by, which a later version may not have
    monkeypatch.setattr(kept_units, "origin", lambda: {**earlier[todo[0]]["made"], "processes": None})
    monkeypatch.setattr(
        measuring,
        "_about",
        lambda data, queries, engine, unit, *_: {key: earlier[unit][key] for key in ("conditions", "of")},
    )

    def answers(left, engine, *_, **__):
        for phase, query in left:
            asked.append((engine.name, phase, query))
            yield phase, result(engine.name, query, 1.0)

    monkeypatch.setattr(measuring, "_asked", answers)
    file = tmp_path / "units.json"
    (whole, first), (half, second) = measuring.run(
        todo, None, data, {"flat": "n"}, queries=["q1", "q2"], file=file
    )
    assert asked == [("sail", "warm", "q1"), ("sail", "warm", "q2")]
    assert ([whole, half], first, second[:2]) == (todo, earlier[todo[0]]["results"], earlier[todo[1]]["results"])
    assert [(one.query, one.phase) for one in second] == [
        ("q1", "cold"),
        ("q2", "cold"),
        ("q1", "warm"),
        ("q2", "warm"),
    ]
    assert kept_units.read(file)[half]["made"]["processes"] == 2
    assert sorted(path.suffix for path in tmp_path.iterdir() if path.stat().st_size) == [".db", ".json"]


def test_a_unit_that_was_stopped_is_kept_while_another_is_measured(tmp_path, monkeypatch):
    data, file = type("Data", (), {"digest": "d", "scale": "1"})(), tmp_path / "units.json"
    todo, stopped = measuring.units(PAIR, ["flat"]), [True]
    plant(monkeypatch)

    def answers(left, engine, *_, **__):
        for phase, _query in left:
            yield phase, result(engine.name, "q1", 1.0)
            if stopped.pop() if stopped else False:
                raise Stopped

    monkeypatch.setattr(measuring, "_asked", answers)
    with pytest.raises(Stopped):
        list(measuring.run(todo[:1], None, data, {"flat": "n"}, queries=["q1"], file=file))
    list(measuring.run(todo[1:], None, data, {"flat": "n"}, queries=["q1"], file=file))
    assert list(stopped_units(file)) == todo[:1]
    list(measuring.run(todo, None, data, {"flat": "n"}, queries=["q1"], file=file))
    assert [of["made"]["processes"] for of in kept_units.read(file).values()] == [1, 2]
    assert stopped_units(file) == {}


@pytest.mark.parametrize("scale", ["1", "10"])
def test_another_memory_is_another_condition_where_engines_are_held_to_it(tmp_path, monkeypatch, scale):
    data, asked = type("Data", (), {"digest": "d", "scale": scale})(), []
    plant(monkeypatch, lambda engine, others: asked.append(engine) or [result(engine, "q1", 1.0)] * 2)
    for memory in (24, 64):
        monkeypatch.setattr(
            measuring.processes.session, "machine_memory_bytes", lambda memory=memory: memory << 30
        )
        todo, file = measuring.units(PAIR[:1], ["flat"]), tmp_path / "units.json"
        list(measuring.run(todo, None, data, {"flat": "n"}, queries=["q1"], file=file))
    assert len(asked) == (2 if scale == "10" else 1)


def test_the_rest_of_a_unit_is_not_judged_by_other_rules(tmp_path, monkeypatch):
    data, file = type("Data", (), {"digest": "d", "scale": "1"})(), tmp_path / "units.json"
    todo, asked = measuring.units(PAIR[:1], ["flat"]), []
    plant(monkeypatch, lambda engine, others: asked.append(engine) or [result(engine, "q1", 1.0)] * 2)
    for rules in ("these", "others"):
        monkeypatch.setattr(kept_units.kept, "rules", lambda rules=rules: [rules])
        list(measuring.run(todo, None, data, {"flat": "n"}, queries=["q1"], file=file))
        ((unit, half),) = kept_units.read(file).items()
        half["results"].pop()
        with kept_units.alone(file) as stopped:
            kept_units.keep_half(stopped, unit, half)
        file.unlink()
    list(measuring.run(todo, None, data, {"flat": "n"}, queries=["q1"], file=file))
    (one,) = kept_units.origins(file, todo)
    assert (len(asked), one["processes"], one["rules_of_now"]) == (3, 2, True)


def test_the_oracle_is_asked_once_for_all_units():
    asked, known = [], {}
    first, second = (
        measuring._remembering(lambda *given, **options: asked.append(given) or len(asked), known)
        for _ in range(2)
    )
    assert [first("q1"), first("q2"), second("q1")] == [1, 2, 1]
    assert [first("q1", limited=False), second("q1", limited=False), second("q1")] == [3, 4, 1]


@pytest.mark.parametrize("changed", ["jar", "layout"])
def test_another_jar_or_another_layout_of_that_name_is_measured_again(tmp_path, monkeypatch, changed):
    """The profile names a jar without its version, the unit a layout without what that is."""
    data, asked, file = type("Data", (), {"digest": "d", "scale": "1"})(), [], tmp_path / "units.json"
    todo = [Unit("spark41", "ours", 1)]

    def measured(engine, others):
        asked.append(engine)
        return [result(engine, "q1", 1.0, layout="ours")] * 2

    plant(monkeypatch, measured)

    def go():
        return list(measuring.run(todo, None, data, {"ours": "n"}, queries=["q1"], file=file))

    go()
    assert len(go()) == len(asked) == 1
    if changed == "jar":
        monkeypatch.setattr(measuring.jars, "named", lambda *_: {"org.apache.iceberg:runtime:9": ""})
    else:
        monkeypatch.setitem(layouts.WAYS, "ours", layouts.Layout("{key}"))
    assert measuring.stored(todo, data, queries=["q1"], file=file) == []
    go()
    assert len(asked) == 2
    untold = [{key: value for key, value in one.items() if key != "of"} for one in json.loads(file.read_text())]
    file.write_text(json.dumps(untold))
    assert measuring.stored(todo, data, queries=["q1"], file=file) == []


def test_one_engines_error_takes_nobodys_word_away():
    def vouched(*kinds):
        others = {}
        for kind in kinds:
            measuring._vouch(others, [result("a", "q1", 1.0, kind=kind)])
        return others["q1"].kind

    for first in ("equal", "vacuous", "different", "unverified"):
        assert vouched(first, "equal") == vouched("equal", first) == "equal"
    for worse in ("different", "unverified"):
        assert vouched("vacuous", worse) == vouched(worse, "vacuous") == "vacuous"


def test_a_file_of_units_says_where_when_and_by_which_rules(tmp_path, monkeypatch):
    data, todo, file = (
        type("Data", (), {"digest": "d", "scale": "1"})(),
        measuring.units(PAIR, ["flat"]),
        tmp_path / "units.json",
    )
    plant(monkeypatch)
    list(measuring.run(todo[:1], None, data, {"flat": "n"}, queries=["q1"], file=file))
    (first,) = kept_units.origins(file, todo)
    assert (first.pop("units"), first.pop("rules_of_now")) == (1, True)
    assert list(first) == ["date", "system", "cores", "memory_gib", "processes"]
    assert (first["cores"], first["processes"]) == (os.cpu_count(), 1)
    monkeypatch.setattr(kept_units.kept, "rules", lambda: ["others"])
    list(measuring.run(todo, None, data, {"flat": "n"}, queries=["q1"], file=file))
    assert [one["rules_of_now"] for one in kept_units.origins(file, todo)] == [False, True]
    early = [{key: value for key, value in one.items() if key != "made"} for one in json.loads(file.read_text())]
    file.write_text(json.dumps(early))
    assert kept_units.origins(file, todo) == [{"units": 2}]


def test_two_runs_do_not_write_over_each_other(tmp_path, monkeypatch):
    """Each wrote all units that it knew, so those of the other were lost, hours of them."""
    data, todo = type("Data", (), {"digest": "d", "scale": "1"})(), measuring.units(PAIR, ["flat"])
    plant(monkeypatch)

    def go():
        return measuring.run(todo, None, data, {"flat": "n"}, queries=["q1"], file=tmp_path / "units.json")

    one = go()
    next(one)
    with pytest.raises(ValueError, match="another run keeps its results in .*: wait for its end"):
        next(go())
    assert len(list(one)) == 1
    assert len(list(go())) == 2


@pytest.mark.parametrize(
    "torn", ["", '[{"unit": {"engine"', '[{"unit": {}}]', '[{"unit": {"engine": "a"}, "results": []}]']
)
def test_a_torn_file_of_units_is_refused_by_name(tmp_path, torn):
    file = tmp_path / "units.json"
    file.write_text(torn)
    data, todo = type("Data", (), {"digest": "d", "scale": "1"})(), measuring.units(PAIR, ["flat"])
    for read in (
        measuring.stored,
        lambda *given, **more: next(measuring.run(given[0], None, given[1], {}, **more)),
    ):
        with pytest.raises(ValueError, match=r"units\.json is not a file of measured units: "):
            read(todo, data, file=file)
    assert file.read_text() == torn


def test_the_worst_verdict_of_a_query_counts():
    found = [result("a", "q1", 1.0, kind) for kind in ("equal", "vacuous", "tie at the limit")]
    assert {query: one.kind for query, one in measuring.worst(found).items()} == {"q1": "vacuous"}
