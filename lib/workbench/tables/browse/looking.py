"""What a catalog holds, and what a table is: its facts, snapshots and schemas, from its metadata alone."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from workbench._base import identifiers, moments, secrets
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Catalog as IcebergCatalog
from workbench._base.typing import Judged
from workbench.tables.browse import opening
from workbench.tables.browse.opening import Catalog

if TYPE_CHECKING:
    from pyiceberg.schema import Schema as IcebergSchema
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot as IcebergSnapshot
else:
    IcebergSchema = IcebergSnapshot = Table = Any


@dataclass(frozen=True)
class Namespace:
    """A namespace of a catalog.

    Attributes:
        name: as people write it in Spark SQL.
        tables: names of its tables, `namespace.name`, sorted.
        error: why its tables cannot be listed; None where they are.
        views: names of its views, sorted, as far as the catalog lists them; they are looked at by Spark.
    """

    name: str
    tables: tuple[str, ...]
    error: str | None = None
    views: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ref:
    """A branch or a tag: its name, its kind (branch, tag) and the snapshot that it points to."""

    name: str
    kind: str
    snapshot_id: int


@dataclass(frozen=True)
class Column:
    """A column: its id, which a renaming keeps, its name, type, whether it must have a value, its comment."""

    id: int
    name: str
    type: str
    required: bool
    comment: str | None


@dataclass(frozen=True)
class Schema:
    """A schema that a table has or had: its id, whether it is the current one, its columns in their order."""

    id: int
    current: bool
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of a table.

    Attributes:
        n: its place among the table's snapshots from the oldest on, from 1.
        snapshot_id: its id.
        parent_id: of the snapshot that it was made from; None for the first.
        committed: when, in UTC.
        operation: append, overwrite, delete or replace; None where its summary does not say.
        added_rows: rows of the data files that it added; None where its summary does not say, as the next ones.
        removed_rows: rows of the data files that it removed.
        rows: of all data files, those included that delete files delete.
        data_files: of the table after it.
        delete_files: of the table after it.
        schema_id: of the schema that it was written with.
        on_main: whether it is the current one or led to it.
        refs: names of branches and tags that point to it, sorted.
    """

    n: int
    snapshot_id: int
    parent_id: int | None
    committed: datetime
    operation: str | None
    added_rows: int | None
    removed_rows: int | None
    rows: int | None
    data_files: int | None
    delete_files: int | None
    schema_id: int | None
    on_main: bool
    refs: tuple[str, ...]


@dataclass(frozen=True)
class Head:
    """What a table is now.

    Attributes:
        table: its name as people write it.
        uuid: its identity, which another table of the same name does not have.
        format_version: of Iceberg's format.
        location: its folder.
        metadata_location: of its current metadata file.
        columns: of its current schema.
        partitioned_by: the terms of its current partition spec, as `days(ordered_at)`.
        sorted_by: the terms of its sort order, as `order_id ASC NULLS FIRST`.
        properties: of the table; what looks like a secret is hidden.
        refs: its branches and tags, sorted by name.
        snapshots: how many there are, on branches and rolled back ones too.
        current: the current snapshot; None where there is none yet.
    """

    table: str
    uuid: str
    format_version: int
    location: str
    metadata_location: str
    columns: tuple[Column, ...]
    partitioned_by: tuple[str, ...]
    sorted_by: tuple[str, ...]
    properties: dict[str, str]
    refs: tuple[Ref, ...]
    snapshots: int
    current: Snapshot | None


@checked
def tree(catalog: Judged[Catalog], *, namespace: str | None = None) -> tuple[Namespace, ...]:
    """List the namespaces of a catalog, their tables and their views.

    Args:
        catalog: PyIceberg's Catalog; or its properties as `load_catalog` takes them, with `name` beside them.
        namespace: only this one and those inside it; left out, all.

    Returns:
        Namespace, one each, sorted by name. One whose tables cannot be listed says why, and the others are there.

    Raises:
        ValueError: the catalog does not answer, or there is no such namespace.
    """
    loaded = opening.catalog_of(catalog)
    with opening.answered(f"the catalog {loaded.name}"):
        if namespace is None:
            below = [tuple(each) for each in loaded.list_namespaces()]
        else:
            below = [identifiers.parts(namespace, least=1)]
        listed: set[tuple[str, ...]] = set()
        while below:
            parts = below.pop()
            if parts not in listed:  # some catalogs list a namespace itself among those in it
                listed.add(parts)
                inside = _inside(loaded, parts, named=namespace is not None)
                below += [each for each in inside if len(each) > len(parts)]
    return tuple(_namespace(loaded, parts) for parts in sorted(listed))


def _inside(catalog: IcebergCatalog, parts: tuple[str, ...], *, named: bool) -> list[tuple[str, ...]]:
    """Return the namespaces inside one; none in a catalog that knows one level, or where it was just dropped."""
    from pyiceberg.exceptions import NoSuchNamespaceError

    try:
        return [tuple(each) for each in catalog.list_namespaces(parts)]
    except NotImplementedError:
        return []
    except NoSuchNamespaceError:
        if not named:
            return []
        names = ", ".join(sorted(identifiers.spelled(tuple(each)) for each in catalog.list_namespaces()))
        raise ArgumentError(
            f"namespace {identifiers.spelled(parts)} is not in the catalog; there are {names or 'none'}"
        ) from None


def _namespace(catalog: IcebergCatalog, parts: tuple[str, ...]) -> Namespace:
    name = identifiers.spelled(parts)
    try:
        with opening.answered(f"namespace {name}"):
            tables = sorted(identifiers.spelled(tuple(each)) for each in catalog.list_tables(parts))
            views = sorted(map(identifiers.spelled, opening.views_of(catalog, parts)))
    except ValueError as error:
        return Namespace(name, (), str(error))
    return Namespace(name, tuple(tables), views=tuple(views))


