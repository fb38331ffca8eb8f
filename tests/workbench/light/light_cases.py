"""Tables on which engines without Spark go wrong, and what Spark says of them: made once for a test run."""

import math
import operator
import os
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest
from conftest import ENVIRONMENT
from pyiceberg.types import UUIDType

from workbench import light, session
from workbench._base import identifiers

MERGE_ON_READ = ", ".join(f"'write.{command}.mode' = 'merge-on-read'" for command in ("delete", "update", "merge"))
UUIDS = ("00000000-0000-0000-0000-000000000001", "f79c3e09-677c-4bbd-a479-3f349cb785e7")


def lake():
    """The properties of the catalog that the session has, for those who do without it."""
    return session.catalog_properties(ENVIRONMENT)


def own_lake(folder):
    """The properties of a user's own catalog, with the namespace n."""
    uri = f"sqlite:///{folder}/catalog.db?timeout=60"
    properties = {"name": "own", "type": "sql", "uri": uri, "warehouse": f"file://{folder}"}
    light.catalogs.load(properties).create_namespace("n")
    return properties


@pytest.fixture(scope="session")
def rest():
    """The properties of a REST catalog with its storage, on the stand-in of S3."""
    server, properties = _rest()
    yield properties
    server.close()


@cache  # as the namespace of the cases
def _rest():
    from workbench_standins import s3

    server = ExitStack()
    return server, {"name": "lake"} | server.enter_context(s3.serve()).properties("rest")


def rows(table):
    """Rows of an Arrow table in its order, such that NaN equals itself."""
    return [tuple(_comparable(value) for value in row.values()) for row in table.to_pylist()]


def _comparable(value):
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items()}
    return [_comparable(item) for item in value] if isinstance(value, list | tuple) else value


def sparks(spark, sql):
    """Spark's answer, as `rows`."""
    return rows(spark.sql(sql).toArrow())


def loaded(spark, table):
    """Iceberg's own table."""
    return spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)


def plain(spark, table):
    spark.sql(f"CREATE TABLE {table} (id BIGINT, name STRING) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, NULL)")
    spark.sql(f"ALTER TABLE {table} CREATE TAG first")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    spark.sql(f"INSERT INTO {table}.branch_side VALUES (4, 'd')")


def position_deletes(spark, table):
    _deleted(spark, table, 2)


def deletion_vectors(spark, table):
    _deleted(spark, table, 3)


def _deleted(spark, table, version):
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, name STRING) USING iceberg "
        f"TBLPROPERTIES ('format-version' = '{version}', {MERGE_ON_READ})"
    )
    spark.range(100).selectExpr("id", "concat('n', id % 7)").toDF("id", "name").coalesce(1).writeTo(table).append()
    spark.sql(f"DELETE FROM {table} WHERE id % 10 = 3")
    spark.sql(f"UPDATE {table} SET name = 'new' WHERE id = 5")


def equality_deletes(spark, table):
    import pyarrow as pa
    from pyarrow import parquet as pq

    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')"
    )
    spark.range(10).selectExpr("id", "concat('n', id)").toDF("id", "name").coalesce(1).writeTo(table).append()
    iceberg = loaded(spark, table)
    path = Path(iceberg.location().removeprefix("file:").replace("//", "/")) / "data" / "by_equality.parquet"
    schema = pa.schema([pa.field("id", pa.int64(), True, {b"PARQUET:field_id": b"1"})])
    pq.write_table(pa.table({"id": pa.array([3, 7], pa.int64())}, schema=schema), path)
    ids = spark.sparkContext._gateway.new_array(spark._jvm.int, 1)
    ids[0] = 1
    file = spark._jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(iceberg.spec()).ofEqualityDeletes(ids)
    file = file.withPath(path.as_uri()).withFormat("parquet").withRecordCount(2)
    iceberg.newRowDelta().addDeletes(file.withFileSizeInBytes(path.stat().st_size).build()).commit()
    spark.sql(f"REFRESH TABLE {table}")


