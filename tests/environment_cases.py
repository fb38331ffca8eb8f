"""What the environments `s3` and `rest` can do and what `rest` lacks: docs/s3.md. Run by test_s3_environments.py."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from conftest import ENVIRONMENT

from workbench import session
from workbench.tables import commits, maintenance
from workbench_proofs import conflicts
from workbench_standins import proxy


@pytest.fixture
def table(spark, namespace):
    """Three rows in two files."""
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, name STRING) USING iceberg PARTITIONED BY (name)")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'a'), (11, 'b')")
    return name


def rows(spark, table):
    return sorted(map(tuple, spark.table(table).collect()))


def objects(table, *, under=""):
    """The keys of a table's objects."""
    bucket, _, prefix = session.catalog(ENVIRONMENT).load_table(table).location()[5:].partition("/")
    return listed(bucket, f"{prefix}/{under}")


def listed(bucket, prefix):
    pages = session.s3_client(ENVIRONMENT).get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return [one["Key"] for page in pages for one in page.get("Contents", [])]


def test_tables_are_in_the_bucket(spark, table):
    bucket = {"s3": "s3://plain/", "rest": "s3://warehouse/"}[ENVIRONMENT]
    paths = [row.file_path for row in spark.sql(f"SELECT file_path FROM {table}.files").collect()]
    assert len(paths) == 2 and all(path.startswith(bucket) for path in paths)
    assert len(objects(table, under="data/")) == 2


V3 = pytest.mark.proof("the first case of this test changes, branches and maintains a table of format version 2")


@pytest.mark.parametrize("version", [2, pytest.param(3, marks=V3)])
def test_row_changes_branches_and_maintenance(spark, table, version):
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '{version}')")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT 1L AS id, 'z' AS name UNION ALL SELECT 12L, 'd') s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    spark.sql(f"DELETE FROM {table} WHERE id = 2")
    assert rows(spark, table) == [(1, "z"), (11, "b"), (12, "d")]
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    spark.sql(f"INSERT INTO {table}.branch_b VALUES (13, 'e')")
    assert spark.table(table).count() == 3
    spark.sql(f"CALL system.fast_forward('{table}', 'main', 'b')")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN note STRING")
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    spark.sql(f"ALTER TABLE {table} DROP BRANCH b")
    before = len(objects(table, under="data/"))
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP'2100-01-01', retain_last => 1)"
    )
    assert rows(spark, table) == [(1, "z", None), (11, "b", None), (12, "d", None), (13, "e", None)]
    files = spark.sql(f"SELECT count(*) FROM {table}.files").first()[0]
    assert len(objects(table, under="data/")) == files < before


def test_spark_and_pyiceberg_read_what_the_other_wrote(spark, table):
    found = session.catalog(ENVIRONMENT).load_table(table)
    assert sorted(found.scan().to_arrow()["id"].to_pylist()) == [1, 2, 11]
    found.append(pa.table({"id": [21], "name": ["p"]}))
    spark.sql(f"REFRESH TABLE {table}")
    assert rows(spark, table)[-1] == (21, "p")


def test_sessions_made_from_this_one_have_the_keys_too(spark, table):
    assert spark.newSession().table(f"lake.{table}").count() == 3


def test_the_keys_stand_in_no_command_line(spark, table):
    server = session.stand_in(ENVIRONMENT)
    me, lines = psutil.Process(), []
    for one in (me, *me.children(recursive=True)):
        with suppress(psutil.Error):  # it has ended meanwhile: Python's workers come and go
            lines.append(" ".join(one.cmdline()))
    assert any("java" in line for line in lines) and any("weed" in line for line in lines)
    assert not [line for line in lines if server.secret_key in line or server.access_key in line]
    shown = " ".join(
        f"{key}={value}" for key, value in session.spark_conf(session.settings.environment(ENVIRONMENT)).items()
    )
    assert server.endpoint in shown and server.secret_key not in shown


