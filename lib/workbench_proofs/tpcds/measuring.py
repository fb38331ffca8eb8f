"""Engines measured against each other: rounds in turn, cold and warm, going on where a run was stopped.

A unit is one engine on one layout in one round: a fresh process that answers every query twice. The first time is
cold, the second warm. Units of one round run one after another, so that a slow minute hits all engines alike.
"""

import dataclasses
import hashlib
import json
import time
from contextlib import contextmanager, suppress
from functools import partial

from workbench._base import jars
from workbench._base.errors import ArgumentError
from workbench.engines import profiles as engines
from workbench_proofs.tpcds import asking, kept_units, layouts, oracle, processes, runs
from workbench_proofs.tpcds import data as generated
from workbench_proofs.tpcds.kept_units import Unit
from workbench_proofs.tpcds.layouts import definition
from workbench_proofs.tpcds.texts import names
from workbench_proofs.tpcds.verdicts import DIFFERENT, VACUOUS, Judgement

COLD, WARM = "cold", "warm"
# Counted up when a figure means something else than before: what was measured then is measured again.
METHOD = 2


def units(wanted, layouts, *, rounds=1):
    """Return the units of a measurement in their order: round by round, each beginning with another engine.

    In the first round an engine of the oracle's own code comes last: the others vouch for its answers.

    Args:
        wanted: Engines.
        layouts: their layouts, a list for all, or a dict of engine name to list.
        rounds: how many.

    Raises:
        ValueError: nothing would be measured, or something twice, or there is no such layout.
    """
    if rounds < 1:
        raise ArgumentError(f"rounds is {rounds}; expected a number from 1")
    if not wanted:
        raise ArgumentError("there is no engine to measure; one that lacks something here is skipped")
    wanted = sorted(wanted, key=lambda one: one.family == oracle.FAMILY)
    found = []
    for number in range(1, rounds + 1):
        turn = (number - 1) % len(wanted)
        for one in wanted[turn:] + wanted[:turn]:
            of = layouts[one.name] if isinstance(layouts, dict) else layouts
            found += [Unit(one.name, layout, number) for layout in of]
    for layout in dict.fromkeys(unit.layout for unit in found):
        definition(layout)  # refuses what is none
    return _once(found, lambda one: f"{one.engine} {one.layout} round {one.round}")


def run(
    todo,
    catalog,
    data,
    namespaces,
    *,
    profiles=None,
    queries=None,
    file=None,
    place=None,
    phases=(COLD, WARM),
    cores=2,
):
    """Measure units; those that a file holds are taken from it.

    Args:
        todo: Units, in the order in which they run.
        catalog: PyIceberg's; see processes.opened.
        data: tpcds.data.Data.
        namespaces: layout to the namespace whose tables lie so.
        profiles: name to Engine, for those that are in no file of params/engines.
        queries: names; all 103 by default.
        file: where results are kept, so that a run that was stopped goes on; None keeps none. A unit that was
            stopped is kept beside it (`units.part.db`), and goes on in another process.
        place: of kept verdicts; see runs.run.
        phases: `cold`, `warm` or both, in this order.
        cores: that each engine may use.

    Yields:
        (Unit, list of Result), a unit at a time. A unit that was measured under other conditions (data, queries,
        profile and its jars, layout, cores) is measured again.

    Raises:
        ValueError: an engine cannot run here, see engines.lacks; there is no query, or one stands twice; another
            run keeps its results in the folder of the file.
        ChildProcessError, TimeoutError: an engine could not be opened.
    """
    queries = _once(tuple(names() if queries is None else queries), str)
    if not queries:
        raise ArgumentError("there is no query to measure")
    with kept_units.alone(file) as stopped:
        kept, others, known = kept_units.read(file), {}, {}
        for unit in todo:
            engine = (profiles or {}).get(unit.engine) or engines.engine(unit.engine)
            about = _about(data, queries, engine, unit, phases, cores)
            if not _holds(kept.get(unit), about):
                start = partial(_opened, unit, engine, catalog, data, namespaces[unit.layout], queries, cores)
                asked = [(phase, query) for phase in phases for query in queries]
                with oracle.witness(data) as witness:  # it goes with the unit, and the memory that it has with it
                    options = {"place": place, "others": others, "ask": _remembering(witness, known)}
                    kept[unit] = _measured(unit, engine, data, start, asked, about, stopped, **options)
                kept_units.write(file, kept)
                kept_units.forget_half(stopped, unit)
            results = kept[unit]["results"]
            if engine.family != oracle.FAMILY:
                _vouch(others, results)
            yield unit, results


def worst(results):
    """Return the worst verdict on each query: query to Judgement."""
    kinds, found = runs.KINDS, {}
    for one in results:
        there = found.get(one.query)
        if there is None or kinds.index(one.verdict.kind) > kinds.index(there.kind):
            found[one.query] = one.verdict
    return found


