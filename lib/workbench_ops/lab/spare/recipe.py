"""What a JVM is started with: two recipes are equal, or the one's JVM is not for the other."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from workbench_ops.lab.spare import VARIABLE

Recipe = dict[str, Any]  # as JSON has it: conf, variables, folder, files, python

# What Jupyter and IPython set for a kernel and its screen; neither Spark nor this library reads them
OF_A_KERNEL = {
    VARIABLE, "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "GIT_PAGER", "MPLBACKEND", "PAGER",
    "PYDEVD_DISABLE_FILE_VALIDATION", "PYDEVD_USE_FRAME_EVAL", "TERM",
}  # fmt: skip
PREFIXES = ("JPY_", "IPY_")


def of(conf: Mapping[str, str]) -> Recipe:
    """Return the recipe of a JVM that this process would start now.

    Args:
        conf: settings of Spark on the command line, key to text.

    Returns:
        dict: `conf`; `variables` of this process but those that Jupyter sets for each kernel; `folder`; `files`,
        each path with its size, time and number; `python`. It may hold secrets: it goes through the keeper's
        socket alone, never into a file or a command line.
    """
    return {
        "conf": dict(conf),
        "variables": {name: value for name, value in os.environ.items() if not _of_a_kernel(name)},
        "folder": str(Path.cwd()),
        "files": {str(path): _state(path) for path in _files(conf)},
        "python": sys.executable,
    }


def differences(recipe: Recipe, other: Recipe) -> list[str]:
    """Return where two recipes differ, as `folder` or `variables PATH`: names alone, values may be secret."""
    places = []
    for part in sorted(recipe.keys() | other.keys()):
        mine, theirs = recipe.get(part), other.get(part)
        if isinstance(mine, dict) and isinstance(theirs, dict):
            names = sorted(mine.keys() | theirs.keys())
            places += [f"{part} {name}" for name in names if mine.get(name) != theirs.get(name)]
        elif mine != theirs:
            places.append(part)
    return places


def _of_a_kernel(name: str) -> bool:
    return name in OF_A_KERNEL or name.startswith(PREFIXES)


def _files(conf: Mapping[str, str]) -> Iterator[Path]:
    """Yield the jars that the settings name, and Spark's own, which an installation changes."""
    yield from map(Path, filter(None, conf.get("spark.driver.extraClassPath", "").split(os.pathsep)))
    for address in filter(None, conf.get("spark.jars", "").split(",")):
        yield Path(unquote(urlsplit(address).path) if address.startswith("file:") else address)
    if home := os.environ.get("SPARK_HOME"):
        yield from (Path(home) / "jars", Path(home) / "conf", Path(home) / "conf" / "spark-defaults.conf")


def _state(path: Path) -> list[int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return [state.st_size, state.st_mtime_ns, state.st_ino]
