"""Hudi tables that Hudi itself made: looked at, moved, followed and compared with what hudi-rs reads."""

import re
from datetime import datetime, timedelta

import pytest
from golden_tables import digest_of, in_the_proof, namespace
from hudi_tables import ROWS, Written, at, rows, unpacked

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import storage
from workbench.formats.hudi import looking, replaying, timeline
from workbench.formats.hudi import reading as hudi
from workbench.tables import commits, snapshots

LOGS = "log file, .*, of the latest file slices: their rows lie beside the Parquet files"
REFUSED = {
    "dropped_columns": "the partition columns are not in the files",
    "merge_on_read": LOGS,
    "merge_on_read6": LOGS,
    "renamed": "the column title was named name in older files, and Iceberg would read NULL",
    "types": "the columns words, numbers, deep have a list in Parquet's old form of two levels, which Iceberg cannot read",
}
UNREAD = {"local_times"}  # by hudi-rs
MOVABLE = ROWS.keys() - REFUSED.keys() - UNREAD
CHECKED = {"replaced6", "archived", "types_by_row"}


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_are_those_that_hudi_counts(name, tmp_path):
    path = unpacked(name, tmp_path)
    before, look = digest_of(path), formats.look(path)
    if name in REFUSED:
        assert re.search(REFUSED[name], look.obstacles[0])
    else:
        assert (look.kind, look.rows, look.obstacles) == ("hudi", ROWS[name][0], ())
    assert digest_of(path) == before


def test_the_whole_look(tmp_path):
    path = unpacked("several", tmp_path)
    look = formats.look(str(path))
    assert look == formats.Look(
        kind="hudi",
        location=f"file://{path}",
        version=look.version,
        features=("copy-on-write", "table version 9"),
        partitioned_by=("day", "number", "flag"),
        files=13,
        bytes=sum(file.stat().st_size for file in path.rglob("*.parquet")),
        rows=20,
        deleted_rows=0,
        obstacles=(),
        notes=(
            "Hudi's own columns (_hoodie_commit_time, …) stay columns: they lie in the files",
            "the table does not get the rule that a record key is there once: MERGE INTO keeps it",
        ),
    )
    (completed,) = (path / ".hoodie/timeline").glob("*.commit")
    assert str(look.version) == completed.stem.partition("_")[2]


def test_folders_that_are_not_named_by_values(tmp_path):
    look = formats.look(unpacked("by_time", tmp_path))
    assert look.partitioned_by == () and look.notes[1].startswith(
        "the table is not partitioned by moment: a file has"
    )


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_cannot_be_moved_is_refused_before_anything_is_made(name, spark, namespace, tmp_path):
    path = unpacked(name, tmp_path)
    with pytest.raises(ArgumentError, match=f"cannot be moved: .*{REFUSED[name]}"):
        formats.move(spark, path, f"{namespace}.moved")
    assert not snapshots.exists(spark, f"{namespace}.moved")


@pytest.mark.parametrize("name", [*sorted(CHECKED), *in_the_proof("the others", MOVABLE - CHECKED)])
def test_rows_are_the_source_s_in_one_commit(name, spark, namespace, tmp_path):
    source, table = unpacked(name, tmp_path), f"{namespace}.moved"
    before, look = digest_of(source), formats.look(source)
    move = formats.move(spark, source, table)
    assert (move.version, move.files, move.rows) == (look.version, look.files, look.rows)
    assert [*spark.table(table).selectExpr("count(*)", "sum(id)").first()] == ROWS[name]
    verified = formats.verify(spark, table)
    assert (verified.equal, verified.reader) == (True, "hudi")
    assert verified.rows == verified.source_rows == look.rows
    assert formats.follow(spark, table).snapshot_id is None
    assert len(commits.snapshots_of(spark, commits.load(spark, table))) == 1
    assert digest_of(source) == before


