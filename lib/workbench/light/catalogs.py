"""Where a catalog says that a table is: asked of the catalog itself, without PyIceberg and without Java.

A catalog's pointer is its promise. The newest file in a table's folder is not: a commit that failed leaves one.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench._base import identifiers, lake
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.light import rest
from workbench.light.typing import Catalog, IcebergCatalog, IcebergTable

SHOWN = 20  # tables that a refusal lists
LIBRARIES = {"botocore", "pyiceberg", "requests", "sqlalchemy"}  # by which catalogs and storages are reached
Parts = tuple[str, ...]  # of a table's name


@dataclass(frozen=True)
class Pointer:
    """What a catalog says of a table.

    Attributes:
        table: its name as people write it.
        location: of its current metadata file.
        storage: properties by which its files are read; keys and secrets among them.
    """

    table: str
    location: str
    storage: dict[str, str] = field(repr=False)


def pointer(catalog: Catalog, parts: Parts) -> Pointer:
    """Ask a catalog where the current metadata of a table are.

    Args:
        catalog: PyIceberg's Catalog; or its properties as `load_catalog` takes them, with `name` beside them.
        parts: the table's name; the catalog's own name in front of it may stand there or not.

    Raises:
        ValueError: the catalog is not one that can be asked, or has no such table.
    """
    if not isinstance(catalog, Mapping):
        return _by_pyiceberg(catalog, parts)
    properties = {key: str(value) for key, value in catalog.items() if value is not None}
    name = properties.pop("name", None)
    names = within(name, parts)
    kind = _kind(properties)
    location, storage = {"sql": _sqlite, "rest": _rest, "glue": _glue}[kind](properties, name, names)
    return Pointer(identifiers.spelled(names), location, properties | storage)


def within(name: str | None, parts: Parts) -> Parts:
    """Return the parts of a table's name without the catalog's own name, which may stand in front of them."""
    return parts[1:] if len(parts) > 2 and parts[0] == name else parts


def load(catalog: Catalog) -> IcebergCatalog:
    """Return PyIceberg's Catalog of some properties; a Catalog is returned as it is.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(catalog, Mapping):
        if not hasattr(catalog, "load_table"):
            raise ArgumentError(
                f"catalog is {type(catalog).__name__}, expected PyIceberg's Catalog or a dict of its properties"
            )
        return catalog
    from pyiceberg.catalog import load_catalog

    properties = {key: value for key, value in catalog.items() if key != "name" and value is not None}
    try:
        return load_catalog(catalog.get("name"), **properties)
    except ValueError as error:
        raise ArgumentError(f"PyIceberg does not open the catalog: {first_line(error)}") from None


def failed(error: Exception) -> bool:
    """Say whether an error is one with which a catalog or a storage does not answer."""
    return isinstance(error, OSError) or type(error).__module__.partition(".")[0] in LIBRARIES


@contextmanager
def _asked(parts: Parts) -> Iterator[None]:
    """Say by a sentence that a catalog does not answer for a table."""
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as error:
        if not failed(error):
            raise
        raise ArgumentError(
            f"the catalog does not answer for {identifiers.spelled(parts)}: {first_line(error)}"
        ) from error


