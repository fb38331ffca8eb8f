"""What a notebook shows is sorted, rounded, escaped and the same on every run."""

import subprocess
import sys

import pandas as pd
import pytest

from workbench import show


@pytest.fixture
def shown(monkeypatch):
    """What was displayed, as (plain, html)."""
    found = []
    monkeypatch.setattr(show, "emit", lambda data: found.append((data["text/plain"], data["text/html"])))
    return found


def test_pandas_rows(shown):
    show.rows(pd.DataFrame({"room": ["b", "a"], "rows": [12345, None], "mean": [1.005, 2.0]}), by="room")
    assert shown[0][0] == (
        "room       rows  mean\n----  ---------  ----\na          null  2.00\nb     12,345.00  1.00"
    )


def test_spark_rows_are_sorted_with_ties_decided(spark, shown):
    df = spark.createDataFrame([(1, "z"), (2, "y"), (1, "a")], "n int, word string")
    show.rows(df, by="-n")
    assert shown[0][0].splitlines()[2:] == ["2  y", "1  a", "1  z"]


def test_nan_of_spark_is_no_null(spark, shown):
    """A column of NaN looked like one of nulls, which IS NULL does not find."""
    show.rows(spark.sql("SELECT double('NaN') AS a, CAST(NULL AS DOUBLE) AS b, 1.5D AS c"))
    assert shown[0][0].splitlines()[2:] == ["NaN  null  1.50"]


def test_times_that_python_has_not_are_shown(spark, shown):
    """0001-01-01 stands for *unknown* in many tables: year 0 is out of range was all that was said of them."""
    early, late = "TIMESTAMP'0001-01-01 00:00:00'", "TIMESTAMP_NTZ'2026-01-31 10:00:00.5'"
    show.rows(spark.sql(f"SELECT 1 AS n, {early} AS a, {late} AS b, DATE'+20000-01-01' AS `c.d`"), by="n")
    assert shown[0][0].splitlines()[2:] == ["1  0001-01-01 00:00:00  2026-01-31 10:00:00.500000  +20000-01-01"]


def test_several_spark_rows_need_an_order(spark, shown):
    with pytest.raises(ValueError, match="needs by="):
        show.rows(spark.range(2))
    show.rows(spark.range(1))
    with pytest.raises(ValueError, match="by names x; the columns are id"):
        show.rows(spark.range(2), by="x")


def test_the_rest_is_counted(spark, shown):
    show.rows(spark.range(30), by="id", limit=2)
    assert shown[0][0].splitlines()[-1] == "… and 28 more rows"


def test_html_is_escaped(shown):
    show.rows(pd.DataFrame({"<b>": ["<script>alert(1)</script>"]}))
    assert "<script>" not in shown[0][1] and "&lt;script&gt;" in shown[0][1]


def test_an_error_on_purpose_is_shown_without_what_varies(capsys):
    def fail():
        raise KeyError("file /tmp/x/1.parquet of snapshot 1234567890123456789")

    show.error(fail, raises=KeyError)
    assert capsys.readouterr().out == "KeyError: 'file <path> of snapshot <id>'\n"


def test_an_answers_request_ids_differ_from_run_to_run():
    said = "(Service: S3, Status Code: 404, Request ID: 18EA85247C8DB8D028F40BC5, Extended Request ID: a+/b=)"
    assert show.steady(said) == "(Service: S3, Status Code: 404, Request ID: <id>, Extended Request ID: <id>)"


def test_an_error_that_does_not_come_fails():
    with pytest.raises(AssertionError, match="ValueError was expected, and nothing was raised"):
        show.error(lambda: None, raises=ValueError)
    with pytest.raises(ZeroDivisionError):
        show.error(lambda: 1 / 0, raises=ValueError)
    with pytest.raises(AssertionError, match="its message lacks 'moon'"):
        show.error(lambda: 1 / 0, raises=ZeroDivisionError, contains="moon")


def test_a_java_error_by_its_name(spark, namespace, capsys):
    from pyspark.errors import AnalysisException

    spark.sql(f"CREATE TABLE {namespace}.t AS SELECT 1 AS id")
    call = f"CALL system.rollback_to_snapshot('{namespace}.t', 1)"
    show.error(lambda: spark.sql(call), raises="org.apache.iceberg.exceptions.ValidationException")
    assert capsys.readouterr().out.startswith("ValidationException: Cannot roll back to unknown snapshot id: 1")
    show.error(lambda: spark.sql("SELECT * FROM nowhere.t"), raises=AnalysisException, contains="nowhere")


def test_a_plain_script_gets_the_text():
    code = (
        "import sys; sys.modules['IPython'] = None\n"  # as where IPython is not installed
        "import pandas as pd; from workbench import show; show.rows(pd.DataFrame({'a': [1]}))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (said.stdout, said.stderr) == ("a\n-\n1\n", "")


def test_odd_names_and_types_are_shown(spark, shown):
    df = spark.sql(
        "SELECT id AS `a``b`, map('k', id) AS m, named_struct('x', map(1, 2)) AS s, -id AS `c.d` FROM range(2)"
    )
    show.rows(df, by="a`b")
    assert [line.split()[0] for line in shown[0][0].splitlines()] == ["a`b", "---", "0", "1"]
    with pytest.raises(ValueError, match="limit must be an integer of at least 1, found 0"):
        show.rows(df, by="a`b", limit=0)


def test_a_python_error_is_shown_whole_and_a_java_one_by_its_first_line(capsys, spark):
    def fail():
        raise ValueError("2 things are wrong:\n  one\n\n  another of /tmp/x")

    show.error(fail, raises=ValueError)
    assert capsys.readouterr().out == "ValueError: 2 things are wrong:\n  one\n  another of <path>\n"
    show.error(lambda: spark.sql("SELECT 1/0").collect(), raises="org.apache.spark.SparkArithmeticException")
    assert capsys.readouterr().out.count("\n") == 1
