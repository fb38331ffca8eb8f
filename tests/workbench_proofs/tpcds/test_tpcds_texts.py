"""103 names, their texts, and what becomes of them in another dialect."""

import re
from decimal import Decimal

import duckdb
import pytest
import sqlglot
from conftest import PROVE

from workbench_proofs.tpcds import dialect, texts


def test_the_set_has_103_names():
    names = texts.names()
    assert len(names) == len(set(names)) == 103
    halves = [name for name in names if name[-1] in "ab"]
    assert halves == ["q14a", "q14b", "q23a", "q23b", "q24a", "q24b", "q39a", "q39b"]
    assert {int(name.strip("qab")) for name in names} == set(range(1, 100))


def test_a_text_is_the_packages_own():
    assert texts.text("q96").startswith(
        "SELECT count(*)\nFROM store_sales, household_demographics, time_dim, store\n"
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("q14", "(did you mean q14b?); it has 103, q1 to q99"),
        ("ss_max", "'ss_max' is not a query of the set"),
        ("../q1", "is not a query"),
    ],
)
def test_a_name_outside_the_set_is_refused(name, sentence):
    with pytest.raises(ValueError) as caught:
        texts.text(name)
    assert sentence in str(caught.value)


@pytest.fixture(scope="module")
def translated():
    return {name: dialect.to_duckdb(texts.text(name)) for name in texts.names() if name not in dialect.UNVERIFIED}


def test_all_103_translate(translated):
    assert dialect.UNVERIFIED == {}
    assert len(translated) == 103
    for found in translated.values():
        sqlglot.parse_one(found.sql, read="duckdb")
        assert "`" not in found.sql and all(-found.hidden <= key for key in found.keys)


def test_86_of_them_have_a_limit_which_is_100(translated):
    ends = {name for name in texts.names() if re.search(r"limit\s+100\s*$", texts.text(name), re.IGNORECASE)}
    assert {name for name, found in translated.items() if found.limit == 100} == ends
    assert (len(ends), sum(found.limit is None for found in translated.values())) == (86, 17)


def test_a_dozen_of_them_are_in_no_order(translated):
    assert [name for name, found in translated.items() if not found.keys] == [
        "q9", "q13", "q23a", "q24a", "q24b", "q28", "q32", "q38", "q48", "q87", "q88", "q97",
    ]  # fmt: skip


def test_sort_keys_that_are_no_column_stand_behind_the_answer():
    text = "SELECT a, b AS c, * FROM t ORDER BY c DESC, 1, d, a + 1 LIMIT 7 -- the end"
    assert dialect.to_duckdb(text) == dialect.Translation(
        "SELECT a, b AS c, *, a + 1 AS _key_2, d AS _key_1 FROM t "
        "ORDER BY c DESC, 1 NULLS FIRST, d NULLS FIRST, a + 1 NULLS FIRST LIMIT 7",
        "SELECT a, b AS c, *, a + 1 AS _key_2, d AS _key_1 FROM t "
        "ORDER BY c DESC, 1 NULLS FIRST, d NULLS FIRST, a + 1 NULLS FIRST",
        2, (1, 0, -1, -2), 7,
    )  # fmt: skip


def test_a_qualified_key_is_not_taken_for_a_column_of_that_name():
    found = dialect.to_duckdb("SELECT upper(x) AS a FROM t ORDER BY t.a")
    assert (found.hidden, found.keys) == (1, (-1,))
    assert found.sql == "SELECT UPPER(x) AS a, t.a AS _key_1 FROM t ORDER BY t.a NULLS FIRST"


def test_a_text_without_its_limit_is_else_the_same(translated):
    """The text that Spark gets is cut, not written anew; the translation without its limit is the second route."""
    for name, found in [*translated.items()][:: 1 if PROVE else 5]:
        cut = dialect.without_limit(texts.text(name))
        assert dialect.to_duckdb(cut).sql == found.unlimited, name
        assert texts.text(name).startswith(cut), name


