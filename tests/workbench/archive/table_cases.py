"""Iceberg tables whose files are archived; run by test_archive_tables.py in a process with a session of its own."""

from datetime import timedelta

import pytest

from workbench import archive, session
from workbench.tables import snapshots


@pytest.fixture(scope="session")
def spark():
    return session.start("archive")


@pytest.fixture(scope="session")
def store():
    return session.stand_in("archive")


@pytest.fixture(scope="session")
def s3():
    return session.s3_client("archive")


V3 = pytest.mark.proof(
    "test_the_files_of_exactly_the_wanted_snapshot_and_filter has a table of format version 3, too"
)


@pytest.fixture(scope="session", params=["2", pytest.param("3", marks=V3)])
def made(spark, request):
    """Parts 0 to 3 of 25 rows, by merge-on-read: one row of part 1 deleted, in a second snapshot."""
    name = f"cases.t_{request.param}"
    spark.sql("CREATE NAMESPACE IF NOT EXISTS cases")
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, part INT) USING iceberg PARTITIONED BY (part) TBLPROPERTIES "
        f"('format-version' = '{request.param}', 'write.delete.mode' = 'merge-on-read')"
    )
    spark.sql(f"INSERT INTO {name} SELECT id, CAST(id % 4 AS INT) FROM range(0, 100, 1, 1)")
    spark.sql(f"DELETE FROM {name} WHERE id = 5")
    return name


@pytest.fixture
def table(made, store, s3):
    """The table; whatever a test archived of it is active again afterwards."""
    yield made
    for one in archive.inventory("s3://lake", s3=s3):
        if one.storage_class != "STANDARD":
            store.move(one.bucket, one.key, "STANDARD")


def kinds(found):
    """(kind, part in its name) of data and delete files; how many metadata files."""
    rows = [(one.kind, one.uri.split("part=")[1][0] if "part=" in one.uri else "-") for one in found]
    return sorted(row for row in rows if row[0] != "metadata"), sum(kind == "metadata" for kind, _ in rows)


def files(spark, s3, table, **options):
    return list(archive.inventory(table, spark=spark, s3=s3, **options))


def forgotten(spark, table):
    """Have Iceberg forget what it read of a table: what it kept needs no request."""
    spark.sql(f"REFRESH TABLE {table}")


def archived(store, found):
    for one in found:
        store.move(one.bucket, one.key, "GLACIER")


def test_pyiceberg_and_spark_share_the_store(spark, table):
    assert spark.table(table).count() == 99
    assert session.catalog("archive").load_table(table).scan(row_filter="part = 1").to_arrow().num_rows in (24, 25)


@pytest.mark.parametrize("made", ["2", "3"], indirect=True)
def test_the_files_of_exactly_the_wanted_snapshot_and_filter(spark, s3, table):
    first = snapshots.at(spark, table, 1)
    deletes = ("position deletes", "-" if table.endswith("3") else "1")
    assert kinds(files(spark, s3, table, where="part = 1"))[0] == sorted([("data", "1"), deletes])
    assert kinds(files(spark, s3, table, where="part = 2"))[0] == [("data", "2")]
    assert kinds(files(spark, s3, table, where="part = 1", snapshot_id=first)) == ([("data", "1")], 3)
    found, metadata = kinds(files(spark, s3, table))
    assert (len(found), metadata) == (5, 4)  # metadata file, manifest list, a manifest of data and one of deletes
    assert kinds(files(spark, s3, table, where="part = 9"))[0] == []


@pytest.mark.proof(
    "50_restore_archive plans a period of a table, restores its files alone and reads it, and its copies expire"
)
def test_only_wanted_files_are_restored_and_then_read(spark, store, s3, table, tmp_path):
    wanted = [one for one in files(spark, s3, table) if one.kind != "metadata"]
    archived(store, wanted)
    assert archive.read(table, spark=spark, s3=s3, where="part = 9").count() == 0
    with pytest.raises(archive.Archived, match=f"2 of 6 files of {table} cannot be read") as caught:
        archive.read(table, spark=spark, s3=s3, where="part = 1")
    assert sorted(one.kind for one in caught.value.objects) == ["data", "position deletes"]

    plan = archive.plan(files(spark, s3, table, where="part = 1"), now=store.clock.now())
    assert (plan.objects, plan.query, plan.hours) == (2, "fails", 5)
    done = archive.restore(plan, s3=s3, state=tmp_path / "s.db", now=store.clock.now, sleep=store.clock.advance)
    assert done.complete
    assert archive.read(table, spark=spark, s3=s3, where="part = 1").count() == 24
    with pytest.raises(archive.Archived, match=f"3 of 9 files of {table} cannot be read"):
        archive.read(table, spark=spark, s3=s3)

    store.clock.advance(days=3)  # the copies expire
    with pytest.raises(archive.Archived):
        archive.read(table, spark=spark, s3=s3, where="part = 1")
    assert archive.plan(files(spark, s3, table, where="part = 1"), now=store.clock.now()).objects == 2