def evolved(spark, table):
    spark.sql(
        f"CREATE TABLE {table} (id INT, f FLOAT, d DECIMAL(6, 2), gone STRING, s STRUCT<a: INT>, old STRING) "
        "USING iceberg"
    )
    spark.sql(
        f"INSERT INTO {table} VALUES (1, 1.5, 3.25, 'x', named_struct('a', 1), 'o'), (2, NULL, NULL, 'y', NULL, NULL)"
    )
    for change in (
        "ALTER COLUMN id TYPE BIGINT", "ALTER COLUMN f TYPE DOUBLE", "ALTER COLUMN d TYPE DECIMAL(12, 2)",
        "DROP COLUMN gone", "ADD COLUMN s.b STRING", "RENAME COLUMN old TO new", "ADD COLUMN gone INT",
        "ALTER COLUMN new FIRST",
    ):  # fmt: skip
        spark.sql(f"ALTER TABLE {table} {change}")
    spark.sql(
        f"INSERT INTO {table} VALUES ('n', 3000000000, 2.5, 123456789.25, named_struct('a', 3, 'b', 'bb'), 7)"
    )


def repartitioned(spark, table):
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, at TIMESTAMP, name STRING) USING iceberg PARTITIONED BY (days(at))"
    )
    first = "SELECT id, timestamp_seconds(id * 40000) AS at, concat('name ', id % 4) AS name FROM range(20)"
    spark.sql(f"INSERT INTO {table} {first}")
    spark.sql(f"ALTER TABLE {table} REPLACE PARTITION FIELD days(at) WITH bucket(3, id)")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD truncate(5, name)")
    spark.sql(f"INSERT INTO {table} SELECT id + 20, at, name FROM ({first})")


def types(spark, table):
    spark.sql(
        f"""CREATE TABLE {table} (id BIGINT, b BOOLEAN, i INT, dc DECIMAL(20, 3), d DATE, t TIMESTAMP,
        n TIMESTAMP_NTZ, x BINARY, m MAP<STRING, INT>, l ARRAY<STRUCT<a: INT, b: STRING>>, s STRUCT<a: ARRAY<INT>>)
        USING iceberg"""
    )
    spark.sql(
        f"""INSERT INTO {table} VALUES
        (1, true, -1, 12345678901234567.125, DATE '1582-10-04', TIMESTAMP '1969-12-31 23:59:59.999999',
         TIMESTAMP_NTZ '2024-02-29 12:00:00.000001', X'00FF', map('k', 1, 'o', NULL),
         array(named_struct('a', 1, 'b', 'x'), NULL), named_struct('a', array(1, NULL))),
        (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (3, false, 2147483647, -0.001, DATE '9999-12-31', TIMESTAMP '2024-01-01 00:00:00',
         TIMESTAMP_NTZ '0001-01-01 00:00:00', X'', map(), array(), named_struct('a', NULL))"""
    )


def default(spark, table):
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    spark.sql(f"INSERT INTO {table} VALUES (1), (2)")
    jvm = spark._jvm.org.apache.iceberg
    five, number = jvm.expressions.Expressions.lit(5), jvm.types.Types.IntegerType.get()
    loaded(spark, table).updateSchema().addColumn("x", number, five).commit()
    spark.sql(f"REFRESH TABLE {table}")
    spark.sql(f"INSERT INTO {table} VALUES (3, 7), (4, NULL)")


def odd_partitions(spark, table):
    spark.sql(f"CREATE TABLE {table} (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p)")
    values = ("a b", "a/b", "a=b", "50%", "%2F", "ä", "'", "", "a+b", "#?&")
    literals = ", ".join(f"({number}, {identifiers.literal(value)})" for number, value in enumerate(values))
    spark.sql(f"INSERT INTO {table} VALUES {literals}, (100, NULL)")


def avro(spark, table):
    _in_format(spark, table, "avro")


def orc(spark, table):
    _in_format(spark, table, "orc")


def _in_format(spark, table, name):
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('write.format.default' = '{name}')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")


