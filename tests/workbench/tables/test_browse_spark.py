"""What is said of a table without Spark is what Spark's own metadata tables say."""

import uuid

import pytest
from conftest import ENVIRONMENT

from workbench import session
from workbench._base import releases
from workbench._base.errors import ArgumentError
from workbench.tables import browse, snapshots

MERGE_ON_READ = "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read'"
CONTENTS = {"data": 0, "position deletes": 1, "equality deletes": 2}


@pytest.fixture(scope="module")
def namespace(spark):
    name = f"browse_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE NAMESPACE {name}")
    yield name
    for row in spark.sql(f"SHOW TABLES IN {name}").collect():
        spark.sql(f"DROP TABLE {name}.{row.tableName} PURGE")
    spark.sql(f"DROP NAMESPACE {name}")


def made(spark, table, version):
    """A table with deletes, a spec and a schema that changed, a branch, a tag and a rollback."""
    modes = f", {MERGE_ON_READ}" if version > 1 else ""  # version 1 has no delete files
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, name STRING, day DATE) USING iceberg PARTITIONED BY (days(day)) "
        f"TBLPROPERTIES ('format-version' = '{version}'{modes})"
    )
    day = "date_add(DATE'2026-01-30', CAST(id % 3 AS INT)) AS day"
    spark.range(60).selectExpr("id", "concat('n', id % 7) AS name", day).coalesce(1).writeTo(table).append()
    spark.sql(f"ALTER TABLE {table} CREATE TAG first")
    spark.sql(f"DELETE FROM {table} WHERE id % 10 = 3")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD bucket(4, id)")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN name TO title")
    spark.sql(f"INSERT INTO {table} VALUES (100, 'new', DATE'2026-02-02'), (101, NULL, NULL)")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {table}.branch_side VALUES (200, 'side', DATE'2026-02-03')")
    last = snapshots.current(spark, table)
    spark.sql(f"DELETE FROM {table} WHERE day = DATE'2026-01-31'")
    spark.sql(f"CALL {session.catalog(ENVIRONMENT).name}.system.rollback_to_snapshot('{table}', {last})")


def of_spark(spark, table, at):
    """Spark's list of the files of a version: path, content, rows, bytes, spec and partition values, sorted."""
    version = f" VERSION AS OF '{at}'" if isinstance(at, str) else f" VERSION AS OF {at}" if at else ""
    columns = "file_path, content, record_count, file_size_in_bytes, spec_id, partition"
    listed = spark.sql(f"SELECT {columns} FROM {table}.files{version}").collect()
    return sorted(
        (row.file_path, row.content, row.record_count, row.file_size_in_bytes, row.spec_id,
         sorted((name, value) for name, value in row.partition.asDict().items() if value is not None))
        for row in listed
    )  # fmt: skip


def of_browse(lake, table, at):
    return sorted(
        (file.path, CONTENTS[file.content], file.rows, file.bytes, file.spec_id,
         sorted((name, value) for name, value in file.partition.items() if value is not None))
        for file in browse.files(lake, table, at=at)
    )  # fmt: skip


@pytest.mark.parametrize("version", [2, 3])
def test_files_snapshots_and_rows_are_those_of_spark(spark, namespace, version):
    table, lake = f"{namespace}.v{version}", session.catalog_properties(ENVIRONMENT)
    made(spark, table, version)
    for at in (None, "first", "side", snapshots.at(spark, table, 2)):
        assert of_browse(lake, table, at) == of_spark(spark, table, at)
    said = [(each.n, each.operation, each.added_rows, each.removed_rows, each.data_files)
            for each in browse.snapshots(lake, table)]  # fmt: skip
    assert said == [tuple(row) for row in snapshots.history(spark, table).collect()]
    refs = spark.sql(f"SELECT name, lower(type) AS kind, snapshot_id FROM {table}.refs ORDER BY name").collect()
    head = browse.head(lake, table)
    assert [(ref.name, ref.kind, ref.snapshot_id) for ref in head.refs] == [tuple(row) for row in refs]
    assert head.partitioned_by == ("days(day)", "bucket(4, id)")
    rows = {None: spark.table(table), "first": spark.sql(f"SELECT * FROM {table} VERSION AS OF 'first'")}
    for at, frame in rows.items():
        shown = browse.preview(lake, table, at=at, limit=1000)
        assert shown.columns == tuple(frame.columns) and shown.complete
        assert sorted(shown.rows, key=str) == sorted(map(tuple, frame.collect()), key=str)


def test_views_are_listed_and_are_no_tables(spark, namespace):
    lake = session.catalog_properties(ENVIRONMENT)
    spark.sql(f"CREATE TABLE {namespace}.seen (id BIGINT) USING iceberg")
    spark.sql(f"CREATE VIEW {namespace}.few AS SELECT id FROM {namespace}.seen WHERE id < 3")
    try:
        [listed] = browse.tree(lake, namespace=namespace)
        assert listed.views == (f"{namespace}.few",) and f"{namespace}.few" not in listed.tables
        with pytest.raises(ArgumentError, match=f"^{namespace}.few is a view, which Spark computes"):
            browse.head(lake, f"{namespace}.few")
    finally:
        spark.sql(f"DROP VIEW {namespace}.few")


def test_a_type_that_pyiceberg_does_not_have_is_a_sentence(spark, namespace):
    releases.need(spark, "a VARIANT", since="4.0")
    table = f"{namespace}.varied"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    with pytest.raises(
        ArgumentError, match="varied has metadata that PyIceberg does not read: .*variant.*; ask Spark"
    ):
        browse.head(session.catalog_properties(ENVIRONMENT), table)


def test_deletes_by_equality_are_listed_and_not_previewed(spark, namespace):
    table, lake = f"{namespace}.by_equality", session.catalog_properties(ENVIRONMENT)
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT) USING iceberg "
        "TBLPROPERTIES ('format-version' = '2', 'write.parquet.compression-codec' = 'zstd')"
    )
    spark.range(10).coalesce(1).writeTo(table).append()
    iceberg = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    ids = spark.sparkContext._gateway.new_array(spark._jvm.int, 1)
    ids[0] = 1
    file = spark._jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(iceberg.spec()).ofEqualityDeletes(ids)
    file = file.withPath(f"{iceberg.location()}/data/by_equality.parquet").withFormat("parquet")
    file = file.withRecordCount(2).withFileSizeInBytes(100).build()
    iceberg.newRowDelta().addDeletes(file).commit()
    assert [(each.content, each.rows) for each in browse.files(lake, table)] == [
        ("equality deletes", 2),
        ("data", 10),
    ]
    with pytest.raises(ArgumentError, match="has deletes by equality, which PyIceberg does not read; ask Spark"):
        browse.preview(lake, table)
