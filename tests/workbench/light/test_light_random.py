"""Random tables and questions: each engine answers as Spark does, or is said not to."""

import itertools

import light_cases
import pytest
from conftest import ENVIRONMENT, PROVE, drop_namespace
from hypothesis import given, settings
from hypothesis import strategies as st
from light_cases import lake, read, rows, sparks

from workbench import light, session

EXAMPLES = 500 if PROVE else 2
NUMBERS = itertools.count()
COLUMNS = {
    "i": ("INT", ["0", "-1", "2147483647", "5"]),
    "f": ("DOUBLE", ["DOUBLE('NaN')", "0D", "-0D", "100.5D", "-3D", "DOUBLE('Infinity')"]),
    "g": ("FLOAT", ["FLOAT('NaN')", "1.5F", "-2F"]),
    "s": ("STRING", ["'a'", "''", "'zz z'", "'ä'", "'abcdefghijklmnopqrstuvwxyz'"]),
    "d": ("DECIMAL(8, 2)", ["1.25BD", "-99999.99BD"]),
    "t": ("TIMESTAMP", ["TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999999'"]),
    "b": ("BOOLEAN", ["true", "false"]),
    "l": ("ARRAY<STRUCT<a: INT>>", ["array()", "array(named_struct('a', 1), NULL)"]),
    "st": (
        "STRUCT<x: DOUBLE>",
        ["named_struct('x', 2D)", "named_struct('x', DOUBLE('NaN'))", "named_struct('x', NULL)"],
    ),
}
PARTITIONS = {"i": ["i", "bucket(2, i)"], "s": ["s", "truncate(2, s)"], "t": ["days(t)", "months(t)"], "f": ["f"]}
WIDER = {"i": "BIGINT", "g": "DOUBLE", "d": "DECIMAL(12, 2)"}
QUESTIONS = {
    "i": ["i > 0", "i IN (5, NULL)"],
    "f": ["f > 100", "f < 0", "NOT f <= 100", "f = 0", "f > 90 OR f IS NULL"],
    "g": ["g >= 1", "g <> 1.5"],
    "s": ["s > 'a'", "s LIKE 'z%'", "s = ''"],
    "d": ["d < 0", "d BETWEEN 1 AND 2"],
    "t": ["t < TIMESTAMP '2000-01-01'"],
    "b": ["b", "NOT b"],
    "st": ["st.x > 1", "st IS NULL"],
}
NESTED = ("l", "st")
FILTERS = (("f", ">", 50), ("f", "<", 0), ("i", ">", 0))


@st.composite
def tables(draw):
    """A table's columns, format, partition and the steps of its history."""
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=2, max_size=5, unique=True))
    partition = draw(st.sampled_from([None, *(part for name in names for part in PARTITIONS.get(name, ()))]))
    steps = draw(
        st.lists(
            st.sampled_from(["insert", "insert", "delete", "update", "widen", "add", "rename", "grow", "append"]),
            min_size=1,
            max_size=6,
        )
    )
    version = draw(st.sampled_from([2, 3]))
    return names, version, partition, ["insert", *steps], draw(st.randoms(use_true_random=False))


