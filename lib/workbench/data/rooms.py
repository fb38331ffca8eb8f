"""Readings of three rooms, with a sensor that overheats: generated, and the wrong readings are known.

The shape is that of the walkthrough on write-audit-publish (aws.amazon.com/blogs/big-data/
build-write-audit-publish-pattern-with-apache-iceberg-branching-and-aws-glue-data-quality): a table that holds half
an hour of readings, and a new file in which the living room reads about 100 °C for seventeen minutes.
"""

from dataclasses import dataclass
from typing import Annotated

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.typing import Column, DataFrame, SparkSession

ROOMS = ("kitchen", "living", "myroom")
SCHEMA = "current_time TIMESTAMP, current_temperature DOUBLE, current_humidity DOUBLE, room_type STRING"
RULE = 'Rules = [ ColumnValues "current_temperature" between -10 and 50 ]'
DAY = "2026-01-31"
MINUTES = (10 * 60 + 5, 10 * 60 + 30, 11 * 60)  # first reading, first new reading, end
OVERHEATED = (10 * 60 + 35, 10 * 60 + 52)  # the living room, from the first minute to the second, both included
PEAK = 105.0


@dataclass(frozen=True)
class Rooms:
    """Readings and the truth about them.

    Attributes:
        base: readings from 10:05 to 10:30, all right; columns as in SCHEMA, temperature in °C, humidity in %.
        new: readings from 10:30 to 11:00, some of them wrong.
        planted: one row a wrong reading of `new`: room_type, current_time, reason.
    """

    base: DataFrame
    new: DataFrame
    planted: DataFrame


@checked
def rooms(
    spark: SparkSession,
    *,
    readings: Annotated[int, Ge(2 * len(ROOMS))] = 10_000,
    seed: Annotated[int, Ge(-(2**63)), Le(2**63 - 1)] = 1,
) -> Rooms:
    """Generate the readings of the rooms, one row a reading, unique by room and time.

    The rooms are read in turn, evenly spread over 55 minutes; a reading is a function of its number and the seed,
    so the same arguments give the same rows on every machine. A room is about 25 °C and 52 % humid. From 10:35 to
    10:52 the living room's sensor overheats and reads 95 °C to 105 °C, 105.0 at least once when it is read at all.

    Args:
        spark: any session; times are written in its time zone.
        readings: base and new together, at least 2 a room.
        seed: any integer of 64 bits.

    Returns:
        Rooms; its frames are lazy and come in no order.

    Raises:
        ValueError: readings is not an integer of at least 6, or seed is not an integer of 64 bits.
    """
    everything = _numbered(spark, readings, seed)
    columns = [part.split()[0] for part in SCHEMA.split(", ")]
    return Rooms(
        base=everything.where(everything.minute < MINUTES[1]).select(*columns),
        new=everything.where(everything.minute >= MINUTES[1]).select(*columns),
        planted=everything.where("wrong").selectExpr("room_type", "current_time", "'overheated' AS reason"),
    )


def _numbered(spark: SparkSession, readings: int, seed: int) -> DataFrame:
    from pyspark.sql import functions as F

    turns = -(-readings // len(ROOMS))  # how often each room is read
    micros = (MINUTES[2] - MINUTES[0]) * 60 * 1_000_000
    turn = F.floor(F.col("id") / len(ROOMS))
    offset = F.floor(turn.cast("decimal(38,0)") * micros / turns).cast("bigint")
    minute = MINUTES[0] + offset / 60_000_000
    start = F.to_timestamp(F.lit(f"{DAY} {MINUTES[0] // 60:02}:{MINUTES[0] % 60:02}:00"))
    room = F.element_at(F.array(*map(F.lit, ROOMS)), (F.col("id") % len(ROOMS) + 1).cast("int"))
    mild = 24 + 0.5 * (F.col("id") % len(ROOMS)) + _noise(seed, "warm")  # a room is like itself, and near 25 °C
    wrong = (room == "living") & F.col("minute").between(*OVERHEATED)
    # the first wrong reading is the peak, so that every seed and size has it
    first = -(-(OVERHEATED[0] - MINUTES[0]) * turns // (MINUTES[2] - MINUTES[0]))
    hot = F.when(turn == first, F.lit(PEAK)).otherwise(95 + 10 * _noise(seed, "heat"))
    return (
        spark.range(readings)
        .withColumn("minute", minute)
        .withColumn("room_type", room)
        .withColumn("wrong", wrong)
        .withColumn("current_time", F.timestamp_micros(F.unix_micros(start) + offset))
        .withColumn("current_temperature", F.round(F.when(F.col("wrong"), hot).otherwise(mild), 1))
        .withColumn("current_humidity", F.round(51 + 2 * _noise(seed, "damp"), 1))
    )


def _noise(seed: int, what: str) -> Column:
    """Return a number from 0 up to 1, a function of the reading's number, the seed and what it is for."""
    from pyspark.sql import functions as F

    return F.pmod(F.xxhash64(F.lit(what), F.lit(seed).cast("bigint"), F.col("id")), F.lit(1_000_003)) / 1_000_003
