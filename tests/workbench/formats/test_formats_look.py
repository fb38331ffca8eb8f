"""What `formats.look` says of Delta tables that Delta itself made, and of folders that are broken."""

import json
import os
import re
import subprocess
import sys

import pytest
from golden_tables import MOVABLE, NAMES, append, digest_of, encoded, roaring, rows_by_deltalake, unpacked
from hypothesis import given, strategies

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import columns, partitions, storage
from workbench.formats.delta import log, vectors


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_that_another_reader_counts(name, tmp_path):
    path = unpacked(name, tmp_path)
    before = digest_of(path)
    look = formats.look(path)
    if name.startswith("widened"):  # delta-rs 1.6 does not read them
        assert look.rows == {"widened": 20, "widened_too_far": 10}[name]
    else:
        assert look.rows == len(rows_by_deltalake(path))
    assert bool(look.obstacles) == (name not in MOVABLE)
    assert digest_of(path) == before


def test_the_whole_look(tmp_path):
    path = unpacked("mapped", tmp_path)
    assert formats.look(str(path)) == formats.Look(
        kind="delta",
        location=f"file://{path}",
        version=9,
        features=("appendOnly", "columnMapping", "deletionVectors", "invariants"),
        partitioned_by=("region",),
        files=12,
        bytes=43247,
        rows=103,
        deleted_rows=35,
        obstacles=(),
        notes=(
            "rows are deleted by deletion vectors: the table gets Iceberg's format 3, which readers must know",
        ),
    )


def test_what_is_left_behind_is_told(tmp_path):
    assert formats.look(unpacked("features", tmp_path)).notes[1:] == (
        "the table does not get defaults of columns",
        "the table does not get CHECK constraints",
        "the table does not get the change data feed: Iceberg has create_changelog_view",
    )
    assert formats.look(unpacked("int96", tmp_path)).notes == (
        "moments are stored as INT96: Spark and DuckDB read them, PyIceberg does not",
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty", "the source is empty at version 0: CREATE TABLE makes an empty Iceberg table"),
        (
            "mapped_array",
            "the column words is an array or a map under column mapping, and its element has no field id",
        ),
        ("widened_too_far", "the column id was widened from integer to double, which Iceberg cannot read"),
    ],
)
def test_what_cannot_be_moved_is_said(name, words, tmp_path):
    assert formats.look(unpacked(name, tmp_path)).obstacles[0].startswith(words)


def test_a_table_feature_that_is_not_known(tmp_path):
    path = unpacked("vectors", tmp_path)
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors", "sesame"]}
    append(path, 7, {"protocol": protocol | {"writerFeatures": ["deletionVectors", "sesame", "onlyForWriters"]}})
    assert formats.look(path).obstacles == (
        "the source has the table feature sesame, which this move does not know: ALTER TABLE … DROP FEATURE "
        "'sesame' at the source, where Delta can drop it",
    )
    append(path, 8, {"protocol": protocol | {"minReaderVersion": 4}})
    assert formats.look(path).obstacles[0] == (
        "the source asks for reader version 4 of Delta's protocol; known is up to 3"
    )


def test_a_name_that_no_file_can_have(tmp_path):
    path = unpacked("plain", tmp_path)
    for number, name in enumerate(("a%00b", "\\ud800")):
        action = f'{{"add": {{"path": "{name}", "size": 1}}}}'
        (path / log.LOG / f"{3 + number:020d}.json").write_text(action)
        with pytest.raises(ArgumentError, match="^file://.*/plain cannot be read: "):
            formats.look(path)


def test_a_file_that_is_gone_is_named(tmp_path):
    path = unpacked("plain", tmp_path)
    first = next(iter(sorted(path.glob("*.parquet"), key=lambda file: file.name not in live(path))))
    first.unlink()
    with pytest.raises(
        ArgumentError, match=rf"^1 of 3 files of file://.*/plain are gone, {first.name} first: VACUUM"
    ):
        formats.look(path)


def test_a_deletion_vector_that_is_gone_or_damaged_is_named(tmp_path):
    path = unpacked("vectors", tmp_path)
    state = log.read(storage.opened(str(path)))
    file = next(file for file in state.files.values() if file.vector)
    where = path / vectors._name(file.vector)
    content = bytearray(where.read_bytes())
    content[file.vector.offset + 12] ^= 1
    where.write_bytes(content)
    with pytest.raises(ArgumentError, match="is damaged: its CRC-32 is another one"):
        vectors.read(state.folder, file)
    where.write_bytes(content[: file.vector.offset + 10])
    with pytest.raises(ArgumentError, match="is damaged: it has 2 bytes, the log says"):
        vectors.read(state.folder, file)
    where.unlink()
    with pytest.raises(ArgumentError, match="is gone: deletion_vector_.* is not there"):
        vectors.read(state.folder, file)


