"""Values of a script: what a rule looks for (Match) and what it does to what it finds (Rule)."""

import re
from dataclasses import dataclass, replace
from functools import cached_property

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
        client: its name, as the proxy was told it; None means any, also those it cannot tell.
        method: in capitals; None means any.
        path: pattern of the path without its query, or several of which one must fit; percent-encoding is taken
            off except that of a slash. `*` and `?` stay within a segment, `**` does not.
    """

    client: str | None = None
    method: str | None = None
    path: str | tuple[str, ...] = "/**"

    def __post_init__(self):
        paths = (self.path,) if isinstance(self.path, str) else tuple(self.path)
        if self.method is not None and not (isinstance(self.method, str) and self.method.isupper()):
            raise ArgumentError(f"method is a name in capitals, as PUT; got {self.method!r}")
        if not paths or not all(isinstance(one, str) and one.startswith(("/", "*")) for one in paths):
            raise ArgumentError(
                f"path is a pattern that starts with / or *, as /lake/**.parquet; got {self.path!r}"
            )
        object.__setattr__(self, "path", paths)

    def of(self, client):
        """Return the same of one client."""
        return replace(self, client=client)

    def meets(self, client, method, path):
        """Say whether a request is meant; `path` is as `plain_path` gives it."""
        return (
            self.client in (None, client)
            and self.method in (None, method)
            and any(pattern.fullmatch(path) for pattern in self._patterns)
        )

    @cached_property
    def _patterns(self):
        return [re.compile(_regex(one), re.DOTALL) for one in self.path]

    def __str__(self):
        return f"{self.method or 'any request'} of {' or '.join(self.path)} by {self.client or 'any client'}"


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
            fail_answer, lose_answer: after it did what was asked. To lose is to break the client's connection.
        what: Match of the requests.
        until: for hold: Match of the request whose success upstream ends the holding for good.
        seconds: for delay.
        status: for fail, what the client is told, 400 to 599.
        skip: so many matching requests pass first.
        most: so many are hit at most; None for no end.
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

    def __post_init__(self):
        if self.do not in DOING:
            near = strict.nearest(self.do, DOING)
            raise ArgumentError(
                f"a rule cannot {self.do!r}{f' (did you mean {near}?)' if near else ''}; it can {', '.join(DOING)}"
            )
        if not isinstance(self.what, Match) or not isinstance(self.until, Match | None):
            raise ArgumentError(f"what and until of {self.do} must be a Match; got {self.what!r}, {self.until!r}")
        if (self.verb == "hold") != (self.until is not None):
            raise ArgumentError(
                f"until goes with hold and hold_answer, and they need it; {self.do} has {self.until}"
            )
        if (self.verb == "delay") != (_number(self.seconds) and self.seconds > 0):
            raise ArgumentError(f"seconds goes with delay and delay_answer; {self.do} has {self.seconds!r}")
        if (self.verb == "fail") != (_whole(self.status) and 400 <= self.status <= 599):
            raise ArgumentError(
                f"a status from 400 to 599 goes with fail and fail_answer; {self.do} has {self.status!r}"
            )
        if not (
            _whole(self.skip) and self.skip >= 0 and (self.most is None or (_whole(self.most) and self.most > 0))
        ):
            raise ArgumentError(
                f"skip is a whole number from 0 on, most one from 1 on; {self.do} has {self.skip!r}, {self.most!r}"
            )
        if not (_number(self.share) and 0 <= self.share <= 1):
            raise ArgumentError(f"share is from 0 to 1; {self.do} has {self.share!r}")

    @property
    def verb(self):
        """The first half of `do`: hold, delay, fail or lose."""
        return DOING[self.do][0]

    @property
    def place(self):
        """Where it is done: at the request or at the answer."""
        return DOING[self.do][1]


def _whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _regex(pattern):
    parts = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", pattern))
