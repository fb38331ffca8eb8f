"""What the functions of this package return."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["delta", "hudi"]


@dataclass(frozen=True)
class Look:
    """What a table is, and what keeps it from being moved.

    Attributes:
        kind: delta or hudi.
        location: URI of its folder.
        version: the newest. Of Delta the number of the commit; of Hudi the time of the newest completed action as
            a number, yyyymmddhhmmssmmm in the timeline's zone: its completion, or in tables before version 8,
            which name no completion, its request.
        features: what its protocol lists, sorted.
        partitioned_by: names of the partition columns.
        files: live data files.
        bytes: of them.
        rows: live rows, without the deleted ones.
        deleted_rows: rows that a deletion vector or a delete file hides.
        obstacles: why `move` would refuse it, a sentence each; empty where it would not.
        notes: what is different after a move, a sentence each.
    """

    kind: Kind
    location: str
    version: int
    features: tuple[str, ...]
    partitioned_by: tuple[str, ...]
    files: int
    bytes: int
    rows: int
    deleted_rows: int
    obstacles: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Move:
    """A table that was made of another one's files.

    Attributes:
        table: its name.
        source: URI of the other one's folder.
        version: of the source, that the table is equal to.
        snapshot_id: of the one commit.
        files: data files that it names; none was written.
        deletion_vectors: that were copied into Iceberg's own files.
        rows: live rows.
        notes: what is different from the source, a sentence each.
    """

    table: str
    source: str
    version: int
    snapshot_id: int
    files: int
    deletion_vectors: int
    rows: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Follow:
    """A moved table brought to a later version of its source.

    Attributes:
        table: its name.
        before: version of the source that it was equal to.
        version: version that it is equal to now.
        snapshot_id: of the commit; None where there was nothing to do.
        added_files: data files that came.
        removed_files: data files that went.
        changed_vectors: files that stayed and whose deleted rows changed.
    """

    table: str
    before: int
    version: int
    snapshot_id: int | None
    added_files: int
    removed_files: int
    changed_vectors: int


@dataclass(frozen=True)
class Verification:
    """A moved table compared with its source.

    Attributes:
        equal: whether both have the same rows, each as often, and the same columns.
        version: of the source.
        reader: what read the source: deltalake, duckdb or hudi.
        rows: of the table.
        source_rows: of the source.
        columns: names of columns whose values differ, each for itself; empty where their combination does, and
            where one side has more rows.
        newest: the source's newest version; another one than `version` where the source is ahead.
        written: the operation of the table's newest snapshot where somebody else wrote it since the last follow,
            such as `delete`; None where nobody did.
    """

    equal: bool
    version: int
    reader: str
    rows: int
    source_rows: int
    columns: tuple[str, ...]
    newest: int
    written: str | None


@dataclass(frozen=True)
class TakeOver:
    """A moved table that is nobody else's any more.

    Attributes:
        table: its name.
        source: URI of the folder that it came from.
        version: the last version of the source that it took.
        files: whether they were `copied` into the table's own folder or `adopted` where they lie.
        copied_files: data files.
        copied_bytes: of them.
        verification: the comparison before.
    """

    table: str
    source: str
    version: int
    files: Literal["copied", "adopted"]
    copied_files: int
    copied_bytes: int
    verification: Verification