@checked
def head(catalog: Judged[Catalog], table: str) -> Head:
    """Say what a table is now, from its metadata file alone.

    Args:
        catalog: as of `tree`.
        table: `namespace.name`.

    Returns:
        Head.

    Raises:
        ValueError: there is no such table, or its catalog or storage does not answer.
    """
    loaded = opening.table_of(catalog, table)
    metadata = loaded.metadata
    described = _described(loaded)
    refs = [Ref(name, str(ref.snapshot_ref_type), ref.snapshot_id) for name, ref in metadata.refs.items()]
    schema = loaded.schema()
    return Head(
        opening.name_of(loaded),
        str(metadata.table_uuid),
        metadata.format_version,
        metadata.location,
        loaded.metadata_location,
        columns_of(schema),
        tuple(_term(schema, field) for field in loaded.spec().fields),
        tuple(
            f"{_term(schema, field)} {field.direction} {field.null_order}" for field in loaded.sort_order().fields
        ),
        {name: _shown(name, value) for name, value in sorted(metadata.properties.items())},
        tuple(sorted(refs, key=lambda ref: ref.name)),
        len(described),
        next((each for each in described if each.snapshot_id == metadata.current_snapshot_id), None),
    )


def _shown(name: str, value: str) -> str:
    return str(secrets.hide(name, value))


def columns_of(schema: IcebergSchema) -> tuple[Column, ...]:
    """Return the columns of a schema of PyIceberg's, in their order."""
    return tuple(
        Column(field.field_id, field.name, str(field.field_type), field.required, field.doc)
        for field in schema.fields
    )


def _term(schema: IcebergSchema, field: Any) -> str:
    """Return a term of a partition spec or a sort order as Spark SQL writes it."""
    column = identifiers.spelled((schema.find_column_name(field.source_id) or f"column {field.source_id}",))
    kind, _, size = str(field.transform).partition("[")
    if kind == "identity":
        return column
    if size:
        return f"{kind}({size.rstrip(']')}, {column})"
    return f"{kind}s({column})" if kind in ("year", "month", "day", "hour") else f"{kind}({column})"


@checked
def schemas(catalog: Judged[Catalog], table: str) -> tuple[Schema, ...]:
    """List the schemas that a table has had, by their ids.

    Args:
        catalog: as of `tree`.
        table: `namespace.name`.

    Returns:
        Schema, one each.

    Raises:
        ValueError: as `head`.
    """
    loaded = opening.table_of(catalog, table)
    current = loaded.metadata.current_schema_id
    return tuple(Schema(id, id == current, columns_of(schema)) for id, schema in sorted(loaded.schemas().items()))


@checked
def snapshots(catalog: Judged[Catalog], table: str) -> tuple[Snapshot, ...]:
    """List the snapshots of a table, oldest first; a snapshot always stands behind its parent.

    Args:
        catalog: as of `tree`.
        table: `namespace.name`.

    Returns:
        Snapshot, one each; what is not on main (branches, commits that were rolled back) too.

    Raises:
        ValueError: as `head`.
    """
    return _described(opening.table_of(catalog, table))


def _described(table: Table) -> tuple[Snapshot, ...]:
    metadata = table.metadata
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    refs: dict[int, list[str]] = {}
    for name, ref in metadata.refs.items():
        refs.setdefault(ref.snapshot_id, []).append(name)
    main, id = set(), metadata.current_snapshot_id
    while id in by_id:
        main.add(id)
        id = by_id[id].parent_snapshot_id
    return tuple(
        _snapshot(n, snapshot, snapshot.snapshot_id in main, refs)
        for n, snapshot in enumerate(_ordered(by_id, main), 1)
    )


def _snapshot(n: int, snapshot: IcebergSnapshot, on_main: bool, refs: dict[int, list[str]]) -> Snapshot:
    summary = {} if snapshot.summary is None else snapshot.summary.additional_properties

    def count(key: str, otherwise: int | None = None) -> int | None:
        return int(summary[key]) if key in summary else otherwise

    zero = 0 if "total-records" in summary else None  # what a commit did not touch is left out of its summary
    return Snapshot(
        n,
        snapshot.snapshot_id,
        snapshot.parent_snapshot_id,
        moments.utc(snapshot.timestamp_ms),
        None if snapshot.summary is None else snapshot.summary.operation.value,
        count("added-records", zero),
        count("deleted-records", zero),
        count("total-records"),
        count("total-data-files", zero),
        count("total-delete-files", zero),
        snapshot.schema_id,
        on_main,
        tuple(sorted(refs.get(snapshot.snapshot_id, ()))),
    )


def _ordered(by_id: dict[int, IcebergSnapshot], main: set[int]) -> list[IcebergSnapshot]:
    """Return snapshots in the order of `tables.snapshots.history`: by time, a child never before its parent."""
    places: dict[int, tuple[int, int]] = {}
    for snapshot in by_id.values():
        line = [snapshot]
        while (parent := by_id.get(line[-1].parent_snapshot_id or 0)) and parent.snapshot_id not in places:
            line.append(parent)
        for entry in reversed(line):
            time, generation = places.get(entry.parent_snapshot_id or 0, (entry.timestamp_ms, 0))
            places[entry.snapshot_id] = (max(time, entry.timestamp_ms), generation + 1)
    return sorted(
        by_id.values(),
        key=lambda each: (*places[each.snapshot_id], each.snapshot_id not in main, each.snapshot_id),
    )
