"""The throw-away lake of a run: one folder, named to every child process, removed by the last one out.

Each process that uses the folder holds a lock on a file of its own in it. The operating system drops that lock
however the process ends, so a folder without a held lock is nobody's, and the next start sweeps it. Entering,
leaving and sweeping take turns under one lock, so that nobody sweeps a folder that is just being entered.
"""

import atexit
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from workbench._base import settings

VARIABLE = "WORKBENCH_SCRATCH"
MARK = ".workbench-scratch"
_held: dict[Path, tuple[FileLock, int]] = {}  # folder to the lock on our file in it, and the process that took it


def enter() -> Path:
    """Return this run's throw-away folder, made when no parent process named one.

    The folder is removed when the last process that entered it leaves (at exit, or by `leave`).
    """
    named = os.environ.get(VARIABLE)
    if named and not (Path(named) / MARK).is_file():
        named = None  # gone meanwhile, or somebody else's folder, which is not ours to remove
    with _turn() as base:
        if not named:
            _sweep(base)
        folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="run-", dir=base))
        if folder not in _held or _held[folder][1] != os.getpid():
            (folder / MARK).touch()
            (folder / "users").mkdir(exist_ok=True)
            lock = FileLock(folder / "users" / uuid.uuid4().hex)
            lock.acquire(timeout=0)
            _held[folder] = (lock, os.getpid())
            atexit.register(leave, folder)
    os.environ[VARIABLE] = str(folder)
    return folder


def keep(folder: str | Path) -> None:
    """Mark a folder as one to keep: nobody removes it, and no sweep does."""
    (Path(folder) / "keep").touch()


def leave(folder: Path) -> None:
    """Let go of a folder; remove it when nobody else is in it and it is not to be kept."""
    if folder not in _held or _held[folder][1] != os.getpid():  # a forked child inherits no right to leave
        return
    with _turn():
        lock, _ = _held.pop(folder)
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)
        _remove_if_unused(folder)
    if os.environ.get(VARIABLE) == str(folder):
        del os.environ[VARIABLE]


def sweep() -> int:
    """Remove the throw-away folders that dead runs left, and return how many."""
    with _turn() as base:
        return _sweep(base)


def _sweep(base: Path) -> int:
    return sum(_remove_if_unused(folder) for folder in base.glob("run-*"))


@contextmanager
def _turn() -> Iterator[Path]:
    base = _base()
    with FileLock(base / "lock"):
        yield base


def _base() -> Path:
    base = settings.home() / ".workbench" / "scratch"
    with suppress(OSError):
        base.mkdir(parents=True, exist_ok=True)
    if not os.access(base, os.W_OK):  # a home whose folder is read-only, as in Glue
        base = Path(tempfile.gettempdir()) / f"iceberg-workbench-{os.getuid()}"
        base.mkdir(mode=0o700, exist_ok=True)
    return base


def _remove_if_unused(folder: Path) -> bool:
    if not (folder / MARK).exists() and any(folder.iterdir()):
        return False
    if (folder / "keep").exists() or any(_is_held(user) for user in (folder / "users").glob("*")):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _is_held(user: Path) -> bool:
    try:
        with FileLock(user, timeout=0):
            return False
    except Timeout:
        return True
