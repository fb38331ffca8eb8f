"""What the check says of each of our notebooks: thought about one by one, and kept here.

With the defaults nearly all need this machine: PyIceberg opens the catalog of the environment, and that of `local`
is a file of the driver's. In an account (aws-glue) those remain that bring a server or a process, or take such a lake.
On Glue 5.1 the same ones run; two more sentences are told there, of casts and of Python data sources.
"""

import pytest
from conftest import ROOT
from export_cases import checked

from workbench_ops import export
from workbench_ops.run import notebook as notebooks

VERDICTS = {  # notebook: (Glue 6.0 with the defaults, with ENVIRONMENT aws-glue); why
    "00_template": ("differs", "runs"),  # Spark alone; its tables only move to another catalog
    "01_first_table": ("cannot run", "differs"),  # PyIceberg; then pictures and packages
    "02_explore_a_lake": ("cannot run", "differs"),  # PyIceberg; then packages
    "10_ingest_stream": ("cannot run", "cannot run"),  # the local Kinesis server; below with a real one
    "11_survive_kills": ("cannot run", "cannot run"),  # kills processes that have a Spark of their own
    "12_ingest_kafka": ("cannot run", "cannot run"),  # a broker on this machine; aws-glue names none
    "13_ingest_lambda": ("cannot run", "cannot run"),  # kills functions, which are processes
    "14_pull_from_saas": ("cannot run", "cannot run"),  # the stand-in of Google
    "15_pull_a_sheet": ("cannot run", "cannot run"),  # as 14, and TPC-H's files on this machine
    "16_secure_a_topic": ("cannot run", "cannot run"),  # a broker of this machine, with users
    "20_write_audit_publish": ("cannot run", "differs"),  # PyIceberg; then pictures and packages
    "21_track_history": ("differs", "differs"),  # Spark alone, and a picture
    "22_race_writers": ("cannot run", "cannot run"),  # the proxy before an S3 on plain HTTP
    "23_check_quality": ("differs", "differs"),  # packages
    "24_stream_while_compacting": ("cannot run", "differs"),  # PyIceberg; then a checkpoint on the driver
    "25_test_with_dbt": ("cannot run", "differs"),  # PyIceberg; then packages and a folder of this machine
    "26_check_anonymised": ("cannot run", "differs"),  # PyIceberg; then a picture
    "30_work_without_spark": ("cannot run", "differs"),  # PyIceberg and DuckDB; then packages
    "31_join_without_shuffle": ("cannot run", "differs"),  # PyIceberg; then a picture
    "32_compare_formats": ("cannot run", "differs"),  # as 33
    "33_move_to_iceberg": ("cannot run", "differs"),  # an embedded catalog; then packages and folders
    "34_map_items": ("differs", "differs"),  # files of this machine, and a picture
    "40_compact_small_files": ("cannot run", "differs"),  # as 24, and pictures
    "41_doctor_a_sick_table": ("cannot run", "differs"),  # PyIceberg; then a picture
    "42_expire_and_clean": ("cannot run", "differs"),  # PyIceberg; then a checkpoint, a picture
    "50_restore_archive": ("cannot run", "differs"),  # the archive with a clock; in an account it waits for hours
    "60_share_by_tags": ("cannot run", "differs"),  # PyIceberg; then a folder of this machine
    "61_serve_hidden_cells": ("cannot run", "cannot run"),  # servers of this machine
    "70_submit_once": ("cannot run", "differs"),  # PyIceberg; then processes and a folder of this machine
    "71_grant_least": ("cannot run", "cannot run"),  # an account of this machine
    "72_watch_a_run": ("cannot run", "cannot run"),  # committed measurements, as 91
    "73_mitigate_incidents": ("cannot run", "cannot run"),  # plants faults in one machine
    "90_benchmark_tpcds": (
        "cannot run",
        "cannot run",
    ),  # engines in processes, an embedded catalog, DuckDB's files
    "91_when_spark_pays": ("cannot run", "cannot run"),  # committed measurements, which no wheel has
    "92_compare_collectors": ("cannot run", "cannot run"),  # as 91, and JVMs of its own
}

CASTS = "errors of casts and overflows (ANSI mode)"
OLDER = {  # what Glue 5.1 lacks or does otherwise beside; session.start cannot set the mode of a session that runs
    "00_template": {CASTS},
    "02_explore_a_lake": {CASTS},
    "10_ingest_stream": {"Python data sources"},
    "21_track_history": {CASTS},
    "26_check_anonymised": {CASTS},
    "31_join_without_shuffle": {CASTS},
    "33_move_to_iceberg": {CASTS},
    "60_share_by_tags": {CASTS},
    "40_compact_small_files": {CASTS},
    "41_doctor_a_sick_table": {CASTS},
}


def read(name):
    return notebooks.read(ROOT / "notebooks" / f"{name}.ipynb")


def test_every_notebook_is_here():
    assert sorted(VERDICTS) == [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


@pytest.mark.parametrize("name", list(VERDICTS))
def test_the_verdict_of_each(name):
    notebook = read(name)
    found = [export.verdict(checked(notebook)), export.verdict(checked(notebook, ENVIRONMENT="aws-glue"))]
    assert tuple(found) == VERDICTS[name]
    old = checked(notebook, "5.1", ENVIRONMENT="aws-glue")
    assert (export.verdict(old) == "cannot run") == (VERDICTS[name][1] == "cannot run")
    assert {one.what for one in old if one.rule == "feature"} == OLDER.get(name, set())


def test_a_real_stream_takes_the_server_away():
    given = {"ENVIRONMENT": "aws-glue", "ENDPOINT": "https://kinesis.eu-central-1.amazonaws.com", "FAULTS": "none"}
    found = checked(read("10_ingest_stream"), **given)
    assert export.verdict(found) == "differs"
    assert {one.rule for one in found} == {"file", "import", "plot"}


def test_where_the_first_ones_are():
    found = {
        one.what: (one.cell, one.line) for one in checked(read("11_survive_kills")) if one.grade == "cannot run"
    }
    assert found == {
        "workbench_standins.kinesis.serve": (6, 2),
        "workbench_proofs.kills.start": (8, 13),
        "session.catalog": (9, 1),
    }
