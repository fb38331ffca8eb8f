"""What the stand-in holds: visits of properties, books of sheets, who may read them, the clock, faults."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench._base.errors import ArgumentError

DAY = 86_400
TOKENS_PER_REPORT = 10
KINDS = ("429", "500", "503", "401", "403", "lost_answer", "slow_answer", "later")


class Refused(Exception):
    """An error of the service.

    Args:
        code: HTTP's.
        status: its name in Google's APIs.
        message: what it says.
    """

    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(message)
        self.code, self.status, self.message = code, status, message


STATUS = {
    "401": "UNAUTHENTICATED", "403": "PERMISSION_DENIED", "429": "RESOURCE_EXHAUSTED", "500": "INTERNAL",
    "503": "UNAVAILABLE",
}  # fmt: skip


@dataclass
class Property:
    """A property of Analytics.

    Attributes:
        visits: dicts of day (ISO), user, new (0 or 1), cents, dims (name to value), known and gone (seconds since
            1970 between which reports have it; gone may be None).
        readers: addresses of accounts that may read it; None for everybody.
        tokens_per_day: what its reports may cost.
        threshold: rows with fewer users are withheld.
        most_rows: of a report; the others are put together as (other).
        sampling: (samples read, sampling space); None without.
        types: metric to type, where it is not the usual one.
    """

    visits: list[dict[str, Any]] = field(default_factory=list)
    readers: list[str] | None = None
    tokens_per_day: int = 200_000
    threshold: int = 0
    most_rows: int = 1_000_000
    sampling: list[int] | None = None
    types: dict[str, str] = field(default_factory=dict)


@dataclass
class Book:
    """A book of sheets.

    Attributes:
        tabs: title to {"rows": cells by row, "merges": list of {startRowIndex, …}}.
        readers: as of Property.
    """

    tabs: dict[str, dict[str, Any]] = field(default_factory=dict)
    readers: list[str] | None = None


@dataclass
class Fault:
    """One thing that goes wrong.

    Attributes:
        kind: 429, 500, 503, 401, 403: the call is refused. lost_answer: it is done, and the connection is closed.
            slow_answer: it is answered after `seconds`. later: the clock is pushed by `seconds` before the answer.
        operation: runReport, metadata, spreadsheet or token; "" for all.
        after_calls: calls that pass first.
        most: calls that are hit.
        seconds: for slow_answer and later.
    """

    kind: str
    operation: str = ""
    after_calls: int = 0
    most: int = 1
    seconds: float = 0.0
    matched: int = 0
    hit: int = 0


class Store:
    """All of it, and the controls that change it.

    Args:
        start: seconds since 1970 at which the clock stands; None follows the machine's.
    """

    def __init__(self, start: float | None) -> None:
        self.properties: dict[str, Property] = {}
        self.books: dict[str, Book] = {}
        self.faults: list[Fault] = []
        self.counts: Counter[str] = Counter()
        self.tokens: dict[str, tuple[str, str, float]] = {}  # token to account, scopes, end
        self.used: Counter[tuple[str, int]] = Counter()  # tokens of a property on a day
        self._stopped, self._ahead, self._issued = start, 0.0, 0

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return self._stopped if self._stopped is not None else time.time() + self._ahead

    def control(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Do what the owner of the stand-in wants.

        Raises:
            ValueError: there is no such control, or an argument is wrong.
        """
        if name not in ("advance", "set_property", "add_visits", "set_book", "set_faults", "revoke", "calls"):
            raise ArgumentError(f"the stand-in of Google has no control {name}")
        return getattr(self, name)(**arguments)

    def advance(self, seconds: float) -> float:
        """Push the clock forward; return the time."""
        if self._stopped is None:
            self._ahead += seconds
        else:
            self._stopped += seconds
        return self.now()

    def set_property(self, number: str, **settings: Any) -> None:
        """Make a property, or change one; its visits stay unless others are given."""
        known = self.properties.setdefault(number, Property())
        for name, value in settings.items():
            if not hasattr(known, name):
                raise ArgumentError(f"a property has no {name}; it has {', '.join(vars(known))}")
            setattr(known, name, value)

    def add_visits(self, number: str, visits: list[dict[str, Any]]) -> None:
        """Add visits to a property."""
        self.properties.setdefault(number, Property()).visits += visits

    def set_book(self, book: str, tabs: dict[str, Any], readers: list[str] | None = None) -> None:
        """Make a book, or edit it: its tabs are these from now on."""
        self.books[book] = Book(tabs, readers)

    def set_faults(self, script: list[dict[str, Any]]) -> None:
        """Replace the faults."""
        if wrong := [fault["kind"] for fault in script if fault.get("kind") not in KINDS]:
            raise ArgumentError(f"{wrong[0]!r} is not a kind of fault; there are {', '.join(KINDS)}")
        self.faults = [Fault(**fault) for fault in script]

    def revoke(self) -> None:
        """Make all tokens void."""
        self.tokens.clear()

    def calls(self) -> dict[str, int]:
        """Return how many calls there were, by operation, refused ones too."""
        return dict(self.counts)

    def grant(self, account: str, scopes: str, seconds: int) -> str:
        """Return a new token of an account."""
        self._issued += 1
        token = f"ya29.canary-{self._issued}"
        self.tokens[token] = account, scopes, self.now() + seconds
        return token

    def account(self, token: str, scope: str) -> str:
        """Return whose token it is.

        Raises:
            Refused: it is none, is over, or has not the scope.
        """
        known = self.tokens.get(token)
        if known is None or known[2] <= self.now():
            raise Refused(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        if scope not in known[1]:
            raise Refused(403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.")
        return known[0]

    def fault(self, operation: str) -> Fault | None:
        """Count a call; return what hits it."""
        self.counts[operation] += 1
        for fault in self.faults:
            if fault.operation in ("", operation):
                fault.matched += 1
                if fault.matched > fault.after_calls and fault.hit < fault.most:
                    fault.hit += 1
                    return fault
        return None

    def spend(self, number: str) -> dict[str, Any]:
        """Take the tokens of a report; return the property's quota.

        Raises:
            Refused: they are used up.
        """
        limit, today = self.properties[number].tokens_per_day, int(self.now() // DAY)
        remaining = limit - self.used[number, today]
        if remaining < TOKENS_PER_REPORT:
            raise Refused(
                429, "RESOURCE_EXHAUSTED",
                "Exhausted property tokens per day. These quota tokens will return in under 24 hours.",
            )  # fmt: skip
        self.used[number, today] += TOKENS_PER_REPORT
        quota = {"consumed": TOKENS_PER_REPORT, "remaining": remaining - TOKENS_PER_REPORT}
        return {"tokensPerDay": quota, "tokensPerHour": quota, "concurrentRequests": {"remaining": 10}}
