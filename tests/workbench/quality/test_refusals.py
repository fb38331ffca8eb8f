"""What cannot be evaluated is an error that names the rule, before anything runs; it is never a pass."""

import re
from datetime import UTC, datetime

import pytest

from workbench import quality

NOW = datetime(2024, 3, 10, tzinfo=UTC)
SCHEMA = "id long, x double, s string, at timestamp, day date, m map<string,int>, b boolean"


@pytest.fixture(scope="module")
def df(spark):
    return spark.createDataFrame([], SCHEMA)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "",
            r"line 2, column 1: found the end of the text, expected .*'Rules'.*; rules stand in brackets, as in Rules",
        ),
        ("RowCount > 1", r"found '>', expected '='; rules stand in brackets, as in Rules = \[ RowCount > 0 \]$"),
        ("Rules = [ RowCount > ]", r"line 1, column 22: found '\]', expected .*INT.* or TIME$"),
        ("Rules = [\n RowCount % 3 ]", "line 2, column 11: found '%', expected a word of DQDL"),
        ("Rules = [ RowCount > 1 ] more", "line 1, column 26: found 'more', expected the end of the ruleset"),
        ('Rules = [ ColumnValues a in ["b", 3] ]', "line 1, column 35: found '3', expected .*QUOTED_STRING"),
        ('Rules = [ ColumnValues a in ["2024-01-01", "b"] ]', "found '\"b\"', expected .*DATE"),
        ("rules = [ RowCount > 1 ]", r"line 1, column 11: found 'RowCount', expected "),
        ("Rules = [ (RowCount > 1 ]", r"found '\]', expected .*'\)'"),
        ("Rules = []", "the ruleset has no rules"),
        ("Analyzers = [ RowCount ]", "the section Analyzers is not supported"),
        ('Metadata = {"Version": "1"} Rules = [ RowCount > 1 ]', "the section Metadata is not supported"),
        ('a = "x" a = "y" Rules = [ RowCount > 1 ]', r"the variable \$a is declared twice"),
    ],
)
def test_what_is_no_ruleset(text, says, capfd):
    with pytest.raises(ValueError, match=says):
        quality.parse(text)
    assert capfd.readouterr() == ("", "")


