"""Filters: what is refused, and random ones over tricky rows by every engine against plain Python."""

import math
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from access_cases import truth
from conftest import PROVE
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    StructType,
)  # fmt: skip

from workbench.access import arrows, conditions, filters

TYPES = {
    "t": StringType(), "i": IntegerType(), "n": LongType(), "f": FloatType(), "d": DoubleType(),
    "m": DecimalType(9, 2), "w": DecimalType(38, 4), "b": BooleanType(),
}  # fmt: skip
SCHEMA = Schema(*(NestedField(place, name, kind) for place, (name, kind) in enumerate(TYPES.items(), 1)))
OTHERS = {"day": DateType(), "s": StructType(NestedField(20, "x", StringType()))}
ODD = {name: NestedField(30 + place, name, kind) for place, (name, kind) in enumerate(OTHERS.items())}
ARROW = pa.schema([
    ("t", pa.string()), ("i", pa.int32()), ("n", pa.int64()), ("f", pa.float32()), ("d", pa.float64()),
    ("m", pa.decimal128(9, 2)), ("w", pa.decimal128(38, 4)), ("b", pa.bool_()),
])  # fmt: skip
TRICKY = {
    "t": [None, "", " ", "a", "a ", "A", "ab", "a%b", "a_b", "a'b", 'a"b', "a\\b", "a\nb", "é", "é", "😀", "NULL", "b\x00"],
    "i": [None, 0, 1, -1, 2**31 - 1, -(2**31)],
    "n": [None, 0, 1, 2**53 + 1, 2**63 - 1, -(2**63)],
    "f": [None, math.nan, 0.0, -0.0, 0.1, 1.0, math.inf, -math.inf],
    "d": [None, math.nan, 0.0, -0.0, 0.1, 1.0, 1e300, 9007199254740993.0, math.inf, -math.inf],
    "m": [None, Decimal("0.00"), Decimal("0.10"), Decimal("-0.10"), Decimal("9999999.99")],
    "w": [None, Decimal("0.1000"), Decimal("9" * 34 + ".9999"), Decimal("-" + "9" * 34 + ".9999")],
    "b": [None, True, False],
}  # fmt: skip
LENGTH = max(map(len, TRICKY.values()))
ROWS = [
    {name: values[(place * step + place // len(values)) % len(values)] for name, values in TRICKY.items()}
    for step in (1, 5)
    for place in range(LENGTH * 2)
]
TABLE = pa.Table.from_pylist(ROWS, ARROW)
COLUMNS = {field.name: field for field in SCHEMA.fields}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


TEXTS = st.text("aAb %_'\"\\é😀", max_size=4)
CONSTANTS = {
    "t": TEXTS.map(quoted),
    "i": st.sampled_from([0, 1, -1, 2**31 - 1, 2**31, -(2**63)]).map(str),
    "n": st.sampled_from([0, 1, 2**53 + 1, 2**63 - 1, -(2**63)]).map(str),
    "f": st.sampled_from(["0", "0.1", "-0.0", "1", "1e-7", "1E30", "16777217"]),
    "d": st.sampled_from(["0", "0.1", "-0", "1.0", "1e300", "9007199254740993", ".5"]),
    "m": st.sampled_from(["0", "0.1", "-0.10", "9999999.99", "0.100", "1E1"]),
    "w": st.sampled_from(["0", "0.1000", "9" * 34 + ".9999", "-" + "9" * 34 + ".9999"]),
    "b": st.sampled_from(["TRUE", "false"]),
}  # fmt: skip


@st.composite
def comparisons(draw):
    name = draw(st.sampled_from(list(TYPES)))
    value = CONSTANTS[name]
    column = draw(st.sampled_from([name, f'"{name}"']))
    operators = ["=", "<>", "!=", "IN", "IS"]
    operators += ["<", "<=", ">", ">=", "BETWEEN"] if name != "b" else []
    operators += ["LIKE"] * 3 if name == "t" else []
    operator, negation = draw(st.sampled_from(operators)), draw(st.sampled_from(["", "NOT "]))
    if operator == "IS":
        return f"{column} IS {negation}NULL"
    if operator == "IN":
        return f"{column} {negation}IN ({', '.join(draw(st.lists(value, min_size=1, max_size=3)))})"
    if operator == "BETWEEN":
        return f"{column} {negation}between {draw(value)} AND {draw(value)}"
    if operator == "LIKE":
        return f"{column} {negation}like {quoted(draw(TEXTS).replace(chr(92), ''))}"
    return f"{column} {operator} {draw(value)}"


TEXT = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda text: f"NOT ({text})"),
        inner.map(lambda text: f"not {text}"),
    ),
    max_leaves=5,
)


def by_arrow(condition):
    return arrows.holds(condition, TABLE).to_pylist()


def by_duckdb(condition):
    with duckdb.connect() as connection:
        connection.register("rows", TABLE)
        query = f"SELECT {conditions.rendered(condition, 'duckdb')} AS v FROM rows"
        return [row[0] for row in connection.execute(query).fetchall()]


ENGINES = {"arrow": by_arrow, "duckdb": by_duckdb}


def differing(text):
    """The engines that do not answer as plain Python does, in some row."""
    condition = conditions.bound(filters.parse(text), COLUMNS)
    expected = [truth(condition, row) for row in TABLE.to_pylist()]
    return {name for name, answer in ENGINES.items() if answer(condition) != expected}


@given(TEXT)
@settings(max_examples=2000 if PROVE else 80)
def test_every_engine_answers_as_plain_python(text):
    assert differing(text) == set()
    parsed = filters.parse(text)
    assert filters.parse(conditions.rendered(parsed, "lake-formation")) == parsed


