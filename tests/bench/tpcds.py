"""The TPC-DS derived benchmark, resumable: units and figures in docs/evidence, so that a clone goes on with them.

`python -m bench.tpcds 1 3` loads what is not loaded, chooses engines for queries in rounds of their own, runs what is
missing of three others (engine, layout, round), pulls the levers, and says what is missing. A third argument names
layouts, a fourth one parts (choose, rounds, levers); what is not asked for is taken from earlier runs, or missing.
A fifth one names queries: that is a trial, which leaves everything in a folder of its own under .workbench/tpcds. A
sixth one names levers. A seventh one, `own`, is for a machine of one's own: nothing that was measured elsewhere counts
or is written over, and everything is in another folder there; without choices of its own it takes the committed ones.
It ends with an exit code of 1 when an answer was different in any unit.
"""

import hashlib
import json
import os
import statistics
import sys
from datetime import UTC, datetime

from bench import evidence, tpcds_goals, tpcds_levers, tpcds_plans
from bench.tpcds_goals import BASELINE, BOUND, TUNED
from workbench import session
from workbench._base import files, locks, settings
from workbench.engines import profiles as engines
from workbench_proofs import tpcds as derived
from workbench_proofs.tpcds import choices, kept_units, layouts, measuring, processes
from workbench_proofs.tpcds.kept_units import Unit

ENVIRONMENT = "lake"
LAYOUTS = {BASELINE: derived.LAYOUTS, TUNED: derived.LAYOUTS, "sail": ("flat", "ours"), BOUND: ("flat", "ours")}
CANDIDATES = (TUNED, "sail")
PARTS, EVERY = "choose,rounds,levers", ",".join(derived.LAYOUTS)
# Looked for in the units of earlier runs: fewer of one layout are no reason to forget those of another
KEPT_ROUNDS = 9
# From this scale factor each query is asked once, cold: twice is more than a sitting, most of it Spark's
ONCE = processes.LARGE
MAIN_SCALE = "1"  # whose figures are docs/evidence/tpcds.json, which notebook 90 shows


def main(scale="1", rounds="3", wanted=EVERY, parts=PARTS, queries="", levers="", own=""):
    """Measure what is asked for, and write what there is; returns the exit code."""
    _asked(rounds, queries)
    parts = parts.split(",")
    if unknown := [part for part in parts if part not in PARTS.split(",")]:
        raise ValueError(f"no part {unknown[0]!r}; there are {PARTS.replace(',', ', ')}")
    data = derived.generate(scale)
    with alone(data.scale):
        return _main(data, rounds, wanted, parts, queries, levers or tpcds_levers.EVERY, bool(own))


def _asked(rounds, queries):
    """Refuse what cannot be measured before anything is generated or loaded."""
    if not rounds.isdigit() or int(rounds) < 1:
        raise ValueError(f"ROUNDS is {rounds!r}; expected a number from 1 on")
    known = derived.names()
    if unknown := [name for name in queries.split(",") if queries and name not in known]:
        raise ValueError(f"QUERIES has {unknown[0]!r}, which is no query; there are {known[0]} to {known[-1]}")


def alone(scale):
    """Keep a second run, a trial too, from the tables of a scale factor: it might load them anew under our feet."""
    path = settings.home() / ".workbench" / "tpcds" / f"sf{scale}.lock"
    return locks.held(path, f"another run measures scale factor {scale} here: wait for its end")


