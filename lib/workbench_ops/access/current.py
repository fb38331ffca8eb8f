"""A policy file as it is at this moment, read once for each of its contents."""

import functools
import hashlib
import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench import access
from workbench._base.errors import ArgumentError


def policy(path: Path) -> access.Policy:
    """Return the policy of a file as the file is now.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: it is not a policy, or was written meanwhile.
    """
    return _policy(path, hashlib.sha256(path.read_bytes()).hexdigest())


@functools.lru_cache(maxsize=1)
def _policy(path: Path, digest: str) -> access.Policy:
    read = access.read(path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:  # what was read may be of another content
        raise ArgumentError(f"{path} was written while it was read")
    return read


@dataclass(frozen=True)
class Principals(Collection[str]):
    """The principals of a policy file as it is now; none where it cannot be read, and why is in the log."""

    path: Path

    def __contains__(self, name: object) -> bool:
        return name in self._now()

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def _now(self) -> tuple[str, ...]:
        try:
            return tuple(policy(self.path).principals)
        except (OSError, ValueError) as error:
            logging.getLogger(__name__).error("nobody is let in: %s", error)
            return ()
