"""Engines measured against each other: rounds in turn, cold and warm, going on where a run was stopped.

A unit is one engine on one layout in one round: a fresh process that answers every query twice. The first time is
cold, the second warm. Units of one round run one after another, so that a slow minute hits all engines alike.
"""

import dataclasses
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from workbench._base import jars, worklist
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.engines import profiles as engines
from workbench.engines.profiles import Engine
from workbench_proofs.tpcds import asking, kept_units, layouts, oracle, processes, runs
from workbench_proofs.tpcds import data as generated
from workbench_proofs.tpcds.data import Data
from workbench_proofs.tpcds.kept_units import Unit
from workbench_proofs.tpcds.layouts import definition
from workbench_proofs.tpcds.runs import Result
from workbench_proofs.tpcds.texts import names
from workbench_proofs.tpcds.verdicts import DIFFERENT, KINDS, VACUOUS, Judgement, Oracle

Items = TypeVar("Items", bound=Sequence[Any])
Measured = dict[str, Any]  # what kept_units.read returns of a unit
COLD, WARM = "cold", "warm"
# Counted up when a figure means something else than before: what was measured then is measured again.
METHOD = 2


@checked
def units(
    profiles: Sequence[Engine], layouts: Sequence[str] | Mapping[str, Sequence[str]], *, rounds: int = 1
) -> list[Unit]:
    """Return the units of a measurement in their order: round by round, each beginning with another engine.

    In the first round an engine of the oracle's own code comes last: the others vouch for its answers.

    Args:
        profiles: Engines.
        layouts: their layouts, a list for all, or a dict of engine name to list.
        rounds: how many.

    Raises:
        ValueError: nothing would be measured, or something twice, or there is no such layout.
    """
    if rounds < 1:
        raise ArgumentError(f"rounds is {rounds}; expected a number from 1")
    if not profiles:
        raise ArgumentError("there is no engine to measure; one that lacks something here is skipped")
    ordered = sorted(profiles, key=lambda engine: engine.family == oracle.FAMILY)
    listed: list[Unit] = []
    for number in range(1, rounds + 1):
        turn = (number - 1) % len(ordered)
        for engine in ordered[turn:] + ordered[:turn]:
            of = layouts[engine.name] if isinstance(layouts, Mapping) else layouts
            listed += [Unit(engine.name, layout, number) for layout in of]
    for layout in dict.fromkeys(unit.layout for unit in listed):
        definition(layout)  # refuses an unknown name
    return _once(listed, lambda unit: f"{unit.engine} {unit.layout} round {unit.round}")


