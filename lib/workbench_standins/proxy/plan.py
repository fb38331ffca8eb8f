"""A script at work: decides for each request what hits it, and counts. Lives on the proxy's loop."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass

from workbench_standins.proxy.gates import LOSE_ANSWER, LOSE_REQUEST, PASS, Gate, Verdict
from workbench_standins.proxy.rules import Match, Rule

NOTHING = ("pass", "nowhere")


@dataclass(frozen=True)
class Injected:
    """What became of one rule: requests that matched it, and those that it hit."""

    do: str
    matched: int
    hit: int


class _Playing:
    """One rule and its counts. Each client draws from a sequence of its own, and disturbs no other."""

    def __init__(self, rule, seed):
        self.rule, self._seed, self._draws = rule, seed, {}
        self.matched, self.hit = 0, 0
        self.gate = Gate() if rule.verb == "hold" else None

    def hits(self, arrival):
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

    def __init__(self, what, place, skip):
        self.what, self.place, self.left, self.gate = what, place, skip, Gate()

    def hits(self, arrival):
        if self.gate.is_open or not self.what.meets(arrival.client, arrival.method, arrival.path):
            return False
        self.left -= 1
        return self.left < 0


class Fault:
    """What hits one request, at one place: `request` or `answer`."""

    def __init__(self, plan, verb, place, rule=None, gate=None):
        self.plan, self.verb, self.place, self.rule, self.gate = plan, verb, place, rule, gate

    @property
    def waits(self):
        """Whether the request is kept back before the upstream sees it."""
        return self.place == "request" and self.verb in ("hold", "delay")

    async def at(self, place, arrival):
        """Do what is to be done to a request at a place; returns the Verdict."""
        if place != self.place:
            return PASS
        arrival.action = self.rule.do if self.rule else "hold" + "_answer" * (place == "answer")
        if self.verb == "hold":
            verdict = await self.gate.wait(arrival)
        elif self.verb == "delay":
            verdict = await self.plan.delay(self.rule.seconds)
        elif self.verb == "fail":
            verdict = Verdict("fail", self.rule.status)
        else:
            verdict = LOSE_REQUEST if place == "request" else LOSE_ANSWER
        if place == "request" and self.plan.closing.is_set() and arrival.gone():
            return LOSE_REQUEST  # nothing of a client that has gone shall happen after the proxy's end
        if verdict != PASS and self.verb == "hold":
            arrival.action += f", {verdict.what}"
        return verdict


class Plan:
    """The gates set by hand and the script; the first that hits a request has it."""

    def __init__(self, script):
        self.closing = asyncio.Event()
        self._by_hand, self._playing = [], []
        self.play(script.rules, script.seed)

    def play(self, rules, seed):
        """Replace the script from now on, with counts at 0; what the old one held goes on."""
        for one in self._playing:
            if one.gate:
                one.gate.open()
        self._playing = [_Playing(rule, f"{seed}:{place}") for place, rule in enumerate(rules)]

    def hold(self, what: Match, *, at_answer, skip):
        """Set a gate; returns it."""
        made = _Watching(what, "answer" if at_answer else "request", skip)
        self._by_hand = [one for one in self._by_hand if not one.gate.is_open] + [made]
        return made.gate

    def decide(self, arrival):
        """Return the Fault that hits a request that has just come; what stands behind it does not count it."""
        if self.closing.is_set():
            return Fault(self, *NOTHING)
        for one in self._by_hand:
            if one.hits(arrival):
                return Fault(self, "hold", one.place, gate=one.gate)
        for one in self._playing:
            if one.hits(arrival):
                rule: Rule = one.rule
                return Fault(self, rule.verb, rule.place, rule, one.gate)
        return Fault(self, *NOTHING)

    def succeeded(self, arrival):
        """Take notice of a request that the upstream has carried out: gates that wait for it open."""
        for one in self._playing:
            if one.gate and one.rule.until.meets(arrival.client, arrival.method, arrival.path):
                one.gate.open()

    def injected(self):
        """Return what became of each rule, in the script's order."""
        return [Injected(one.rule.do, one.matched, one.hit) for one in self._playing]

    async def delay(self, seconds):
        """Wait, but not beyond the proxy's end."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.closing.wait(), seconds)
        return PASS

    def close(self):
        """Open all gates and end all delays."""
        self.closing.set()
        for one in (*self._by_hand, *self._playing):
            if one.gate:
                one.gate.open()