def test_moments_without_a_zone_are_compared_by_duckdb(spark, namespace, tmp_path, capfd):
    """hudi-rs panics at such a column, on the terminal too, and so is not asked."""
    source, table = unpacked("local_times", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table)
    found = {row.id: row.local for row in spark.table(table).collect()}
    assert found == {n: datetime(2026, 1, 1) + timedelta(microseconds=n) for n in range(9)}
    verified = formats.verify(spark, table)
    assert (verified.equal, verified.reader, verified.source_rows) == (True, "duckdb", 9)
    with pytest.raises(
        ArgumentError, match="^hudi-rs 0.5 reads no moments without a zone, and local has them: take"
    ):
        formats.verify(spark, table, reader="hudi")
    assert formats.take_over(spark, table, files="copied").verification.reader == "duckdb"
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("name", sorted(MOVABLE))
def test_duckdb_reads_the_rows_that_hudi_counts(name, tmp_path):
    """Without Spark: the second reader against what Hudi's own engine counted."""
    source = unpacked(name, tmp_path / "a [b]*{c}?")
    version, fields = versions(source)[-1], fields_of(source)
    sums = replaying.summed(f"file://{source}", version, fields)
    assert sums.rows == ROWS[name][0]
    if not any(str(field["type"]).startswith("timestamp") and field["type"] != "timestamptz" for field in fields):
        assert sums == hudi.summed(f"file://{source}", version, fields)


def test_duckdb_takes_writes_by_their_completion(tmp_path):
    for table_version in (9, 6):
        written = Written(tmp_path / f"v{table_version}", table_version)
        early = written.file("early", at(2), rows(10, 20))
        written.commit(at(1), written.file("first", at(1), rows(0, 10)), completed=at(5))
        written.commit(at(2), early, pending=True)
        written.commit(at(3), written.file("third", at(3), rows(20, 30)), completed=at(6))
        fields = fields_of(written.path)
        at_first, at_third = (int(at(n)) for n in ((5, 6) if table_version == 9 else (1, 3)))
        for version, count in ((at_first, 10), (at_third, 20)):
            assert replaying.summed(f"file://{written.path}", version, fields).rows == count
        written.commit(at(2), early, completed=at(7))
        assert replaying.summed(f"file://{written.path}", at_third, fields).rows == (
            20 if table_version == 9 else 30
        )


def test_duckdb_refuses_savepoints_among_archived_writes(tmp_path):
    source = unpacked("archived", tmp_path)
    (source / ".hoodie/timeline/20260101000000000_20260101000001000.savepoint").touch()
    with pytest.raises(ArgumentError, match="savepoints lie among archived writes"):
        replaying.summed(f"file://{source}", versions(source)[-1], [{"name": "id", "type": "long"}])


@pytest.mark.parametrize(
    "name", ["replaced", *in_the_proof("replaced", ["replaced6", "plain", "version6", "evolved"])]
)
def test_each_version_is_the_source_s(name, spark, namespace, tmp_path):
    source, table = unpacked(name, tmp_path), f"{namespace}.moved"
    if name == "evolved":  # its schema grew
        formats.move(spark, source, table, version=versions(source)[0])
        with pytest.raises(ArgumentError, match=r"is another one at version .* cannot follow\. DROP TABLE"):
            formats.follow(spark, table)
        return
    first, *later = versions(source)
    formats.move(spark, source, table, version=first)
    for before, version in zip([first, *later], later, strict=False):
        follow = formats.follow(spark, table, version=version)
        assert (follow.before, follow.version) == (before, version) and follow.snapshot_id
        assert formats.verify(spark, table).equal
    assert [*spark.table(table).selectExpr("count(*)", "sum(id)").first()] == ROWS[name]
    with pytest.raises(ArgumentError, match=f"expected a later version than that, found {first}"):
        formats.follow(spark, table, version=first)


