"""How long a run is likely to take: as its job did before, otherwise as its notebook announces."""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from workbench_ops.pages import report
from workbench_ops.run.record import Record

NEWEST = 5  # runs that count: what a notebook does changes
UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "s": 1, "sec": 1, "min": 60, "h": 3600}
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
OTHERS = {"a": 1, "an": 1, "fifteen": 15, "half": 0.5}
NUMBERS = {word: number for number, word in enumerate(WORDS)} | TENS | OTHERS
AMOUNT = re.compile(rf"([a-z-]+(?= )|[\d.]+) ?({'|'.join(UNIT_SECONDS)})s?\b(?: and a (half|quarter))?")


@dataclass(frozen=True)
class Work:
    """What is run: a notebook with its values, in an environment and an engine. A record has these fields, too."""

    notebook: str
    parameters: Mapping[str, Any]
    environment: str | None
    engine: str | None = None


def usual_seconds(work: Work | Record, records: Sequence[Record], notebook: NotebookNode) -> float | None:
    """Return how long a run is likely to take.

    Args:
        work: what is run.
        records: of earlier runs, oldest first.
        notebook: as `notebook.read` returned it.

    Returns:
        The median of the newest passed runs of the same job; without any, what the notebook announces; None when
        it announces nothing.
    """
    seconds = [
        record.seconds
        for record in records
        if record.status == "passed"
        and record.seconds
        and record.engine == work.engine
        and report.same_job(record, work)
    ]
    return statistics.median(seconds[-NEWEST:]) if seconds else announced_seconds(notebook)


def announced_seconds(notebook: NotebookNode) -> float | None:
    """Return the seconds of the line *Takes* in a notebook's first text, or None where none can be read.

    It is written for people: `*Takes* about a minute and a half with the defaults`. Of a range the upper end
    counts; of several amounts the first.
    """
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    line = re.search(r"\*Takes\*(.+)", texts[0] if texts else "")
    text = line[1].lower().replace("half a ", "half ") if line else ""
    for number, unit, fraction in AMOUNT.findall(text):
        if amount := _number(number):
            return (amount + {"": 0, "half": 0.5, "quarter": 0.25}[fraction]) * UNIT_SECONDS[unit]
    return None


def starting_order(seconds: Mapping[str, float | None]) -> list[str]:
    """Return the order in which runs are started: the shortest, for an early verdict, then the longest first.

    Args:
        seconds: name of a run to its usual seconds; where they are not known it may be long.
    """
    longest_first = sorted(seconds, key=lambda name: -(seconds[name] or float("inf")))
    known = [name for name in longest_first if seconds[name]]
    shortest = known[-1:] or longest_first[:1]
    return shortest + [name for name in longest_first if name not in shortest]


def _number(text: str) -> float | None:
    """Return the value of a number in digits or in words such as thirty-five; None where it is not a number."""
    try:
        return float(text)
    except ValueError:
        parts = text.split("-")
        return sum(NUMBERS[part] for part in parts) if NUMBERS.keys() >= set(parts) else None
