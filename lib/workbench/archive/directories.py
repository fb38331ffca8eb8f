"""The keys of a directory as Spark reads them: names it hides, partitions, formats. Pure functions.

The rules are those of Spark's listing of files (HadoopFSUtils) and of its discovery of partitions.
"""

import re
from collections.abc import Sequence

from workbench._base.errors import ArgumentError

LONGEST_NAME = 100  # of a copy; file systems take 255 bytes
# ending of a key: the formats by which such a file can be read, the first where none is named
ENDINGS = {
    "csv": ("csv", "text"),
    "json": ("json", "text"),
    "parquet": ("parquet",),
    "orc": ("orc",),
    "avro": ("avro",),
}  # fmt: skip
FORMATS = (*ENDINGS, "text", "xml")  # those whose files have endings; of others nothing is known
PACKED = ("gz", "bz2", "zst", "snappy", "lz4", "deflate", "xz")


def below(prefix: str, key: str) -> list[str]:
    """Return the names of a key below a directory: folders and, last, the object's own."""
    start = prefix if prefix.endswith("/") or not prefix else prefix + "/"
    names = key[len(start) :] if key.startswith(start) else key.rsplit("/", 1)[-1]
    return names.split("/")


def hidden(prefix: str, key: str) -> bool:
    """Say whether Spark hides a key of a directory, by its own name or that of a folder below the directory."""
    return any(_hidden(name) for name in below(prefix, key))


def partitions(key: str) -> tuple[str, ...]:
    """Return the partition folders (`name=value`) that Spark finds above an object, outermost first.

    They are those next to each other that are nearest to it; plain folders below them are passed over.
    """
    folders = []
    for name in reversed(key.split("/")[:-1]):
        if "=" in name:
            folders.append(name)
        elif folders:
            break
    return tuple(reversed(folders))


def columns(key: str) -> tuple[str, ...]:
    """Return the names of an object's partition columns."""
    return tuple(folder.partition("=")[0] for folder in partitions(key))


def base(uri: str) -> str:
    """Return the address from which on folders count as partitions, for a directory that may be one itself."""
    start, slashes, path = uri.partition("://")
    names = path.rstrip("/").split("/")
    while len(names) > 1 and "=" in names[-1]:
        names.pop()
    return start + slashes + "/".join(names)


def ambiguous(key: str) -> bool:
    """Say whether a path cannot hold a key: Hadoop takes a//b, a/./b and a/x/../b for a/b."""
    return any(name in ("", ".", "..") for name in key.split("/"))


def copy_name(number: int, key: str) -> str:
    """Return the path of a copy below its folder: partition folders, and a name like the key's that is unique."""
    name = re.sub(r"[^\w.,+=@%~ -]", "_", key.rsplit("/", 1)[-1], flags=re.ASCII)
    return "/".join([*partitions(key), f"{number:06d}-{name[-LONGEST_NAME:]}"])


def ending(key: str) -> str | None:
    """Return the ending of a key that names a format, below that of a compression; None without."""
    names = key.rsplit("/", 1)[-1].lower().split(".")[1:]
    while names and names[-1] in PACKED:
        names.pop()
    return names[-1] if names and names[-1] in ENDINGS else None


def format_of(prefix: str, keys: Sequence[str], named: str | None) -> str:
    """Return the format of a directory's files: the one named, else the one that all endings name.

    Raises:
        ValueError: none is named and the endings do not name one, or an ending contradicts it.
    """
    endings = {ending(key): key for key in reversed(keys)}  # the first of each
    if named is None:
        only = next(iter(endings)) if len(endings) == 1 else None
        if only is not None:
            return ENDINGS[only][0]
        known = ", ".join(sorted(map(str, filter(None, endings)))) or "nothing"
        raise ArgumentError(
            f"the files of {prefix} do not all tell their format by one ending (they tell {known}): "
            f"name it, format= one of {', '.join(FORMATS)}"
        )
    wrong = [key for end, key in endings.items() if end and named.lower() not in ENDINGS[end]]
    if wrong and named.lower() in FORMATS:
        raise ArgumentError(f"format {named!r} is not what the ending of {wrong[0]} says; read each format alone")
    return named


def _hidden(name: str) -> bool:
    if name in (".", ".."):  # to Spark steps of a path, not names
        return False
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")
