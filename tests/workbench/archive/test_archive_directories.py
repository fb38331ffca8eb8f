"""What Spark makes of keys: hidden names, partition folders, names of copies."""

import pytest

from workbench.archive import directories


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("t/a.csv", False),
        ("t/_SUCCESS", True),
        ("t/_d=1/a.csv", False),
        ("t/.a.csv", True),
        ("t/../t/./a.csv", False),
        ("t/_temporary/0/a.csv", True),
        ("t/d=1/a.csv._COPYING_", True),
    ],
)
def test_hidden_names(key, expected):
    assert directories.hidden("t/", key) is directories.hidden("t", key) is expected


def test_a_directory_below_a_hidden_one_is_not_hidden_by_it():
    assert not directories.hidden("_staging/t/", "_staging/t/a.csv")
    assert directories.hidden("_staging/t/_a.csv", "_staging/t/_a.csv")


def test_partition_folders_are_those_nearest_to_the_object():
    assert directories.partitions("a=0/t/d=1/e=2/x/a=3.csv") == ("d=1", "e=2")
    assert directories.columns("t/d=1/e=2/a.csv") == ("d", "e")
    assert directories.partitions("t/a.csv") == ()


def test_folders_count_from_above_the_partitions_that_an_address_names():
    assert directories.base("s3://b/T1/year=2024/month=1/") == "s3://b/T1"
    assert directories.base("s3://b/T1/") == "s3://b/T1"
    assert directories.base("s3://b/year=2024") == "s3://b"


def test_names_of_copies_differ_and_are_not_hidden():
    keys = ["t/d=1/a.csv.gz", "t//d=1/a.csv.gz", "t/../x:" + "ü" * 200]
    copies = [directories.copy_name(number, key) for number, key in enumerate(keys)]
    assert copies == ["d=1/000000-a.csv.gz", "d=1/000001-a.csv.gz", "000002-" + "_" * 100]


def test_endings_tell_a_format_also_below_a_compression():
    keys = [
        "t/a.csv",
        "t/a.JSON.gz",
        "t/a.gz.parquet",
        "t/a.orc.zst",
        "avro",
        "t.csv/a",
        "t/.csv",
        "t/a.txt",
        "a.gz",
    ]
    told = [directories.ending(key) for key in keys]
    assert told == ["csv", "json", "parquet", "orc", None, None, "csv", None, None]


def test_a_format_of_somebody_elses_is_not_judged():
    assert directories.format_of("s3://b/t", ["t/a.csv"], "com.example.Csv") == "com.example.Csv"
    assert directories.format_of("s3://b/t", ["t/a.csv"], "text") == "text"
