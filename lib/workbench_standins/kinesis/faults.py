"""Fault scripts: what goes wrong, where, when and how often; and a script at work, which decides and counts.

A script is a list of faults, in Python or in a YAML or JSON file:

    seed: 7
    faults:
      - {kind: throughput_exceeded, share: 0.25, operations: [GetRecords]}
      - {kind: empty_read, shards: [shardId-000000000001], most: 50}
      - {kind: lost_answer, operations: [PutRecords], after_calls: 3, most: 1}
"""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from workbench._base.errors import ArgumentError
from workbench_standins.kinesis.operations import OPERATIONS
from workbench_standins.kinesis.refusal import Refused

DATA = "PutRecord", "PutRecords", "GetRecords", "GetShardIterator"
KINDS = {  # kind: operations it can hit, those it hits unless told otherwise
    "throughput_exceeded": (DATA, DATA),
    "limit_exceeded": (tuple(o for o in OPERATIONS if o not in DATA),) * 2,
    "throttling": (tuple(OPERATIONS), tuple(OPERATIONS)),
    "internal_failure": (tuple(OPERATIONS), tuple(OPERATIONS)),
    "unavailable": (tuple(OPERATIONS), tuple(OPERATIONS)),
    "expired_iterator": (("GetRecords",),) * 2,
    "empty_read": (("GetRecords",),) * 2,
    "late_end": (("GetRecords",),) * 2,
    "partial_put": (("PutRecords",),) * 2,
    "slow_answer": (tuple(OPERATIONS), tuple(OPERATIONS)),
    "lost_answer": (tuple(OPERATIONS), tuple(OPERATIONS)),
    "lost_request": (tuple(OPERATIONS), tuple(OPERATIONS)),
}
PARTIAL_CODES = "ProvisionedThroughputExceededException", "InternalFailure"


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        kind: throughput_exceeded, limit_exceeded, throttling, internal_failure, unavailable, expired_iterator: the
            call is refused with that error and nothing is done. empty_read: GetRecords gives no record although
            there are some. late_end: a closed shard's end comes one answer after its last record. partial_put:
            records of a PutRecords are refused one by one. slow_answer: the call is done, the answer is held back.
            lost_answer: the call is done, the connection closed instead of an answer. lost_request: the connection
            is closed and nothing is done.
        share: probability for each call that matches; for partial_put, for each record.
        operations: which calls; empty means all that the kind can hit.
        shards: only calls about one of these shards (for partial_put: records); empty means all.
        after_calls: number of matching calls (records) that pass first.
        most: number of calls (records) that are hit at most; None for no end.
        after_seconds, until_seconds: only in this time, by the server's clock, counted from the script's start.
        seconds: for slow_answer, the delay of the answer, by the machine's clock.
        error: for partial_put, the error code of the records: ProvisionedThroughputExceededException, the
            default, or InternalFailure.
    """

    kind: str
    share: float = 1.0
    operations: Sequence[str] = ()
    shards: Sequence[str] = ()
    after_calls: int = 0
    most: int | None = None
    after_seconds: float = 0.0
    until_seconds: float | None = None
    seconds: float = 0.0
    error: str = PARTIAL_CODES[0]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ArgumentError(f"{self.kind!r} is not a kind of fault; there are {', '.join(KINDS)}")
        for name in ("operations", "shards"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                raise ArgumentError(f"{name} of {self.kind} must be a list of names, found {value!r}")
            object.__setattr__(self, name, tuple(value))
        wrong = set(self.operations) - set(KINDS[self.kind][0])
        if wrong:
            raise ArgumentError(
                f"{self.kind} cannot hit {', '.join(sorted(wrong))}; it hits {', '.join(KINDS[self.kind][0])}"
            )
        for name in ("share", "after_calls", "most", "after_seconds", "until_seconds", "seconds"):
            value = getattr(self, name)
            optional, whole = name in ("most", "until_seconds"), name in ("after_calls", "most")
            if value is None and optional:
                continue
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value >= 0:
                kind = "an integer" if whole else "a number"
                raise ArgumentError(f"{name} of {self.kind} must be {kind} of at least 0, found {value!r}")
        if self.share > 1:
            raise ArgumentError(f"share of {self.kind} must be a number from 0 to 1, found {self.share!r}")
        if (self.kind == "slow_answer") != (self.seconds > 0):
            raise ArgumentError(
                f"seconds must be given for slow_answer, and only for it, found {self.seconds!r} for {self.kind}"
            )
        if self.error not in PARTIAL_CODES:
            raise ArgumentError(f"error must be {' or '.join(PARTIAL_CODES)}, found {self.error!r}")


@dataclass(frozen=True)
class Injected:
    """The counts of one fault: calls (records, for partial_put) that matched it, and those that it hit."""

    kind: str
    matched: int
    hit: int


def of_plain(blocks: Any) -> list[Fault]:
    """Return the faults of a list of dicts.

    Raises:
        ValueError: a fault has no kind, an unknown key or an invalid value.
    """
    names = [field.name for field in fields(Fault)]
    if not isinstance(blocks, list) or not all(isinstance(block, dict) and "kind" in block for block in blocks):
        raise ArgumentError("faults must be a list of mappings that have a kind")
    for block in blocks:
        if unknown := {str(key) for key in block} - set(names):
            raise ArgumentError(f"a fault has no {', '.join(sorted(unknown))}; it has {', '.join(names)}")
    return [Fault(**block) for block in blocks]


def read(path: str | Path) -> tuple[list[Fault], int]:
    """Read (faults, seed) from a YAML or JSON file: `faults`, and `seed`, which is 0 when missing.

    Raises:
        ValueError: the file is not a fault script; the message names it.
        OSError: it cannot be read.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        script = yaml.safe_load(text)
        if not isinstance(script, dict) or not {"faults"} <= script.keys() <= {"faults", "seed"}:
            raise ArgumentError("expected a mapping with faults, which may have seed")
        seed = script.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ArgumentError(f"seed must be an integer, found {seed!r}")
        return of_plain(script["faults"]), seed
    except (ValueError, yaml.YAMLError) as error:
        raise ArgumentError(f"{path} is not a fault script: {error}") from None


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
    options: dict[str, Any] = field(default_factory=dict)


