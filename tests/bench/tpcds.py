"""The TPC-DS derived benchmark, resumable: units under .workbench/tpcds, figures in docs/evidence/tpcds.json.

`python -m bench.tpcds 1 3` loads what is not loaded, runs what is missing (engine, layout, round), makes choices from
those rounds, measures the choices and the levers in rounds of their own, and says what is missing. A third argument
names layouts, a fourth one parts (rounds, again, levers); what is not asked for is taken from earlier runs, or missing.
A fifth one names queries, for a trial.
"""

import json
import os
import statistics
import sys
from datetime import UTC, datetime

from bench import evidence
from workbench import java, session, settings
from workbench import tpcds as derived
from workbench.tpcds import choices, engines, figures, layouts, measuring

ENVIRONMENT = "lake"
BASELINE, TUNED, BOUND = "baseline", "spark41", "duckdb"
LAYOUTS = {BASELINE: derived.LAYOUTS, TUNED: derived.LAYOUTS, "sail": ("flat", "ours"), BOUND: ("flat", "ours")}
# Each lever of the tuned profile taken back or added, one at a time.
LEVERS = {
    "shuffle_200": {"spark.sql.shuffle.partitions": 200},
    "broadcast_10m": {"spark.sql.autoBroadcastJoinThreshold": 10 << 20},
    "ui_on": {"spark.ui.enabled": True},
    "aqe_off": {"spark.sql.adaptive.enabled": False},
    "manifest_cache": {"spark.sql.catalog.lake.io.manifest.cache-enabled": True},
    "locality_off": {"spark.sql.iceberg.locality.enabled": False},
}
PARTS, EVERY = "rounds,again,levers", ",".join(derived.LAYOUTS)
WORST = 10


def main(scale="1", rounds="3", wanted=EVERY, parts=PARTS, queries=""):
    """Measure what is asked for, and write what there is."""
    data, rounds, parts = derived.generate(scale), int(rounds), parts.split(",")
    asked = queries.split(",") if queries else list(derived.names())
    folder = settings.home() / ".workbench" / "tpcds" / f"sf{data.scale}"
    folder.mkdir(parents=True, exist_ok=True)
    skipped = {name: wrong for name in LAYOUTS if (wrong := engines.lacks(engines.engine(name)))}
    for name, wrong in skipped.items():
        print(f"skipped: {name}: {wrong}", flush=True)
    there = [engines.engine(name) for name in LAYOUTS if name not in skipped]
    spaces, loads = loaded(data, folder, wanted.split(","))
    about, asked = (session.catalog(ENVIRONMENT), data, spaces), {"queries": asked}
    todo = measuring.units(
        there, {name: [one for one in of if one in spaces] for name, of in LAYOUTS.items()}, rounds=rounds
    )
    results = measured("rounds" in parts, todo, about, folder / "rounds.json", **asked)
    # a choice is measured in another run than the one that it was made from
    second = measured("again" in parts, measuring.units(there, ["flat"]), about, folder / "again.json", **asked)
    taken = chosen(results, second, data, rounds) if second else {}
    tuned = engines.engine(TUNED)
    variants = {
        name: tuned.model_copy(update={"name": name, "conf": tuned.conf | conf}) for name, conf in LEVERS.items()
    }
    pulled = [measuring.Unit(name, "flat", 1) for name in (TUNED, *variants)]
    levers = measured("levers" in parts, pulled, about, folder / "levers.json", profiles=variants, **asked)
    plans(folder, about, results)
    write(data, rounds, results, second, taken, levers, loads, skipped)


def chosen(results, second, data, rounds):
    """Make choices from one run, write them, and return what becomes of them in the other one."""
    made = choices.make(results, fallback=TUNED, among=[TUNED, "sail"], layout="flat")
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    comment = (
        f"Which engine takes which query: {derived.DERIVED}, scale factor {data.scale}, {rounds} rounds on flat"
    )
    path = settings.home() / "params" / "engines" / "choices.yml"
    choices.write(
        made, path, comment=f"{comment} tables, {date}.\nWritten by `make bench-tpcds`, measured in another run."
    )
    taken = choices.held(made, second, layout="flat")
    print(*choices.lines(taken), sep="\n", flush=True)
    return taken


def loaded(data, folder, wanted):
    """Load layouts where they are not loaded; returns (layout to namespace, layout to what it took)."""
    spaces = {layout: f"tpcds_sf{data.scale.replace('.', '_')}_{layout}" for layout in wanted}
    file = folder / "loads.json"
    loads = json.loads(file.read_text()) if file.is_file() else {}
    spark = session.start(ENVIRONMENT)
    for layout, namespace in spaces.items():
        if layout in loads and ready(spark, namespace, data):
            continue
        tables = derived.load(spark, data, namespace, layout=layout)
        loads[layout] = {
            "seconds": round(sum(one.seconds for one in tables), 1),
            "files": sum(one.files for one in tables),
            "partitions": sum(one.partitions for one in tables),
            "bytes": sum(one.bytes for one in tables),
        }
        with java.replacing(file) as new:
            new.write_text(json.dumps(loads))
        print(f"loaded {layout}: {loads[layout]}", flush=True)
    session.stop(spark)  # the engines have the machine to themselves
    return spaces, loads


def ready(spark, namespace, data):
    """Say whether a namespace holds the data."""
    try:
        return bool(layouts.require(spark, namespace, data))
    except ValueError:
        return False


