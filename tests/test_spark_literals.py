"""Values of Python as Spark's, type by type: what Spark holds afterwards, and that our boundaries give the value."""

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from workbench import history
from workbench._base import identifiers
from workbench.history import advance
from workbench.quality import comparisons
from workbench.quality.rules import Condition
from workbench.streams import dead_letters, keys
from workbench.tables.maintenance import metadata

BERLIN, EAST = ZoneInfo("Europe/Berlin"), timezone(timedelta(hours=14))
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
DIGITS = 10**38 - 1
ODD_TEXTS = [
    "", " ", "null", "it's", '"', "`", "\\", "\\'", "\\n", "\\u0041", "a\nb\r\tc", "\0", "a\0b", "${spark.app.name}", "$${x}",
    "%s", "--", "/*", ";", "e\u0301", "\u00e9", "\u200d", "\u2028", "\ufeff", "\uffff", "\ufffd", "\U0001f600", "x" * 70_000,
]  # fmt: skip

# value, type, what Spark shows of it
HELD = [
    (True, "boolean", "true"),
    (0, "int", "0"),
    (2**31 - 1, "int", "2147483647"),
    (-(2**31), "int", "-2147483648"),
    (2**31, "bigint", "2147483648"),
    (2**63 - 1, "bigint", "9223372036854775807"),
    (-(2**63), "bigint", "-9223372036854775808"),
    (0.1, "double", "0.1"),
    (-0.0, "double", "-0.0"),
    (5e-324, "double", "4.9E-324"),  # Java's way to write it
    (math.nextafter(math.inf, 0), "double", "1.7976931348623157E308"),
    (math.nan, "double", "NaN"),
    (-math.inf, "double", "-Infinity"),
    (Decimal("1.50"), "decimal(3,2)", "1.50"),
    (Decimal("1E+3"), "decimal(4,0)", "1000"),
    (Decimal("1E+37"), "decimal(38,0)", "1" + "0" * 37),
    (Decimal("1E-38"), "decimal(38,38)", "0." + "0" * 37 + "1"),
    (Decimal(-DIGITS), "decimal(38,0)", f"-{DIGITS}"),
    (Decimal("-0.0"), "decimal(1,1)", "0.0"),
    (date(1582, 10, 15), "date", "1582-10-15"),
    (date(9999, 12, 31), "date", "9999-12-31"),
    (datetime(1582, 10, 15, tzinfo=UTC), "timestamp", "1582-10-15 00:00:00"),
    (datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), "timestamp", "1969-12-31 23:59:59.999999"),
    (datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN), "timestamp", "2026-10-25 00:30:00"),
    (datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1), "timestamp", "2026-10-25 01:30:00"),
    (
        datetime(2026, 3, 29, 2, 30, tzinfo=BERLIN),
        "timestamp",
        "2026-03-29 01:30:00",
    ),  # not there: by winter's clock
    (LAST, "timestamp", "9999-12-31 23:59:59.999999"),
    (timedelta(microseconds=-1), "interval day to second", "INTERVAL '-0 00:00:00.000001' DAY TO SECOND"),
    (timedelta(days=106_751_991), "interval day to second", "INTERVAL '106751991 00:00:00' DAY TO SECOND"),
    (b"\x00\xff'", "binary", "00FF27"),
    (bytearray(b""), "binary", ""),
    (None, "void", None),
    ([1, None], "array<int>", "[1, null]"),
    ([["a"], []], "array<array<string>>", "[[a], []]"),
    *((text, "string", text) for text in ODD_TEXTS),
]
# what PySpark 4.1 changes without a word: it counts days before 1582-10-15 by another calendar than Spark. Nothing of
# ours gives it such a value; where one of these becomes right, this table says so
CHANGED = [
    (date(1582, 10, 10), "1582-10-20"),
    (datetime(1582, 10, 10, tzinfo=UTC), "1582-09-30 00:00:00"),
    (datetime(999, 1, 1, tzinfo=UTC), "0998-12-27 00:00:00"),
    (FIRST, "0001-01-03 00:00:00"),
]
REFUSED = [2**63, -(2**63) - 1, Decimal(10**38), Decimal("NaN"), Decimal("Infinity"), "\ud800", date(999, 12, 31),
           timedelta(days=106_751_992), (1, 2), {"a": 1}]  # fmt: skip


