"""The cells that a click in the panel writes: a query of one version or a view, or two snapshots compared."""

import re
from collections.abc import Mapping
from typing import Any

from workbench._base import identifiers, moments
from workbench._base.errors import ArgumentError
from workbench.tables import browse
from workbench.tables.browse import opening

At = int | str | None
ROWS = 20
_AN_ID = re.compile(r"[+-]?\d+")  # what VERSION AS OF takes for a snapshot's id, also between quotes


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


def query_ref(catalog: Mapping[str, str], environment: str, table: str, ref: str) -> str:
    """Return a SQL cell that shows rows of a branch or tag by its name, so that it follows where that points.

    A tag whose name is digits is queried by the id of its snapshot.

    Args:
        catalog: as of `query`.
        environment: as of `query`.
        table: as of `query`.
        ref: the name of a branch or tag.

    Raises:
        ValueError: there is no such table, branch or tag.
    """
    kind = next((each.kind for each in browse.head(catalog, table).refs if each.name == ref), "")
    snapshot = _snapshot(catalog, table, ref)  # which refuses what is neither
    name = identifiers.shown(table)
    if _AN_ID.fullmatch(ref) and kind == "tag":  # Iceberg reads one of such a name in no way
        return query(catalog, environment, table, snapshot.snapshot_id)
    if _AN_ID.fullmatch(ref):
        source = identifiers.on_branch(table, ref)
    else:
        source = f"{name} VERSION AS OF {identifiers.literal(ref)}"
    written = f"snapshot {snapshot.n} of {moments.written(snapshot.committed)} UTC"
    return (
        f"%%sql --limit {ROWS}\n"
        f"{_comment(name, environment)}: {kind} {_bare(ref)} as it is when the cell runs\n"
        f"-- when this was written, it was {written}\n"
        f"SELECT *\nFROM {source}"
    )


def query_view(catalog: Mapping[str, str], environment: str, view: str) -> str:
    """Return a SQL cell that shows rows of a view, which Spark computes.

    Args:
        catalog: as of `query`.
        environment: as of `query`.
        view: `namespace.name`.

    Raises:
        ValueError: there is no such view.
    """
    name = identifiers.shown(view)
    parts = identifiers.parts(view)
    loaded = opening.catalog_of(catalog)
    with opening.answered(f"view {name}"):
        views = opening.views_of(loaded, parts[:-1])
    if parts not in views:
        listed = ", ".join(sorted(map(identifiers.spelled, views))) or "none"
        raise ArgumentError(f"view {name} is not in the catalog; its namespace has the views {listed}")
    return (
        f"%%sql --limit {ROWS}\n"
        f"{_comment(name, environment)}: a view, computed from its tables as they are when the cell runs\n"
        f"SELECT *\nFROM {name}"
    )


def comparison(catalog: Mapping[str, str], environment: str, table: str, before: At, after: At = None) -> str:
    """Return a SQL cell that shows the rows which one snapshot has and another has not, both ways.

    Columns are matched by their ids, so that a renamed one is the same. Left out and named in the
    cell are those that Spark cannot compare, those that one of the two lacks, and those whose nested fields differ
    in ids, names, types or order.

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
    columns = _columns(catalog, table, old, new)
    compared = [id for id in columns[1] if id in columns[0] and _comparable(columns[0][id], columns[1][id])]
    if not compared:
        raise ArgumentError(f"snapshots {old.n} and {new.n} of {name} have no column that can be compared")
    not_compared = sorted({field.name for each in columns for id, field in each.items() if id not in compared})
    selections = [
        "SELECT "
        + ", ".join(_as(columns[n][id].name, columns[1][id].name) for id in compared)
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


def _columns(catalog: Mapping[str, str], table: str, *snapshots: browse.Snapshot) -> list[dict[int, Any]]:
    """Return the columns with which Spark reads each snapshot, as PyIceberg's fields by their ids."""
    loaded = opening.table_of(catalog, table)
    schemas, current = loaded.schemas(), loaded.schema()
    chosen = [current if each.schema_id is None else schemas.get(each.schema_id, current) for each in snapshots]
    return [{field.field_id: field for field in schema.fields} for schema in chosen]


def _comparable(old: Any, new: Any) -> bool:
    """Say whether Spark compares two columns of one id: EXCEPT goes by the place of nested fields, not by ids."""
    if _has_map(old.field_type) or _has_map(new.field_type):
        return False
    if old.field_type.is_primitive and new.field_type.is_primitive:
        return True  # a type that was widened is the same to Spark
    return bool(_kind(old.field_type) == _kind(new.field_type))


def _kind(type: Any) -> Any:
    """Return a type of PyIceberg's as it counts in a comparison: without comments and duties, at any depth."""
    if type.is_primitive:
        return str(type)
    return tuple((field.field_id, field.name, _kind(field.field_type)) for field in _nested(type))


def _nested(type: Any) -> Any:
    return type.fields if type.is_struct else (type.element_field,)


def _has_map(type: Any) -> bool:
    """Say whether there is a map in a type, which Spark does not compare."""
    if type.is_primitive:
        return False
    return hasattr(type, "key_id") or any(_has_map(field.field_type) for field in _nested(type))


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
