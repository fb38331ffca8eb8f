"""Days and moments that Python does not have, as a clock in the wrong unit gives: diagnosed like any others."""

from datetime import date

import pytest
from doctor_cases import LATER, POLICY, diagnose, the

from workbench.tables import doctor
from workbench.tables.doctor import looking, order, transforms

FEW = doctor.Thresholds(partitions=8, overlap_files=4, skew_members=4)
YEARS = (1, 9999, 10001, 55601, -399)
DAYS = [f"make_date({year}, {month}, {day})" for year in YEARS for month, day in ((1, 1), (1, 2), (12, 31))]
MOMENTS = [f"{day} + INTERVAL '{hour}' HOUR" for day in DAYS for hour in (0, 23)]
KINDS = {"DATE": DAYS, "TIMESTAMP": MOMENTS, "TIMESTAMP_NTZ": MOMENTS}


def made(spark, namespace, kind, transform, values):
    """A table of a row a value, and one of none."""
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, at {kind}) USING iceberg PARTITIONED BY ({transform})")
    rows = ", ".join(f"({n}, CAST({value} AS {kind}))" for n, value in enumerate([*values, "NULL"]))
    spark.sql(f"INSERT INTO {name} VALUES {rows}")
    return name


UNITS = pytest.mark.proof("test_a_unit_is_proposed_alike_for_any_year shows it for days and hours without a table")


@pytest.mark.parametrize(
    ("kind", "transform", "partitions"),
    [
        pytest.param("DATE", "days(at)", 16, marks=UNITS),
        pytest.param("DATE", "at", 16, marks=UNITS),
        pytest.param("DATE", "months(at)", 11, marks=UNITS),
        pytest.param("TIMESTAMP", "hours(at)", 31, marks=UNITS),
        ("TIMESTAMP", "days(at)", 16),
        pytest.param("TIMESTAMP", "at", 31, marks=UNITS),
        pytest.param("TIMESTAMP_NTZ", "at", 31, marks=UNITS),
    ],
)
def test_too_many_partitions_of_any_years(spark, namespace, kind, transform, partitions):
    name = made(spark, namespace, kind, transform, KINDS[kind])
    size = spark.sql(f"SELECT max(file_size_in_bytes) FROM {name}.data_files").first()[0]
    found = diagnose(spark, name, thresholds=FEW, target_file_bytes=size + 1)
    (one,) = [one for one in found.findings if "partition" in one.cause]
    assert one.what.startswith(f"{partitions} partitions hold")
    assert "no unit of it makes so few as" in one.advice  # 56,000 years


def test_a_partition_of_such_a_day_is_named(spark, namespace):
    name = made(spark, namespace, "DATE", "days(at)", DAYS[-9:])
    spark.sql(f"INSERT INTO {name} SELECT xxhash64(id), make_date(55601, 1, 2) FROM range(20000)")
    one = the(diagnose(spark, name, thresholds=FEW), "skewed_partitions")
    assert one.what.startswith("partition at_day=+55601-01-02 holds")
    assert "divide" in one.advice and one.statements


FIELD = {"name": "p", "column": "c", "quoted": "`c`"}


@pytest.mark.parametrize("year", [-4001, -399, 0, 1, 1969, 2001, 9601, 9999, 10001, 55840])
def test_a_unit_is_proposed_alike_for_any_year(year):
    text = f"{'+' if year > 9999 else '-' if year < 0 else ''}{abs(year):04}"
    days = [f"{text}-{month:02}-{day:02}" for month in (1, 2, 3) for day in (1, 15, 28)]
    hours = [24 * transforms._seconds(day, "day") // 86400 for day in days]
    day, moment = FIELD | {"type": "date", "transform": "day"}, FIELD | {"type": "timestamp", "transform": "hour"}
    assert transforms.proposed(day, days, 4) == transforms.proposed(moment, list(map(int, hours)), 4) == "month"
    assert transforms.proposed(day, days, 2) == "year"
    for field, values in ((day, days), (moment, list(map(int, hours)))):
        applied = transforms.applied("month", field, values)
        assert sorted({applied[one] for one in values}) == [(year, 1), (year, 2), (year, 3)]


@pytest.mark.parametrize("text", ["0001-01-01", "1969-12-31", "1970-01-01", "2000-02-29", "9999-12-31"])
def test_seconds_are_those_of_python(text):
    days = (date.fromisoformat(text) - date(1970, 1, 1)).days
    assert transforms._seconds(text, "day") == days * 86400
    assert transforms._seconds(f"{text} 23:59:01.5", "identity") == days * 86400 + 86341.5


def test_seconds_behind_and_before_python():
    assert [transforms._seconds(one, "day") / 86400 for one in ("+10000-01-01", "0000-12-31", "-3418-11-30")] == [
        (date(9999, 12, 31) - date(1970, 1, 1)).days + 1, -719163, -1967593,
    ]  # fmt: skip


@pytest.mark.proof("test_seconds_behind_and_before_python shows how such days and moments are told in seconds")
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_any_years_are_ordered_by_time(spark, namespace, kind):
    """Of 2001 each file has all days, of 55601 and -399 two days of its own."""
    name = f"{namespace}.t"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, u STRING, at {kind}) USING iceberg PARTITIONED BY (years(at)) "
        "TBLPROPERTIES ('write.distribution-mode' = 'none', 'write.spark.fanout.enabled' = 'true')"
    )
    for part in range(6):
        own = f"{2 * part} + CAST(id % 2 AS INT)"
        at = (
            f"CASE id % 3 WHEN 0 THEN date_add(make_date(2001, 1, 1), CAST(id % 28 AS INT)) "
            f"WHEN 1 THEN date_add(make_date(55601, 1, 1), {own}) ELSE date_add(make_date(-399, 1, 1), {own}) END"
        )
        rows = spark.range(0, 4_000, 1, 1).selectExpr("id", "uuid() AS u", f"CAST({at} AS {kind}) AS at")
        rows.writeTo(name).append()
    found = the(diagnose(spark, name, thresholds=FEW, columns=["at"], target_file_bytes=16_384), "unsorted_files")
    assert found.what.startswith("6 data files of 1 partition overlap by every column of the queries (at)")
    look = looking.look(spark, name, policy=POLICY, thresholds=FEW, now=LATER, columns=("at",))
    bounds, unit = order._bounds(look, ["at"]), 1 if kind == "DATE" else 86_400_000_000
    assert set(bounds) == {one.values for one in look.partitions}
    for year, first in ((55601, 19_588_321), (-399, -865_259)):
        spans = sorted(file["at"] for file in bounds[(("at_year", year - 1970),)])
        assert spans == [((first + 2 * n) * unit, (first + 2 * n + 1) * unit) for n in range(6)]
