"""A Hudi table read by DuckDB, from the base files that hudi-rs's timeline leaves.

hudi-rs itself reads no table with moments without a zone, but its timeline does not ask for the columns. What each
write says is decoded by it, and replayed here from the first write to the last: the move finds its files in the
folder instead. The rows are read by DuckDB. Only what archived writes left, which hudi-rs does not list, is found
by the names of files.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from workbench._base import duck
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.formats import comparing
from workbench.formats.comparing import Json, Sums

_WRITES = ("commits", "deltacommits", "replacecommits", "clustering_commits")
_BASE = re.compile(r"(?:(?P<folder>.*)/)?(?P<group>[^/_]+)_[^/_]+_(?P<time>\d+)\.parquet")
_COMPLETED = re.compile(r"\.hoodie/[^/]+/(\d+)_(\d+)\.[a-z]+")  # from table version 8 on
_DIGITS = 17  # of a time, to milliseconds
Live = dict[tuple[str, str], str]  # {(folder, id of a file group): path of its newest base file}


def summed(location: str, version: int, fields: list[Json]) -> Sums:
    """Return the sums of a table's rows at a version.

    Raises:
        ValueError: the table is not on this machine, or savepoints lie among archived writes.
        MissingPackageError: hudi is not installed.
    """
    try:
        from hudi import HudiTableBuilder
    except ModuleNotFoundError as error:
        raise MissingPackageError("hudi is not installed: pip install 'iceberg-workbench[formats]'") from error
    if not location.startswith("file://"):
        raise ArgumentError("DuckDB reads the Hudi tables of this machine alone")
    folder = location.removeprefix("file://")
    connection = comparing.connected()
    timeline = HudiTableBuilder.from_base_uri(folder).build().get_timeline()
    paths = [f"{folder}/{path}" for path in _replayed(timeline, version, _below(connection, folder)).values()]
    if not paths:
        return Sums(0, (0, 0), {field["name"]: 0 for field in fields})
    listed = ", ".join(map(duck.literal, sorted(paths)))
    rows = f"read_parquet([{listed}], union_by_name = true, hive_partitioning = false)"
    return comparing.summed(fields, rows, connection)


def _below(connection: Any, folder: str) -> list[str]:
    """Return the names of all files below a folder, from the folder on."""
    escaped = re.sub(r"([*?\[\]{}])", r"[\1]", folder)
    files = connection.execute(f"SELECT file FROM glob({duck.literal(f'{escaped}/**')})").fetchall()
    return [file[len(folder) + 1 :] for (file,) in files]


def _replayed(timeline: Any, version: int, names: list[str]) -> Live:
    """Return the base files that the completed writes up to a version leave."""
    written = {
        instant.timestamp: json.loads(timeline.get_instant_metadata_in_json(instant))
        for kind in _WRITES
        for instant in getattr(timeline, f"get_completed_{kind}")()
    }
    completed = {match[1]: match[2] for name in names if (match := _COMPLETED.fullmatch(name))}
    live = dict(_archived(names, min(written, default="")))
    for time in sorted(written):
        if int(completed.get(time, time).ljust(_DIGITS, "0")) > version:
            continue
        for partition, groups in (written[time].get("partitionToReplaceFileIds") or {}).items():
            for group in groups:
                live.pop((partition, group), None)
        for partition, files in (written[time].get("partitionToWriteStats") or {}).items():
            for file in files:
                if (file.get("path") or "").endswith(".parquet"):
                    live[partition, file["fileId"]] = file["path"]
    return live


def _archived(names: list[str], first: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield what writes that the timeline does not list any more left: of each file group the newest file.

    Raises:
        ValueError: a savepoint keeps writes in the timeline that are older than archived ones.
    """
    history = any(re.match(r"\.hoodie/(archived|timeline/history)/.*\.(parquet|archive)", name) for name in names)
    if history and any(name.startswith(".hoodie/") and name.endswith(".savepoint") for name in names):
        raise ArgumentError("savepoints lie among archived writes, and DuckDB cannot tell what these left")
    matches = [match for name in names if not name.startswith(".hoodie/") and (match := _BASE.fullmatch(name))]
    for match in sorted(matches, key=lambda match: match["time"]):
        if match["time"] < first:
            yield (match["folder"] or "", match["group"]), match[0]