class Script:
    """A fault script at work: decides for each call, counts what it did.

    Args:
        faults: the faults in the order in which they are tried; those behind one that refuses do not see the call.
        seed: each fault draws from a sequence of its own, so that adding one changes no other.
        millis: the server's time, from which after_seconds counts.
    """

    def __init__(self, faults: Sequence[Fault] = (), *, seed: int = 0, millis: int = 0) -> None:
        self.faults, self._start = tuple(faults), millis
        self._draws = [random.Random(f"{seed}:{place}") for place in range(len(self.faults))]
        self._matched, self._hit = [0] * len(self.faults), [0] * len(self.faults)

    def injected(self) -> list[Injected]:
        """Return the counts of each fault, in the script's order."""
        return [
            Injected(fault.kind, matched, hit)
            for fault, matched, hit in zip(self.faults, self._matched, self._hit, strict=True)
        ]

    def decide(self, operation: str, millis: int, shards: Callable[[], set[str]]) -> Hits:
        """Return what hits a call.

        Args:
            operation: its name.
            millis: the server's time.
            shards: function that returns the ids of the call's shards; called when a fault needs them.
        """
        lost_answer, seconds = False, 0.0
        options: dict[str, Any] = {}
        partial: list[int] = []
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

    def _means(self, fault: Fault, operation: str, millis: int) -> bool:
        elapsed = (millis - self._start) / 1000
        return (
            operation in (fault.operations or KINDS[fault.kind][1])
            and elapsed >= fault.after_seconds
            and (fault.until_seconds is None or elapsed < fault.until_seconds)
        )

    def _draw(self, place: int) -> bool:
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

    def _fails(self, places: Collection[int], shard_id: str) -> str | None:
        codes = [
            self.faults[place].error
            for place in places
            if (not self.faults[place].shards or shard_id in self.faults[place].shards) and self._draw(place)
        ]
        return codes[0] if codes else None
