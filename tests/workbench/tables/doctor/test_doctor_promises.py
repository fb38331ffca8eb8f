"""What a finding promises of its cure: reckoned for all partition fields and partitions, and held against the cure."""

import re
from types import SimpleNamespace

import pytest
from conftest import PROVE
from doctor_cases import POLICY, diagnose, the

from workbench.tables import doctor, snapshots
from workbench.tables.doctor import order, transforms
from workbench.tables.doctor.looking import Partition


def field(transform, kind="timestamp"):
    return {"name": "p", "column": "c", "quoted": "`c`", "type": kind, "transform": transform}


@pytest.mark.parametrize(
    ("transform", "present", "values", "expected"),
    [
        ("month", field("day"), ["2026-01-01", "2026-01-31", "2026-02-01"], 2),
        ("month", field("day"), ["+55840-11-08", "+55840-11-09", "+10000-01-01", "0001-01-01", "-0001-01-01"], 4),
        ("year", field("month"), [-1, 0, 11, 12], 3),  # months since 1970-01
        ("day", field("hour"), [-1, 0, 23, 24], 3),
        ("day", field("hour"), [10**8, 10**8 + 1, 10**8 + 24, -(10**8)], 3),  # the years 13378 and -9439
        ("month", field("identity"), ["2026-01-01 05:00:00", "2026-01-01 06:00:00.5", None], 2),
        ("truncate(10)", field("identity", "long"), [-1, 0, 9, 10, 19], 3),
        ("truncate(2)", field("identity", "string"), ["a", "ab", "abc", "b"], 3),
        ("bucket(4)", field("bucket[120]", "long"), list(range(120)), 4),
        ("bucket(4)", field("bucket[120]", "long"), [7, 8, None], 3),
        (transforms.DROP, field("identity", "long"), [1, 2, None], 1),
    ],
)
def test_how_many_partitions_another_transform_makes(transform, present, values, expected):
    applied = transforms.applied(transform, present, values)
    assert set(values) <= applied.keys() and len({applied[value] for value in values}) == expected


def test_why_a_field_is_dropped():
    said = [transforms.sentence(transforms.DROP, field("day"), *two) for two in ((1, 9), (12, 40), (3, 1))]
    assert [one.partition(": ")[2] for one in said] == [
        "all of it is less than two files of the target size",
        "the other fields make 40 already, and 12 would have the target size",
        "no unit of it makes so few as 3, which would have the target size",
    ]


SPANS = {
    "ids": [(0, 999)] * 6,
    "first day": [(0, 9)] * 6,
    "second day": [(10, 19)] * 6,
    "yes and no": [(False, True)] * 6,
}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["ids"], (6, 6, 1)),
        (["ids", "ids"], (12, 12, 2)),  # a value may be in both
        (["first day", "second day"], (6, 12, 1)),  # in one alone
        (["yes and no"], (6, 6, 3)),  # half of six
    ],
)
def test_what_sorting_brings_in_all_partitions_together(parts, expected):
    look = SimpleNamespace(policy=POLICY)
    there = [Partition((("p", n),), 0, 6, 6 * POLICY.target_file_bytes, 1, 0, 0) for n, _ in enumerate(parts)]
    bounds = {one.values: [{"c": span} for span in SPANS[name]] for one, name in zip(there, parts, strict=True)}
    assert order._promise(look, there, bounds, "c") == expected


DAYS = 240 if PROVE else 120


def two_fields(spark, namespace):
    """Partitions of a row each: so many days, and one of three values."""
    name = f"{namespace}.two"
    spark.sql(f"CREATE TABLE {name} (at TIMESTAMP, v STRING) USING iceberg PARTITIONED BY (v, days(at))")
    at = "TIMESTAMP'2026-01-01' + make_interval(0, 0, 0, CAST(id AS INT)) AS at"
    spark.range(DAYS).selectExpr(at, "concat('v', id % 3) AS v").writeTo(name).append()
    return name


NOTHING_BUT_ONE = pytest.mark.proof("test_why_a_field_is_dropped shows the other statement's reason")


@pytest.mark.parametrize(
    ("files", "term"),
    [
        (DAYS / 20, "WITH year(`at`)"),
        pytest.param(0.5, "DROP PARTITION FIELD `at_day`", marks=NOTHING_BUT_ONE),
    ],
)
def test_of_two_fields_one_makes_what_the_other_leaves_over(spark, namespace, files, term):
    """By months there would be a tenth of the partitions, each of half a file."""
    name = two_fields(spark, namespace)
    # a finer unit was proposed, which makes more of them, however small the target
    assert diagnose(spark, name, target_file_bytes=100).causes == ()
    size = spark.sql(f"SELECT sum(file_size_in_bytes) FROM {name}.data_files").first()[0]
    found = diagnose(spark, name, target_file_bytes=int(size / files))
    one = the(found, "too_many_partitions")
    assert term in one.statements[0]
    promised = re.search(
        f"about ([0-9]+) partitions for {DAYS}, with ([0-9]+) files? of the target size or less", one.advice
    )
    doctor.cure(spark, found, agreed=["too_many_partitions"])
    spark.sql(f"REFRESH TABLE {name}")
    assert int(promised[1]) == spark.table(f"{name}.partitions").count() == 3
    assert spark.table(f"{name}.data_files").count() <= int(promised[2])


@pytest.mark.proof(
    "test_of_two_fields_one_makes_what_the_other_leaves_over begins with the same question of the same table"
)
def test_a_partition_of_a_whole_file_is_no_small_one_however_small_the_target(spark, namespace):
    """A finer unit was proposed, which makes more of them."""
    name = two_fields(spark, namespace)
    assert diagnose(spark, name, target_file_bytes=100).causes == ()


@pytest.mark.proof(
    "test_what_sorting_brings_in_all_partitions_together shows the promise, the notebook "
    "41_doctor_a_sick_table what sorting brings"
)
@pytest.mark.parametrize("column", ["id", "day"])
def test_sorting_brings_what_was_promised(spark, namespace, column):
    name = f"{namespace}.mixed"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, day DATE, u STRING, v STRING) USING iceberg PARTITIONED BY (v) "
        "TBLPROPERTIES ('write.distribution-mode' = 'none', 'write.spark.fanout.enabled' = 'true')"
    )
    made = (
        "id",
        "date_add(DATE'2026-01-01', CAST(id % 2 AS INT)) AS day",
        "uuid() AS u",
        "concat('v', id % 3) AS v",
    )
    spark.range(30_000).selectExpr(*made).repartition(6, "u").writeTo(name).append()
    one = the(diagnose(spark, name, columns=[column], target_file_bytes=16_384), "unsorted_files")
    opened, after = re.search("opens ([0-9]+) of 18, sorted it would be about ([0-9]+)", one.what).groups()
    asked = spark.table(name).where("id = 777" if column == "id" else "day = DATE'2026-01-02'")
    assert (int(opened), snapshots.files_read(asked)) == (18, 18)
    spark.sql(one.statements[0])
    spark.sql(f"REFRESH TABLE {name}")
    asked = spark.table(name).where("id = 777" if column == "id" else "day = DATE'2026-01-02'")
    there = snapshots.files_read(asked)
    assert there / int(after) == pytest.approx(1, abs=0.4), (there, after)
    assert (int(after) == 3) == (column == "id")
