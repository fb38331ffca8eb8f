"""The figures of the TPC-DS derived benchmark: what each goal of it compares, and whether that was reached.

Nothing here measures. All ratios are over queries that were verified on both sides, and say how many those are.
"""

import statistics
from dataclasses import dataclass

from workbench_proofs import tpcds as derived
from workbench_proofs.tpcds import figures, measuring
from workbench_proofs.tpcds.runs import UNHEARD, Result

BASELINE, TUNED, BOUND = "baseline", "spark41", "duckdb"
# goal to (at least or at most, value); the names are those of the issue
GOALS = {
    "a_total": ("at least", 6),
    "a_geomean": ("at least", 8),
    "d_total": ("at most", 5),
    "e_bytes": ("at least", 3.4),
    "e_rows": ("at least", 4.1),
}


@dataclass(frozen=True)
class Best:
    """For each query the engine that was chosen for it, measured in rounds that had no say in the choice.

    Attributes:
        engines: query to the engine that takes it.
        went_back: query to why the fallback takes it, though another engine was chosen.
        slower: query to how many times as long the chosen engine took here as the fallback. It keeps the query, and
            its time counts: giving it back now would choose by what is measured.
    """

    engines: dict
    went_back: dict
    slower: dict


def digits(found):
    """Return ratios with three digits that count, however small they are; dicts of them too, and seconds with tenths.

    For telling only: what is just below a goal must not be rounded up to it before it is compared.
    """
    if isinstance(found, dict):
        return {key: digits(value) for key, value in found.items()}
    if not isinstance(found, float):
        return found
    return float(f"{found:.3g}") if abs(found) < 100 else round(found, 1)


def last(results):
    """Return the phase that times are compared in: warm, or cold where each query was asked once."""
    return measuring.WARM if any(one.phase == measuring.WARM for one in results) else measuring.COLD


def best(results, chosen, *, fallback=TUNED):
    """Return the Best of measured rounds on flat tables.

    Args:
        results: Results of rounds that the choices were not made from.
        chosen: query to engine; all others are the fallback's.
        fallback: engine that takes what is not verified.
    """
    times = figures.medians(results, layout="flat", phase=last(results))
    flat = [one for one in results if one.layout == "flat"]
    verdicts = {
        name: measuring.worst(one for one in flat if one.engine == name) for name in {one.engine for one in flat}
    }
    taken, back, slower = {}, {}, {}
    for query in dict.fromkeys(one.query for one in results):
        name, plain = chosen.get(query, fallback), times.get(fallback, {}).get(query)
        verdict = verdicts.get(name, {}).get(query)
        right = verdict and verdict.verified  # in both phases: one cold answer counts, too
        seconds = times.get(name, {}).get(query) if right else None
        taken[query] = name if seconds is not None else fallback
        if seconds is None and name != fallback:
            back[query] = (
                f"{name} is {verdict.kind}: {verdict.sentence}" if verdict else f"{name} was not measured"
            )
        elif plain is not None and seconds is not None and seconds > plain:
            slower[query] = digits(seconds / plain)
    return Best(taken, back, slower)


def compared(results, taken, *, phase=None):
    """Return the ratios of times on flat tables: name to queries, total and geomean; None where one is missing.

    They are of a phase, by default that of `last`. `…_exact` leaves out queries that agree only in another scale.
    Ratios are seconds of the other one by ours, but those to DuckDB (d), which say how many times as long as DuckDB
    our best took.
    """
    found = {}
    for scales, note in ((True, ""), (False, "_exact")):
        times = figures.medians(results, layout="flat", scales=scales, phase=phase or last(results))
        ours = {query: times[name][query] for query, name in taken.items() if query in times.get(name, {})}
        found[f"a_best_against_baseline{note}"] = against(ours, times.get(BASELINE))
        found[f"a_best_against_tuned{note}"] = against(ours, times.get(TUNED))
        for name in times:
            if name != BASELINE:
                found[f"b_{name}_against_baseline{note}"] = against(times[name], times.get(BASELINE))
        found[f"d_best_times_duckdb{note}"] = against(times.get(BOUND), ours)
    return found


