"""Who holds what in expiry: solitary refs, those that came after the plan, and streams by their checkpoint."""

import shutil

import pytest
from digests import digest
from maintenance_cases import LATER, MERGE_ON_READ, append, folder, ids, made, plan, run

from workbench.tables import changes, maintenance
from workbench.tables.maintenance import sentences


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def going(spark, table, known, **more):
    """Places among the known snapshots of those that would be expired."""
    planned = plan(spark, table, "expire_snapshots", **more)
    return [known.index(one) for action in planned.actions for one in action.snapshots]


@pytest.mark.proof("test_solitary_is_what_is_named_or_begins_so shows the names, test_who_holds_what what follows")
def test_a_solitary_ref_is_told_by_its_name_or_its_beginning(spark, table):
    made(spark, table, appends=5)
    known = ids(spark, table)
    spark.sql(f"ALTER TABLE {table} CREATE TAG eoy_2025 AS OF VERSION {known[1]}")
    solitary, holding = [0, 2, 3], [0]
    for names, expected in (
        (["eoy_2025"], solitary), (["eoy_*"], solitary), (["*"], solitary), (["x", "eoy_2025"], solitary),
        ([], holding), (["eoy_"], holding), (["eoy_2025_x"], holding), (["oy_*"], holding), (["EOY_2025"], holding),
    ):  # fmt: skip
        assert going(spark, table, known, solitary_refs=names) == expected, names
    # a mark says that somebody goes on from there, whatever its name
    assert going(spark, table, known, solitary_refs=["eoy_*"], marks=["eoy_2025"]) == holding


@pytest.mark.proof("test_who_holds_what shows what a solitary branch keeps, without a session")
def test_a_solitary_branch_keeps_its_own_snapshots(spark, table):
    made(spark, table, appends=4)
    known = ids(spark, table)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side AS OF VERSION {known[1]}")
    for n in range(2):
        spark.sql(f"INSERT INTO {table}.branch_side VALUES ({n}, 'x')")
    every = ids(spark, table)
    before = digest(spark, table, "VERSION AS OF 'side'")
    # where it left main stays too, with what is its own; main's later ones need not
    assert going(spark, table, every, solitary_refs=["side"]) == [every.index(known[n]) for n in (0, 2)]
    maintenance.run(spark, plan(spark, table, "expire_snapshots", solitary_refs=["side"]), now=LATER)
    assert set(ids(spark, table)) == set(every) - {known[0], known[2]}
    assert digest(spark, table, "VERSION AS OF 'side'") == before


@pytest.mark.proof(
    "test_who_holds_what shows what a solitary tag keeps, the notebook 42_expire_and_clean that it can "
    "be read behind an expiry"
)
def test_a_run_keeps_what_a_solitary_tag_names_and_no_more(spark, table):
    made(spark, table, appends=3)
    known = ids(spark, table)
    spark.sql(f"ALTER TABLE {table} CREATE TAG eoy_2025 AS OF VERSION {known[1]}")
    spark.sql(f"INSERT OVERWRITE {table} VALUES (1, 'x')")
    newest, before = ids(spark, table)[-1], digest(spark, table, "VERSION AS OF 'eoy_2025'")
    planned = plan(spark, table, "expire_snapshots", solitary_refs=["eoy_*"])
    (done,) = maintenance.run(spark, planned, now=LATER)
    assert (ids(spark, table), done.files) == ([known[1], newest], 1)  # the third file was the third snapshot's
    assert digest(spark, table, "VERSION AS OF 'eoy_2025'") == before


# between plan and run


