"""Rows written once an id: the ids stand in the summary of the snapshot that brought the rows.

They are looked up before each try, and a try is bound to the snapshot that was looked at, so that nothing can come
between look and commit. A process that dies behind its commit, an answer that is lost, a message that comes to two
at once: the rows are there once.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.light import slices, writing
from workbench.light.typing import ArrowTable, Catalog, IcebergTable, Rows

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot

KEY = "workbench.light.ids"  # stored in users' tables
LONGEST = 200  # characters of an id
MOST = 10_000  # ids of one append: as many as a batch of SQS holds
SKEW = timedelta(minutes=5)  # between the clock of whoever sent a message and that of whoever commits


class IdsExpired(ArgumentError):
    """The snapshot that would tell whether an id was written may have been expired."""


@dataclass(frozen=True)
class Append:
    """What an append did.

    Attributes:
        rows: how many rows it wrote.
        repeated: ids whose rows were there already, sorted.
        snapshot_id: of its commit; None where nothing was left to write.
        tries: how often it was begun.
    """

    rows: int
    repeated: tuple[str, ...]
    snapshot_id: int | None
    tries: int


@checked
def append(
    catalog: Catalog,
    table: str,
    rows: Rows,
    *,
    ids: str | Sequence[str] | None = None,
    since: datetime | None = None,
    id_column: str | None = None,
    tries: Annotated[int, Ge(1)] = writing.TRIES,
) -> Append:
    """Append rows to a table; rows of an id are written once, however often it is called and whoever else writes.

    Files are written once, split by the table's partitions and sorted by its order; a refused commit is repeated
    with the same files. An id lives as long as its snapshot: where the table's older snapshots were expired, an id
    that may be as old is refused, or looked up in a column.

    Args:
        catalog: as of `query`.
        table: `namespace.name`.
        rows: pyarrow.Table, or a list of dicts whose keys are columns.
        ids: one for all rows, or one for each; left out, the rows are new and only this call repeats itself.
        since: the earliest moment at which rows of these ids can have been written, as that at which the oldest of
            the messages was sent; needed where older snapshots were expired.
        id_column: column that holds the ids: what the snapshots do not know is looked up in it.
        tries: how often the commit is begun at most.

    Returns:
        Append.

    Raises:
        IdsExpired: older snapshots were expired, and an id may have been in one of them.
        ValueError: an argument is wrong, the rows do not fit the table, there is no such table, or PyIceberg does
            not write such a table as its metadata ask for.
        WorkbenchError: the catalog or the storage went away meanwhile; the rows may be there or not.
        pyiceberg.exceptions.CommitFailedException: others committed first in every try; nothing was written.
    """
    loaded = writing.load(catalog, table)
    arrow = slices.fit(loaded, rows)
    _check_column(loaded, table, id_column)
    again = "append them again with the same ids" if ids is not None else "look for them, for they have no ids"
    if ids is None:
        ids, since, id_column = uuid.uuid4().hex, datetime.max.replace(tzinfo=UTC), None
    of_rows = _ids(ids, len(arrow))
    if since is not None and since.tzinfo is None:
        raise ArgumentError(f"since must be a datetime with its time zone, found {since!r}")
    with writing.ended(table, again):
        return _committed(loaded, arrow, of_rows, since, id_column, tries)


def _committed(
    loaded: IcebergTable,
    arrow: ArrowTable,
    of_rows: list[str],
    since: datetime | None,
    id_column: str | None,
    tries: int,
) -> Append:
    """Append rows whose ids are not in a table, tried again from its newest state."""
    from pyiceberg.exceptions import CommitFailedException

    prepared = writing.Prepared()
    begun: dict[int, Append] = {}  # by the id of its snapshot
    try:
        for attempt in writing.attempts(tries):
            with attempt:
                number = attempt.retry_state.attempt_number
                loaded.refresh()
                if arrived := _arrived(loaded, begun):
                    return replace(arrived, tries=number)
                present = _present(loaded, set(of_rows), since, id_column)
                new = _without(arrow, of_rows, present)
                if not len(new):
                    prepared.discard()
                    return Append(0, tuple(sorted(present)), None, number)
                files = prepared.files(loaded, new, frozenset(present))
                change = writing.begin(loaded, files, {KEY: json.dumps(sorted(set(of_rows) - present))})
                begun[change.snapshot_id] = Append(len(new), tuple(sorted(present)), change.snapshot_id, number)
                change.commit()
                return begun[change.snapshot_id]
    except CommitFailedException:
        loaded.refresh()
        if arrived := _arrived(loaded, begun):  # an earlier try, whose answer was lost
            return replace(arrived, tries=tries)
        prepared.discard()
        raise
    raise AssertionError("attempts end by a return or an error")


def _arrived(loaded: IcebergTable, begun: Mapping[int, Append]) -> Append | None:
    """Return the append that is in the table after all, of those that were begun."""
    return next(
        (attempted for snapshot_id, attempted in begun.items() if loaded.snapshot_by_id(snapshot_id)), None
    )


def _ids(ids: str | Sequence[str], count: int) -> list[str]:
    """Return the id of each row."""
    of_rows = [ids] * count if isinstance(ids, str) else list(ids)
    if len(of_rows) != count:
        raise ArgumentError(
            f"ids are {len(of_rows)} for {count} rows; expected one for all of them or one for each"
        )
    for id in dict.fromkeys([ids] if isinstance(ids, str) else of_rows):
        checked_id(id)
    if (several := len(set(of_rows))) > MOST:
        raise ArgumentError(f"{several} ids in one append, at most {MOST} stand in a snapshot's summary")
    return of_rows


def checked_id(id: object) -> str:
    """Return an id.

    Raises:
        ValueError: it is not a text of printable characters.
    """
    if not isinstance(id, str) or not 1 <= len(id) <= LONGEST or not id.isprintable():
        raise ArgumentError(f"an id is a text of 1 to {LONGEST} printable characters, found {id!r}")
    return id


def _check_column(loaded: IcebergTable, table: str, name: str | None) -> None:
    if name is not None and name not in (names := loaded.schema().as_arrow().names):
        raise ArgumentError(f"id_column is {name!r}, which is not a column of {table}; it has {', '.join(names)}")
    if name is not None and (kind := str(loaded.schema().find_type(name))) != "string":
        raise ArgumentError(f"id_column {name} of {table} is a column of {kind}, and ids are texts")


def _without(rows: ArrowTable, ids: Sequence[str], present: AbstractSet[str]) -> ArrowTable:
    import pyarrow as pa

    return rows.filter(pa.array([id not in present for id in ids], pa.bool_())) if present else rows


def _present(loaded: IcebergTable, ids: set[str], since: datetime | None, id_column: str | None) -> set[str]:
    """Return those of some ids whose rows are in the table, by the snapshots that lead to its current one."""
    present, snapshot = set(), loaded.current_snapshot()
    while snapshot is not None:
        present |= ids.intersection(json.loads(_summary(snapshot).get(KEY, "[]")))
        if present == ids or _first(snapshot):
            return present
        oldest, snapshot = snapshot, loaded.snapshot_by_id(snapshot.parent_snapshot_id or 0)
    if loaded.current_snapshot() is None:
        return present
    known_from = datetime.fromtimestamp(oldest.timestamp_ms / 1000, UTC)
    if since is not None and since - SKEW > known_from:
        return present
    if id_column is None:
        raise IdsExpired(
            f"the snapshots of {'.'.join(loaded.name())} before {known_from.isoformat()} were expired, and "
            f"{sorted(ids - present)[0]!r} may have been written by one of them: say since= when these ids were "
            "new, at least five minutes later, or id_column= of the table"
        )
    return present | _in_column(loaded, id_column, ids - present)


def _first(snapshot: "Snapshot") -> bool:
    """Say whether nothing was written before a snapshot; one whose parent PyIceberg expired has no parent, too.

    Its figures do not tell: all rows of a table are new in the second half of an overwrite, too. Version 1 of the
    format does not number commits, so that there nobody knows.
    """
    return snapshot.parent_snapshot_id is None and snapshot.sequence_number == 1


def _summary(snapshot: "Snapshot") -> Mapping[str, str]:
    """Return a snapshot's summary with its operation; version 1 of the format does without."""
    summary = snapshot.summary
    return {} if summary is None else {"operation": summary.operation.value} | summary.additional_properties


def _in_column(loaded: IcebergTable, column: str, ids: set[str]) -> set[str]:
    from pyiceberg.expressions import In

    condition = In(column, ids)  # type: ignore[call-arg, arg-type]  # mypy sees pydantic's __init__, not its own
    return set(loaded.scan(row_filter=condition, selected_fields=(column,)).to_arrow()[column].to_pylist())
