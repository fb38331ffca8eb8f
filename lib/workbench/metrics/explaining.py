"""Let a language model rank and word what detectors found; it adds nothing, and nothing of it is executed."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench._base import secrets
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.causes import CAUSES, Incident

_MOST_CHARACTERS = 400  # of what a model says of an incident
_NAMED = re.compile(  # a text goes to somebody else's program: what stands behind such a name is left out, too
    r"([\w.-]*(?:passw(?:or)?d|pwd|secret|token|credential|(?:api|private|access)[-_.]?key)[\w.-]*[\"']?\s*[=:]\s*)"
    r"[^\s,;}]+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Explanation:
    """Incidents in an order, with words.

    Attributes:
        incidents: all that were found, each once; those that the model ranked first.
        words: of each, in the same order; ours where the model has none.
        dropped: what the model named that no detector found, or that was not of the form; never shown as a cause.
        by_model: whether the order is the model's; not where its answer could not be read.
    """

    incidents: tuple[Incident, ...]
    words: tuple[str, ...]
    dropped: tuple[str, ...]
    by_model: bool


@checked
def explain(incidents: Sequence[Incident], model: Callable[..., Any] | None = None) -> Explanation:
    """Rank and word incidents, by a model where one is given.

    Args:
        incidents: of `incidents.find`.
        model: called with a text, JSON of the numbered incidents without secrets and the form of the answer;
            returns a text, `[{"number": 1, "words": "…"}, …]`. Left out, the order of `find` and the words of the
            causes.

    Returns:
        Explanation. A model that fails, or invents, changes no incident.
    """
    ours = [_safe(f"{CAUSES[incident.cause].words}: {incident.evidence}") for incident in incidents]
    if model is None or not incidents:
        return Explanation(tuple(incidents), tuple(ours), (), by_model=False)
    try:
        answer = json.loads(str(model(_asked(incidents))))
    except Exception as error:  # a model is somebody else's program
        return Explanation(tuple(incidents), tuple(ours), (f"no answer: {type(error).__name__}",), by_model=False)
    ranked: dict[int, str] = {}
    dropped = []
    for entry in answer if isinstance(answer, list) else [answer]:
        number = entry.get("number") if isinstance(entry, dict) else None
        if type(number) is not int or not 1 <= number <= len(incidents) or number in ranked:
            dropped.append(_safe(json.dumps(entry, ensure_ascii=False))[:_MOST_CHARACTERS])
            continue
        words = entry.get("words")
        usable = isinstance(words, str) and words.strip()
        ranked[number] = _safe(words.strip())[:_MOST_CHARACTERS] if usable else ours[number - 1]
    order = [*ranked, *(number for number in range(1, len(incidents) + 1) if number not in ranked)]
    return Explanation(
        tuple(incidents[number - 1] for number in order),
        tuple(ranked.get(number, ours[number - 1]) for number in order),
        tuple(dropped),
        by_model=bool(ranked),
    )


@dataclass(frozen=True)
class Score:
    """How well a model ranks: how often what it names first is what was planted.

    Attributes:
        cases: runs with two incidents or more, one of them planted.
        first_by_model: cases whose planted incident it names first.
        first_by_order: the same in the order of `find`.
        first_by_chance: to be expected of an order by chance.
        unranked: cases whose answer ranked nothing; they have the order of `find` and do not count for the model.
        dropped: answers, or parts of them, that named what is not there.
    """

    cases: int
    first_by_model: int
    first_by_order: int
    first_by_chance: float
    unranked: int
    dropped: int

    @property
    def better(self) -> bool:
        """Return whether the model is right more often than the order of `find`, without it."""
        return self.first_by_model > self.first_by_order


@checked
def score(cases: Sequence[tuple[Sequence[Incident], str]], model: Callable[..., Any]) -> Score:
    """Score how a model ranks incidents against the cause that was planted in each run.

    Args:
        cases: of runs: incidents as `incidents.find` returns them, and the planted cause, which is among them.
        model: as of `explain`.

    Returns:
        Score; runs with one incident are left out, as there is nothing to rank.

    Raises:
        ValueError: a planted cause was not found, or no run has two incidents.
    """
    several = [(incidents, cause) for incidents, cause in cases if len(incidents) > 1]
    for incidents, cause in several:
        if cause not in {incident.cause for incident in incidents}:
            causes = ", ".join(incident.cause for incident in incidents)
            raise ArgumentError(f"{cause} is not among the incidents of its run, which are {causes}")
    if not several:
        raise ArgumentError("no run has two incidents: there is nothing to rank")
    answers = [(explain(incidents, model), cause) for incidents, cause in several]
    return Score(
        cases=len(several),
        first_by_model=sum(answer.by_model and answer.incidents[0].cause == cause for answer, cause in answers),
        first_by_order=sum(incidents[0].cause == cause for incidents, cause in several),
        first_by_chance=sum(
            sum(incident.cause == cause for incident in incidents) / len(incidents) for incidents, cause in several
        ),
        unranked=sum(not answer.by_model for answer, _ in answers),
        dropped=sum(len(answer.dropped) for answer, _ in answers),
    )


def _asked(incidents: Sequence[Incident]) -> str:
    listed = [
        {
            "number": n,
            "cause": i.cause,
            "where": _safe(i.where),
            "figure": i.figure,
            "unit": i.unit,
            "evidence": _safe(i.evidence),
        }
        for n, i in enumerate(incidents, 1)
    ]
    form = (
        "Order these incidents, the most likely root cause first. Answer with JSON only: "
        '[{"number": 1, "words": "why"}]'
    )
    return secrets.redact(f"{form}\n{json.dumps(listed, ensure_ascii=False)}")


def _safe(text: str) -> str:
    """Return a text without secrets, also those that only a name before them tells."""
    return str(_NAMED.sub(r"\1[secret]", secrets.redact(text)))
