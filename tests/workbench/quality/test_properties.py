"""Random rules on random small frames: Spark and plain Python must say the same of every rule and every row.

`make prove` draws many more.
"""

import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
import quality_cases
from conftest import PROVE
from dqdl_oracle import CASTS, NOW, Spec, judge
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

EXAMPLES = 400 if PROVE else 2
SCHEMA = "id int, n long, d decimal(12,2), x double, s string, b boolean, t date, ts timestamp"
BIG = 9007199254740993  # the first whole number that a double cannot hold
VALUES = {
    "n": [0, 1, 2, 2, 3, -7, BIG - 1, BIG, BIG + 1, 2**63 - 1, -(2**63)],
    "d": [Decimal(v) for v in ("0.00", "0.10", "2.50", "2.51", "-10.00", "50.00", "9999999999.99")],
    "x": [0.0, 0.1, 0.5, 2.5, -10.0, 50.0, 105.0, math.nan, math.inf, 1e300],
    "s": list(CASTS),
    "b": [True, False],
    "t": [date(2024, 3, day) for day in (7, 8, 9, 10, 11)],
    "ts": [NOW, *(datetime(2024, 3, *at, tzinfo=UTC) for at in ((9,), (9, 12), (10, 11, 59, 59)))],
}
WHERES = [
    ("n > 1", lambda row: None if row["n"] is None else row["n"] > 1),
    ("b", lambda row: row["b"]),
    ('s = \\"q\\"', lambda row: None if row["s"] is None else row["s"] == "q"),
    ("x IS NULL OR d < 10.5", lambda row: row["x"] is None or (None if row["d"] is None else row["d"] < 10.5)),
]
RANGES = ["between", "not between", ">", ">=", "<", "<=", "=", "!=", "in", "not in"]
SETS = ["=", "!=", "in", "not in"]
NUMBERS = ["0", "1", "2.5", "-10", "50", "0.1", "2.505", "105.0", str(BIG), f"{BIG}.5", "9" * 25, "-" + "9" * 25]
REGEXES = ["[a-z]*", "a|ab", "a.", r"\\d+", ".*", 'a b|q\\"r', r"-?[0-9]+(\.[0-9]+)?"]
DURATIONS = [("30 minutes", timedelta(minutes=30)), ("1 hours", timedelta(hours=1)), ("1 days", timedelta(days=1))]
DURATIONS += [("36 hours", timedelta(hours=36)), ("3 days", timedelta(days=3))]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def condition(draw, operators, words, values=None):
    """Draw an operator and operands; words are DQDL, values what they mean."""
    operator = draw(st.sampled_from(operators))
    values = values or [Decimal(word) if word != "NULL" else None for word in words]
    pairs = dict(zip(words, values, strict=True))
    able = [word for word in words if pairs[word] is not None or operator in SETS]
    if "between" in operator:
        able = [word for word in able if pairs[word] is not None]
        chosen = draw(st.lists(st.sampled_from(able), min_size=2, max_size=2, unique=True))
        chosen = sorted(chosen, key=lambda word: pairs[word])
        return f"{operator} {chosen[0]} and {chosen[1]}", operator, tuple(pairs[word] for word in chosen)
    if "in" in operator.split():
        chosen = draw(st.lists(st.sampled_from(able), min_size=1, max_size=4))
        return f"{operator} [{', '.join(chosen)}]", operator, tuple(pairs[word] for word in chosen)
    word = draw(st.sampled_from(able))
    return f"{operator} {word}", operator, (pairs[word],)


def on_values(draw, column):
    if column in ("n", "d", "x"):
        return condition(draw, RANGES, [*NUMBERS, "NULL"])
    if column == "s":
        if draw(st.booleans()):
            pattern = draw(st.sampled_from(REGEXES))
            operator = draw(st.sampled_from(["matches", "not matches"]))
            return f'{operator} "{pattern}"', operator, (pattern,)
        vocabulary = [text for text in CASTS if text != "2024-03-09"]  # that one DQDL reads as a date
        words = [*map(quoted, vocabulary), "NULL", "EMPTY", "WHITESPACES_ONLY"]
        return condition(draw, SETS, words, [*vocabulary, None, "", "WHITESPACES_ONLY"])
    if column == "b":
        return condition(draw, SETS, ['"true"', '"false"', "NULL"], ["true", "false", None])
    words = ['"2024-03-08"', '"2024-03-09"', '"2024-03-10"']
    if draw(st.booleans()):  # bounds of one kind: only those can be put in order
        return condition(draw, RANGES, [*words, "NULL"], ["2024-03-08", "2024-03-09", "2024-03-10", None])
    words = ["now()", "(now() - 24 hours)", "(now() + 1 days)", "NULL"]
    return condition(draw, RANGES, words, [timedelta(0), timedelta(hours=-24), timedelta(days=1), None])


def with_threshold(draw, text):
    if draw(st.integers(0, 2)):
        return text, ()
    more, operator, operands = condition(draw, RANGES, ["0", "0.25", "0.5", "0.75", "1"])
    return f"{text} with threshold {more}", (operator, operands)