def test_a_process_that_is_started_shares_the_server(spark, table):
    code = (
        "import json; from workbench import session\n"
        f"found = session.catalog({ENVIRONMENT!r}).load_table({table!r}).scan().to_arrow().num_rows\n"
        f"print(json.dumps([session.stand_in({ENVIRONMENT!r}).endpoint, found]))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (json.loads(said.stdout), said.stderr) == ([session.stand_in(ENVIRONMENT).endpoint, 3], "")
    assert spark.table(table).count() == 3  # the child's end was not the server's


LIMIT = pytest.mark.proof(
    "what the catalog of the stand-in lacks is no promise of ours: test_a_commit_whose_answer_is_lost needs what it has"
)


def refused(spark, statement):
    """Whether a statement is refused, and by what words."""
    try:
        spark.sql(statement).collect()
    except Exception as error:
        return str(error)
    return None


@LIMIT
def test_partitioned_by_the_first_column(spark, namespace):
    """Spark numbers a new table's columns from 0, and the catalog takes a partition of column 0 for none."""
    said = refused(spark, f"CREATE TABLE {namespace}.t (id BIGINT, name STRING) USING iceberg PARTITIONED BY (id)")
    if ENVIRONMENT == "rest":
        assert "Malformed request: Invalid request body" in said
        spark.sql(f"CREATE TABLE {namespace}.t (id BIGINT, name STRING) USING iceberg")
        spark.sql(f"ALTER TABLE {namespace}.t ADD PARTITION FIELD id")
        said = refused(spark, f"INSERT INTO {namespace}.t VALUES (1, 'a')")
    assert said is None


@LIMIT
def test_names_of_namespaces(spark):
    said = refused(spark, "CREATE NAMESPACE ends_in_")
    if ENVIRONMENT == "rest":
        assert "must end with a letter or digit" in said
        return
    assert said is None
    spark.sql("DROP NAMESPACE ends_in_")


@LIMIT
def test_views(spark, table, namespace):
    said = refused(spark, f"CREATE VIEW {namespace}.v AS SELECT count(*) AS n FROM {table}")
    if ENVIRONMENT == "rest":
        assert "Server does not support endpoint: POST /v1/{prefix}/namespaces/{namespace}/views" in said
        return
    assert said is None and spark.table(f"{namespace}.v").collect() == [(3,)]
    spark.sql(f"DROP VIEW {namespace}.v")


@LIMIT
def test_deletion_vectors(spark, table):
    spark.sql(
        f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"
    )
    said = refused(spark, f"DELETE FROM {table} WHERE id = 1")
    if ENVIRONMENT == "rest":
        assert "Status Code: 403" in said
        assert spark.table(table).count() == 3
        return
    assert said is None and spark.table(table).count() == 2
    kinds = spark.sql(f"SELECT file_format FROM {table}.delete_files").collect()
    assert [row.file_format.lower() for row in kinds] == ["puffin"]


def test_small_files_are_compacted_the_fast_way(spark, table):
    """And no object is made that stands for a folder: a table bucket refuses it."""
    for n in range(3):
        spark.sql(f"INSERT INTO {table} VALUES ({n}, 'c')")
    policy = maintenance.Policy(actions=("compact_data",), min_input_files=2)
    (done,) = maintenance.run(spark, maintenance.plan(spark, table, policy=policy))
    assert (done.fast, done.files_after) == (3, 1)
    assert rows(spark, table) == [(0, "c"), (1, "a"), (1, "c"), (2, "a"), (2, "c"), (11, "b")]
    assert not [key for key in objects(table) if key.endswith("/")]


@LIMIT
def test_old_metadata_files(spark, table):
    """The log is cut by both; the service of a REST catalog would have to delete the files, and this one does not."""
    properties = (
        "'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '2'"
    )
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({properties})")
    for n in range(3):
        spark.sql(f"INSERT INTO {table} VALUES ({n}, 'c')")
    assert spark.sql(f"SELECT count(*) FROM {table}.metadata_log_entries").first()[0] == 3
    there = [key for key in objects(table, under="metadata/") if key.endswith(".metadata.json")]
    assert len(there) == {"s3": 3, "rest": 6}[ENVIRONMENT]


def file_io(spark, **other):
    """Iceberg's own way to the bucket, with settings of our own."""
    given = spark._jvm.java.util.HashMap()
    for name, value in (session.stand_in(ENVIRONMENT).properties("s3") | other).items():
        given.put(name, value)
    implementation = given.remove("io-impl")
    return spark._jvm.org.apache.iceberg.CatalogUtil.loadFileIO(implementation, given, None)


def test_a_missing_file_is_told_from_a_refusal(spark, table):
    data = spark.sql(f"SELECT file_path FROM {table}.files").first()[0]
    with pytest.raises(Exception) as refused:
        file_io(spark, **{"s3.secret-access-key": "another"}).newInputFile(data).newStream().read()
    assert "Status Code: 403" in str(refused.value) and commits.missing_file(refused.value) is False
    session.s3_client(ENVIRONMENT).delete_object(Bucket=data[5:].partition("/")[0], Key=data[5:].partition("/")[2])
    with pytest.raises(Exception) as gone:
        spark.table(table).collect()
    assert commits.missing_file(gone.value) is True and commits.kind(gone.value) == commits.OTHER
    with pytest.raises(Exception) as unknown:  # of its length, S3's own words come out
        file_io(spark).newInputFile(data).getLength()
    assert commits.missing_file(unknown.value) is True


def test_a_streams_checkpoint_lies_on_disk(spark, table, tmp_path):
    """Spark has no file system for s3://, and on Iceberg 1.11 it needs none for a checkpoint elsewhere."""
    at = maintenance.stream_checkpoint(spark, table, stream="follow", disk=tmp_path)
    assert at.startswith(f"file://{tmp_path}/_checkpoints/")
    query = spark.readStream.table(table).writeStream.format("noop").option("checkpointLocation", at).start()
    query.processAllAvailable()
    query.stop()
    assert sum(one["numInputRows"] for one in query.recentProgress) == 3


@LIMIT
def test_dropped_without_purge(spark, table):
    bucket, _, prefix = session.catalog(ENVIRONMENT).load_table(table).location()[5:].partition("/")
    spark.sql(f"DROP TABLE {table}")
    left = [key for key in listed(bucket, prefix) if key.endswith(".parquet")]
    assert len(left) == (2 if ENVIRONMENT == "s3" else 0)


def test_a_commit_whose_answer_is_lost(spark, table):
    """The commit itself at a REST catalog; beside SQLite it is a metadata file, which the client sends again."""
    with conflicts.writers(spark) as two:
        two.between.play([proxy.Rule("lose_answer", two.what.of("a"), most=1)])
        done = commits.retrying(two.a, table, lambda: two.a.sql(f"INSERT INTO {table} VALUES (12, 'b')"))
        assert [one.hit for one in two.between.injected()] == [1]
    assert (done.tries, done.found) == (1, ENVIRONMENT == "rest")
    spark.sql(f"REFRESH TABLE {table}")
    assert rows(spark, table) == [(1, "a"), (2, "a"), (11, "b"), (12, "b")]


@LIMIT
def test_a_registered_table(spark, table):
    metadata, name = commits.load(spark, table).operations().current().metadataFileLocation(), f"{table}_again"
    spark.sql(f"CALL system.register_table(table => '{name}', metadata_file => '{metadata}')")
    assert spark.table(name).columns == {"s3": ["id", "name"], "rest": []}[ENVIRONMENT]
    assert spark.table(name).count() == {"s3": 3, "rest": 0}[ENVIRONMENT]
    if ENVIRONMENT == "s3":  # it shares its files, so not with PURGE
        spark.sql(f"DROP TABLE {name}")
    else:
        with pytest.raises(Exception, match="failed to delete table"):
            spark.sql(f"DROP TABLE {name}")


def test_no_writer_begins_on_a_remembered_state_and_the_given_session_stays(spark):
    cached = f"spark.sql.catalog.{spark.conf.get('spark.sql.defaultCatalog')}.cache-enabled"
    before = spark.conf.get(cached, None)
    with conflicts.writers(spark) as two:
        assert [one.conf.get(cached) for one in (two.a, two.b, two.aside)] == ["false"] * 3
    assert spark.conf.get(cached, None) == before != "false"


@pytest.mark.proof(
    "22_race_writers races on s3, and test_a_commit_whose_answer_is_lost commits by one of two writers here"
)
def test_a_cell_of_the_matrix_of_conflicts(spark):
    (one,) = conflicts.run(spark, [conflicts.Cell("update", "append", "serializable", "same")])
    assert (one.outcome, one.rows, one.equal_to) == ("retried_and_committed", 10, "first_second")


def test_where_it_all_is(spark):
    """For the caller, who looks whether anything is left: the folder of the server."""
    folder = session.stand_in(ENVIRONMENT).folder
    assert (folder / "data").is_dir()
    assert Path(folder).parent.parent.name == "scratch"
