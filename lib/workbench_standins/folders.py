"""A folder for one server of this machine: its own, or a throw-away one; and the child that serves from it."""

import json
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

from workbench._base import children, locks
from workbench._base.errors import ArgumentError

LOCK_SECONDS = 5  # a server that was just killed lets go in a moment


def serve_from(serve, *, kind, mark):
    """Be the child of a server with a folder: read the settings, take `folder` or one `within`, and serve.

    Args:
        serve: function of (folder, settings) that says when it serves, and returns when it is over. Its ValueError
            and ChildProcessError are told to the parent.
        kind: as for `taken`.
        mark: as for `taken`.
    """
    os.umask(0o077)  # whatever is written here is the owner's alone
    settings = json.loads(sys.stdin.buffer.readline())
    try:
        with taken(settings["folder"], settings["within"], kind=kind, mark=mark) as place:
            serve(place, settings)
    except ValueError as error:
        children.say({"error": str(error)})
    except ChildProcessError as error:
        children.say({"died": str(error)})


@contextmanager
def taken(named, within, *, kind, mark):
    """Take a folder for one server: the named one, made when missing, or a throw-away one.

    Args:
        named: path, or None for a throw-away folder.
        within: folder that holds the throw-away one and removes it with itself; None removes it here.
        kind: what the server is, for the throw-away one's name.
        mark: name of a file that such a server's folder has.

    Yields:
        Path.

    Raises:
        ValueError: it is in use by another server, or cannot be written.
    """
    if named is None:
        made = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=within))
        try:
            yield made
        finally:
            if within is None:
                shutil.rmtree(made, ignore_errors=True)
        return
    folder = Path(named)
    used = f"the folder {folder} is in use by another server; end it, or name another"
    with ExitStack() as living:
        try:
            _make(folder, mark)
            living.enter_context(locks.held(folder / "lock", used, seconds=LOCK_SECONDS))
        except OSError as error:
            raise ArgumentError(f"the folder {folder} cannot be written: {error.strerror}") from None
        yield folder


def _make(folder, mark):
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700)
    if any(folder.iterdir()) and not (folder / "lock").exists() and not (folder / mark).exists():
        raise ArgumentError(f"the folder {folder} holds other things; name an empty one, or one of a server")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied")
