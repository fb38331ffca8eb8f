"""A moved table follows its source, and is taken over: each time equal, each time in one commit, nobody's file gone."""

import json
import re
from pathlib import Path

import pytest
from golden_tables import append, digest_of, encoded, in_the_proof, namespace, roaring, rows_by_deltalake, unpacked
from interruptions import Stopped, race, stop_at

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import following, iceberg, storage
from workbench.formats.delta import log
from workbench.tables import commits


def count(spark, table):
    return len(commits.snapshots_of(spark, commits.load(spark, table)))


@pytest.mark.parametrize("name", ["vectors", *in_the_proof("vectors", ["plain", "partitions", "checkpoint_v2"])])
def test_each_version_is_the_source_s_in_one_commit(name, spark, namespace, tmp_path):
    source, table = unpacked(name, tmp_path), f"{namespace}.moved"
    before, last = digest_of(source), formats.look(source).version
    formats.move(spark, source, table, version=1)
    for version in range(2, last + 1):
        follow = formats.follow(spark, table, version=version)
        assert (follow.before, follow.version) == (version - 1, version)
        assert formats.verify(spark, table).equal
        assert commits.load(spark, table).currentSnapshot().summary()[iceberg.VERSION] == str(version)
    assert count(spark, table) == last
    again = formats.follow(spark, table)
    assert again == formats.Follow(table, last, last, None, 0, 0, 0) and count(spark, table) == last
    refusal = f"is at version {last} of .*, expected a later version than that, found 1: a table is never brought"
    with pytest.raises(ArgumentError, match=refusal):
        formats.follow(spark, table, version=1)
    assert formats.follow(spark, table, version=last).snapshot_id is None
    assert digest_of(source) == before


def test_a_difference_is_as_small_as_the_change(spark, namespace, tmp_path, monkeypatch):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=4)
    opened = []
    whole = iceberg.data_files
    monkeypatch.setattr(
        iceberg, "data_files", lambda *given: opened.extend(file.name for file in given[-1]) or whole(*given)
    )
    assert formats.follow(spark, table, version=5) == formats.Follow(
        table, 4, 5, commits.load(spark, table).currentSnapshot().snapshotId(), 2, 0, 2
    )
    assert len(opened) == 2


def test_many_versions_at_once_and_a_log_that_lacks_them(spark, namespace, tmp_path):
    source, table = unpacked("checkpoint", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=1)
    for version in range(4):  # what changed since cannot be told from commits any more
        (source / log.LOG / f"{version:020d}.json").unlink()
    assert log.touched(storage.opened(str(source)), 1, 6) is None
    follow = formats.follow(spark, table)
    assert (follow.added_files, follow.removed_files, follow.version) == (6, 0, 6)
    assert formats.verify(spark, table).equal
    assert formats.follow(spark, table).snapshot_id is None


def test_a_vector_in_the_log_of_a_table_of_format_2(spark, namespace, tmp_path):
    source, table = unpacked("int96", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table)
    assert commits.load(spark, table).operations().current().formatVersion() == 2
    delete(source, 2, {1, 5, 19})
    follow = formats.follow(spark, table)
    assert (follow.changed_vectors, follow.added_files) == (1, 0)
    assert commits.load(spark, table).operations().current().formatVersion() == 3
    assert formats.verify(spark, table).equal
    assert sorted(row.id for row in spark.table(table).collect()) == [n for n in range(20) if n not in (1, 5, 19)]
    delete(source, 3, {1, 5, 6})  # as many rows, others: a RESTORE and a DELETE
    assert formats.follow(spark, table).changed_vectors == 1
    assert formats.verify(spark, table).equal
    assert sorted(row.id for row in spark.table(table).collect()) == [n for n in range(20) if n not in (1, 5, 6)]


def test_a_source_without_rows_left(spark, namespace, tmp_path):
    source, table = unpacked("plain", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table)
    state = log.read(storage.opened(str(source)))
    append(
        source,
        5,
        *({"remove": {"path": name, "dataChange": True, "deletionTimestamp": 1}} for name in state.files),
    )
    assert formats.follow(spark, table).removed_files == 3
    assert formats.verify(spark, table) == formats.Verification(
        True, 5, "deltalake", 0, 0, (), newest=5, written=None
    )


