"""A folder for one server of this machine, its own or a temporary one, and the child that serves from it."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from workbench._base import children, locks
from workbench._base.errors import ArgumentError

LOCK_SECONDS = 5  # the system takes the lock of a server that was just killed within a moment


def choice(folder: str | Path | None, within: str | Path | None) -> dict[str, str | None]:
    """Return the settings of a server's folder, for `serve_from`.

    Raises:
        ValueError: both are given.
    """
    if folder is not None and within is not None:
        raise ArgumentError("give folder, the server's own, or within, for a temporary one in it, and not both")
    own = None if folder is None else str(Path(folder).absolute())
    return {"folder": own, "within": None if within is None else str(within)}


def serve_from(serve: Callable[[Path, Mapping[str, Any]], None], *, kind: str, mark: str) -> None:
    """Read the settings as the child of a server with a folder, take `folder` or one `within`, and serve.

    Args:
        serve: function of (folder, settings) that tells the parent when it serves, and returns at its end.
            The parent gets its ValueError and ChildProcessError.
        kind: as of `taken`.
        mark: as of `taken`.
    """
    os.umask(0o077)  # whatever is written here is the owner's alone
    settings = json.loads(sys.stdin.buffer.readline())
    try:
        with taken(settings["folder"], settings["within"], kind=kind, mark=mark) as folder:
            serve(folder, settings)
    except ValueError as error:
        children.say({"error": str(error)})
    except ChildProcessError as error:
        children.say({"died": str(error)})


@contextmanager
def taken(named: str | None, within: str | None, *, kind: str, mark: str) -> Iterator[Path]:
    """Take a folder for one server and yield its path: the named one, made when missing, or a temporary one.

    Args:
        named: path, or None for a temporary folder.
        within: folder that holds the temporary one and removes it with itself; None removes it here.
        kind: what the server is, for the name of the temporary folder.
        mark: name of a file that such a server's folder has.

    Raises:
        ValueError: the folder is in use by another server, holds other things, or cannot be written.
    """
    if named is None:
        temporary = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=within))
        try:
            yield temporary
        finally:
            if within is None:
                shutil.rmtree(temporary, ignore_errors=True)
        return
    folder = Path(named)
    used = f"the folder {folder} is in use by another server; end it, or name another"
    with ExitStack() as living:
        try:
            _prepare(folder, mark)
            living.enter_context(locks.held(folder / "lock", used, seconds=LOCK_SECONDS))
        except OSError as error:
            raise ArgumentError(f"the folder {folder} cannot be written: {error.strerror}") from None
        yield folder


def _prepare(folder: Path, mark: str) -> None:
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700)
    if any(folder.iterdir()) and not (folder / "lock").exists() and not (folder / mark).exists():
        raise ArgumentError(f"the folder {folder} holds other things; name an empty one, or one of a server")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied")