def one_row(spark):
    """A row whose expressions Spark folds: no job runs."""
    return spark.sql("SELECT 1")


def held(spark, columns):
    """Type and text of each column, in one statement."""
    from pyspark.sql import functions as F

    row = one_row(spark).select(*[one.alias(f"_{n}") for n, one in enumerate(columns)])
    texts = [F.hex(c) if t == "binary" else F.col(c).cast("string") for c, t in row.dtypes]
    shown = row.select(*[text.alias(f"_{n}") for n, text in enumerate(texts)]).first()
    return [(kind, text) for (_, kind), text in zip(row.dtypes, shown, strict=True)]


def test_what_spark_holds_of_a_literal(spark):
    from pyspark.sql import functions as F

    found = held(spark, [F.lit(value) for value, _, _ in HELD])
    assert found == [(kind, text) for _, kind, text in HELD]
    assert [text for _, text in held(spark, [F.lit(value) for value, _ in CHANGED])] == [t for _, t in CHANGED]


@pytest.mark.parametrize("value", REFUSED, ids=repr)
def test_what_is_no_literal_is_an_error(spark, value):
    from pyspark.sql import functions as F

    with pytest.raises(Exception):  # noqa: B017 - py4j's, Java's or Spark's own
        one_row(spark).select(F.lit(value)).collect()


# type of a column, value, what Spark shows of it
CREATED = [
    ("boolean", False, "false"),
    ("byte", -128, "-128"),
    ("int", -(2**31), "-2147483648"),
    ("bigint", -(2**63), "-9223372036854775808"),
    ("double", -0.0, "-0.0"),
    ("double", math.nan, "NaN"),
    ("double", math.inf, "Infinity"),
    ("float", 16777216.0, "1.6777216E7"),
    ("decimal(38,0)", Decimal(DIGITS), f"{DIGITS}"),
    ("decimal(38,38)", Decimal("1E-38"), "0." + "0" * 37 + "1"),
    ("decimal(5,1)", Decimal("1E+3"), "1000.0"),
    ("date", date(1, 1, 1), "0001-01-01"),
    ("date", date(1582, 10, 10), "1582-10-10"),
    ("date", date(9999, 12, 31), "9999-12-31"),
    ("timestamp", FIRST, "0001-01-01 00:00:00"),
    ("timestamp", LAST, "9999-12-31 23:59:59.999999"),
    ("timestamp", datetime(1, 1, 1, tzinfo=timezone(-timedelta(hours=1))), "0001-01-01 01:00:00"),
    ("timestamp", datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1), "2026-10-25 01:30:00"),
    ("timestamp_ntz", datetime(1, 1, 1), "0001-01-01 00:00:00"),
    ("timestamp_ntz", datetime(2026, 3, 29, 2, 30), "2026-03-29 02:30:00"),
    ("interval day to second", timedelta(microseconds=-1), "INTERVAL '-0 00:00:00.000001' DAY TO SECOND"),
    ("binary", b"\x00\xff", "00FF"),
    ("string", None, None),
    ("map<string,double>", {"a": math.nan}, "{a -> NaN}"),
    ("map<string,double>", {"": None}, "{ -> null}"),
    ("array<struct<a:int,b:string>>", [(1, None), None], "[{1, null}, null]"),
    *(("string", text, text) for text in ODD_TEXTS),
]


@pytest.mark.proof("literals of the same types are compared by test_what_spark_holds_of_a_literal")
def test_what_a_frame_of_values_holds(spark):
    from pyspark.sql import functions as F

    schema = ", ".join(f"_{n} {kind}" for n, (kind, _, _) in enumerate(CREATED))
    frame = spark.createDataFrame([tuple(value for _, value, _ in CREATED)], schema)
    texts = [F.hex(c) if t == "binary" else F.col(c).cast("string").alias(c) for c, t in frame.dtypes]
    assert list(frame.select(*texts).first()) == [text for _, _, text in CREATED]