def test_who_writes_to_the_table_ends_the_following(spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    move = formats.move(spark, source, table, version=2)
    spark.sql(f"INSERT INTO {table} VALUES (1, 'mine')")
    refusal = r"was written to since .* append\. (CALL \S+\(.*\)) gives that up; else it follows no more$"
    with pytest.raises(ArgumentError, match=refusal) as error:
        formats.follow(spark, table)
    verified = formats.verify(spark, table)
    assert (verified.equal, verified.written, verified.version, verified.newest) == (False, "append", 2, 6)
    spark.sql(re.search(refusal, str(error.value))[1])  # the statement can be pasted
    assert commits.load(spark, table).currentSnapshot().snapshotId() == move.snapshot_id
    assert formats.verify(spark, table).written is None
    assert formats.follow(spark, table).version == 6 and formats.verify(spark, table).equal
    spark.sql(f"ALTER TABLE {table} ADD COLUMN mine INT")
    append(source, 7, {"commitInfo": {}})
    with pytest.raises(ArgumentError, match="^the schema of .* was changed since it followed version 6"):
        formats.follow(spark, table)


def test_a_schema_of_the_source_that_changed_is_refused(spark, namespace, tmp_path):
    source, table = unpacked("upgraded", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=1)
    refusal = (
        r"is another one at version 6 than .* cannot follow\. (DROP TABLE \S+), without PURGE, and move the source"
    )
    with pytest.raises(ArgumentError, match=refusal) as error:
        formats.follow(spark, table)
    assert count(spark, table) == 1
    before = digest_of(source)
    spark.sql(re.search(refusal, str(error.value))[1])
    assert formats.move(spark, source, table).version == 6 and formats.verify(spark, table).equal
    assert digest_of(source) == before


def test_two_tables_of_one_source_follow_each_for_itself(spark, namespace, tmp_path):
    source, tables = unpacked("vectors", tmp_path), [f"{namespace}.one", f"{namespace}.two"]
    for table, version in zip(tables, (3, 4), strict=True):
        formats.move(spark, source, table, version=version)
    formats.follow(spark, tables[0], version=6)
    assert [formats.verify(spark, table).version for table in tables] == [6, 4]
    formats.take_over(spark, tables[0], files="copied")
    assert formats.follow(spark, tables[1]).version == 6 and formats.verify(spark, tables[1]).equal


def test_a_source_that_was_made_anew_is_refused(spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table)
    for version in (5, 6):
        (source / log.LOG / f"{version:020d}.json").unlink()
    with pytest.raises(ArgumentError, match="is at version 4, and .* at 6 of it: the source was made anew"):
        formats.follow(spark, table)


@pytest.mark.proof(
    "test_a_commit_of_another_process_is_not_taken_for_one_s_own commits between the look and the commit of a follow"
)
def test_of_two_that_follow_at_once_one_commits(spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=3)
    follows = race(
        lambda meet: formats.follow(spark, table, version=4, on_step=meet),
        lambda meet: formats.follow(spark, table, version=6, on_step=meet),
    )
    assert all(isinstance(follow, formats.Follow) for follow in follows), follows
    formats.follow(spark, table)
    assert formats.verify(spark, table).equal
    assert count(spark, table) in (2, 3)  # 4 and then 6, or 6 and nothing to do


def test_a_commit_of_another_process_is_not_taken_for_one_s_own(spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=3)
    done = []

    def meanwhile(step):
        if step == "commit" and not done:
            done.append(formats.follow(spark, table, version=6))

    mine = formats.follow(spark, table, version=5, on_step=meanwhile)
    assert done[0].snapshot_id and mine == formats.Follow(table, 6, 6, None, 0, 0, 0)
    assert count(spark, table) == 2 and formats.verify(spark, table).equal


@pytest.mark.parametrize("step", ["commit", *in_the_proof("commit", ["vectors", "files"])])
def test_a_follow_that_is_stopped_leaves_the_table_as_it_was(step, spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=4)
    with pytest.raises(Stopped):
        formats.follow(spark, table, on_step=stop_at(step))
    assert formats.verify(spark, table).equal and count(spark, table) == 1
    assert formats.follow(spark, table).version == 6 and formats.verify(spark, table).equal


@pytest.mark.proof("test_a_file_that_is_there_twice_is_seen shows that rows that are too many are seen")
def test_a_removed_file_that_is_kept_is_seen(spark, namespace, tmp_path, monkeypatch):
    source, table = unpacked("plain", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=3)
    whole = following._difference
    from dataclasses import replace

    def kept(*given):
        difference = whole(*given)
        return replace(difference, removed=difference.removed[1:])

    monkeypatch.setattr(following, "_difference", kept)
    formats.follow(spark, table)
    assert not formats.verify(spark, table).equal


@pytest.mark.proof("33_move_to_iceberg takes a table over by copies, removes the source and reads every row")
@pytest.mark.parametrize("name", ["mapped", "partitions", "vectors"])
def test_files_that_are_copied_make_the_table_independent(name, spark, namespace, tmp_path):
    source, table = unpacked(name, tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=None if name == "mapped" else 1)
    before = digest_of(source)
    look = formats.look(source)
    taken = formats.take_over(spark, table, files="copied")
    assert (taken.version, taken.copied_files, taken.copied_bytes) == (look.version, look.files, look.bytes)
    assert taken.verification.equal and digest_of(source) == before
    loaded = commits.load(spark, table)
    properties = loaded.properties()
    assert (properties["gc.enabled"], iceberg.SOURCE in properties) == ("true", False)
    assert properties[iceberg.FROM] == f"{look.location}@{look.version}" and count(spark, table) == 1
    expected = len(rows_by_deltalake(source))
    for file in list(source.rglob("*.parquet")):
        file.unlink()
    spark.sql(f"REFRESH TABLE {table}")
    assert spark.table(table).count() == expected == len(spark.table(table).collect())
    with pytest.raises(ArgumentError, match="follows no source: it was taken over from file://"):
        formats.follow(spark, table)
    spark.sql(f"DROP TABLE {table} PURGE")
    assert not [path for path in Path(loaded.location().removeprefix("file://")).rglob("*.parquet")]


def test_files_that_are_adopted_are_the_table_s(spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=4)
    taken = formats.take_over(spark, table, files="adopted")
    assert (taken.version, taken.files, taken.copied_files) == (6, "adopted", 0)
    assert count(spark, table) == 2  # the history stays
    live = {storage.path_of(row.file_path) for row in spark.table(f"{table}.files").collect() if row.content == 0}
    assert len(live) == 5 and all(path.startswith(str(source)) for path in live)
    spark.sql(f"DROP TABLE {table} PURGE")
    assert not any(Path(path).exists() for path in live)


def test_a_table_that_differs_is_not_taken_over(spark, namespace, tmp_path):
    source, table = unpacked("features", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table)
    names = json.loads(commits.load(spark, table).properties()[iceberg.NAMES])
    names[1]["names"] = ["other"]
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{iceberg.NAMES}' = '{json.dumps(names)}')")
    with pytest.raises(ArgumentError, match="is not taken over: it has 24 rows .*; the columns name differ"):
        formats.take_over(spark, table, files="adopted")
    assert commits.load(spark, table).properties()["gc.enabled"] == "false"


def test_a_tag_keeps_files_of_the_source(spark, namespace, tmp_path):
    table = f"{namespace}.moved"
    formats.move(spark, unpacked("plain", tmp_path), table)
    spark.sql(f"ALTER TABLE {table} CREATE TAG audited")
    with pytest.raises(ArgumentError, match="has the branch or tag audited, which keeps files of the source"):
        formats.take_over(spark, table, files="copied")


@pytest.mark.parametrize("step", ["commit", *in_the_proof("commit", ["copy"])])
def test_a_take_over_that_is_stopped_is_repeated(step, spark, namespace, tmp_path):
    table = f"{namespace}.moved"
    formats.move(spark, unpacked("vectors", tmp_path), table)
    with pytest.raises(Stopped):
        formats.take_over(spark, table, files="copied", on_step=stop_at(step))
    assert commits.load(spark, table).properties()["gc.enabled"] == "false"
    assert formats.take_over(spark, table, files="copied").copied_files == 5
    assert spark.table(table).count() == 386


def delete(source, version, positions):
    """Write a commit that deletes rows of the only file by a vector in the log, and asks for the feature."""
    state = log.read(storage.opened(str(source)))
    (file,) = state.files.values()
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    bitmap = (1681511377).to_bytes(4, "little") + roaring(positions)
    vector = {"storageType": "i", "pathOrInlineDv": encoded(bitmap), "sizeInBytes": len(bitmap)}
    removed = {"path": file.name, "dataChange": True, "deletionTimestamp": 1}
    if file.vector:
        old = {"storageType": "i", "pathOrInlineDv": file.vector.place, "sizeInBytes": file.vector.size}
        removed["deletionVector"] = old | {"cardinality": file.vector.rows}
    added = {
        "path": file.name,
        "partitionValues": {},
        "size": file.size,
        "modificationTime": 1,
        "dataChange": True,
    }
    added |= {"stats": '{"numRecords":20}', "deletionVector": vector | {"cardinality": len(positions)}}
    append(
        source, version, {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}},
        {"remove": removed}, {"add": added},
    )  # fmt: skip
