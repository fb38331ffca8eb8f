"""Gates: where requests wait until somebody says what becomes of them."""

import asyncio
import concurrent.futures
from dataclasses import dataclass

from workbench._base.errors import ArgumentError
from workbench_standins.proxy.rules import Match


@dataclass(frozen=True)
class Verdict:
    """What becomes of a request at one place: pass, fail (with a status), lose_request or lose_answer."""

    what: str = "pass"
    status: int | None = None


PASS, LOSE_REQUEST, LOSE_ANSWER = Verdict(), Verdict("lose_request"), Verdict("lose_answer")


class Gate:
    """Holds what comes until it is opened, then does the same to all that waited; what comes later passes.

    It lives on the proxy's loop. `first` is a future of the first Arrival that was held, `held` lists all.
    """

    def __init__(self):
        self._opened, self._verdict = asyncio.Event(), PASS
        self.first, self.held = concurrent.futures.Future(), []

    @property
    def is_open(self):
        """Whether it has been opened."""
        return self._opened.is_set()

    async def wait(self, arrival):
        """Wait until it is opened; returns the Verdict."""
        arrival.held()
        self.held.append(arrival)
        if not self.first.done():
            self.first.set_result(arrival)
        await self._opened.wait()
        return self._verdict

    def open(self, verdict=PASS):
        """Open it for good; only the first call counts. Returns whether this was it."""
        if self.is_open:
            return False
        self._verdict = verdict
        self._opened.set()
        if not self.first.done():
            self.first.set_exception(ConnectionAbortedError("the gate was opened before a request came to it"))
        return True


@dataclass(frozen=True)
class Held:
    """A gate in hand: what matches stops there, until one of release, drop, lose and fail says how it goes on.

    As a context manager it releases at the end. A request is held when it has arrived in full (the first 8 MiB of
    a longer one), an answer when the upstream has given it. A request stays on its way although its client gives
    up meanwhile: released, it reaches the upstream late, as on a slow network. What its client sends again is held
    as well.

    Attributes:
        match: what it holds.
        at_answer: whether it holds answers, of requests that have taken effect.
    """

    match: Match
    at_answer: bool
    gate: Gate
    proxy: object

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def wait(self, timeout_seconds=30.0):
        """Wait until a request is held.

        Returns:
            Passed of the first one, as it is now.

        Raises:
            TimeoutError: none came; the message lists what did come of this client.
            ConnectionAbortedError: it was released, or the proxy closed, before one came.
        """
        try:
            return self.gate.first.result(timeout_seconds).line()
        except concurrent.futures.TimeoutError:
            came = [f"{one.method} {one.path}" for one in self.proxy.passed(self.match.client)][-5:]
            what = ", ".join(came) or "nothing"
            raise TimeoutError(
                f"{self.match} did not come within {timeout_seconds} s; the last that passed: {what}"
            ) from None

    def waiting(self):
        """Return what is held now: list of (Passed, whether its client has gone), in the order of arrival."""
        return [] if self.gate.is_open else [(one.line(), one.gone()) for one in list(self.gate.held)]

    def release(self):
        """Let all that wait go on; what comes later passes. Does nothing on a gate that is open."""
        self.proxy.open(self.gate, PASS)

    def drop(self):
        """Let all that wait take effect upstream, then break their connections instead of an answer."""
        self._decide(LOSE_ANSWER)

    def lose(self):
        """Break the connections of all that wait; they never reach the upstream.

        Raises:
            ValueError: they have taken effect already.
        """
        if self.at_answer:
            raise ArgumentError("an answer is held here, so the request has taken effect; drop() loses the answer")
        self._decide(LOSE_REQUEST)

    def fail(self, status):
        """Answer all that wait with a status. Held requests never reach the upstream, held answers took effect.

        Raises:
            ValueError: the status is not from 400 to 599.
        """
        if isinstance(status, bool) or not isinstance(status, int) or not 400 <= status <= 599:
            raise ArgumentError(f"status is a whole number from 400 to 599; got {status!r}")
        self._decide(Verdict("fail", status))

    def done(self, timeout_seconds=30.0):
        """Wait until all that was held is through, also what lost its client.

        Returns:
            list of Passed, in the order of arrival.

        Raises:
            TimeoutError: something is still on its way.
        """
        if not self.gate.is_open:
            raise ArgumentError("nothing gets through a closed gate; release, drop, lose or fail comes first")
        futures = [one.finished for one in list(self.gate.held)]
        if concurrent.futures.wait(futures, timeout_seconds).not_done:
            raise TimeoutError(f"not all that was held got through within {timeout_seconds} s: {self.match}")
        return [future.result() for future in futures]

    def _decide(self, verdict):
        if not self.proxy.open(self.gate, verdict):
            raise ArgumentError(f"this gate is open already: {self.match}")
