"""How a kernel is reached: over socket files in a private folder, so that nobody else on the machine can."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from traitlets.config import Config

MAX_SOCKET_PATH = 100  # the systems' limit on the path of a socket file is a little above


@contextmanager
def private(name):
    """Give the configuration of a notebook client whose kernel talks over sockets that only this user can open.

    Where the temporary folder's path is too long for a socket file, the kernel talks over the loopback address.

    Args:
        name: unique text, such as a run's id; `remove` takes it when the block was killed.
    """
    folder = _folder(name)
    folder.mkdir(mode=0o700)
    try:
        fits = len(str(folder / "k-99")) <= MAX_SOCKET_PATH
        yield Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "k")}} if fits else {})
    finally:
        remove(name)


def remove(name):
    """Remove the sockets of a kernel that is gone."""
    shutil.rmtree(_folder(name), ignore_errors=True)


def _folder(name):
    return Path(tempfile.gettempdir()) / f"kernel-{name}"
