"""What `formats.look` says of Hudi tables that are broken, unfinished or odd; each is written by the specification."""

import base64
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as encryption
import pytest
from hudi_tables import FIELDS, VERSIONS, Written, at, live, rows, table

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats.hudi import slices


@VERSIONS
def test_the_newest_file_of_a_completed_write_is_live(version, tmp_path):
    table = Written(tmp_path / "t", version)
    first, other = table.file("one", at(1), rows(0, 10)), table.file("two", at(1), rows(10, 20))
    table.commit(at(1), first, other)
    second = table.file("one", at(2), rows(0, 9))
    table.commit(at(2), second, previous=at(1))
    table.commit(at(3), table.file("one", at(3), rows(0, 8)), pending=True)
    table.file("one", at(4), rows(0, 7))  # of a write that was rolled back
    assert live(table) == [second[2], other[2]]
    assert live(table, int(at(1))) == [first[2], other[2]]


@VERSIONS
def test_files_of_archived_writes_count_and_those_in_a_gap_behind_a_savepoint_are_told(version, tmp_path):
    table = Written(tmp_path / "t", version)
    names = [table.file(f"g{second}", at(second), rows(0, 10))[2] for second in (1, 3, 8)]
    table.commit(at(2), kept := table.file("kept", at(2), rows(0, 10)))
    (table.timeline / (f"{at(2)}.savepoint" if version == 6 else f"{at(2)}_{at(2)}.savepoint")).write_text("{}")
    table.commit(at(5), five := table.file("five", at(5), rows(0, 10)))
    assert live(table) == sorted([*names[:2], kept[2], five[2]])  # that of 8 is nobody's
    words = f"1 files are of writes that were archived behind a savepoint, {names[1]} first, "
    assert formats.look(table.path).obstacles[0].startswith(words)
    table.commit(at(6), table.file("g3", at(6), rows(0, 10)))  # which hides it
    assert formats.look(table.path).obstacles == ()


def test_writes_that_began_before_all_others_and_have_not_completed(table):
    table.commit(at(1), table.file("pending", at(1), rows(0, 10)), pending=True)
    table.commit(at(3), three := table.file("three", at(3), rows(10, 20)), completed=at(4))
    table.commit(at(2), two := table.file("two", at(2), rows(20, 30)), completed=at(5))
    (table.timeline / f"{at(2)}_{at(5)}.savepoint").write_text("{}")
    assert live(table) == [three[2], two[2]]
    assert live(table, int(at(4))) == [three[2]]


@pytest.mark.parametrize(
    ("areas", "partitions"),
    [
        ("aaaa", ("area",)),
        ("aabb", ()),
        ("aab-", ()),
        ("aa--", ()),
        ("----", ("area",)),
        ("a---", ()),
        ("a-a-", ()),
    ],
)
def test_a_partition_column_has_one_value_in_each_file(areas, partitions, table):
    values = [{"id": 1, "area": None if area == "-" else area, "word": "w"} for area in areas]
    table.commit(at(1), table.file("one", at(1), values, "folder", rows_a_group=2))
    assert formats.look(table.path).partitioned_by == partitions


@VERSIONS
def test_replaced_file_groups_are_gone(version, tmp_path):
    table = Written(tmp_path / "t", version)
    table.commit(at(1), table.file("one", at(1), rows(0, 10)), two := table.file("two", at(1), rows(0, 5, "b")))
    new = table.file("new", at(2), rows(10, 20))
    table.commit(at(2), new, replaced=[("a", "one-0")])
    assert live(table) == [new[2], two[2]] and len(live(table, int(at(1)))) == 2
    assert formats.look(table.path).rows == 15


