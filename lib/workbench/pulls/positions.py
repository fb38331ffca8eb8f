"""How far a table is pulled: in the summary of the snapshot that brought the last change, held by a tag."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from workbench._base import moments
from workbench._base.errors import WorkbenchError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits, publication

POSITION = "pulls.position"
CHANGES = "pulls.changes"
FLAGS = "pulls.flags"
ATTEMPT = "pulls.attempt"
PREFIX = "pulls_"
TAG = re.compile(rf"{PREFIX}[0-9a-f]{{16}}_[0-9]+")  # of the snapshot that it names
# entries of a summary that say how many files came or went
_FILES = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")


class AnotherWriter(WorkbenchError, RuntimeError):
    """Another run pulls the same source into the table, or another source is pulled into it."""


@dataclass(frozen=True)
class Position:
    """How far a table is pulled.

    Attributes:
        source: its name.
        first: first day that was asked for, ISO; "" for a source without days.
        until: last day that was asked for.
        settled: last day that is not asked for again; "" where there is none yet.
        settled_days: how many days figures may change, as the run had it.
        digests: day to the digest of its rows, of the days that are not settled.
        writer: of the run that wrote it.
        compared_at: id of the table's snapshot that the answer was compared with; None where it had none.
        schema_id: of the table then; None where a position has none, which is of an older version.
    """

    source: str
    first: str = ""
    until: str = ""
    settled: str = ""
    settled_days: int = 0
    digests: Mapping[str, str] = field(default_factory=dict)
    writer: str = ""
    compared_at: int | None = None
    schema_id: int | None = None


def ref(source: str) -> str:
    """Return what the names of a source's tags and branches begin with."""
    return f"{PREFIX}{hashlib.sha256(source.encode()).hexdigest()[:16]}_"


def summary(
    position: Position, changes: Mapping[str, Any], flags: Mapping[str, str], attempt: str
) -> dict[str, str]:
    """Return what a snapshot's summary says of a pull."""
    entries = {
        POSITION: json.dumps(asdict(position), sort_keys=True),
        CHANGES: json.dumps(changes, sort_keys=True),
        ATTEMPT: attempt,
    }
    return entries | ({FLAGS: json.dumps(dict(flags), sort_keys=True)} if flags else {})


def parse(snapshot: Java) -> Position | None:
    """Return the position that a snapshot's summary has; None where it has none."""
    text = (snapshot.summary() or {}).get(POSITION)
    return Position(**json.loads(text)) if text else None


def last_over(moment: datetime) -> date:
    """Return the last day that is over in every time zone by which a source may count, -12:00 the last."""
    return (moment.astimezone(UTC) - timedelta(hours=12)).date() - timedelta(1)


def find(spark: SparkSession, loaded: Java, table: str, source: str) -> tuple[Position | None, Java]:
    """Return the position of a table and its snapshot; (None, None) where it was not pulled, or was rolled back.

    Raises:
        AnotherWriter: the table is pulled from another source, whose rows would be replaced.
    """
    tags = publication.positions.tags(loaded, PREFIX)
    # of a pull's own tags there is one; somebody else's may begin like it, and keep an older position
    tagged = [
        snapshot_id
        for name, snapshot_id in tags.items()
        if TAG.fullmatch(name) and name.endswith(f"_{snapshot_id}")
    ]
    position, snapshot = publication.positions.newest(spark, loaded, parse, tagged=tagged)
    if position is not None and position.source != source:
        raise AnotherWriter(
            f"{table} is pulled from {position.source}, and {source} would replace its rows: pull each source "
            "into a table of its own"
        )
    return (position and _by_then(position, snapshot)), snapshot


def _by_then(position: Position, snapshot: Java) -> Position:
    """Return a position in which no day is settled before it was over, and for as long as its figures may change.

    Versions until 0.2 settled all days up to one that had not been yet, where a pull had asked for it.
    """
    latest = (last_over(moments.utc(snapshot.timestampMillis())) - timedelta(position.settled_days)).isoformat()
    return replace(position, settled=min(position.settled, latest))


def digests(spark: SparkSession, loaded: Java, position: Position | None, snapshot: Java) -> Mapping[str, str]:
    """Return the digests of a position that are those of the table's rows still.

    There are none where others wrote since the rows were compared, where a column is another one (one that was
    dropped and added again has its name and no values), and where the history in between is gone.

    Args:
        spark: session.
        loaded: Iceberg's own table object.
        position: of the table.
        snapshot: of the position.
    """
    if position is None or position.schema_id != loaded.schema().schemaId():
        return {}
    for passed in publication.positions.line(spark, loaded, commits.head(loaded)):
        if passed.snapshotId() == position.compared_at:
            return position.digests
        if passed.snapshotId() != snapshot.snapshotId() and not _keeps_rows(passed):
            return {}
        if passed.parentId() is None and position.compared_at is None:
            return position.digests
    return {}


def _keeps_rows(snapshot: Java) -> bool:
    """Return whether a snapshot has the rows of its parent: files were rewritten, or none came or went."""
    summary = snapshot.summary() or {}
    if snapshot.operation() == "replace":
        return True
    # a summary need not say how many files came; one that has the total does
    return summary.get("total-data-files") is not None and not any(int(summary.get(name) or 0) for name in _FILES)
