"""The store against a tiny model: any order of puts, reshards, time and reads gives every record once, in order."""

import json
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from workbench_standins import kinesis
from workbench_standins.kinesis import operations
from workbench_standins.kinesis.clock import Clock
from workbench_standins.kinesis.refusal import Refused
from workbench_standins.kinesis.store import Store

KEYS = 1 << 128
FRACTIONS = st.integers(1, 999)


@dataclass
class Part:
    """What the model knows of a shard; records are (arrival, number), `read` are the numbers a consumer has got."""

    first: int
    last: int
    parents: tuple = ()
    closed: float | None = None
    records: list = field(default_factory=list)
    read: list = field(default_factory=list)
    iterator: str | None = None
    issued: float = 0.0
    last_number: str | None = None


class Streams(RuleBasedStateMachine):
    @initialize(shards=st.integers(1, 3))
    def begin(self, shards):
        self.store = Store(Clock(1_800_000_000), kinesis.UNLIMITED)
        self.now, self.hours, self.sent = 1_800_000_000, 24, 0
        self.call("CreateStream", ShardCount=shards)
        self.parts = {}
        for n in range(shards):
            self.add(Part(KEYS * n // shards, KEYS * (n + 1) // shards - 1))

    def call(self, operation, **asked):
        found = operations.call(self.store, operation, {"StreamName": "s"} | asked)
        return json.loads(found) if isinstance(found, bytes) else found

    def add(self, part):
        self.made = getattr(self, "made", -1) + 1
        self.parts[f"shardId-{self.made:012d}"] = part

    def open_parts(self):
        return sorted((p.first, name) for name, p in self.parts.items() if p.closed is None)

    @rule(keys=st.lists(st.integers(0, 999), min_size=1, max_size=8), one=st.booleans())
    def put(self, keys, one):
        entries = []
        for key in keys[: 1 if one else None]:
            self.sent += 1
            entries.append(
                {
                    "Data": "",
                    "PartitionKey": str(self.sent),
                    "ExplicitHashKey": str(KEYS * key // 999 if key < 999 else KEYS - 1),
                }
            )
        answers = (
            [self.call("PutRecord", **entries[0])] if one else self.call("PutRecords", Records=entries)["Records"]
        )
        for entry, answer in zip(entries, answers, strict=True):
            key = int(entry["ExplicitHashKey"])
            (name,) = [name for name, p in self.parts.items() if p.closed is None and p.first <= key <= p.last]
            assert answer["ShardId"] == name
            part = self.parts[name]
            assert part.last_number is None or int(answer["SequenceNumber"]) > int(part.last_number)
            part.last_number = answer["SequenceNumber"]
            part.records.append((self.now, entry["PartitionKey"]))

    @rule(which=st.integers(0, 99), fraction=FRACTIONS)
    def split(self, which, fraction):
        _, name = self.open_parts()[which % len(self.open_parts())]
        part = self.parts[name]
        key = part.first + (part.last - part.first) * fraction // 1000
        if part.last - part.first < 10_000 or len(self.open_parts()) > 6:
            return
        self.call("SplitShard", ShardToSplit=name, NewStartingHashKey=str(key))
        part.closed = self.now
        self.add(Part(part.first, key - 1, (name,)))
        self.add(Part(key, part.last, (name,)))

    @rule(which=st.integers(0, 99), swapped=st.booleans())
    def merge(self, which, swapped):
        there = self.open_parts()
        if len(there) < 2:
            return
        place = which % (len(there) - 1)
        one, other = there[place][1], there[place + 1][1]
        names = (one, other)
        if swapped:
            with pytest.raises(Refused, match="are not an adjacent pair"):
                self.call("MergeShards", ShardToMerge=other, AdjacentShardToMerge=one)
        self.call("MergeShards", ShardToMerge=one, AdjacentShardToMerge=other)
        for name in names:
            self.parts[name].closed = self.now
        self.add(Part(self.parts[one].first, self.parts[other].last, names))

    @rule(seconds=st.sampled_from([1, 60, 299, 301, 3600, 12 * 3600, 24 * 3600]))
    def wait(self, seconds):
        self.now += seconds
        self.store.clock.advance(seconds)
        self.expire()

    @rule(hours=st.sampled_from([24, 36, 48]))
    def keep(self, hours):
        verb = "Increase" if hours >= self.hours else "Decrease"
        self.call(f"{verb}StreamRetentionPeriod", RetentionPeriodHours=hours)
        self.hours = hours
        self.expire()

    def expire(self):
        horizon = self.now - self.hours * 3600
        for name, part in list(self.parts.items()):
            part.records = [record for record in part.records if record[0] >= horizon]
            if part.closed is not None and part.closed < horizon:
                del self.parts[name]

    @rule(which=st.integers(0, 99), limit=st.integers(1, 5))
    def read(self, which, limit):
        name = sorted(self.parts)[which % len(self.parts)]
        part = self.parts[name]
        if part.iterator is not None and self.now - part.issued > 300:
            with pytest.raises(Refused, match="Iterator expired"):
                self.call("GetRecords", ShardIterator=part.iterator)
            part.iterator = None
        if part.iterator is None:
            start = {"ShardIteratorType": "TRIM_HORIZON"}
            if part.read:
                start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": part.read[-1][0]}
            part.iterator, part.issued = (
                self.call("GetShardIterator", ShardId=name, **start)["ShardIterator"],
                self.now,
            )
        self.consume(name, part, limit)

    def consume(self, name, part, limit):
        """Read once and compare with the model, which looks by the records' own numbers, not by positions."""
        found = self.call("GetRecords", ShardIterator=part.iterator, Limit=limit)
        newest = int(part.read[-1][1]) if part.read else 0
        left = [number for _, number in part.records if int(number) > newest]
        assert [r["PartitionKey"] for r in found["Records"]] == left[:limit]
        part.read += [(r["SequenceNumber"], r["PartitionKey"]) for r in found["Records"]]
        assert (found["MillisBehindLatest"] == 0) == (len(left) <= limit)
        ended = part.closed is not None and len(left) <= limit
        assert (found["NextShardIterator"] is None) == ended == ("ChildShards" in found)
        if ended:
            children = {child: p.parents for child, p in self.parts.items() if name in p.parents}
            assert {c["ShardId"]: tuple(c["ParentShards"]) for c in found["ChildShards"]} == children
        part.iterator, part.issued = found["NextShardIterator"], self.now

    @invariant()
    def shards_are_those_of_the_model(self):
        if not hasattr(self, "parts"):
            return
        found = self.call("ListShards")["Shards"]
        parents = lambda s: tuple(s[k] for k in ("ParentShardId", "AdjacentParentShardId") if k in s)  # noqa: E731
        assert {s["ShardId"]: parents(s) for s in found} == {name: p.parents for name, p in self.parts.items()}
        open_ranges = sorted(
            (int(s["HashKeyRange"]["StartingHashKey"]), int(s["HashKeyRange"]["EndingHashKey"]))
            for s in found
            if "EndingSequenceNumber" not in s["SequenceNumberRange"]
        )
        assert open_ranges == sorted((p.first, p.last) for p in self.parts.values() if p.closed is None)
        assert open_ranges[0][0] == 0 and open_ranges[-1][1] == KEYS - 1
        assert all(a[1] + 1 == b[0] for a, b in pairwise(open_ranges))

    def teardown(self):
        """Drain every shard that is there: all that the model still has was read exactly once."""
        for which, name in enumerate(sorted(getattr(self, "parts", {}))):
            part = self.parts[name]
            while True:
                self.read(which, 5)
                if part.iterator is None or not [
                    n for _, n in part.records if int(n) > int(part.read[-1][1] if part.read else 0)
                ]:
                    break
            numbers = [number for _, number in part.read]
            assert len(set(numbers)) == len(numbers) and {n for _, n in part.records} <= set(numbers)


TestStreams = Streams.TestCase
TestStreams.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