def test_a_file_of_a_repeated_task_is_not_live(table):
    table.commit(at(1), one := table.file("one", at(1), rows(0, 10)))
    again = table.path / one[2].replace("_0-1-2_", "_0-1-3_")  # no commit names it
    again.write_bytes((table.path / one[2]).read_bytes())
    assert live(table) == [one[2]] and formats.look(table.path).obstacles == ()
    archived = table.path / one[2]
    archived.with_name(f"three-0_9-9-9_{at(0)}.parquet").write_bytes(archived.read_bytes())
    archived.with_name(f"three-0_8-8-8_{at(0)}.parquet").write_bytes(archived.read_bytes())
    with pytest.raises(
        ArgumentError, match="has two files of one write in one file group, .*three-0_.*was archived"
    ):
        formats.look(table.path)


def test_a_file_that_is_gone_is_never_stood_in_for_by_an_older_one(table):
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    table.commit(at(2), newer := table.file("one", at(2), rows(0, 9)), previous=at(1))
    (table.path / newer[2]).unlink()
    with pytest.raises(
        ArgumentError, match=rf"^1 files of .* are gone that its timeline names .*, {newer[2]} first"
    ):
        formats.look(table.path)


def test_a_version_whose_files_were_cleaned(table):
    one, two = table.file("one", at(1), rows(0, 10)), table.file("two", at(1), rows(10, 20))
    table.commit(at(1), one, two)
    table.commit(at(2), table.file("one", at(2), rows(0, 9)), previous=at(1))
    table.commit(at(3), table.file("new", at(3), rows(30, 31)), replaced=[("a", "two-0")])
    assert live(table, int(at(1))) == [one[2], two[2]]
    for cleaned in (one, two):
        content = (table.path / cleaned[2]).read_bytes()
        (table.path / cleaned[2]).unlink()
        with pytest.raises(
            ArgumentError, match=r"files of .* are gone that its timeline names at version 2026010100000"
        ):
            live(table, int(at(1)))
        assert len(live(table)) == 2
        (table.path / cleaned[2]).write_bytes(content)
    with pytest.raises(ArgumentError, match=r"has no version 5; its timeline lists 20260101000001000, .*3000$"):
        live(table, 5)


def test_archived_files_that_were_cleaned_are_missed_in_an_older_version(table):
    table.file("one", at(1), rows(0, 10))
    table.commit(at(2), table.file("two", at(2), rows(10, 20)))
    table.commit(at(3), table.file("one", at(3), rows(0, 9)), previous=at(1))
    assert len(live(table, int(at(2)))) == 2
    next(table.path.glob(f"a/one*{at(1)}*")).unlink()
    with pytest.raises(ArgumentError, match="1 files of .* are gone .*, a/one-0 of 20260101000001000 first"):
        live(table, int(at(2)))


def test_an_archived_file_that_was_replaced_and_cleaned_is_missed_in_an_older_version(table):
    old = table.path / table.file("old", at(1), rows(0, 10))[2]
    table.commit(at(2), table.file("two", at(2), rows(10, 20)))
    table.commit(at(3), table.file("new", at(3), rows(0, 9)), replaced=[("a", "old-0")])
    assert len(live(table, int(at(2)))) == 2
    old.unlink()
    with pytest.raises(ArgumentError, match="1 files of .* are gone .*, a/old-0 first"):
        live(table, int(at(2)))
    assert len(live(table)) == 2


def test_log_files_of_the_latest_slices(tmp_path):
    for version, counts in ((6, (at(3), at(4))), (9, (at(4),))):
        table = Written(tmp_path / f"v{version}", version)
        table.commit(at(1), table.file("one", at(1), rows(0, 10)), completed=at(2))
        table.commit(at(3), table.file("one", at(3), rows(0, 10)), completed=at(3), previous=at(1))
        table.commit(at(4), completed=at(5), action="deltacommit")
        folder = table.path / "a"
        (folder / f".one-0_{at(1)}.log.1_0-1-2").touch()  # of an older slice
        (folder / f".one-0_{at(4)}.log.1_0-1-2.cdc").touch()
        (folder / f"..one-0_{at(4)}.log.1_0-1-2.crc").touch()
        (folder / f".one-0_{at(9)}.log.1_0-1-2").touch() if version == 9 else None  # not completed
        assert formats.look(table.path).obstacles == ()
        for time in counts:
            (log := folder / f".one-0_{time}.log.1_0-1-2").touch()
            assert formats.look(table.path).obstacles[0].startswith("1 log file, a/.one-0_2026"), (version, time)
            log.unlink()
        (folder / f".other-0_{at(1)}.log.1_0-1-2").touch()  # of a file group without a base file
        assert "log file" in formats.look(table.path).obstacles[0]


