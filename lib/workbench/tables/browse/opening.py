"""A catalog or a table opened by PyIceberg, and the snapshot that is meant; what does not answer is a sentence."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench._base import identifiers, lake, moments, secrets
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Catalog as IcebergCatalog

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
else:
    Schema = Table = Any

Catalog: TypeAlias = IcebergCatalog | Mapping[str, Any]  # the user's own, or its properties with `name`
At: TypeAlias = int | str | datetime | None
LISTED = 20  # names in a refusal
_TABLES = "iceberg_tables"  # of a JDBC catalog
# packages by which a catalog or a storage is reached: what they raise is about these, not a defect here
REACHING = ("pyiceberg", "sqlalchemy", "requests", "urllib3", "botocore", "boto3", "pyarrow", "fsspec", "google")


def catalog_of(catalog: Catalog) -> IcebergCatalog:
    """Return PyIceberg's Catalog of some properties; a Catalog is returned as it is.

    Raises:
        ValueError: it is neither, or it cannot be opened.
    """
    if not isinstance(catalog, Mapping):
        if not hasattr(catalog, "load_table"):
            raise ArgumentError(
                f"catalog is {type(catalog).__name__}, expected PyIceberg's Catalog or a dict of its properties"
            )
        return catalog
    from pyiceberg.catalog import load_catalog

    properties = {key: str(value) for key, value in catalog.items() if key != "name" and value is not None}
    _refuse_no_file(catalog.get("name") or "default", properties.get("uri", ""))
    with answered(f"the catalog {catalog.get('name') or 'default'}"):
        return load_catalog(catalog.get("name"), **properties)


def _refuse_no_file(name: str, uri: str) -> None:
    """Refuse a SQLite file that is not there: PyIceberg would make it, and show a lake without tables."""
    if uri.partition(":")[0].partition("+")[0] != "sqlite" or ":///" not in uri:
        return
    path = lake.sqlite_file(uri)
    elsewhere = str(path) in (".", ":memory:") or str(path).startswith("file:")  # memory, SQLite's own
    if not elsewhere and not path.exists():
        raise ArgumentError(f"the catalog {name} cannot be looked at: there is no file {path}")


@contextmanager
def answered(what: str) -> Iterator[None]:
    """Turn what a catalog or a storage raises instead of answering into a sentence."""
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as error:
        if not isinstance(error, OSError) and not _reaching(error):
            raise
        first = next(iter(str(error).strip().splitlines()), "")
        reason = secrets.redact(f"{type(error).__name__}: {first}" if first else type(error).__name__)
        raise ArgumentError(f"{what} cannot be looked at: {reason}") from error


def _reaching(error: Exception) -> bool:
    return any(kind.__module__.partition(".")[0] in REACHING for kind in type(error).__mro__)


def table_of(catalog: Catalog, name: str) -> Table:
    """Load a table, as its catalog has it now.

    Args:
        catalog: as of `catalog_of`.
        name: `namespace.name`; the catalog's own name may stand in front.

    Raises:
        ValueError: there is no such table, the message lists those of its namespace; it is a view; or it cannot be
            looked at.
    """
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, ValidationError

    loaded, parts = catalog_of(catalog), identifiers.parts(name)
    if len(parts) > 2 and parts[0] == loaded.name:
        parts = parts[1:]
    with answered(f"table {identifiers.spelled(parts)}"):
        try:
            return loaded.load_table(parts)
        except (NoSuchTableError, NoSuchNamespaceError):
            raise ArgumentError(_missing(loaded, parts)) from None
        except ValidationError as error:
            raise ArgumentError(
                f"table {identifiers.spelled(parts)} has metadata that PyIceberg does not read: "
                f"{_first_of(error)}; ask Spark"
            ) from None


def _first_of(error: Exception) -> str:
    """Return what pydantic says first of metadata, without where in them."""
    import pydantic

    cause = error.__cause__
    if not isinstance(cause, pydantic.ValidationError):
        return str(error).strip().splitlines()[0]
    return str(cause.errors(include_url=False)[0]["msg"])


def views_of(catalog: IcebergCatalog, parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the views of a namespace, as far as the catalog lists them."""
    try:
        return [tuple(view) for view in catalog.list_views(parts)]
    except NotImplementedError:
        return _views_of_sql(catalog, parts)


