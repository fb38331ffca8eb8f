"""What a run and each of its micro-batches did, and the line that a terminal gets about one."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from workbench._base.door import checked


@dataclass(frozen=True)
class Ingested:
    """What a run did. Always: records = good + dead + duplicates + dropped.

    Attributes:
        batches: micro-batches that read anything.
        records: read from the stream.
        good: rows added to the table.
        dead: records that are in the dead-letter table.
        duplicates: good rows that were there already, by the record key.
        dropped: records that the parser took and gave no row for.
        unknown: good records with fields that the schema ignores.
        bytes: of the records.
        seconds: from the first read to the end.
        resumed: whether the run went on from positions in the table.
        caught_up: whether every shard was read to its end.
        snapshot_id: main's snapshot with this stream's newest position.
        lost: sentences on what may have been lost before it was read; recorded in the snapshots too.
    """

    batches: int = 0
    records: int = 0
    good: int = 0
    dead: int = 0
    duplicates: int = 0
    dropped: int = 0
    unknown: int = 0
    bytes: int = 0
    seconds: float = 0.0
    resumed: bool = False
    caught_up: bool = False
    snapshot_id: int | None = None
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """A micro-batch that was committed. Always: records = good + dead + duplicates + dropped.

    Attributes:
        number: of the run, from 1.
        records, good, dead, duplicates, dropped, unknown, bytes: as in Ingested.
        seconds: from planning to the commit.
        lag_seconds: from the arrival of its newest record to the commit.
        behind_seconds: age of the oldest record that it left in the stream.
        caught_up: whether it left none.
        snapshot_id: main's snapshot with its rows and positions.
    """

    number: int
    records: int
    good: int
    dead: int
    duplicates: int
    dropped: int
    unknown: int
    bytes: int
    seconds: float
    lag_seconds: float
    behind_seconds: float
    caught_up: bool
    snapshot_id: int


@checked
def line(batch: Batch) -> str:
    """Return a micro-batch in a line: rows, records that became none, records a second, lag."""
    others = [f"{count:,} {name}" for name in ("dead", "duplicates", "dropped") if (count := getattr(batch, name))]
    rate = batch.records / batch.seconds if batch.seconds else 0
    place = "caught up" if batch.caught_up else f"{batch.behind_seconds:,.1f} s behind"
    return (
        f"batch {batch.number}: {batch.good:,} rows{''.join(f', {other}' for other in others)}, "
        f"{rate:,.0f} records/s, lag {batch.lag_seconds:,.1f} s, {place}"
    )


def teller() -> Callable[[Batch], object]:
    """Return a function that writes each batch's line to the terminal, if there is one."""
    if not sys.stderr.isatty():
        return lambda batch: None
    return lambda batch: sys.stderr.write(line(batch) + "\n")
