"""Texts of an answer become the same numbers by Arrow and by Spark, or are refused by both."""

import contextlib
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from conftest import PROVE
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import pulls
from workbench.pulls import answers, comparing, pulling
from workbench.tables import commits

TYPES = {"tiny": "TINYINT", "whole": "INT", "long": "BIGINT", "money": "DECIMAL(18,2)", "share": "DECIMAL(9,9)",
         "wide": "DECIMAL(38,2)", "widest": "DECIMAL(38,0)", "deep": "DECIMAL(38,10)"}  # fmt: skip
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
            return [tuple(row) for row in answers.frame(open_frames, spark, table, answers.of(rows)).collect()]
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


D = Decimal
CASES = [
    # the type that two decimals have in common loses digits of either, and both were rounded alike
    ("wide", "1.505", None), ("wide", "1.50", D("1.50")), ("wide", D("1.505"), None), ("wide", 1.505, None),
    ("wide", 1.5, D("1.50")), ("widest", "1.5", None), ("widest", D("1.5"), None), ("widest", 2, D(2)),
    ("widest", "123e2", D(12300)), ("deep", "1.12345678905", None), ("deep", D("1.1234567890"), D("1.1234567890")),
    ("money", "1.5000000000000000000000001", None), ("money", "1e-30", None), ("money", 1e-19, None),
    ("money", "15e-1", D("1.50")), ("money", "1.500e0", D("1.50")), ("money", "١.٥", None), ("money", "NaN", None),
    ("whole", 5.0, 5), ("whole", 1.5, None), ("whole", float("nan"), None), ("long", 9.3e18, None),
    ("x", 2**53 + 1, None), ("x", 2**53, 2.0**53), ("x", str(2**53 + 1), None), ("x", "0.1", 0.1), ("x", "1e400", None),
    ("x", "1e-400", None), ("x", "12D", None), ("x", "7f", None), ("x", "0x1p3", None), ("x", "Infinity", float("inf")),
    ("x", "0e5", 0.0),
    # Spark takes an hour for today's, a year for its first day, and drops what follows a day
    ("day", "2026-01-31", date(2026, 1, 31)), ("day", "2026-01-31Tgarbage", None), ("day", "2026-01-31 23:00:00", None),
    ("day", "2026", None), ("day", "202601", None), ("day", "2026-1-5", None), ("day", "2026-02-30", None),
    ("at", "12:30", None), ("at", "T12:30", None), ("at", "2026", None), ("at", "2026-01-01 00:00:00.1234567", None),
    ("bare", "2026-01-01T00:00:00+05:00", None), ("bare", "2026-01-01T00:00:00.123456", datetime(2026, 1, 1, 0, 0, 0, 123456)),
]  # fmt: skip


@pytest.fixture(scope="module")
def others(spark, table):
    kinds = TYPES | {"x": "DOUBLE", "day": "DATE", "at": "TIMESTAMP", "bare": "TIMESTAMP_NTZ"}
    for name, kind in kinds.items():
        spark.sql(f"CREATE OR REPLACE TABLE pull_answers.of_{name} (v {kind}) USING iceberg")
    yield
    for name in kinds:
        spark.sql(f"DROP TABLE pull_answers.of_{name}")


@pytest.mark.parametrize(("name", "value", "expected"), CASES)
def test_a_value_is_held_as_it_was_or_refused(spark, others, name, value, expected):
    assert rows_of(spark, f"pull_answers.of_{name}", [{"v": value}]) == (
        None if expected is None else [(expected,)]
    )


NAIVE, AWARE = datetime(2026, 1, 2, 23, 30), datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([date(2026, 1, 2), NAIVE], "dates and times without a zone in the column v"),
        ([AWARE, NAIVE], "times with a zone and times without a zone in the column v"),
        (["a", b"b"], "bytes and texts in the column v"),
        ([1, "x"], "the column v has values of int, str"),
        ([2**63, 2**70], "the column v has values of int"),
    ],
)
def test_values_that_arrow_would_turn_into_one_another_are_refused(spark, table, values, words):
    with contextlib.ExitStack() as open_frames, pytest.raises(pulls.AnswerRefused, match=words):
        answers.frame(open_frames, spark, table, pulls.Answer([{"v": value} for value in values]))


