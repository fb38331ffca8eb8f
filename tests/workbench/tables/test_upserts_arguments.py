"""Arguments of upserts that say nothing are refused by a sentence before anything is done, or a query starts."""

import pandas as pd
import pytest
from conftest import own_namespace

from workbench.tables import snapshots, upserts

OPTIONS = {"key": "id", "sequence": "seq", "operation": "op", "deleted": "gone"}
FRAME = "expected a DataFrame of a classic Spark session"
NAMES = "must be a text or several values"
EMPTY = "holds an empty text, expected the name of a column, or several"
NAME = "must be a text of at least 1 character"
WORDS = "operations must be a dict of texts to 'upsert' or 'delete'"
PROPERTIES = "properties must be a dict of texts of at least 1 character to texts"


@pytest.fixture(scope="module")
def shared(spark):
    """A namespace of a table without a snapshot and a view of it, for calls that change none of them."""
    with own_namespace(spark, "t_upserts_arguments") as name:
        spark.sql(f"CREATE TABLE {name}.t (id BIGINT, seq BIGINT, v STRING, gone BOOLEAN) USING iceberg")
        spark.sql(f"CREATE VIEW {name}.v AS SELECT * FROM {name}.t")
        yield name
        spark.sql(f"DROP VIEW {name}.v")


@pytest.fixture
def table(shared):
    return f"{shared}.t"


@pytest.fixture(scope="module")
def updates(spark):
    return spark.createDataFrame([(1, 1, "a", "I")], "id BIGINT, seq BIGINT, v STRING, op STRING")


def refused(call, why):
    with pytest.raises(ValueError) as told:
        call()
    assert str(told.value) == why


ROLES = [
    ({"key": None}, f"key {NAMES}, found None"),
    ({"key": 3}, f"key {NAMES}, found 3"),
    ({"key": [3]}, "key holds 3, which is int: names of columns are texts"),
    ({"key": ""}, f"key {EMPTY}"),
    ({"key": [""]}, f"key {EMPTY}"),
    ({"key": []}, "key, sequence and deleted must be different columns, key and sequence at least one each; found (), "
     "('seq',) and gone"),
    ({"sequence": True}, f"sequence {NAMES}, found True"),
    ({"sequence": [None]}, "sequence holds None, which is NoneType: names of columns are texts"),
    ({"operation": 3}, f"operation {NAME} or None, found 3"),
    ({"operation": ""}, f"operation {NAME} or None, found ''"),
    ({"deleted": ["gone"]}, f"deleted {NAME} or None, found ['gone']"),
    ({"deleted": ""}, f"deleted {NAME} or None, found ''"),
    ({"operations": None}, f"{WORDS}, found None"),
    ({"operations": ["I", "D"]}, f"{WORDS}, found ['I', 'D']"),
    ({"operations": {"I": None}}, f"{WORDS}, found None in it"),
    ({"operations": {1: "upsert"}}, f"{WORDS}, found 1 in it"),
    ({"operations": {}}, "operations is empty, expected what each value of op does"),
    ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
    ({"tries": True}, "tries must be an integer of at least 1, found True"),
]  # fmt: skip


def test_a_column_that_spark_would_name_otherwise_is_refused(spark, shared):
    rows = spark.createDataFrame([(1, 1, "a")], "id BIGINT, seq BIGINT, `${spark.app.name}` STRING")
    rows.limit(0).writeTo(f"{shared}.dollar").using("iceberg").create()
    with pytest.raises(
        ValueError, match=r"the column '\${spark.app.name}' contains \${, where Spark substitutes a"
    ):
        upserts.merge(spark, f"{shared}.dollar", rows, key="id", sequence="seq")
    spark.sql(f"DROP TABLE {shared}.dollar")


@pytest.mark.parametrize(("options", "why"), ROLES)
def test_a_merge_of_wrong_roles_is_refused(spark, table, updates, options, why):
    refused(lambda: upserts.merge(spark, table, updates, **(OPTIONS | options)), why)
    assert snapshots.current(spark, table) is None