class Table:
    """A table while it is made, by statements of Spark and appends of PyIceberg."""

    def __init__(self, spark, name, names, version, partition, random):
        self.spark, self.name, self.random, self.size = spark, name, random, 0
        self.columns = {column: COLUMNS[column][1] for column in names}
        kinds = ", ".join(f"{column} {COLUMNS[column][0]}" for column in names)
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, {kinds}) USING iceberg {f'PARTITIONED BY ({partition})' if partition else ''} "
            f"TBLPROPERTIES ('format-version' = '{version}', {light_cases.MERGE_ON_READ})"
        )
        self.partition = partition or ""

    def insert(self):
        literals = [
            f"({self.size + n}, {', '.join(self.random.choice(['NULL', *values, *values]) for values in self.columns.values())})"
            for n in range(8)
        ]
        self.size += 8
        self.spark.sql(f"INSERT INTO {self.name} SELECT /*+ COALESCE(1) */ * FROM VALUES {', '.join(literals)}")

    def append(self):
        """Without Spark."""
        table = session.catalog(ENVIRONMENT).load_table(self.name)
        if table.format_version == 3:  # which PyIceberg does not write
            return
        kept = table.scan(limit=4).to_arrow().cast(table.schema().as_arrow())
        light.append(table.catalog, self.name, kept)
        self.spark.sql(f"REFRESH TABLE {self.name}")

    def delete(self):
        self.spark.sql(f"DELETE FROM {self.name} WHERE id % 5 = {self.random.randrange(5)}")

    def update(self):
        column, values = self.random.choice(sorted(self.columns.items()))
        self.spark.sql(f"UPDATE {self.name} SET `{column}` = {self.random.choice(values)} WHERE id % 7 = 1")

    def widen(self):
        for column in WIDER.keys() & self.columns.keys():
            if column not in self.partition:
                self.spark.sql(f"ALTER TABLE {self.name} ALTER COLUMN {column} TYPE {WIDER[column]}")

    def add(self):
        if "added" not in self.columns:
            self.spark.sql(f"ALTER TABLE {self.name} ADD COLUMN added DOUBLE")
            self.columns["added"] = COLUMNS["f"][1]

    def rename(self):
        if "b" in self.columns:
            self.spark.sql(f"ALTER TABLE {self.name} RENAME COLUMN b TO renamed")
            self.columns = {"renamed" if name == "b" else name: values for name, values in self.columns.items()}

    def grow(self):
        if "st" in self.columns and self.columns["st"] is COLUMNS["st"][1]:
            self.spark.sql(f"ALTER TABLE {self.name} ADD COLUMN st.y INT")
            self.columns["st"] = ["named_struct('x', 1D, 'y', 2)", "named_struct('x', DOUBLE('NaN'), 'y', NULL)"]


def questions(table, random):
    """Eight questions to a table, and all of its rows."""
    drawn = []
    for column in table.columns:
        drawn += [f"SELECT id FROM {table.name} WHERE {where} ORDER BY id" for where in QUESTIONS.get(column, ())]
        if column not in NESTED:
            drawn.append(f"SELECT {column}, count(*) AS n FROM {table.name} GROUP BY {column} ORDER BY {column}")
            drawn.append(f"SELECT max({column}) AS top, min({column}) AS low FROM {table.name}")
    order = ", ".join(["id", *(column for column in table.columns if column not in NESTED)])
    return [f"SELECT * FROM {table.name} ORDER BY {order}", *random.sample(drawn, min(8, len(drawn)))]


def answered(sql):
    try:
        return rows(light.query(lake(), sql))
    except ValueError as error:
        assert "does not answer" in str(error)
        return None


@settings(max_examples=EXAMPLES)
@given(drawn=tables())
def test_engines_answer_as_spark_or_are_said_not_to(spark, drawn):
    names, version, partition, steps, random = drawn
    namespace = f"light_random_{next(NUMBERS)}"
    spark.sql(f"CREATE NAMESPACE {namespace}")
    table = Table(spark, f"{namespace}.t", names, version, partition, random)
    for step in steps:
        getattr(table, step)()
    for sql in questions(table, random):
        answer = answered(sql)
        assert (answer is None) is bool(light.able(lake(), table.name, sql)["duckdb"]), sql
        if answer is not None:
            assert answer == sparks(spark, sql), sql
    loaded = session.catalog(ENVIRONMENT).load_table(table.name)
    for where in (None, *(where for where in FILTERS if where[0] in table.columns)):
        sql = f"SELECT * FROM {table.name}" + (f" WHERE {' '.join(map(str, where))}" if where else "")
        expected, reasons = sparks(spark, f"{sql} ORDER BY id"), light.able(lake(), table.name, sql)
        for engine in ("pyiceberg", "polars", "datafusion"):
            if not reasons[engine]:
                assert sorted(read(engine, loaded, where=where), key=repr) == sorted(expected, key=repr), (
                    engine,
                    sql,
                )
    if PROVE:
        drop_namespace(spark, namespace)
