"""The timeline of a Hudi table: which operations completed, in both of its layouts, and what they wrote.

The rules are those of Hudi's specification (hudi.apache.org, tech-specs for tables before version 8,
tech-specs-1point0 from 8 on). An operation is named by the time of its request. From version 8 on the name of a
completed one has the time of its completion as well; before, nothing says in which order operations completed.
"""

import functools
import io
import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.formats import storage
from workbench.formats.hudi.properties import parsed
from workbench.formats.storage import Folder, of_kind

HOODIE, PROPERTIES = ".hoodie", "hoodie.properties"
Json = dict[str, Any]
_LAYOUTS = {5: 1, 6: 1, 8: 2, 9: 2}  # table version: layout of the timeline
_INSTANT = re.compile(r"(\d+)(?:_(\d+))?\.([a-z]+)(?:\.(requested|inflight))?", re.ASCII)
_TIMES = (14, 17)  # digits of a time, in seconds and in milliseconds
WRITES = ("commit", "deltacommit", "replacecommit", "clustering", "compaction", "logcompaction")
_CHANGES = (*WRITES, "restore", "rollback")
_THREADS = 16
_AVRO = b"Obj\x01"
_SHOWN = 5  # versions in an error


@dataclass(frozen=True)
class Instant:
    """A completed operation.

    Attributes:
        time: of its request, by which files name it.
        completed: time of its completion; that of its request where the timeline does not say it.
        action: commit, replacecommit, rollback, ….
        path: of its file, from the table's folder on.
    """

    time: str
    completed: str
    action: str
    path: str

    @property
    def version(self) -> int:
        """The version of the table that it made."""
        return number(self.completed)


@dataclass(frozen=True)
class Commit:
    """What an operation wrote.

    Attributes:
        instant: Instant.
        files: {path from the table's folder on: bytes, 0 where it does not say}.
        previous: {the same path: time of the write whose base file it took the place of}; of a new group nothing.
        replaced: (partition, file group) that it put others in the place of.
        extra: what its writer noted; its schema among it.
        operation: kind of the write in Hudi's words: UPSERT, CLUSTER, …; "" where it does not say.
    """

    instant: Instant
    files: Mapping[str, int]
    previous: Mapping[str, str]
    replaced: frozenset[tuple[str, str]]
    extra: Mapping[str, str]
    operation: str


@dataclass(frozen=True)
class Timeline:
    """What happened to a table up to a version.

    Attributes:
        folder: of the table.
        properties: of hoodie.properties.
        table_version: of Hudi's table format.
        version: the newest change in `writes` or beyond; the table's version.
        versions: all that can be named, ascending.
        writes: completed writes up to the version, in the order of their completion.
        later: times of writes that completed after it.
        pending: times of operations that were begun and did not complete.
        first: time of the first write that the timeline still lists: earlier ones were archived, and completed.
        start: the same of those writes that no savepoint keeps in the timeline.
        commits: what each of `writes` wrote, in the same order.
    """

    folder: Folder
    properties: Mapping[str, str]
    table_version: int
    version: int
    versions: tuple[int, ...]
    writes: tuple[Instant, ...]
    later: frozenset[str]
    pending: frozenset[str]
    first: str
    start: str
    commits: tuple[Commit, ...] = field(repr=False)

    @property
    def completions(self) -> bool:
        """Whether the timeline says when operations completed."""
        return _LAYOUTS[self.table_version] > 1

    @functools.cached_property
    def _times(self) -> frozenset[str]:
        return frozenset(instant.time for instant in self.writes)

    def completed(self, time: str) -> bool:
        """Say whether the operation of a time had completed at the version."""
        if time in self._times:
            return True
        return time not in self.pending and time not in self.later and time < self.start

    def behind_savepoint(self, time: str) -> bool:
        """Say whether a write was archived between a savepointed one and the first other one.

        Hudi means such writes to count (HoodieTimeline.getFirstNonSavepointCommit), but its view of the files
        (AbstractTableFileSystemView.refreshTimeline) is given the writes without the savepoints, and shows none.
        """
        return self.first < time and time not in self._times and self.completed(time)


def number(time: str) -> int:
    """Return a time as a number of 17 digits."""
    return int(time.ljust(_TIMES[1], "0"))


def is_hudi(folder: Folder) -> bool:
    """Say whether a folder holds a Hudi table."""
    return PROPERTIES in folder.sizes(HOODIE)


def version(folder: Folder, named: int | None = None) -> int:
    """Return the newest version, or a named one.

    Raises:
        ValueError: no such version, a table version that is not known, or a table without a commit.
    """
    _, _, instants, _ = _listed(folder)
    return _chosen(folder, instants, named)


def read(folder: Folder, named: int | None = None) -> Timeline:
    """Read the timeline up to a version.

    Args:
        folder: of the table.
        named: version; None for the newest.

    Raises:
        ValueError: no such version, a table version that is not known, a damaged file, or a timeline that changed
            while it was read.
        MissingPackageError: fastavro is not installed, and the timeline is written in Avro.
    """
    properties, table_version, instants, pending = _listed(folder)
    at = _chosen(folder, instants, named)
    writes = [instant for instant in instants if instant.action in WRITES]
    savepoints = {instant.time for instant in instants if instant.action == "savepoint"}
    # writes before a savepointed one were archived, and so were those between it and the first other one
    times = sorted(instant.time for instant in writes)
    start = next((time for time in times if time not in savepoints), times[0] if times else "")
    upto = tuple(instant for instant in writes if instant.version <= at)
    with ThreadPoolExecutor(_THREADS) as pool:
        commits = tuple(pool.map(lambda instant: _commit(folder, instant), upto))
    return Timeline(
        folder=folder,
        properties=properties,
        table_version=table_version,
        version=at,
        versions=tuple(_versions(instants)),
        writes=upto,
        later=frozenset(instant.time for instant in writes if instant.version > at),
        pending=frozenset(pending),
        first=times[0] if times else "",
        start=start,
        commits=commits,
    )