def nans(spark, table):
    """Files whose bounds leave NaN out, so that a range may pass over them."""
    spark.sql(f"CREATE TABLE {table} (id BIGINT, f DOUBLE) USING iceberg")
    for start, value in ((0, "id"), (50, "id + 70"), (100, "id - 150")):
        spark.sql(
            f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, IF(id % 7 = 0, DOUBLE('NaN'), DOUBLE({value})) "
            f"FROM range({start}, {start + 50})"
        )


def null_lists(spark, table):
    """Null lists and maps of structs at several depths, one of them without a null."""
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, m MAP<STRING, STRUCT<a: INT>>, l ARRAY<STRUCT<a: INT>>, "
        "deep STRUCT<l: ARRAY<STRUCT<a: INT>>>, plain ARRAY<ARRAY<INT>>) USING iceberg"
    )
    full = "map('k', named_struct('a', 1)), array(named_struct('a', 1)), named_struct('l', array(named_struct('a', 2)))"
    spark.sql(
        f"INSERT INTO {table} VALUES (1, NULL, array(), named_struct('l', NULL), NULL), (2, {full}, array(NULL))"
    )


def uuids(spark, table):
    """UUIDs on both sides of the sign of Java's order, in one file."""
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    with session.catalog(ENVIRONMENT).load_table(table).update_schema() as update:
        update.add_column("u", UUIDType())  # which Spark's SQL cannot name
    spark.sql(f"REFRESH TABLE {table}")
    values = ", ".join(f"({number}L, '{value}')" for number, value in enumerate(UUIDS))
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES {values}, (2L, NULL)")


ALL = (plain, position_deletes, deletion_vectors, equality_deletes, evolved, repartitioned, types, default,
       odd_partitions, avro, orc, nans, null_lists, uuids)  # fmt: skip


@pytest.fixture(scope="session")
def cases(spark):
    """The namespace with a table of each case; it goes with the lake of the run, for to drop tables takes long."""
    return _namespace(spark)


@cache  # each module that imports the fixture has one of its own
def _namespace(spark):
    spark.sql("CREATE NAMESPACE light_cases")
    for make in ALL:
        make(spark, f"light_cases.{make.__name__}")
    return "light_cases"


def read(engine, table, *, where=None):
    """The whole table, or rows that a filter keeps, by an engine's own reader of Iceberg, sorted by id.

    Args:
        engine: its name, but Spark's.
        table: PyIceberg's.
        where: a filter, as ("f", ">", 100).
    """
    answer = _READERS[engine](table, where).sort_by("id")
    uuids = {field.name for field in table.schema().fields if isinstance(field.field_type, UUIDType)}
    return [
        tuple(
            str(UUID(bytes=value)) if name in uuids and isinstance(value, bytes) else value
            for name, value in zip(answer.column_names, row, strict=True)
        )
        for row in rows(answer)
    ]


def _pyiceberg(table, where):
    return (table.scan(row_filter=" ".join(map(str, where))) if where else table.scan()).to_arrow()


def _polars(table, where):
    import polars as pl

    os.environ["POLARS_ICEBERG_PLANNER"] = "pyiceberg"  # what it does anyhow, and warns of
    frame = pl.scan_iceberg(table, reader_override="native")
    if where:
        frame = frame.filter(_COMPARED[where[1]](pl.col(where[0]), where[2]))
    return frame.collect().to_arrow()


def _datafusion(table, where):
    import pyarrow as pa
    from datafusion import SessionContext
    from pyiceberg_core.datafusion import IcebergDataFusionTable

    context = SessionContext()
    names = {"identifier": table.name(), "metadata_location": table.metadata_location}
    context.register_table("t", IcebergDataFusionTable(**names, file_io_properties=table.io.properties))
    return pa.table(
        context.sql("SELECT * FROM t" + (f" WHERE {' '.join(map(str, where))}" if where else "")).to_arrow_table()
    )


_READERS = {"pyiceberg": _pyiceberg, "polars": _polars, "datafusion": _datafusion}
_COMPARED = {">": operator.gt, "<": operator.lt}
