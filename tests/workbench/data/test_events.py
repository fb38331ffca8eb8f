import json
from collections import Counter

import pytest

from workbench.data import events


def test_the_planted_truth_is_in_the_records():
    made = events.flights(records=2_000, seed=7, bad_share=0.012, duplicate_share=0.02, late_share=0.01)
    bad = Counter(data for _, data in made.bad)
    good = [json.loads(data) for _, data in made.records if not bad[data]]
    times = Counter(one["flight_id"] for one in good)
    assert sorted(times) == made.unique == list(range(2_000))
    assert Counter(times.values()) == {1: 1_960, 2: 40} and made.duplicates == 40
    assert len(made.records) == 2_000 + 40 + 24 and len(made.bad) == 24
    first = {}
    for place, one in enumerate(good):
        first.setdefault(one["flight_id"], place)
    assert len(made.late) == 20 and all(first[n] > n + 150 for n in made.late)
    assert made.out_of_order and all(first[n] < first[n - 1] for n in made.out_of_order)
    assert good[first[0]] == {
        "flight_id": 0, "carrier": "UA", "flight": 1545, "tailnum": "N14228", "origin": "EWR", "dest": "IAH",
        "scheduled": "2013-01-01T10:15:00Z", "dep_delay": 2, "arr_delay": 11, "air_time": 227, "distance": 1400,
    }  # fmt: skip


def test_a_seed_is_one_stream_of_events():
    assert events.flights(records=300, seed=1) == events.flights(records=300, seed=1)
    assert events.flights(records=300, seed=1) != events.flights(records=300, seed=2)
    plain = events.flights(records=300, bad_share=0, duplicate_share=0, late_share=0, swapped_share=0)
    assert [data for _, data in plain.records] == [events.text(row) for row in events.rows(300)]
    assert (plain.bad, plain.late, plain.out_of_order, plain.duplicates) == ([], [], [], 0)


@pytest.mark.parametrize("wrong", [{"records": 0}, {"records": 336_777}, {"bad_share": 1.1}, {"late_share": -0.1}])
def test_arguments_out_of_range(wrong):
    with pytest.raises(ValueError, match="must be an? (integer|number) of at least . and of at most .*, found "):
        events.flights(**{"records": 10} | wrong)