def _listed(folder: Folder) -> tuple[dict[str, str], int, list[Instant], set[str]]:
    """Return properties, table version, completed instants by completion, and times of pending ones."""
    with storage.whole(f"{folder.location}/{HOODIE}/{PROPERTIES}"):
        properties = parsed(folder.read(f"{HOODIE}/{PROPERTIES}"))
    stated = properties.get("hoodie.table.version", "0")
    table_version = next((known for known in _LAYOUTS if str(known) == stated), 0)
    if table_version not in _LAYOUTS:
        raise ArgumentError(
            f"{folder.location} is a Hudi table of version {stated}; known are "
            f"{', '.join(map(str, _LAYOUTS))}: upgrade or downgrade it by Hudi"
        )
    layout = _LAYOUTS[table_version]
    if (stated := properties.get("hoodie.timeline.layout.version", str(layout))) != str(layout):
        raise ArgumentError(
            f"{folder.location} has timeline layout {stated}, expected {layout} in table version {table_version}"
        )
    where = HOODIE if layout == 1 else f"{HOODIE}/{properties.get('hoodie.timeline.path', 'timeline')}"
    completed, begun = [], set()
    for name in folder.sizes(where):
        if not (match := _INSTANT.fullmatch(name)):
            continue
        time, completion, action, state = match.groups()
        if len(time) not in _TIMES or len(completion or time) not in _TIMES:
            raise ArgumentError(
                f"{folder.location}/{where}/{name} is not named by a time of {_TIMES[0]} or {_TIMES[1]} digits"
            )
        if state or action == "inflight":
            begun.add(time)
        elif layout == 2 and completion is None:
            raise ArgumentError(
                f"{folder.location}/{where}/{name} says no time of completion, expected in its name"
            )
        else:
            completed.append(Instant(time, completion or time, action, f"{where}/{name}"))
    completed.sort(key=lambda instant: (number(instant.completed), instant.time))
    return properties, table_version, completed, begun - {instant.time for instant in completed}


def _versions(instants: Iterable[Instant]) -> list[int]:
    return sorted({instant.version for instant in instants if instant.action in _CHANGES})


def _chosen(folder: Folder, instants: Iterable[Instant], named: int | None) -> int:
    versions = _versions(instants)
    if not versions:
        raise ArgumentError(
            f"{folder.location} is a Hudi table without a completed commit: it has no rows to move"
        )
    if named is None:
        return versions[-1]
    if named not in versions:
        shown = ", ".join(map(str, versions[-_SHOWN:]))
        before = f"{len(versions) - _SHOWN} earlier and " if len(versions) > _SHOWN else ""
        raise ArgumentError(f"{folder.location} has no version {named}; its timeline lists {before}{shown}")
    return named


def _commit(folder: Folder, instant: Instant) -> Commit:
    try:
        content = folder.read(instant.path)
    except FileNotFoundError as error:
        raise ArgumentError(
            f"the timeline of {folder.location} was archived while it was read, {instant.path} first: begin again"
        ) from error
    with storage.whole(f"{folder.location}/{instant.path}"):
        body = decoded(content)
        files: dict[str, int] = {}
        previous: dict[str, str] = {}
        for stats in (body.get("partitionToWriteStats") or {}).values():
            for stat in of_kind(stats, list):
                size = of_kind(stat.get("fileSizeInBytes") or 0, int)
                path = of_kind(stat.get("path") or "", str)
                if not path and size:  # of a partition without a new file both say nothing
                    raise ValueError(f"it wrote {size} bytes and does not say where")
                if path:
                    files[path] = size
                    if (before := of_kind(stat.get("prevCommit") or "null", str)) != "null":
                        previous[path] = before
        replaced = frozenset(
            (partition, of_kind(group, str))
            for partition, groups in (body.get("partitionToReplaceFileIds") or {}).items()
            for group in of_kind(groups, list)
        )
        extra = {key: value for key, value in (body.get("extraMetadata") or {}).items() if value is not None}
        operation = (body.get("operationType") or "").upper()
    return Commit(instant, files, previous, replaced, extra, operation)


def decoded(content: bytes) -> Json:
    """Return what the file of a completed operation says, in JSON or Avro.

    Raises:
        ValueError: it is neither.
        MissingPackageError: fastavro is not installed.
    """
    if not content.startswith(_AVRO):
        body = json.loads(content)
    else:
        try:
            import fastavro
        except ModuleNotFoundError as error:
            raise MissingPackageError(
                "fastavro is not installed: pip install 'iceberg-workbench[formats]'"
            ) from error
        try:
            body = next(iter(fastavro.reader(io.BytesIO(content))), {})
        except Exception as error:  # its errors, as of a damaged schema, have no kind in common
            raise ValueError(f"{type(error).__name__}: {error}") from error
    if not isinstance(body, dict):
        raise ValueError(f"it holds a {type(body).__name__}, expected an object")
    return body