def with_where(draw, text):
    if draw(st.booleans()):
        return text, None
    where, keep = draw(st.sampled_from(WHERES))
    return f'{text} where "{where}"', keep


def simple(draw, kinds, world):
    """Draw one rule; the world says which keys there are, because each costs Spark a shuffle."""
    kind = draw(st.sampled_from(kinds))
    threshold, columns, operator, operands = (), (), "", ()
    shares = ["0", "0.25", "0.5", "0.75", "1", "0.3333333333333333"]
    if kind == "RowCount":
        text, operator, operands = condition(draw, RANGES, ["0", "1", "2", "3.5", "6"])
    elif kind in ("IsComplete", "Completeness"):
        columns, text = (draw(st.sampled_from(list(VALUES))),), ""
        if kind == "Completeness":
            text, operator, operands = condition(draw, RANGES, shares)
    elif kind in ("Mean", "Sum", "StandardDeviation"):
        # odd bounds, so that the last digit of a float never decides; of infinities and of numbers that are many
        # more digits than their spread a double has no deviation to speak of
        kept = {"Sum": ["n", "d", "x"], "Mean": ["n", "d"], "StandardDeviation": ["d"]}[kind]
        columns = (draw(st.sampled_from(kept)),)
        words = ["0.7310585", "2.3333337", "-4.1", "77.77"] if kind == "StandardDeviation" else NUMBERS
        text, operator, operands = condition(draw, RANGES, words)
    elif kind == "ColumnValues":
        columns = (draw(st.sampled_from(list(VALUES))),)
        text, operator, operands = on_values(draw, columns[0])
    elif kind == "ColumnLength":
        columns = ("s",)
        text, operator, operands = condition(draw, RANGES, ["0", "1", "2", "2.5", "10"])
    elif kind == "ColumnDataType":
        columns, operator = ("s",), "="
        operands = (draw(st.sampled_from(["INTEGER", "Long", "double", "Float", "Boolean", "date", "Timestamp"])),)
        text = f'= "{operands[0]}"'
    elif kind == "DataFreshness":
        columns = (draw(st.sampled_from(["t", "ts"])),)
        words, lengths = zip(*DURATIONS, strict=True)
        text, operator, operands = condition(draw, RANGES, list(words), list(lengths))
    elif kind in ("IsUnique", "Uniqueness", "IsPrimaryKey", "DistinctValuesCount", "Entropy"):
        alone = kind in ("DistinctValuesCount", "Entropy")
        columns, text = (world["one"] if alone else world["key"]), ""
        if kind in ("Uniqueness", "DistinctValuesCount", "Entropy"):
            words = {"Uniqueness": shares, "Entropy": ["0.1234567", "0.9", "1.3"]}.get(kind, ["0", "1", "2", "3"])
            text, operator, operands = condition(draw, RANGES, words)
    elif kind == "RowCountMatch":
        text, operator, operands = condition(draw, RANGES, ["0", "0.5", "1", "1.5"])
        return Spec(f'RowCountMatch "r" {text}', kind, (), operator, operands)
    elif kind == "ReferentialIntegrity":
        text, operator, operands = condition(draw, RANGES, shares)
        columns, names = world["foreign"]
        return Spec(f"ReferentialIntegrity {names} {text}", kind, columns, operator, operands)
    else:
        text, threshold = with_threshold(draw, 'CustomSql "select n, b from primary where n > 1"')
        return Spec(text, kind, threshold=threshold)
    text = " ".join([kind, *(f'"{column}"' for column in columns), text]).strip()
    few = kind in ("IsUnique", "Uniqueness", "IsPrimaryKey", "DistinctValuesCount", "Entropy")
    if few and world["filtered"]:
        text, where = f'{text} where "n > 1"', WHERES[0][1]
    else:
        text, where = (text, None) if few else with_where(draw, text)
    if kind in ("ColumnValues", "ColumnDataType"):
        text, threshold = with_threshold(draw, text)
    return Spec(text, kind, columns, operator, operands, where, threshold)


SCANNED = ["ColumnValues"] * 6 + ["RowCount", "IsComplete", "Completeness", "Mean", "Sum", "StandardDeviation"]
SCANNED += ["ColumnLength", "ColumnDataType", "DataFreshness"]
SHUFFLED = ["IsUnique", "Uniqueness", "IsPrimaryKey", "DistinctValuesCount", "Entropy"]
SHUFFLED += ["RowCountMatch", "ReferentialIntegrity", "CustomSql"]


def joined(draw, depth, kinds, world):
    operator = draw(st.sampled_from(["and", "or"]))
    parts = tuple(
        joined(draw, depth - 1, kinds, world)
        if depth and draw(st.integers(0, 3)) == 0
        else simple(draw, kinds, world)
        for _ in range(draw(st.integers(2, 3)))
    )
    return Spec(
        f" {operator} ".join(f"({part.text})" for part in parts), "Composite", operator=operator, parts=parts
    )


