"""Which engine takes which query: chosen by one run, measured in another, given back where that does not hold."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import ValidationError

from workbench._base import settings, strict, yaml_files
from workbench._base.errors import ArgumentError
from workbench.engines import profiles as engines
from workbench_proofs.tpcds import figures
from workbench_proofs.tpcds.measuring import WARM, worst

# A query goes to another engine when it takes at most this share of the time of plain Spark: below is noise.
SHARE = 0.9


class Choice(strict.Strict):
    """The engine of one query, and why."""

    engine: str
    reason: str


class Choices(strict.Strict):
    """A file of choices.

    Attributes:
        fallback: plain Spark: what takes every query that is not listed, or that does not hold.
        made_from: digest of the results by which the choices were made.
        queries: query to Choice.
    """

    fallback: str
    made_from: str
    queries: dict[str, Choice]


@dataclass(frozen=True)
class Taken:
    """What became of a choice in a run.

    Attributes:
        query: its name.
        chosen: engine by the file.
        engine: engine that takes it: the chosen one, or the fallback.
        reason: why, a sentence.
    """

    query: str
    chosen: str
    engine: str
    reason: str


def make(results, *, fallback, among, phase=WARM, layout=None):
    """Return the Choices that a run suggests: for each query the fastest engine whose answer was verified.

    Args:
        results: Results.
        fallback: name of the engine that keeps all other queries.
        among: names of the engines that may be chosen: a bound, which speaks no PySpark, is none of them.
        phase: `cold` or `warm`.
        layout: of the tables; None for any.

    Raises:
        ValueError: the run did not measure the fallback.
    """
    times = figures.medians(results, phase=phase, layout=layout)
    if fallback not in times:
        raise ArgumentError(f"the run did not measure {fallback}; it measured {', '.join(times) or 'nothing'}")
    found = {}
    for query, plain in times[fallback].items():
        fastest = min((times[name][query], name) for name in {fallback, *among} if query in times.get(name, {}))
        if fastest[1] != fallback and fastest[0] <= SHARE * plain:
            share = f"{fastest[0] / plain:.2f} of the time of {fallback}, the answer verified"
            found[query] = Choice(engine=fastest[1], reason=share)
    return Choices(fallback=fallback, made_from=digest(results), queries=found)


def held(choices, results, *, phase=WARM, layout=None):
    """Return what becomes of choices in another run: dict of query to Taken, for every query of the run.

    A query goes back to the fallback when the chosen engine's answer is not verified in this run, or when it is
    slower there than the fallback.

    Raises:
        ValueError: this is the run that the choices were made from, or one with that among its rounds; or it lacks
            an engine.
    """
    rounds = [[one for one in results if one.round == number] for number in {one.round for one in results}]
    if choices.made_from in map(digest, (results, *rounds)):
        raise ArgumentError("choices are measured in another run than the one that they were made from")
    times = figures.medians(results, phase=phase, layout=layout)
    measured = {one.engine for one in results}
    needed = {choices.fallback, *(choice.engine for choice in choices.queries.values())}
    if missing := sorted(needed - measured):
        raise ArgumentError(
            f"the run did not measure {', '.join(missing)}; it measured {', '.join(sorted(measured))}"
        )
    verdicts = {name: worst(one for one in results if one.engine == name) for name in measured}
    queries = dict.fromkeys(one.query for one in results)
    return {query: _taken(choices, query, times, verdicts) for query in queries}


def all_of(choices, results):
    """Return choices as they are, held in no other run: dict of query to Taken, for every query of a run."""
    return {query: _as_chosen(choices, query) for query in dict.fromkeys(one.query for one in results)}


def lines(taken):
    """Tell what became of choices: how many queries each engine takes, and a line for each that went back."""
    taken = list(taken.values())
    counts = Counter(one.engine for one in taken)
    yield ", ".join(f"{count} queries by {name}" for name, count in counts.most_common())
    for one in taken:
        if one.engine != one.chosen:
            yield f"{one.query} goes back to {one.engine}: {one.reason}"


def read(path=None):
    """Read a file of choices; by default the nearest params/engines/choices.yml, as for engines.

    Raises:
        ValueError: there is none, or it is wrong.
    """
    places = [folder.parent / "engines" / f"{engines.CHOICES}.yml" for folder in settings.places()]
    path = Path(path) if path else next((place for place in places if place.is_file()), None)
    if path is None:
        raise ArgumentError("there is no file params/engines/choices.yml; `make bench-tpcds` writes one")
    values = yaml_files.read(path)
    try:
        return Choices(**values)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ArgumentError(f"{path}: {wrong}") from None
    except TypeError:
        raise ArgumentError(f"{path}: expected keys and values, found {type(values).__name__}") from None


def write(choices, path, *, comment):
    """Write a file of choices, under a comment that says of which run they are."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    Path(path).write_text(
        head + yaml.safe_dump(choices.model_dump(), sort_keys=False, width=110), encoding="utf-8"
    )


def digest(results):
    """Return what a run is known by: a digest of its times."""
    times = sorted((one.engine, one.query, one.round or 0, one.phase or "", one.seconds) for one in results)
    return hashlib.sha256(json.dumps(times).encode()).hexdigest()[:16]


def _taken(choices, query, times, verdicts):
    """Return the Taken of one query."""
    fallback, choice = choices.fallback, choices.queries.get(query)
    if choice is None:
        return _as_chosen(choices, query)
    verdict = verdicts[choice.engine].get(query)
    if verdict is None or not verdict.verified:
        said = f"{verdict.kind}: {verdict.sentence}" if verdict else "it was not asked"
        return Taken(query, choice.engine, fallback, f"{choice.engine} is {said}")
    plain, seconds = times.get(fallback, {}).get(query), times.get(choice.engine, {}).get(query)
    if plain is None or seconds is None or seconds <= plain:
        return _as_chosen(choices, query)
    return Taken(query, choice.engine, fallback, f"{choice.engine} took {seconds / plain:.2f} times as long")


def _as_chosen(choices, query):
    """Return the Taken of a query whose choice holds, or for which none was made."""
    choice = choices.queries.get(query)
    name, why = (choice.engine, choice.reason) if choice else (choices.fallback, "no other engine was chosen")
    return Taken(query, name, name, why)
