"""One shard: its records in order, where a position lies among them, and what is trimmed."""

from array import array
from bisect import bisect_left

from workbench_standins.kinesis import sequence
from workbench_standins.kinesis.limits import Window


class Shard:
    """A range of hash keys and the records that fell into it.

    Records are kept as the JSON text in which GetRecords gives them, so that reading is slicing. A position is a
    counter, the part of a sequence number that orders a shard: it names the first record that is not below it.

    Attributes:
        id: `shardId-` and twelve digits; index: the number in it.
        parents: ids of the shards that it was made from: none, one (split) or two (merge; the second is adjacent).
        first_key, last_key: the hash keys it covers, both inclusive.
        opened_millis, closed_millis: when it was made and closed; None while it is open.
    """

    def __init__(self, index, *, keys, millis, created_second, parents=(), limits):
        self.id, self.index, self.parents = sequence.shard_id(index), index, tuple(parents)
        self.first_key, self.last_key = keys
        self.opened_millis, self.closed_millis = millis, None
        self.created_second = created_second
        self.base = sequence.base(created_second, index)
        self.records_in, self.bytes_in = Window(limits.shard_records_in), Window(limits.shard_bytes_in)
        self.reads, self.bytes_out = Window(limits.shard_reads), Window(limits.shard_bytes_out)
        self.iterators = Window(limits.shard_iterators)
        self._fragments = []
        self._counters, self._millis, self._ends = array("Q"), array("Q"), array("Q")  # ends: bytes up to here
        self._bytes = self._trimmed = 0

    def append(self, counter, millis, fragment, size):
        """Add a record behind all others; its counter is above theirs."""
        self._bytes += size
        self._fragments.append(fragment)
        self._counters.append(counter)
        self._millis.append(millis)
        self._ends.append(self._bytes)

    def close(self, millis):
        """Take no more records."""
        self.closed_millis = millis

    def trim(self, horizon_millis):
        """Forget the records that arrived before the horizon."""
        count = bisect_left(self._millis, horizon_millis)
        if count:
            self._trimmed = self._ends[count - 1]
            for column in (self._fragments, self._counters, self._millis, self._ends):
                del column[:count]

    def counter_at(self, millis):
        """Return the counter of the first record that arrived at a time or later; None when there is none."""
        place = bisect_left(self._millis, millis)
        return self._counters[place] if place < len(self._counters) else None

    def read(self, counter, *, records, size):
        """Read from a position on.

        Args:
            counter: the position.
            records: how many at most.
            size: how many bytes of data and keys at most; the first record is given whatever its size.

        Returns:
            (JSON texts of the records, next position, bytes, arrival in milliseconds of the first record that is
            left; None when none is).
        """
        start = bisect_left(self._counters, counter)
        before = self._ends[start - 1] if start else self._trimmed
        stop = min(start + records, len(self._counters))
        if stop > start and self._ends[stop - 1] - before > size:
            stop = max(start + 1, bisect_left(self._ends, before + size + 1, start, stop))
        given = self._ends[stop - 1] - before if stop > start else 0
        position = self._counters[stop - 1] + 1 if stop > start else counter
        left = self._millis[stop] if stop < len(self._millis) else None
        return self._fragments[start:stop], position, given, left

    def __len__(self):
        return len(self._counters)

    def description(self):
        """Return the shard as ListShards and DescribeStream give it."""
        start = sequence.number(self.base, 0, self.created_second)
        found = {
            "ShardId": self.id,
            "HashKeyRange": self.key_range(),
            "SequenceNumberRange": {"StartingSequenceNumber": str(start)},
        }
        found |= dict(zip(("ParentShardId", "AdjacentParentShardId"), self.parents, strict=False))
        if self.closed_millis is not None:
            last = sequence.number(self.base, sequence.LAST_COUNTER, self.closed_millis // 1000)
            found["SequenceNumberRange"]["EndingSequenceNumber"] = str(last)
        return found

    def key_range(self):
        """Return the hash keys as the API writes them."""
        return {"StartingHashKey": str(self.first_key), "EndingHashKey": str(self.last_key)}
