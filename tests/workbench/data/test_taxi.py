"""Trips of taxis: the same on every machine, with their planted truth."""

from collections import Counter
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from workbench.data import taxi


def test_trips_have_what_is_planted():
    trips, planted = taxi.trips(5000, seed=7)
    took = pc.subtract(trips["tpep_dropoff_datetime"], trips["tpep_pickup_datetime"]).cast(pa.int64())
    seconds = [value // 1_000_000 for value in took.to_pylist()]
    assert planted == taxi.Planted(5000, sum(seconds), sum(value < 0 for value in seconds), planted.cents)
    assert planted.backwards == 2
    assert planted.cents == sum(round(amount * 100) for amount in trips["total_amount"].to_pylist())
    days = Counter(moment.date() for moment in trips["tpep_pickup_datetime"].to_pylist())
    assert (len(days), min(days), max(days)) == (31, datetime(2024, 1, 1).date(), datetime(2024, 1, 31).date())
    assert set(trips["vendorid"].to_pylist()) == {1, 2} and trips.num_columns == 19


def test_a_seed_is_a_table():
    assert taxi.trips(100, seed=1)[0] == taxi.trips(100, seed=1)[0] != taxi.trips(100, seed=2)[0]
    first = taxi.trips(2, seed=1)[0].select(["vendorid", "pulocationid", "total_amount"]).to_pylist()
    assert first == [
        {"vendorid": 2, "pulocationid": 23, "total_amount": 24.74},
        {"vendorid": 1, "pulocationid": 8, "total_amount": 32.8},
    ]
