"""Let a language model rank and word what detectors found; it adds nothing, and nothing of it is executed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench._base import secrets
from workbench._base.door import checked
from workbench.metrics.causes import CAUSES, Incident

_MOST_CHARACTERS = 400  # of what a model says of an incident


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
    ours = [f"{CAUSES[incident.cause].words}: {incident.evidence}" for incident in incidents]
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
            dropped.append(secrets.redact(json.dumps(entry, ensure_ascii=False))[:_MOST_CHARACTERS])
            continue
        words = entry.get("words")
        usable = isinstance(words, str) and words.strip()
        ranked[number] = secrets.redact(words.strip())[:_MOST_CHARACTERS] if usable else ours[number - 1]
    order = [*ranked, *(number for number in range(1, len(incidents) + 1) if number not in ranked)]
    return Explanation(
        tuple(incidents[number - 1] for number in order),
        tuple(ranked.get(number, ours[number - 1]) for number in order),
        tuple(dropped),
        by_model=bool(ranked),
    )


def _asked(incidents: Sequence[Incident]) -> str:
    listed = [
        {
            "number": n,
            "cause": i.cause,
            "where": i.where,
            "figure": i.figure,
            "unit": i.unit,
            "evidence": i.evidence,
        }
        for n, i in enumerate(incidents, 1)
    ]
    form = (
        "Order these incidents, the most likely root cause first. Answer with JSON only: "
        '[{"number": 1, "words": "why"}]'
    )
    return secrets.redact(f"{form}\n{json.dumps(listed, ensure_ascii=False)}")
