"""Who is logged in: kept by the server, so that ending a session ends it; the browser has a random number only."""

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

IDLE, LONGEST = 15 * 60, 8 * 3600  # seconds until a session ends: without a request, and at all
MOST = 10_000  # sessions of readers, and of forms; the one that was not used for longest gives way
TRIES, PAUSE = 5, 30  # wrong passwords of a name, and seconds until the next may be tried
NAMES = 10_000  # names that are remembered for that


@dataclass(frozen=True)
class Session:
    """A browser that the server knows.

    Attributes:
        csrf: what each of its forms must bring.
        user: the name that logged in; None before.
        password: what was kept of the user's password then: another one ends the session.
        begun: seconds of the clock at its beginning.
        used: seconds of the clock at its last request.
    """

    csrf: str
    user: str | None
    password: str | None
    begun: float
    used: float


class Sessions:
    """Sessions by the random number in the browser's cookie, of which a hash is kept; safe with threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the clock that sessions end by, in seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._readers: OrderedDict[str, Session] = OrderedDict()
        self._forms: OrderedDict[str, Session] = OrderedDict()  # apart: who asks for many ends no reader's session

    def begin(self, user: str | None = None, password: str | None = None) -> tuple[str, Session]:
        """Begin a session; returns what the cookie holds, and the session."""
        token, now = secrets.token_urlsafe(32), self._clock()
        session = Session(secrets.token_urlsafe(32), user, password, now, now)
        kept = self._forms if user is None else self._readers
        with self._lock:
            kept[_hash(token)] = session
            while len(kept) > MOST:
                kept.popitem(last=False)
        return token, session

    def find(self, token: str | None) -> Session | None:
        """Return the session of a cookie, which is used by that; None where there is none, or it has ended."""
        if not token:
            return None
        key, now = _hash(token), self._clock()
        with self._lock:
            kept = self._readers if key in self._readers else self._forms
            session = kept.get(key)
            if session is None:
                return None
            if now - session.used > IDLE or now - session.begun > LONGEST:
                del kept[key]
                return None
            session = kept[key] = replace(session, used=now)
            kept.move_to_end(key)
            return session

    def end(self, token: str | None) -> None:
        """End the session of a cookie."""
        with self._lock:
            for kept in (self._readers, self._forms):
                kept.pop(_hash(token or ""), None)


class Tries:
    """Wrong passwords of each name, so that nobody tries many; safe with threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the clock of the pauses, in seconds."""
        self._clock = clock
        self._by_name: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, name: str) -> float:
        """Begin a try, which counts as wrong until it is right: many at once are no more tries than one by one.

        Args:
            name: that is typed.

        Returns:
            Seconds that the name must wait before its next try; 0.0 where this one may be made.
        """
        now = self._clock()
        with self._lock:
            wrong, last = self._by_name.get(name, (0, 0.0))
            if wrong >= TRIES and now < last + PAUSE:
                return last + PAUSE - now
            self._by_name[name] = wrong + 1, now
            self._by_name.move_to_end(name)
            while len(self._by_name) > NAMES:
                self._by_name.popitem(last=False)
        return 0.0

    def right(self, name: str) -> None:
        """Forget the wrong passwords of a name."""
        with self._lock:
            self._by_name.pop(name, None)


def same(given: str | None, expected: str) -> bool:
    """Say whether two secrets are the same, in a time that tells nothing of them."""
    return given is not None and hmac.compare_digest(given.encode(), expected.encode())


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
