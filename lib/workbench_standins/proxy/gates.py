"""Gates: where requests wait until somebody decides how they go on."""

import asyncio
import concurrent.futures
from dataclasses import dataclass
from typing import Annotated, Any, Self

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins.proxy.arrivals import Arrival, Passed
from workbench_standins.proxy.rules import Match


@dataclass(frozen=True)
class Verdict:
    """How a request goes on at one place: pass, fail (with a status), lose_request or lose_answer."""

    what: str = "pass"
    status: int = 0


PASS, LOSE_REQUEST, LOSE_ANSWER = Verdict(), Verdict("lose_request"), Verdict("lose_answer")


class Gate:
    """Holds requests until it is opened, then gives all of them one verdict; later requests pass.

    It lives on the proxy's loop.

    Attributes:
        first: future of the first Arrival that it held.
        arrivals: all that it held, in their order.
        ends: a future each of their lines in the log.
    """

    def __init__(self) -> None:
        self._opened, self._verdict = asyncio.Event(), PASS
        self.first: concurrent.futures.Future[Arrival] = concurrent.futures.Future()
        self.arrivals: list[Arrival] = []
        self.ends: list[concurrent.futures.Future[Passed]] = []

    @property
    def is_open(self) -> bool:
        """Whether it has been opened."""
        return self._opened.is_set()

    async def wait(self, arrival: Arrival) -> Verdict:
        """Wait until it is opened and return the verdict."""
        self.arrivals.append(arrival)
        self.ends.append(arrival.hold())
        if not self.first.done():
            self.first.set_result(arrival)
        await self._opened.wait()
        return self._verdict

    def open(self, verdict: Verdict = PASS) -> bool:
        """Open it for good and return whether this was the first call; only the first counts."""
        if self.is_open:
            return False
        self._verdict = verdict
        self._opened.set()
        if not self.first.done():
            self.first.set_exception(ConnectionAbortedError("the gate was opened before a request came to it"))
        return True


@dataclass(frozen=True)
class Held:
    """A gate in hand: requests that match wait there, until release, drop, lose or fail decides how they go on.

    As a context manager it releases at the end. A request is held when it has arrived in full (the first 8 MiB of
    a longer one), an answer when the upstream has given it. A request stays on its way although its client gives
    up meanwhile: released, it reaches the upstream late, as on a slow network. A request that its client repeats
    is held as well.

    Attributes:
        match: which requests it holds.
        at_answer: whether it holds answers, of requests that have taken effect.
    """

    match: Match
    at_answer: bool
    gate: Gate
    proxy: Any  # Proxy, whose module imports this one

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @checked
    def wait(self, timeout_seconds: float = 30.0) -> Passed:
        """Wait until a request is held, and return the line of the first one, as it is now.

        Raises:
            TimeoutError: no request matched in time; the message lists this client's last ones.
            ConnectionAbortedError: the gate was opened, or the proxy closed, before one matched.
        """
        try:
            return self.gate.first.result(timeout_seconds).line()
        except concurrent.futures.TimeoutError:
            lines = [f"{line.method} {line.path}" for line in self.proxy.passed(self.match.client)]
            last = ", ".join(lines[-5:]) or "nothing"
            raise TimeoutError(
                f"{self.match} did not come within {timeout_seconds} s; the last that passed: {last}"
            ) from None

    def waiting(self) -> list[tuple[Passed, bool]]:
        """Return what is held now: (line, whether its client has gone), in the order of arrival."""
        return (
            [] if self.gate.is_open else [(request.line(), request.gone()) for request in list(self.gate.arrivals)]
        )

    def release(self) -> None:
        """Let all that wait go on; later requests pass. A gate that is open stays as it is."""
        self.proxy.open(self.gate, PASS)

    def drop(self) -> None:
        """Let all that wait take effect upstream, then break their connections instead of an answer."""
        self._decide(LOSE_ANSWER)

    def lose(self) -> None:
        """Break the connections of all that wait; they never reach the upstream.

        Raises:
            ValueError: they have taken effect already.
        """
        if self.at_answer:
            raise ArgumentError("an answer is held here, so the request has taken effect; drop() loses the answer")
        self._decide(LOSE_REQUEST)

    @checked
    def fail(self, status: Annotated[int, Ge(400), Le(599)]) -> None:
        """Answer all that wait with a status. Held requests never reach the upstream, held answers took effect."""
        self._decide(Verdict("fail", status))

    @checked
    def done(self, timeout_seconds: float = 30.0) -> list[Passed]:
        """Wait until all held requests are through, and return their lines in the order of arrival.

        A request whose client has gone is waited for, too.

        Raises:
            ValueError: the gate is closed.
            TimeoutError: a request is still on its way.
        """
        if not self.gate.is_open:
            raise ArgumentError("nothing gets through a closed gate; release, drop, lose or fail comes first")
        futures = list(self.gate.ends)
        if concurrent.futures.wait(futures, timeout_seconds).not_done:
            raise TimeoutError(f"not all that was held got through within {timeout_seconds} s: {self.match}")
        return [future.result() for future in futures]

    def _decide(self, verdict: Verdict) -> None:
        if not self.proxy.open(self.gate, verdict):
            raise ArgumentError(f"this gate is open already: {self.match}")
