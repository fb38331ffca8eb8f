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
from workbench.formats.storage import Folder

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
        for action in _checkpoint(folder, name):
            replay.take(action)
    for number in range(0 if start is None else start + 1, version + 1):
        replay.commit(commit(folder, number))
    if replay.metadata is None or replay.protocol is None:
        raise ArgumentError(f"the log of {folder.location} has no metadata or no protocol at version {version}")
    files = {file.name: file for file in replay.files.values()}
    return _state(folder, version, (first, last), replay.protocol, replay.metadata, files)


def _state(
    folder: Folder,
    version: int,
    versions: tuple[int, int],
    protocol: Action,
    metadata: Action,
    files: Mapping[str, File],
) -> State:
    listed = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
    setting = (metadata.get("configuration") or {}).get("delta.enableDeletionVectors")
    return State(
        kind="delta",
        folder=folder,
        version=version,
        files=files,
        partitions=tuple(metadata["partitionColumns"]),
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
    name = f"{LOG}/{version:020d}.json"
    return list(_lines(folder, name, folder.read(name)))


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
                change = action.get("add") or action.get("remove")
                names |= {storage.decoded(change["path"])} if change else set()
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
            sidecars.append(storage.decoded(action["sidecar"]["path"]))
        yield action
    for sidecar in sidecars:
        yield from _actions(folder, sidecar if "/" in sidecar else f"{LOG}/_sidecars/{sidecar}")


def _actions(folder: Folder, name: str) -> Iterator[Action]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = folder.read(name)
    except FileNotFoundError as error:
        raise ArgumentError(f"the log of {folder.location} lacks {name}, which a checkpoint names") from error
    if name.endswith(".json"):
        yield from _lines(folder, name, content)
        return
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        kinds = [kind for kind in _KINDS if kind in file.schema_arrow.names]
        for batch in file.iter_batches(columns=kinds):
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                yield {kind: value for kind, value in row.items() if value is not None}
    except pa.ArrowException as error:
        raise ArgumentError(f"{folder.location}/{name} is damaged: {error}") from error


def _lines(folder: Folder, name: str, content: bytes) -> Iterator[Action]:
    try:
        for line in content.splitlines():
            if line.strip():
                yield json.loads(line)
    except ValueError as error:
        raise ArgumentError(f"{folder.location}/{name} is damaged: {error}") from error


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
            self.metadata = body
        elif body := action.get("protocol"):
            self.protocol = body
        elif body := action.get("remove"):
            self.files.pop(_key(body), None)
        elif body := action.get("add"):
            self.files[_key(body)] = _file(body)


def _key(action: Action) -> tuple[str, str]:
    """Return what names a file in a log: its path, and its deletion vector where it has one."""
    vector = action.get("deletionVector")
    if not vector:
        return storage.decoded(action["path"]), ""
    unique = f"{vector['storageType']}{vector['pathOrInlineDv']}"
    offset = vector.get("offset")
    return storage.decoded(action["path"]), unique if offset is None else f"{unique}@{offset}"


def _file(add: Action) -> File:
    vector = add.get("deletionVector")
    statistics = json.loads(add.get("stats") or "{}")
    return File(
        storage.decoded(add["path"]),
        add["size"],
        # an empty text is NULL, as Hive's folders cannot tell them apart
        {name: value or None for name, value in (add.get("partitionValues") or {}).items()},
        Vector(
            vector["storageType"],
            vector["pathOrInlineDv"],
            vector.get("offset") or 0,
            vector["sizeInBytes"],
            vector["cardinality"],
        )
        if vector
        else None,
        statistics.get("numRecords"),
    )