def measured(asked, todo, about, file, **options):
    """Run units, print a line each with its verdicts, and return all results; where nobody asked, those there are."""
    if not asked:
        return measuring.read(file)
    found = []
    for unit, results in measuring.run(todo, *about, file=file, cores=os.cpu_count(), **options):
        warm = [one for one in results if one.phase == measuring.WARM and one.verdict.verified]
        told = ", ".join(f"{count} {kind}" for kind, count in derived.counts(results).items() if count)
        where = f"{unit.engine:14} {unit.layout:10} round {unit.round}"
        print(
            f"{where}  warm {sum(one.seconds for one in warm):7.1f} s of {len(warm)} verified; all: {told}",
            flush=True,
        )
        found += results
    return found


def plans(folder, about, results):
    """Keep the plans of the ten queries of the tuned profile that are slowest against DuckDB."""
    catalog, data, spaces = about
    times = figures.medians(results, layout="flat")
    if BOUND not in times or TUNED not in times:
        return
    worse = {
        query: seconds / times[BOUND][query] for query, seconds in times[TUNED].items() if query in times[BOUND]
    }
    with derived.opened(engines.engine(TUNED), catalog, spaces["flat"], data) as process:
        for query in sorted(worse, key=worse.get)[-WORST:]:
            (row,) = process.ask(f"EXPLAIN FORMATTED {derived.text(query)}")[0].to_pylist()
            (folder / f"plan-{query}.txt").write_text(row["plan"])


def write(data, rounds, results, second, taken, levers, loads, skipped):
    """Write docs/evidence/tpcds.json, and say what is missing."""
    cells = rows(results)
    there = {(row[0], row[1]) for row in cells}
    wanted = [(name, layout) for name, of in LAYOUTS.items() for layout in of]
    path = evidence.write(
        "tpcds",
        show=False,
        what=f"{derived.DERIVED}: seconds of queries by engine and layout, each beside its verdict; no TPC result",
        scale=data.scale,
        data=data.digest,
        rounds=rounds,
        queries=len({row[2] for row in cells}),
        skipped=skipped,
        verdicts={
            name: derived.counts(of(results, name, "flat"))
            for name in dict.fromkeys(one.engine for one in results)
        },
        loads=loads,
        comparisons=compared(results, second, taken),
        read_by_tuned=read(results),
        levers=pulled(levers),
        went_back={query: one.reason for query, one in taken.items() if one.engine != one.chosen},
        columns=[
            "engine",
            "layout",
            "query",
            "verdict",
            "cold_seconds",
            "warm_seconds",
            "bytes_read",
            "rows_read",
        ],
    )
    listed = ",\n".join("  " + json.dumps(row) for row in cells)
    text = path.read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
    path.write_text(f'{text},\n "cells": [\n{listed}\n ]\n}}\n', encoding="utf-8")
    missing = ["/".join(one) for one in wanted if one not in there]
    print(json.dumps(compared(results, second, taken), indent=1))
    missing += sorted(set(derived.names()) - {row[2] for row in cells})
    print(f"missing: {', '.join(missing) or 'nothing'}")


def of(results, engine, layout, phase=measuring.COLD):
    """Return the results of an engine on a layout, of the first round and one phase."""
    return [one for one in results if (one.engine, one.layout, one.phase, one.round) == (engine, layout, phase, 1)]


def rows(results):
    """Return a row for each engine, layout and query: worst verdict, medians, what was read at most."""
    groups = {}
    for one in results:
        groups.setdefault((one.engine, one.layout, one.query), []).append(one)
    found = []
    for key, ones in groups.items():
        worst = measuring.worst(ones)[key[2]].kind
        seconds = [
            statistics.median(one.seconds for one in ones if one.phase == phase) for phase in ("cold", "warm")
        ]
        read = [
            max((getattr(one, name) for one in ones if getattr(one, name) is not None), default=None)
            for name in ("bytes_read", "rows_read")
        ]
        found.append([*key, worst, *(round(one, 4) for one in seconds), *read])
    return found


def compared(results, second, taken):
    """Return the comparisons of the issue: name to queries, total and geomean ratio; None where one was not run."""
    found = {}
    for scales, note in ((True, ""), (False, "_exact")):
        first = figures.medians(results, layout="flat", scales=scales)
        other = figures.medians(second, layout="flat", scales=scales)
        best = {
            query: other[one.engine][query] for query, one in taken.items() if query in other.get(one.engine, {})
        }
        found[f"a_best_against_baseline{note}"] = against(best, other.get(BASELINE))
        found[f"a_best_against_tuned{note}"] = against(best, other.get(TUNED))
        for name in first:
            found[f"b_{name}_against_baseline{note}"] = against(first[name], first.get(BASELINE))
        found[f"d_best_against_duckdb{note}"] = against(best, other.get(BOUND))
    for name in (BASELINE, TUNED):
        ours, published = (
            figures.medians(results, phase="cold", layout=one).get(name) for one in ("ours", "published")
        )
        found[f"c_ours_against_published_cold_{name}"] = against(ours, published)
    return found


def against(mine, other):
    """Return a ratio as a dict; None where one side was not measured."""
    if not mine or not other:
        return None
    one = figures.ratio(mine, other)
    return {"queries": one.queries, "total": round(one.total, 2), "geomean": round(one.geomean, 2)}


def read(results):
    """Return bytes and rows that the tuned profile read from each layout, over the same queries."""
    found = {}
    for layout in derived.LAYOUTS:
        ones = [one for one in of(results, TUNED, layout) if one.bytes_read is not None]
        found[layout] = {"bytes": sum(one.bytes_read for one in ones), "rows": sum(one.rows_read for one in ones)}
    return found


def pulled(levers):
    """Return what each lever is worth: the tuned profile's seconds by those of the variant."""
    times = figures.medians(levers, layout="flat")
    return {name: against(times[name], times.get(TUNED)) for name in times if name != TUNED}


if __name__ == "__main__":
    main(*sys.argv[1:])
