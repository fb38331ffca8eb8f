"""A script at work: it decides for each request what hits it, and counts. It lives on the proxy's loop."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from workbench_standins.proxy.arrivals import Arrival
from workbench_standins.proxy.gates import LOSE_ANSWER, LOSE_REQUEST, PASS, Gate, Verdict
from workbench_standins.proxy.rules import Match, Rule
from workbench_standins.proxy.scripts import Script


@dataclass(frozen=True)
class Injected:
    """The counts of one rule: requests that matched it, and those that it hit."""

    do: str
    matched: int
    hit: int


class _Playing:
    """One rule and its counts. Each client draws from a sequence of its own, and changes no other's."""

    def __init__(self, rule: Rule, seed: str) -> None:
        self.rule, self._seed = rule, seed
        self._draws: dict[str | None, random.Random] = {}
        self.matched, self.hit = 0, 0
        self.gate = Gate() if rule.verb == "hold" else None

    def hits(self, arrival: Arrival) -> bool:
        rule = self.rule
        if not rule.what.meets(arrival.client, arrival.method, arrival.path):
            return False
        self.matched += 1
        over = self.gate.is_open if self.gate else False
        if self.matched <= rule.skip or over or (rule.most is not None and self.hit >= rule.most):
            return False
        draw = self._draws.setdefault(arrival.client, random.Random(f"{self._seed}:{arrival.client}"))
        hit = draw.random() < rule.share
        self.hit += hit
        return hit


class _Watching:
    """A gate that was set by hand."""

    def __init__(self, what: Match, place: str, skip: int) -> None:
        self.what, self.place, self.skip, self.gate = what, place, skip, Gate()

    def hits(self, arrival: Arrival) -> bool:
        if self.gate.is_open or not self.what.meets(arrival.client, arrival.method, arrival.path):
            return False
        self.skip -= 1
        return self.skip < 0


@dataclass(frozen=True)
class Fault:
    """What hits one request: a rule, a gate set by hand, or nothing; at `request`, at `answer` or nowhere."""

    plan: "Plan"
    place: str = "nowhere"
    rule: Rule | None = None
    gate: Gate | None = None

    @property
    def waits(self) -> bool:
        """Whether the request is kept back before the upstream sees it."""
        return self.place == "request" and bool(self.gate or (self.rule and self.rule.verb == "delay"))

    async def at(self, place: str, arrival: Arrival) -> Verdict:
        """Do to a request what hits it at a place, and return the verdict."""
        if place != self.place:
            return PASS
        arrival.action = self.rule.do if self.rule else "hold" + "_answer" * (place == "answer")
        verdict = LOSE_REQUEST if place == "request" else LOSE_ANSWER
        if self.gate:
            verdict = await self.gate.wait(arrival)
        elif self.rule and self.rule.verb == "delay":
            verdict = await self.plan.delay(self.rule.seconds)
        elif self.rule and self.rule.status:  # of a rule that fails
            verdict = Verdict("fail", self.rule.status)
        if place == "request" and self.plan.closing.is_set() and arrival.gone():
            return LOSE_REQUEST  # no request of a client that has gone takes effect after the proxy's end
        if verdict != PASS and self.gate:
            arrival.action += f", {verdict.what}"
        return verdict


class Plan:
    """The gates set by hand and the script; the first that hits a request has it."""

    def __init__(self, script: Script) -> None:
        self.closing = asyncio.Event()
        self._by_hand: list[_Watching] = []
        self._playing: list[_Playing] = []
        self.play(script.rules, script.seed)

    def play(self, rules: Sequence[Rule], seed: int) -> None:
        """Replace the script from now on, with counts at 0; requests that the old one held go on."""
        _open(self._playing)
        self._playing = [_Playing(rule, f"{seed}:{place}") for place, rule in enumerate(rules)]

    def hold(self, what: Match, *, at_answer: bool, skip: int) -> Gate:
        """Set a gate and return it."""
        watching = _Watching(what, "answer" if at_answer else "request", skip)
        self._by_hand = [earlier for earlier in self._by_hand if not earlier.gate.is_open] + [watching]
        return watching.gate

    def decide(self, arrival: Arrival) -> Fault:
        """Return the Fault that hits a request that has just come; gates and rules behind it do not count it."""
        if self.closing.is_set():
            return Fault(self)
        for watching in self._by_hand:
            if watching.hits(arrival):
                return Fault(self, watching.place, gate=watching.gate)
        for playing in self._playing:
            if playing.hits(arrival):
                return Fault(self, playing.rule.place, playing.rule, playing.gate)
        return Fault(self)

    def succeeded(self, arrival: Arrival) -> None:
        """Open the gates that wait for a request that the upstream has just carried out."""
        for playing in self._playing:
            until = playing.rule.until
            if playing.gate and until and until.meets(arrival.client, arrival.method, arrival.path):
                playing.gate.open()

    def injected(self) -> list[Injected]:
        """Return the counts of each rule, in the script's order."""
        return [Injected(playing.rule.do, playing.matched, playing.hit) for playing in self._playing]

    async def delay(self, seconds: float) -> Verdict:
        """Wait, but not beyond the proxy's end."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.closing.wait(), seconds)
        return PASS

    def close(self) -> None:
        """Open all gates and end all delays."""
        self.closing.set()
        _open((*self._by_hand, *self._playing))


def _open(holders: Sequence[_Watching | _Playing]) -> None:
    for holder in holders:
        if holder.gate:
            holder.gate.open()
