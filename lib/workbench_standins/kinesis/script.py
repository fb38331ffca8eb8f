"""A fault script at work: decides for each call by a seed what hits it, and counts."""

import random
from dataclasses import dataclass, field

from workbench_standins.kinesis.faults import KINDS, Injected
from workbench_standins.kinesis.refusal import Refused

ERRORS = {
    "throughput_exceeded": ("ProvisionedThroughputExceededException", "Rate exceeded (fault script).", 400),
    "limit_exceeded": ("LimitExceededException", "Rate exceeded (fault script).", 400),
    "throttling": ("ThrottlingException", "Rate exceeded (fault script).", 400),
    "internal_failure": ("InternalFailure", "Internal service failure (fault script).", 500),
    "unavailable": ("ServiceUnavailable", "Service is unavailable (fault script).", 503),
    "expired_iterator": ("ExpiredIteratorException", "Iterator expired (fault script).", 400),
}


@dataclass(frozen=True)
class Hits:
    """What hits one call; `options` go to its operation."""

    error: Refused | None = None
    lost_request: bool = False
    lost_answer: bool = False
    seconds: float = 0.0
    options: dict = field(default_factory=dict)


class Script:
    """A fault script at work: decides for each call, counts what it did.

    Args:
        faults: the faults in the order in which they are tried; those behind one that refuses do not see the call.
        seed: whole number; each fault draws from a sequence of its own, so that adding one changes no other.
        millis: the server's time, from which after_seconds counts.
    """

    def __init__(self, faults=(), *, seed=0, millis=0):
        self.faults, self._start = tuple(faults), millis
        self._draws = [random.Random(f"{seed}:{place}") for place in range(len(self.faults))]
        self._matched, self._hit = [0] * len(self.faults), [0] * len(self.faults)

    def injected(self):
        """Return what became of each fault, in the script's order."""
        return [
            Injected(fault.kind, matched, hit)
            for fault, matched, hit in zip(self.faults, self._matched, self._hit, strict=True)
        ]

    def decide(self, operation, millis, shards):
        """Return what hits a call.

        Args:
            operation: its name.
            millis: the server's time.
            shards: function without arguments to the ids of the shards that the call is about; asked when needed.
        """
        lost_answer, seconds, options, partial = False, 0.0, {}, []
        for place, fault in enumerate(self.faults):
            if not self._means(fault, operation, millis):
                continue
            if fault.kind == "partial_put":
                partial.append(place)
                continue
            if (fault.shards and shards().isdisjoint(fault.shards)) or not self._draw(place):
                continue
            if fault.kind in ERRORS or fault.kind == "lost_request":
                error = Refused(*ERRORS[fault.kind]) if fault.kind in ERRORS else None
                return Hits(error, error is None, lost_answer, seconds)
            if fault.kind in ("empty_read", "late_end"):
                options[fault.kind.removesuffix("_read")] = True
            lost_answer |= fault.kind == "lost_answer"
            seconds += fault.seconds
        if partial:
            options["fails"] = lambda shard_id: self._fails(partial, shard_id)
        return Hits(None, False, lost_answer, seconds, options)

    def _means(self, fault, operation, millis):
        elapsed = (millis - self._start) / 1000
        return (
            operation in (fault.operations or KINDS[fault.kind][1])
            and elapsed >= fault.after_seconds
            and (fault.until_seconds is None or elapsed < fault.until_seconds)
        )

    def _draw(self, place):
        """Count a match and return whether the fault hits it."""
        fault = self.faults[place]
        self._matched[place] += 1
        if self._matched[place] <= fault.after_calls:
            return False
        if fault.most is not None and self._hit[place] >= fault.most:
            return False
        hit = self._draws[place].random() < fault.share
        self._hit[place] += hit
        return hit

    def _fails(self, places, shard_id):
        codes = [
            self.faults[place].error
            for place in places
            if (not self.faults[place].shards or shard_id in self.faults[place].shards) and self._draw(place)
        ]
        return codes[0] if codes else None
