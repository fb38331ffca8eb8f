"""How far a table is pulled: in the summary of the snapshot that brought the last change, held by a tag."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from workbench._base.errors import WorkbenchError
from workbench._base.typing import Java, SparkSession
from workbench.tables import publication

POSITION = "pulls.position"
CHANGES = "pulls.changes"
FLAGS = "pulls.flags"
ATTEMPT = "pulls.attempt"
PREFIX = "pulls_"


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
    """

    source: str
    first: str = ""
    until: str = ""
    settled: str = ""
    settled_days: int = 0
    digests: Mapping[str, str] = field(default_factory=dict)
    writer: str = ""


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


def find(spark: SparkSession, loaded: Java, table: str, source: str) -> Position | None:
    """Return the position of a table; None where it was not pulled, or was rolled back behind its first pull.

    Raises:
        AnotherWriter: the table is pulled from another source, whose rows would be replaced.
    """
    tagged = publication.positions.tags(loaded, PREFIX)
    position, _ = publication.positions.newest(spark, loaded, parse, tagged=tagged.values())
    if position is not None and position.source != source:
        raise AnotherWriter(
            f"{table} is pulled from {position.source}, and {source} would replace its rows: pull each source "
            "into a table of its own"
        )
    return position
