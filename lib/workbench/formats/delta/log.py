"""The state of a Delta table at a version, replayed from its log: checkpoints of all kinds, then commits.

The rules are those of the Delta protocol (delta-io/delta, PROTOCOL.md, *Action Reconciliation*): the last metadata
and protocol count, and a file is what its path and its deletion vector together name.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.formats import inspection, storage
from workbench.formats.inspection import File, Vector
from workbench.formats.storage import Folder, of_kind

LOG = "_delta_log"
Action = dict[str, Any]
_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.([0-9a-f-]{36}))?\.(parquet|json)")
_KINDS = ("add", "remove", "metaData", "protocol", "sidecar")


@dataclass(frozen=True)
class State(inspection.State):
    """A Delta table at a version, from 0.

    Attributes:
        versions: the first and the last that can be read.
        protocol: reader and writer versions, and features.
        metadata: schema, partition columns, configuration.
    """

    versions: tuple[int, int]
    protocol: Action
    metadata: Action

    @property
    def configuration(self) -> Mapping[str, str]:
        """The table's properties."""
        return self.metadata.get("configuration") or {}

    @property
    def mapping(self) -> str:
        """How columns are named in files: none, name or id."""
        return self.configuration.get("delta.columnMapping.mode", "none")


def is_delta(folder: Folder) -> bool:
    """Say whether a folder holds a Delta table."""
    names = folder.sizes(LOG)
    return any(_COMMIT.fullmatch(name) or _CHECKPOINT.fullmatch(name) for name in names)


def read(folder: Folder, version: int | None = None) -> State:
    """Read the state of a version.

    Args:
        folder: of the table.
        version: None for the newest.

    Raises:
        ValueError: no such version, or the log has a gap, a damaged file or no metadata.
    """
    names = folder.sizes(LOG)
    commits = {int(match[1]) for name in names if (match := _COMMIT.fullmatch(name))}
    checkpoints = _checkpoints(names)
    first, last = _versions(folder, commits, set(checkpoints))
    version = last if version is None else version
    if not first <= version <= last:
        raise ArgumentError(f"{folder.location} has no version {version}; it has {first} to {last}")
    start = max((number for number in checkpoints if number <= version), default=None)
    replay = _Replay()
    for name in checkpoints[start] if start is not None else ():
        with storage.whole(f"{folder.location}/{LOG}/{name}"):
            for action in _checkpoint(folder, name):
                replay.take(action)
    for number in range(0 if start is None else start + 1, version + 1):
        with storage.whole(f"{folder.location}/{_named(number)}"):
            replay.commit(commit(folder, number))
    if replay.metadata is None or replay.protocol is None:
        raise ArgumentError(f"the log of {folder.location} has no metadata or no protocol at version {version}")
    files = {file.name: file for file in replay.files.values()}
    with storage.whole(f"the log of {folder.location}"):
        return _state(folder, version, (first, last), replay.protocol, replay.metadata, files)


def _state(
    folder: Folder,
    version: int,
    versions: tuple[int, int],
    protocol: Action,
    metadata: Action,
    files: Mapping[str, File],
) -> State:
    of_kind(protocol["minReaderVersion"], int)
    listed = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
    setting = (metadata.get("configuration") or {}).get("delta.enableDeletionVectors")
    return State(
        kind="delta",
        folder=folder,
        version=version,
        files=files,
        partitions=tuple(of_kind(name, str) for name in of_kind(metadata["partitionColumns"], list)),
        features=tuple(sorted(listed)),
        vectors=setting == "true" or any(file.vector for file in files.values()),
        versions=versions,
        protocol=protocol,
        metadata=metadata,
    )


def commit(folder: Folder, version: int) -> list[Action]:
    """Return the actions of a commit.

    Raises:
        FileNotFoundError: the log does not have it any more.
        ValueError: the file is damaged.
    """
    name = _named(version)
    return list(_lines(folder, name, folder.read(name)))


def _named(version: int) -> str:
    return f"{LOG}/{version:020d}.json"


def touched(folder: Folder, after: int, to: int) -> frozenset[str] | None:
    """Return the names of the files that commits added or removed; None where the log has not all of them.

    Args:
        folder: of the table.
        after: the version before the first of the commits.
        to: the version of the last.
    """
    names: set[str] = set()
    try:
        for version in range(after + 1, to + 1):
            for action in commit(folder, version):
                if change := action.get("add") or action.get("remove"):
                    with storage.whole(f"{folder.location}/{_named(version)}"):
                        names.add(_path(change))
    except FileNotFoundError:
        return None
    return frozenset(names)


