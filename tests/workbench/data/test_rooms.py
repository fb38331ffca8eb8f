from datetime import datetime

import pytest

from workbench import session
from workbench.data import rooms


@pytest.fixture(scope="module")
def spark():
    return session.start("local")


def rows(df):
    return sorted(tuple(row) for row in df.collect())


def test_a_small_set_is_known_by_heart(spark):
    """Thirty-three readings: a room is read every five minutes."""
    made = rooms.rooms(spark, readings=33, seed=1)
    assert made.base.columns == ["current_time", "current_temperature", "current_humidity", "room_type"]
    assert made.base.count() == 15 and made.new.count() == 18
    wrong = [(t.strftime("%H:%M"), temp) for t, temp, _, room in rows(made.new) if temp > 50]
    assert [at for at, _ in wrong] == ["10:35", "10:40", "10:45", "10:50"]
    assert wrong[0][1] == 105.0 and all(95 <= temp <= 105 for _, temp in wrong)
    assert rows(made.planted) == [
        ("living", datetime(2026, 1, 31, 10, minute), "overheated") for minute in (35, 40, 45, 50)
    ]


MORE = pytest.mark.proof("the cases of 6 and of 1,000 readings of this test show it for few and for many")


@pytest.mark.parametrize(
    ("readings", "seed"),
    [(6, 0), pytest.param(100, -7, marks=MORE), (1_000, 1), pytest.param(20_000, 2**40, marks=MORE)],
)
def test_the_truth_is_exactly_what_is_out_of_range(spark, readings, seed):
    made = rooms.rooms(spark, readings=readings, seed=seed)
    everything = made.base.union(made.new)
    assert everything.count() == readings
    assert everything.select("room_type", "current_time").distinct().count() == readings
    assert made.base.where("current_temperature NOT BETWEEN 20 AND 30").isEmpty()
    assert made.base.where("current_humidity NOT BETWEEN 51 AND 53").isEmpty()
    hot = made.new.where("current_temperature >= 50")
    assert rows(hot.select("room_type", "current_time")) == rows(made.planted.drop("reason"))
    if readings >= 33:
        assert hot.agg({"current_temperature": "max"}).first()[0] == 105.0


def test_a_seed_is_one_set_and_another_seed_another(spark):
    one, again, other = (rooms.rooms(spark, readings=300, seed=s) for s in (1, 1, 2))
    assert rows(one.new) == rows(again.new)
    assert rows(one.new) != rows(other.new)
    assert rows(one.planted) == rows(other.planted)


@pytest.mark.parametrize(("readings", "seed"), [(5, 1), (True, 1), ("99", 1), (99.0, 1), (99, 1.5), (99, 2**63)])
def test_arguments_are_refused_in_a_sentence(readings, seed):
    with pytest.raises(
        ValueError,
        match=r"^(readings must be an integer of at least 6|seed must be an integer of at least -\d+ and of at most \d+), found ",
    ):
        rooms.rooms(None, readings=readings, seed=seed)
