"""Readings of the IoT stream: the truth that is told is what is in them, and in the files they make."""

from collections import Counter
from itertools import pairwise

import pytest

from workbench import session
from workbench.data import iot


@pytest.fixture(scope="module")
def spark():
    return session.start("local")


def rows(df):
    return Counter(map(tuple, df.collect()))


@pytest.mark.parametrize(("count", "seed"), [(1, 0), (3_000, 1), (2_001, 1_499)])
def test_the_truth_is_what_is_in_them(spark, count, seed):
    made = iot.made(spark, rows=count, files=21, seed=seed)
    found = rows(made.frame)
    assert made.frame.columns == [part.split()[0] for part in iot.SCHEMA.split(", ")]
    assert made.batches == made.frame.rdd.getNumPartitions() == 3
    assert found.total() == made.rows == count + sum((n - seed - 1) % 500 == 0 for n in range(count))
    first, last = iot.MIDNIGHT - 3600, iot.MIDNIGHT + 3600
    times = sorted(int(at.timestamp()) for _, _, at, *_ in found.elements())
    assert times[-1] < last and sum(time < first for time in times) <= made.late
    assert {(team, role, address) for _, _, _, team, role, address, _ in found} == {
        ("Solutions Architects", "ARCHITECT", "Australia")
    }
    assert all(0 <= number < 100_000 and 0 <= age < 99 for number, age, *_ in found)


def test_late_ones_are_an_hour_behind_their_neighbours(spark):
    made = iot.made(spark, rows=4_000, files=7, seed=2)
    times = [int(row.start_date.timestamp()) for row in made.frame.collect()]
    late = [now for before, now in pairwise(times) if before - now > 3_000]
    assert len(late) == made.late == 4


def test_a_seed_is_one_set_and_another_seed_another(spark):
    one, again, other = (rows(iot.made(spark, rows=300, files=14, seed=s).frame) for s in (1, 1, 2))
    assert one == again != other


def test_a_micro_batch_is_a_file_in_each_partition_that_it_has_rows_of(spark, namespace):
    made, table = iot.made(spark, rows=4_000, files=28, seed=1), f"{namespace}.t"
    for _ in range(2):  # one that is there is replaced
        iot.create(spark, table)
        made.frame.writeTo(table).append()
    files = spark.table(f"{table}.data_files").select("record_count").collect()
    assert sum(row.record_count for row in files) == made.rows and len(files) == 28 + made.late


def test_the_four_queries(spark, namespace):
    made, table = iot.made(spark, rows=2_000, files=7, seed=1), f"{namespace}.t"
    iot.create(spark, table)
    made.frame.writeTo(table).append()
    found = {name: [tuple(row) for row in spark.sql(text).collect()] for name, text in iot.queries(table).items()}
    every = list(rows(made.frame).elements())
    assert found["count"] == [(made.rows,)]
    youngest = {}
    for _, age, _, team, _, _, name in every:
        youngest[team, name] = min(age, youngest.get((team, name), age))
    assert {(team, name): age for team, name, age in found["youngest"]} == youngest
    ages = [age for _, age, *_ in every]
    assert found["average"] == [("ARCHITECT", "Solutions Architects", sum(ages) / len(ages))]
    assert len(found["newest"]) == 100 and all(row[1] > 40 for row in found["newest"])
    wanted = sorted((row[2] for row in every if row[1] > 40), reverse=True)[:100]
    assert [row[2] for row in found["newest"]] == wanted
    later = spark.sql(iot.queries(table, after="2026-01-02 00:59:00")["newest"]).collect()
    assert 0 < len(later) < 40 and all(row.start_date.minute == 59 for row in later)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rows": 0}, "rows must be an integer of at least 1, found 0"),
        ({"rows": True}, "rows must be an integer of at least 1, found True"),
        ({"files": 6}, "files must be an integer of at least 7, found 6"),
        ({"files": 10}, "files must be a multiple of 7, what a micro-batch writes, found 10"),
        ({"seed": -1}, "seed must be an integer of at least 0 and of at most 9223372036854775807, found -1"),
    ],
)
def test_arguments_are_refused_in_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        iot.made(None, **arguments)