def test_texts_in_statements_and_frames_by_arrow(spark):
    columns = ", ".join(f"{identifiers.literal(text)} AS _{n}" for n, text in enumerate(ODD_TEXTS))
    assert list(spark.sql(f"SELECT {columns}").first()) == ODD_TEXTS
    assert [row.at for row in metadata.texts(spark, ODD_TEXTS).collect()] == ODD_TEXTS


MOMENTS = [  # of as_of, naive is UTC; microseconds since 1970
    (FIRST, -62_135_596_800_000_000),
    (datetime(1, 1, 1), -62_135_596_800_000_000),
    (datetime(1, 1, 1, tzinfo=EAST), -62_135_596_800_000_000 - 14 * 3_600_000_000),
    (datetime(1582, 10, 10), -12_219_724_800_000_000),
    (datetime(1969, 12, 31, 23, 59, 59, 999999), -1),
    (datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN), 1_792_888_200_000_000),
    (datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1), 1_792_891_800_000_000),
    (datetime(2255, 6, 5, 23, 47, 34, 740993), 9_007_199_254_740_993),  # no double is that number
    (LAST, 253_402_300_799_999_999),
]


def test_the_moment_of_a_history_is_the_datetime(spark):
    from pyspark.sql import functions as F

    columns = [F.unix_micros(history._literal(moment)).alias(f"_{n}") for n, (moment, _) in enumerate(MOMENTS)]
    assert list(one_row(spark).select(*columns).first()) == [micros for _, micros in MOMENTS]


# SQL literals of the types by which a history prunes, and of keys.since: first and last of each
PRUNED = [
    "-128Y", "127Y", "-32768S", "-2147483648", "2147483647", "-9223372036854775808L", "9223372036854775807L",
    f"-{DIGITS}BD", f"0.{'0' * 37}1BD", "1.50BD", "CAST(1000 AS DECIMAL(38,10))", "''", "'a\\'\\\\\\0'", "'\U0001f600'",
    "DATE'-0001-01-01'", "DATE'0001-01-01'", "DATE'0999-12-31'", "DATE'1582-10-10'", "DATE'9999-12-31'", "DATE'+10000-01-01'",
    "TIMESTAMP'0001-01-01 00:00:00'", "TIMESTAMP'1582-10-10 00:00:00'", "TIMESTAMP'1969-12-31 23:59:59.999999'",
    "TIMESTAMP'9999-12-31 23:59:59.999999'", "TIMESTAMP'+10000-01-01 00:00:00'",
]  # fmt: skip


def test_what_a_history_prunes_by_is_the_value_itself(spark):
    from pyspark.sql import functions as F

    frame = spark.sql("SELECT " + ", ".join(f"{value} AS _{n}" for n, value in enumerate(PRUNED)))
    kinds = [field.dataType.typeName() for field in frame.schema]
    asked = [
        advance._collected(kind, F.col(name)).alias(name) for kind, name in zip(kinds, frame.columns, strict=True)
    ]
    values = frame.select(*asked).first()
    same = [
        F.col(f"_{n}") == advance._literal(kind, value)
        for n, (kind, value) in enumerate(zip(kinds, values, strict=True))
    ]
    assert [sql for sql, right in zip(PRUNED, frame.select(*same).first(), strict=True) if not right] == []


@pytest.mark.parametrize("value", [
    "DATE'-0001-01-01'", "DATE'0001-01-01'", "DATE'9999-12-31'", "TIMESTAMP'0001-01-01 00:00:00'",
    "TIMESTAMP'9999-12-31 23:59:59.999999'", "TIMESTAMP_NTZ'0001-01-01 00:00:00.000001'",
    "TIMESTAMP_NTZ'2026-03-29 02:30:00'", "TIMESTAMP_NTZ'+10000-01-01 00:00:00'",
])  # fmt: skip
def test_from_when_a_table_is_looked_through(spark, value):
    rows = spark.sql(f"SELECT {value} AS at")
    since = keys.since(rows, keys.RecordKey(("at",), time="at", hours=0.0))
    assert rows.select((since == rows.at) & (since <= rows.at)).first()[0] is True


