"""Trips of taxis as New York's commission publishes them: 19 columns, with what is planted in them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

MONTH, DAYS = datetime(2024, 1, 1, tzinfo=UTC), 31
VENDORS = (1, 2)
BACKWARDS_EVERY = 2048  # a trip that ends before it begins, by up to ten minutes


@dataclass(frozen=True)
class Planted:
    """What is true of generated trips.

    Attributes:
        rows: how many there are.
        seconds: the sum of their durations; of those that go backwards it is below zero.
        backwards: how many end before they begin.
        cents: the sum of their total amounts.
    """

    rows: int
    seconds: int
    backwards: int
    cents: int


def trips(rows: int, *, seed: int) -> tuple[Any, Planted]:
    """Generate trips over the days of January 2024 and both vendors.

    Args:
        rows: how many.
        seed: of the random numbers; the same seed gives the same rows on every machine.

    Returns:
        pyarrow.Table of the 19 columns, in no order, and what is planted.
    """
    import numpy as np
    import pyarrow as pa

    drawn = np.random.Generator(np.random.PCG64(seed))
    pickup = int(MONTH.timestamp()) + drawn.integers(0, DAYS * 86_400, rows)
    seconds = drawn.integers(60, 3_600, rows)
    backwards = np.arange(rows) % BACKWARDS_EVERY == BACKWARDS_EVERY - 1
    seconds[backwards] = -drawn.integers(1, 600, int(backwards.sum()))
    distance = drawn.integers(30, 2_500, rows)  # hundredths of a mile
    fare = 300 + distance * 2 + np.maximum(seconds, 0) // 6
    tip = drawn.integers(0, 1_200, rows)
    tolls = np.where(drawn.integers(0, 20, rows) == 0, 694, 0)
    fixed = {
        "extra": 100,
        "mta_tax": 50,
        "improvement_surcharge": 100,
        "congestion_surcharge": 250,
        "airport_fee": 0,
    }
    total = fare + tip + tolls + sum(fixed.values())
    columns = {
        "vendorid": drawn.choice(VENDORS, rows),
        "tpep_pickup_datetime": pa.array(pickup * 1_000_000, pa.timestamp("us")),
        "tpep_dropoff_datetime": pa.array((pickup + seconds) * 1_000_000, pa.timestamp("us")),
        "passenger_count": drawn.integers(1, 7, rows),
        "trip_distance": distance / 100,
        "ratecodeid": drawn.integers(1, 7, rows),
        "store_and_fwd_flag": pa.array(np.where(drawn.integers(0, 50, rows) == 0, "Y", "N")),
        "pulocationid": drawn.integers(1, 266, rows),
        "dolocationid": drawn.integers(1, 266, rows),
        "payment_type": drawn.integers(1, 5, rows),
        "fare_amount": fare / 100,
        "extra": np.full(rows, fixed["extra"] / 100),
        "mta_tax": np.full(rows, fixed["mta_tax"] / 100),
        "tip_amount": tip / 100,
        "tolls_amount": tolls / 100,
        "improvement_surcharge": np.full(rows, fixed["improvement_surcharge"] / 100),
        "total_amount": total / 100,
        "congestion_surcharge": np.full(rows, fixed["congestion_surcharge"] / 100),
        "airport_fee": np.full(rows, fixed["airport_fee"] / 100),
    }
    planted = Planted(rows, int(seconds.sum()), int(backwards.sum()), int(total.sum()))
    return pa.table(columns), planted
