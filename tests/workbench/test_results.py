"""Facts are of few kinds, measurements are kept apart, and nothing is written outside the runner."""

import time
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from conftest import ENVIRONMENT

from workbench import results, session


def test_everything_goes_to_one_file(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    results.record(rows=3, price=Decimal("1.50"), engines_agree=True)
    results.record(rows=4, verdict="passed", recall=None)
    results.measure(seconds_build=1.25)
    assert results.read(tmp_path) == {
        "results": {"rows": 4, "price": "1.50", "engines_agree": True, "verdict": "passed", "recall": None},
        "measurements": {"seconds_build": 1.25},
        "checks": [],
        "tables": [],
    }


def test_a_block_is_timed_and_one_that_raises_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    with results.timing("nap"):
        time.sleep(0.02)
    with pytest.raises(KeyError), results.timing("fall"):
        raise KeyError
    found = results.read(tmp_path)["measurements"]
    assert list(found) == ["seconds_nap"] and 0.02 <= found["seconds_nap"] < 10
    with pytest.raises(ValueError, match="is not a name"), results.timing("A nap"):
        pass


def test_numpy_numbers_become_plain(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    results.record(rows=np.int64(3), engines_agree=np.bool_(True))
    assert results.read(tmp_path)["results"] == {"rows": 3, "engines_agree": True}


@pytest.mark.parametrize(
    "facts",
    [
        {"rows": 1.5},
        {"rows": [1]},
        {"engines_agree": None},
        {"engines_agree": 1},
        {"digests_equal": "yes"},
        {"Rows": 1},
    ],
)
def test_what_is_no_fact_is_refused_even_without_a_runner(monkeypatch, facts):
    monkeypatch.delenv("WORKBENCH_RUN_DIR", raising=False)
    with pytest.raises(ValueError):
        results.record(**facts)


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    with pytest.raises(
        ValueError, match=r"^share is a float .*; days is a list; .*; 'Rows' is not a name"
    ) as told:
        results.record(right=1, share=0.5, days=[1], Rows=1)
    assert "right" not in str(told.value) and results.read(tmp_path)["results"] == {}


def test_what_has_a_text_is_kept_as_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    results.record(day=date(2026, 1, 31))
    assert results.read(tmp_path)["results"] == {"day": "2026-01-31"}


def test_without_a_runner_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv("WORKBENCH_RUN_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    results.record(rows=1)
    assert list(tmp_path.iterdir()) == []


def test_a_cut_off_file_reads_as_empty(tmp_path):
    (tmp_path / "results.json").write_text('{"results": {"rows"')
    assert results.read(tmp_path)["results"] == {}


def test_a_table_is_noted_with_its_snapshot(spark, namespace, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    spark.sql(f"CREATE TABLE {namespace}.t AS SELECT 1 AS id")
    results.table(spark, f"{namespace}.t")
    expected = spark.sql(f"SELECT max(snapshot_id) FROM {namespace}.t.snapshots").collect()[0][0]
    assert results.read(tmp_path)["tables"] == [{"name": f"{namespace}.t", "snapshot_id": expected}]


def test_a_table_is_noted_by_pyiceberg_where_there_is_no_session(spark, namespace, tmp_path, monkeypatch):
    spark.sql(f"CREATE TABLE {namespace}.t AS SELECT 1 AS id")
    noted = []
    for number, catalog in enumerate((spark, session.catalog(ENVIRONMENT))):
        monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path / str(number)))
        (tmp_path / str(number)).mkdir()
        results.table(catalog, f"{namespace}.t")
        noted += results.read(tmp_path / str(number))["tables"]
    assert noted[0] == noted[1] and noted[0]["snapshot_id"]


def test_without_a_runner_a_table_is_looked_for_and_not_read(spark, namespace, monkeypatch):
    monkeypatch.delenv("WORKBENCH_RUN_DIR", raising=False)
    spark.sql(f"CREATE TABLE {namespace}.t AS SELECT 1 AS id")
    spark.sparkContext.setJobGroup("noting a table", "")
    results.table(spark, f"{namespace}.t")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        results.table(spark, f"{namespace}.missing")
    assert not spark.sparkContext.statusTracker().getJobIdsForGroup("noting a table")
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


@pytest.mark.parametrize("text", ["[1, 2]", '{"checks": 7}', '{"checks": [{"name": "x"}]}', '{"more": 1}', "3"])
def test_a_file_that_a_notebook_wrote_over_reads_as_empty(tmp_path, text):
    (tmp_path / "results.json").write_text(text)
    assert results.read(tmp_path) == {"results": {}, "measurements": {}, "checks": [], "tables": []}


def test_a_measurement_is_finite():
    with pytest.raises(ValueError, match="a measurement is finite"):
        results.measure(rate=float("nan"))