def test_a_computed_number_is_cut_to_a_whole_one_as_spark_does_it():
    """DuckDB rounds: 535.76 / 50 would be segment 11 of q54, and is 10."""
    for text, whole in (("(535.76 / 50)", 10), ("-(535.76 / 50)", -10), ("'11'", 11), ("2 * 5.4", 10)):
        said = dialect.to_duckdb(f"SELECT CAST({text} AS INT) AS n").sql
        assert duckdb.sql(said).fetchone() == (whole,), said
    assert duckdb.sql("SELECT CAST(535.76 / 50 AS INT)").fetchone() == (11,)
    assert "TRUNC(revenue / NULLIF(50, 0))" in dialect.to_duckdb(texts.text("q54")).sql


def test_quotients_are_rounded_before_they_are_added_up_as_spark_does_it():
    said = dialect.to_duckdb("SELECT sum(a / b) AS s FROM VALUES (2.00, 3), (2.00, 3) t(a, b)").sql
    assert duckdb.sql(said).fetchone() == (Decimal("1.333333333334"),)
    # a double of the second is 19.4241882843605, which made q66 "different" at a scale factor of 1; then halves
    exact = {("-2.00", 3): "-0.666666666667", ("18992718.79", 977787): "19.424188284360",
             ("0.01", 2 * 10**10): "0.000000000001", ("-0.01", 2 * 10**10): "-0.000000000001"}  # fmt: skip
    for (above, below), quotient in exact.items():
        said = dialect.to_duckdb(f"SELECT sum(a / b) AS s FROM VALUES ({above}, {below}) t(a, b)").sql
        assert duckdb.sql(said).fetchone() == (Decimal(quotient),), said
    assert dialect.to_duckdb(texts.text("q66")).sql.count("AS DECIMAL(26, 0))") == 12
    assert "AS DECIMAL(26, 0))" not in dialect.to_duckdb(texts.text("q4")).sql  # halves are exact


def test_a_quotient_of_written_decimals_has_the_scale_that_spark_gives_it():
    """SELECT 2.0 / 3.0 is decimal(8,6) in Spark; two thirds of an inventory are less than that, and not in q21."""
    said = dialect.to_duckdb("SELECT 2 / 3 BETWEEN 2.0 / 3.0 AND 3.0 / 2.0 AS a, 3 / 2 <= 3.0 / 2.0 AS b").sql
    assert duckdb.sql(said).fetchone() == (False, True), said
    assert "BETWEEN 0.666667 AND 1.500000" in dialect.to_duckdb(texts.text("q21")).sql
    assert dialect.to_duckdb("SELECT 1.00 / 3000.5 AS a").sql == "SELECT 0.00033328 AS a"
    assert "50 / NULLIF(100.0, 0)" in dialect.to_duckdb(texts.text("q23a")).sql  # exact either way


def test_only_the_outermost_limit_goes():
    inner = "SELECT * FROM (SELECT a FROM t LIMIT 5) x"
    assert dialect.without_limit(f"{inner} ORDER BY a\n LIMIT 7 ;") == f"{inner} ORDER BY a"
    assert dialect.without_limit(inner) == inner


def test_tables_of_a_query_are_those_that_exist():
    assert dialect.tables(texts.text("q1")) == ("customer", "date_dim", "store", "store_returns")
    assert dialect.tables("WITH a AS (SELECT * FROM B) SELECT * FROM a JOIN c") == ("b", "c")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("SELECT 1; SELECT 2", "expected one query, found 2 statements"),
        ("DROP TABLE t", "expected one query, found 1 statements"),
        ("SELECT FROM WHERE (", "sqlglot cannot read this as Spark SQL"),
        (
            "SELECT a FROM t UNION SELECT a FROM u ORDER BY a + 1",
            "a union is ordered by its columns, not by a + 1",
        ),
    ],
)
def test_what_is_no_query_of_ours_is_refused(text, sentence):
    with pytest.raises(ValueError) as caught:
        dialect.to_duckdb(text)
    assert sentence in str(caught.value)
