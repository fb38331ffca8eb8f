"""Keys of different types, long rulesets, threads and sessions, values that are equal and not the same."""

import threading
from datetime import UTC, datetime

import pytest
from conftest import PROVE

from workbench import quality

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)


def judged(spark, df, rules, **options):
    result = quality.evaluate(spark, df, f"Rules = [ {rules} ]", **options)
    return result, [(one.passed, *one.metrics.values()) for one in result.outcomes]


TYPES = pytest.mark.proof(
    "other pairs of two types, of which one cannot hold the other's values, are compared in this test"
)
# a proof has so many that Spark cannot compile them into one method
VALUES, RULES, PARTS = (1000, 500, 400) if PROVE else (100, 60, 60)


@pytest.mark.parametrize(
    ("own", "theirs", "good", "quarantined"),
    [
        (("decimal(38,0)", "1", "7"), ("decimal(38,2)", "1.4", "1.3", "7.00"), ["7"], ["1"]),
        pytest.param(
            ("bigint", "1", "7"), ("decimal(38,20)", "1.00000000000000000004", "7"), ["7"], ["1"], marks=TYPES
        ),
        pytest.param(
            ("decimal(38,20)", "1.00000000000000000004", "7"),
            ("bigint", "1", "7"),
            ["7." + "0" * 20],
            ["1." + "0" * 19 + "4"],
            marks=TYPES,
        ),
        (("decimal(38,0)", "9" * 38), ("decimal(38,20)", "99999999999999999.5"), [], ["9" * 38]),
        (("tinyint", "1", "44"), ("int", "300", "257", "1"), ["1"], ["44"]),
        pytest.param(("decimal(3,1)", "1.5"), ("decimal(10,4)", "1.5000", "1.50001"), ["1.5"], [], marks=TYPES),
    ],
    ids=lambda value: str(value[:2]),
)
def test_keys_of_different_types_are_compared_exactly(spark, own, theirs, good, quarantined):
    def of(kind, *values):
        return spark.createDataFrame([(value,) for value in values], "a string").selectExpr(f"cast(a as {kind}) a")

    result, found = judged(spark, of(*own), 'ReferentialIntegrity "a" "r.a" = 1', references={"r": of(*theirs)})
    assert found == [(not quarantined, len(good) / (len(good) + len(quarantined)))]
    assert [str(row.a) for row in result.good.collect()] == good
    assert [str(row.a) for row in result.quarantined.collect()] == quarantined


def test_many_values_of_each_kind(spark):
    df = spark.range(VALUES - 2, VALUES + 2).selectExpr("id n", "cast(id as string) s", "cast(id as double) x")
    numbers, texts = (", ".join(form.format(i) for i in range(VALUES)) for form in ("{}", '"{}"'))
    listed = {"n": numbers, "s": texts, "x": numbers}
    rules = [f'ColumnValues "{c}" {word} [{listed[c]}]' for word in ("in", "not in") for c in listed]
    result, _ = judged(spark, df, ", ".join(rules))
    failed = [[rules.index(one) for one in row.DataQualityRulesFail] for row in result.rowLevelOutcomes.collect()]
    assert failed == [[3, 4, 5], [3, 4, 5], [0, 1, 2], [0, 1, 2]]


def test_many_rules(spark):
    rules = ", ".join(f'ColumnValues "id" != {i}' for i in range(RULES))
    result, found = judged(spark, spark.range(RULES - 2, RULES + 2), rules)
    assert [i for i, (passed, *_) in enumerate(found) if not passed] == [RULES - 2, RULES - 1]
    assert [row.id for row in result.quarantined.collect()] == [RULES - 2, RULES - 1]


def test_a_composite_of_many_parts(spark):
    rules = " and ".join(f'(ColumnValues "id" != {i})' for i in range(PARTS))
    result, found = judged(spark, spark.range(PARTS - 2, PARTS + 2), rules)
    assert found[0][0] is False
    assert [row.id for row in result.quarantined.collect()] == [PARTS - 2, PARTS - 1]


