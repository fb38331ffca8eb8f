"""How far a target has followed its source: in the target's own snapshots, by the commit that brought the rows."""

import hashlib
import json
import re
from dataclasses import dataclass

from workbench.tables import commits
from workbench.tables.changes import ranges

PREFIX = "history."
REF = "history_"
BRANCH = re.compile(r"history_[0-9a-f]{32}")
_FOR_EVER = 2**63 - 1


class OtherSource(ValueError):
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

    def properties(self):
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


def read(name, table):
    """Return the position of main's newest snapshot that has one, and that snapshot's id; (None, None) if none.

    Maintenance writes snapshots without positions and may expire those with one; then the tag that `keep` set is
    still there.

    Raises:
        ValueError: the table holds rows but no position: they were not written by `build`.
    """
    line, whole = ranges.ancestry(table)
    for snapshot in reversed(line):
        if (found := _parse(snapshot)) is not None:
            return found, snapshot.snapshotId()
    if not whole:
        tagged = [table.snapshot(snapshot) for _, snapshot in _refs(table, REF, "TAG")]
        known = [one for one in tagged if _parse(one) and one.sequenceNumber() <= line[-1].sequenceNumber()]
        if known:
            newest = max(known, key=lambda one: one.sequenceNumber())
            return _parse(newest), newest.snapshotId()
    if line and line[-1].summary().get("total-records") != "0":
        raise ValueError(
            f"{name} holds rows, but none of its snapshots says from which source they were built: give the name "
            "of a table that is empty or not there"
        )
    return None, None


def same(spark, position, source, table, key):
    """Refuse to go on from a position with another source, another key or columns that are gone.

    Args:
        spark: the session.
        position: where the target is.
        source: name of the source.
        table: Java handle of the source.
        key: the columns that name a row.

    Raises:
        OtherSource: the source is another table.
        ValueError: the rest.
    """
    if position.uuid != table.uuid().toString():
        raise OtherSource(
            f"the target was built from {position.source} (table {position.uuid}); {source} is table "
            f"{table.uuid().toString()}: another, or made anew"
        )
    if position.key != tuple(key):
        raise ValueError(f"the target was built with the key {', '.join(position.key)}, not {', '.join(key)}")
    now = {number: name for name, number in fields(spark, table).items()}
    for name, number in position.columns.items():
        if number not in now:
            raise ValueError(f"column {name} was dropped from {source}: its history would end without a reason")
        if now[number] != name:
            raise ValueError(
                f"column {name} of {source} is now called {now[number]}: rename it in the target and build it anew"
            )


def columns(table):
    """Return a table's top-level columns, name to field id."""
    fields = table.schema().columns()
    return {fields.get(n).name(): fields.get(n).fieldId() for n in range(fields.size())}


def fields(spark, table):
    """Return all fields of a table, nested ones too: full name (`address.street`, `tags.element`) to field id."""
    found = spark._jvm.org.apache.iceberg.types.TypeUtil.indexNameById(table.schema().asStruct())
    return {name: number for number, name in found.items()}


def owned(prefix, owner):
    """Return the prefix of tags that are one target's, so that several can follow one source."""
    return f"{prefix}{hashlib.sha256(owner.encode()).hexdigest()[:8]}_"


def keep(spark, name, snapshot, *, prefix=REF, alone=False):
    """Keep a snapshot from expiry by a tag, in one commit.

    Args:
        spark: the session.
        name: of the table.
        snapshot: id to keep.
        prefix: of the tag's name; the snapshot's id follows.
        alone: drop the other tags of builds with this prefix, and branches of builds that did not publish.
    """
    tag = f"{prefix}{snapshot}"

    def commit():
        table = commits.load(spark, name)
        manager, before = table.manageSnapshots(), dict(_refs(table, prefix, "TAG"))
        # whatever else has such a name is the user's own
        stale = [ref for ref, at in before.items() if ref != tag and ref == f"{prefix}{at}"] if alone else []
        branches = [ref for ref, _ in _refs(table, prefix, "BRANCH") if alone and BRANCH.fullmatch(ref)]
        if tag not in before:
            manager = manager.createTag(tag, snapshot).setMaxRefAgeMs(tag, _FOR_EVER)
        for ref in stale:
            manager = manager.removeTag(ref)
        for ref in branches:
            manager = manager.removeBranch(ref)
        if stale or branches or tag not in before:
            manager.commit()

    def landed():
        return tag if tag in dict(_refs(commits.load(spark, name), prefix, "TAG")) else None

    commits.attempt(commit, landed=landed, conditional=True)


def _refs(table, prefix, kind):
    refs = table.refs()
    return [
        (ref, refs[ref].snapshotId())
        for ref in list(refs)
        if ref.startswith(prefix) and refs[ref].type().name() == kind
    ]


def _parse(snapshot):
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