def _main(data, rounds, wanted, parts, queries, levers, mine):
    asked = queries.split(",") if queries else list(derived.names())
    phases = (measuring.COLD,) if float(data.scale) >= ONCE else (measuring.COLD, measuring.WARM)
    if len(phases) == 1:
        print(
            f"scale factor {data.scale}: each query is asked once, choices are made in one round and held in none"
        )
        parts = [part for part in parts if part != "levers"]
    if unknown := [name for name in wanted.split(",") if "rounds" in parts and name not in derived.LAYOUTS]:
        raise ValueError(f"no layout {unknown[0]!r} is measured in rounds; there are {EVERY.replace(',', ', ')}")
    shelf, own = folders(data.scale, queries, mine)
    private = own if queries or mine else None
    everyone = [engines.engine(name) for name in LAYOUTS]
    skipped = {one.name: wrong for one in everyone if (wrong := engines.lacks(one))}
    for name, wrong in skipped.items():
        print(f"skipped: {name}: {wrong}", flush=True)
    pulled, wanted = tpcds_levers.named(levers) if "levers" in parts else {}, wanted.split(",")
    flat = ["flat"] if {"choose", "levers"} & set(parts) else []
    layouts_of = [*wanted, *flat, *tpcds_levers.layouts(pulled)]
    spaces, loads = loaded(data, shelf, layouts_of, trial=bool(queries))
    about, options = (session.catalog(ENVIRONMENT), data, spaces), {"queries": asked, "phases": phases}

    # what lacks here was measured elsewhere: its units count, else choices and evidence would be written without it
    candidates = [one for one in everyone if one.name in CANDIDATES]
    first = measuring.units(candidates, ["flat"], rounds=len(phases))
    todo = [unit for unit in first if unit.engine not in skipped]
    chosen = measured("choose" in parts, todo, about, own / "choose.json", every=first, **options)
    whole = bool(chosen) and {(one.engine, one.round) for one in chosen} >= {
        (one.engine, one.round) for one in first
    }
    taken = choose(chosen, data, choices_file(data.scale, private)) if whole else None

    of = {name: [one for one in found if one in wanted] for name, found in LAYOUTS.items()}
    every = measuring.units(everyone, LAYOUTS, rounds=max(int(rounds), KEPT_ROUNDS))
    todo = [unit for unit in measuring.units(everyone, of, rounds=int(rounds)) if unit.engine not in skipped]
    results = measured("rounds" in parts, todo, about, own / "rounds.json", every=every, **options)

    every, profiles = tpcds_levers.units(tpcds_levers.named(tpcds_levers.EVERY))
    todo, options["profiles"] = tpcds_levers.units(pulled)[0], profiles
    options["queries"] = asked if queries else list(tpcds_levers.QUERIES)
    tried = measured("levers" in parts, todo, about, own / "levers.json", every=every, **options)
    wrong = tpcds_goals.wrong({"choose": chosen, "rounds": results, "levers": tried})
    for line in wrong:
        print(f"DIFFERENT: {line}", flush=True)
    if results:
        made = kept_units.origins(
            own / "rounds.json", dict.fromkeys(Unit(one.engine, one.layout, one.round) for one in results)
        )
        found = {"different": wrong, "measured": made} | told(data, results, taken, tried, loads, skipped)
        write(data.scale, found, results, private)
        tpcds_plans.write(about, results, found["engines"], file(data.scale, private, "_worst.txt"))
    else:
        print("no rounds were measured yet: the evidence stays as it is")
    for line in (lost := tpcds_goals.unheard([*chosen, *results, *tried])):
        print(f"NOT JUDGED: {line}", flush=True)
    return 1 if wrong or lost else 0


def folders(scale, queries, mine=False):
    """Return (folder of a scale factor's loads, folder of its units): committed ones, of a trial others by its queries.

    All rounds take longer than one sitting, so what was measured in one is committed, and the next goes on with it.
    What is `mine`, of this machine alone, is not committed.
    """
    if not queries and not mine:
        return (evidence.FOLDER / "tpcds_units" / f"sf{scale}",) * 2
    shelf = settings.home() / ".workbench" / "tpcds" / f"sf{scale}"
    own = shelf / "own" if mine else shelf
    units = own / f"trial-{hashlib.sha256(queries.encode()).hexdigest()[:8]}" if queries else own
    units.mkdir(parents=True, exist_ok=True)
    return own, units


def name_of(scale):
    """Return the name of a scale factor's evidence: none is written over another one's."""
    return "tpcds" if scale == MAIN_SCALE else f"tpcds_sf{scale}"


def file(scale, trial, ending):
    """Return a file of the evidence: under docs/evidence, or in the folder of a trial."""
    return (trial or evidence.FOLDER) / f"{name_of(scale)}{ending}"


