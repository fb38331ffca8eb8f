"""Each rule type passing and failing, with its reason and its metrics; nulls, NaN, empty frames, quoting, exactness."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from workbench import quality
from workbench.quality import columns
from workbench.quality.rules import Condition

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)


def unmet(value):
    return f"Value: {value} does not meet the constraint requirement!"


def said(spark, df, *expected, **options):
    """Evaluate (rule, reason or None for passed, metrics) in one call and compare all of it."""
    result = quality.evaluate(spark, df, f"Rules = [{', '.join(e[0] for e in expected)}]", **options)
    found = [(o.rule, o.reason, o.metrics) for o in result.outcomes]
    assert found == [(rule, reason, pytest.approx(metrics, nan_ok=True)) for rule, reason, metrics in expected]
    assert [o.passed for o in result.outcomes] == [reason is None for _, reason, _ in expected]
    return result


@pytest.fixture(scope="module")
def rooms(spark):
    rows = [("2024-03-10 10:35:00", 20.5, "living"), ("2024-03-10 10:36:00", 105.0, "living")]
    rows += [("2024-03-10 10:37:00", -3.0, "kitchen")]
    return spark.createDataFrame(rows, "current_time string, current_temperature double, room_type string")


@pytest.fixture(scope="module")
def people(spark):
    rows = [
        (1, "Ada", 36, Decimal("1.50"), date(2024, 3, 9), datetime(2024, 3, 10, 11, tzinfo=UTC), True),
        (2, "Bob", None, Decimal("2.50"), date(2024, 3, 1), datetime(2024, 3, 9, 11, tzinfo=UTC), False),
        (2, None, 20, None, None, None, None),
        (4, "", 20, Decimal("2.00"), date(2024, 3, 8), datetime(2024, 3, 10, 12, tzinfo=UTC), True),
    ]
    schema = "id int, name string, age long, paid decimal(10,2), day date, at timestamp, ok boolean"
    return spark.createDataFrame(rows, schema)


def test_the_published_rule(spark, rooms):
    rule = 'ColumnValues "current_temperature" between -10 and 50'
    result = quality.evaluate(spark, rooms, f"Rules = [ {rule} ]")
    assert result.ruleOutcomes.schema.simpleString() == (
        "struct<Rule:string,Outcome:string,FailureReason:string,EvaluatedMetrics:map<string,double>,"
        "Labels:map<string,string>>"
    )
    assert [tuple(row) for row in result.ruleOutcomes.collect()] == [
        (
            rule,
            "Failed",
            "Value: 105.0 does not meet the constraint requirement!",
            {"Column.current_temperature.Maximum": 105.0, "Column.current_temperature.Minimum": -3.0},
            {},
        )
    ]
    marked = result.rowLevelOutcomes
    assert marked.columns[3:] == [
        "DataQualityRulesPass",
        "DataQualityRulesFail",
        "DataQualityRulesSkip",
        "DataQualityEvaluationResult",
    ]
    assert sorted(tuple(row)[1:] for row in marked.collect()) == [
        (-3.0, "kitchen", [rule], [], [], "Passed"),
        (20.5, "living", [rule], [], [], "Passed"),
        (105.0, "living", [], [rule], [], "Failed"),
    ]
    assert result.good.columns == rooms.columns
    assert sorted(row[1] for row in result.good.collect()) == [-3.0, 20.5]
    assert result.quarantined.columns == [*rooms.columns, "DataQualityRulesFail"]
    assert [tuple(row)[1:] for row in result.quarantined.collect()] == [(105.0, "living", [rule])]
    assert (result.passed, result.rules_evaluated, result.rules_failed) == (False, 1, 1)
    verdict = result.verdict()
    assert (verdict.passed, verdict.rules) == (False, f"Rules = [ {rule} ]")
    assert verdict.figures == {
        "rules_evaluated": 1,
        "rules_failed": 1,
        "Column.current_temperature.Maximum": 105.0,
        "Column.current_temperature.Minimum": -3.0,
    }
    assert verdict.reasons == (f"{rule}: Value: 105.0 does not meet the constraint requirement!",)
    assert verdict.quarantined.count() == 1


def test_labels_are_in_the_outcomes_and_change_none(spark, rooms):
    rules = 'RowCount > 0, IsComplete "room_type" labels=["team"="sales"]'
    result = quality.evaluate(spark, rooms, f'DefaultLabels=["team"="all"] Rules = [ {rules} ]')
    assert [(one.rule, one.labels) for one in result.outcomes] == [
        ("RowCount > 0", {"team": "all"}),
        ('IsComplete "room_type"', {"team": "sales"}),
    ]
    assert [row.Labels for row in result.ruleOutcomes.collect()] == [{"team": "all"}, {"team": "sales"}]
    assert result.verdict().figures == quality.evaluate(spark, rooms, f"Rules = [ {rules} ]").verdict().figures


def test_counts_columns_and_completeness(spark, people):
    said(
        spark,
        people,
        ("RowCount = 4", None, {"Dataset.*.RowCount": 4}),
        ("RowCount between 4 and 9", unmet("4.0"), {"Dataset.*.RowCount": 4}),
        ('RowCount = 2 where "age = 20"', None, {"Dataset.*.RowCount": 2}),
        ("ColumnCount > 6", None, {"Dataset.*.ColumnCount": 7}),
        ("ColumnCount in [1, 2 * 4]", unmet("7.0"), {"Dataset.*.ColumnCount": 7}),
        ('ColumnExists "AGE"', None, {}),
        ('ColumnExists "aged"', "Column aged does not exist in the dataset", {}),
        ('IsComplete "id"', None, {"Column.id.Completeness": 1}),
        ('IsComplete "name"', unmet("0.75"), {"Column.name.Completeness": 0.75}),  # the empty text is a text
        ('IsComplete "name" where "id > 2"', None, {"Column.name.Completeness": 1}),
        ('Completeness "age" >= 0.75', None, {"Column.age.Completeness": 0.75}),
        ('Completeness "age" > 0.75', unmet("0.75"), {"Column.age.Completeness": 0.75}),
    )


def test_statistics(spark, people):
    said(
        spark,
        people,
        ('Mean "age" between 25 and 26', None, {"Column.age.Mean": 76 / 3}),
        ('Mean "paid" = 2', None, {"Column.paid.Mean": 2}),
        ('Mean "paid" != 2.0', unmet("2.0"), {"Column.paid.Mean": 2}),
        ('Sum "paid" = 6.00', None, {"Column.paid.Sum": 6}),
        ('Sum "id" not in [9]', unmet("9.0"), {"Column.id.Sum": 9}),
        ('StandardDeviation "id" < 1.09', None, {"Column.id.StandardDeviation": 1.0897247358851685}),
        (
            'StandardDeviation "age" >= 8',
            unmet("7.542472332656507"),
            {"Column.age.StandardDeviation": 7.542472332656507},
        ),
    )


def test_keys(spark, people):
    said(
        spark,
        people,
        ('IsUnique "id"', unmet("0.5"), {"Column.id.Uniqueness": 0.5}),
        ('IsUnique "id" "name"', None, {"Multicolumn.id,name.Uniqueness": 1}),
        ('IsUnique "name" "id"', None, {"Multicolumn.name,id.Uniqueness": 1}),
        ('IsUnique "id" where "age = 20"', None, {"Column.id.Uniqueness": 1}),
        ('Uniqueness "age" = 0.5', None, {"Column.age.Uniqueness": 0.5}),  # one NULL occurs once
        ('Uniqueness "id" > 0.5', unmet("0.5"), {"Column.id.Uniqueness": 0.5}),
        ("IsPrimaryKey id name", unmet("0.75"), {
            "Multicolumn.id,name.Uniqueness": 1, "Column.id.Completeness": 1, "Column.name.Completeness": 0.75}),
        ('IsPrimaryKey "id" where "name is not null"', None, {
            "Column.id.Uniqueness": 1, "Column.id.Completeness": 1}),
        ('DistinctValuesCount "age" = 2', None, {"Column.age.DistinctValuesCount": 2}),
        ('DistinctValuesCount "ok" > 2', unmet("2.0"), {"Column.ok.DistinctValuesCount": 2}),
        ('Entropy "age" between 0.636 and 0.637', None, {"Column.age.Entropy": 0.6365141682948128}),
        ('Entropy "day" < 1', unmet("1.0986122886681098"), {"Column.day.Entropy": 1.0986122886681098}),
        ('Entropy "ok" = 0 where "ok"', None, {"Column.ok.Entropy": 0}),
    )  # fmt: skip


def test_values_of_numbers(spark, people):
    numbers = {"Column.age.Maximum": 36, "Column.age.Minimum": 20}
    said(
        spark,
        people,
        ('ColumnValues "id" between 0 and 5', None, {"Column.id.Maximum": 4, "Column.id.Minimum": 1}),
        ('ColumnValues "id" between 1 and 4', unmet("4.0"), {"Column.id.Maximum": 4, "Column.id.Minimum": 1}),
        ('ColumnValues "id" between 1 and 5', unmet("1.0"), {"Column.id.Maximum": 4, "Column.id.Minimum": 1}),
        ('ColumnValues "id" not between 1 and 4', unmet("2.0"), {"Column.id.Maximum": 4, "Column.id.Minimum": 1}),
        ('ColumnValues "age" > 0', unmet("NULL"), numbers),
        ('ColumnValues "age" > 0 where "age is not null"', None, numbers),
        ('ColumnValues "age" != 21', None, numbers),
        ('ColumnValues "age" not in [21, NULL]', unmet("NULL"), numbers),
        ('ColumnValues "age" in [20, 36, NULL]', None, numbers),
        ('ColumnValues "age" = NULL', unmet("36.0"), numbers),
        ('(ColumnValues "age" > 0) OR (ColumnValues "age" = NULL)', f"{unmet('NULL')}\n{unmet('36.0')}", numbers),
        (
            'ColumnValues "age" > 0 with threshold >= 0.75',
            None,
            numbers | {"Column.age.ColumnValues.Compliance": 0.75},
        ),
        (
            'ColumnValues "id" between 1 and 4 with threshold > 0.5',
            unmet("0.5"),
            {"Column.id.Maximum": 4, "Column.id.Minimum": 1, "Column.id.ColumnValues.Compliance": 0.5},
        ),
    )


def test_values_of_texts_and_booleans(spark, people):
    def compliance(share, column="name"):
        return {f"Column.{column}.ColumnValues.Compliance": share}

    said(
        spark,
        people,
        ('ColumnValues "name" in ["Ada", "Bob", NULL, EMPTY]', None, compliance(1)),
        ('ColumnValues "name" in ["Ada", "Bob", EMPTY]', unmet("NULL"), compliance(0.75)),
        ('ColumnValues "name" != EMPTY', unmet("0.75"), compliance(0.75)),
        ('ColumnValues "name" not in ["x", WHITESPACES_ONLY]', None, compliance(1)),
        ('ColumnValues "name" matches "A|Ad|Bob" where "name > \\"A\\""', unmet("0.5"), compliance(0.5)),
        ('ColumnValues "name" not matches "d" where "name > \\"A\\""', None, compliance(1)),
        ('ColumnValues "name" matches ".*"', unmet("NULL"), compliance(0.75)),
        ('ColumnValues "ok" in ["true", "false", NULL]', None, compliance(1, "ok")),
        ('ColumnValues "ok" != "true"', unmet("0.5"), compliance(0.5, "ok")),
        ('ColumnLength "name" in [0, 3]', None, {"Column.name.MaximumLength": 3, "Column.name.MinimumLength": 0}),
        ('ColumnLength "name" < 3', unmet("3.0"), {"Column.name.MaximumLength": 3, "Column.name.MinimumLength": 0}),
        ('ColumnLength "name" > 0 where "id = 2"', unmet("0.0"), {"Column.name.MaximumLength": 3, "Column.name.MinimumLength": 0}),
    )  # fmt: skip


def test_values_of_dates_and_their_age(spark, people):
    def fresh(column, share):
        return {f"Column.{column}.DataFreshness.Compliance": share}

    kept, named = 'where "day is not null"', "% of rows passed the threshold"
    said(
        spark,
        people,
        (f'ColumnValues "day" > (now() - 10 days) {kept}', None, {}),
        (f'ColumnValues "day" between "2024-03-01" and "2024-03-10" {kept}', unmet("2024-03-01"), {}),
        ('ColumnValues "day" not in ["2024-03-02", NULL]', unmet("NULL"), {}),
        (f'ColumnValues "at" <= now() {kept}', None, {}),
        (f'ColumnValues "at" < now() {kept}', unmet("2024-03-10 12:00:00"), {}),
        (f'ColumnValues "at" > "2024-03-10" {kept}', unmet("2024-03-09 11:00:00"), {}),
        (f'DataFreshness "at" <= 25 hours {kept}', None, fresh("at", 1)),
        ('DataFreshness "at" < 25 hours', f"50.00 {named}", fresh("at", 0.5)),
        ('DataFreshness "day" between 35 hours and 9 days where "id < 4"', f"33.33 {named}", fresh("day", 1 / 3)),
        ('DataFreshness "day" != 60 minutes', f"75.00 {named}", fresh("day", 0.75)),
        now=NOW.astimezone(timezone(timedelta(hours=9))),
    )  # fmt: skip


def test_data_types(spark):
    df = spark.createDataFrame([("1",), ("2.5",), ("2024-03-10",), (None,)], "s string")

    def compliance(share):
        return {"Column.s.ColumnDataType.Compliance": share}

    said(
        spark,
        df,
        ('ColumnDataType "s" = "INTEGER"', unmet("0.25"), compliance(0.25)),
        ('ColumnDataType "s" = "Integer" where "s = \\"1\\""', None, compliance(1)),
        ('ColumnDataType "s" = "Double" with threshold = 0.5', None, compliance(0.5)),
        ('ColumnDataType "s" = "date" with threshold > 0.5', unmet("0.25"), compliance(0.25)),
    )


def test_references(spark, people):
    known = spark.createDataFrame([(1, "Ada"), (2, "Bob"), (2, "Bob"), (2, None)], "key long, who string")
    ratio = {"Dataset.known.people.RowCountMatch": 1}
    found = {"Column.known.people.ReferentialIntegrity": 0.75}
    result = said(
        spark,
        people,
        ('RowCountMatch "known.people" = 1', None, ratio),
        ('RowCountMatch "known.people" < 1.0', unmet("1.0"), ratio),
        ('RowCountMatch "none" > 0', "Reference dataset none has no rows", {}),
        ('ReferentialIntegrity "id" "known.people.key" >= 0.75', None, found),
        ('ReferentialIntegrity "id" "known.people.{KEY}" = 1.0', unmet("0.75"), found),
        ('ReferentialIntegrity "id,name" "known.people.{key, who}" = 0.5', None, {"Column.known.people.ReferentialIntegrity": 0.5}),
        references={"known.people": known, "none": known.limit(0)},
    )  # fmt: skip
    fails = {(row.id, row.name): row.DataQualityRulesFail for row in result.rowLevelOutcomes.collect()}
    both = 'ReferentialIntegrity "id,name" "known.people.{key, who}" = 0.5'
    one = [
        'ReferentialIntegrity "id" "known.people.key" >= 0.75',
        'ReferentialIntegrity "id" "known.people.{KEY}" = 1.0',
    ]
    assert fails == {(1, "Ada"): [], (2, "Bob"): [], (2, None): [both], (4, ""): [*one, both]}


def test_custom_sql(spark, people):
    other = spark.range(2)
    share = {"Dataset.*.CustomSQL.Compliance": 0.5}
    rows = 'CustomSql "select age, name from primary where age = 20 -- both"'
    result = said(
        spark,
        people,
        ('CustomSql "select count(*) from primary" between 3 and 5', None, {"Dataset.*.CustomSQL": 4}),
        ('CustomSql "select max(paid) from primary;" > 3', unmet("2.5"), {"Dataset.*.CustomSQL": 2.5}),
        (
            'CustomSql "with o as (select * from other) select count(1) from o" = 2',
            None,
            {"Dataset.*.CustomSQL": 2},
        ),
        ('CustomSql "select sum(age) from primary where id > 9" > 3', unmet("NULL"), {}),
        ('CustomSql "select age from primary where age > 99" != 3', unmet("NULL"), {}),
        (rows, unmet("0.5"), share),
        (f"{rows} with threshold >= 0.5", None, share),
        references={"other": other},
    )
    passed = {(row.id, row.name): row.DataQualityRulesPass for row in result.rowLevelOutcomes.collect()}
    both = [rows, f"{rows} with threshold >= 0.5"]
    assert passed == {(1, "Ada"): [], (2, "Bob"): [], (2, None): both, (4, ""): both}


def test_nan_satisfies_nothing_but_is_not_null(spark):
    df = spark.createDataFrame([(1.0, 1.0), (float("nan"), 1.0)], "x double, y double")
    nan = {"Column.x.Maximum": float("nan"), "Column.x.Minimum": 1}
    said(
        spark,
        df,
        ('ColumnValues "x" > 0', unmet("NaN"), nan),
        ('ColumnValues "x" != 7', unmet("NaN"), nan),
        ('ColumnValues "x" not between 2 and 3', unmet("NaN"), nan),
        ('ColumnValues "x" != NULL', None, nan),
        ('Sum "x" != 0', unmet("NaN"), {"Column.x.Sum": float("nan")}),
        ('DistinctValuesCount "x" = 2', None, {"Column.x.DistinctValuesCount": 2}),
    )
    figures = quality.evaluate(spark, df, 'Rules = [ColumnValues "x" > 0]').verdict().figures
    assert figures["Column.x.Maximum"] == "NaN"  # JSON has no other word for it


@pytest.mark.parametrize("where", ["", ' where "false"'])
def test_no_rows_are_never_a_pass(spark, people, where):
    df = people if where else people.limit(0)
    reason = "No rows matched the filter" if where else "There were no rows to evaluate"
    rules = ['IsComplete "id"', 'Completeness "id" >= 0', 'ColumnValues "id" > 0', 'ColumnLength "name" >= 0']
    rules += ['ColumnValues "id" != 3 with threshold >= 0', 'Mean "id" < 9', 'Sum "id" = 0', 'IsUnique "id"']
    rules += ['StandardDeviation "id" < 9', 'IsPrimaryKey "id"', 'Uniqueness "id" >= 0', 'Entropy "id" < 9']
    rules += ['ColumnDataType "name" = "date"', 'DataFreshness "at" < 9 days', 'DistinctValuesCount "id" < 9']
    rules = [rule.replace(" with", f"{where} with") if " with" in rule else rule + where for rule in rules]
    failed = [(rule, reason, {}) for rule in rules]
    counted = [(f"RowCount = 0{where}", None, {"Dataset.*.RowCount": 0})]
    if not where:
        counted += [("ColumnCount = 7", None, {"Dataset.*.ColumnCount": 7}), ('ColumnExists "id"', None, {})]
        counted += [('CustomSql "select count(*) from primary" = 0', None, {"Dataset.*.CustomSQL": 0})]
        failed += [('CustomSql "select id from primary"', reason, {})]
        failed += [('ReferentialIntegrity "id" "people.id" >= 0', reason, {})]
        counted += [('RowCountMatch "people" = 0', None, {"Dataset.people.RowCountMatch": 0})]
    said(spark, df, *failed, *counted, now=NOW, references={"people": people})


def test_columns_without_values(spark):
    df = spark.createDataFrame([(None,)], "x long")
    nothing = "Column x has no values to evaluate"
    said(
        spark,
        df,
        ('Mean "x" < 9', nothing, {}),
        ('Sum "x" = 0', nothing, {}),
        ('StandardDeviation "x" = 0', nothing, {}),
        ('Entropy "x" = 0', nothing, {}),
        ('DistinctValuesCount "x" = 0', None, {"Column.x.DistinctValuesCount": 0}),
        ('ColumnValues "x" > 0', unmet("NULL"), {}),
        ('ColumnValues "x" != 0', None, {}),
    )


def test_whole_numbers_and_decimals_stay_exact(spark):
    """2**53 + 1 is the first whole number that a double cannot hold."""
    big = 9007199254740993
    rows = [(big, Decimal("9007199254740993.10"), 3_000_000_000)] * 3
    df = spark.createDataFrame(rows, "n long, d decimal(20,2), m long").repartition(3)
    numbers = {"Column.n.Maximum": float(big), "Column.n.Minimum": float(big)}
    decimals = {"Column.d.Maximum": float(big), "Column.d.Minimum": float(big)}
    said(
        spark,
        df,
        (f'ColumnValues "n" = {big}', None, numbers),
        (f'ColumnValues "n" > {big - 1}', None, numbers),
        (f'ColumnValues "n" <= {big - 1}', unmet("9007199254740993"), numbers),
        (f'ColumnValues "n" < {big}.5', None, numbers),
        (f'ColumnValues "n" in [{big - 1}, 1]', unmet("9007199254740993"), numbers),
        ('ColumnValues "n" < 99999999999999999999999999', None, numbers),
        ('ColumnValues "n" != -99999999999999999999999999', None, numbers),
        (f'ColumnValues "d" = {big}.1', None, decimals),
        (f'ColumnValues "d" between {big}.09 and {big}.101', None, decimals),
        (f'ColumnValues "d" not in [{big}.1]', unmet("9007199254740993.10"), decimals),
        (f'Sum "n" = {3 * big}', None, {"Column.n.Sum": float(3 * big)}),
        (f'Sum "n" > {3 * big}', unmet("27021597764222979"), {"Column.n.Sum": float(3 * big)}),
        (f'Sum "d" = {3 * big}.3', None, {"Column.d.Sum": float(3 * big)}),
        (f'Mean "n" = {big}', None, {"Column.n.Mean": float(big)}),
        ('Sum "m" = 9000000000', None, {"Column.m.Sum": 9e9}),
    )


def test_floats_are_compared_at_their_own_width(spark):
    df = spark.createDataFrame([(0.1, 0.1)], "narrow float, wide double")
    for column in ("narrow", "wide"):
        found = quality.evaluate(
            spark, df, f'Rules = [ColumnValues "{column}" = 0.1, ColumnValues "{column}" > 0.1]'
        )
        assert [o.passed for o in found.outcomes] == [True, False]


def test_names_with_anything_in_them(spark):
    df = spark.createDataFrame([(1, 2, 3, 4)], ["a.b", "with blank", "tick`", 'quo"te'])
    rules = ['IsComplete "a.b"', "IsComplete a.b", 'IsUnique "with blank"', 'ColumnValues "tick`" = 3']
    rules += ['ColumnValues "quo\\"te" = 4', 'Sum "A.B" = 1', 'IsPrimaryKey "a.b" "quo\\"te"']
    result = quality.evaluate(spark, df, f"Rules = [{', '.join(rules)}]")
    assert [o.reason for o in result.outcomes] == [None] * 7
    assert result.good.columns == df.columns and result.good.count() == 1
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(
            ValueError, match=r'Sum "A.B" = 1: there is no column "A.B"; the columns are a.b, with blank'
        ):
            quality.evaluate(spark, df, f"Rules = [{', '.join(rules)}]")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_every_row_comes_back_once(spark):
    """Duplicates, null keys and references with duplicates do not multiply rows; columns of one name may stay two."""
    df = spark.createDataFrame([(1, None), (1, None), (None, "a"), (None, None)], "k long, s string")
    twice = spark.createDataFrame([(1,), (1,), (None,)], "k long")
    rules = 'IsUnique "k", IsUnique "k" "s", ReferentialIntegrity "k" "r.k" = 1, CustomSql "select s from primary"'
    result = quality.evaluate(spark, df, f"Rules = [{rules}]", references={"r": twice})
    found = sorted(tuple(map(str, row)) for row in result.rowLevelOutcomes.select("k", "s").collect())
    assert found == [("1", "None"), ("1", "None"), ("None", "None"), ("None", "a")]
    assert result.good.count() + result.quarantined.count() == 4
    doubled = df.select("s", "k", "k")
    assert quality.evaluate(spark, doubled, 'Rules = [IsComplete "s"]').rowLevelOutcomes.count() == 4


def test_compositions(spark):
    """Glue's own example: each column fails somewhere, each row is right somewhere."""
    df = spark.createDataFrame([(2, 1), (0, 3)], "a int, b int")
    rule = '(ColumnValues "a" > 1) or (ColumnValues "b" > 1)'
    more = '((ColumnValues "a" > 1) and (RowCount = 2)) or (ColumnValues "a" > 1 where "b = 1")'
    nested = '(ColumnValues "a" > 1 where "b = 1") and ((ColumnValues "b" > 0) or (ColumnValues "b" = NULL))'
    share = '(Completeness "a" > 0.5) and (ColumnValues "a" > 1)'
    ruleset = f"Rules = [{rule}, {more}, {nested}, {share}]"
    column = quality.evaluate(spark, df, ruleset)
    row = quality.evaluate(spark, df, ruleset, composite="ROW")
    assert [o.passed for o in column.outcomes] == [False, True, True, False]
    assert [o.passed for o in row.outcomes] == [True, True, True, False]
    assert column.outcomes[0].reason == f"{unmet('0.0')}\n{unmet('1.0')}"
    for result in (column, row):
        marked = {r.a: tuple(r)[2:5] for r in result.rowLevelOutcomes.collect()}
        assert marked == {2: ([rule, nested], [], [more, share]), 0: ([rule], [], [more, nested, share])}
    every = quality.evaluate(
        spark, df, f'Rules = [({rule}) and (IsUnique "a"), {rule.replace("1", "2")}]', composite="ROW"
    )
    assert [o.reason for o in every.outcomes] == [None, "50.00 % of rows passed the threshold"]


