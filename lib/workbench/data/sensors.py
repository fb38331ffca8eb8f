"""Readings of sensors as the walkthrough on distributed maps makes them, by a seed, with the planted truth.

The walkthrough (aws.amazon.com/blogs/compute/orchestrating-big-data-processing-with-aws-step-functions-
distributed-map) plants temperatures of 40 to 50 and −15 to −10, and humidities of 98 to 100 and 2 to 5. Its rule
finds temperatures above 35 or below −10, and humidities above 95 or below 5: −10.00 and 5.00 are planted, and are
no anomalies by the rule. It draws without a seed, and such a bound about once in five hundred; here one in ten of
the cold and dry ones is the bound itself.
"""

from dataclasses import dataclass
from typing import Annotated

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.typing import DataFrame, SparkSession

COLUMNS = ("timestamp", "temperature", "humidity", "batterylevel", "latitude", "longitude", "deviceid")
TRUTH = ("planted_temperature", "planted_humidity")
_DRAWS = 1_000_003  # a prime: what a draw is a share of


@dataclass(frozen=True)
class Sensors:
    """Readings and the truth about them, both of the same rows.

    Attributes:
        frame: columns of COLUMNS, one row a device and hour. Lazy.
        truth: deviceid, timestamp, planted_temperature (hot, cold or null), planted_humidity (wet, dry or null),
            and at_bound, whether one of them is exactly −10.00 or 5.00. Lazy.
        rows: how many.
    """

    frame: DataFrame
    truth: DataFrame
    rows: int


@checked
def made(
    spark: SparkSession,
    *,
    devices: Annotated[int, Ge(1), Le(999)] = 5,
    hours: Annotated[int, Ge(1), Le(100_000)] = 24,
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = 1,
) -> Sensors:
    """Make the readings of some devices, one an hour from 2026-01-01 on: functions of their number and the seed.

    Args:
        spark: session.
        devices: sensor-001, sensor-002 and so on.
        hours: readings of each.
        seed: of what is drawn.

    Returns:
        Sensors. One in 20 temperatures and one in 33 humidities are planted.
    """
    rows = devices * hours
    numbered = spark.range(0, rows, 1, max(1, min(devices, 8))).selectExpr(
        f"id DIV {hours} AS device", f"id % {hours} AS hour", *_draws(seed, hours)
    )
    planted = numbered.selectExpr(
        "*",
        "CASE WHEN odd_warm < 0.025 THEN 'hot' WHEN odd_warm < 0.05 THEN 'cold' END AS planted_temperature",
        "CASE WHEN odd_wet < 0.015 THEN 'wet' WHEN odd_wet < 0.03 THEN 'dry' END AS planted_humidity",
        "how_warm > 0.9 AS bound_warm", "how_wet > 0.9 AS bound_wet",
    )  # fmt: skip
    full = planted.selectExpr(
        "concat(date_format(date_add(DATE'2026-01-01', CAST(hour DIV 24 AS INT)), 'yyyy-MM-dd'), "
        "'T', lpad(CAST(hour % 24 AS STRING), 2, '0'), ':00:00Z') AS timestamp",
        "CASE planted_temperature WHEN 'hot' THEN round(40 + 10 * how_warm, 2) WHEN 'cold' "
        "THEN if(bound_warm, -10D, round(-15 + 4.9 * how_warm, 2)) "
        "ELSE round(20 + 10 * own_warm - 2 + 4 * how_warm, 2) END AS temperature",
        "CASE planted_humidity WHEN 'wet' THEN round(98 + 2 * how_wet, 2) WHEN 'dry' "
        "THEN if(bound_wet, 5D, round(2 + 2.9 * how_wet, 2)) "
        "ELSE round(40 + 30 * own_wet - 5 + 10 * how_wet, 2) END AS humidity",
        "round(60 + 40 * own_battery - 1.5 * (hour % 24), 2) AS batterylevel",
        "37.7749D - 0.05 + 0.1 * how_north AS latitude", "-122.4194D - 0.05 + 0.1 * how_east AS longitude",
        "concat('sensor-', lpad(CAST(device + 1 AS STRING), 3, '0')) AS deviceid", *TRUTH,
        "(planted_temperature <=> 'cold' AND bound_warm) OR (planted_humidity <=> 'dry' AND bound_wet) "
        "AS at_bound",
    )  # fmt: skip
    return Sensors(full.select(*COLUMNS), full.select("deviceid", "timestamp", *TRUTH, "at_bound"), rows)


def _draws(seed: int, hours: int) -> list[str]:
    """Return columns with shares from 0 to below 1, drawn by the row or the device."""
    names = ("odd_warm", "odd_wet", "how_warm", "how_wet", "how_north", "how_east")
    own = ("own_warm", "own_wet", "own_battery")

    def share(number: str, salt: int) -> str:
        return f"pmod(xxhash64({number}, {salt}, {seed}L), {_DRAWS}) / {_DRAWS}D"

    by_row = [f"{share('id', salt)} AS {name}" for salt, name in enumerate(names)]
    return by_row + [f"{share(f'id DIV {hours}', salt)} AS {name}" for salt, name in enumerate(own, len(names))]
