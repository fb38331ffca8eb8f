"""The folder of a table: listed and read by PyArrow, on this machine or in S3, and never written."""

import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from workbench._base import aws
from workbench._base.errors import ArgumentError, WorkbenchError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_URI = re.compile(r"file:/|[A-Za-z][A-Za-z0-9+.-]+://")  # a folder in a table may be named ab:c
# what comes of content that is of another shape; PyArrow's own errors are of these kinds, and OSError where it
# parses bytes
_DAMAGE = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, NotImplementedError,
    EOFError, struct.error, OSError,
)  # fmt: skip
_SHOWN = 200  # characters of another's error
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Folder:
    """A folder of files.

    Attributes:
        location: its URI without a slash at the end, as Iceberg names files in it; characters as they are.
        files: PyArrow's file system.
        path: the folder's path there.
    """

    location: str
    files: Any
    path: str

    def read(self, relative: str) -> bytes:
        """Return the bytes of a file, named from the folder on."""
        with readable(self.location), self.files.open_input_file(self.within(relative)) as file:
            return file.read()

    def part(self, relative: str, offset: int, length: int) -> bytes:
        """Return some bytes of a file, named from the folder on or by a URI."""
        with readable(self.location), self.files.open_input_file(self.within(relative)) as file:
            return file.read_at(length, offset)

    def sizes(self, relative: str) -> dict[str, int]:
        """Return {name: bytes} of the files in a folder below; empty where there is no such folder."""
        from pyarrow import fs

        with readable(self.location):
            selector = fs.FileSelector(self.within(relative), allow_not_found=True)
            entries = self.files.get_file_info(selector)
        return {entry.base_name: entry.size for entry in entries if entry.type == fs.FileType.File}

    def entries(self) -> list[str]:
        """Return the names in the folder, sorted; those of folders end in a slash."""
        from pyarrow import fs

        with readable(self.location):
            entries = self.files.get_file_info(fs.FileSelector(self.path))
        return sorted(entry.base_name + "/" * (entry.type == fs.FileType.Directory) for entry in entries)

    def tree(self, without: str) -> dict[str, int]:
        """Return {name from the folder on: bytes} of all files below.

        Args:
            without: name of a folder in it that is left out.
        """
        from pyarrow import fs

        files: dict[str, int] = {}
        with readable(self.location):
            top = self.files.get_file_info(fs.FileSelector(self.path))
            below = [entry for entry in top if entry.type == fs.FileType.Directory and entry.base_name != without]
            selectors = [fs.FileSelector(entry.path, recursive=True) for entry in below]
            for entries in (top, *map(self.files.get_file_info, selectors)):
                for entry in entries:
                    if entry.type == fs.FileType.File:
                        files[entry.path[len(self.path) :].lstrip("/")] = entry.size
        return files

    def within(self, name: str) -> str:
        """Return the file system's path of a file that is named from the folder on, or by a URI."""
        return path_of(name) if _URI.match(name) else f"{self.path}/{name}" if name else self.path

    def location_of(self, name: str) -> str:
        """Return the URI of a file that is named from the folder on, or by a URI."""
        if not _URI.match(name):
            return f"{self.location}/{name}"
        return name if not name.startswith("file:") else f"file://{path_of(name)}"


def opened(path: str) -> Folder:
    """Open a folder of tables' files.

    Args:
        path: of this machine, or a URI `file:…`, `s3://bucket/key` or `s3a://bucket/key`. S3 is read with the
            variables that AWS's own tools read.

    Raises:
        ValueError: an empty text, another scheme, no such folder, or no right to read it.
    """
    from pyarrow import fs

    if not path.strip():
        raise ArgumentError(f"the path is {path!r}, expected the folder of a table or s3://bucket/key")
    scheme = urlsplit(path).scheme if _SCHEME.match(path) else "file"
    if scheme in ("s3", "s3a"):
        if not urlsplit(path).netloc:
            raise ArgumentError(f"the path is {path!r}, which names no bucket; expected s3://bucket/key")
        options: dict[str, str] = {}
        if address := aws.s3_endpoint():
            kind, _, host = address.rpartition("://")
            options = {"endpoint_override": host, "scheme": kind or "https"}
        if region := os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
            options["region"] = region
        key = path_of(path).rstrip("/")
        folder = Folder(f"s3://{key}", fs.S3FileSystem(**options), key)
    elif scheme == "file":
        local = str(Path(path_of(path)).expanduser().resolve())
        folder = Folder(f"file://{local}", fs.LocalFileSystem(), local)
    else:
        raise ArgumentError(f"{path} has the scheme {scheme}; expected a path of this machine, file: or s3://")
    with readable(path):
        kind = folder.files.get_file_info(folder.path).type
        if kind == fs.FileType.File:
            raise ArgumentError(f"{path} is a file, expected the folder of a table")
        if kind != fs.FileType.Directory:
            bucket = folder.path.partition("/")[0]
            if scheme != "file" and folder.files.get_file_info(bucket).type == fs.FileType.NotFound:
                raise ArgumentError(f"there is no bucket {bucket} at {aws.s3_endpoint() or 'AWS'}")
            raise ArgumentError(f"there is no folder {path}")
    return folder


def path_of(location: str) -> str:
    """Return the path of a location without its scheme."""
    if location.startswith("file:"):
        return "/" + re.sub("^file:(//[^/]*(?=/))?/*", "", location)
    return re.sub(r"^[A-Za-z][A-Za-z0-9+.-]+:/*", "", location)


def decoded(name: str) -> str:
    """Return a file's name as it lies in the folder, of one that a log has encoded as in a URI."""
    return unquote(name)


@contextmanager
def whole(what: str) -> Iterator[None]:
    """Say in a sentence that what was read is damaged: a part is missing, or of another kind than expected.

    Raises:
        ValueError: so it is.
    """
    try:
        yield
    except (WorkbenchError, FileNotFoundError):
        raise
    except _DAMAGE as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:_SHOWN]
        raise ArgumentError(f"{what} is damaged: {why}") from error


def of_kind(value: Any, kind: type[_Kind]) -> _Kind:
    """Return a value that must be of a kind, where a file of another writer has it.

    Raises:
        TypeError: it is of another one.
    """
    if type(value) is not kind:
        raise TypeError(f"{str(value)[:_SHOWN]!r} is of the kind {type(value).__name__}, expected {kind.__name__}")
    return value


@contextmanager
def readable(location: str) -> Iterator[None]:
    """Say in a sentence that something cannot be read.

    Raises:
        ValueError: no right to read, or the storage does not answer.
    """
    try:
        yield
    except (WorkbenchError, FileNotFoundError):
        raise
    except PermissionError as error:
        raise ArgumentError(f"no right to read {location}: {error}. Give this process the right") from error
    except (OSError, ValueError) as error:  # ValueError of a name that no file can have
        text = " ".join(str(error).split())
        words = "look at the disk"
        if location.startswith("s3"):
            words = "AWS_ENDPOINT_URL_S3, AWS_REGION and the keys say where and as whom S3 is read"
            if "ACCESS_DENIED" in text:
                words = "the keys must be right, and need s3:GetObject and s3:ListBucket"
        raise ArgumentError(f"{location} cannot be read: {text}; {words}") from error