def test_parts_that_measure_the_same_keep_both_figures(spark):
    df = spark.createDataFrame([(1,), (5,), (9,)], "a int")
    low, high = 'ColumnValues "a" < 6 where "a < 6"', 'ColumnValues "a" < 10'
    nested = f"({low}) and ((RowCount = 3) or ({high})) and (RowCount = 3)"
    metrics = {
        f"Column.a.Maximum [{low}]": 5,
        f"Column.a.Maximum [{high}]": 9,
        "Column.a.Minimum": 1,
        "Dataset.*.RowCount": 3,
    }
    result = said(spark, df, (nested, None, metrics), (high, None, {"Column.a.Maximum": 9, "Column.a.Minimum": 1}))
    figures = result.verdict().figures
    assert figures == metrics | {"Column.a.Maximum": 9, "rules_evaluated": 2, "rules_failed": 0}


def test_variables_and_comments(spark, people):
    ruleset = """
    named = ["Ada", NULL]
    blank = EMPTY
    Rules = [  # what people are called
        ColumnValues "name" in $named   with   # those
            threshold >= 0.5,
        ColumnValues "name" in ["Bob", $blank] with threshold = 0.5,
        ColumnValues "name" != $blank with threshold = 0.75
    ]  # the end"""
    result = quality.evaluate(spark, people, ruleset)
    assert [(o.rule, o.reason) for o in result.outcomes] == [
        ('ColumnValues "name" in $named with threshold >= 0.5', None),
        ('ColumnValues "name" in ["Bob", $blank] with threshold = 0.5', None),
        ('ColumnValues "name" != $blank with threshold = 0.75', None),
    ]


