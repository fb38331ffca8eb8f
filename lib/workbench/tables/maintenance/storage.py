"""Open the storage of a table's files as a PyArrow file system with the table's own settings."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from workbench._base import aws
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java
from workbench.tables.maintenance import wording
from workbench.tables.maintenance.results import Hindrance, Obstacle

Files = tuple[Any, Callable[[str], str]]  # PyArrow's file system, function from Iceberg's location to its path
_S3 = {  # setting of Iceberg's S3FileIO: argument of PyArrow's file system
    "s3.access-key-id": "access_key",
    "s3.secret-access-key": "secret_key",
    "s3.session-token": "session_token",
    "client.region": "region",
}
# taken care of below, or PyIceberg's own, which the same catalog settings serve
_S3_SAME = {"s3.endpoint", "s3.path-style-access", "s3.region"}


class Unfit(ArgumentError):
    """The fast way is not for this table or these files.

    Attributes:
        obstacle: why.
    """

    def __init__(
        self, hindrance: Hindrance, *, name: str | None = None, kind: str | None = None, number: int | None = None
    ) -> None:
        self.obstacle = Obstacle(hindrance, name, kind, number)
        super().__init__(wording.obstacle(self.obstacle))


def opened(loaded: Java) -> Files:
    """Return (PyArrow file system, function from an Iceberg location to its path) of a loaded table.

    Raises:
        Unfit: the files lie somewhere else than on local disk or S3, or are reached in an unusual way.
    """
    from pyarrow import fs

    location, kind = loaded.location(), loaded.io().getClass().getSimpleName()
    if re.match(r"(file:)?/", location):
        return fs.LocalFileSystem(), _path("(?:file:)?/+", "/")
    if not location.startswith(("s3://", "s3a://")) or kind != "S3FileIO":
        raise Unfit(Hindrance.FILE_IO, name=kind, kind=location.partition(":")[0])
    settings = dict(loaded.io().properties())
    known = _S3.keys() | _S3_SAME
    if odd := [name for name in settings if name.startswith(("s3.", "client.")) and name not in known]:
        raise Unfit(Hindrance.STORAGE_SETTING, name=min(odd))
    options = {argument: settings[name] for name, argument in _S3.items() if name in settings}
    # AWS's own tools, and so Iceberg, read the variables; Arrow does not
    if endpoint := settings.get("s3.endpoint") or aws.s3_endpoint():
        scheme, _, host = endpoint.rpartition("://")
        options |= {"endpoint_override": host, "scheme": scheme or "https"}
    options["force_virtual_addressing"] = False
    return fs.S3FileSystem(**options), _path("s3a?://", "")


def _path(before: str, instead: str) -> Callable[[str], str]:
    """Return a function from a location to its path, for a table's files may lie elsewhere than the table."""

    def path(location: str) -> str:
        if not (match := re.match(before, location)):
            raise Unfit(Hindrance.FILES_ELSEWHERE, kind=location.partition(":")[0])
        return instead + location[match.end() :]

    return path


def delete(files: Files, locations: Iterable[str]) -> None:
    """Delete files that no commit took; one that is gone already is passed over.

    Args:
        files: as `opened` returns it.
        locations: Iceberg's.
    """
    system, path = files
    for location in locations:
        if system.get_file_info(path(location)).is_file:
            system.delete_file(path(location))