def test_a_log_file_that_completed_after_a_compaction_began(table):
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    table.commit(at(2), completed=at(4), action="deltacommit")
    table.commit(at(3), table.file("one", at(3), rows(0, 10)), completed=at(5), previous=at(1))
    (table.path / "a" / f".one-0_{at(2)}.log.1_0-1-2").touch()
    assert formats.look(table.path).obstacles[0].startswith("1 log file")


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        (
            {"hoodie.table.version": 7},
            "is a Hudi table of version 7; known are 5, 6, 8, 9: upgrade or downgrade it",
        ),
        ({"hoodie.table.version": 10}, "is a Hudi table of version 10; known are"),
        ({"hoodie.timeline.layout.version": 1}, "has timeline layout 1, expected 2 in table version 9"),
    ],
)
def test_versions_that_are_not_known(properties, words, tmp_path):
    table = Written(tmp_path / "t", properties=properties)
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    with pytest.raises(ArgumentError, match=words):
        formats.look(table.path)


def test_timelines_that_cannot_be_read(table):
    with pytest.raises(ArgumentError, match="is a Hudi table without a completed commit"):
        formats.look(table.path)
    (table.timeline / f"{at(1)}.commit").write_text("{}")
    with pytest.raises(ArgumentError, match=rf"{at(1)}\.commit says no time of completion"):
        formats.look(table.path)
    (table.timeline / f"{at(1)}.commit").rename(table.timeline / f"{at(1)}_{at(1)}.commit")
    with pytest.raises(ArgumentError, match="says nowhere which columns it has"):
        formats.look(table.path)
    for content in (b"", b" ", b'{"partition', b"[]", b"Obj\x01\x02"):
        (table.timeline / f"{at(1)}_{at(1)}.commit").write_bytes(content)
        with pytest.raises(ArgumentError, match=rf"{at(1)}_{at(1)}\.commit is damaged: "):
            formats.look(table.path)
    (table.timeline / "001_002.commit").write_text("{}")
    with pytest.raises(ArgumentError, match=r"001_002\.commit is not named by a time of 14 or 17 digits"):
        formats.look(table.path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.file("two", at(1), rows(0, 1), "b/.hoodie"), "another Hudi table lies within this one, b: move"),
        (lambda t: t.commit(at(2), t.file("two", slices.BOOTSTRAP, rows(0, 9))), "1 files are skeletons of a bootstrap"),
        (lambda t: t.commit(at(2), t.file("two", f"{slices.BOOTSTRAP}000", rows(0, 9))), "1 files are skeletons of a bootstrap"),
        (lambda t: (t.path / f"a/two-0_0-1-2_{at(0)}.orc").touch(), r"1 files are not Parquet, a/two-.*\.orc first"),
        (lambda t: t.commit(at(2), ("a", "x", external(t))), "1 files were registered and not written by Hudi"),
        (lambda t: [file.write_bytes(b"x") for file in t.path.glob("a/*")], None),
    ],
)  # fmt: skip
def test_files_that_are_no_base_files_of_hudi(change, words, table):
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    change(table)
    if words is None:
        assert "a file has 1 bytes where the source says" in formats.look(table.path).obstacles[0]
    else:
        assert any(words.split(",")[0] in obstacle for obstacle in formats.look(table.path).obstacles)


def external(table):
    path = table.path / "a" / f"outer.parquet_{at(2)}_hudiext"
    path.touch()
    return f"a/{path.name}"