def test_a_vector_that_counts_other_rows_than_the_log_is_refused(tmp_path):
    path = unpacked("vectors", tmp_path)
    state = log.read(storage.opened(str(path)))
    file = next(file for file in state.files.values() if file.vector)
    from dataclasses import replace

    wrong = replace(file, vector=replace(file.vector, rows=file.vector.rows + 1))
    with pytest.raises(ArgumentError, match=r"names \d+ rows, the log says \d+$"):
        vectors.read(state.folder, wrong)


def test_a_vector_in_the_log_gets_length_and_crc(tmp_path):
    path = unpacked("vectors", tmp_path)
    state = log.read(storage.opened(str(path)))
    file = next(file for file in state.files.values() if file.vector)
    blob = vectors.read(state.folder, file)
    from dataclasses import replace

    inline = replace(file.vector, storage="i", place=encoded(blob[4:-4]), size=len(blob) - 8)
    assert vectors.read(state.folder, replace(file, vector=inline)) == blob


@given(
    strategies.sets(strategies.integers(0, 2**34), max_size=60),
    strategies.integers(0, 2**33),
    strategies.integers(0, 70000),
)
def test_the_rows_of_a_bitmap_are_counted_from_its_headers(positions, start, length):
    whole = positions | set(range(start, start + length))
    assert vectors.cardinality(roaring(whole)) == len(whole)
    assert vectors.cardinality(roaring(whole, runs=True)) == len(whole)


def test_a_log_with_a_gap_is_refused(tmp_path):
    path = unpacked("vectors", tmp_path)
    (path / log.LOG / f"{3:020d}.json").unlink()
    with pytest.raises(ArgumentError, match="has a gap before version 4"):
        formats.look(path)


@pytest.mark.parametrize("name", ["checkpoint", "checkpoint_parts", "checkpoint_v2"])
def test_a_log_that_begins_with_a_checkpoint(name, tmp_path):
    path = unpacked(name, tmp_path)
    whole = formats.look(path)
    for version in range(4):
        (path / log.LOG / f"{version:020d}.json").unlink()
    assert formats.look(path) == whole
    assert log.read(storage.opened(str(path))).versions == (4, 6)
    with pytest.raises(ArgumentError, match="has no version 3; it has 4 to 6"):
        log.read(storage.opened(str(path)), 3)
    if name == "checkpoint_parts":  # a checkpoint that is not whole is none
        min((path / log.LOG).glob("*.checkpoint.*")).unlink()
        with pytest.raises(ArgumentError, match="has a gap"):
            formats.look(path)


def test_a_commit_that_is_damaged_is_named(tmp_path):
    path = unpacked("plain", tmp_path)
    (path / log.LOG / f"{2:020d}.json").write_text('{"add": {"path"')
    with pytest.raises(ArgumentError, match=r"_delta_log/0{19}2\.json is damaged"):
        formats.look(path)


def test_a_column_in_other_capitals_would_be_null(tmp_path):
    path = unpacked("int96", tmp_path)
    change = rewritten(path, lambda schema: schema.replace('"moment"', '"Moment"'))
    append(path, 2, change)
    assert (
        formats.look(path)
        .obstacles[0]
        .startswith(
            "the column Moment is written moment in a file, and Iceberg would read NULL: rename it at the source; so in 1 file"
        )
    )


def test_names_that_spark_cannot_tell_apart_or_that_iceberg_has_itself(tmp_path):
    path = unpacked("int96", tmp_path)
    column = {"name": "Moment", "type": "long", "nullable": True, "metadata": {}}
    for number, (more, words) in enumerate((
        (column, "the columns moment and Moment differ in capitals alone, and Spark cannot tell them apart: rename one"),
        (column | {"name": "moment"}, "the column moment is there twice: "),
        (column | {"name": "_pos"}, "the column _pos has a name that Iceberg gives to a column of its own, "),
        (column | {"type": "decimal(39,2)"}, "the columns moment and"),
        (column | {"name": "d", "type": "decimal(39,2)"}, "the column d is of the type decimal(39, 2), and Iceberg has"),
        (column | {"name": "d", "type": "decimal(5,-1)"}, "the column d is of the type decimal(5, -1), and Iceberg has"),
    )):  # fmt: skip
        append(path, 2 + number, rewritten(unpacked("int96", tmp_path / str(number)), with_column(more)))
        assert formats.look(path).obstacles[0].startswith(words)


