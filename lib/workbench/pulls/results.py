"""What a pull did, and how late figures were."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True)
class Day:
    """What a pull changed of a day.

    Attributes:
        day: the day.
        added: rows that were not there.
        changed: rows with other values.
        removed: rows that are gone.
    """

    day: date
    added: int
    changed: int
    removed: int


@dataclass(frozen=True)
class Pull:
    """What a pull did.

    Attributes:
        table: its name.
        source: its name.
        since: first day asked for; None for a source without days, and where all days are settled.
        until: last day asked for; None for a source without days.
        days: that were replaced.
        rows: written.
        added: rows that were not there.
        changed: rows with other values.
        removed: rows that are gone.
        dead: cells that are new in the dead letters.
        requests: that the source was asked.
        snapshot_id: of the commit; None where nothing was new.
        settled: last day that is not asked for again.
        flags: what the source said about the figures.
        stopped: why the last days are missing, a sentence; "" where none are.
    """

    table: str
    source: str
    since: date | None
    until: date | None
    days: tuple[Day, ...] = ()
    rows: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    dead: int = 0
    requests: int = 0
    snapshot_id: int | None = None
    settled: date | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""


@dataclass(frozen=True)
class Age:
    """What changed of days of an age.

    Attributes:
        days: from the day to the pull that found it changed.
        changes: days of that age that were changed.
        added: rows that were added to them.
        changed: rows of them with other values.
        removed: rows of them that were gone.
    """

    days: int
    changes: int
    added: int
    changed: int
    removed: int


@dataclass(frozen=True)
class Lateness:
    """How late figures of a source were, by a table's own history.

    Attributes:
        pulls: commits that the history has.
        ages: by age, the youngest first; ages at which nothing changed are left out.
        settled_days: of the newest pull.
        suffices: whether nothing changed at the last age that is asked for; None where nothing changed at all, or
            there is one pull only.
        sentence: this in words.
    """

    pulls: int
    ages: tuple[Age, ...]
    settled_days: int
    suffices: bool | None
    sentence: str
