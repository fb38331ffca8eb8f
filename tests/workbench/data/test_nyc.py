import pandas as pd
import pytest

from workbench import session
from workbench.data import nyc


@pytest.fixture(scope="module")
def spark():
    return session.start("local")


def test_csv_gives_a_file_and_gives_it_again():
    path = nyc.csv("weather")
    assert path.name == "weather.csv"
    assert len(pd.read_csv(path)) == 26_115
    assert nyc.csv("weather") == path


def test_every_named_table_is_there():
    assert {name: len(pd.read_csv(nyc.csv(name), usecols=[0])) for name in nyc.TABLES} == {
        "flights": 336_776,
        "weather": 26_115,
        "planes": 3_322,
        "airports": 1_458,
        "airlines": 16,
    }


def test_csv_is_unpacked_in_one_step_into_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench._base.files.cache", lambda: tmp_path)
    path = nyc.csv("flights")
    assert [p.relative_to(tmp_path) for p in tmp_path.rglob("*.*") if p.is_file()] == [path.relative_to(tmp_path)]
    head = "year,month,day,dep_time,sched_dep_time,dep_delay"
    with path.open() as file:
        assert file.readline().startswith(head)


def test_an_unknown_table_is_refused_with_those_there_are():
    with pytest.raises(
        ValueError, match="name must be 'flights', 'weather', 'planes', 'airports' or 'airlines', found 'trains'"
    ):
        nyc.csv("trains")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'iceberg-workbench\[data\]'"):
        nyc.csv("flights")


@pytest.mark.parametrize("months", [0, 13, -1])
def test_months_outside_the_year_are_refused(months):
    with pytest.raises(
        ValueError, match=f"months must be an integer of at least 1 and of at most 12, found {months}"
    ):
        nyc.flights(None, months=months)


def test_the_first_flights_are_read_with_their_types(spark):
    wanted = "time_hour, origin, carrier, flight, dest, dep_delay, distance, hour"
    rows = nyc.flights(spark, months=1).selectExpr(*wanted.split(", ")).orderBy(*wanted.split(", ")).take(3)
    utc = pd.Timestamp("2013-01-01 10:00").to_pydatetime()
    assert [tuple(row) for row in rows] == [
        (utc, "EWR", "UA", 1545, "IAH", 2, 1400, 5),
        (utc, "EWR", "UA", 1696, "ORD", -4, 719, 5),
        (utc, "JFK", "AA", 1141, "MIA", 2, 1089, 5),
    ]


def test_flights_agree_with_pandas_for_a_part_of_the_year(spark):
    csv = pd.read_csv(nyc.csv("flights")).query("month <= 2")
    found = nyc.flights(spark, months=2).selectExpr(
        "count(*)", "sum(distance)", "count_if(dep_time IS NULL)", "count_if(tailnum IS NULL)", "sum(dep_delay)"
    )
    assert list(found.first()) == [
        len(csv),
        csv.distance.sum(),
        csv.dep_time.isna().sum(),
        csv.tailnum.isna().sum(),
        csv.dep_delay.sum(),
    ]


@pytest.mark.proof(
    "test_the_first_flights_are_read_with_their_types compares the hours of three flights in both times"
)
def test_the_hour_is_new_york_time_and_time_hour_is_utc(spark):
    local = "hour(from_utc_timestamp(time_hour, 'America/New_York'))"
    assert nyc.flights(spark).where(f"{local} <> hour").count() == 0


def test_weather_agrees_with_pandas_and_holds_the_genuine_fault(spark):
    csv = pd.read_csv(nyc.csv("weather"))
    found = nyc.weather(spark).selectExpr(
        "count(*)", "count(DISTINCT origin, time_hour)", "count_if(wind_speed IS NULL)", "count_if(pressure IS NULL)",
        "round(sum(temp), 2)", "count_if(origin = 'LGA')",
    )  # fmt: skip
    assert list(found.first()) == [
        26_115, 26_115, csv.wind_speed.isna().sum(), csv.pressure.isna().sum(), round(csv.temp.sum(), 2), 8_706,
    ]  # fmt: skip
    fault = nyc.weather(spark, months=2).where("wind_speed > 1000").select("origin", "month", "day", "hour")
    assert [tuple(row) for row in fault.collect()] == [("EWR", 2, 12, 3)]


def test_airports_agree_with_pandas(spark):
    csv = pd.read_csv(nyc.csv("airports"))
    found = nyc.airports(spark).selectExpr(
        "count(*)", "count(DISTINCT faa)", "round(sum(lat), 4)", "sum(alt)", "count_if(tzone IS NULL)"
    )
    assert list(found.first()) == [1_458, 1_458, round(csv.lat.sum(), 4), csv.alt.sum(), csv.tzone.isna().sum()]


WEATHER = pytest.mark.proof("the case of airports of this test sends its rows, by the same function")


@pytest.mark.parametrize("table", [pytest.param(nyc.weather, marks=WEATHER), nyc.airports])
def test_where_executors_are_other_machines_they_read_no_file(spark, monkeypatch, table):
    """The same rows either way; a real cluster is in tests/workbench_standins/cluster."""
    here = table(spark)
    monkeypatch.setattr(nyc, "_one_machine", lambda spark: False)
    sent = table(spark)
    assert [len(one.inputFiles()) for one in (here, sent)] == [1, 0]
    assert sent.schema == here.schema
    assert (sent.exceptAll(here).count(), here.exceptAll(sent).count()) == (0, 0)