@pytest.mark.proof(
    "test_a_tag_between_the_look_and_the_commit_of_expiry_holds shows it for a tag that comes later still"
)
@pytest.mark.parametrize("kind", ["TAG", "BRANCH"])
def test_who_comes_between_plan_and_run_goes_on_from_there(spark, table, kind):
    table += kind.lower()
    made(spark, table, appends=3)
    spark.sql(f"INSERT OVERWRITE {table} VALUES (1, 'x')")  # the three files are needed by older snapshots alone
    spark.sql(f"INSERT INTO {table} VALUES (2, 'x')")
    known, planned = ids(spark, table), plan(spark, table, "expire_snapshots")
    assert planned.actions[0].snapshots == tuple(known[:4]) and planned.actions[0].files == 3
    spark.sql(f"ALTER TABLE {table} CREATE {kind} late AS OF VERSION {known[1]}")
    there = digest(spark, table, "VERSION AS OF 'late'")
    (done,) = maintenance.run(spark, planned, now=LATER)
    assert (ids(spark, table), done.files) == (known[1:], 0)
    assert digest(spark, table, "VERSION AS OF 'late'") == there
    found = changes.between(spark, table, key="id", start=known[1]).groupBy("change_type").count().collect()
    assert dict(map(tuple, found)) == {"insert": 11, "delete": 29, "update_before": 1, "update_after": 1}


@pytest.mark.proof("test_who_holds_what shows what a solitary tag keeps, without a session")
def test_a_late_tag_that_is_called_solitary_keeps_its_own_snapshot(spark, table):
    made(spark, table, appends=5)
    known, planned = ids(spark, table), plan(spark, table, "expire_snapshots", solitary_refs=["late*"])
    spark.sql(f"ALTER TABLE {table} CREATE TAG late_1 AS OF VERSION {known[1]}")
    there = digest(spark, table, "VERSION AS OF 'late_1'")
    (done,) = maintenance.run(spark, planned, now=LATER)
    assert ids(spark, table) == [known[1], known[-1]] and digest(spark, table, "VERSION AS OF 'late_1'") == there
    assert sentences(done)[0].startswith("3 snapshots went")


# streams


def read_on(spark, table, checkpoint, **trigger):
    """Let a stream read what there is; returns the rows it got."""
    skipping = {f"streaming-skip-{one}-snapshots": "true" for one in ("overwrite", "delete")}
    stream = spark.readStream.options(**skipping).table(table).writeStream.format("noop")
    stream = stream.trigger(**trigger) if trigger else stream
    query = stream.option("checkpointLocation", str(checkpoint)).start()
    try:
        query.awaitTermination() if trigger else query.processAllAvailable()
        return sum(one["numInputRows"] for one in query.recentProgress)
    finally:
        query.stop()


