"""The cells that a click in the panel writes: a query of one snapshot, or two snapshots compared."""

from collections.abc import Mapping

from workbench._base import identifiers, moments
from workbench._base.errors import ArgumentError
from workbench.tables import browse

At = int | str | None
ROWS = 20


def setup(environment: str) -> str:
    """Return the cell that SQL cells need before them: a session of the environment, and the magic."""
    return f"from workbench import session, sql\n\nspark = session.start({environment!r})\nsql.cells(spark)"


def query(catalog: Mapping[str, str], environment: str, table: str, at: At = None) -> str:
    """Return a SQL cell that shows rows of a table at one snapshot.

    Args:
        catalog: properties of the environment's catalog.
        environment: its name.
        table: `namespace.name`.
        at: a snapshot's id, a branch, a tag or a time; None for the current one. The cell has the id, so that it
            says the same tomorrow, and is refused for another table of the same name.

    Raises:
        ValueError: there is no such table or version, or it has no snapshot yet.
    """
    snapshot = _snapshot(catalog, table, at)
    name = identifiers.shown(table)
    return (
        f"%%sql --limit {ROWS}\n"
        f"{_comment(name, environment)}: snapshot {snapshot.n} of {moments.written(snapshot.committed)} UTC\n"
        f"SELECT *\nFROM {name} VERSION AS OF {snapshot.snapshot_id}"
    )


def comparison(catalog: Mapping[str, str], environment: str, table: str, before: At, after: At = None) -> str:
    """Return a SQL cell that shows the rows which one snapshot has and another has not, both ways.

    Columns are matched by their ids, so that a renamed one is the same; those that Spark cannot compare, or that
    one of the two lacks, are left out and named in the cell.

    Args:
        catalog: as of `query`.
        environment: as of `query`.
        table: as of `query`.
        before: as `at` of `query`.
        after: as `before`.

    Raises:
        ValueError: as `query`, or the two are one, or they have no column in common.
    """
    old, new = _snapshot(catalog, table, before), _snapshot(catalog, table, after)
    name = identifiers.shown(table)
    if old.snapshot_id == new.snapshot_id:
        raise ArgumentError(f"both versions of {name} are snapshot {old.n}: choose two")
    schemas = {schema.id: schema for schema in browse.schemas(catalog, table)}
    current = next(schema.id for schema in schemas.values() if schema.current)
    columns = [
        {
            column.id: column
            for column in schemas[current if each.schema_id not in schemas else each.schema_id].columns
        }
        for each in (old, new)
    ]
    both = [column for id, column in columns[1].items() if id in columns[0]]
    compared = [column for column in both if "map<" not in column.type]
    if not compared:
        raise ArgumentError(f"snapshots {old.n} and {new.n} of {name} have no column that can be compared")
    ids = {column.id for column in compared}
    not_compared = sorted({column.name for each in columns for column in each.values() if column.id not in ids})
    selections = [
        "SELECT "
        + ", ".join(_as(columns[n][column.id].name, column.name) for column in compared)
        + f" FROM {name} VERSION AS OF {each.snapshot_id}"
        for n, each in enumerate((old, new))
    ]
    notes = [
        f"{_comment(name, environment)}: what snapshot {new.n} has and {old.n} has not, and the other way",
        "-- it reads both whole; where rows have a key, tables.changes.between(spark, …, key=…) reads less",
        *([f"-- not compared: {', '.join(map(_bare, not_compared))}"] if not_compared else []),
    ]
    return "\n".join(
        [
            f"%%sql --limit {ROWS}",
            *notes,
            "SELECT 'added' AS change, * FROM (",
            f"  {selections[1]}\n  EXCEPT ALL\n  {selections[0]})",
            "UNION ALL",
            "SELECT 'removed' AS change, * FROM (",
            f"  {selections[0]}\n  EXCEPT ALL\n  {selections[1]})",
        ]
    )


def _snapshot(catalog: Mapping[str, str], table: str, at: At) -> browse.Snapshot:
    listed = browse.snapshots(catalog, table)
    if not isinstance(at, int):
        opened = browse.head(catalog, table)
        id = opened.current.snapshot_id if at is None and opened.current else None
        id = next((ref.snapshot_id for ref in opened.refs if ref.name == at), id)
    else:
        id = at
    if id is None:
        raise ArgumentError(
            f"{table} has no snapshot yet" if at is None else f"{table} has no branch or tag {at!r}"
        )
    for snapshot in listed:
        if snapshot.snapshot_id == id:
            return snapshot
    raise ArgumentError(f"{table} has no snapshot {id}: it never had, or it was expired")


def _as(old: str, new: str) -> str:
    return identifiers.column(new) if old == new else f"{identifiers.column(old)} AS {identifiers.column(new)}"


def _comment(name: str, environment: str) -> str:
    return f"-- {_bare(name)} of environment {_bare(environment)}"


def _bare(text: str) -> str:
    """Return a text as a comment bears it: on one line, without what would end or continue it."""
    return "".join(sign if sign.isprintable() else "?" for sign in text).replace("\\", "?")
