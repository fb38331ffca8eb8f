"""The files of a snapshot, and what differs between two snapshots, without opening a data file."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench._base.door import checked
from workbench._base.typing import Judged
from workbench.tables.browse import manifests, opening
from workbench.tables.browse.looking import Column, columns_of
from workbench.tables.browse.manifests import File
from workbench.tables.browse.opening import At, Catalog

__all__ = ["Difference", "File", "difference", "files"]


@dataclass(frozen=True)
class Difference:
    """What differs between two snapshots of a table, in files, rows and columns.

    Attributes:
        before: id of the first snapshot; None where the table had none.
        after: id of the second.
        added_files: data files that are in the second alone, sorted by path.
        removed_files: data files that are in the first alone.
        added_deletes: delete files that are in the second alone.
        removed_deletes: delete files that are in the first alone.
        added_rows: of `added_files`. A rewritten row counts as removed and as added.
        removed_rows: of `removed_files`. In both, rows that delete files delete are still counted.
        added_columns: by their ids, sorted; nested fields do not count.
        removed_columns: as the first has them.
        changed_columns: (before, after) of columns whose name, type, duty or comment changed.
        has_delete_files: whether one of the two has them; what they delete is still counted.
    """

    before: int | None
    after: int | None
    added_files: tuple[File, ...]
    removed_files: tuple[File, ...]
    added_deletes: tuple[File, ...]
    removed_deletes: tuple[File, ...]
    added_rows: int
    removed_rows: int
    added_columns: tuple[Column, ...]
    removed_columns: tuple[Column, ...]
    changed_columns: tuple[tuple[Column, Column], ...]
    has_delete_files: bool


@checked
def files(catalog: Judged[Catalog], table: str, *, at: Judged[At] = None) -> tuple[File, ...]:
    """List the files that a table consists of at one of its versions, data and deletes.

    Args:
        catalog: as of `tree`.
        table: `namespace.name`.
        at: None for the current version; a snapshot's id; a branch or tag; a time, as datetime or ISO text, for
            what was current then. A time without a zone is UTC.

    Returns:
        File, one each, sorted by path, and deletion vectors in one file by their data files.

    Raises:
        ValueError: there is no such table or version, or its catalog or storage does not answer.
    """
    loaded = opening.table_of(catalog, table)
    return _sorted(manifests.live_files(loaded, opening.snapshot_id(loaded, at)))


@checked
def difference(catalog: Judged[Catalog], table: str, before: Judged[At], after: Judged[At] = None) -> Difference:
    """Compare two versions of a table by their files and columns, without opening a data file.

    Args:
        catalog: as of `tree`.
        table: `namespace.name`.
        before: as `at` of `files`; the two may be on different branches, and in any order.
        after: as `before`; None for the current version.

    Returns:
        Difference.

    Raises:
        ValueError: as `files`.
    """
    loaded = opening.table_of(catalog, table)
    ids = opening.snapshot_id(loaded, before), opening.snapshot_id(loaded, after)
    old, new = ({(file.path, file.of): file for file in manifests.live_files(loaded, id)} for id in ids)
    added = [file for key, file in new.items() if key not in old]
    removed = [file for key, file in old.items() if key not in new]
    columns = [
        {column.id: column for column in columns_of(opening.schema_at(loaded, at))} for at in (before, after)
    ]
    (data_added, deletes_added), (data_removed, deletes_removed) = map(_parted, (added, removed))
    first, second = columns
    return Difference(
        *ids,
        data_added,
        data_removed,
        deletes_added,
        deletes_removed,
        sum(file.rows for file in data_added),
        sum(file.rows for file in data_removed),
        tuple(second[id] for id in sorted(second) if id not in first),
        tuple(first[id] for id in sorted(first) if id not in second),
        tuple((first[id], second[id]) for id in sorted(first) if id in second and first[id] != second[id]),
        any(file.content != "data" for file in (*old.values(), *new.values())),
    )


def _parted(listed: Iterable[File]) -> tuple[tuple[File, ...], tuple[File, ...]]:
    """Return data files and delete files, each sorted."""
    ordered = _sorted(listed)
    data = tuple(file for file in ordered if file.content == "data")
    return data, tuple(file for file in ordered if file.content != "data")


def _sorted(listed: Iterable[File]) -> tuple[File, ...]:
    return tuple(sorted(listed, key=lambda file: (file.path, file.of or "")))