@pytest.mark.parametrize(("options", "why"), ROLES)
def test_a_stream_of_wrong_roles_is_refused_before_it_starts(options, why):
    """It was refused in its first batch, by the end of the query."""
    refused(lambda: upserts.each_batch("a.b", **(OPTIONS | options)), why)


def test_a_stream_into_no_table_is_refused_before_it_starts():
    for wrong in (None, 3):
        refused(lambda wrong=wrong: upserts.each_batch(wrong, **OPTIONS), f"table must be a text, found {wrong}")
    for wrong in ("t", "a b.c"):
        with pytest.raises(ValueError, match=f"{wrong!r} is not a table name"):
            upserts.each_batch(wrong, **OPTIONS)
    why = "on_batch must be a function or None, found []"
    refused(lambda: upserts.each_batch("a.b", **OPTIONS, on_batch=[]), why)


@pytest.mark.parametrize(
    ("given", "there"),
    [
        (lambda spark, table: None, "NoneType"),
        (lambda spark, table: [(1, 1, "a", "I")], "list"),
        (lambda spark, table: table, "str"),
        (lambda spark, table: pd.DataFrame({"id": [1]}), "pandas.core.frame.DataFrame"),
    ],
)
def test_updates_of_another_kind_are_refused(spark, table, given, there):
    refused(lambda: upserts.merge(spark, table, given(spark, table), **OPTIONS), f"updates is {there}, {FRAME}")
    assert snapshots.current(spark, table) is None


def test_a_frame_of_spark_connect_is_refused(spark, table):
    from pyspark.sql.connect.dataframe import DataFrame

    connected = object.__new__(DataFrame)  # of no server: what is looked at is its class
    why = f"updates is pyspark.sql.connect.dataframe.DataFrame, {FRAME}"
    refused(lambda: upserts.merge(spark, table, connected, **OPTIONS), why)


def test_a_stream_is_no_batch(spark, table):
    why = "updates are a stream; upserts.each_batch merges its batches, by foreachBatch"
    stream = spark.readStream.format("rate").load()
    refused(lambda: upserts.merge(spark, table, stream, **OPTIONS), why)


def test_no_table_of_icebergs_is_refused(spark, shared, table, updates):
    with pytest.raises(snapshots.TableNotFound, match=rf"no table {table}x; {shared} has {table}$"):
        upserts.merge(spark, f"{table}x", updates, **OPTIONS)
    with pytest.raises(ValueError, match="this needs a classic Spark session, and spark is NoneType"):
        upserts.merge(None, table, updates, **OPTIONS)
    with pytest.raises(ValueError, match="id must be a text or None, found 3"):
        upserts.merge(spark, table, updates, **OPTIONS, id=3)
    with pytest.raises(snapshots.TableNotFound, match=rf"no table {shared}\.v; {shared} has {table}$"):
        upserts.merge(spark, f"{shared}.v", updates, **OPTIONS)
    assert snapshots.current(spark, table) is None


def test_names_may_be_of_any_kind_and_a_generator(spark, namespace, updates):
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, seq BIGINT, v STRING, gone BOOLEAN) USING iceberg")
    names = {"key": (name for name in ["id"]), "sequence": iter(["seq"]), "operation": "op", "deleted": "gone"}
    assert upserts.merge(spark, table, updates, **names).tries == 1
    assert [tuple(row) for row in spark.table(table).collect()] == [(1, 1, "a", False)]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"branch": None}, f"branch {NAME}, found None"),
        ({"branch": ""}, f"branch {NAME}, found ''"),
        ({"properties": None}, f"{PROPERTIES}, found None"),
        ({"properties": {"n": 1}}, f"{PROPERTIES}, found 1 in it"),
    ],
)  # fmt: skip
def test_a_staged_merge_is_refused_too(spark, table, updates, options, why):
    given = {"branch": "b", "properties": {}} | OPTIONS | {"operations": upserts.OPERATIONS} | options
    refused(lambda: upserts.staged(spark, table, updates, **given).__enter__(), why)