def test_statements_of_several_threads_see_their_own_frame(spark):
    found, rounds = [], 8 if PROVE else 3

    def evaluate(rows):
        for _ in range(rounds):
            _, seen = judged(spark, spark.range(rows), 'CustomSql "select count(*) from primary" > 0')
            found.append((rows, *seen))

    threads = [threading.Thread(target=evaluate, args=(rows,)) for rows in (3, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(rows, (True, float(rows))) for rows in (3, 5, 7) for _ in range(rounds)]
    assert not spark.catalog.tableExists("primary")


def test_statements_run_in_the_session_of_the_frame(spark):
    rule = 'CustomSql "select count(*) from primary" = 2'
    other = spark.newSession()
    assert judged(other, spark.range(2), rule)[1] == [(True, 2.0)]
    assert not any(one.catalog.tableExists("primary") for one in (spark, other))
    with pytest.raises(ValueError, match="the reference r is of another session than the frame"):
        judged(spark, spark.range(2), rule, references={"r": other.range(1)})


@pytest.mark.parametrize(
    ("query", "rules", "good", "quarantined"),
    [
        (
            "select double('-0.0') a union all select 0.0D union all select 2.0D",
            """IsUnique "a", ColumnValues "a" > 1 where "string(a) = '-0.0'" """,
            ["2.0"],
            ["-0.0", "0.0"],
        ),
        (
            "select cast(a as string collate utf8_lcase) a from values ('AB'), ('ab'), ('c') t(a)",
            'IsPrimaryKey "a", ColumnValues "a" in ["ab", "c"]',
            ["c"],
            ["AB", "ab"],
        ),
    ],
    ids=["zero", "collation"],
)
def test_a_row_is_good_or_quarantined(spark, query, rules, good, quarantined):
    result, _ = judged(spark, spark.sql(query), rules)
    assert sorted(str(row.a) for row in result.good.collect()) == good
    assert sorted(str(row.a) for row in result.quarantined.collect()) == quarantined


@pytest.mark.parametrize(
    ("column", "condition", "zone", "refused"),
    [
        ("day", 'not between "2024-12-31" and "2024-01-01"', "UTC", True),
        ("at", "between now() and (now() - 3 days)", "UTC", True),
        ("at", 'between now() and "2024-03-10"', "UTC", True),
        ("day", 'between now() and "2024-03-10"', "UTC", False),  # both are that day
        ("at", 'between "2024-03-11" and now()', "UTC", True),
        ("at", 'between "2024-03-11" and now()', "Pacific/Kiritimati", False),  # where it began at 10 o'clock UTC
        ("at", 'between "2024-03-10" and now()', "UTC", False),
    ],
)
def test_dates_in_the_wrong_order(spark, column, condition, zone, refused):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        df = spark.sql("select date'2024-03-01' day, timestamp'2024-03-01 00:00:00' at")
        rule = f'ColumnValues "{column}" {condition}'
        if refused:
            with pytest.raises(ValueError, match=r"ColumnValues .*: (not )?between needs its lower bound first"):
                judged(spark, df, rule, now=NOW)
        else:
            assert judged(spark, df, rule, now=NOW)[1] == [(False,)]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_columns_that_differ_in_case(spark):
    """Where the session tells letters apart; any spelling of true that Spark takes."""
    rules = """IsUnique "a", IsUnique "A", ColumnValues "A" > 1, IsPrimaryKey "A" "a", DistinctValuesCount "a" = 2,
               ReferentialIntegrity "a,A" "r.{A,a}" > 0, CustomSql "select A from primary where A > a",
               Sum "a" = 5, Sum "A" = 6, ColumnValues "a" > 2 where "A > 2", ColumnExists "ID" """
    spark.conf.set("spark.sql.caseSensitive", "TRUE")
    try:
        df = spark.sql("select * from values (1, 1, 1), (1, 2, 2), (3, 3, 3) t(a, A, id)")
        result, found = judged(spark, df, rules, references={"r": spark.sql("select 2 a, 1 A")})
        assert [passed for passed, *_ in found] == [
            False,
            True,
            False,
            True,
            True,
            True,
            False,
            True,
            True,
            True,
            False,
        ]
        failed = [
            [one.split(" ")[0:2] for one in row.DataQualityRulesFail]
            for row in result.quarantined.orderBy("id").collect()
        ]
        doubled, missing, select = ["IsUnique", '"a"'], ["ReferentialIntegrity", '"a,A"'], ["CustomSql", '"select']
        low = ["ColumnValues", '"A"']
        assert failed == [[doubled, low, missing, select], [doubled], [missing, select]]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    with pytest.raises(ValueError, match='there is more than one column "a"; the columns are a, A'):
        judged(spark, spark.range(1).selectExpr("id a", "id + 1 A"), 'IsComplete "a"')


def test_references_that_differ_in_case(spark):
    with pytest.raises(ValueError, match="references differ only in case: Ref, ref"):
        judged(spark, spark.range(1), "RowCount = 1", references={"Ref": spark.range(1), "ref": spark.range(2)})


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ('IsUnique "m"', "Spark cannot group by m: "),
        ('IsPrimaryKey "m"', "Spark cannot group by m: "),
        ('IsUnique "v"', "Spark cannot group by v: "),
        ('ReferentialIntegrity "m" "r.m" = 1', "its keys cannot be compared: "),
        ('ReferentialIntegrity "v" "r.v" = 1', "its keys cannot be compared: "),
    ],
)
def test_keys_that_cannot_be_compared(spark, rule, says):
    df = spark.sql("select map('a', 1) m, parse_json('1') v")
    with pytest.raises(ValueError) as error:
        judged(spark, df, rule, references={"r": df})
    assert str(error.value).startswith(f"1 rule cannot be evaluated:\n  {rule}: {says}")


def test_freshness_where_timestamps_have_no_zone(spark):
    df = spark.createDataFrame([(datetime(2024, 3, 10, 11, 30, tzinfo=UTC),)], "at timestamp")
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    try:
        rules = 'DataFreshness "at" <= 30 minutes, DataFreshness "at" < 30 minutes'
        assert judged(spark, df, rules, now=NOW)[1] == [(True, 1.0), (False, 0.0)]
    finally:
        spark.conf.unset("spark.sql.timestampType")
