"""Sequence numbers as the service makes them: 188 bits, written as 56 decimal digits.

From the highest bits: the digit 2; the second in which the shard was made (36 bits); the lowest 4 bits of the
shard's index; a counter (64); 8 bits that are 0 here; the second of arrival (36); the shard's index (32); the
version, 2. Two numbers of one shard compare as their counters do. Two numbers of different shards compare as the
shards' ages do, which says nothing about the records.
"""

from workbench._base.errors import ArgumentError

COUNTER = 80  # position of the counter's lowest bit
LAST_COUNTER = 0x7FFF_FFFF_FFFF_FFFF  # in the ending number of a closed shard
HASH_KEYS = 1 << 128


def base(created_second: int, index: int) -> int:
    """Return the bits that all sequence numbers of a shard share."""
    return 2 << 184 | created_second << 148 | (index & 0xF) << 144 | index << 4 | 2


def number(base_bits: int, counter: int, second: int) -> int:
    """Return a sequence number; the counter decides the order in the shard."""
    return base_bits | counter << COUNTER | second << 36


def parse(text: str) -> tuple[int, int, int, int]:
    """Return (bits shared by the shard's numbers, counter, second of arrival, index of the shard).

    Raises:
        ValueError: the text is not a sequence number of this form.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 57):
        raise ArgumentError(f"{text!r} is not a sequence number")
    value = int(text)
    created, index = value >> 148 & (1 << 36) - 1, value >> 4 & (1 << 32) - 1
    counter, second = value >> COUNTER & (1 << 64) - 1, value >> 36 & (1 << 36) - 1
    if number(base(created, index), counter, second) != value or counter > LAST_COUNTER:
        raise ArgumentError(f"{text!r} is not a sequence number")
    return base(created, index), counter, second, index


def shard_id(index: int) -> str:
    """Return the name of a shard: shardId- and twelve digits."""
    return f"shardId-{index:012d}"
