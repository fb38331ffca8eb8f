"""Files in a Hudi table's folder that Hudi's readers take for others than they look: each is told."""

import pytest
from hudi_tables import VERSIONS, Written, at, live, rows, table

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import footers, storage

BESIDE = "files lie in folders that are no partitions of Hudi's, {}/one-0_0-1-2_"
ODD = "files are not named as Hudi names its files, {} first: "


@pytest.mark.parametrize("marker", [".hoodie_partition_metadata", ".hoodie_partition_metadata.parquet"])
@pytest.mark.parametrize("time", [at(1), at(2)])
def test_base_files_where_hudi_does_not_look(time, marker, table):
    one = table.file("one", time, rows(0, 10))
    table.commit(at(2), one, table.file("two", at(2), rows(10, 20)))
    assert formats.look(table.path).obstacles == ()
    copy = table.path / "backup/a" / (table.path / one[2]).name
    copy.parent.mkdir(parents=True)
    copy.write_bytes((table.path / one[2]).read_bytes())
    assert any(BESIDE.format("backup/a") in obstacle for obstacle in formats.look(table.path).obstacles)
    (copy.parent / marker).touch()  # now it is a partition
    assert not any("no partitions" in obstacle for obstacle in formats.look(table.path).obstacles)
    (table.path / "backup" / marker).touch()  # and now within another one, below which Hudi does not look
    assert any(BESIDE.format("backup/a") in obstacle for obstacle in formats.look(table.path).obstacles)
    copy.rename(copy.with_name(f"one-0_0-1-2_{at(9)}.parquet"))  # of no write
    assert formats.look(table.path).obstacles == ()


@pytest.mark.parametrize("name", [
    "one-0_0-1-2_001.parquet", f"one_x-0_0-1-2_{at(1)}.parquet", "part-0.snappy.parquet", f"one-0_0-1-2_{at(1)}.orc.tmp",
    f".one-0_0-1-2_{at(1)}.lance",
])  # fmt: skip
def test_files_of_a_partition_that_are_named_otherwise(name, table):
    table.commit(at(2), table.file("two", at(2), rows(10, 20)))
    (table.path / "elsewhere").mkdir()
    (table.path / "elsewhere" / name).touch()
    (table.path / "a" / f".one-0_0-1-2_{at(2)}.parquet.crc").touch()
    (table.path / "a" / "_SUCCESS").touch()
    assert formats.look(table.path).obstacles == ()
    (table.path / "a" / name).touch()
    assert formats.look(table.path).obstacles[0].startswith(f"1 {ODD.format(f'a/{name}')}")


@pytest.mark.parametrize("folder", ["ab:c", "area=s3:c", "s3:", "http:b/c"])
def test_a_folder_that_looks_like_a_scheme(folder, table):
    table.commit(at(1), table.file("one", at(1), rows(0, 10, folder)))
    look = formats.look(table.path)
    assert (look.rows, look.obstacles, look.partitioned_by) == (10, (), ("area",))


def test_files_that_hudi_s_cleaner_removed(table):
    table.commit(at(1), one := table.file("one", at(1), rows(0, 10)), table.file("two", at(1), rows(10, 20)))
    opened, parts = storage.opened(str(table.path)), {"a/gone.parquet": 5, one[2]: 7}
    words = "1 of 2 files of .* are gone, a/gone.parquet first: the cleaner or somebody else removed them. Restore them, or "
    with pytest.raises(ArgumentError, match=words + "restore the source to a version with all its files"):
        footers.read(opened, parts, [], [], cleaner="the cleaner")
    del parts["a/gone.parquet"]
    (problem,) = footers.read(opened, parts, [], [], cleaner="the cleaner")[one[2]].problems
    assert problem.cause.endswith("bytes where the source says 7: restore the source to before that")


def test_a_write_that_names_a_file_of_another_kind(table):
    folder, group, path = table.file("one", at(1), rows(0, 10))
    odd = table.path / path.replace("one-0", "one_x-0")
    (table.path / path).rename(odd)
    table.commit(at(1), (folder, group, f"a/{odd.name}"))
    table.commit(at(2), table.file("two", at(2), rows(10, 20)))
    assert formats.look(table.path).obstacles[0].startswith(f"1 {ODD.format(f'a/{odd.name}')}")


def test_a_write_that_names_a_file_of_another_one(table):
    one = table.file("one", f"{at(1)[:14]}999", rows(0, 10))
    table.commit(at(1), one, table.file("two", at(1), rows(10, 20)))
    assert formats.look(table.path).obstacles[0].startswith(f"1 {ODD.format(one[2])}")


def test_files_that_were_registered_and_whose_write_was_archived(table):
    table.commit(at(2), table.file("two", at(2), rows(10, 20)))
    (table.path / "elsewhere").mkdir()
    (table.path / "elsewhere" / f"outer.parquet_{at(1)}_hudiext").touch()
    assert formats.look(table.path).obstacles[0].startswith("1 files were registered and not written by Hudi")


@VERSIONS
def test_a_file_of_a_listed_write_that_no_write_names(version, tmp_path):
    table = Written(tmp_path / "t", version)
    table.commit(at(1), one := table.file("one", at(1), rows(0, 10)))
    table.commit(at(2), two := table.file("two", at(2), rows(10, 20)))
    stray = table.file("stray", at(1), rows(20, 30))
    words = f"1 files are of completed writes that do not name them, {stray[2]} first, and Hudi may read them"
    assert formats.look(table.path).obstacles[0].startswith(words)
    (table.path / stray[2]).unlink()
    newer = table.file("one", at(2), rows(0, 5))  # would be the newest of its group
    assert newer[2] in formats.look(table.path).obstacles[0]
    (table.path / newer[2]).unlink()
    table.file("two", at(1), rows(10, 15))  # is older than the newest
    table.commit(at(3), table.file("new", at(3), rows(0, 1)), replaced=[("a", "one-0")])
    table.file("one", at(3), rows(0, 5))  # of a group that is gone
    assert live(table) == sorted([two[2], f"a/new-0_0-1-2_{at(3)}.parquet"])
    assert formats.look(table.path).obstacles == () and one


@VERSIONS
def test_a_write_that_does_not_say_where_its_file_is(version, tmp_path):
    table = Written(tmp_path / "t", version)
    stat = {"fileId": "one-0", "path": None, "prevCommit": "null", "partitionPath": "a", "fileSizeInBytes": 7}
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    table.commit(at(2), partitionToWriteStats={"a": [stat]})
    with pytest.raises(ArgumentError, match="commit is damaged: it wrote 7 bytes and does not say where"):
        formats.look(table.path)
    stat["fileSizeInBytes"] = 0  # as Hudi notes a partition into which nothing was written
    table.commit(at(2), partitionToWriteStats={"a": [stat]})
    assert formats.look(table.path).obstacles == ()