@pytest.mark.proof(
    "test_a_checkpoint_beside_the_table_is_the_tables_own shows the mark, the notebook "
    "42_expire_and_clean the stream behind an expiry"
)
def test_a_stream_goes_on_from_the_mark_in_its_checkpoint(spark, table, tmp_path):
    made(spark, table, appends=3)
    checkpoint, first = tmp_path / "checkpoint", ids(spark, table)[0]
    with pytest.raises(ValueError, match="is not the checkpoint of a stream that reads an Iceberg table"):
        maintenance.stream_marks(spark, table, checkpoint, available_now=False)
    assert read_on(spark, table, checkpoint) == 30
    known = ids(spark, table)
    spark.sql(f"INSERT OVERWRITE {table} VALUES (1, 'x')")
    for n in range(3, 6):
        append(spark, table, n)
    marks = maintenance.stream_marks(spark, table, checkpoint, available_now=False)
    assert marks == (known[2],)
    # a batch that was planned and not finished is no place yet, and one that never was is the beginning
    last = max((checkpoint / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    planned = last.with_name(str(int(last.name) + 1))
    planned.write_text(last.read_text().replace(str(known[2]), "7"))
    assert maintenance.stream_marks(spark, table, checkpoint, available_now=False) == marks
    planned.unlink()
    begun = tmp_path / "begun" / "sources"
    shutil.copytree(checkpoint / "sources", begun)
    assert maintenance.stream_marks(spark, table, begun.parent, available_now=False) == (first,)
    run(spark, table, "expire_snapshots", marks=marks)
    assert read_on(spark, table, checkpoint) == 30
    with pytest.raises(ValueError, match=f"begun goes on from snapshot {first}, which .* does not have"):
        maintenance.stream_marks(spark, table, begun.parent, available_now=False)


def test_a_stream_of_what_is_there_needs_the_snapshot_where_it_first_began(spark, table, tmp_path):
    """Iceberg 1.11.0 plans each run with the trigger availableNow from the stream's first offset, not its newest."""
    from pyspark.errors import StreamingQueryException

    made(spark, table, appends=3)
    known, now = ids(spark, table), {"availableNow": True}
    assert read_on(spark, table, tmp_path, **now) == 30
    append(spark, table, 3)
    marks = maintenance.stream_marks(spark, table, tmp_path, available_now=True)
    assert marks == (known[0], known[2])
    run(spark, table, "expire_snapshots", marks=marks)
    assert read_on(spark, table, tmp_path, **now) == 10
    append(spark, table, 4)
    place = maintenance.stream_marks(spark, table, tmp_path, available_now=False)
    run(spark, table, "expire_snapshots", marks=place)
    with pytest.raises(StreamingQueryException, match=f"Cannot load current offset at snapshot {known[0]}"):
        read_on(spark, table, tmp_path, **now)
    with pytest.raises(ValueError, match=f"goes on from snapshot {known[0]}, which .* does not have"):
        maintenance.stream_marks(spark, table, tmp_path, available_now=True)
    assert read_on(spark, table, tmp_path) == 10  # by the other triggers it goes on from its place


def test_a_checkpoint_beside_the_table_is_the_tables_own(spark, table, tmp_path):
    made(spark, table, appends=2)
    at = maintenance.stream_checkpoint(spark, table, stream="follow", disk=tmp_path)
    beside = f"file:{folder(spark, table).parent}/_checkpoints/"
    assert at.replace("file:///", "file:/").startswith(beside) and at.endswith("/follow")
    assert read_on(spark, table, at) == 20
    append(spark, table, 2)
    assert maintenance.stream_checkpoint(spark, table, stream="follow", disk=tmp_path) == at
    assert maintenance.stream_marks(spark, table, at, available_now=False) == (ids(spark, table)[1],)
    assert read_on(spark, table, at) == 10
    assert read_on(spark, table, maintenance.stream_checkpoint(spark, table, stream="other", disk=tmp_path)) == 30
    assert maintenance.inventory(spark, table).unknown == () and list(tmp_path.iterdir()) == []
    spark.sql(f"DROP TABLE {table} PURGE")  # one that is made anew goes on from nowhere
    made(spark, table, appends=1)
    assert maintenance.stream_checkpoint(spark, table, stream="follow", disk=tmp_path) != at


def test_a_stream_on_an_empty_table_has_no_mark(spark, table, tmp_path):
    made(spark, table)
    assert read_on(spark, table, tmp_path) == 0
    assert maintenance.stream_marks(spark, table, tmp_path, available_now=True) == ()


# inventory


def test_an_inventory_finds_what_is_lost_and_what_nobody_knows(spark, table):
    made(spark, table, properties=MERGE_ON_READ, appends=2)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {table}.branch_side VALUES (1, 'x')")
    spark.sql(f"DELETE FROM {table} WHERE id = 3")
    found = maintenance.inventory(spark, table)
    assert (found.missing, found.unknown) == ((), ())
    # data, position deletes; manifests and their lists; a metadata file a commit, the creation and the branch
    assert [sum(at.endswith(end) for at in found.stored) for end in (".parquet", ".avro", ".json")] == [4, 8, 6]
    there = {
        path: path.stat().st_size for path in folder(spark, table).rglob("*") if not path.name.startswith(".")
    }
    assert found.bytes() == sum(size for path, size in there.items() if path.is_file())
    data = sorted(path for path in there if path.suffix == ".parquet")
    assert found.bytes(".parquet") == sum(there[path] for path in data)
    (folder(spark, table) / "data" / "orphan.parquet").write_text("x")
    data[0].unlink()
    found = maintenance.inventory(spark, table)
    assert [[at.rpartition("/")[2] for at in one] for one in (found.missing, found.unknown)] == [
        [data[0].name], ["orphan.parquet"],
    ]  # fmt: skip