def run(
    todo: Iterable[Unit],
    catalog: Any,
    data: Data,
    namespaces: Mapping[str, str],
    *,
    profiles: Mapping[str, Engine] | None = None,
    queries: Iterable[str] | None = None,
    file: str | Path | None = None,
    place: str | Path | None = None,
    phases: Sequence[str] = (COLD, WARM),
    cores: int = 2,
) -> Iterator[tuple[Unit, list[Result]]]:
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
        ValueError: an engine cannot run here, see engines.lacks; there is no query, or one is given twice; another
            run keeps its results in the folder of the file.
        ChildProcessError, TimeoutError: an engine could not be opened.
    """
    queries = _once(tuple(names() if queries is None else queries), str)
    if not queries:
        raise ArgumentError("there is no query to measure")
    with kept_units.alone(file) as stopped:
        kept = kept_units.read(file)
        others: dict[str, Judgement] = {}
        known: dict[str, Oracle] = {}
        for unit in todo:
            engine = (profiles or {}).get(unit.engine) or engines.engine(unit.engine)
            about = _about(data, queries, engine, unit, phases, cores)
            if not _holds(kept.get(unit), about):
                start = partial(_opened, unit, engine, catalog, data, namespaces[unit.layout], queries, cores)
                questions = [(phase, query) for phase in phases for query in queries]
                with oracle.witness(data) as witness:  # it ends with the unit, and the memory that it has with it
                    options = {"place": place, "others": others, "ask": _remembering(witness, known)}
                    kept[unit] = _measured(unit, engine, data, start, questions, about, stopped, **options)
                kept_units.write(file, kept)
                kept_units.forget_half(stopped, unit)
            results = kept[unit]["results"]
            if engine.family != oracle.FAMILY:
                _vouch(others, results)
            yield unit, results


def worst(results: Iterable[Result]) -> dict[str, Judgement]:
    """Return the worst verdict on each query: query to Judgement."""
    verdicts: dict[str, Judgement] = {}
    for result in results:
        before = verdicts.get(result.query)
        if before is None or KINDS.index(result.verdict.kind) > KINDS.index(before.kind):
            verdicts[result.query] = result.verdict
    return verdicts


def stored(
    todo: Iterable[Unit],
    data: Data,
    *,
    profiles: Mapping[str, Engine] | None = None,
    queries: Iterable[str] | None = None,
    file: str | Path | None = None,
    phases: Sequence[str] = (COLD, WARM),
    cores: int = 2,
) -> list[Result]:
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
    queries, kept = tuple(names() if queries is None else queries), kept_units.read(file)
    results: list[Result] = []
    for unit in todo:
        engine = (profiles or {}).get(unit.engine) or engines.engine(unit.engine)
        if _holds(kept.get(unit), _about(data, queries, engine, unit, phases, cores)):
            results += kept[unit]["results"]
    return results


def _once(items: Items, name: Callable[[Any], str]) -> Items:
    """Return what is asked for, having seen that nothing is given twice: that would count as another round."""
    for n, item in enumerate(items):
        if item in items[:n]:
            raise ArgumentError(f"{name(item)} is given twice, expected each once")
    return items


def _remembering(witness: oracle.Witness, known: dict[str, Oracle]) -> oracle.Witness:
    """Return a witness that is not asked again; its answer without LIMIT may be too large to keep."""

    def ask(query: str, limited: bool = True) -> Oracle:
        if not limited:
            return witness(query, limited=False)
        if query not in known:
            known[query] = witness(query)
        return known[query]

    return ask


@contextmanager
def _opened(
    unit: Unit, engine: Engine, catalog: Any, data: Data, namespace: str, queries: Sequence[str], cores: int
) -> Iterator[processes.Process]:
    tables = runs.tables(queries) if len(queries) < len(names()) else generated.TABLES
    with processes.opened(engine, catalog, namespace, data, tables=tables, cores=cores) as process:
        if process.layout != unit.layout:
            raise ArgumentError(
                f"the tables of {namespace} have the layout {process.layout}, expected {unit.layout}"
            )
        yield process


def _measured(
    unit: Unit,
    engine: Engine,
    data: Data,
    start: Callable[[], AbstractContextManager[processes.Process]],
    todo: list[tuple[str, str]],
    about: Measured,
    stopped: worklist.Worklist,
    **options: Any,
) -> Measured:
    """Return what is kept of a unit: each (phase, query) is asked, and its answer gets a verdict each time.

    An engine that dies or hangs has given no answer to a query: a wrong one. Another process takes the rest, also
    where a run was stopped in the middle.
    """
    origin, half = kept_units.origin() | {"processes": 0}, kept_units.halves(stopped).get(unit)
    kept = about | {"results": [], "made": origin}
    if half is not None and _holds(half, about) and _place(half["made"]) == _place(origin):
        kept = half
    while missing := todo[len(kept["results"]) :]:
        kept["made"]["processes"] += 1
        with start() as process:
            _warmed(engine, process, kept["results"])
            for phase, result in _asked(missing, engine, process, data, **options):
                kept["results"].append(dataclasses.replace(result, round=unit.round, phase=phase))
                kept_units.keep_half(stopped, unit, kept)
    return kept


def _place(origin: Measured) -> Measured:
    """Return where and by which rules something was measured, whenever and by however many processes."""
    return {key: value for key, value in origin.items() if key not in ("date", "processes")}


def _warmed(engine: Engine, process: processes.Process, results: Sequence[Result]) -> None:
    """Let a process that takes the rest of a unit answer its first query again: whoever begins pays for it."""
    if results and results[0].verdict.kind != DIFFERENT:
        with suppress(processes.NoAnswer, ChildProcessError, TimeoutError):
            asking.run(engine, results[0].query, process)


def _asked(
    todo: Iterable[tuple[str, str]], engine: Engine, process: processes.Process, data: Data, **options: Any
) -> Iterator[tuple[str, Result]]:
    """Yield (phase, Result) of what one process is asked: all of it, or up to the query that ends it."""
    seen: set[str] = set()
    for phase, query in todo:
        start = time.perf_counter()
        try:
            if phase == WARM and query not in seen:  # it was another process that had answered it
                with suppress(processes.NoAnswer):
                    asking.run(engine, query, process)
            (result,) = runs.run(engine, process, data, queries=(query,), **options)
        except (ChildProcessError, TimeoutError) as error:
            none, seconds = Judgement(DIFFERENT, f"no answer: {error}"), time.perf_counter() - start
            yield phase, Result(engine.name, query, none, seconds, 0.0, layout=process.layout)
            return
        seen.add(query)
        yield phase, result


def _vouch(others: dict[str, Judgement], results: Iterable[Result]) -> None:
    """Add the verdicts on an engine's answers to those that vouch; an error of one engine replaces no verdict."""

    def worth(verdict: Judgement) -> tuple[bool, bool]:
        return verdict.verified, verdict.kind == VACUOUS

    for query, verdict in worst(results).items():
        if query not in others or worth(verdict) > worth(others[query]):
            others[query] = verdict


def _about(
    data: Data, queries: Sequence[str], engine: Engine, unit: Unit, phases: Sequence[str], cores: int
) -> Measured:
    """Return what a unit's results depend on: a digest, and what stands behind its names of jars and layout."""
    memory = processes.memory_bytes(data)
    parts = [METHOD, data.digest, *queries, engine.model_dump_json(), *phases, cores]
    if memory:
        parts.append(memory)
    return {
        "conditions": hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
        "of": [*jars.named(*engine.jars), repr(layouts.WAYS[unit.layout])],
    }


def _holds(kept: Measured | None, about: Measured) -> bool:
    """Say whether a kept unit was measured under these conditions."""
    return kept is not None and all(kept[key] == about[key] for key in ("conditions", "of"))