def queries_alone(results):
    """Return how our layout compares with the published one without loading, cold: as `compared` does."""
    found = {}
    for name in (BASELINE, TUNED):
        ours, published = (cold(results, name, layout) for layout in ("ours", "published"))
        found[f"c_queries_alone_{name}"] = against(ours, published)
    return found


def missing(results, taken):
    """Return the queries that are in not all of the ratios of a and d, and why: query to a sentence; no vacuous ones."""
    flat = [one for one in results if one.layout == "flat"]
    times = figures.medians(results, layout="flat", phase=last(results))
    names = {one.engine for one in flat}
    worst = {name: measuring.worst(one for one in flat if one.engine == name) for name in names}
    found = {}
    for query, name in taken.items():
        verdicts = {one: worst.get(one, {}).get(query) for one in dict.fromkeys((name, BASELINE, BOUND))}
        lacking = {
            one: verdict.kind if verdict else "not measured"
            for one, verdict in verdicts.items()
            if query not in times.get(one, {})
        }
        if set(lacking.values()) - {"vacuous"}:
            found[query] = ", ".join(f"{one} {kind}" for one, kind in lacking.items())
    return found


def peaks(results):
    """Return the most memory that each engine's processes have had: name to bytes; None where nobody told."""
    told = {}
    for one in results:
        told.setdefault(one.engine, []).append(one.peak_bytes)
    return {name: max((value for value in of if value is not None), default=None) for name, of in told.items()}


def against(mine, other):
    """Return a ratio of two dicts of query to seconds, as a dict; None where they have no query in common."""
    if not set(mine or ()) & set(other or ()):
        return None
    one = figures.ratio(mine, other)
    return {"queries": one.queries, "total": one.total, "geomean": one.geomean}


def cold(results, engine, layout):
    """Return the cold medians of an engine on a layout: query to seconds."""
    return figures.medians(results, phase=measuring.COLD, layout=layout).get(engine, {})


def loading_included(results, loads, engine):
    """Return how our layout compares with the published one when each is loaded and then asked once (c).

    Args:
        results: Results.
        loads: layout to a dict with the seconds of its loading.
        engine: that answers; loading was Spark 4.1's for all.

    Returns:
        dict: loading and cold query seconds of both layouts, `total` of their sums; None where one is missing.
    """
    ours, published = (cold(results, engine, layout) for layout in ("ours", "published"))
    common = [query for query in ours if query in published]
    if not common or not {"ours", "published"} <= set(loads):
        return None
    spent = {
        layout: (loads[layout]["seconds"], sum(times[query] for query in common))
        for layout, times in (("ours", ours), ("published", published))
    }
    return {
        "queries": len(common),
        "loading_seconds": {layout: loading for layout, (loading, _) in spent.items()},
        "query_seconds": {layout: round(asked, 1) for layout, (_, asked) in spent.items()},
        "total": sum(spent["published"]) / sum(spent["ours"]),
    }


def read(results, engine, layout, queries):
    """Return (bytes, rows) that an engine's scans read for queries, warm, medians over the rounds; None untold."""
    sums = []
    for what in ("bytes_read", "rows_read"):
        told = {}
        for one in results:
            if (one.engine, one.layout, one.phase) == (engine, layout, measuring.WARM) and one.query in queries:
                told.setdefault(one.query, []).append(getattr(one, what))
        whole = len(told) == len(queries) and not any(None in values for values in told.values())
        sums.append(sum(statistics.median(values) for values in told.values()) if whole else None)
    return tuple(sums)


def less_read(results, mine, other):
    """Return how many times fewer bytes and rows one (engine, layout) read than another one (e).

    Only over queries that were verified for both, warm: a cold process reads its own program too.

    Returns:
        dict: queries, bytes and rows of both, `bytes` and `rows` ratios; None where one was not measured.
    """
    there = [figures.medians(results, layout=layout).get(engine, {}) for engine, layout in (mine, other)]
    common = [query for query in there[0] if query in there[1]]
    few, many = (read(results, *one, set(common)) for one in (mine, other))
    if not common or None in few or None in many or 0 in few:
        return None
    return {
        "queries": len(common),
        "bytes_read": {"/".join(mine): round(few[0]), "/".join(other): round(many[0])},
        "rows_read": {"/".join(mine): round(few[1]), "/".join(other): round(many[1])},
        "bytes": many[0] / few[0],
        "rows": many[1] / few[1],
    }


