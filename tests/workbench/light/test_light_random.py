"""Random tables and questions: each engine answers as Spark does, or is refused by a sentence."""

import itertools
import os
import random as drawing
from collections import Counter

import light_cases
import pyarrow as pa
import pytest
from conftest import ENVIRONMENT, drop_namespace
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from light_cases import lake, read, rows, sparks

from workbench import light, session

TABLES = int(os.environ.get("WORKBENCH_LIGHT_TABLES", "500"))
SEED = int(os.environ.get("WORKBENCH_LIGHT_SEED", "0")) or drawing.randrange(1, 2**32)
NUMBERS = itertools.count()
# what Iceberg knows and Spark reads: a time of day is not among it
COLUMNS = {
    "i": ("INT", ["0", "-1", "2147483647", "5"]),
    "f": ("DOUBLE", ["DOUBLE('NaN')", "0D", "-0D", "100.5D", "-3D", "DOUBLE('Infinity')"]),
    "g": ("FLOAT", ["FLOAT('NaN')", "1.5F", "-2F"]),
    "s": ("STRING", ["'a'", "''", "'zz z'", "'ä'", "'abcdefghijklmnopqrstuvwxyz'"]),
    "d": ("DECIMAL(8, 2)", ["1.25BD", "-99999.99BD"]),
    "t": ("TIMESTAMP", ["TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999999'"]),
    "b": ("BOOLEAN", ["true", "false"]),
    "k": ("BIGINT", ["0L", "-9223372036854775808L", "3000000000L"]),
    "e": ("DECIMAL(30, 4)", ["0.0001BD", "-12345678901234567890.1234BD"]),
    "day": ("DATE", ["DATE '1582-10-04'", "DATE '2024-02-29'", "DATE '9999-12-31'"]),
    "nt": ("TIMESTAMP_NTZ", ["TIMESTAMP_NTZ '2024-02-29 12:00:00.000001'", "TIMESTAMP_NTZ '0001-01-01 00:00:00'"]),
    "x": ("BINARY", ["X''", "X'00FF'", "X'FF'"]),
    "u": ("uuid", ["'00000000-0000-0000-0000-000000000001'", "'f79c3e09-677c-4bbd-a479-3f349cb785e7'"]),
    "fx": ("fixed[2]", ["X'00FF'", "X'FF00'"]),
    "m": ("MAP<STRING, INT>", ["map()", "map('k', 1, 'o', NULL)"]),
    "ms": ("MAP<STRING, STRUCT<a: INT>>", ["map()", "map('k', named_struct('a', 1))"]),
    "ll": ("ARRAY<ARRAY<BIGINT>>", ["array()", "array(array(1L, NULL), NULL)"]),
    "l": ("ARRAY<STRUCT<a: INT>>", ["array()", "array(named_struct('a', 1), NULL)"]),
    "st": (
        "STRUCT<x: DOUBLE>",
        ["named_struct('x', 2D)", "named_struct('x', DOUBLE('NaN'))", "named_struct('x', NULL)"],
    ),
}
PARTITIONS = {"i": ["i", "bucket(2, i)"], "s": ["s", "truncate(2, s)"], "t": ["days(t)", "months(t)"], "f": ["f"],
              "b": ["b"], "k": ["truncate(10, k)"], "d": ["d", "truncate(50, d)"], "day": ["day", "years(day)"],
              "nt": ["hours(nt)"], "x": ["bucket(2, x)", "truncate(1, x)"]}  # fmt: skip
