"""Streams whose work comes faster than it is done, that hang in a batch, or that are well, busy or at rest."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench._base.errors import ProcessError
from workbench._base.typing import DataFrame, SparkSession

_PATIENCE_SECONDS = 180.0
_GROWING = 4  # batches of a stream that lags
STUCK_SECONDS = 75.0  # a fourth longer than the silence that a stream may keep


def until(ready: Callable[[], bool], seconds: float = _PATIENCE_SECONDS) -> None:
    """Wait until something is so.

    Raises:
        ChildProcessError: it was not in time.
    """
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise ProcessError(f"a stream was not ready within {seconds:,.0f} s")
        time.sleep(0.1)


def _busy(query: Any) -> list[Any]:
    return [progress for progress in query.recentProgress if progress["numInputRows"]]


def _rate(spark: SparkSession, rows: int) -> DataFrame:
    """Return a stream of rows a second, in one part."""
    stream = spark.readStream.format("rate").option("rowsPerSecond", rows).option("numPartitions", 1).load()
    return stream.selectExpr("value AS id", "CAST(timestamp AS STRING) AS at")


def lag(spark: SparkSession, seed: int) -> None:
    """Take longer over the rows of a second than a second, so that each batch has more of them.

    Args:
        spark: session.
        seed: of the rows a second, and of the seconds that a second of them takes: 1.4 to 1.8.
    """
    from pyspark.sql import functions as F

    chance = random.Random(f"lag {seed}")
    rows, seconds = chance.randrange(80, 200), chance.uniform(1.4, 1.8)

    def slowly(n: int) -> int:
        time.sleep(seconds / rows)
        return n

    slow = F.udf(slowly, "bigint", useArrow=False)
    spark.range(1).select(slow("id")).collect()  # starts Python, whose time would be the first batch's
    query = _rate(spark, rows).select(slow("id").alias("n")).writeStream.format("noop").start()
    try:
        # the first starts up, for as long as the machine is busy; those that grow come behind it
        until(lambda: len(_busy(query)) >= _GROWING + 1, seconds=2 * _PATIENCE_SECONDS)
    finally:
        query.stop()


def stuck(spark: SparkSession, seed: int) -> None:
    """Hang in the fifth batch, while other jobs of the application go on; the query is ended, or left.

    Args:
        spark: session.
        seed: an even one lets the watch end while the batch hangs, an odd one ends the query first.
    """
    from pyspark.sql import functions as F

    begun = time.monotonic()

    def hanging(n: int) -> int:
        time.sleep(4 * STUCK_SECONDS if n > 200 else 0)
        return n

    hang = F.udf(hanging, "bigint", useArrow=False)
    frame = _rate(spark, 40).select(hang("id").alias("n"))
    query = frame.writeStream.format("noop").trigger(processingTime="1 second").start()
    until(lambda: len(_busy(query)) >= 3)
    until(lambda: time.monotonic() - begun > 6 + STUCK_SECONDS)
    spark.range(100).selectExpr("sum(id)").collect()
    if seed % 2:
        query.stop()


def steady(spark: SparkSession, seed: int) -> None:
    """Have rows at a rate that is kept up with."""
    chance = random.Random(f"steady {seed}")
    trigger = f"{chance.choice((300, 500, 1_000))} milliseconds"
    frame = _rate(spark, chance.randrange(5, 500)).groupBy().count()
    query = frame.writeStream.format("noop").outputMode("complete").trigger(processingTime=trigger).start()
    until(lambda: len(_busy(query)) >= 6)
    query.stop()


def uneven(spark: SparkSession, folder: Path, seed: int) -> None:
    """Read files that come at times of their own, few and many rows by turns."""
    chance = random.Random(f"uneven {seed}")
    source = folder / f"uneven{seed}"
    source.mkdir(parents=True)
    stream = spark.readStream.schema("id BIGINT, v STRING").json(str(source))
    query = stream.writeStream.format("noop").trigger(processingTime="300 milliseconds").start()
    try:
        for number in range(7):
            rows = chance.randrange(1, 20_000)
            hidden = source / f".{number}.json"
            hidden.write_text("".join(f'{{"id": {n}, "v": "{n % 7}"}}\n' for n in range(rows)))
            hidden.rename(source / f"{number}.json")
            until(lambda seen=number: len(_busy(query)) > seen)  # type: ignore[misc]
            time.sleep(chance.uniform(0, 0.5))
    finally:
        query.stop()


def resting(spark: SparkSession, folder: Path, seed: int) -> None:
    """Wait for files that do not come for longer than a stream may be silent; its query goes on.

    Every third has rows each half minute instead, as its trigger is that long.
    """
    source = folder / f"resting{seed}"
    source.mkdir(parents=True)
    stream = spark.readStream.schema("id BIGINT").json(str(source))
    trigger = "30 seconds" if seed % 3 == 2 else "500 milliseconds"
    query = stream.writeStream.format("noop").trigger(processingTime=trigger).start()
    begun = time.monotonic()
    for number in range(3):
        hidden = source / f".{number}.json"
        hidden.write_text('{"id": 1}\n' * 50)
        hidden.rename(source / f"{number}.json")
        if trigger != "30 seconds":
            until(lambda seen=number: len(_busy(query)) > seen)  # type: ignore[misc]
    until(lambda: time.monotonic() - begun > 6 + STUCK_SECONDS)
    spark.range(100).selectExpr("sum(id)").collect()
    if seed % 2:
        query.stop()
