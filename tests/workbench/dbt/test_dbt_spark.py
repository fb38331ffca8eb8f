"""A session as the engine of a dbt project: the outcomes of dbt's own statements, and those of DuckDB."""

import pytest

from workbench import dbt

TABLE = "dbt_spark.orders"
TESTS = {  # the same SQL for both engines, {} the table: how it is told at first, and at the second run
    "select * from {} where id < 0": ("metrics", "known"),
    "select * from {} o where o.id < 0": ("dbt", "known"),
    "select * from {} where note not like 'x%'": ("scan", "known"),
    "select * from {} where price > 100": (
        "scan",
        "known",
    ),  # NaN is, but both engines leave its file out by its bounds
    "with q as (select kind as v, count(*) as n from {} group by kind) select * from q where v not in ('a', 'b')": (
        "scan",
        "known",
    ),
    "select id as unique_field, count(*) as n_records from {} where id is not null group by id having count(*) > 1": (
        "hash",
        "known",
    ),
    "select kind, count(*) as n from {} group by kind having count(*) > 1": ("dbt", "dbt"),
    "select * from {} where no_such_column is null": ("dbt", "dbt"),
    "select no_such_column from {} where id < 0": ("dbt", "dbt"),
    "select * from {0} a left join {0} b on a.id = b.id + 1 where b.id is null and a.id > 1": ("dbt", "known"),
}


def checks_on(name):
    return [dbt.Test(f"test.shop.t{n}", sql.format(name)) for n, sql in enumerate(TESTS)]


def pointer(spark):
    spark.sql(f"REFRESH TABLE {TABLE}")
    return spark.sql(f"SELECT file FROM {TABLE}.metadata_log_entries").collect()[-1][0]


@pytest.fixture
def orders(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS dbt_spark")
    spark.sql(f"DROP TABLE IF EXISTS {TABLE} PURGE")
    spark.sql(f"CREATE TABLE {TABLE} (id INT, kind STRING, price DOUBLE, note STRING) USING iceberg")
    spark.sql(
        f"INSERT INTO {TABLE} VALUES (1, 'a', 1.5, 'x1'), (2, 'b', double('NaN'), 'x2'), (3, 'a', 2.0, 'x3')"
    )
    yield spark
    spark.sql(f"DROP TABLE IF EXISTS {TABLE} PURGE")


def shape(outcomes):
    return [(o.status, o.failures) for o in outcomes]


def plainly(spark, name):
    """What the statements themselves say, without any of ours."""
    from pyspark.errors import PySparkException

    for test in checks_on(name):
        try:
            failures = spark.sql(test.statement).head()[0]
            yield ("fail", failures) if failures else ("pass", 0)
        except PySparkException:
            yield "error", None


def test_outcomes_are_those_of_the_statements_and_of_duckdb(orders, tmp_path):
    plan, there = dbt.plan(checks_on(TABLE), dialect="spark"), {TABLE: pointer(orders)}
    first = dbt.prove(plan, there, engine=orders, ledger=tmp_path / "ledger.db")
    assert shape(first) == [*plainly(orders, TABLE)]
    assert [o.told_by for o in first] == [begin for begin, _ in TESTS.values()]
    again = dbt.prove(plan, there, engine=orders, ledger=tmp_path / "ledger.db")
    assert shape(again) == shape(first)
    assert [o.told_by for o in again] == [then for _, then in TESTS.values()]
    ours = {'"lake"."dbt_spark"."orders"': there[TABLE]}
    by_duckdb = dbt.prove(dbt.plan(checks_on('"lake"."dbt_spark"."orders"')), ours)
    assert shape(by_duckdb) == shape(first)


def test_a_commit_during_the_run_is_not_seen(orders, tmp_path):
    plan, there = dbt.plan(checks_on(TABLE), dialect="spark"), {TABLE: pointer(orders)}
    before = shape(dbt.prove(plan, there, engine=orders))
    orders.sql(f"INSERT INTO {TABLE} VALUES (-1, 'z', 1000.0, 'y')")
    assert shape(dbt.prove(plan, there, engine=orders, ledger=tmp_path / "ledger.db")) == before
    assert [*plainly(orders, TABLE)] != before


def test_a_row_that_raises_and_an_unknown_table_concern_their_tests_alone(orders):
    sql = {
        "divided": f"select * from {TABLE} where 1 / (id - 1) > 5",
        "cast": f"select * from {TABLE} where cast(note as int) > 1",
        "elsewhere": "select * from dbt_spark.no_such_table where id < 0",
        "right": f"select * from {TABLE} where id < 0",
    }
    plan = dbt.plan([dbt.Test(f"test.shop.{name}", text) for name, text in sql.items()], dialect="spark")
    outcomes = dbt.prove(plan, {TABLE: pointer(orders)}, engine=orders)
    assert shape(outcomes) == [("error", None), ("error", None), ("error", None), ("pass", 0)]
    messages = [outcome.message for outcome in outcomes]
    assert "DIVIDE_BY_ZERO" in messages[0]
    assert "CAST_INVALID_INPUT" in messages[1]
    assert messages[2] == "dbt_spark.no_such_table is not among the tables; they are dbt_spark.orders"


def test_a_table_that_moved_and_cannot_be_pinned_is_an_error_of_its_tests(orders):
    orders.sql(f"ALTER TABLE {TABLE} ADD COLUMN more STRING")  # no snapshot has it
    plan = dbt.plan([dbt.Test("test.shop.more", f"select * from {TABLE} where more > 'a'")], dialect="spark")
    there = {TABLE: pointer(orders)}
    assert shape(dbt.prove(plan, there, engine=orders)) == [("pass", 0)]
    orders.sql(f"INSERT INTO {TABLE} VALUES (4, 'a', 1.0, 'x', 'b')")
    (outcome,) = dbt.prove(plan, there, engine=orders)
    assert outcome.status == "error"
    assert outcome.message == "dbt_spark.orders was changed by a commit during the run; run the tests again"
