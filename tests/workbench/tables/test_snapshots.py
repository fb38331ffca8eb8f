"""Snapshots by ordinal, and the files that a query reads."""

import time

import pytest
from commit_times import line, set_times
from conftest import own_namespace

from workbench.tables import snapshots


def filled(spark, name):
    spark.sql(f"CREATE TABLE {name} (id BIGINT, part INT) USING iceberg PARTITIONED BY (part)")
    spark.sql(f"INSERT INTO {name} SELECT id, CAST(id % 4 AS INT) FROM range(100)")
    spark.sql(f"DELETE FROM {name} WHERE part = 3")
    return name


@pytest.fixture
def table(spark, namespace):
    return filled(spark, f"{namespace}.t")


@pytest.fixture(scope="module")
def shared(spark):
    """Such a table for tests that only read it."""
    with own_namespace(spark, "t_snapshots") as name:
        yield filled(spark, f"{name}.t")


def test_history(spark, shared):
    assert [tuple(row) for row in snapshots.history(spark, shared).collect()] == [
        (1, "append", 100, 0, 4),
        (2, "delete", 0, 25, 3),
    ]


def test_at_and_current(spark, shared):
    first, second = (snapshots.at(spark, shared, n) for n in (1, 2))
    assert spark.sql(f"SELECT count(*) FROM {shared} VERSION AS OF {first}").collect()[0][0] == 100
    assert snapshots.current(spark, shared) == second
    assert snapshots.current(spark, shared, ref="nowhere") is None
    with pytest.raises(ValueError, match="has no snapshot 3; it has 2"):
        snapshots.at(spark, shared, 3)
    for wrong in ("1", True, None):
        with pytest.raises(ValueError, match=f"n must be an integer, found {wrong!r}"):
            snapshots.at(spark, shared, wrong)


@pytest.mark.parametrize(
    "later",
    [pytest.param(0, marks=pytest.mark.proof("clocks that are behind show that times order nothing")), -20_000],
    ids=["one millisecond", "a clock behind"],
)
def test_the_order_is_that_of_the_commits_whatever_the_clocks_said(spark, table, later):
    for n in range(3):
        spark.sql(f"INSERT INTO {table} VALUES (1000, {n})")
    ids = [snapshot for snapshot, _ in line(spark, table)]
    set_times(spark, table, {snapshot: 1_760_000_000_000 + n * later for n, snapshot in enumerate(ids)})
    assert [snapshots.at(spark, table, n) for n in range(1, 6)] == ids
    assert [row.added_rows for row in snapshots.history(spark, table).collect()] == [100, 0, 1, 1, 1]
    assert [row.deleted_rows for row in snapshots.history(spark, table).collect()] == [0, 25, 0, 0, 0]


def test_the_order_does_not_depend_on_clocks_that_are_put_back(spark, namespace, monkeypatch):
    """At 00:30 UTC it is half past two in Berlin, at 01:10 ten past two once more."""
    table = f"{namespace}.folded"
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1)")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {table} VALUES (2), (3)")
    spark.sql(f"INSERT INTO {table}.branch_side VALUES (4), (5), (6)")
    rows = spark.sql(f"SELECT snapshot_id, summary['added-records'] AS n FROM {table}.snapshots").collect()
    minutes = {"1": 0, "2": 30, "3": 70}  # from 2025-10-26 00:00 UTC
    set_times(spark, table, {row.snapshot_id: 1_761_436_800_000 + 60_000 * minutes[row.n] for row in rows})
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        found = [row.added_rows for row in snapshots.history(spark, table).collect()]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found == [1, 2, 3]


def test_what_is_not_on_main_is_listed_where_its_time_puts_it(spark, table):
    second = snapshots.current(spark, table)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {table}.branch_side VALUES (1000, 1), (1001, 1)")  # 3
    spark.sql(f"DELETE FROM {table} WHERE part = 2")  # 4
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {second})").collect()
    spark.sql(f"INSERT INTO {table} VALUES (1002, 1)")  # 5
    rows = snapshots.history(spark, table).collect()
    assert [(row.n, row.operation, row.added_rows) for row in rows] == [
        (1, "append", 100),
        (2, "delete", 0),
        (3, "append", 2),
        (4, "delete", 0),
        (5, "append", 1),
    ]
    assert snapshots.at(spark, table, 5) == snapshots.current(spark, table)
    assert snapshots.at(spark, table, 3) == snapshots.current(spark, table, ref="side")


def test_a_table_without_snapshots_has_an_empty_history(spark, namespace):
    spark.sql(f"CREATE TABLE {namespace}.empty (id BIGINT) USING iceberg")
    assert snapshots.history(spark, f"{namespace}.empty").collect() == []


def test_files_read_follows_pruning(spark, shared):
    df = spark.table(shared)
    assert snapshots.files_read(df.where("id >= 0")) == 3
    assert snapshots.files_read(df.where("part = 1")) == 1
    assert snapshots.files_read(df.where("part = 3")) == 0
    assert snapshots.files_read(df.where("part = 1").union(df.where("part = 2"))) == 2


def test_files_of_anything_else_are_not_counted(spark, shared):
    assert snapshots.files_read(spark.table(shared).groupBy().count()) == 0  # from metadata alone
    with pytest.raises(ValueError, match="of Iceberg tables only; this query has a Range"):
        snapshots.files_read(spark.range(3))


def test_an_unknown_table_lists_those_there_are(spark, shared):
    namespace = shared.partition(".")[0]
    with pytest.raises(snapshots.TableNotFound, match=f"no table {namespace}.other; {namespace} has {shared}"):
        snapshots.history(spark, f"{namespace}.other")
    with pytest.raises(snapshots.TableNotFound, match="no table nowhere.t; there is no namespace nowhere$"):
        snapshots.current(spark, "nowhere.t")
    with pytest.raises(snapshots.TableNotFound, match="there is no namespace lake.nowhere$"):
        snapshots.current(spark, "lake.nowhere.t")
    with pytest.raises(
        snapshots.TableNotFound,
        match="there is no namespace other.nowhere, for other is not a catalog of this session",
    ):
        snapshots.current(spark, "other.nowhere.t")


def test_a_jdbc_catalog_without_views_says_what_is_not_there(spark, tmp_path):
    """Its default schema has none; Spark asks for a view where there is no table, and gets an error."""
    old = {
        "": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".warehouse": str(tmp_path),
        ".uri": f"jdbc:sqlite:{tmp_path}/catalog.db",
    }  # fmt: skip
    try:
        for name, text in old.items():
            spark.conf.set(f"spark.sql.catalog.old{name}", text)
        spark.sql("CREATE NAMESPACE old.n")
        spark.sql("CREATE TABLE old.n.t (id BIGINT) USING iceberg")
        assert snapshots.exists(spark, "old.n.t") and not snapshots.exists(spark, "old.n.u")
        with pytest.raises(snapshots.TableNotFound, match="no table old.n.u; old.n has old.n.t"):
            snapshots.current(spark, "old.n.u")
        spark.sql("DROP TABLE old.n.t PURGE")
    finally:
        for name in old:
            spark.conf.unset(f"spark.sql.catalog.old{name}")