FAULTS = {
    "NaN is a number": (conditions, "_operand", lambda p, dialect: conditions.named(p.column, dialect), "d > 1", "duckdb"),
    "a line ends a pattern": (arrows, "_regex", lambda pattern: "^" + "".join(arrows._signs(pattern)) + "$", "t LIKE 'a%'", "arrow"),
    "a decimal is a double": (conditions, "_literal", lambda v, p, d: f"CAST({v} AS DOUBLE)", f"w = {'9' * 34}.9998", "duckdb"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(monkeypatch, fault):
    module, name, wrong, text, engine = FAULTS[fault]
    assert differing(text) == set()
    monkeypatch.setattr(module, name, wrong)
    assert differing(text) == {engine}


NOT_IN_THE_LANGUAGE = {
    "": "has its end at character 1; expected a column, NOT or \\(",
    "t": "has its end at character 2; expected a comparison such as =",
    "t = i": "has i at character 5; expected a constant: a column is not compared with another",
    'i = "t"': "a column is not compared with another, and a text stands in single quotes",
    "lower(t) = 'a'": "calls lower; functions are not part of the language",
    "t = NULL": "nothing equals NULL, IS NULL asks for it",
    "t NOT IN ('a', NULL)": "nothing equals NULL",
    "t IN ()": "has \\) at character 7; expected a constant",
    "t LIKE 'a\\%'": "a pattern with a backslash, which escapes in Spark and is a sign like others in DuckDB",
    "t LIKE 'a!%' ESCAPE '!'": "expected no ESCAPE, which Lake Formation does not have",
    "t LIKE 5": "expected a text in single quotes",
    "t NOT = 'a'": "expected BETWEEN, IN or LIKE",
    "'a' = t": "expected a column",
    "t = 'a' OR": "expected a column",
    "t = 'a' t = 'b'": "has t at character 9; expected AND, OR or the end",
    "(t = 'a'": "expected \\)",
    "t = 'a": "has 'a at character 5, which is not part of the language",
    "s.x = 'a'": "has .x = 'a' at character 2, which is not part of the language",
    "t == 'a'": "has = at character 4; expected a constant",
    "t = 'a'; DROP TABLE x": "has ; DROP TABLE x at character 8",
    "t = 'a' -- x": "which is not part of the language",
    "t = 'a' /* x */": "which is not part of the language",
    "i = 1L": "has 1L at character 5",
    "i = 1 + 1": "which is not part of the language",
    "t = date '2026-01-01'": "expected a constant",
    "t = 'a\nb'": "a character that is not printed",
    "t = '" + "a" * 2050 + "'": "has 2,056 characters; Lake Formation takes at most 2,047",
    "NOT " * 200 + "b = TRUE": "is nested more than 50 deep",
    f"i = {'1' * 61}": "a number of 61 signs; at most 60",
}
NOT_OF_THE_TYPE = {
    "i = 1.5": "i is int and is compared with 1.5; expected an integer of 64 bits",
    "i = '1'": "i is int and is compared with '1'; expected an integer",
    "i = true": "i is int and is compared with true",
    f"n = {2**63}": "expected an integer of 64 bits",
    "t = 1": "t is string and is compared with 1; expected a text in single quotes",
    "t = true": "expected a text",
    "m = 0.005": "m is decimal\\(9, 2\\), which cannot hold 0.005; engines would round it",
    "m = 10000000": "which cannot hold 10000000",
    "m = '1'": "expected a decimal number",
    "d = 1e400": "d is double and is compared with a number of 401 digits; expected a number",
    "b > true": "b is boolean, which = and <> compare, and > not",
    "b = 1": "expected true or false",
    "i LIKE '1%'": "LIKE compares texts, and i is int",
    "day = '2026-01-01'": "a filter cannot read day, which is date; expected a string",
    "day IS NULL": "a filter cannot read day",
    "s IS NULL": "a filter cannot read s",
}


@pytest.mark.parametrize("text", NOT_IN_THE_LANGUAGE)
def test_what_is_not_in_the_language_is_refused(text):
    with pytest.raises(ValueError, match=NOT_IN_THE_LANGUAGE[text]):
        filters.parse(text)


@pytest.mark.parametrize("text", NOT_OF_THE_TYPE)
def test_a_constant_that_does_not_fit_its_column_is_refused(text):
    with pytest.raises(ValueError, match=NOT_OF_THE_TYPE[text]):
        conditions.bound(filters.parse(text), COLUMNS | ODD)


@pytest.mark.proof(
    "test_every_engine_answers_as_plain_python shows it by Arrow and DuckDB, and the frame test by Spark for one filter"
)
def test_spark_answers_as_plain_python(spark):
    from pyspark.sql import functions as F

    typed = ", ".join(
        f"{name} {kind}"
        for name, kind in zip(
            TYPES,
            ("STRING", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9,2)", "DECIMAL(38,4)", "BOOLEAN"),
            strict=True,
        )
    )
    frame = spark.createDataFrame([tuple(row.values()) for row in TABLE.to_pylist()], typed).coalesce(1).cache()
    texts = []

    @given(TEXT)
    @settings(max_examples=600)
    def draw(text):
        texts.append(text)

    draw()
    for begin in range(0, len(texts), 50):
        bound = [conditions.bound(filters.parse(text), COLUMNS) for text in texts[begin : begin + 50]]
        answers = frame.select(
            *[F.expr(conditions.rendered(c, "spark")).alias(f"c{n}") for n, c in enumerate(bound)]
        )
        columns = list(zip(*answers.collect(), strict=True))
        for text, condition, answer in zip(texts[begin:], bound, columns, strict=False):
            assert list(answer) == [truth(condition, row) for row in TABLE.to_pylist()], text
    frame.unpersist()
