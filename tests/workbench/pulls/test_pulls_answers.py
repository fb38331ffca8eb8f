"""Texts of an answer become the same numbers by Arrow and by Spark, or are refused by both."""

import contextlib

import pyarrow as pa
import pytest
from conftest import PROVE
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import pulls
from workbench.pulls import answers

TYPES = {"tiny": "TINYINT", "whole": "INT", "long": "BIGINT", "money": "DECIMAL(18,2)", "share": "DECIMAL(9,9)"}
PLAIN = ["0", "-0", "007", "127", "128", "-2147483648", "2147483648", "1.50", "1.505", "0.1", "-12.340", "9" * 17]
ODD = [
    "",
    " 5",
    "5 ",
    "+5",
    "1e3",
    "0x10",
    "١",
    "1.",
    ".5",
    "1_000",
    "1,5",
    "5\n",
    "NaN",
    "many",
    "5.00",
    "9" * 30,
]
TEXTS = st.sampled_from([*PLAIN, *ODD]) | st.from_regex(r"-?[0-9]{1,22}(\.[0-9]{1,20})?", fullmatch=True)


@pytest.fixture(scope="module")
def table(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS pull_answers")
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    spark.sql(f"CREATE OR REPLACE TABLE pull_answers.t ({columns}) USING iceberg")
    yield "pull_answers.t"
    spark.sql("DROP TABLE pull_answers.t")


def rows_of(spark, table, rows):
    """Return the rows of an answer as the table would hold them, or None where they are refused."""
    with contextlib.ExitStack() as open_frames:
        try:
            return [tuple(row) for row in answers.frame(open_frames, spark, table, rows).collect()]
        except pulls.AnswerRefused:
            return None


@given(st.data())
@settings(max_examples=150 if PROVE else 8)
def test_texts_are_numbers_by_arrow_as_by_spark(spark, table, data):
    name = data.draw(st.sampled_from([*TYPES]))
    texts = data.draw(st.lists(st.none() | TEXTS, min_size=1, max_size=3))
    columns = {other: pa.nulls(len(texts), pa.string()) for other in TYPES} | {name: pa.array(texts, pa.string())}
    by_arrow = rows_of(spark, table, pa.table(columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "_typed", lambda rows, schema: rows)
        by_spark = rows_of(spark, table, pa.table(columns))
    assert by_arrow == by_spark


def test_digits_are_taken_by_arrow_and_all_else_is_left_to_spark(spark, table):
    schema, texts = spark.table(table).schema, pa.array(["1", "-20"])
    assert answers._typed(pa.table({"whole": texts}), schema).schema.field("whole").type == pa.int32()
    for odd in ODD:
        rows = answers._typed(pa.table({"whole": pa.array([odd])}), schema)
        assert rows.schema.field("whole").type == pa.string(), odd