def there(todo, data, *, profiles=None, queries=None, file=None, phases=(COLD, WARM), cores=2):
    """Return the results of those units that a file of `run` holds, measured under these conditions; runs nothing.

    Args:
        todo: Units.
        data: as for `run`, like all that follow.
        profiles: name to Engine.
        queries: names.
        file: where results are kept.
        phases: `cold`, `warm` or both.
        cores: that each engine might use.

    Returns:
        list of Result.
    """
    queries, kept, found = tuple(names() if queries is None else queries), kept_units.read(file), []
    for unit in todo:
        engine = (profiles or {}).get(unit.engine) or engines.engine(unit.engine)
        if _holds(kept.get(unit), _about(data, queries, engine, unit, phases, cores)):
            found += kept[unit]["results"]
    return found


def _once(found, told):
    """Return what is asked for, having seen that nothing stands twice: that would count as another round."""
    for n, one in enumerate(found):
        if one in found[:n]:
            raise ArgumentError(f"{told(one)} stands twice")
    return found


def _remembering(witness, known):
    """Return a witness that is not asked what is known; what it says without LIMIT may be too much to keep."""

    def ask(query, limited=True):
        if not limited:
            return witness(query, limited=False)
        if query not in known:
            known[query] = witness(query)
        return known[query]

    return ask


@contextmanager
def _opened(unit, engine, catalog, data, namespace, queries, cores):
    tables = runs.tables(queries) if len(queries) < len(names()) else generated.TABLES
    with processes.opened(engine, catalog, namespace, data, tables=tables, cores=cores) as process:
        if process.layout != unit.layout:
            raise ArgumentError(f"the tables of {namespace} lie {process.layout}, not {unit.layout}")
        yield process


def _measured(unit, engine, data, start, todo, about, stopped, **options):
    """Return what is kept of a unit: each (phase, query) is asked, and its answer gets a verdict each time.

    An engine that dies or hangs has given no answer to a query: a wrong one. Another process takes the rest, also
    where a run was stopped in the middle.
    """
    made, half = kept_units.origin() | {"processes": 0}, kept_units.halves(stopped).get(unit)
    going_on = _holds(half, about) and _place(half["made"]) == _place(made)
    kept = half if going_on else about | {"results": [], "made": made}
    while left := todo[len(kept["results"]) :]:
        kept["made"]["processes"] += 1
        with start() as process:
            _warmed(engine, process, kept["results"])
            for phase, one in _asked(left, engine, process, data, **options):
                kept["results"].append(dataclasses.replace(one, round=unit.round, phase=phase))
                kept_units.keep_half(stopped, unit, kept)
    return kept


def _place(made):
    """Return where and by which rules something is made, whenever and by however many processes."""
    return {key: value for key, value in made.items() if key not in ("date", "processes")}


def _warmed(engine, process, results):
    """Let a process that takes the rest of a unit answer its first query again: whoever begins pays for it."""
    if results and results[0].verdict.kind != DIFFERENT:
        with suppress(processes.NoAnswer, ChildProcessError, TimeoutError):
            asking.run(engine, results[0].query, process)


def _asked(todo, engine, process, data, **options):
    """Yield (phase, Result) of what one process is asked: all of it, or up to the query that ends it."""
    seen = set()
    for phase, query in todo:
        start = time.perf_counter()
        try:
            if phase == WARM and query not in seen:  # it was another process that had answered it
                with suppress(processes.NoAnswer):
                    asking.run(engine, query, process)
            (one,) = runs.run(engine, process, data, queries=(query,), **options)
        except (ChildProcessError, TimeoutError) as error:
            none, seconds = Judgement(DIFFERENT, f"no answer: {error}"), time.perf_counter() - start
            yield phase, runs.Result(engine.name, query, none, seconds, 0.0, layout=process.layout)
            return
        seen.add(query)
        yield phase, one


def _vouch(others, results):
    """Add the verdicts on an engine's answers to those that vouch; one engine's error takes nobody's word away."""

    def worth(one):
        return one.verified, one.kind == VACUOUS

    for query, verdict in worst(results).items():
        if query not in others or worth(verdict) > worth(others[query]):
            others[query] = verdict


def _about(data, queries, engine, unit, phases, cores):
    """Return what a unit's results depend on: a digest, and what stands behind its names of jars and layout."""
    memory = processes.memory_bytes(data)
    parts = [
        METHOD,
        data.digest,
        *queries,
        engine.model_dump_json(),
        *phases,
        cores,
        *([memory] if memory else []),
    ]
    return {
        "conditions": hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
        "of": [*jars.named(*engine.jars), repr(layouts.WAYS[unit.layout])],
    }


def _holds(found, about):
    """Say whether a kept unit was measured under these conditions."""
    return found is not None and all(found[key] == about[key] for key in ("conditions", "of"))
