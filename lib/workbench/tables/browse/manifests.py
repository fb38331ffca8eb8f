"""The files that a snapshot's manifests list, read by fastavro; a manifest never changes, so it is read once.

What was read is kept by the manifest's location, its length and the storage's address, up to a number of files.
"""

import io
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench._base.errors import ArgumentError
from workbench.tables.browse import opening

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot
else:
    FileIO = Snapshot = Table = Any

KEPT = 500_000  # files in manifests that are kept at most
READERS = 8  # threads that fetch manifests: on a storage over a network they wait
DELETED = 2  # status of an entry: the file left the table with this manifest's commit
CONTENTS = {0: "data", 1: "position deletes", 2: "equality deletes"}
ADDRESS = ("s3.endpoint", "gcs.endpoint", "adls.account-name", "hdfs.host")


@dataclass(frozen=True)
class File:
    """A file of a snapshot, as a manifest lists it.

    Attributes:
        path: its location; deletion vectors of several data files may be in one file.
        content: data, position deletes or equality deletes.
        format: PARQUET, ORC, AVRO or PUFFIN.
        rows: that it holds; of deletes, how many rows they delete.
        bytes: of the whole file.
        partition: name of each partition field to its value as Spark has it; empty where there is none.
        spec_id: of the partition spec that it was written with.
        snapshot_id: of the commit that added it.
        sequence_number: of the data in it; 0 in tables of version 1.
        of: the data file that a deletion vector belongs to; None for any other.
    """

    path: str
    content: str
    format: str
    rows: int
    bytes: int
    partition: dict[str, Any]
    spec_id: int
    snapshot_id: int | None
    sequence_number: int
    of: str | None = None


@dataclass(frozen=True)
class _Manifest:
    """A line of a manifest list."""

    path: str
    length: int
    spec_id: int
    snapshot_id: int | None
    sequence_number: int


class _Kept:
    """Files of manifests that were read, the latest used last; safe for several threads."""

    def __init__(self, most: int) -> None:
        self.most, self.files, self.lock = most, 0, threading.Lock()
        self.by_manifest: OrderedDict[tuple[object, ...], tuple[File, ...]] = OrderedDict()

    def get(self, key: tuple[object, ...]) -> tuple[File, ...] | None:
        with self.lock:
            if key in self.by_manifest:
                self.by_manifest.move_to_end(key)
            return self.by_manifest.get(key)

    def put(self, key: tuple[object, ...], files: tuple[File, ...]) -> None:
        with self.lock:
            if key not in self.by_manifest:
                self.by_manifest[key] = files
                self.files += len(files)
            while self.files > self.most and len(self.by_manifest) > 1:
                self.files -= len(self.by_manifest.popitem(last=False)[1])


kept = _Kept(KEPT)


def live_files(table: Table, snapshot_id: int | None) -> list[File]:
    """Return the files that a snapshot consists of, in the order of its manifests.

    Args:
        table: PyIceberg's.
        snapshot_id: None for a table without a snapshot.

    Raises:
        ValueError: a manifest is missing or is not one.
    """
    snapshot = next((each for each in table.metadata.snapshots if each.snapshot_id == snapshot_id), None)
    if snapshot is None:
        return []
    with opening.answered(f"snapshot {snapshot_id} of {opening.name_of(table)}"):
        manifests = list(_listed(table.io, snapshot))
        address = _address(table.io.properties)
        specs = {id: {field.field_id: field.name for field in spec.fields} for id, spec in table.specs().items()}
        with ThreadPoolExecutor(READERS) as pool:
            several = list(pool.map(lambda each: _files(table.io, each, address, specs[each.spec_id]), manifests))
    return [file for files in several for file in files]


def _address(properties: Mapping[str, str]) -> tuple[str | None, ...]:
    """Return what tells one storage from another that has the same names in it."""
    return tuple(properties.get(key) for key in ADDRESS)


def _listed(storage: FileIO, snapshot: Snapshot) -> Iterator[_Manifest]:
    if not snapshot.manifest_list:
        raise ArgumentError(
            f"snapshot {snapshot.snapshot_id} has no manifest list, as early tables of version 1; ask Spark"
        )
    for entry in _records(storage, snapshot.manifest_list)[0]:
        yield _Manifest(
            entry["manifest_path"],
            entry["manifest_length"],
            entry["partition_spec_id"],
            entry.get("added_snapshot_id"),
            entry.get("sequence_number") or 0,
        )


def _files(
    storage: FileIO, manifest: _Manifest, address: tuple[str | None, ...], names: Mapping[int, str]
) -> tuple[File, ...]:
    key = (manifest.path, manifest.length, address)
    if (files := kept.get(key)) is None:
        entries, schema = _records(storage, manifest.path)
        files = tuple(_live(entries, manifest, _partition_names(schema, names)))
        kept.put(key, files)
    return files


def _partition_names(schema: Any, names: Mapping[int, str]) -> dict[str, str]:
    """Return what a manifest calls its partition fields, in names that Avro allows, to what they are called."""

    def fields(record: Any) -> dict[str, Any]:
        return {field["name"]: field for field in record["fields"]}

    partition = fields(fields(schema)["data_file"]["type"])["partition"]["type"]
    return {name: names.get(field.get("field-id"), name) for name, field in fields(partition).items()}


def _live(
    entries: Iterable[dict[str, Any]], manifest: _Manifest, partition_names: Mapping[str, str]
) -> Iterator[File]:
    for entry in entries:
        if entry["status"] == DELETED:
            continue
        file = entry["data_file"]
        snapshot_id, number = entry.get("snapshot_id"), entry.get("sequence_number")
        yield File(
            file["file_path"],
            CONTENTS[file.get("content") or 0],
            file["file_format"].upper(),
            file["record_count"],
            file["file_size_in_bytes"],
            {partition_names[name]: value for name, value in file["partition"].items()},
            manifest.spec_id,
            manifest.snapshot_id if snapshot_id is None else snapshot_id,
            manifest.sequence_number if number is None else number,  # a new file's is that of its manifest
            file.get("referenced_data_file"),
        )


def _records(storage: FileIO, path: str) -> tuple[list[dict[str, Any]], Any]:
    """Return the records of an Avro file, and the schema that it was written with."""
    import fastavro

    with storage.new_input(path).open() as stream:
        content = stream.read()
    try:
        reader = fastavro.reader(io.BytesIO(content))
        return list(reader), reader.writer_schema  # type: ignore[arg-type]  # its records are dicts here
    except (ValueError, EOFError, IndexError, KeyError, TypeError) as error:
        raise ArgumentError(f"{path} is not an Avro file, or is damaged: {error}") from error
