"""What the environments `s3` and `rest` can do and what `rest` lacks: docs/s3.md. Run by test_s3_environments.py."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from conftest import ENVIRONMENT

from workbench import session


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


@pytest.mark.parametrize("version", [2, 3])
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
    me = psutil.Process()
    lines = [" ".join(one.cmdline()) for one in (me, *me.children(recursive=True)) if one.status() != "zombie"]
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


def refused(spark, statement):
    """Whether a statement is refused, and by what words."""
    try:
        spark.sql(statement).collect()
    except Exception as error:
        return str(error)
    return None


def test_partitioned_by_the_first_column(spark, namespace):
    """Spark numbers a new table's columns from 0, and the catalog takes a partition of column 0 for none."""
    said = refused(spark, f"CREATE TABLE {namespace}.t (id BIGINT, name STRING) USING iceberg PARTITIONED BY (id)")
    if ENVIRONMENT == "rest":
        assert "Malformed request: Invalid request body" in said
        spark.sql(f"CREATE TABLE {namespace}.t (id BIGINT, name STRING) USING iceberg")
        spark.sql(f"ALTER TABLE {namespace}.t ADD PARTITION FIELD id")
        said = refused(spark, f"INSERT INTO {namespace}.t VALUES (1, 'a')")
    assert said is None


def test_names_of_namespaces(spark):
    said = refused(spark, "CREATE NAMESPACE ends_in_")
    if ENVIRONMENT == "rest":
        assert "must end with a letter or digit" in said
        return
    assert said is None
    spark.sql("DROP NAMESPACE ends_in_")


def test_views(spark, table, namespace):
    said = refused(spark, f"CREATE VIEW {namespace}.v AS SELECT count(*) AS n FROM {table}")
    if ENVIRONMENT == "rest":
        assert "Server does not support endpoint: POST /v1/{prefix}/namespaces/{namespace}/views" in said
        return
    assert said is None and spark.table(f"{namespace}.v").collect() == [(3,)]
    spark.sql(f"DROP VIEW {namespace}.v")


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


def test_dropped_without_purge(spark, table):
    bucket, _, prefix = session.catalog(ENVIRONMENT).load_table(table).location()[5:].partition("/")
    spark.sql(f"DROP TABLE {table}")
    left = [key for key in listed(bucket, prefix) if key.endswith(".parquet")]
    assert len(left) == (2 if ENVIRONMENT == "s3" else 0)


def test_where_it_all_is(spark):
    """For the caller, who looks whether anything is left: the folder of the server."""
    folder = session.stand_in(ENVIRONMENT).folder
    assert (folder / "data").is_dir()
    assert Path(folder).parent.parent.name == "scratch"
