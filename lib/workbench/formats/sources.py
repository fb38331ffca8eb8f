"""The formats that a source can have, told by its folder: what reads a version of it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from workbench._base.errors import ArgumentError
from workbench.formats.delta import log
from workbench.formats.delta import looking as delta
from workbench.formats.hudi import looking as hudi
from workbench.formats.hudi import timeline
from workbench.formats.inspection import Inspection
from workbench.formats.results import Kind
from workbench.formats.storage import Folder

_SHOWN = 3  # names that a folder has


class Inspected(Protocol):
    """Read a version of a source: of the files at the locations `known` no footer is read."""

    def __call__(
        self, folder: Folder, version: int | None = None, known: Collection[str] | None = None
    ) -> Inspection:
        """Return what a move has to know."""


@dataclass(frozen=True)
class Source:
    """How tables of a format are read.

    Attributes:
        kind: delta or hudi.
        version: the newest version of a folder's table, or the named one where there is such a version.
        inspected: all that a move has to know of a version.
        touched: names of the files that the commits between two versions added, removed or hid rows of; None where
            that is not known.
        fixed: whether a version is the same set of files for ever. Of Hudi a writer that began earlier may
            complete later, and in older tables nothing says when it did.
    """

    kind: Kind
    version: Callable[[Folder, int | None], int]
    inspected: Inspected
    touched: Callable[[Folder, int, int], frozenset[str] | None]
    fixed: bool


DELTA = Source(
    "delta", lambda folder, version: log.read(folder, version).version, delta.inspected, log.touched, True
)
HUDI = Source("hudi", timeline.version, hudi.inspected, lambda folder, after, to: frozenset(), False)


def of(folder: Folder) -> Source:
    """Return how the table in a folder is read.

    Raises:
        ValueError: it holds no table of a known format.
    """
    if log.is_delta(folder):
        return DELTA
    if timeline.is_hudi(folder):
        return HUDI
    if any(name.endswith(".metadata.json") for name in folder.sizes("metadata")):
        raise ArgumentError(
            f"{folder.location} is the folder of an Iceberg table, expected that of a Delta or Hudi table: there "
            "is nothing to move"
        )
    entries = folder.entries()
    more = f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else ""
    raise ArgumentError(
        f"{folder.location} holds no table of a known format: expected a folder with {log.LOG}/ or "
        f"{timeline.HOODIE}/{timeline.PROPERTIES}; it has {', '.join(entries[:_SHOWN]) or 'nothing'}{more}"
    )
