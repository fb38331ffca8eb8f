"""One stream: its shards and their records, how shards split and merge, and the state it is in."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from workbench_standins.kinesis import sequence
from workbench_standins.kinesis.limits import MIB, Limits, Window

HOUR = 3_600_000  # milliseconds


class Shard:
    """A range of hash keys and the records that fell into it.

    Records are kept as the JSON text in which GetRecords returns them, so that reading is slicing. A position is a
    counter, the part of a sequence number that orders a shard: it means the first record that is not below it.

    Attributes:
        id: `shardId-` and twelve digits; index: the number in it.
        parents: ids of the shards that it was made from: none, one (split) or two (merge; the second is adjacent).
        first_key, last_key: the hash keys it covers, both inclusive.
        opened_millis, closed_millis: when it was made and closed; None while it is open.
    """

    def __init__(
        self, index: int, *, keys: tuple[int, int], millis: int, created_second: int, parents: Sequence[str],
        limits: Limits
    ) -> None:  # fmt: skip
        self.id, self.index, self.parents = sequence.shard_id(index), index, tuple(parents)
        self.first_key, self.last_key = keys
        self.opened_millis = millis
        self.closed_millis: int | None = None
        self.created_second = created_second
        self.base = sequence.base(created_second, index)
        self.records_in, self.bytes_in = Window(limits.shard_records_in), Window(limits.shard_bytes_in)
        self.reads, self.bytes_out = Window(limits.shard_reads), Window(limits.shard_bytes_out)
        self.iterators = Window(limits.shard_iterators)
        self._fragments: list[bytes] = []
        self._counters, self._millis, self._ends = array("Q"), array("Q"), array("Q")  # ends: bytes up to here
        self._bytes = self._trimmed = 0

    def append(self, counter: int, millis: int, fragment: bytes, size: int) -> None:
        """Add a record behind all others; its counter is above theirs."""
        self._bytes += size
        self._fragments.append(fragment)
        self._counters.append(counter)
        self._millis.append(millis)
        self._ends.append(self._bytes)

    def close(self, millis: int) -> None:
        """Take no more records."""
        self.closed_millis = millis

    def trim(self, horizon_millis: int) -> None:
        """Forget the records that arrived before the horizon."""
        count = bisect_left(self._millis, horizon_millis)
        if count:
            self._trimmed = self._ends[count - 1]
            del self._fragments[:count]
            for column in (self._counters, self._millis, self._ends):
                del column[:count]

    def counter_at(self, millis: int) -> int | None:
        """Return the counter of the first record that arrived at a time or later; None when there is none."""
        place = bisect_left(self._millis, millis)
        return self._counters[place] if place < len(self._counters) else None

    def read(self, counter: int, *, records: int, size: int) -> tuple[list[bytes], int, int, int | None]:
        """Read from a position on.

        Args:
            counter: the position.
            records: number of records at most.
            size: bytes of data and keys at most; the first record is returned whatever its size.

        Returns:
            (JSON texts of the records, next position, bytes of the records, arrival of the next record in
            milliseconds; None where there is none).
        """
        start = bisect_left(self._counters, counter)
        before = self._ends[start - 1] if start else self._trimmed
        stop = min(start + records, len(self._counters))
        if stop > start and self._ends[stop - 1] - before > size:
            stop = max(start + 1, bisect_left(self._ends, before + size + 1, start, stop))
        read_bytes = self._ends[stop - 1] - before if stop > start else 0
        position = self._counters[stop - 1] + 1 if stop > start else counter
        next_arrival = self._millis[stop] if stop < len(self._millis) else None
        return self._fragments[start:stop], position, read_bytes, next_arrival

    def __len__(self) -> int:
        return len(self._counters)

    def description(self) -> dict[str, Any]:
        """Return the shard as ListShards and DescribeStream describe it."""
        start = sequence.number(self.base, 0, self.created_second)
        numbers = {"StartingSequenceNumber": str(start)}
        if self.closed_millis is not None:
            last = sequence.number(self.base, sequence.LAST_COUNTER, self.closed_millis // 1000)
            numbers["EndingSequenceNumber"] = str(last)
        parents = dict(zip(("ParentShardId", "AdjacentParentShardId"), self.parents, strict=False))
        return {"ShardId": self.id, "HashKeyRange": self.key_range(), "SequenceNumberRange": numbers, **parents}

    def key_range(self) -> dict[str, str]:
        """Return the hash keys as the API writes them."""
        return {"StartingHashKey": str(self.first_key), "EndingHashKey": str(self.last_key)}


class Stream:
    """A named set of shards whose open ones cover every hash key once.

    A change that takes the service a while (creation, resharding) is kept as an action with the moment at which it
    is due; `settle` carries it out as if it had happened then, so nothing runs in the background.

    Attributes:
        incarnation: number of this stream in its store; a later stream of the same name has another.
        shards: id to shard, oldest first; expired ones are gone.
        status: CREATING, ACTIVE, UPDATING or DELETING.
        counter: of the next record's sequence number; all shards share it, so a shard's numbers have gaps.
    """

    def __init__(
        self, name: str, *, region: str, account: str, incarnation: int, millis: int, first_second: int,
        limits: Limits, mode: str = "PROVISIONED"
    ) -> None:  # fmt: skip
        self.name, self.account, self.incarnation, self.mode = name, account, incarnation, mode
        self.arn = f"arn:aws:kinesis:{region}:{account}:stream/{name}"
        self.created_millis, self.first_second = millis, first_second
        self.retention_hours = 24
        self.limits, self.record_bytes = limits, limits.record_bytes
        self.status, self.counter = "ACTIVE", 1
        self.scalings: list[int] = []
        self.shards: dict[str, Shard] = {}
        self._next_index = self._due_millis = 0
        self._action: Callable[[int], None] | None = None
        self._route: tuple[list[int], list[Shard]] | None = None

    def open_shards(self) -> list[Shard]:
        """Return the open shards in the order of their hash keys."""
        shards = [shard for shard in self.shards.values() if shard.closed_millis is None]
        return sorted(shards, key=lambda shard: shard.first_key)

    def route(self) -> tuple[list[int], list[Shard]]:
        """Return (last hash keys of the open shards, those shards), both sorted, to look a key up with bisect."""
        if self._route is None:
            shards = self.open_shards()
            self._route = [shard.last_key for shard in shards], shards
        return self._route

    def schedule(self, status: str, action: Callable[[int], None], *, millis: int, delay_millis: int) -> None:
        """Enter a state and note the action that ends it; with a delay of 0 it is carried out at once."""
        self.status, self._due_millis, self._action = status, millis + delay_millis, action
        self.settle(millis)

    def settle(self, millis: int) -> None:
        """Carry out the action that is due, and forget records older than the retention period."""
        if self._action is not None and millis >= self._due_millis:
            action, due = self._action, self._due_millis
            self._action = None
            self.status = "ACTIVE"
            action(due)
        self.expire(millis)

    def expire(self, millis: int) -> None:
        """Trim records behind the horizon and drop the closed shards that were closed before it."""
        horizon = self.horizon(millis)
        for shard in list(self.shards.values()):
            if shard.closed_millis is not None and shard.closed_millis < horizon:
                del self.shards[shard.id]
            else:
                shard.trim(horizon)

    def horizon(self, millis: int) -> int:
        """Return the time before which records are gone."""
        return max(0, millis - self.retention_hours * HOUR)

    def populate(self, count: int, millis: int) -> None:
        """Add the first shards, with hash keys cut evenly."""
        for first, last in even_ranges(count):
            self._add((first, last), millis)

    def split(self, shard: Shard, key: int, millis: int) -> None:
        """Close a shard; two children share its hash keys, the second from a key on."""
        shard.close(millis)
        self._add((shard.first_key, key - 1), millis, shard)
        self._add((key, shard.last_key), millis, shard)

    def merge(self, shard: Shard, adjacent: Shard, millis: int) -> None:
        """Close two neighbours; a child covers both."""
        shard.close(millis)
        adjacent.close(millis)
        keys = min(shard.first_key, adjacent.first_key), max(shard.last_key, adjacent.last_key)
        self._add(keys, millis, shard, adjacent)

    def rescale(self, count: int, millis: int) -> None:
        """Split and merge until a number of shards cut the hash keys evenly; some shards close at once."""
        for first, last in even_ranges(count):
            lasts, shards = self.route()
            place = bisect_left(lasts, first)
            if shards[place].first_key != first:
                self.split(shards[place], first, millis)
            lasts, shards = self.route()
            place = bisect_left(lasts, last)
            if shards[place].last_key != last:
                self.split(shards[place], last + 1, millis)
            while len(inside := [s for s in self.route()[1] if first <= s.first_key and s.last_key <= last]) > 1:
                self.merge(inside[0], inside[1], millis)

    def children(self, shard: Shard) -> list[dict[str, Any]]:
        """Return the shards that a shard was split or merged into, as GetRecords names them at its end."""
        return [
            {"ShardId": child.id, "ParentShards": list(child.parents), "HashKeyRange": child.key_range()}
            for child in self.shards.values()
            if shard.id in child.parents
        ]

    def summary(self) -> dict[str, Any]:
        """Return the members that DescribeStream and DescribeStreamSummary share."""
        return {
            "StreamName": self.name,
            "StreamARN": self.arn,
            "StreamStatus": self.status,
            "StreamModeDetails": {"StreamMode": self.mode},
            "RetentionPeriodHours": self.retention_hours,
            "StreamCreationTimestamp": self.created_millis / 1000,
            "EnhancedMonitoring": [{"ShardLevelMetrics": []}],
            "EncryptionType": "NONE",
        }

    def max_record_kib(self) -> int:
        """Return the largest record in KiB, as DescribeStreamSummary states it."""
        return (self.record_bytes or MIB) // 1024

    def _add(self, keys: tuple[int, int], millis: int, *parents: Shard) -> None:
        second = max([millis // 1000, self.first_second, *(parent.created_second + 1 for parent in parents)])
        ids = [parent.id for parent in parents]
        shard = Shard(
            self._next_index, keys=keys, millis=millis, created_second=second, parents=ids, limits=self.limits
        )
        self.shards[shard.id] = shard
        self._next_index += 1
        self._route = None


def even_ranges(count: int) -> list[tuple[int, int]]:
    """Return (first, last) hash key of each of a number of even parts."""
    cuts = [sequence.HASH_KEYS * n // count for n in range(count + 1)]
    return [(first, following - 1) for first, following in pairwise(cuts)]
