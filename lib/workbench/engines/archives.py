"""Archives of which a server is unpacked: fetched one by one by checksum, with progress, and unpacked as a whole.

An archive that came whole stays in the cache, so that an installation which was cut goes on with the next one.
"""

import hashlib
import json
import shutil
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pydantic import Field

from workbench._base import files, jars, repeating, strict
from workbench._base.errors import ArgumentError

Say = Callable[[str], object]
SECONDS = 3.0  # between two lines of progress
UNPACKED = 1.2  # bytes that an archive of jars takes unpacked, for each of its own; and a little room beside it
COPIES = 3  # of an archive while it comes: where it is fetched to twice, and in the cache
NOTE = "server.sha256"


class Archive(strict.Strict):
    """An archive.

    Attributes:
        coordinate: group, artifact, release and ending.
        sha256: in hex.
        bytes: of the archive.
        into: folder below the server's that it fills.
    """

    coordinate: str = Field(pattern=r"^[\w.-]+:[\w.-]+:[\w.-]+:(tar\.gz|zip)$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=1)
    into: str


def named(names: Sequence[str]) -> list[Archive]:
    """Return archives by their names in archives.toml.

    Raises:
        ValueError: a name is not in it.
    """
    table = tomllib.loads((Path(__file__).parent / "archives.toml").read_text(encoding="utf-8"))
    if unknown := [name for name in names if name not in table]:
        raise ArgumentError(f"no archive {unknown[0]!r} in archives.toml; it has {', '.join(table)}")
    return [Archive.model_validate(table[name]) for name in names]


def unpacked(folder: Path, names: Sequence[str], jar_names: Sequence[str]) -> bool:
    """Say whether a server is in a folder, whole, and of these archives and jars."""
    note = folder / NOTE
    return note.is_file() and note.read_text(encoding="utf-8") == _stamp(names, jar_names)


def install(folder: Path, names: Sequence[str], jar_names: Sequence[str], *, plugin: str, say: Say) -> None:
    """Fetch what is missing of a server, and unpack it into a folder; what is there and right stays.

    Args:
        folder: in which it gets a folder `server`.
        names: of archives.
        jar_names: names in jars.toml, of jars in the cache that are put beside a plugin's.
        plugin: folder of that plugin, below the server's.
        say: called with each line of progress.

    Raises:
        ValueError: an archive cannot be had, has another checksum, or there is too little room on the disk.
    """
    if unpacked(folder, names, jar_names):
        return
    archives = named(names)
    _require_room(folder, archives)
    for archive in archives:
        name = archive.coordinate.split(":")[1]
        watch = partial(_watched, name=name, size=archive.bytes, say=say)
        jars.fetch({archive.coordinate: archive.sha256}, watch=watch)
    new = folder / "server.new"
    shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(folder / "server", ignore_errors=True)
    for archive in archives:
        say(f"unpacking {archive.coordinate}")
        _unpack(jars.file(archive.coordinate), new / archive.into)
    for name in jar_names:
        shutil.copy2(jars.path(name), new / plugin / jars.path(name).name)
    new.rename(folder / "server")
    with files.replacing(folder / NOTE) as note:  # last, so that a killed installation is none
        note.write_text(_stamp(names, jar_names), encoding="utf-8")


def _stamp(names: Sequence[str], jar_names: Sequence[str]) -> str:
    """Return what a server is known by: the SHA-256 of the checksums of all that it is made of."""
    parts = [[archive.sha256, archive.into] for archive in named(names)]
    return hashlib.sha256(json.dumps([parts, jars.named(*jar_names)]).encode()).hexdigest()


def _require_room(folder: Path, archives: Sequence[Archive]) -> None:
    """Refuse to begin where the disk would be full before the end."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = {archive.coordinate: archive.sha256 for archive in archives}
    missing = {coordinate: missing[coordinate] for coordinate in jars.problems(missing)}
    total = sum(archive.bytes for archive in archives)
    fetched = sum(archive.bytes for archive in archives if archive.coordinate in missing)
    needed, free = int(total * UNPACKED) + COPIES * fetched, shutil.disk_usage(folder).free
    if free < needed:
        raise ArgumentError(
            f"{folder} needs {needed / 1e9:.1f} GB for {len(archives)} archives and what is in them; "
            f"{free / 1e9:.1f} GB are free"
        )


@contextmanager
def _watched(folder: Path, *, name: str, size: int, say: Say) -> Iterator[None]:
    """Tell of the growth of a folder, a line every few seconds, until the block ends."""
    told_megabytes = 0

    def tell() -> None:
        nonlocal told_megabytes
        largest = max(_sizes(folder), default=0)  # the file that comes; Ivy copies it at the end
        megabytes = round(largest / 1e6)
        if megabytes > told_megabytes:  # its description, and those that it refers to, come first
            say(f"{name}: {megabytes} of {size / 1e6:.0f} MB")
            told_megabytes = megabytes

    say(f"{name}: fetching {size / 1e6:.0f} MB")
    with repeating.every(SECONDS, tell):
        yield


def _sizes(folder: Path) -> Iterator[int]:
    for path in folder.rglob("*"):
        try:
            yield path.stat().st_size
        except FileNotFoundError:  # moved meanwhile
            continue


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into a folder without its own first folder.

    Raises:
        ValueError: it has no first folder of its own.
    """
    beside = folder.parent / f".{archive.name}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as content:
            content.extractall(beside)  # drops leading slashes and dots that lead outside
    else:
        with tarfile.open(archive) as content:
            content.extractall(beside, filter="data")
    tops = list(beside.iterdir())
    if len(tops) != 1 or not tops[0].is_dir():
        raise ArgumentError(f"{archive.name} has no folder of its own at its top")
    tops[0].rename(folder)
    beside.rmdir()