def choices_file(scale, trial):
    """Return the file of a scale factor's choices: under params/engines, or in the folder of a trial."""
    name = engines.CHOICES if scale == MAIN_SCALE else f"{engines.CHOICES}_sf{scale}"
    return (trial or settings.home() / "params" / "engines") / f"{name}.yml"


def choose(results, data, path):
    """Make choices by the first choosing round, take back by the second what does not hold, and write the rest.

    Where each query is asked once there is one round: what does not hold shows in the rounds that are measured then.

    Returns:
        dict of query to choices.Taken.
    """
    one, two = ([each for each in results if each.round == number] for number in (1, 2))
    phase = tpcds_goals.last(results)
    made = choices.make(one, fallback=TUNED, among=CANDIDATES, layout="flat", phase=phase)
    taken = choices.tried(made, two, layout="flat", phase=phase) if two else choices.all_of(made, one)
    kept = {query: made.queries[query] for query, one in taken.items() if one.engine != made.fallback}
    listed = made.model_copy(update={"queries": kept})
    if not path.is_file() or choices.read(path) != listed:  # the date is that of the choice, not of each later run
        choices.write(
            listed,
            path,
            comment=f"Which engine takes which query: {derived.DERIVED}, scale factor {data.scale}, flat tables, "
            f"{datetime.now(UTC):%Y-%m-%d}.\n"
            f"Written by `make bench-tpcds`: made in one round{', held in another' if two else ''}, measured in others.",
        )
    print(*choices.lines(taken), sep="\n", flush=True)
    return taken


def loaded(data, folder, wanted, *, trial=False):
    """Load layouts where they are not loaded; returns (layout to namespace, layout to what it costs).

    The first run in a clone loads all of its layouts, to know what that costs; a trial takes the tables that are there.
    """
    spaces = {layout: f"tpcds_sf{data.scale.replace('.', '_')}_{layout}" for layout in dict.fromkeys(wanted)}
    path = folder / "loads.json"
    loads = json.loads(path.read_text()) if path.is_file() else {}
    spark = session.start(ENVIRONMENT)
    for layout, namespace in spaces.items():
        if (trial or layout in loads) and ready(spark, namespace, data):
            continue
        tables = derived.load(spark, data, namespace, layout=layout)
        loads[layout] = {
            "seconds": [*loads.get(layout, {}).get("seconds", []), round(sum(one.seconds for one in tables), 1)],
            "files": sum(one.files for one in tables),
            "partitions": sum(one.partitions for one in tables),
            "bytes": sum(one.bytes for one in tables),
        }
        folder.mkdir(parents=True, exist_ok=True)
        with files.replacing(path) as new:
            new.write_text(json.dumps(loads, indent=1) + "\n")
        print(f"loaded {layout}: {loads[layout]}", flush=True)
    session.stop(spark)  # the engines have the machine to themselves
    return spaces, {layout: priced(one) for layout, one in loads.items()}


def priced(load):
    """Return what a layout costs: the median of the seconds of its loads, one in each clone, and how many there are."""
    return load | {"seconds": round(statistics.median(load["seconds"]), 1), "loads": len(load["seconds"])}


def ready(spark, namespace, data):
    """Say whether a namespace holds the data."""
    try:
        return bool(layouts.require(spark, namespace, data))
    except ValueError:
        return False


def measured(asked, todo, about, path, *, every, **options):
    """Run units where they are asked for, and print a line each with its verdicts.

    Args:
        asked: False runs none.
        todo: Units to run.
        about: (catalog, data, layout to namespace).
        path: file that keeps them.
        every: Units whose results are taken from the file, where they are there, though they do not run now.
        options: of measuring.run.

    Returns:
        list of Result.
    """
    todo, options = todo if asked else [], options | {"file": path, "cores": os.cpu_count()}
    found = measuring.stored([unit for unit in every if unit not in todo], about[1], **options)
    for unit, results in measuring.run(todo, *about, **options):
        phase = tpcds_goals.last(results)
        judged = [one for one in results if one.phase == phase and one.verdict.verified]
        counted = [(kind, count) for kind, count in derived.counts(results).items() if count]
        worst_first = ", ".join(f"{count} {kind}" for kind, count in reversed(counted))
        where = f"{unit.engine:14} {unit.layout:10} round {unit.round}"
        seconds = sum(one.seconds for one in judged)
        print(f"{where}  {phase} {seconds:7.1f} s of {len(judged)} verified; all: {worst_first}", flush=True)
        found += results
    return found


