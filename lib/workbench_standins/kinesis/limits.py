"""The limits of a shard, a call and an account, from the service's quota page; each can be removed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from workbench._base.errors import ArgumentError

MIB = 1024 * 1024


def _calls_per_second() -> dict[str, int]:
    """Return an account's calls a second before LimitExceededException; shards limit PutRecord and its like."""
    return {
        "CreateStream": 5, "DeleteStream": 5, "ListStreams": 5, "DescribeStream": 10, "DescribeStreamSummary": 20,
        "ListShards": 1000, "SplitShard": 5, "MergeShards": 5, "UpdateShardCount": 10,
        "IncreaseStreamRetentionPeriod": 5, "DecreaseStreamRetentionPeriod": 5,
    }  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """The limits in force; None removes one.

    Attributes:
        shard_records_in: records a shard takes a second.
        shard_bytes_in: bytes of data and partition keys that a shard takes a second.
        shard_reads: GetRecords calls on a shard a second.
        shard_bytes_out: bytes a shard returns a second; a larger answer blocks the shard for as long as it should
            have taken, so that after 10 MiB the next five seconds throttle.
        shard_iterators: GetShardIterator calls on a shard a second.
        call_records_in: records in one PutRecords.
        call_bytes_in: bytes of data and partition keys in one PutRecords.
        record_bytes: bytes of data in one record, unless its stream was created with another MaxRecordSizeInKiB.
        account_shards: open shards in a region.
        scalings_per_day: UpdateShardCount on one stream in 24 hours.
        calls_per_second: operation to calls an account may make a second.
    """

    shard_records_in: int | None = 1000
    shard_bytes_in: int | None = MIB
    shard_reads: int | None = 5
    shard_bytes_out: int | None = 2 * MIB
    shard_iterators: int | None = 5
    call_records_in: int | None = 500
    call_bytes_in: int | None = 10 * MIB
    record_bytes: int | None = MIB
    account_shards: int | None = 20_000
    scalings_per_day: int | None = 10
    calls_per_second: Mapping[str, int] = field(default_factory=_calls_per_second)

    def __post_init__(self) -> None:
        for name in (limit.name for limit in fields(self) if limit.name != "calls_per_second"):
            _positive(name, getattr(self, name), optional=True)
        unknown = set(self.calls_per_second) - set(_calls_per_second())
        if unknown:
            raise ArgumentError(
                f"calls_per_second has {', '.join(sorted(unknown))}; it takes {', '.join(_calls_per_second())}"
            )
        for operation, calls in self.calls_per_second.items():
            _positive(f"calls_per_second of {operation}", calls)


def _positive(name: str, value: Any, *, optional: bool = False) -> None:
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"{name} must be an integer of at least 1{' or None' * optional}, found {value!r}")


UNLIMITED = Limits(**{f.name: None for f in fields(Limits) if f.name != "calls_per_second"}, calls_per_second={})


class Window:
    """A second's allowance. An amount that overdraws it passes once, and makes the window last accordingly."""

    __slots__ = ("_per_second", "_start", "_used")

    def __init__(self, per_second: int | None) -> None:
        self._per_second, self._start, self._used = per_second, 0, 0

    def open(self, millis: int, amount: int = 0) -> bool:
        """Return whether there is room for an amount; 0 asks whether anything is left. Nothing is taken."""
        if self._per_second is None:
            return True
        if millis - self._start >= 1000 * max(1, self._used / self._per_second):
            self._start, self._used = millis, 0
        if not self._used:
            return True
        return self._used + amount <= self._per_second if amount else self._used < self._per_second

    def take(self, amount: int = 1) -> None:
        """Count an amount as used."""
        self._used += amount