RULES = [
    (
        'ColumnCorrelation "id" "x" > 0',
        "the rule type ColumnCorrelation is not supported; supported are ColumnCount",
    ),
    ("rowcount > 0", "the rule type rowcount is not supported"),
    ("RowCount", "RowCount needs a condition on a number"),
    ("RowCount > last(10)", r"dynamic rules are not supported, last\(10\) is one"),
    ("RowCount > 1 + avg(last(2))", "dynamic rules are not supported"),
    ("RowCount > 1 / (2 - 2)", "it divides by zero"),
    ("RowCount between 3 and 1", "between needs its lower bound first"),
    ("RowCount > NULL", "> cannot be used with NULL"),
    ("RowCount in [1, NULL]", "RowCount cannot be compared with NULL"),
    ("RowCount > 3 KB", r"a condition on a size \(KB, MB …\) is not supported"),
    ('RowCount "id" > 3', r"RowCount takes no parameter\(s\), 1 given"),
    ('RowCount = "a"', "RowCount takes a condition on a number, not one on a string"),
    ('IsComplete "id" = 1', "IsComplete takes no condition, not one on a number"),
    ('IsComplete "id" "x"', r"IsComplete takes one parameter\(s\), 2 given"),
    ("IsUnique", r"IsUnique takes one or more parameter\(s\), 0 given"),
    (
        'IsComplete "id" and IsComplete "x"',
        r"each of the joined rules must be in parentheses: \(rule\) and \(rule\)",
    ),
    ('IsUnique "id" and IsUnique "x"', "each of the joined rules must be in parentheses"),
    ('Completeness "id" > 1 with threshold > 0.5', "Completeness takes no `with threshold`; ColumnDataType, Col"),
    ('ColumnLength "s" > 1 with threshold > 0.5', "ColumnLength takes no `with threshold`"),
    ('ColumnValues "id" > 1 with threshold > 90', "a threshold is a share of the rows, from 0 to 1"),
    ('ColumnValues "id" > 1 with threshold > 0.1 with threshold < 0.9', "`with threshold` can be given once"),
    ('ColumnDataType "s" = "date" with format = "dd/MM/yyyy"', "`with format` is not supported"),
    ('ColumnCount > 1 where "id > 1"', "ColumnCount takes no where"),
    ('ColumnExists "id" where "id > 1"', "ColumnExists takes no where"),
    ('IsComplete "id" where " "', "its where is empty"),
    ('ColumnValues "s" in $names', r"there is no variable \$names; there is none"),
]
BOUND = [
    ('IsComplete "ID2"', 'there is no column "ID2"; the columns are id, x, s, at, day, m, b'),
    ('Mean "s" > 1', 'Mean needs a column of numbers; "s" is string'),
    ('Sum "at" > 1', 'Sum needs a column of numbers; "at" is timestamp'),
    ('ColumnValues "s" > 3', "a condition on a number cannot be evaluated on a column of type string"),
    ('ColumnValues "id" in ["a"]', "a condition on a string cannot be evaluated on a column of type bigint"),
    ('ColumnValues "id" = "2024-01-01"', "a condition on a date cannot be evaluated on a column of type bigint"),
    ('ColumnValues "s" > "2024-01-01"', "a condition on a date cannot be evaluated on a column of type string"),
    ('ColumnValues "b" = "yes"', "a condition on a string cannot be evaluated on a column of type boolean"),
    ('ColumnValues "m" = NULL', r'"m" is map<string,int>; its values cannot be compared'),
    ('ColumnValues "day" = "2024-13-01"', '"2024-13-01" is not a date'),
    ('ColumnValues "at" > "10:30"', '"10:30" is not a date'),
    ('ColumnValues "s" matches "a("', r"a\( is no regular expression of Java: Unclosed group"),
    ('ColumnValues "s" matches "a)|(b"', "is no regular expression of Java: Unmatched closing"),
    ('ColumnLength "id" > 3', 'ColumnLength needs a column of texts; "id" is bigint'),
    (
        'ColumnDataType "s" = "string"',
        "ColumnDataType takes = and one of boolean, date, double, float, integer, long",
    ),
    ('ColumnDataType "s" != "date"', "ColumnDataType takes = and one of"),
    ('ColumnDataType "day" = "integer"', '"day" is date, which Spark never casts to integer'),
    ('DataFreshness "s" < 3 days', 'DataFreshness needs a column of dates or timestamps; "s" is string'),
    ('IsComplete "id" where "nothing > 3"', r"Spark does not take its where: \[UNRESOLVED_COLUMN"),
    ('IsComplete "id" where "id >"', r"Spark does not take its where: \[PARSE_SYNTAX_ERROR\]"),
    ('IsComplete "id" where "id + 1"', r"Spark does not take its where: \[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN\]"),
    ('IsComplete "id" where "sum(id) > 1"', r"Spark does not take its where: \[INVALID_WHERE_CONDITION\]"),
    ('RowCountMatch "other" = 1', 'there is no reference "other"; references= has r, r.q'),
    ('ReferentialIntegrity "id" "other.id" = 1', 'there is no reference "other"; references= has r, r.q'),
    ('ReferentialIntegrity "id" "r.q.nope" = 1', 'there is no column "nope"; the columns are id'),
    ('ReferentialIntegrity "id,x" "r.id" = 1', "2 columns are compared with 1 of r"),
    ('ReferentialIntegrity "x" "r.id" = 1', '"x" is double, and its column of r bigint; they cannot be compared'),
    ('ReferentialIntegrity "id" "r" = 1', '"r" names no column; expected "alias.column"'),
    ('CustomSql "drop table t"', r"its statement is not a query that Spark takes: \[PARSE_SYNTAX_ERROR\]"),
    ('CustomSql "insert into t values (1)" > 0', "its statement is not a query that Spark takes"),
    ('CustomSql "select 1; select 2" > 0', "its statement is not a query that Spark takes"),
    ('CustomSql "select count(*) from secondary" > 0', r"\[TABLE_OR_VIEW_NOT_FOUND\].*secondary"),
    ('CustomSql "select id, x from primary" > 0', "must return one number; it returns id bigint, x double"),
    ('CustomSql "select s from primary" > 0', "must return one number; it returns s string"),
    ('CustomSql "select count(*) from primary"', r'there is no column "count\(1\)"; the columns are id'),
    ('CustomSql "select cast(id as int) as id from primary"', 'its statement returns "id" as int, not bigint'),
    ('CustomSql "select id, id from primary"', "its statement returns a column twice"),
    ('CustomSql "select id from primary" > 0 with threshold > 0.5', "a condition or a threshold, not both"),
]


@pytest.mark.parametrize(("rule", "says"), [*RULES, BOUND[-1]], ids=lambda value: str(value)[:40])
def test_what_the_language_does_not_allow(rule, says):
    with pytest.raises(ValueError, match=says) as error:
        quality.parse(f"Rules = [ RowCount > 0, {rule} ]")
    assert str(error.value).startswith(f"1 rule cannot be evaluated:\n  {rule}: ")