@pytest.mark.parametrize(
    ("kind", "stored", "words"),
    [
        ({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("ms", "UTC"), "is timestamp[ms, tz=UTC] in a"),
        ({"type": "long", "logicalType": "time-micros"}, pa.int64(), "is of the Avro type long time-micros, which"),
        (["null", "int", "string"], pa.int32(), 'is of the Avro type ["null", "int", "string"], which'),
        ("long", pa.string(), "is string in a file, and Iceberg cannot read that as long"),
        ({"type": "array", "items": "long"}, pa.int64(), "is int64 in a file, expected a list"),
    ],
)  # fmt: skip
def test_columns_that_iceberg_would_read_as_something_else(kind, stored, words, tmp_path):
    fields = [*FIELDS[:2], {"name": "word", "type": kind}]
    table = Written(tmp_path / "t", fields=fields)
    schema = pa.schema([("id", pa.int64()), ("area", pa.string()), ("word", stored)])
    table.commit(at(1), table.file("one", at(1), [{"id": 1, "area": "a", "word": None}], schema=schema))
    assert f"the column word {words}" in formats.look(table.path).obstacles[0]


@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_files_that_are_encrypted(plaintext_footer, table):
    file = table.file("one", at(1), rows(0, 10))
    keys = encryption.EncryptionConfiguration(
        "k", column_keys={"c": ["area"]}, plaintext_footer=plaintext_footer, double_wrapping=False
    )
    factory = encryption.CryptoFactory(lambda configuration: Keys())
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), keys)
    content = pq.read_table(table.path / file[2])
    pq.write_table(content, table.path / file[2], encryption_properties=properties)
    table.commit(at(1), file)
    assert formats.look(table.path).obstacles[0].startswith("a file is encrypted, whole or in some columns")


class Keys(encryption.KmsClient):
    """A keeper of keys that hands them out as they are."""

    def __init__(self):
        super().__init__()

    def wrap_key(self, key, name):
        return base64.b64encode(key)

    def unwrap_key(self, key, name):
        return base64.b64decode(key)


def test_a_default_that_older_files_lack(tmp_path):
    table = Written(tmp_path / "t", fields=[*FIELDS, {"name": "late", "type": "string", "default": "x"}])
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    assert (
        formats.look(table.path)
        .obstacles[0]
        .startswith("the column late has the default 'x' and is not in 1 files")
    )


def test_a_column_that_was_dropped_and_made_anew(table):
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    (folder := table.path / ".hoodie/.schema").mkdir()
    before = {"version_id": 1, "fields": [{"id": 0, "name": "word", "type": "string"}]}
    after = {"version_id": 2, "fields": [{"id": 3, "name": "word", "type": "string"}]}
    (folder / f"{at(1)}.schemacommit").write_text(json.dumps({"schemas": [after, before]}))
    assert formats.look(table.path).obstacles[0].startswith("the column word was dropped and made anew")
    (folder / f"{at(1)}.schemacommit").write_text(json.dumps({"schemas": [before]}))
    assert formats.look(table.path).obstacles == ()


def test_a_file_without_rows_is_not_named(table):
    schema = pa.schema([("id", pa.int64()), ("area", pa.string()), ("word", pa.string())])
    table.commit(at(1), table.file("one", at(1), [], "a", schema))
    assert formats.look(table.path).obstacles == (
        "the source is empty at version 20260101000001000: CREATE TABLE makes an empty Iceberg table",
    )
    table.commit(at(2), table.file("two", at(2), rows(0, 10)))
    look = formats.look(table.path)
    assert (look.files, look.rows, look.partitioned_by) == (1, 10, ("area",))


def test_times_in_seconds(tmp_path):
    table = Written(tmp_path / "t", 6)
    table.commit("20260101000001", one := table.file("one", "20260101000001", rows(0, 10)))
    assert live(table) == [one[2]] and formats.look(table.path).version == 20260101000001000