def test_rules_that_say_nothing_of_rows_are_skipped(spark, people):
    rules = ["RowCount > 0", 'Mean "age" > 90', 'Entropy "age" > 0', "ColumnCount = 7"]
    result = quality.evaluate(spark, people, f"Rules = [{', '.join(rules)}]")
    marked = result.rowLevelOutcomes.collect()
    assert [(r[7], r[8], r[9], r[10]) for r in marked] == [([], [], rules, "Passed")] * 4
    verdict = result.verdict()
    assert (verdict.passed, verdict.quarantined) == (False, None)  # it failed, and no row is to blame
    assert (result.good.count(), result.quarantined.count()) == (4, 0)


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "=", "!=", "between", "not between", "in", "not in"])
def test_a_condition_on_ages_is_one_on_moments(operator):
    """Both are asked of ages around the bounds by plain Python."""
    ways = {
        "<": lambda value, values: value < values[0], "<=": lambda value, values: value <= values[0],
        ">": lambda value, values: value > values[0], ">=": lambda value, values: value >= values[0],
        "=": lambda value, values: value in values, "in": lambda value, values: value in values,
        "!=": lambda value, values: value not in values, "not in": lambda value, values: value not in values,
        "between": lambda value, values: values[0] < value < values[1],
        "not between": lambda value, values: value <= values[0] or value >= values[1],
    }  # fmt: skip
    now, operands = 1_000, (10, 20) if "between" in operator or operator.endswith("in") else (10,)
    moments = columns.since(Condition("duration", operator, operands), now)
    for age in range(-2, 25):
        expected = ways[operator](age, operands)
        assert ways[moments.operator](now - age, moments.operands) == expected, age
