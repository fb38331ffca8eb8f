"""Queries that go on: whose they are, which tables they read, and whether these are still shared."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench_ops.front.refusals import Refused

MOST = 1000  # queries that a principal may leave unreleased; the oldest can no longer be reattached
Key = tuple[str, str, str]  # principal, session, operation


@dataclass
class Operation:
    """A query that has begun.

    Attributes:
        principal: whose it is.
        tables: name of each table that it reads to the text of its governed subquery, when it began.
        words: those of its request, for errors.
        answered: whether the front has answered it by itself: the server does not know it.
        looked: whether the server's plan has been looked at.
    """

    principal: str
    tables: Mapping[str, str]
    words: frozenset[str]
    answered: bool = False
    looked: bool = False
    asked_at: float = field(default=0.0)


class Operations:
    """The queries that can be reattached or released, by principal, session and operation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Operation] = OrderedDict()

    def add(self, key: Key, operation: Operation) -> None:
        """Keep a query.

        Raises:
            Refused: there is one of that key already: what the server would do is not what was looked at.
        """
        with self._lock:
            if key in self._kept:
                raise Refused(f"the operation {key[2][:40]} has begun already", "ALREADY_EXISTS")
            mine = [other for other in self._kept if other[0] == key[0]]
            for oldest in mine[: max(0, len(mine) - MOST + 1)]:
                del self._kept[oldest]
            self._kept[key] = operation

    def get(self, key: Key) -> Operation | None:
        """Return a query, or None where there is none of that key."""
        with self._lock:
            return self._kept.get(key)

    def drop(self, key: Key) -> None:
        """Forget a query; nothing is done where there is none."""
        with self._lock:
            self._kept.pop(key, None)

    def drop_session(self, principal: str, session: str) -> None:
        """Forget the queries of a session."""
        with self._lock:
            for key in [key for key in self._kept if key[:2] == (principal, session)]:
                del self._kept[key]


def require_shared(
    operation: Operation,
    governed: Callable[[str], str],
    *,
    every_seconds: float,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Require that what a query reads is still shared as it was when the query began.

    Args:
        operation: the query.
        governed: gives the text of the governed subquery of a table now, or refuses it.
        every_seconds: how old the last answer may be; the first is always asked for.
        now: clock in seconds.

    Raises:
        Refused: a grant was taken back or changed, or the table's columns did.
    """
    clock = now()
    if operation.asked_at and clock - operation.asked_at < every_seconds:
        return
    for table, text in operation.tables.items():
        if governed(table) != text:
            raise Refused(f"what is shared of {table} has changed since the query began; ask again")
    operation.asked_at = clock
