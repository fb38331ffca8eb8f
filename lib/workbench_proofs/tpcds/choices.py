"""Which engine takes which query: chosen by one run, measured in another, given back where that does not hold."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import ValidationError

from workbench._base import settings, strict, yaml_files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.engines import profiles as engines
from workbench_proofs.tpcds import figures
from workbench_proofs.tpcds.measuring import WARM, worst
from workbench_proofs.tpcds.runs import Result
from workbench_proofs.tpcds.verdicts import Judgement

# A query goes to another engine when it takes at most this share of the time of plain Spark: below is noise.
SHARE = 0.9


class Choice(strict.Strict):
    """The engine of one query, and why."""

    engine: str
    reason: str


class Choices(strict.Strict):
    """A file of choices.

    Attributes:
        fallback: plain Spark: what takes every query that is not listed, or whose choice does not hold.
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


@checked
def make(
    results: Sequence[Result],
    *,
    fallback: str,
    among: Iterable[str],
    phase: str = WARM,
    layout: str | None = None,
) -> Choices:
    """Return the Choices that a run suggests: for each query the fastest engine whose answer was verified.

    Args:
        results: Results.
        fallback: name of the engine that keeps all other queries.
        among: names of the engines that may be chosen: a bound, which speaks no PySpark, is not among them.
        phase: `cold` or `warm`.
        layout: of the tables; None for any.

    Raises:
        ValueError: the run did not measure the fallback.
    """
    times = figures.medians(results, phase=phase, layout=layout)
    if fallback not in times:
        raise ArgumentError(f"the run did not measure {fallback}; it measured {', '.join(times) or 'nothing'}")
    names, chosen = {fallback, *among}, {}
    for query, plain in times[fallback].items():
        seconds, name = min((times[name][query], name) for name in names if query in times.get(name, {}))
        if name != fallback and seconds <= SHARE * plain:
            share = f"{seconds / plain:.2f} of the time of {fallback}, the answer verified"
            chosen[query] = Choice(engine=name, reason=share)
    return Choices(fallback=fallback, made_from=digest(results), queries=chosen)


@checked
def tried(
    choices: Choices, results: Sequence[Result], *, phase: str = WARM, layout: str | None = None
) -> dict[str, Taken]:
    """Return what becomes of choices in another run: dict of query to Taken, for every query of the run.

    A query goes back to the fallback when the chosen engine's answer is not verified in this run, or when it is
    slower there than the fallback.

    Raises:
        ValueError: this is the run that the choices were made from, or one with that among its rounds; or it lacks
            an engine.
    """
    numbers = {result.round for result in results}
    rounds = [[result for result in results if result.round == number] for number in numbers]
    if choices.made_from in map(digest, (results, *rounds)):
        raise ArgumentError(
            "choices must be measured in another run than the one that they were made from; here both are the same"
        )
    times = figures.medians(results, phase=phase, layout=layout)
    measured = {result.engine for result in results}
    needed = {choices.fallback, *(choice.engine for choice in choices.queries.values())}
    if missing := sorted(needed - measured):
        raise ArgumentError(
            f"the run did not measure {', '.join(missing)}; it measured {', '.join(sorted(measured))}"
        )
    verdicts = {name: worst(result for result in results if result.engine == name) for name in measured}
    return {query: _taken(choices, query, times, verdicts) for query in _queries(results)}


def all_of(choices: Choices, results: Iterable[Result]) -> dict[str, Taken]:
    """Return choices as they are, tried in no other run: dict of query to Taken, for every query of a run."""
    return {query: _as_chosen(choices, query) for query in _queries(results)}


def _queries(results: Iterable[Result]) -> list[str]:
    return list(dict.fromkeys(result.query for result in results))


@checked
def lines(taken: Mapping[str, Taken]) -> Iterator[str]:
    """Yield what became of choices: how many queries each engine takes, and a line for each that went back."""
    counts = Counter(choice.engine for choice in taken.values())
    yield ", ".join(f"{count} queries by {name}" for name, count in counts.most_common())
    for choice in taken.values():
        if choice.engine != choice.chosen:
            yield f"{choice.query} goes back to {choice.engine}: {choice.reason}"


@checked
def read(path: str | Path | None = None) -> Choices:
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
        wrong = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ArgumentError(f"{path}: {wrong}") from None
    except TypeError:
        raise ArgumentError(f"{path}: expected keys and values, found {type(values).__name__}") from None


@checked
def write(choices: Choices, path: str | Path, *, comment: str) -> None:
    """Write a file of choices, under a comment that says of which run they are."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    Path(path).write_text(
        head + yaml.safe_dump(choices.model_dump(), sort_keys=False, width=110), encoding="utf-8"
    )


def digest(results: Iterable[Result]) -> str:
    """Return what a run is known by: a digest of its times."""
    times = sorted((run.engine, run.query, run.round or 0, run.phase or "", run.seconds) for run in results)
    return hashlib.sha256(json.dumps(times).encode()).hexdigest()[:16]


def _taken(
    choices: Choices,
    query: str,
    times: Mapping[str, Mapping[str, float]],
    verdicts: Mapping[str, Mapping[str, Judgement]],
) -> Taken:
    """Return the Taken of one query."""
    fallback, choice = choices.fallback, choices.queries.get(query)
    if choice is None:
        return _as_chosen(choices, query)
    verdict = verdicts[choice.engine].get(query)
    if verdict is None or not verdict.verified:
        why = f"{verdict.kind}: {verdict.sentence}" if verdict else "it was not asked"
        return Taken(query, choice.engine, fallback, f"{choice.engine} is {why}")
    plain, seconds = times.get(fallback, {}).get(query), times.get(choice.engine, {}).get(query)
    if plain is None or seconds is None or seconds <= plain:
        return _as_chosen(choices, query)
    return Taken(query, choice.engine, fallback, f"{choice.engine} took {seconds / plain:.2f} times as long")


def _as_chosen(choices: Choices, query: str) -> Taken:
    """Return the Taken of a query whose choice holds, or for which none was made."""
    choice = choices.queries.get(query)
    name, why = (choice.engine, choice.reason) if choice else (choices.fallback, "no other engine was chosen")
    return Taken(query, name, name, why)