WIDER = {"i": "BIGINT", "g": "DOUBLE", "d": "DECIMAL(12, 2)"}
QUESTIONS = {
    "i": ["i > 0", "i IN (5, NULL)"],
    "f": ["f > 100", "f < 0", "NOT f <= 100", "f = 0", "f > 90 OR f IS NULL"],
    "g": ["g >= 1", "g <> 1.5"],
    "s": ["s > 'a'", "s LIKE 'z%'", "s = ''"],
    "d": ["d < 0", "d BETWEEN 1 AND 2"],
    "t": ["t < TIMESTAMP '2000-01-01'"],
    "b": ["b", "NOT b"],
    "k": ["k > 0", "k = -9223372036854775808"],
    "e": ["e < 0", "e = 0.0001"],
    "day": ["day < DATE '2000-01-01'", "day = DATE '9999-12-31'"],
    "nt": ["nt > TIMESTAMP '2000-01-01'"],
    "x": ["x IS NULL", "x IS NOT NULL"],
    "u": ["u = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'"],
    "st": ["st.x > 1", "st IS NULL"],
}
FOREIGN = {"u", "fx"}  # of types that Spark reads and its SQL cannot name
NESTED = ("l", "st", "m", "ms", "ll")
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
        kinds = {column: COLUMNS[column][0] for column in names if column not in FOREIGN}
        columns = ", ".join(f"{column} {kind}" for column, kind in {"id": "BIGINT", **kinds}.items())
        spark.sql(
            f"CREATE TABLE {name} ({columns}) USING iceberg {f'PARTITIONED BY ({partition})' if partition else ''} "
            f"TBLPROPERTIES ('format-version' = '{version}', {light_cases.MERGE_ON_READ})"
        )
        self.partition = partition or ""
        self.columns |= {column: self.columns.pop(column) for column in names if column in FOREIGN}
        update = light_cases.loaded(spark, name).updateSchema()
        for column in [column for column in self.columns if column in FOREIGN]:
            kind = spark._jvm.org.apache.iceberg.types.Types.fromPrimitiveString(COLUMNS[column][0])
            update = update.addColumn(column, kind)
        update.commit()
        spark.sql(f"REFRESH TABLE {name}")

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
        # ids of their own: what PyIceberg read may differ from the rows that it read (null maps of structs), and rows
        # of one id have no order
        ids = pa.array(range(self.size, self.size + kept.num_rows), pa.int64())
        light.append(table.catalog, self.name, kept.set_column(0, kept.schema.field("id"), ids))
        self.size += kept.num_rows
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


def answered(sql, at=None):
    """DuckDB's answer, or None where it is refused as one that Spark would give otherwise."""
    try:
        return rows(light.query(lake(), sql, at=at))
    except ValueError as error:
        assert "does not answer" in str(error)
        return None


@pytest.mark.proof("test_each_table_is_answered_as_by_spark_or_refused has a table of each kind")
def test_engines_answer_as_spark_or_are_refused(spark, capsys):
    counts = Counter()

    # an example takes seconds, and its steps are drawn: to shrink it would take an hour
    @seed(SEED)
    @settings(max_examples=TABLES, phases=[Phase.generate])
    @given(drawn=tables())
    def judge(drawn):
        *form, steps, random = drawn
        namespace = f"light_random_{next(NUMBERS)}"
        spark.sql(f"CREATE NAMESPACE {namespace}")
        table = Table(spark, f"{namespace}.t", *form, random)
        for step in steps:
            getattr(table, step)()
        counts.update(judged(spark, table, random))
        drop_namespace(spark, namespace)

    with capsys.disabled():
        print(f"\nlight-random: WORKBENCH_LIGHT_SEED={SEED}, {TABLES} tables", flush=True)
        judge()
        print(f"light-random: {dict(sorted(counts.items()))}", flush=True)
    assert counts["duckdb answered"] and counts["duckdb refused"] and counts["an earlier version"]


def judged(spark, table, random):
    """Compare what engines without Spark make of a table with Spark; yields what was compared."""
    yield "tables"
    for sql in questions(table, random):
        answer = answered(sql)
        assert (answer is None) is bool(light.able(lake(), table.name, sql)["duckdb"]), sql
        if answer is not None:
            assert answer == sparks(spark, sql), sql
        yield "duckdb refused" if answer is None else "duckdb answered"
    loaded = session.catalog(ENVIRONMENT).load_table(table.name)
    versions = [snapshot.snapshot_id for snapshot in loaded.snapshots()]
    for version in random.sample(versions, min(2, len(versions))):
        answer = answered(f"SELECT * FROM {table.name}", at=version)
        expected = sparks(spark, f"SELECT * FROM {table.name} VERSION AS OF {version}")
        assert sorted(answer, key=repr) == sorted(expected, key=repr), version
        yield "an earlier version"
    for where in (None, *(where for where in FILTERS if where[0] in table.columns)):
        sql = f"SELECT * FROM {table.name}" + (f" WHERE {' '.join(map(str, where))}" if where else "")
        expected, reasons = sparks(spark, f"{sql} ORDER BY id"), light.able(lake(), table.name, sql)
        for engine in ("pyiceberg", "polars", "datafusion"):
            if not reasons[engine]:
                answer = read(engine, loaded, where=where)
                assert sorted(answer, key=repr) == sorted(expected, key=repr), (engine, sql)
            yield f"{engine} refused" if reasons[engine] else f"{engine} answered"
