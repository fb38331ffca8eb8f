"""When Spark pays: bytes of the columns that are read, and seconds from measured rates."""

import json

import light_cases
import pytest
from conftest import ENVIRONMENT, ROOT
from light_cases import cases, lake

from workbench import light, session
from workbench.light import choosing


@pytest.fixture
def rates(monkeypatch):
    """Rates of this test: a second each to begin, DuckDB 10 and Spark 100 CPU seconds for 100 bytes."""
    own = {"duckdb": choosing.Rate(1.0, 10e7), "spark": choosing.Rate(10.0, 100e7)}
    monkeypatch.setattr(choosing, "RATES", own)


def stored(spark, table, columns):
    """Bytes of some columns, and of all delete files, from Iceberg's own metadata table."""
    schema = session.catalog(ENVIRONMENT).load_table(table).schema()
    numbers = [schema.find_field(column).field_id for column in columns]
    rows = spark.sql(f"SELECT content, column_sizes, file_size_in_bytes AS size FROM {table}.files").collect()
    return sum(row["size"] if row["content"] else sum(row["column_sizes"][n] for n in numbers) for row in rows)


@pytest.mark.parametrize(
    ("case", "sql", "columns"),
    [
        ("plain", "SELECT count(*) FROM {}", []),
        ("plain", "SELECT id FROM {}", ["id"]),
        ("plain", "SELECT * FROM {} WHERE id > 1", ["id", "name"]),
        ("position_deletes", "SELECT max(ID) FROM {}", ["id"]),
        ("types", "SELECT l, s.a FROM {}", ["l.element.a", "l.element.b", "s.a.element"]),
    ],
)
def test_bytes_are_those_of_the_columns_and_of_deletes(spark, cases, case, sql, columns):
    table = f"{cases}.{case}"
    choice = light.choose(lake(), table, sql.format(table))
    assert choice.bytes == stored(spark, table, columns) and (choice.bytes > 0) is bool(columns)


def test_spark_pays_with_many_cores_or_where_duckdb_does_not_answer(spark, cases, rates):
    table = f"{cases}.plain"
    sql = f"SELECT * FROM {table}"
    size = light.choose(lake(), table, sql).bytes
    few = light.choose(lake(), table, sql, cores=2, spark_cores=2)
    assert (few.engine, few.seconds) == ("duckdb", {"spark": 10 + size / 2, "duckdb": 1 + size / 20})
    many = light.choose(lake(), table, sql, cores=2, spark_cores=64, running=True)
    assert (many.engine, many.seconds["spark"]) == ("spark", round(size / 64, 2))
    refused = light.choose(lake(), f"{cases}.avro", f"SELECT * FROM {cases}.avro")
    assert (refused.engine, [*refused.seconds], [*refused.refused]) == ("spark", ["spark"], ["duckdb"])


def test_rates_are_those_that_were_measured():
    measured = json.loads((ROOT / "docs" / "evidence" / "light.json").read_text(encoding="utf-8"))["rates"]
    assert {name: rate._asdict() for name, rate in choosing.RATES.items()} == measured


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"cores": 0}, "cores must be an integer of at least 1, found 0"),
        ({"spark_cores": 1.5}, "spark_cores must be an integer of at least 1, found 1.5"),
        ({"running": 1}, "running must be True or False, found 1"),
    ],
)
def test_what_is_refused(spark, cases, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        light.choose(lake(), f"{cases}.plain", f"SELECT * FROM {cases}.plain", **arguments)
