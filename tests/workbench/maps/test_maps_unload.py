"""Files with a manifest, as a Map reads them; never two unloads in one folder."""

import json

import pytest
from machines import flow, passing

from workbench import maps

TO = "s3://lake/day/readings"


@pytest.fixture
def rows(spark):
    return spark.createDataFrame([(n, f"d {n % 3}/x") for n in range(10)], "n INT, device STRING")


def test_a_map_reads_what_was_unloaded(spark, namespace, rows, tmp_path):
    buckets = {"lake": str(tmp_path)}
    done = maps.unload(spark, rows, to=f"{TO}/", partition="device", buckets=buckets)
    manifest = tmp_path / "day" / "readings-manifest.csv"
    assert (done.manifest, done.rows) == (f"{TO}-manifest.csv", 10)
    assert manifest.read_text().splitlines() == list(done.files) == sorted(done.files)
    assert len({file.rpartition("/")[0] for file in done.files}) == 3
    assert not list(tmp_path.glob("day/readings/_unloading"))
    definition = flow(passing(), tmp_path, config={"InputType": "PARQUET", "ManifestType": "ATHENA_DATA"}, key="day/readings-manifest.csv")  # fmt: skip
    assert maps.run(spark, definition, f"{namespace}.t", run_id="r", buckets=buckets).items == 10
    items = [
        json.loads(row[0]) for row in maps.results(spark, f"{namespace}.t", run_id="r").select("_output").collect()
    ]
    assert sorted(items, key=lambda item: item["n"]) == [{"n": n, "device": f"d {n % 3}/x"} for n in range(10)]
    with pytest.raises(ValueError, match=f"was unloaded before: there is {TO}-manifest.csv"):
        maps.unload(spark, rows, to=TO, buckets=buckets)
    manifest.unlink()
    with pytest.raises(ValueError, match="is not empty: 4 files or folders were left there. Name another"):
        maps.unload(spark, rows, to=TO, buckets=buckets)


def test_an_unload_that_did_not_end_is_told_of(spark, rows, tmp_path):
    (tmp_path / "day" / "readings").mkdir(parents=True)
    (tmp_path / "day" / "readings" / "_unloading").write_text("")
    with pytest.raises(ValueError, match="left there by an unload that did not end"):
        maps.unload(spark, rows, to=TO, buckets={"lake": str(tmp_path)})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"to": "lake/day"}, "to must be s3://bucket/folder, found 'lake/day'"),
        ({"to": TO, "partition": "day"}, "the rows have no column day; they have n, device"),
    ],
)
def test_what_cannot_be_unloaded(spark, rows, options, words):
    with pytest.raises(ValueError, match=words):
        maps.unload(spark, rows, **options)


def test_no_rows_are_an_empty_manifest(spark, namespace, tmp_path):
    buckets = {"lake": str(tmp_path)}
    done = maps.unload(spark, spark.createDataFrame([], "n INT"), to=TO, buckets=buckets)
    assert done.rows == 0
    definition = flow(passing(), tmp_path, config={"InputType": "PARQUET", "ManifestType": "ATHENA_DATA"}, key="day/readings-manifest.csv")  # fmt: skip
    assert maps.run(spark, definition, f"{namespace}.t", run_id="r", buckets=buckets).items == 0