def test_when_a_stream_was_made(spark):
    from pyspark.sql import functions as F

    millis = [0, 1, 1_700_000_000_001, 2_160_000_000_123, 2**41 + 1, 253_402_300_799_999]
    columns = [
        F.unix_millis(dead_letters.origin(SimpleNamespace(arn="a", created=one), "r", "1")["stream_created"]).alias(f"_{one}")
        for one in millis
    ]  # fmt: skip
    assert list(one_row(spark).select(*columns).first()) == millis


# type, SQL literal, the operand of a DQDL condition that it equals, and one that it does not
CONDITIONS = [
    ("tinyint", "-128Y", Fraction(-128), Fraction(-129)),
    ("bigint", "9223372036854775807L", Fraction(2**63 - 1), Fraction(2**63)),
    ("bigint", "-9223372036854775808L", Fraction(-(2**63)), Fraction(-(2**63) - 1)),
    ("bigint", "9007199254740993L", Fraction(2**53 + 1), Fraction(2**53)),
    ("decimal(38,0)", f"-{DIGITS}BD", Fraction(-DIGITS), Fraction(-DIGITS - 1)),
    ("decimal(38,38)", f"0.{'0' * 37}1BD", Fraction(1, 10**38), Fraction(1, 10**39)),
    ("double", "5e-324D", Fraction(5e-324), Fraction(0)),
    ("double", "-0.0D", Fraction(0), Fraction(5e-324)),
    ("double", "1.7976931348623157E308D", Fraction(math.nextafter(math.inf, 0)), Fraction(10**309)),
    ("float", "float('0.1')", Fraction("0.1"), Fraction("0.10000001")),
    ("date", "DATE'0001-01-01'", "0001-01-01", "0001-01-03"),
    ("date", "DATE'1582-10-10'", "1582-10-10", "1582-10-20"),
    ("timestamp", "TIMESTAMP'9999-12-31 00:00:00'", "9999-12-31", "9999-12-30"),
    ("timestamp_ntz", "TIMESTAMP_NTZ'0001-01-01 00:00:00'", "0001-01-01", "0001-01-03"),
    *(("string", identifiers.literal(text), text, text + " ") for text in ODD_TEXTS),
]


def test_the_operands_of_conditions(spark):
    from pyspark.sql import functions as F

    frame = spark.sql("SELECT " + ", ".join(f"CAST({c[1]} AS {c[0]}) AS _{n}" for n, c in enumerate(CONDITIONS)))
    asked = []
    for name, (_, _, same, other) in zip(frame.columns, CONDITIONS, strict=True):
        dtype = frame.schema[name].dataType
        kind = "number" if isinstance(same, Fraction) else "string" if dtype.typeName() == "string" else "date"
        each = [("=", (same,)), ("in", (same, other)), ("=", (other,)), ("in", (other, other))]
        asked += [
            comparisons.holds(Condition(kind, operator, given), F.col(name), dtype) for operator, given in each
        ]
    row = frame.select(*[one.alias(f"c{n}") for n, one in enumerate(asked)]).first()
    answers = [tuple(row[4 * n : 4 * n + 4]) for n in range(len(CONDITIONS))]
    right = (True, True, False, False)
    assert [(c[:2], found) for c, found in zip(CONDITIONS, answers, strict=True) if found != right] == []


def test_a_time_of_day_is_one_where_spark_has_them(spark):
    from pyspark.sql import functions as F

    if not hasattr(F, "make_time"):
        pytest.skip("Spark has times since 4.1")
    assert held(spark, [F.lit(time(23, 59, 59, 999999))]) == [("time(6)", "23:59:59.999999")]