def test_two_times_within_a_millisecond_have_two_digests(spark):
    for kind in ("struct(t)", "array(t)", "map(1, t)"):
        moments = [
            f"SELECT {kind} AS v FROM (SELECT TIMESTAMP'2026-01-01 10:00:00.{us:06}' AS t)" for us in (1, 999)
        ]
        first, second = (comparing.sums(spark.sql(moment), None) for moment in moments)
        assert first != second, kind


def test_days_between_an_earlier_first_day_and_those_of_before_are_asked_for():
    """A backfill that stops before it has joined them: its own day, or an answer that ends early."""
    day = [date(2026, 1, 1) + timedelta(n) for n in range(40)]

    def after(before):
        return pulling._Target(None, "t", "day", (), before, {}, None, 0, day[39], "s")

    before = pulling._next(after(None), day[10], day[20], 3, {}, day[10:21])
    assert before.settled == day[17].isoformat()
    begun = pulling._next(after(before), day[1], day[3], 3, {}, day[1:4])
    assert pulling._asked(after(begun), day[1], day[21], 3)[0] <= day[4]
    joined = pulling._next(after(before), day[1], day[9], 3, {}, day[1:10])
    assert pulling._asked(after(joined), day[1], day[21], 3)[0] == day[18]


@pytest.fixture
def times(spark):
    """A table of a moment and of a time without a zone, and the session's zone put back at the end."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS pull_answers")
    zone = spark.conf.get("spark.sql.session.timeZone")
    for name, kind in (("moment", "TIMESTAMP"), ("local", "TIMESTAMP_NTZ")):
        spark.sql(f"CREATE OR REPLACE TABLE pull_answers.{name} (v {kind}) USING iceberg")
    yield
    spark.conf.set("spark.sql.session.timeZone", zone)
    for name in ("moment", "local"):
        spark.sql(f"DROP TABLE pull_answers.{name}")


def micros(spark, kind, answer):
    """Return what a value becomes in a column of a kind, in microseconds since 1970; None where it is refused."""
    with contextlib.ExitStack() as open_frames:
        try:
            frame = answers.frame(open_frames, spark, f"pull_answers.{kind}", answer)
        except pulls.AnswerRefused:
            return None
        as_utc = "CAST(concat(CAST(v AS STRING), 'Z') AS TIMESTAMP)" if kind == "local" else "v"
        return frame.selectExpr(f"unix_micros({as_utc}) AS n").collect()[0].n


BERLIN, UTC_ZONE = "Europe/Berlin", "UTC"


@pytest.mark.parametrize(
    ("zone", "text", "utc"),
    [
        (UTC_ZONE, "2026-03-29 02:30:00", "2026-03-29 02:30:00"),
        (BERLIN, "2026-03-29 02:30:00", None),  # is not there
        (BERLIN, "2026-10-25 02:30:00", None),  # is there twice
        (BERLIN, "2026-10-25 02:30:00+01:00", "2026-10-25 01:30:00"),
        (BERLIN, "2026-10-25T01:30:00Z", "2026-10-25 01:30:00"),
        (BERLIN, "2026-10-25 01:59:59", "2026-10-24 23:59:59"),
        (BERLIN, "2026-10-25 03:00:00", "2026-10-25 02:00:00"),
        (BERLIN, "2026-03-29 03:00:00", "2026-03-29 01:00:00"),
        (BERLIN, "2026-07-01 12:00:00", "2026-07-01 10:00:00"),
        ("+05:30", "2026-03-29 02:30:00", "2026-03-28 21:00:00"),
        ("Australia/Lord_Howe", "2026-04-05 01:45:00", None),  # half an hour twice
    ],
)
def test_a_local_time_is_one_moment_or_refused(spark, times, zone, text, utc):
    """A text, and where it has no zone a datetime too; in a column without a zone it is what it says."""
    spark.conf.set("spark.sql.session.timeZone", zone)
    expected = utc and int(datetime.fromisoformat(utc + "+00:00").timestamp()) * 10**6
    assert micros(spark, "moment", pulls.Answer([{"v": text}])) == expected
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        assert micros(spark, "moment", pulls.Answer([{"v": value}])) == expected
        said = int(value.replace(tzinfo=UTC).timestamp()) * 10**6
        assert micros(spark, "local", pulls.Answer([{"v": value}])) == said
        assert micros(spark, "local", pulls.Answer([{"v": text}])) == said


def test_times_of_a_sheet_are_those_of_its_zone(spark, times):
    noon = [{"v": datetime(2026, 7, 1, 12)}]
    assert micros(spark, "moment", pulls.Answer(noon, local_zone=BERLIN)) is None
    assert micros(spark, "moment", pulls.Answer(noon, local_zone="GMT")) == 1782907200 * 10**6
    assert micros(spark, "local", pulls.Answer(noon, local_zone=BERLIN)) == 1782907200 * 10**6
    spark.conf.set("spark.sql.session.timeZone", BERLIN)
    assert micros(spark, "moment", pulls.Answer(noon, local_zone=BERLIN)) == 1782900000 * 10**6


def test_nanoseconds_and_types_that_spark_has_not(spark, times):
    for kind in (pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
        exact, odd = pa.array([1782907200123456000], kind), pa.array([1782907200123456789], kind)
        assert micros(spark, "moment", pulls.Answer(pa.table({"v": exact}))) == 1782907200123456
        assert micros(spark, "moment", pulls.Answer(pa.table({"v": odd}))) is None
    for kind in (pa.uint64(), pa.date64(), pa.time64("us"), pa.duration("s")):
        assert micros(spark, "moment", pulls.Answer(pa.table({"v": pa.array([1], kind)}))) is None


def test_a_missing_value_of_a_column_that_must_have_one(spark, namespace):
    table = f"{namespace}.needed"
    spark.sql(f"CREATE TABLE {table} (k STRING NOT NULL, v INT NOT NULL) USING iceberg")
    with pytest.raises(
        pulls.AnswerRefused, match="1 values of v .* cannot be int of .* unchanged, for example None"
    ):
        pulls.whole(spark, table, source="s", ask=lambda: [{"k": "a", "v": 1}, {"k": "b", "v": None}], key=["k"])


def pulled_twice(spark, table, rows, key):
    """Return the ids of the commits of two pulls of the same rows; the second one has nothing to commit."""
    days = {"first": date(2026, 3, 1), "until": date(2026, 3, 1), "settled_days": 3}
    given = {"source": "s", "ask": lambda since, until: rows(), "day": "day", "key": key}
    return [pulls.run(spark, table, **given, **days).snapshot_id for _ in range(2)]


def test_maps_whose_keys_are_bytes_or_structs_are_told_apart(spark, namespace):
    """Their JSON would have where a key lies in memory, another place each time."""
    table = f"{namespace}.t"
    spark.sql(
        f"CREATE TABLE {table} (day DATE, name STRING, plain MAP<BINARY, STRING>, nested STRUCT<a: ARRAY<MAP<STRUCT<"
        "b: BINARY>, MAP<BINARY, INT>>>>) USING iceberg PARTITIONED BY (day)"
    )
    for number in (1, 2):
        text = (
            "SELECT DATE'2026-03-01' AS day, 'x' AS name, map(X'01', 'v', X'02', 'w') AS plain, named_struct('a', "
            f"array(map(named_struct('b', X'03'), map(X'04', {number})))) AS nested "
            "UNION ALL SELECT DATE'2026-03-01', 'y', NULL, NULL"
        )
        first, second = pulled_twice(spark, table, lambda text=text: spark.sql(text), ["name"])
        assert first is not None and second is None
        held = spark.sql(f"SELECT plain[X'02'], nested.a[0][named_struct('b', X'03')][X'04'] FROM {table}")
        assert sorted(map(tuple, held.collect()), key=str) == [("w", number), (None, None)]


def test_uuids_are_held_in_whatever_case_they_come(spark, namespace):
    table, text = f"{namespace}.t", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"
    spark.sql(f"CREATE TABLE {table} (day DATE) USING iceberg PARTITIONED BY (day)")
    loaded = commits.load(spark, table)
    loaded.updateSchema().addColumn("id", spark._jvm.org.apache.iceberg.types.Types.UUIDType.get()).commit()
    commits.forget(spark, table)

    def rows(value):
        return lambda: [{"day": date(2026, 3, 1), "id": value}]

    first, second = pulled_twice(spark, table, rows(text), ["id"])
    assert first is not None and second is None
    assert pulled_twice(spark, table, rows(text.lower()), ["id"]) == [None, None]
    assert spark.table(table).first().id == text.lower()
    with pytest.raises(pulls.AnswerRefused, match="1 values of id .string. cannot be uuid of .*'1-1-1-1-1'"):
        pulled_twice(spark, table, rows("1-1-1-1-1"), ["id"])
