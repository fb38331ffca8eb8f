"""What a collector's log says."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Collection:
    """What a JVM's log says of its collector.

    Attributes:
        collector: Serial, Parallel, G1, Z (generational or not) or Shenandoah, as the JVM names it.
        seconds: from the JVM's start, or from when `read` begins to count, to the last line.
        pauses: each stop of all threads for the collector, in seconds, in their order.
        pause_kinds: how many pauses there were of each kind.
        stalls: each wait of a thread for memory that was not collected yet, in seconds; of Z, which has them in
            the place of pauses. Other collectors' waits are their pauses.
        paced_seconds: for how long Shenandoah made threads wait that allocate, where its log says so.
        safepoints: each stop of all threads, whatever it was for, in seconds, the collector's included; empty
            where the log has none.
        full_collections: collections of the whole heap while all threads stood still: the collector was too late.
        out_of_memory: whether the log says so; of the collectors Z alone does.
        peak_heap_bytes: the largest use of the heap that the log has, before or after a collection.
        heap_bytes: that the heap may have, 0 where the log does not say.
        cut_off: whether the last line is not whole.
    """

    collector: str
    seconds: float
    pauses: tuple[float, ...]
    pause_kinds: Mapping[str, int]
    stalls: tuple[float, ...]
    paced_seconds: float
    safepoints: tuple[float, ...]
    full_collections: int
    out_of_memory: bool
    peak_heap_bytes: int
    heap_bytes: int
    cut_off: bool

    @property
    def pause_seconds(self) -> float:
        """Return the sum of the pauses."""
        return sum(self.pauses)

    @property
    def stall_seconds(self) -> float:
        """Return the sum of the waits of threads; several threads wait at the same time, each for itself."""
        return sum(self.stalls) + self.paced_seconds

    @property
    def stopped_share(self) -> float:
        """Return the share of the time in which all threads stood still, for whatever reason, 0 to 1."""
        return min(1.0, sum(self.safepoints or self.pauses) / self.seconds) if self.seconds else 0.0
