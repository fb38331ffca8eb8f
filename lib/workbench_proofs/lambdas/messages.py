"""Messages of a queue with planted faults, from a seed: some kill their function, some are sent again."""

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass

from workbench._base import arguments
from workbench._base.errors import ArgumentError

UNREADABLE_EVERY = 10  # of this many messages one is not JSON
FEWEST, MOST_FAULTS = 20, 0.2
KILLED, RAISED, TWICE, ONCE = "killed", "raised", "sent twice", "sent once"


@dataclass(frozen=True)
class Planted:
    """Messages and what was planted in them.

    Attributes:
        bodies: of the messages, in the order in which they are sent; some are there twice.
        fates: id of each readable message to its fault: killed, raised, sent twice or sent once.
        unreadable: bodies that are not JSON, sorted.
        rows: of all readable messages, each counted once.
    """

    bodies: tuple[str, ...]
    fates: dict[str, str]
    unreadable: tuple[str, ...]
    rows: int

    def count(self, *fates: str) -> int:
        """Return how many messages have one of some fates."""
        return sum(fate in fates for fate in self.fates.values())


def planted(messages: int, *, rows_each: int, faults: float, seed: int = 1) -> Planted:
    """Make messages of a queue.

    Every tenth is unreadable. Of the others, `faults` of all messages each kill their function behind its commit,
    let it raise there, and are sent a second time later: one at least of each.

    Args:
        messages: how many, 20 or more.
        rows_each: rows of a message, 1 or more.
        faults: share of all messages that each of the three faults has, above 0 and at most 0.2.
        seed: of the draw.

    Raises:
        ValueError: an argument is out of its range.
    """
    arguments.whole("messages", messages, FEWEST, "with fewer there is not one of each kind")
    arguments.whole("rows_each", rows_each, 1, "a message brings a row at least")
    if not 0 < faults <= MOST_FAULTS:
        raise ArgumentError(f"faults is {faults}, expected a share above 0 and at most {MOST_FAULTS}")
    drawn = random.Random(seed)
    readable = [number for number in range(messages) if number % UNREADABLE_EVERY]
    each = max(1, round(faults * messages))
    struck = drawn.sample(readable, 3 * each)
    fate_of = {number: (KILLED, RAISED, TWICE)[place // each] for place, number in enumerate(struck)}
    fates = {_id(number): fate_of.get(number, ONCE) for number in readable}
    bodies = [_body(number, rows_each, fate_of.get(number)) for number in range(messages)]
    for number in sorted(number for number, fate in fate_of.items() if fate == TWICE):
        first = bodies.index(_body(number, rows_each, TWICE))
        bodies.insert(drawn.randint(first + 1, len(bodies)), bodies[first])
    unreadable = tuple(sorted(_body(number, 0, None) for number in range(0, messages, UNREADABLE_EVERY)))
    return Planted(tuple(bodies), fates, unreadable, len(readable) * rows_each)


def again(ids: Iterable[str], *, rows_each: int) -> list[str]:
    """Return the bodies of messages by their ids, without a fault."""
    return [_text(id, rows_each, None) for id in ids]


def _id(number: int) -> str:
    return f"m{number:05}"


def _body(number: int, rows_each: int, fate: str | None) -> str:
    if number % UNREADABLE_EVERY == 0:
        return f"{_id(number)} is not JSON"
    return _text(_id(number), rows_each, fate)


def _text(id: str, rows_each: int, fate: str | None) -> str:
    return json.dumps({"id": id, "rows": rows_each, "fault": fate if fate in (KILLED, RAISED) else None})
