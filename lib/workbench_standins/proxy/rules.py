"""Values of a script: which requests a rule means (Match) and what it does to them (Rule)."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeGuard

from workbench._base import strict
from workbench._base.errors import ArgumentError

DOING = {  # what a rule does: (verb, the place where it does it)
    "hold": ("hold", "request"),
    "hold_answer": ("hold", "answer"),
    "delay": ("delay", "request"),
    "delay_answer": ("delay", "answer"),
    "fail": ("fail", "request"),
    "fail_answer": ("fail", "answer"),
    "lose_request": ("lose", "request"),
    "lose_answer": ("lose", "answer"),
}


@dataclass(frozen=True)
class Match:
    """Which requests are meant.

    Attributes:
        client: its name in the proxy; None means any, also those that the proxy does not know.
        method: in capitals; None means any.
        path: pattern of the path without its query, or several of which one must match; the path is decoded but
            for encoded slashes. `*` and `?` stay within a segment, `**` does not.
    """

    client: str | None = None
    method: str | None = None
    path: str | tuple[str, ...] = "/**"

    def __post_init__(self) -> None:
        paths = self._paths
        if self.method is not None and not (isinstance(self.method, str) and self.method.isupper()):
            raise ArgumentError(f"method must be a name in capitals, such as PUT, found {self.method!r}")
        if not paths or not all(isinstance(path, str) and path.startswith(("/", "*")) for path in paths):
            raise ArgumentError(
                f"path must be a pattern that starts with / or *, such as /lake/**.parquet, found {self.path!r}"
            )
        object.__setattr__(self, "path", paths)

    @property
    def _paths(self) -> tuple[str, ...]:
        return (self.path,) if isinstance(self.path, str) else tuple(self.path)

    def of(self, client: str | None) -> "Match":
        """Return the same Match of one client."""
        return replace(self, client=client)

    def meets(self, client: str | None, method: str, path: str) -> bool:
        """Return whether a request is meant; `path` is as of `plain_path`."""
        return (
            self.client in (None, client)
            and self.method in (None, method)
            and any(pattern.fullmatch(path) for pattern in self._patterns)
        )

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(_regex(path), re.DOTALL) for path in self._paths]

    def __str__(self) -> str:
        return f"{self.method or 'any request'} of {' or '.join(self._paths)} by {self.client or 'any client'}"


ANY = Match()
# Every Iceberg commit through a client-side catalog writes this object right before the swap of the pointer
METADATA_PUT = Match(method="PUT", path="/**.metadata.json")
# The commit itself in Iceberg's REST catalog specification: updateTable and commitTransaction
COMMIT = Match(method="POST", path=("/**/namespaces/*/tables/*", "/**/transactions/commit"))
NAMED = {"any": ANY, "metadata_put": METADATA_PUT, "commit": COMMIT}


@dataclass(frozen=True)
class Rule:
    """What happens to which requests.

    Attributes:
        do: hold, delay, fail, lose_request: before the upstream sees the request. hold_answer, delay_answer,
            fail_answer, lose_answer: after it carried the request out. To lose is to break the connection.
        what: Match of the requests.
        until: for hold: Match of the request whose success upstream ends the holding for good.
        seconds: for delay.
        status: for fail, of the client's answer, 400 to 599.
        skip: number of matching requests that pass first.
        most: number of requests that are hit at most; None for no end.
        share: probability for each of the others, drawn by the script's seed.
    """

    do: str
    what: Match
    until: Match | None = None
    seconds: float = 0.0
    status: int | None = None
    skip: int = 0
    most: int | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.do not in DOING:
            near = strict.nearest(self.do, DOING)
            raise ArgumentError(
                f"a rule cannot {self.do!r}{f' (did you mean {near}?)' if near else ''}; it can {', '.join(DOING)}"
            )
        if not isinstance(self.what, Match) or not isinstance(self.until, Match | None):
            raise ArgumentError(
                f"what and until of {self.do} must each be a Match, found {self.what!r} and {self.until!r}"
            )
        if (self.verb == "hold") != (self.until is not None):
            raise ArgumentError(
                f"until must be given for hold and hold_answer, and only for these; {self.do} has {self.until}"
            )
        if (self.verb == "delay") != (_number(self.seconds) and self.seconds > 0):
            raise ArgumentError(
                "seconds must be a number above 0 for delay and delay_answer, and only for these; "
                f"{self.do} has {self.seconds!r}"
            )
        if (self.verb == "fail") != (_whole(self.status) and 400 <= self.status <= 599):
            raise ArgumentError(
                "status must be an integer from 400 to 599 for fail and fail_answer, and only for these; "
                f"{self.do} has {self.status!r}"
            )
        if not (
            _whole(self.skip) and self.skip >= 0 and (self.most is None or (_whole(self.most) and self.most > 0))
        ):
            raise ArgumentError(
                "skip must be an integer of at least 0, and most one of at least 1 or None; "
                f"{self.do} has {self.skip!r} and {self.most!r}"
            )
        if not (_number(self.share) and 0 <= self.share <= 1):
            raise ArgumentError(f"share must be a number from 0 to 1; {self.do} has {self.share!r}")

    @property
    def verb(self) -> str:
        """The first half of `do`: hold, delay, fail or lose."""
        return DOING[self.do][0]

    @property
    def place(self) -> str:
        """Where it hits: at the request or at the answer."""
        return DOING[self.do][1]


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _regex(pattern: str) -> str:
    parts = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", pattern))