def jobs(spark):
    """Ids of the jobs there were. Spark tells of them from a queue: an earlier test's last one may still be in it."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return set(spark.sparkContext.statusTracker().getJobIdsForGroup(None))


def test_what_does_not_fit_the_frame_is_named_all_of_it(spark, df):
    """One evaluation with all of them: the message has one line a rule, in order, and no job has run."""
    ids = jobs(spark)
    bad = [rule for rule, _ in BOUND[:-1]]
    references = {"r": df.select("id"), "r.q": df.select("id")}
    with pytest.raises(ValueError) as error:
        quality.evaluate(spark, df, f"Rules = [ RowCount > 0, {', '.join(bad)} ]", references=references, now=NOW)
    first, *lines = str(error.value).split("\n")
    assert first == f"{len(bad)} rules cannot be evaluated:"
    assert [line[: len(rule) + 4] for line, rule in zip(lines, bad, strict=True)] == [
        f"  {rule}: " for rule in bad
    ]
    for line, (_, says) in zip(lines, BOUND, strict=False):
        assert re.search(says, line), line
    assert jobs(spark) == ids


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ('DataFreshness "at" < 3 days', "DataFreshness needs now=, a datetime with a time zone"),
        ('ColumnValues "day" > (now() - 3 days)', r"now\(\) needs now=, a datetime with a time zone"),
    ],
)
def test_the_clock_is_never_read(spark, df, rule, says):
    with pytest.raises(ValueError, match=says):
        quality.evaluate(spark, df, f"Rules = [ {rule} ]")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"now": datetime(2024, 3, 10)}, "now must be a datetime with a time zone"),
        ({"now": "2024-03-10"}, "now must be a datetime or None, found '2024-03-10'"),
        ({"composite": "row"}, "composite must be 'COLUMN' or 'ROW', found 'row'"),
        ({"references": {"Primary": None}}, "a reference cannot be called primary"),
    ],
)
def test_arguments(spark, df, options, says):
    with pytest.raises(ValueError, match=says):
        quality.evaluate(spark, df, "Rules = [ RowCount = 0 ]", **options)


def test_a_frame_that_was_evaluated_before(spark, df):
    marked = quality.evaluate(spark, df, "Rules = [ RowCount = 0 ]").rowLevelOutcomes
    with pytest.raises(
        ValueError, match="columns that the outcome would add: DataQualityRulesPass, DataQualityRulesFail"
    ):
        quality.evaluate(spark, marked, "Rules = [ RowCount = 0 ]")


def test_two_columns_of_one_name(spark, df):
    with pytest.raises(ValueError, match='there is more than one column "id"; the columns are id, id'):
        quality.evaluate(spark, df.select("id", "id"), 'Rules = [ IsComplete "id" ]')


@pytest.mark.parametrize(
    ("guilty", "says"),
    [
        ('IsUnique "id" where "cast(s as int) > 1"', r"\[CAST_INVALID_INPUT\] The value 'x' "),
        ('(RowCount > 0) and (CustomSql "select sum(1 / id) from primary" > 0)', r"\[DIVIDE_BY_ZERO\]"),
        ('ReferentialIntegrity "id" "r.k" = 1', r"\[DIVIDE_BY_ZERO\]"),
    ],
)
def test_what_raises_on_a_row_names_its_rule(spark, guilty, says):
    df = spark.range(3).selectExpr("id", "'x' AS s")
    innocent = 'RowCount > 0, IsComplete "id", Mean "id" > 0 where "id > 1"'
    reference = {"r": spark.range(3).selectExpr("id div id AS k")}
    with pytest.raises(ValueError) as error:
        quality.evaluate(spark, df, f'Rules = [ {innocent}, {guilty}, IsUnique "s" ]', references=reference)
    assert re.match(f"{re.escape(guilty)}: Spark could not evaluate it on a row: {says}", str(error.value))


def test_a_frame_that_cannot_be_read_is_no_rules_fault(spark):
    from pyspark.errors import ArithmeticException

    df = spark.range(3).where("1 / id > 0")
    with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
        quality.evaluate(spark, df, 'Rules = [ RowCount > 0, IsUnique "id" ]')
    with pytest.raises(ValueError, match="df is a stream, which has no end to be judged at"):
        quality.evaluate(spark, spark.readStream.format("rate").load(), "Rules = [ RowCount > 0 ]")


def test_what_is_refused_is_not_printed_too(spark, df, monkeypatch, capfd):
    """A session of somebody else's, whose loggers PySpark made: it would print each error as JSON."""
    import logging

    from pyspark.errors import AnalysisException

    for kind in ("SQL", "DataFrame"):
        monkeypatch.delitem(logging.root.manager.loggerDict, f"{kind}QueryContextLogger", raising=False)
    bad = ['IsComplete "id" where "nope > 1"', 'CustomSql "select nope from primary" > 0', 'IsUnique "m"']
    with pytest.raises(ValueError, match="3 rules cannot be evaluated"):
        quality.evaluate(spark, df, f"Rules = [ {', '.join(bad)} ]")
    with pytest.raises(ValueError, match="DIVIDE_BY_ZERO"):
        quality.evaluate(spark, spark.range(1), 'Rules = [ RowCount > 0 where "1 / id > 0" ]')
    assert capfd.readouterr() == ("", "")
    with pytest.raises(AnalysisException):
        spark.sql("select nope")
    assert "UNRESOLVED_COLUMN" in capfd.readouterr().err  # what is the user's own is still printed


def test_a_statement_that_returns_many_numbers(spark):
    with pytest.raises(
        ValueError, match='CustomSql "select id from primary" > 0: its statement returned more than one'
    ):
        quality.evaluate(spark, spark.range(2), 'Rules = [ CustomSql "select id from primary" > 0 ]')


def test_without_the_extra_there_is_a_sentence(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "antlr4", None)
    with pytest.raises(ValueError, match=r"pip install 'iceberg-workbench\[quality\]'"):
        quality.parse("Rules = [ RowCount > 0 ]")