def _views_of_sql(catalog: IcebergCatalog, parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the views that Iceberg's own JDBC catalog keeps beside its tables; PyIceberg passes over them."""
    from pyiceberg.catalog.sql import SqlCatalog

    if not isinstance(catalog, SqlCatalog):
        return []
    import sqlalchemy

    if all(column["name"] != "iceberg_type" for column in sqlalchemy.inspect(catalog.engine).get_columns(_TABLES)):
        return []
    statement = sqlalchemy.text(
        f"SELECT table_name FROM {_TABLES} WHERE catalog_name = :catalog AND table_namespace = :namespace "
        "AND iceberg_type = 'VIEW'"
    )
    with catalog.engine.connect() as connection:
        rows = connection.execute(statement, {"catalog": catalog.name, "namespace": ".".join(parts)}).fetchall()
    return [(*parts, row[0]) for row in rows]


def _missing(catalog: IcebergCatalog, parts: tuple[str, ...]) -> str:
    from pyiceberg.exceptions import NoSuchNamespaceError

    try:
        if parts in views_of(catalog, parts[:-1]):
            return f"{identifiers.spelled(parts)} is a view, which Spark computes: expected a table"
        names = sorted(identifiers.spelled(tuple(table)) for table in catalog.list_tables(parts[:-1]))
    except NoSuchNamespaceError:
        names = []
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    listed = f"there are {', '.join(names[:LISTED])}{more}" if names else "the catalog lists no table there"
    return f"table {identifiers.spelled(parts)} is not in the catalog; {listed}"


def name_of(table: Table) -> str:
    """Return a table's name as people write it."""
    return identifiers.spelled(tuple(table.name()))


def snapshot_id(table: Table, at: At) -> int | None:
    """Return the id of the snapshot that is meant; None for a table that has none yet.

    Args:
        table: PyIceberg's.
        at: None for the current one; an id; the name of a branch or tag; a time, as datetime or ISO text, for the
            snapshot that was current then. A time without a zone is UTC.

    Raises:
        ValueError: there is none.
    """
    known = {snapshot.snapshot_id for snapshot in table.metadata.snapshots}
    if at is None:
        return table.metadata.current_snapshot_id if table.metadata.current_snapshot_id in known else None
    if isinstance(at, int) and not isinstance(at, bool):
        if at not in known:
            raise ArgumentError(
                f"{name_of(table)} has no snapshot {at}: it never had, or it was expired; {_span(table)}"
            )
        return at
    if isinstance(at, str) and at in table.metadata.refs:
        return table.metadata.refs[at].snapshot_id
    if (moment := moments.moment(at)) is None:
        names = ", ".join(sorted(table.metadata.refs)) or "none"
        raise ArgumentError(
            f"{name_of(table)} has no branch, tag or time {at!r}: it never had, or it was removed; there are "
            f"{names}. The id of a snapshot is an int"
        )
    return moments.current_at(
        moment,
        [(entry.timestamp_ms, entry.snapshot_id) for entry in table.metadata.snapshot_log],
        _commits(table),
        getattr(table.metadata, "last_sequence_number", 0),  # version 1 has none
        name_of(table),
    )


def _span(table: Table) -> str:
    return moments.span(_commits(table).values())


def _commits(table: Table) -> dict[int, moments.Commit]:
    return {
        each.snapshot_id: moments.Commit(each.timestamp_ms, each.parent_snapshot_id, each.sequence_number)
        for each in table.metadata.snapshots
    }


def schema_at(table: Table, at: At) -> Schema:
    """Return the schema with which Spark reads a version: main and branches have the table's, others their own."""
    ref = table.metadata.refs.get(at) if isinstance(at, str) else None
    id = snapshot_id(table, at)
    if at is None or id is None or (ref is not None and ref.snapshot_ref_type == "branch"):
        return table.schema()
    of_snapshot = next(each.schema_id for each in table.metadata.snapshots if each.snapshot_id == id)
    return table.schemas().get(of_snapshot, table.schema()) if of_snapshot is not None else table.schema()