def test_a_writer_that_began_earlier_and_completes_later(spark, namespace, tmp_path):
    for version in (9, 6):
        source, table = tmp_path / f"v{version}", f"{namespace}.v{version}"
        written = Written(source, version)
        early = written.file("early", at(2), rows(10, 20))
        written.commit(at(1), written.file("first", at(1), rows(0, 10)), completed=at(5))
        written.commit(at(2), early, pending=True)
        written.commit(at(3), written.file("third", at(3), rows(20, 30)), completed=at(6))
        move = formats.move(spark, source, table)
        assert (move.version, move.rows) == (int(at(6 if version == 9 else 3)), 20)
        if version == 6:
            with pytest.raises(ArgumentError, match=f"the write of {at(2)} has not completed and left files"):
                formats.verify(spark, table)
        else:
            assert formats.verify(spark, table).equal
        written.commit(at(2), early, completed=at(7))
        if version == 9:
            with pytest.raises(ArgumentError, match=f"the write of {at(2)} was begun before that version"):
                formats.verify(spark, table)
        follow = formats.follow(spark, table)
        assert (follow.version, follow.added_files) == (int(at(7 if version == 9 else 3)), 1)
        assert formats.verify(spark, table).equal and spark.table(table).count() == 30
        assert formats.follow(spark, table).snapshot_id is None


def test_a_file_that_comes_with_several_values_of_a_partition_column(spark, namespace, tmp_path):
    written, table = Written(tmp_path / "t"), f"{namespace}.moved"
    written.commit(at(1), written.file("one", at(1), rows(0, 10)))
    formats.move(spark, written.path, table)
    written.commit(at(2), written.file("two", at(2), rows(0, 3) + rows(3, 5, "b"), "a"))
    with pytest.raises(
        ArgumentError, match="is partitioned by area, and the file a/two-.* has several values of it"
    ):
        formats.follow(spark, table)
    formats.move(spark, written.path, f"{namespace}.other")
    assert formats.verify(spark, f"{namespace}.other").equal
    assert spark.table(f"{namespace}.other").where("area = 'b'").count() == 2


@pytest.mark.proof("test_formats_follow shows a take-over in the check")
def test_a_table_is_taken_over(spark, namespace, tmp_path):
    source, table = unpacked("replaced", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table, version=versions(source)[1])
    taken = formats.take_over(spark, table, files="copied")
    assert (taken.version, taken.copied_files) == (versions(source)[-1], 2) and taken.verification.equal
    for file in source.rglob("*.parquet"):
        file.unlink()
    spark.sql(f"REFRESH TABLE {table}")
    assert [*spark.table(table).selectExpr("count(*)", "sum(id)").first()] == ROWS["replaced"]


def test_a_reader_of_another_format_is_refused(spark, namespace, tmp_path):
    written = Written(tmp_path / "t")
    written.commit(at(1), written.file("one", at(1), rows(0, 10)))
    formats.move(spark, written.path, f"{namespace}.moved")
    with pytest.raises(ArgumentError, match="^deltalake reads no hudi tables; reader may be hudi or duckdb$"):
        formats.verify(spark, f"{namespace}.moved", reader="deltalake")


# planted faults: each is a way to be silently wrong, and verify must see it


def test_a_replaced_file_group_that_is_kept_is_seen(spark, namespace, tmp_path, monkeypatch):
    whole = timeline._commit
    from dataclasses import replace

    monkeypatch.setattr(timeline, "_commit", lambda *given: replace(whole(*given), replaced=frozenset()))
    formats.move(spark, unpacked("replaced6", tmp_path), table := f"{namespace}.moved")
    verified = formats.verify(spark, table)
    assert not verified.equal and verified.rows > verified.source_rows and verified.columns == ()
    assert formats.verify(spark, table, reader="duckdb").source_rows == verified.source_rows


def fields_of(source):
    """Return the columns as the move has them."""
    return looking.inspected(storage.opened(str(source))).schema.fields["fields"]


def versions(source):
    return list(timeline.read(storage.opened(str(source))).versions)
