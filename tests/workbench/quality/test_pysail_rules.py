"""PySail, whose engine shares no code with Spark, gives each rule type Spark's outcome, or the rule is refused by name."""

import importlib.util
import json
import math
import random
import re

import pytest
import quality_cases
from conftest import PROVE

from workbench.quality import patterns
from workbench.quality.rules import SIGNATURES

# a double that is added up in another order has other last digits
ADDED = ("StandardDeviation", "Entropy", 'Sum "x"', 'Mean "x"', 'Sum "f"', 'Mean "f"')
# to PySail a moment of a file and one of a number of microseconds are UTC's, whatever the session's zone
OF_A_ZONE = [
    'ColumnValues "ts" = NULL',
    'ColumnValues "ts" between "2024-03-09" and "2024-03-10"',
    'ColumnValues "tn" not in [now()] with threshold > 0.5',
    'ColumnValues "tn" > (now() - 1 days) with threshold > 0.1',
    'ColumnValues "t" in [now()] with threshold > 0.1',
    *(f'DataFreshness "{column}" <= 24 hours' for column in ("t", "ts", "tn")),
]
TABLES, ZONES = ("values", "nulls", "nothing", "few", "zero"), ("UTC", "Asia/Tokyo", "America/New_York")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    for name in ("pysail", "grpc"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"PySail is not installed (no {name}): pip install 'iceberg-workbench[sail]'")
    path = tmp_path_factory.mktemp("values")
    quality_cases.write(path)
    return path


