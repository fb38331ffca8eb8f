"""Fault scripts: what shall go wrong, where, when and how often. What carries them out is `script`.

A script is a list of faults, in Python or in a YAML or JSON file:

    seed: 7
    faults:
      - {kind: throughput_exceeded, share: 0.25, operations: [GetRecords]}
      - {kind: empty_read, shards: [shardId-000000000001], most: 50}
      - {kind: lost_answer, operations: [PutRecords], after_calls: 3, most: 1}
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import yaml

from workbench_standins.kinesis.operations import OPERATIONS

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
        after_calls: so many matching calls (records) pass first.
        most: so many are hit at most; None for no end.
        after_seconds, until_seconds: only in this time, by the server's clock, counted from the script's start.
        seconds: for slow_answer, how long the answer is held back, by the machine's clock.
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

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"no kind of fault {self.kind!r}; there are {', '.join(KINDS)}")
        for name in ("operations", "shards"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(one, str) for one in value):
                raise ValueError(f"{name} of {self.kind} must be a list of names; got {value!r}")
            object.__setattr__(self, name, tuple(value))
        wrong = set(self.operations) - set(KINDS[self.kind][0])
        if wrong:
            raise ValueError(
                f"{self.kind} cannot hit {', '.join(sorted(wrong))}; it hits {', '.join(KINDS[self.kind][0])}"
            )
        for name in ("share", "after_calls", "most", "after_seconds", "until_seconds", "seconds"):
            value = getattr(self, name)
            optional, whole = name in ("most", "until_seconds"), name in ("after_calls", "most")
            if value is None and optional:
                continue
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value >= 0:
                raise ValueError(
                    f"{name} of {self.kind} must be a {'whole ' * whole}number from 0 on; got {value!r}"
                )
        if self.share > 1:
            raise ValueError(f"share of {self.kind} must be from 0 to 1; got {self.share!r}")
        if (self.kind == "slow_answer") != (self.seconds > 0):
            raise ValueError(
                f"seconds goes with slow_answer, and only with it; got {self.seconds!r} for {self.kind}"
            )
        if self.error not in PARTIAL_CODES:
            raise ValueError(f"error must be one of {', '.join(PARTIAL_CODES)}; got {self.error!r}")


@dataclass(frozen=True)
class Injected:
    """What became of one fault: calls (records, for partial_put) that matched it, and those that it hit."""

    kind: str
    matched: int
    hit: int


def plain(faults):
    """Return faults as dicts that JSON can carry.

    Raises:
        ValueError: something else than a Fault is among them.
    """
    for fault in faults:
        if not isinstance(fault, Fault):
            raise ValueError(f"a fault script is a list of Fault; got {fault!r}")
    return [asdict(fault) for fault in faults]


def of_plain(found):
    """Return the faults of a list of dicts.

    Raises:
        ValueError: a fault has no kind, an unknown key or a value that does not go.
    """
    names = [f.name for f in fields(Fault)]
    if not isinstance(found, list) or not all(isinstance(one, dict) and "kind" in one for one in found):
        raise ValueError("faults must be a list of mappings that have a kind")
    for one in found:
        unknown = {str(key) for key in one} - set(names)
        if unknown:
            raise ValueError(f"a fault has no {', '.join(sorted(unknown))}; it has {', '.join(names)}")
    return [Fault(**one) for one in found]


def read(path):
    """Read a fault script from a YAML or JSON file: `faults`, and `seed` (0 when left out).

    Returns:
        (list of Fault, seed).

    Raises:
        ValueError: the file is not such a script; the message names it.
        OSError: it cannot be read.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        found = yaml.safe_load(text)
        if not isinstance(found, dict) or not {"faults"} <= found.keys() <= {"faults", "seed"}:
            raise ValueError("expected a mapping with faults and, if wanted, seed")
        seed = found.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ValueError(f"seed must be a whole number; got {seed!r}")
        return of_plain(found["faults"]), seed
    except (ValueError, yaml.YAMLError) as error:
        raise ValueError(f"{path} is no fault script: {error}") from None
