"""How far a moved table is: the version of its source that its head was made from."""

from dataclasses import dataclass

from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.formats import iceberg
from workbench.tables import commits


@dataclass(frozen=True)
class Position:
    """Where a moved table is.

    Attributes:
        source: URI of the source's folder.
        version: of the source, the last that the table was made equal to.
        snapshot_id: of that commit.
        head: the table's newest snapshot; another one where others wrote to the table since.
        digest: of the source's schema at the move.
    """

    source: str
    version: int
    snapshot_id: int
    head: int
    digest: str


def of(spark: SparkSession, table: str, loaded: Java) -> Position:
    """Return the position of a loaded table.

    Raises:
        ValueError: it was not moved, was taken over, or the snapshots of its moves are gone.
    """
    properties = loaded.properties()
    source = properties.get(iceberg.SOURCE)
    if source is None:
        former = properties.get(iceberg.FROM)
        why = f"it was taken over from {former}" if former else "it was not made by formats.move"
        raise ArgumentError(f"{table} follows no source: {why}")
    known = {snapshot["snapshot-id"]: snapshot for snapshot in commits.snapshots_of(spark, loaded)}
    head = commits.tip(loaded)
    at: int | None = head
    while at is not None and at in known:
        summary = known[at]["summary"]
        if iceberg.VERSION in summary:
            return Position(source, int(summary[iceberg.VERSION]), at, head, properties.get(iceberg.SCHEMA) or "")
        at = known[at].get("parent-snapshot-id")
    raise ArgumentError(
        f"{table} has no snapshot that says which version of {source} it is: they were expired. Move it anew"
    )