def plain(value, digits=12):
    """A value without the last digits of its doubles, zeros without their sign; NaN as a text, to be equal to itself."""
    if isinstance(value, dict):
        return {name: plain(entry, digits) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        added = isinstance(value[0], str) and any(kind in value[0] for kind in ADDED) if value else False
        return [plain(entry, 9 if added else digits) for entry in value]
    if isinstance(value, float):
        return str(value) if not math.isfinite(value) else float(f"{value + 0.0:.{digits}g}")
    if isinstance(value, str) and digits != 9:
        return re.sub(r"-0\.0\b", "0.0", value)
    if isinstance(value, str):
        return re.sub(r"-?\d+\.\d+(E[+-]?\d+|e[+-]?\d+)?", lambda number: f"{float(number[0]):.9g}", value)
    return value


def by_spark(spark, folder, asked):
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        return quality_cases.answers(spark, folder, asked)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def agree(asked, ours, theirs):
    """Compare all that both say of the same: types, outcomes, reasons, metrics and rows."""
    for each, spark, pysail in zip(asked, ours, theirs, strict=True):
        assert ("refused" in spark, "refused" in pysail) == (False, False), (spark, pysail)
        for part in spark:
            if isinstance(spark[part], list):
                pairs = zip(spark[part], pysail[part], strict=True)
                differ = [pair for pair in pairs if plain(pair[0]) != plain(pair[1])]
                assert not differ, (each[0], each[2:], part, differ[:5])
            assert plain(spark[part]) == plain(pysail[part]), (each[0], each[2:], part)


def compared(spark, folder, asked):
    agree(asked, by_spark(spark, folder, asked), quality_cases.answers_of_pysail(folder, asked))


def test_each_rule_type_has_sparks_outcome_or_is_refused(spark, folder):
    """Two or three rules of each type, with and without NULL and NaN."""
    rules = [rule for listed in quality_cases.RULES.values() for rule in listed[:: max(1, len(listed) // 2)]]
    asked = [[table, rules, "COLUMN", "UTC"] for table in ("values", "few")]
    asked += [["values", OF_A_ZONE, "COLUMN", zone] for zone in ZONES[1:]]
    refused = [["values", [rule], "COLUMN", "UTC"] for rule in quality_cases.REFUSED]
    theirs = quality_cases.answers_of_pysail(folder, asked + refused)
    ours = by_spark(spark, folder, asked)
    agree(asked, ours, theirs[: len(asked)])
    assert {rule.split()[0] for rule in quality_cases.REFUSED} | {*quality_cases.RULES} == {
        *SIGNATURES,
        "Composite",
    }
    assert {passed for answer in ours for _, passed, *_ in answer["outcomes"]} == {True, False}
    for (rule, sentence), answer in zip(quality_cases.REFUSED.items(), theirs[len(asked) :], strict=True):
        assert answer.get("refused", "").startswith(f"1 rule cannot be evaluated:\n  {rule}: "), (rule, answer)
        assert sentence in answer["refused"]


@pytest.mark.proof("a rule or two of each type: test_each_rule_type_has_sparks_outcome_or_is_refused")
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("table", TABLES)
def test_all_rules_have_sparks_outcomes(spark, folder, table, zone):
    rules = [rule for listed in quality_cases.RULES.values() for rule in listed]
    compared(spark, folder, [[table, rules, composite, zone] for composite in ("COLUMN", "ROW")])


@pytest.mark.proof("what PySail refuses, by PySail: test_each_rule_type_has_sparks_outcome_or_is_refused")
def test_spark_answers_what_pysail_refuses(spark, folder):
    rules = [rule for rule in quality_cases.REFUSED if "ReferentialIntegrity" not in rule]
    (answer,) = quality_cases.answers(spark, folder, [["values", rules, "COLUMN", "UTC"]])
    assert len(answer["outcomes"]) == len(rules)


LIMITS = [str(limit + more) for limit in (2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 0) for more in (-1, 0, 1)]


def test_texts_that_spark_casts_are_those_of_the_patterns(spark):
    """Whole numbers and booleans: what is asked of a text without a cast is what a cast of Spark says."""
    drawn, pieces = (
        random.Random(36),
        ["", " ", "\t", "\x00", "\x7f", "\u00a0", "+", "-", ".", "e", "0", "00", "7", "٣", "K"],
    )
    words = [*LIMITS, "true", "T", "yEs", "y", "1", "0", "no", "off", "FALSE", "ſ", "fal"]
    texts = [
        "".join(drawn.choice(pieces) for _ in range(3)) + drawn.choice(words)
        for _ in range(3000 if PROVE else 500)
    ]
    df = spark.createDataFrame([(text + drawn.choice(pieces),) for text in texts], "s string")
    asked = {
        "int": patterns.whole_numbers(2**31 - 1), "bigint": patterns.whole_numbers(2**63 - 1), "boolean": patterns.truths()
    }  # fmt: skip
    for kind, pattern in asked.items():
        cast, fits = df.s.try_cast(kind).isNotNull(), df.s.rlike(pattern)
        assert df.where(cast != fits).collect() == []
        assert 0 < df.where(fits).count() < df.count()


def drawn_patterns(count):
    """Regular expressions that `patterns.common` takes, among random ones."""
    drawn, found = random.Random(count), []
    pieces = [
        "a",
        "b",
        "[ab]",
        "[^a]",
        ".",
        r"\d",
        r"\W",
        r"[\s-]",
        "(",
        ")",
        "|",
        "*",
        "+?",
        "{1,2}",
        "?",
        "^",
        "$",
        "é",
        "[a-zé]",
        r"\.",
        "-",
    ]
    while len(found) < count:
        pattern = "".join(drawn.choice(pieces) for _ in range(drawn.randrange(1, 7)))
        try:
            patterns.common(pattern)
        except ValueError:
            continue
        found.append(pattern)
    return found


@pytest.mark.proof("the regular expressions among the rules: test_each_rule_type_has_sparks_outcome_or_is_refused")
def test_random_regular_expressions_match_the_same_texts(spark, folder):
    """Spark reads them as they are written, with Java; PySail as they are written anew, with Rust."""
    forms = [f'ColumnValues "{column}" matches "{pattern}" with threshold > 0.3'
             for pattern in drawn_patterns(150) for column in ("s", "a.b")]  # fmt: skip
    compared(spark, folder, [["values", list(dict.fromkeys(forms)), "COLUMN", "UTC"]])


OTHERS = """
import quality_cases
from pyspark.sql import SparkSession
from workbench import quality

with quality_cases.pysail() as spark:
    other = SparkSession.builder.remote(f"sc://{spark.client._builder.endpoint}").create()
    rules = 'Rules = [ RowCountMatch "r" = 1 ]'
    print(quality.evaluate(spark, spark.range(2), rules, references={"r": spark.range(2)}).passed)
    try:
        quality.evaluate(spark, spark.range(2), rules, references={"r": other.range(2)})
    except ValueError as error:
        print(error)
    spark.conf.set("spark.sql.caseSensitive", "true")
    twins = spark.range(1).selectExpr("id a", "id + 1 A")
    both = quality.evaluate(spark, twins, 'Rules = [ Sum "a" = 0, Sum "A" = 1 ]')
    print([outcome.passed for outcome in both.outcomes])
"""


@pytest.mark.proof("references of its own session: test_each_rule_type_has_sparks_outcome_or_is_refused")
def test_references_of_another_session_of_pysail_are_refused(folder):
    refused = "the reference r is of another session than the frame"
    assert quality_cases.in_a_process(["-c", OTHERS]) == ["True", refused, "[True, True]"]


EQUAL = """
import json
import quality_cases
from pyspark.sql import functions as F
from workbench import quality

with quality_cases.pysail() as spark:
    answers = []
    for value in (0.1, 0.7, 1.1):
        df = spark.createDataFrame([(value,)] * 7, "x double").repartition(3)
        (outcome,) = quality.evaluate(spark, df, 'Rules = [ StandardDeviation "x" = 0 ]').outcomes
        answers.append([df.agg(F.stddev_pop("x")).first()[0], outcome.passed, outcome.metrics])
    print(json.dumps(answers))
"""


def test_equal_values_deviate_by_nothing(folder):
    """PySail's mean of the parts of equal values may round to another value."""
    answers = json.loads(quality_cases.in_a_process(["-c", EQUAL])[-1])
    assert any(deviation for deviation, *_ in answers)
    assert [answer[1:] for answer in answers] == [[True, {"Column.x.StandardDeviation": 0.0}]] * 3
