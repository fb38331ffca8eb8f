"""A lock file that one process holds, or the sentence that says who else does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from workbench._base.errors import ArgumentError


@contextmanager
def held(path: str | Path, otherwise: str, *, seconds: float = 0) -> Iterator[None]:
    """Hold a lock file, in a folder that is made when missing; the system lets go of it however this process ends.

    Args:
        path: the file.
        otherwise: message of the error where somebody else holds it.
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