def _versions(folder: Folder, commits: set[int], checkpoints: set[int]) -> tuple[int, int]:
    """Return the first and the last version that can be read: from 0 or a checkpoint on without a gap."""
    if not commits | checkpoints:
        raise ArgumentError(f"{folder.location} is not a Delta table: {LOG} has no commit and no checkpoint")
    last = max(commits | checkpoints)
    first = last
    while first in commits and first - 1 in commits | checkpoints:
        first -= 1
    readable = [version for version in checkpoints if version >= first] + ([0] if first == 0 in commits else [])
    if not readable:
        raise ArgumentError(
            f"the log of {folder.location} has a gap before version {first}: its commits are not all there, and "
            "no checkpoint is behind the gap. Restore the missing files of the log"
        )
    return min(readable), last


def _checkpoints(names: Mapping[str, int]) -> dict[int, list[str]]:
    """Return {version: files of a whole checkpoint}."""
    by_version: dict[int, dict[str, list[str]]] = {}
    parts: dict[tuple[int, str], int] = {}
    for name in sorted(names):
        if match := _CHECKPOINT.fullmatch(name):
            kind = match[4] or match[3] or ""
            by_version.setdefault(int(match[1]), {}).setdefault(kind, []).append(name)
            parts[int(match[1]), kind] = int(match[3] or 1)
    return {
        version: whole[0]
        for version, kinds in by_version.items()
        if (whole := [files for kind, files in kinds.items() if len(files) == parts[version, kind]])
    }


def _checkpoint(folder: Folder, name: str) -> Iterator[Action]:
    """Yield the actions of a file of a checkpoint, those of its sidecars behind them."""
    sidecars = []
    for action in _actions(folder, f"{LOG}/{name}"):
        if action.get("sidecar"):
            sidecars.append(_path(action["sidecar"]))
        yield action
    for sidecar in sidecars:
        yield from _actions(folder, sidecar if "/" in sidecar else f"{LOG}/_sidecars/{sidecar}")


def _actions(folder: Folder, name: str) -> Iterator[Action]:
    import pyarrow.parquet as pq

    try:
        content = folder.read(name)
    except FileNotFoundError as error:
        raise ArgumentError(f"the log of {folder.location} lacks {name}, which a checkpoint names") from error
    if name.endswith(".json"):
        yield from _lines(folder, name, content)
        return
    with storage.whole(f"{folder.location}/{name}"):
        file = pq.ParquetFile(io.BytesIO(content))
        kinds = [kind for kind in _KINDS if kind in file.schema_arrow.names]
        for batch in file.iter_batches(columns=kinds):
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                yield {kind: value for kind, value in row.items() if value is not None}


def _lines(folder: Folder, name: str, content: bytes) -> Iterator[Action]:
    with storage.whole(f"{folder.location}/{name}"):
        for line in content.splitlines():
            if line.strip():
                yield of_kind(json.loads(line), dict)


class _Replay:
    """What the actions so far leave: the last metadata and protocol, the files that are live."""

    def __init__(self) -> None:
        self.metadata: Action | None = None
        self.protocol: Action | None = None
        self.files: dict[tuple[str, str], File] = {}

    def commit(self, actions: list[Action]) -> None:
        """Take the actions of one commit: what it removes goes before what it adds."""
        for action in sorted(actions, key=lambda action: "add" in action):
            self.take(action)

    def take(self, action: Action) -> None:
        """Take one action."""
        if body := action.get("metaData"):
            self.metadata = of_kind(body, dict)
        elif body := action.get("protocol"):
            self.protocol = of_kind(body, dict)
        elif body := action.get("remove"):
            self.files.pop(_key(body), None)
        elif body := action.get("add"):
            self.files[_key(body)] = _file(body)


def _key(action: Action) -> tuple[str, str]:
    """Return what names a file in a log: its path, and its deletion vector where it has one."""
    vector = action.get("deletionVector")
    if not vector:
        return _path(action), ""
    unique = f"{vector['storageType']}{vector['pathOrInlineDv']}"
    offset = vector.get("offset")
    return _path(action), unique if offset is None else f"{unique}@{offset}"


def _path(action: Action) -> str:
    return storage.decoded(of_kind(action["path"], str))


def _file(add: Action) -> File:
    rows = json.loads(add.get("stats") or "{}").get("numRecords")
    return File(
        _path(add),
        of_kind(add["size"], int),
        # an empty text is NULL, as Hive's folders cannot tell them apart
        {name: of_kind(value or "", str) or None for name, value in (add.get("partitionValues") or {}).items()},
        _vector(add["deletionVector"]) if add.get("deletionVector") else None,
        None if rows is None else of_kind(rows, int),
    )


def _vector(vector: Action) -> Vector:
    return Vector(
        of_kind(vector["storageType"], str),
        of_kind(vector["pathOrInlineDv"], str),
        of_kind(vector.get("offset") or 0, int),
        of_kind(vector["sizeInBytes"], int),
        of_kind(vector["cardinality"], int),
    )