def told(data, results, taken, tried, loads, skipped):
    """Return what docs/evidence says but for the cells."""
    chosen, source = assigned(taken, data.scale)
    best = tpcds_goals.best(results, chosen)
    comparisons = tpcds_goals.compared(results, best.engines) | tpcds_goals.queries_alone(results)
    reading = tpcds_goals.less_read(results, (TUNED, "ours"), (TUNED, "published"))
    rounds = tpcds_goals.rounds(results)
    found = {
        "what": f"{derived.DERIVED}: seconds of queries by engine and layout, each beside its verdict; no TPC result",
        "scale": data.scale,
        "data": data.digest,
        "phase": tpcds_goals.last(results),
        "goals": tpcds_goals.reached(comparisons, reading),
        "rounds": rounds.get("flat", min(rounds.values())),
        "rounds_by_layout": rounds,
        "queries": len({one.query for one in results}),
        "skipped": skipped,
        "verdicts": {
            name: tpcds_goals.counts(results, name, "flat")
            for name in dict.fromkeys(one.engine for one in results)
        },
        "loads": loads,
        "comparisons": comparisons,
        "comparisons_cold": tpcds_goals.compared(results, best.engines, phase=measuring.COLD),
        "not_in_all_ratios": tpcds_goals.missing(results, best.engines),
        "peak_bytes": tpcds_goals.peaks(results),
        "c_ours_against_published_loading_included": {
            name: tpcds_goals.loading_included(results, loads, name) for name in (BASELINE, TUNED)
        },
        "e_read_warm": {
            "tuned_ours_against_tuned_published": reading,
            "tuned_ours_against_baseline_published": tpcds_goals.less_read(
                results, (TUNED, "ours"), (BASELINE, "published")
            ),
            "tuned_ours_against_tuned_flat": tpcds_goals.less_read(results, (TUNED, "ours"), (TUNED, "flat")),
        },
        "levers": tpcds_goals.worth(tried, (TUNED, "flat")),
        "choices": source,
        "went_back": {query: one.reason for query, one in (taken or {}).items() if one.engine != one.chosen}
        | best.went_back,
        "slower_than_plain_here": best.slower,
    }
    return tpcds_goals.digits(found) | {"engines": best.engines}


def assigned(taken, scale):
    """Return (query to chosen engine, where that is from): this scale factor's choosing rounds, or what is committed."""
    if taken is not None:
        return {query: one.engine for query, one in taken.items()}, "rounds of their own at this scale factor"
    own = choices_file(scale, None)
    path = own if own.is_file() else None  # else those of the main scale factor
    try:
        found = {query: one.engine for query, one in choices.read(path).queries.items()}
        return found, f"params/engines/{own.name if path else f'{engines.CHOICES}.yml'}"
    except ValueError as error:
        return {}, f"none: {error}"


def write(scale, found, results, trial):
    """Write the evidence of a scale factor, or of a trial, and say what is missing."""
    cells = tpcds_goals.rows(results)
    columns = ["engine", "layout", "query", "verdict", "cold_seconds", "warm_seconds", "bytes_read", "rows_read"]
    path = evidence.write(
        name_of(scale), show=False, folder=trial, **{key: found[key] for key in found if key != "engines"},
        best=found["engines"], columns=columns,
    )  # fmt: skip
    evidence.with_lines(path, "cells", cells)
    print(json.dumps(found["goals"] | found["comparisons"], indent=1))
    there = {(row[0], row[1]) for row in cells}
    missing = [
        "/".join((name, layout)) for name, of in LAYOUTS.items() for layout in of if (name, layout) not in there
    ]
    missing += sorted(set(derived.names()) - {row[2] for row in cells})
    print(f"missing: {', '.join(missing) or 'nothing'}\nwritten: {path}")


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except ValueError as error:  # what was asked for is wrong, and said in a sentence
        print(f"bench-tpcds: {error}", file=sys.stderr)
        sys.exit(2)