@pytest.mark.parametrize("name", sorted(columns.RESERVED))
def test_iceberg_s_own_columns(name):
    fields = [
        {"name": name, "type": "long"},
        {"name": "s", "type": {"type": "struct", "fields": [{"name": name, "type": "long"}]}},
    ]
    (obstacle,) = columns.names(fields)
    assert obstacle.startswith(f"the column {name} has a name that Iceberg gives")


def with_column(column):
    def change(text):
        schema = json.loads(text)
        return json.dumps(schema | {"fields": [*schema["fields"], column]})

    return change


def test_two_ids_swapped_are_seen(tmp_path):
    path = unpacked("mapped", tmp_path)

    def swap(schema):
        return re.sub(r'("delta.columnMapping.id":)([89])\b', lambda m: m[1] + {"8": "9", "9": "8"}[m[2]], schema)

    append(path, 10, rewritten(path, swap))
    assert any("cannot read that as" in obstacle for obstacle in formats.look(path).obstacles)


def test_what_is_no_table(tmp_path):
    with pytest.raises(ArgumentError, match="there is no folder"):
        formats.look(tmp_path / "nowhere")
    (tmp_path / "a.csv").touch()
    with pytest.raises(ArgumentError, match=r"holds no table of a known format: expected .*; it has a\.csv$"):
        formats.look(tmp_path)
    with pytest.raises(ArgumentError, match=r"a\.csv is a file, expected the folder of a table$"):
        formats.look(tmp_path / "a.csv")
    for area in "abcd":
        (tmp_path / f"area={area}").mkdir()
        (tmp_path / f"area={area}" / "x.parquet").touch()
    with pytest.raises(ArgumentError, match=r"; it has a\.csv, area=a/, area=b/ and 2 more$"):
        formats.look(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArgumentError, match="; it has nothing$"):
        formats.look(tmp_path / "empty")
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "00000-x.metadata.json").touch()
    with pytest.raises(ArgumentError, match="is the folder of an Iceberg table, expected that of a Delta or Hudi"):
        formats.look(tmp_path)
    for nothing in ("", " "):
        with pytest.raises(ArgumentError, match="^the path is ' ?', expected the folder of a table or s3://"):
            formats.look(nothing)
    with pytest.raises(ArgumentError, match="has the scheme ftp; expected"):
        formats.look("ftp://somewhere/orders")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without the right")
def test_no_right_to_read_is_said(tmp_path):
    path = unpacked("plain", tmp_path)
    (path / log.LOG).chmod(0o700)
    code = (
        "import os, sys; from workbench import formats; import pyarrow.parquet, pyarrow.fs\n"
        "os.setuid(65534)\n"
        "from workbench.formats import storage\nfrom workbench.formats.storage import Folder\n"
        "from pyarrow import fs\n"
        "try: Folder('file://' + sys.argv[1], fs.LocalFileSystem(), sys.argv[1]).sizes('_delta_log')\n"
        "except ValueError as error: print(error)\n"
    )
    for folder in (path, *path.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    said = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"no right to read file://{path}")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int", "-5", -5), ("long", "9007199254740993", 9007199254740993), ("double", "0.1", 0.1), ("boolean", "true", True),
        ("decimal(9, 2)", "1.5", "1.50"), ("date", "1969-12-30", "1969-12-30"), ("string", "é %2F", "é %2F"),
        ("timestamptz", "2026-01-01 00:00:00.5", "2026-01-01T00:00:00.500000+00:00"),
        ("timestamptz", "2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000001+00:00"),
        ("timestamp", "2026-01-01 00:00:00", "2026-01-01T00:00:00.000000"), ("binary", "\x01a", "0161"), ("int", None, None),
    ],
)  # fmt: skip
def test_values_of_partitions(kind, text, value):
    assert partitions.value(kind, text) == value


def test_a_partition_value_of_another_type_is_refused():
    with pytest.raises(ArgumentError, match="^the partition value 'x' is not of type int: the log is damaged$"):
        partitions.value("int", "x")


def live(path):
    return {name for name in log.read(storage.opened(str(path))).files}


def rewritten(path, change):
    """Return the metadata of a table with another schema, as an action."""
    metadata = log.read(storage.opened(str(path))).metadata
    return {"metaData": metadata | {"schemaString": change(metadata["schemaString"])}}
