"""A lock file that one process holds, or the sentence that says who else does."""

from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from workbench._base.errors import ArgumentError


@contextmanager
def held(path, otherwise, *, seconds=0):
    """Hold a lock file, in a folder that is made when missing; the system lets go of it however this process ends.

    Args:
        path: the file.
        otherwise: message for whoever finds it held.
        seconds: how long to wait for its holder.

    Raises:
        ValueError: another process, or another part of this one, holds it.
        OSError: it cannot be written.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        raise ArgumentError(otherwise) from None
    try:  # by itself, so that a Timeout of what is done meanwhile is not taken for ours
        yield
    finally:
        lock.release()
