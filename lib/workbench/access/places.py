"""Where the files of a table lie, and whether anything else lies there: keys to a place open all of it."""

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.access.typing import IcebergTable

# no sign that a policy of AWS takes for others: *, ?, and ${…}
SAFE = re.compile(r"s3[an]?://(?P<bucket>[a-z0-9][a-z0-9.-]+)/(?P<prefix>[\w!.'()/=@+:, -]+)", re.ASCII)
METADATA = re.compile(r"\.metadata\.json(\.gz)?$")
ELSEWHERE = ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
GZIP = b"\x1f\x8b"
MOST_METADATA = 1000  # files that are opened to see whose they are


@dataclass(frozen=True)
class Place:
    """The files of a table.

    Attributes:
        bucket: that they are in.
        prefix: of their keys, with a slash at its end.
        metadata: key of the table's current metadata.
    """

    bucket: str
    prefix: str
    metadata: str

    @property
    def location(self) -> str:
        """Return the place as an address."""
        return f"s3://{self.bucket}/{self.prefix}"

    def holds(self, address: str) -> bool:
        """Say whether an address is in it, or is it; how S3 is called in it is of no account."""
        return _folder(address).startswith(self.location)

    def meets(self, address: str) -> bool:
        """Say whether an address is in it, or it is in the address: `n.t.data` may lie among the data of `n.t`."""
        return self.holds(address) or self.location.startswith(_folder(address))


def _folder(address: str) -> str:
    return f"s3://{address.partition('://')[2].rstrip('/')}/"


def of(table: IcebergTable) -> Place:
    """Return the place of a table's files.

    Args:
        table: as PyIceberg loaded it.

    Raises:
        ArgumentError: it is not in S3, is a whole bucket, has signs that a policy of AWS takes for others, or
            files of the table are elsewhere.
    """
    location = table.location().rstrip("/")
    parts = SAFE.fullmatch(location)
    if parts is None or {"", ".", ".."} & set(parts["prefix"].split("/")):
        raise ArgumentError(
            f"keys are for a table in a folder of a bucket of S3, named by letters, digits and !.'()/=@+:, -; "
            f"its location is {location}"
        )
    metadata = table.metadata_location.partition(f"://{parts['bucket']}/")[2]
    place = Place(parts["bucket"], f"{parts['prefix']}/", metadata)
    for address in (table.metadata_location, *_elsewhere(table)):
        if not place.holds(address):
            raise ArgumentError(f"files of the table are not in its location {place.location}, but in {address}")
    return place


def _elsewhere(table: IcebergTable) -> Iterator[str]:
    """Yield the addresses that a table's properties name for its files."""
    for name in ELSEWHERE:
        if address := table.properties.get(name):
            yield address


def refuse_others(place: Place, name: str, table: IcebergTable, catalog: Any, s3: Any) -> None:
    """Refuse a place in which files of other tables may lie, or of an earlier table of that name.

    A namespace may have the name of a table and then lies inside it; `DROP TABLE` without PURGE leaves the files,
    and the next table of that name is put upon them.

    Args:
        place: of the table.
        name: of the table.
        table: as PyIceberg loaded it.
        catalog: PyIceberg's, whose other tables are all loaded.
        s3: boto3's client of S3, which lists the place.

    Raises:
        ArgumentError: there are such files.
    """
    ours = tuple(table.name())
    for other in _tables(catalog, ()):
        if tuple(other.name()) == ours:
            continue
        for address in (other.location(), other.metadata_location, *_elsewhere(other)):
            if place.meets(address):
                raise ArgumentError(f"the locations of {name} and {'.'.join(other.name())} are in one another")
    _refuse_earlier(place, name, table, s3)


def _tables(catalog: Any, namespace: tuple[str, ...]) -> Iterator[IcebergTable]:
    """Yield all tables below a namespace but those that go meanwhile and those that are not Iceberg's."""
    from pyiceberg.exceptions import NoSuchIcebergTableError, NoSuchNamespaceError, NoSuchTableError

    names: list[Any] = []
    below: list[Any] = []
    with suppress(NoSuchNamespaceError):
        names = catalog.list_tables(namespace) if namespace else []
    for name in names:
        with suppress(NoSuchIcebergTableError, NoSuchTableError):
            yield catalog.load_table(name)
    with suppress(NoSuchNamespaceError):
        below = catalog.list_namespaces(namespace)
    for inner in map(tuple, below):
        if len(inner) > len(namespace) and inner[: len(namespace)] == namespace:
            yield from _tables(catalog, inner)


def _refuse_earlier(place: Place, name: str, table: IcebergTable, s3: Any) -> None:
    """Refuse a place with metadata of another table, which somebody dropped and did not purge."""
    ours = {table.metadata_location, *(entry.metadata_file for entry in table.metadata.metadata_log)}
    known = {address.partition(f"://{place.bucket}/")[2] for address in ours}
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=place.bucket, Prefix=place.prefix)
    listed = [item["Key"] for page in pages for item in page.get("Contents", []) if METADATA.search(item["Key"])]
    unknown = [key for key in listed if key not in known]
    if len(unknown) > MOST_METADATA:
        raise ArgumentError(
            f"{place.location} has {len(unknown):,} files of metadata that the table no longer knows, and whose "
            f"they are is looked up for {MOST_METADATA:,} at most: remove old ones"
        )
    for key in unknown:
        body = s3.get_object(Bucket=place.bucket, Key=key)["Body"].read()
        if _uuid(body) != str(table.metadata.table_uuid).lower():
            raise ArgumentError(
                f"{key} is of an earlier table, whose files are still in the location of {name}; remove them"
            )


def _uuid(body: bytes) -> str:
    """Return the UUID of the table whose metadata a file is, empty where it is none."""
    try:
        content = json.loads(gzip.decompress(body) if body[:2] == GZIP else body)
        return str(content["table-uuid"]).lower()
    except (ValueError, OSError, EOFError, LookupError, TypeError):
        return ""
