"""What Spark makes of the keys of a directory: names it hides, folders that are partitions. Pure functions.

The rules are those of Spark's listing of files (HadoopFSUtils) and of its discovery of partitions.
"""

import re

LONGEST_NAME = 100  # of a copy; file systems take 255 bytes


def below(prefix, key):
    """Return the names of a key below a directory: folders and, last, the object's own."""
    start = prefix if prefix.endswith("/") or not prefix else prefix + "/"
    names = key[len(start) :] if key.startswith(start) else key.rsplit("/", 1)[-1]
    return names.split("/")


def hidden(prefix, key):
    """Say whether Spark hides a key of a directory, by its own name or that of a folder below the directory."""
    return any(_hidden(name) for name in below(prefix, key))


def partitions(key):
    """Return the partition folders (`name=value`) that Spark finds above an object, outermost first.

    They are those next to each other that are nearest to it; plain folders below them are passed over.
    """
    found = []
    for name in reversed(key.split("/")[:-1]):
        if "=" in name:
            found.append(name)
        elif found:
            break
    return tuple(reversed(found))


def columns(key):
    """Return the names of an object's partition columns."""
    return tuple(folder.partition("=")[0] for folder in partitions(key))


def base(uri):
    """Return the address from which on folders count as partitions, for a directory that may be one itself."""
    start, slashes, path = uri.partition("://")
    names = path.rstrip("/").split("/")
    while len(names) > 1 and "=" in names[-1]:
        names.pop()
    return start + slashes + "/".join(names)


def ambiguous(key):
    """Say whether a path cannot hold a key: Hadoop takes a//b, a/./b and a/x/../b for a/b."""
    return any(name in ("", ".", "..") for name in key.split("/"))


def copy_name(number, key):
    """Return the path of a copy below its folder: partition folders, and a name like the key's that is unique."""
    name = re.sub(r"[^\w.,+=@%~ -]", "_", key.rsplit("/", 1)[-1], flags=re.ASCII)
    return "/".join([*partitions(key), f"{number:06d}-{name[-LONGEST_NAME:]}"])


def _hidden(name):
    if name in (".", ".."):  # to Spark steps of a path and no names
        return False
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")
