"""How far a target has followed its source: in the summary of the target's snapshot that brought the rows."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables import commits, publication
from workbench.tables.changes import ranges

PREFIX = "history."
REF = "history_"
BRANCH = re.compile(r"history_[0-9a-f]{32}")


class OtherSource(ArgumentError):
    """The target was built from another source; the message names both."""


@dataclass(frozen=True)
class Position:
    """The last source snapshot that a target holds, and what must be the same the next time.

    Attributes:
        source: the source's name when it was read.
        uuid: the source table's own id, which a table made again under the same name does not have.
        snapshot: id of the source snapshot.
        commits: how many commits of the source are in the history: the next one's ordinal.
        millis: time of the last of them as the history has it, milliseconds since 1970 UTC.
        key: the columns that name a row.
        columns: the source's columns, nested fields too, full name to Iceberg field id.
    """

    source: str
    uuid: str
    snapshot: int
    commits: int
    millis: int
    key: tuple[str, ...]
    columns: dict[str, int]

    def properties(self) -> dict[str, str]:
        """Return the position as properties of a snapshot's summary."""
        return {
            f"{PREFIX}source": self.source,
            f"{PREFIX}source-uuid": self.uuid,
            f"{PREFIX}source-snapshot": str(self.snapshot),
            f"{PREFIX}commits": str(self.commits),
            f"{PREFIX}millis": str(self.millis),
            f"{PREFIX}key": json.dumps(self.key),
            f"{PREFIX}columns": json.dumps(self.columns),
        }


def read(spark: SparkSession, name: str, table: Java) -> tuple[Position | None, int | None]:
    """Return the newest position in main's history, and the id of its snapshot; (None, None) where there is none.

    Maintenance writes snapshots without positions and may expire those with one: then older metadata files
    have it, or the tag that `keep` set. The id is None where the snapshot itself is gone.

    Raises:
        ValueError: the table holds rows but no position: they were not written by `build`.
    """
    position, snapshot = publication.positions.newest(spark, table, _parse)
    if position is not None:
        kept = table.snapshot(snapshot.snapshotId()) is not None
        return position, snapshot.snapshotId() if kept else None
    line, whole = ranges.ancestry(table)
    if not whole:
        tagged = [table.snapshot(kept) for kept in publication.positions.tags(table, REF).values()]
        known = [tag for tag in tagged if _parse(tag) and tag.sequenceNumber() <= line[-1].sequenceNumber()]
        if known:
            newest = max(known, key=lambda tag: tag.sequenceNumber())
            return _parse(newest), newest.snapshotId()
    if line and line[-1].summary().get("total-records") != "0":
        raise ArgumentError(
            f"{name} holds rows, but none of its snapshots says from which source they were built; name an empty "
            "table or one that does not exist"
        )
    return None, None


def same(spark: SparkSession, position: Position, source: str, table: Java, key: Sequence[str]) -> None:
    """Refuse to continue from a position with another source, another key or columns that no longer exist.

    Args:
        spark: the session.
        position: where the target is.
        source: name of the source.
        table: Java handle of the source.
        key: the columns that name a row.

    Raises:
        OtherSource: the source is another table.
        ValueError: the key is another one, or a column was dropped or renamed.
    """
    if position.uuid != table.uuid().toString():
        raise OtherSource(
            f"the target was built from {position.source} (table {position.uuid}); {source} is now table "
            f"{table.uuid().toString()}: another table, or made again"
        )
    if position.key != tuple(key):
        raise ArgumentError(f"the target was built with the key {', '.join(position.key)}, not {', '.join(key)}")
    now = {number: name for name, number in fields(spark, table).items()}
    for name, number in position.columns.items():
        if number not in now:
            raise ArgumentError(f"column {name} was dropped from {source}: its history would end without a reason")
        if now[number] != name:
            raise ArgumentError(
                f"column {name} of {source} is now called {now[number]}: rename it in the target and build it anew"
            )


def columns(table: Java) -> dict[str, int]:
    """Return a table's top-level columns, name to field id."""
    fields = table.schema().columns()
    return {fields.get(n).name(): fields.get(n).fieldId() for n in range(fields.size())}


def fields(spark: SparkSession, table: Java) -> dict[str, int]:
    """Return all fields of a table, nested ones too: full name (`address.street`, `tags.element`) to field id."""
    names = jvm(spark).org.apache.iceberg.types.TypeUtil.indexNameById(table.schema().asStruct())
    return {name: number for number, name in names.items()}


def owned(prefix: str, owner: str) -> str:
    """Return the prefix of tags that are one target's, so that several can follow one source."""
    return f"{prefix}{hashlib.sha256(owner.encode()).hexdigest()[:8]}_"


def keep(
    spark: SparkSession, name: str, snapshot: int, *, prefix: str = REF, alone: bool = False, known: bool = False
) -> None:
    """Keep a snapshot from expiry by a tag, in one commit.

    Args:
        spark: the session.
        name: of the table.
        snapshot: id to keep.
        prefix: of the tag's name; the snapshot's id follows.
        alone: drop the other tags of builds with this prefix, and branches of builds that did not publish.
        known: whether the caller has looked at the table just now.
    """

    def decide(at: Java) -> commits.Refs | None:
        refs = tagged(at, snapshot, prefix=prefix, alone=alone)
        return refs if refs.tags or refs.removed else None

    def landed() -> int | None:
        tags = publication.positions.tags(commits.load(spark, name), prefix)
        return snapshot if f"{prefix}{snapshot}" in tags else None

    commits.change(spark, name, decide, landed=landed, known=known)


def tagged(loaded: Java, snapshot: int, *, prefix: str = REF, alone: bool = True) -> commits.Refs:
    """Return the change of refs that `keep` commits."""
    tag, tags = f"{prefix}{snapshot}", publication.positions.tags(loaded, prefix)
    # whatever else has such a name is the user's own
    stale = [name for name, at in tags.items() if name != tag and name == f"{prefix}{at}"] if alone else []
    unpublished = [
        name for name in publication.positions.branches(loaded, prefix) if alone and BRANCH.fullmatch(name)
    ]
    return commits.Refs(tags={} if tag in tags else {tag: snapshot}, removed=(*stale, *unpublished))


def _parse(snapshot: Java) -> Position | None:
    summary = snapshot.summary()
    if summary.get(f"{PREFIX}source-snapshot") is None:
        return None
    get = {
        name: summary.get(PREFIX + name)
        for name in ("source", "source-uuid", "commits", "millis", "key", "columns")
    }
    return Position(
        get["source"],
        get["source-uuid"],
        int(summary.get(f"{PREFIX}source-snapshot")),
        int(get["commits"]),
        int(get["millis"]),
        tuple(json.loads(get["key"])),
        json.loads(get["columns"]),
    )