@st.composite
def cases(draw):
    row = st.fixed_dictionaries({c: st.one_of(st.none(), st.sampled_from(v)) for c, v in VALUES.items()})
    rows = draw(st.lists(row, max_size=8))
    if rows and draw(st.booleans()):
        rows.append(dict(draw(st.sampled_from(rows))))  # a row twice
    rows = [{"id": i, **{c: values[c] for c in VALUES}} for i, values in enumerate(rows)]
    known = st.fixed_dictionaries({"k": st.sampled_from([None, 1, 2, BIG]), "w": st.sampled_from([None, "a", ""])})
    key = draw(st.sampled_from([("s",), ("x",), ("n", "b")]))
    world = {
        "key": key,
        "one": key if len(key) == 1 else ("s",),
        "filtered": draw(st.booleans()),
        "foreign": draw(st.sampled_from([(("n",), '"n" "r.k"'), (("n", "s"), '"n, s" "r.{k,w}"')])),
    }
    more = draw(st.booleans())
    kinds = [*SCANNED, "IsUnique", "Completeness", "ReferentialIntegrity", "CustomSql"] if more else SCANNED
    specs = [simple(draw, SCANNED, world) for _ in range(24)]
    specs += [simple(draw, SHUFFLED, world) for _ in range(7 if more else 0)]
    specs += [joined(draw, 2, kinds, world) for _ in range(5)]
    return rows, draw(st.lists(known, max_size=4)), specs, draw(st.sampled_from(["COLUMN", "ROW"]))


def rounded(spec, reason):
    """A reason without the last digits of a double that was added up in another order."""
    added = ("StandardDeviation", "Entropy", 'Sum "x"', 'Mean "x"')  # of n and d, sums are exact
    if reason is None or not any(kind in spec.text for kind in added):
        return reason
    return re.sub(r"-?\d+\.\d+(e[+-]?\d+)?", lambda number: f"{float(number[0]):.9g}", reason)


DRAWN = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def agrees(spark, case):
    """Compare all that a session says of random rules with what plain Python says."""
    from workbench import quality

    rows, reference, specs, composite = case
    df = spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)
    known = spark.createDataFrame([(one["k"], one["w"]) for one in reference], "k long, w string")
    ruleset = "Rules = [\n" + ",\n".join(spec.text for spec in specs) + "\n]"
    result = quality.evaluate(spark, df, ruleset, references={"r": known}, now=NOW, composite=composite)
    said = [judge(spec, rows, reference, composite) for spec in specs]
    for spec, outcome, one in zip(specs, result.outcomes, said, strict=True):
        where = (spec, composite, rows)
        assert (outcome.rule, outcome.passed) == (spec.text, one.passed), where
        assert rounded(spec, outcome.reason) == rounded(spec, one.reason), where
        assert outcome.metrics == pytest.approx(one.metrics, nan_ok=True, rel=1e-12, abs=1e-12), where
    marks = {row.id: row for row in result.rowLevelOutcomes.collect()}
    assert sorted(marks) == [row["id"] for row in rows]
    for i, row in enumerate(rows):
        lists = {True: [], False: [], None: []}
        for spec, one in zip(specs, said, strict=True):
            lists[None if one.rows is None else one.rows[i]].append(spec.text)
        found = marks[i]
        assert found.DataQualityRulesFail == lists[False], row
        assert found.DataQualityRulesPass == lists[True], row
        assert found.DataQualityRulesSkip == lists[None], row
        assert found.DataQualityEvaluationResult == ("Failed" if lists[False] else "Passed")
    good = sorted(row.id for row in result.good.select("id").collect())
    assert good == [i for i in sorted(marks) if marks[i].DataQualityEvaluationResult == "Passed"]
    bad = {row.id: row.DataQualityRulesFail for row in result.quarantined.collect()}
    assert bad == {i: row.DataQualityRulesFail for i, row in marks.items() if i not in good}


@DRAWN
@given(case=cases())
def test_spark_says_what_plain_python_says(spark, case):
    agrees(spark, case)


def unfiltered(spec):
    """A rule without its filters, which a session without a JVM refuses."""
    text = re.sub(r' where "(?:[^"\\]|\\.)*"', "", spec.text)
    return replace(spec, text=text, where=None, parts=tuple(map(unfiltered, spec.parts)))


def answerable(spec):
    """Say whether a session without a JVM answers a rule otherwise."""
    if spec.parts:
        return all(map(answerable, spec.parts))
    casts = spec.type == "ColumnDataType" and spec.operands[0].lower() not in ("integer", "long", "boolean")
    return not casts and spec.type != "CustomSql"


@pytest.mark.proof("rules by hand: tests/workbench/quality/test_pysail_rules.py")
def test_pysail_says_what_plain_python_says():
    """In a process of its own, because its client and a classic session cannot live in one."""
    command = [sys.executable, "-c", "import test_properties; test_properties.by_pysail()"]
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}
    )
    assert run.returncode == 0, run.stderr[-20_000:]  # the example comes after what is wrong


def by_pysail():
    with quality_cases.pysail() as spark:

        @DRAWN
        @given(case=cases())
        def agree(case):
            rows, reference, specs, composite = case
            kept = [unfiltered(spec) for spec in specs if answerable(spec)]
            agrees(spark, (rows, reference, kept, composite))

        agree()
