"""What a SQL cell can go on with, in a session with tables."""

import uuid

import pytest

from workbench import sql
from workbench.sql import completing


@pytest.fixture(scope="module")
def tables(spark):
    """A namespace with two tables, one of a name that needs backticks."""
    name = f"completing_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE NAMESPACE {name}")
    spark.sql(f"CREATE TABLE {name}.orders (order_id BIGINT, ordered_at TIMESTAMP, `a b` STRING) USING iceberg")
    spark.sql(f"CREATE TABLE {name}.`my-orders` (id INT) USING iceberg")
    yield name
    for table in ("orders", "`my-orders`"):
        spark.sql(f"DROP TABLE {name}.{table} PURGE")
    spark.sql(f"DROP NAMESPACE {name}")


@pytest.fixture
def offered(spark):
    """What is offered at the sign | of a cell."""

    def at(statement):
        cell = f"%%sql late\n{statement}"
        return completing.complete(completing.Known(spark), cell.replace("|", ""), cell.index("|"))

    return at


def test_names_of_each_kind(tables, offered):
    assert offered(f"SELECT * FROM {tables[:-3]}|") == (tables[:-3], [(tables, "namespace")])
    assert offered(f"SELECT * FROM {tables}.|") == ("", [("`my-orders`", "table"), ("orders", "table")])
    assert offered(f"SELECT * FROM {tables}.or|") == ("or", [("orders", "table")])
    assert offered(f"SELECT * FROM {tables}.orders.sn|") == ("sn", [("snapshots", "metadata table")])
    assert offered("CALL system.rewrite_d|") == ("rewrite_d", [("rewrite_data_files", "procedure")])
    assert offered("CALL sys|") == ("sys", [("system", "namespace")])


def test_columns_are_those_of_the_tables_in_the_statement(tables, offered):
    everything = [("`a b`", "string"), ("order_id", "bigint"), ("ordered_at", "timestamp")]
    assert offered(f"SELECT | FROM {tables}.orders") == ("", everything)
    assert offered(f"SELECT ORD| FROM {tables}.orders") == ("ORD", everything[1:])
    assert offered(f"SELECT orders.order_| FROM {tables}.orders") == ("order_", everything[1:2])
    assert offered(f"SELECT * FROM {tables}.`my-orders` WHERE |") == ("", [("id", "int")])
    assert offered("SELECT | FROM nothing.there") == ("", [])


def test_values_are_offered_behind_session(spark, tables, offered):
    sql.declare(spark, {"COMPLETED": 1})
    assert ("COMPLETED", "value") in offered("SELECT session.COMP|")[1]


def test_nothing_outside_of_a_cell_or_in_an_open_comment(spark, tables, offered):
    known = completing.Known(spark)
    assert completing.complete(known, "SELECT * FROM ", 14) == ("", [])
    assert completing.complete(known, "%%sql late\nSELECT 1", 4) == ("", [])
    assert offered("SELECT /* | ") == ("", [])


def test_what_a_catalog_said_is_kept_for_a_while(spark, tables):
    now = [0.0]
    known = completing.Known(spark, clock=lambda: now[0])
    before = known.tables((tables,))
    spark.sql(f"CREATE TABLE {tables}.later (id INT) USING iceberg")
    try:
        assert known.tables((tables,)) == before
        now[0] = completing.KEPT_SECONDS
        assert ("later", "table") in known.tables((tables,))
    finally:
        spark.sql(f"DROP TABLE {tables}.later PURGE")


def test_a_shell_offers_them_in_a_sql_cell_alone(spark, tables):
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        sql.cells(spark)
        sql.cells(spark)  # registered once
        cell = f"%%sql\nSELECT * FROM {tables}.or"
        with provisionalcompleter():
            names = [each.text for each in shell.Completer.completions(cell, len(cell))]
            python = [each.text for each in shell.Completer.completions("impor", 5)]
        assert names == ["orders"] and "import" in python
        assert [getattr(each, "__name__", "") for each in shell.Completer.custom_matchers].count("sql_names") == 1
    finally:
        InteractiveShell.clear_instance()