@pytest.mark.proof("50_restore_archive asks such queries, and requires that they fail where it is predicted")
def test_an_archived_file_fails_the_plain_query(spark, store, s3, table):
    (one,) = [one for one in files(spark, s3, table, where="part = 2") if one.kind == "data"]
    archived(store, [one])
    with pytest.raises(Exception, match="not valid for the object's storage class"):
        spark.table(table).where("part = 2").collect()


LISTED = pytest.mark.proof("the case of a manifest list is found and restored by the same look at all metadata")


@pytest.mark.proof("50_restore_archive archives a manifest list, is told of it, and restores it")
@pytest.mark.parametrize("which", ["manifest list", pytest.param("manifest", marks=LISTED)])
def test_archived_metadata_is_found_and_named_and_can_be_restored(spark, store, s3, table, tmp_path, which):
    metadata = [one for one in files(spark, s3, table) if one.kind == "metadata"]
    (wrong, *_) = [
        one for one in metadata if ("/snap-" in one.uri) == (which == "manifest list") and one.uri.endswith("avro")
    ]
    forgotten(spark, table)
    archived(store, [wrong])
    with pytest.raises(archive.MetadataArchived, match=f"1 metadata file of {table} is archived") as caught:
        archive.read(table, spark=spark, s3=s3)
    assert [one.uri for one in caught.value.objects] == [wrong.uri]
    plan = archive.plan(caught.value.objects, tier="Expedited", now=store.clock.now())
    archive.restore(plan, s3=s3, state=tmp_path / "s.db", now=store.clock.now, sleep=store.clock.advance)
    assert archive.read(table, spark=spark, s3=s3).count() == 99


def test_the_way_back_of_archived_metadata_is_one_restore_of_its_folder(spark, store, s3, table, tmp_path):
    metadata = [one for one in files(spark, s3, table) if one.kind == "metadata"]
    folder = metadata[0].uri.rpartition("/")[0] + "/"
    forgotten(spark, table)
    archived(store, metadata)
    with pytest.raises(
        archive.MetadataArchived, match=f"restore all of {folder} at once, as a directory, copy each"
    ):
        archive.read(table, spark=spark, s3=s3)
    found = list(archive.inventory(folder, s3=s3))  # as in docs/archive.md
    plan = archive.plan(found, tier="Expedited", now=store.clock.now())
    archive.restore(plan, s3=s3, state=tmp_path / "s.db", now=store.clock.now, sleep=store.clock.advance)
    for one in (one for one in found if one.archived_as):
        source = {"Bucket": one.bucket, "Key": one.key}
        s3.copy_object(**source, CopySource=source, StorageClass="STANDARD")
    store.clock.advance(days=9)
    assert {one.state for one in archive.inventory(folder, s3=s3)} == {"active"}
    assert archive.read(table, spark=spark, s3=s3).count() == 99


def test_an_archived_metadata_file_is_found_before_iceberg_tries_it(spark, store, s3, table):
    (newest,) = [one for one in files(spark, s3, table) if one.uri.endswith(".metadata.json")]
    forgotten(spark, table)
    archived(store, [newest])
    before = store.requests()["GetObject"]
    with pytest.raises(archive.MetadataArchived) as caught:
        archive.read(table, spark=spark, s3=s3)
    assert [one.uri for one in caught.value.objects] == [newest.uri]
    assert store.requests()["GetObject"] == before


@pytest.fixture
def dim(spark, store, s3):
    """Another table, of 20 rows in two files, for subqueries."""
    spark.sql("CREATE OR REPLACE TABLE cases.dim (id BIGINT, part INT) USING iceberg PARTITIONED BY (part)")
    spark.sql("INSERT INTO cases.dim SELECT id, CAST(id % 2 AS INT) FROM range(0, 20, 1, 1)")
    yield "cases.dim"
    for one in archive.inventory("s3://lake", s3=s3):
        if one.storage_class != "STANDARD":
            store.move(one.bucket, one.key, "STANDARD")


NESTED = pytest.mark.proof("the last case of this test has a subquery of one value within another of one value")


@pytest.mark.parametrize(
    ("where", "count"),
    [
        pytest.param("EXISTS (SELECT 1 FROM cases.dim WHERE id > 5)", 99, marks=NESTED),
        pytest.param("id > (SELECT avg(id) FROM cases.dim) AND part = 1", 22, marks=NESTED),
        pytest.param("id IN (SELECT id FROM cases.dim)", 19, marks=NESTED),
        ("id = (SELECT max(id) FROM cases.dim WHERE id < (SELECT avg(id) FROM cases.dim))", 1),
    ],
)
def test_the_tables_of_subqueries_are_looked_at(spark, store, s3, made, dim, where, count):
    assert archive.read(made, spark=spark, s3=s3, where=where).count() == count
    found = [one for one in files(spark, s3, made, where=where) if "/dim/" in one.uri]
    assert sorted({one.kind for one in found}) == ["data", "metadata"]
    data = [one for one in found if one.kind == "data"]
    archived(store, data)
    with pytest.raises(archive.Archived) as caught:
        archive.read(made, spark=spark, s3=s3, where=where)
    assert sorted(one.uri for one in caught.value.objects) == sorted(one.uri for one in data)


