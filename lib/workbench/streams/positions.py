"""Where the ingest of a stream stands, in the table itself: in the summary of the snapshot that brought the rows.

A stream is its resource name and the time it was made, for one that was deleted and made again has the same
shard ids and other records. Each publication has a tag, `streams_<stream>_<snapshot>`, that keeps its snapshot
from expiry and takes the place of the one before. A table property says that a stream was ever ingested, so that
positions that vanished are a stop and not a second ingest of everything.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Java, SparkSession
from workbench.streams.readers import shards, sources
from workbench.tables import commits, publication

PREFIX = "streams."
POSITIONS, BATCH = PREFIX + "positions", PREFIX + "batch"
MARK = PREFIX + "source."


class PositionsLost(WorkbenchError, RuntimeError):
    """The table was ingested from the stream, and no snapshot says how far."""


class AnotherWriter(WorkbenchError, RuntimeError):
    """Another run ingests the same stream into the same table: the table's positions are no longer this run's."""


@dataclass(frozen=True)
class Found:
    """A position in a table.

    Attributes:
        shards: shard id to position.
        snapshot_id: the snapshot that has it.
        millis: when it was committed.
    """

    shards: dict[str, str]
    snapshot_id: int
    millis: int


def name(stream: sources.Stream) -> str:
    """Return eight letters that stand for a stream."""
    return hashlib.sha256(f"{stream.arn} {stream.created}".encode()).hexdigest()[:8]


def ref(stream: sources.Stream) -> str:
    """Return what the names of a stream's tags and branches begin with."""
    return f"streams_{name(stream)}_"


def properties(
    stream: sources.Stream, positions: Mapping[str, str], batch: str, figures: Mapping[str, object] | None = None
) -> dict[str, str]:
    """Return the positions as properties of a snapshot's summary.

    Args:
        stream: Stream.
        positions: shard id to position.
        batch: id of the micro-batch.
        figures: more, name to value.
    """
    position = {"stream": stream.arn, "created": stream.created, "shards": positions}
    more = {PREFIX + key: str(value) for key, value in (figures or {}).items()}
    return {POSITIONS: json.dumps(position, sort_keys=True), BATCH: batch} | more


def mark(stream: sources.Stream) -> tuple[str, str]:
    """Return the table property that says that a stream is ingested: (key, value)."""
    return MARK + name(stream), f"{stream.arn} {stream.created}"


def find(spark: SparkSession, loaded: Java, stream: sources.Stream) -> Found | None:
    """Return the newest position of a stream in main's history; None when there is none.

    The newest publication has the stream's only tag, which counts where main descends from it.

    Args:
        spark: session.
        loaded: Java handle of the table.
        stream: Stream.
    """
    at, snapshot = publication.positions.newest(
        spark, loaded, lambda snapshot: _parse(snapshot, stream), tagged=tagged(loaded, stream).values()
    )
    return None if at is None else Found(at, snapshot.snapshotId(), snapshot.timestampMillis())


def tagged(loaded: Java, stream: sources.Stream) -> dict[str, int]:
    """Return a stream's tags, name to the id of the snapshot it keeps; the newest publication has the only one."""
    return publication.positions.tags(loaded, ref(stream))


def rolled_back(spark: SparkSession, loaded: Java, stream: sources.Stream) -> bool:
    """Tell whether main no longer descends from a stream's newest publication, which has its tag."""
    main = commits.head(loaded)  # none where the table was replaced, which keeps its tags
    return any(
        main is None or not commits.descends(spark, loaded, main, snapshot_id)
        for snapshot_id in tagged(loaded, stream).values()
    )


def _parse(snapshot: Java, stream: sources.Stream) -> dict[str, str] | None:
    text = (snapshot.summary() or {}).get(POSITIONS)
    position = json.loads(text) if text else {}
    ours = position.get("stream") == stream.arn and position.get("created") == stream.created
    return position["shards"] if ours else None


def resume(
    spark: SparkSession,
    loaded: Java,
    table: str,
    source: sources.RecordSource,
    stream: sources.Stream,
    *,
    onto_rows: bool,
) -> tuple[Found | None, tuple[str, ...]]:
    """Return (where a run goes on, sentences on what was lost before); (None, …) when it begins.

    Args:
        spark: session.
        loaded: Java handle of the table.
        table: its name.
        source: Source.
        stream: Stream.
        onto_rows: whether a table with rows that no stream brought may be begun with.

    Raises:
        PositionsLost: the table was ingested from this stream and has no positions.
        RecordsLost: it was ingested from a stream of that name that was deleted since.
        ValueError: it has rows that no stream brought.
    """
    if (position := find(spark, loaded, stream)) is not None:
        return position, ()
    marks = {key: value for key, value in dict(loaded.properties()).items() if key.startswith(MARK)}
    if mark(stream)[0] in marks:
        raise PositionsLost(
            f"{table} was ingested from {stream.arn}, but no snapshot in main's history or under a tag says how "
            f"far. Nothing is read again by itself; to begin anew remove the table property {mark(stream)[0]}"
        )
    before = [value.split()[1] for value in marks.values() if value.split()[0] == stream.arn]
    lost: tuple[str, ...] = ()
    if before:
        lost = (
            f"{table} was ingested from the stream {source.stream}{_made_at(before)}, which was deleted and made "
            "again; what was not read of it is gone",
        )
        if source.fail_on_data_loss:
            raise shards.RecordsLost(f"{lost[0]}. To go on with the new one say fail_on_data_loss=False")
    if not marks and not onto_rows and _rows(loaded):
        raise ArgumentError(
            f"{table} has rows, and none of its snapshots says from which stream: if they came from "
            f"{source.stream}, they would come again. If they did not, say onto_rows=True"
        )
    return None, lost


def _made_at(created: Iterable[str]) -> str:
    """Return in words which streams of a name are meant; a topic's id would tell a person nothing."""
    millis = [int(text) for text in created if text.isdigit()]
    times = sorted(datetime.fromtimestamp(moment / 1000, UTC).isoformat() for moment in millis)
    return f" made at {' and '.join(times)}" if times else ""


def _rows(loaded: Java) -> bool:
    snapshot = loaded.currentSnapshot()
    return snapshot is not None and (snapshot.summary() or {}).get("total-records") != "0"