def first_line(error: Exception) -> str:
    """Return what an error says, without the lines that follow its first one."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _kind(properties: Mapping[str, str]) -> str:
    """Return the kind of a catalog, from its type or, as PyIceberg does, from its address."""
    uri = properties.get("uri", "")
    kind = properties.get("type") or next(
        (kind for kind, start in (("rest", "http"), ("sql", "sqlite")) if uri.startswith(start)), None
    )
    if kind == "sql" and not uri.startswith("sqlite:"):
        raise ArgumentError(
            f"the catalog is in {uri.partition(':')[0] or 'no database'}, which PyIceberg alone reads here: pass "
            "load_catalog(…)"
        )
    if kind == "rest" and not uri:
        raise ArgumentError("the catalog has the type rest and no uri, the address of its server")
    if kind not in ("sql", "rest", "glue"):
        raise ArgumentError(f"catalog has the type {kind!r}; expected sql, rest or glue, or PyIceberg's Catalog")
    return kind


def _database(uri: str) -> Path:
    """Return the file of a catalog in SQLite, which PyIceberg would make where it is missing."""
    path = lake.sqlite_file(uri)
    if not path.is_file():
        raise ArgumentError(f"the catalog's database {path} is not there")
    return path


def _sqlite(properties: Mapping[str, str], catalog_name: str | None, parts: Parts) -> tuple[str, dict[str, str]]:
    path = _database(properties["uri"])
    namespace, table = ".".join(parts[:-1]), parts[-1]
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=30)) as database:
        database.row_factory = sqlite3.Row
        try:
            rows = database.execute("SELECT * FROM iceberg_tables").fetchall()
        except sqlite3.DatabaseError as error:
            raise ArgumentError(f"{path} cannot be read as a catalog of PyIceberg: {error}") from None
    catalogs = sorted({row["catalog_name"] for row in rows})
    if catalog_name is None and len(catalogs) == 1:
        catalog_name = catalogs[0]
    if catalogs and catalog_name not in catalogs:
        raise ArgumentError(f"{path} holds no catalog {catalog_name!r}; it holds {', '.join(catalogs)}")
    own = [row for row in rows if row["catalog_name"] == catalog_name]
    for row in own:
        if (row["table_namespace"], row["table_name"]) == (namespace, table):
            if "iceberg_type" in row.keys() and row["iceberg_type"] == "VIEW":  # noqa: SIM118 - a Row's own keys
                raise ArgumentError(f"{identifiers.spelled(parts)} is a view, whose SQL is Spark's")
            return row["metadata_location"], {}
    raise unknown(parts, [f"{row['table_namespace']}.{row['table_name']}" for row in own])


def _rest(properties: Mapping[str, str], _name: str | None, parts: Parts) -> tuple[str, dict[str, str]]:
    server = rest.Server(properties)
    answer = server.table(parts)
    if answer is None:
        raise unknown(parts, server.tables(parts[:-1]))
    location = answer.get("metadata-location")
    if not location:
        raise ArgumentError(
            f"the catalog names no metadata file for {identifiers.spelled(parts)}, so it cannot be read"
        )
    vended = _vended(answer, location)
    return location, server.overrides | (answer.get("config") or {}) | vended


def _vended(answer: Mapping[str, Any], location: str) -> dict[str, str]:
    """Return the keys that a catalog lends for a location: those of the longest prefix."""
    lent = [entry for entry in answer.get("storage-credentials") or () if location.startswith(entry["prefix"])]
    return max(lent, key=lambda entry: len(entry["prefix"])).get("config", {}) if lent else {}


def _glue(properties: Mapping[str, str], _name: str | None, parts: Parts) -> tuple[str, dict[str, str]]:
    import boto3

    if len(parts) != 2:
        raise ArgumentError(f"a table of Glue has the name database.table, found {identifiers.spelled(parts)}")
    aliases: dict[str, tuple[str, ...]] = {
        "region_name": ("glue.region", "client.region"),
        "endpoint_url": ("glue.endpoint",),
    }
    for key in ("access-key-id", "secret-access-key", "session-token"):
        aliases[f"aws_{key.replace('-', '_')}"] = (f"glue.{key}", f"client.{key}")
    options = {
        argument: next((properties[key] for key in keys if key in properties), None)
        for argument, keys in aliases.items()
    }
    owner = {"CatalogId": properties["glue.id"]} if "glue.id" in properties else {}
    with _asked(parts):
        client = boto3.client("glue", **options)
        try:
            table = client.get_table(DatabaseName=parts[0], Name=parts[1], **owner)["Table"]
        except client.exceptions.EntityNotFoundException:
            raise unknown(parts, _glue_tables(client, parts[0], owner)) from None
    if not (location := table.get("Parameters", {}).get("metadata_location")):
        raise ArgumentError(
            f"{identifiers.spelled(parts)} is in Glue, but is not an Iceberg table: it has no metadata_location"
        )
    return location, {}


def _glue_tables(client: Any, database: str, owner: Mapping[str, str]) -> list[str]:
    try:
        listed = client.get_tables(DatabaseName=database, MaxResults=SHOWN, **owner)["TableList"]
    except client.exceptions.EntityNotFoundException:
        return []
    return [f"{database}.{table['Name']}" for table in listed]


def _by_pyiceberg(catalog: IcebergCatalog, parts: Parts) -> Pointer:
    table = table_of(catalog, parts)
    name = identifiers.spelled(within(load(catalog).name, parts))
    return Pointer(name, table.metadata_location, dict(catalog.properties) | dict(table.io.properties))


def table_of(catalog: Catalog, parts: Parts) -> IcebergTable:
    """Load a table by PyIceberg.

    Raises:
        ValueError: there is no such table, and the message lists those of its namespace; or the catalog does not
            answer.
    """
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

    if isinstance(catalog, Mapping) and str(catalog.get("uri", "")).startswith("sqlite:///"):
        _database(str(catalog["uri"]))
    with _asked(parts):
        loaded = load(catalog)
        names = within(loaded.name, parts)
        try:
            return loaded.load_table(names)
        except (NoSuchTableError, NoSuchNamespaceError):
            raise unknown(parts, _listed(loaded, names[:-1])) from None


def _listed(catalog: IcebergCatalog, namespace: Parts) -> list[str]:
    from pyiceberg.exceptions import NoSuchNamespaceError

    try:
        return [".".join(parts) for parts in catalog.list_tables(namespace)]
    except NoSuchNamespaceError:
        return []


def unknown(parts: Parts, names: list[str]) -> ArgumentError:
    """Return the refusal of a table that is not there, with those that are."""
    names = sorted(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    known = f"there are {', '.join(names[:SHOWN])}{more}" if names else "the catalog lists no table there"
    return ArgumentError(f"table {identifiers.spelled(parts)} is not in the catalog; {known}")
