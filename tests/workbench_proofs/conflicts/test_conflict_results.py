"""Results in a file that a stopped run goes on with, and as a table of which two versions are compared."""

import json
import shutil
from dataclasses import asdict, replace

import pytest
from conftest import ROOT

from workbench_proofs import conflicts
from workbench_proofs.conflicts import Result, kept

ONE = Result("append", "append", None, "same", "v3", "retried_and_committed", None, None, 12, "both",
             "indistinguishable", "4.1.4", "1.11.0")  # fmt: skip
RED = replace(ONE, first="merge", isolation="snapshot", outcome="silent_anomaly", equal_to="neither")
ABOUT = {"spark": "4.1.4", "iceberg": "1.11.0"}


def test_what_is_there_is_not_run_again(tmp_path):
    file = tmp_path / "in" / "matrix.db"
    cells = conflicts.cells(["append"], modes=["v3", "copy-on-write"], partitions=["same"])
    assert kept.missing(cells, file, versions=ABOUT) == cells
    kept.append(file, ONE)
    assert kept.missing(cells, file, versions=ABOUT) == cells[1:]
    assert kept.missing(cells, file, versions=ABOUT | {"iceberg": "1.12.0"}) == cells


def test_lines_of_the_version_before_are_gone_on_with(tmp_path):
    """A cell measured twice, one of another version, and a line that a kill cut off."""
    shutil.copy(ROOT / "tests" / "earlier" / "matrix.jsonl", tmp_path)
    file, newer = tmp_path / "matrix.db", replace(ONE, iceberg="1.12.0")
    assert kept.read(file) == [ONE, RED, newer]
    cells = conflicts.cells(["append", "merge"], modes=["v3"], partitions=["same"])
    assert kept.missing(cells, file, versions=ABOUT) == [
        cell for cell in cells if cell not in (kept.cell_of(ONE), kept.cell_of(RED))
    ]
    kept.append(file, replace(ONE, rows=13))
    (tmp_path / "matrix.jsonl").unlink()
    assert kept.read(file) == [replace(ONE, rows=13), RED, newer]


def test_a_later_result_of_a_cell_replaces_the_earlier(tmp_path):
    file = tmp_path / "matrix.db"
    for one in (ONE, RED, replace(ONE, rows=13), replace(ONE, iceberg="1.12.0")):
        kept.append(file, one)
    assert [(one.first, one.rows, one.iceberg) for one in kept.read(file)] == [
        ("append", 13, "1.11.0"), ("merge", 12, "1.11.0"), ("append", 12, "1.12.0"),
    ]  # fmt: skip


def test_the_committed_matrix_is_found_upwards(tmp_path):
    (folder := tmp_path / "docs" / "evidence").mkdir(parents=True)
    (deep := tmp_path / "a" / "b").mkdir(parents=True)
    values = [list(asdict(one).values()) for one in (ONE, RED)]
    (folder / "conflicts.json").write_text(
        json.dumps({"columns": list(asdict(ONE)), "cells": values, "date": "x"})
    )
    about, found = conflicts.measured(deep)
    assert (about["date"], found) == ("x", [ONE, RED])
    (folder / "conflicts.json").write_text(json.dumps({"columns": list(asdict(ONE))[1:], "cells": values}))
    with pytest.raises(ValueError, match="is not a matrix"):
        conflicts.measured(deep)


def test_a_matrix_is_asked_about_its_own_environment_only():
    other = replace(RED, outcome="data_conflict")
    measured = {"environment": "s3"}, [ONE, RED]
    new = replace(ONE, mode="copy-on-write")
    assert kept.against(measured, [ONE, RED, new], environment="s3") == (2, [])
    assert kept.against(measured, [ONE, other, new], environment="s3") == (2, [other])
    older = [replace(one, spark="3.5.6", iceberg="1.10.0") for one in (ONE, other)]
    assert kept.against(measured, older, environment="s3") == (2, older[1:])
    assert kept.against(measured, [ONE, other], environment="rest") == (0, [])


def test_two_versions_are_compared(spark, namespace):
    table, newer = f"{namespace}.matrix", {"iceberg": "1.12.0"}
    assert conflicts.save(spark, table, [ONE, RED]) == 2
    mended = replace(
        RED, outcome="data_conflict", error_class="ValidationException", equal_to="first_alone", **newer
    )
    conflicts.save(spark, table, [replace(ONE, **newer), mended, replace(ONE, mode="copy-on-write", **newer)])
    found = [tuple(row) for row in conflicts.compare(spark, table, "1.11.0", ("4.1.4", "1.12.0")).collect()]
    assert found == [
        ("append", "append", None, "same", "copy-on-write",
         None, "retried_and_committed", None, None, None, "both", None, 12),
        ("merge", "append", "snapshot", "same", "v3",
         "silent_anomaly", "data_conflict", None, "ValidationException", "neither", "first_alone", 12, 12),
    ]  # fmt: skip


def test_a_cell_measured_again_is_replaced_and_one_given_twice_refused(spark, namespace):
    table = f"{namespace}.matrix"
    conflicts.save(spark, table, [ONE])
    conflicts.save(spark, table, [replace(ONE, rows=13)])
    assert [row.rows for row in spark.table(table).collect()] == [13]
    with pytest.raises(ValueError, match="the cell append/append/-/same/v3/4.1.4/1.11.0 is in the results twice"):
        conflicts.save(spark, table, [ONE, ONE])
    spark.sql(f"CREATE VIEW {namespace}.v AS SELECT * FROM {table}")
    try:
        with pytest.raises(ValueError, match=f"{namespace}.v is not an Iceberg table: "):
            conflicts.save(spark, f"{namespace}.v", [ONE])
    finally:
        spark.sql(f"DROP VIEW {namespace}.v")
    assert [row.rows for row in spark.table(table).collect()] == [13]
    with pytest.raises(ValueError, match="has no cells of 1.9.0; there are Spark 4.1.4 with Iceberg 1.11.0"):
        conflicts.compare(spark, table, "1.11.0", "1.9.0")


def test_commits_to_plain_files_cannot_be_held(spark):
    with (
        pytest.raises(
            ValueError, match="s3.endpoint must be an address such as http://127.0.0.1:8333, found None"
        ),
        conflicts.writers(spark),
    ):
        pass
    with pytest.raises(ValueError, match="the commits of catalog nowhere cannot be held"):
        list(conflicts.run(spark, conflicts.telling(), catalog="nowhere"))