def reached(comparisons, reading):
    """Return each goal with what was wanted, what was found and whether that is enough; None: not measured."""
    first, bound = comparisons.get("a_best_against_baseline"), comparisons.get("d_best_times_duckdb")
    found = {
        "a_total": first and first["total"],
        "a_geomean": first and first["geomean"],
        "d_total": bound and bound["total"],
        "e_bytes": reading and reading["bytes"],
        "e_rows": reading and reading["rows"],
    }
    told = {}
    for name, (side, wanted) in GOALS.items():
        value = found[name]
        enough = None if value is None else (value >= wanted if side == "at least" else value <= wanted)
        told[name] = {"wanted": f"{side} {wanted}", "found": value, "reached": enough}
    return told


def worth(levers, plain):
    """Return what each lever is worth: the plain profile's seconds by those with the lever, cold and warm.

    Args:
        levers: Results.
        plain: (engine, layout) of the profile as it is.
    """
    found = {}
    for phase in (measuring.COLD, measuring.WARM):
        pairs = dict.fromkeys((one.engine, one.layout) for one in levers)
        times = {pair: figures.medians(levers, phase=phase, layout=pair[1]).get(pair[0]) for pair in pairs}
        for pair in pairs:
            if pair != plain:
                name = pair[0] if pair[1] == plain[1] else pair[1]
                found.setdefault(name, {})[phase] = against(times[pair], times.get(plain))
    return found


def wrong(results):
    """Return a line for each answer that is different, in any unit, any phase: part of the benchmark to its Results."""
    return [
        f"{part}: {one.engine} {one.layout} round {one.round} {one.phase} {one.query}: {one.verdict.sentence}"
        for part, these in results.items()
        for one in these
        if one.verdict.kind == "different"
    ]


def unheard(results):
    """Return a line for each answer that nobody could judge, as the oracle's memory or disk ran out."""
    return [
        f"{one.engine} {one.layout} round {one.round} {one.phase} {one.query}: {one.verdict.sentence}"
        for one in results
        if UNHEARD in one.verdict.sentence
    ]


def rows(results):
    """Return a row for each engine, layout and query: worst verdict, median seconds cold and warm, what was read.

    What was read is of the phase of `last`: a cold process reads its own program too.
    """
    groups, phase = {}, last(results)
    for one in results:
        groups.setdefault((one.engine, one.layout, one.query), []).append(one)
    found = []
    for key, ones in groups.items():
        phases = {phase: [one for one in ones if one.phase == phase] for phase in (measuring.COLD, measuring.WARM)}
        found.append(
            [*key, measuring.worst(ones)[key[2]].kind]
            + [_median([one.seconds for one in these], 4) for these in phases.values()]
            + [_median([getattr(one, what) for one in phases[phase]]) for what in ("bytes_read", "rows_read")]
        )
    return found


def rounds(results):
    """Return how many rounds each layout was measured in: layout to the least that an engine has of it."""
    found = {}
    for one in results:
        found.setdefault((one.layout, one.engine), set()).add(one.round)
    return {
        layout: min(len(of) for (name, _), of in found.items() if name == layout)
        for layout in dict.fromkeys(one.layout for one in results)
    }


def counts(results, engine, layout):
    """Return how many queries of an engine on a layout have which worst verdict, over all rounds and phases."""
    ones = [one for one in results if (one.engine, one.layout) == (engine, layout)]
    worst = measuring.worst(ones).items()
    return derived.counts(Result(engine, query, verdict, 0.0, 0.0) for query, verdict in worst)


def _median(values, places=None):
    return None if None in values or not values else round(statistics.median(values), places)