def test_a_subquery_of_metadata_alone_needs_no_file(spark, store, s3, made, dim):
    where = "id = (SELECT max(id) FROM cases.dim)"
    archived(store, [one for one in files(spark, s3, dim) if one.kind == "data"])
    assert archive.read(made, spark=spark, s3=s3, where=where).count() == 1


def test_archived_metadata_of_a_subquerys_table_is_named(spark, store, s3, made, dim):
    (manifest,) = [one for one in files(spark, s3, dim) if one.uri.endswith("avro") and "/snap-" not in one.uri]
    archived(store, [manifest])
    with pytest.raises(archive.MetadataArchived, match="1 metadata file of .*dim is archived") as caught:
        archive.read(made, spark=spark, s3=s3, where="id IN (SELECT id FROM cases.dim)")
    assert [one.uri for one in caught.value.objects] == [manifest.uri]


def test_the_metadata_of_the_branch_that_is_audited_is_looked_at(spark, store, s3, dim):
    def lists_and_manifests():
        return {one.uri: one for one in files(spark, s3, dim) if one.uri.endswith("avro")}

    def audited(enabled):
        spark.sql(f"ALTER TABLE cases.dim SET TBLPROPERTIES ('write.wap.enabled' = '{enabled}')")

    audited("true")
    main = lists_and_manifests()
    spark.conf.set("spark.wap.branch", "audit")
    try:
        spark.sql("INSERT INTO cases.dim VALUES (100, 1)")
        branch = lists_and_manifests()
        (left,) = main.keys() - branch.keys()
        assert "/snap-" in left  # the manifest list of main, which the branch does not need
        new = [one for uri, one in branch.items() if uri not in main]
        assert len(new) == 2  # the branch's manifest list and its manifest
        archived(store, [one for one in new if "/snap-" not in one.uri])
        with pytest.raises(archive.MetadataArchived):
            archive.read(dim, spark=spark, s3=s3)
        audited("false")  # Spark reads main then, whatever branch the session names
        assert lists_and_manifests().keys() == main.keys()
    finally:
        spark.conf.unset("spark.wap.branch")
    assert archive.read(dim, spark=spark, s3=s3).count() == 20


def test_what_a_dropped_table_left_is_not_taken_for_the_tables_newest(spark, store, s3):
    create = "CREATE TABLE cases.again (id BIGINT) USING iceberg"
    spark.sql(create)
    for number in range(2):
        spark.sql(f"INSERT INTO cases.again VALUES ({number})")
    left = files(spark, s3, "cases.again")
    spark.sql("DROP TABLE cases.again")
    archived(store, left)
    store.clock.advance(3600)
    spark.sql(create)
    assert kinds(files(spark, s3, "cases.again")) == ([], 1)
    archived_again = files(spark, s3, "cases.again")
    archived(store, archived_again)
    with pytest.raises(archive.MetadataArchived) as caught:
        files(spark, s3, "cases.again")
    assert [one.uri for one in caught.value.objects] == [one.uri for one in archived_again]


def test_a_table_is_read_whole_or_not_at_all(spark, s3, table):
    for mode in ("SKIP_ALL_GLACIER", "READ_RESTORED_GLACIER_OBJECTS"):
        with pytest.raises(ValueError, match="is read by READ_ALL or not at all"):
            archive.read(table, spark=spark, s3=s3, mode=mode)


def test_bad_names_and_snapshots(spark, s3, table):
    with pytest.raises(snapshots.TableNotFound):
        files(spark, s3, table + "_not")
    with pytest.raises(ValueError, match="has no snapshot 4711"):
        files(spark, s3, table, snapshot_id=4711)
    with pytest.raises(ValueError, match="snapshot_id must be an integer or None, found '1; DROP TABLE'"):
        files(spark, s3, table, snapshot_id="1; DROP TABLE")
    with pytest.raises(ValueError, match="is not a table name"):
        files(spark, s3, "t; DROP")


def test_an_empty_table(spark, s3, made):
    spark.sql("CREATE OR REPLACE TABLE cases.empty (id BIGINT) USING iceberg")
    assert kinds(files(spark, s3, "cases.empty")) == ([], 1)
    assert archive.read("cases.empty", spark=spark, s3=s3).count() == 0


def test_child_processes_find_the_store(store):
    import subprocess
    import sys

    code = "from workbench import session; print(session.stand_in('archive').endpoint)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)
    assert said.stdout.strip() == store.endpoint


def test_the_clock_stands_where_it_was_put(store):
    before = store.clock.now()
    assert store.clock.advance(hours=1) - before == timedelta(hours=1)
