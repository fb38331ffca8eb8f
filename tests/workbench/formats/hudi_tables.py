"""The Hudi tables that `make_golden_hudi.py` made, and others that are written by the rules of Hudi's specification.

Writing through Hudi's engine takes a second a commit; here it takes milliseconds. That these are Hudi tables is what
hudi-rs says, which reads them in the tests.
"""

import functools
import io
import json
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_tables import GOLDEN

from workbench.formats import storage
from workbench.formats.hudi import slices, timeline

ROWS = json.loads((GOLDEN / "hudi_rows.json").read_text())  # {table: [rows, sum of ids]} as Hudi read them
FIELDS = [
    {"name": "id", "type": "long"},
    {"name": "area", "type": ["null", "string"], "default": None},
    {"name": "word", "type": ["null", "string"], "default": None},
]
VERSIONS = pytest.mark.parametrize("version", [6, 9])
META = (
    "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name",
)  # fmt: skip


def _optional(*kinds):
    return {"type": ["null", *kinds], "default": None}


def _map(values):
    return {"type": "map", "values": values}


_STAT = {"type": "record", "name": "HoodieWriteStat", "fields": [
    *({"name": name, **_optional("string")} for name in ("fileId", "path", "prevCommit", "partitionPath")),
    {"name": "fileSizeInBytes", **_optional("long")},
]}  # fmt: skip
# of HoodieCommitMetadata and HoodieReplaceCommitMetadata what readers need
COMMIT = {"type": "record", "name": "HoodieReplaceCommitMetadata", "namespace": "org.apache.hudi.avro.model", "fields": [
    {"name": "partitionToWriteStats", **_optional(_map({"type": "array", "items": _STAT}))},
    {"name": "partitionToReplaceFileIds", **_optional(_map({"type": "array", "items": "string"}))},
    {"name": "extraMetadata", **_optional(_map("string"))},
    {"name": "operationType", **_optional("string")},
]}  # fmt: skip


@functools.cache
def members():
    """Return {name in the archive: content}."""
    with tarfile.open(GOLDEN / "hudi_tables.tar.xz") as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}


def unpacked(name, folder):
    """Unpack a table into a folder of its name, and return that."""
    for member, content in members().items():
        if member.startswith(f"./{name}/"):
            path = folder / member
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder / name


class Written:
    """A copy-on-write table that is partitioned by `area`.

    Args:
        path: its folder.
        version: 6 or 9, of the table.
        fields: of the Avro schema.
        properties: more of hoodie.properties.
    """

    def __init__(self, path, version=9, fields=FIELDS, properties=()):
        self.path, self.version, self.fields = path, version, fields
        self.timeline = path / ".hoodie" / ("timeline" if version >= 8 else "")
        self.timeline.mkdir(parents=True)
        settings = {
            "hoodie.table.name": "t", "hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.version": version,
            "hoodie.timeline.layout.version": 2 if version >= 8 else 1, "hoodie.table.base.file.format": "PARQUET",
            "hoodie.table.partition.fields": "area", "hoodie.table.recordkey.fields": "id",
            "hoodie.table.timeline.timezone": "UTC", "hoodie.datasource.write.drop.partition.columns": "false",
        } | dict(properties)  # fmt: skip
        (path / ".hoodie/hoodie.properties").write_text(
            "".join(f"{key}={value}\n" for key, value in settings.items())
        )

    def file(self, group, time, rows, folder=None, schema=None, rows_a_group=None):
        """Write a base file; rows are dicts. Return (folder, file group, its path)."""
        folder = folder if folder is not None else (rows[0]["area"] or "none")
        name = f"{group}-0_0-1-2_{time}.parquet"
        (self.path / folder).mkdir(parents=True, exist_ok=True)
        (self.path / folder / ".hoodie_partition_metadata").write_text(f"commitTime={time}\npartitionDepth=1\n")
        meta = {column: "x" for column in META}
        schema = schema or pa.schema([("id", pa.int64()), ("area", pa.string()), ("word", pa.string())])
        schema = pa.schema([*((column, pa.string()) for column in META), *schema])
        content = pa.Table.from_pylist([meta | row for row in rows], schema)
        pq.write_table(content, self.path / folder / name, row_group_size=rows_a_group)
        return folder, f"{group}-0", f"{folder}/{name}".lstrip("/")

    def commit(
        self, time, *files, completed=None, replaced=(), previous=None, pending=False, action="commit", **more
    ):
        """Write an operation into the timeline; `replaced` are (folder, file group)."""
        by_folder, groups = {}, {}
        for folder, group, path in files:
            size = (self.path / path).stat().st_size
            stat = {"fileId": group, "path": path, "prevCommit": previous or "null", "partitionPath": folder}
            by_folder.setdefault(folder, []).append(stat | {"fileSizeInBytes": size})
        for folder, group in replaced:
            groups.setdefault(folder, []).append(group)
        schema = json.dumps({"type": "record", "name": "row", "fields": self.fields})
        body = {
            "partitionToWriteStats": by_folder,
            "extraMetadata": {"schema": schema},
            "operationType": "UPSERT",
        } | more
        action = "replacecommit" if replaced else action
        if replaced:
            body["partitionToReplaceFileIds"] = groups
        (self.timeline / f"{time}.{action}.requested").touch()
        (self.timeline / (f"{time}.inflight" if action == "commit" else f"{time}.{action}.inflight")).touch()
        if not pending:
            name = f"{time}_{completed or time}" if self.version >= 8 else time
            content = avro(body) if self.version >= 8 else json.dumps(body).encode()
            (self.timeline / f"{name}.{action}").write_bytes(content)


@pytest.fixture
def table(tmp_path):
    return Written(tmp_path / "t")


def live(table, version=None):
    """Return the names of the live files of a version, sorted."""
    return sorted(slices.of(timeline.read(storage.opened(str(table.path)), version)).files)


def avro(body):
    """Return the metadata of a commit as it is written from table version 8 on."""
    import fastavro

    content = io.BytesIO()
    fastavro.writer(content, fastavro.parse_schema(COMMIT), [body])
    return content.getvalue()


def rows(first, last, area="a", word="w"):
    """Return rows with ids from first to last - 1."""
    return [{"id": number, "area": area, "word": f"{word}{number}"} for number in range(first, last)]


def at(second):
    """Return the time of a second as Hudi writes it."""
    return f"202601010000{second:02d}000"
