"""The date of a run: the day that was due, in the entry's zone, for each way of starting it."""

import json
import types
from datetime import UTC, datetime

import pytest
from conftest import workbench, write_notebook
from test_schedule_dags import AIRFLOW_2, AIRFLOW_3, made

from workbench._base.errors import ArgumentError
from workbench_ops.schedules import airflow, entries, running
from workbench_ops.schedules.running import Place

TEXT = """
load: {notebook: n, cron: "15 0 * * *", time_zone: Europe/Berlin, run_date: RUN_DATE}
gate: {notebook: n, after: load, run_date: DAY}
look: {notebook: n, after: gate}
plain: {notebook: n, cron: "0 4 * * *"}
"""
LATE = datetime(2026, 1, 31, 23, 15, tzinfo=UTC)  # a quarter past midnight of 1 February in Berlin


@pytest.fixture
def scheduled(tmp_path):
    file = tmp_path / "schedules.yml"
    file.write_text(TEXT)
    return entries.read(file)


def test_the_day_is_that_of_the_entry_s_zone(scheduled):
    days = {name: running.day(scheduled, name, given=None, moment=LATE) for name in scheduled}
    assert days == {"load": "2026-02-01", "gate": "2026-02-01", "look": None, "plain": None}
    assert running.day(scheduled, "load", given="2026-01-05", moment=LATE) == "2026-01-05"


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("load", "yesterday", "--date must be a date such as 2026-01-31, found 'yesterday'"),
        ("load", "20260131", "--date must be a date such as 2026-01-31, found '20260131'"),
        ("plain", "2026-01-31", "--date is given, and neither plain nor what follows it has run_date"),
    ],
)
def test_what_is_no_date_is_refused(scheduled, name, given, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        running.day(scheduled, name, given=given, moment=LATE)


@pytest.mark.parametrize("name", ["ENVIRONMENT", "RUN-DATE", ""])
def test_what_is_no_name_of_a_parameter_is_refused(tmp_path, name):
    file = tmp_path / "schedules.yml"
    file.write_text(f"load: {{notebook: n, cron: '1 2 * * *', run_date: '{name}'}}")
    with pytest.raises(ArgumentError, match="run_date"):
        entries.read(file)


@pytest.mark.parametrize("modules", [AIRFLOW_2, AIRFLOW_3], ids=["airflow 2", "airflow 3"])
def test_airflow_hands_on_the_day_of_its_dag_run(scheduled, tmp_path, modules):
    stub = tmp_path / "workbench"
    stub.write_text('#!/bin/sh\necho "$8 $9"\n')
    stub.chmod(0o755)
    tasks = made(airflow.text(scheduled, Place(str(tmp_path), str(stub), {})), modules)[0].tasks
    task = types.SimpleNamespace(dag_id="d", run_id="r", max_tries=0)
    context = {"ti": task, "env": {"AIRFLOW_CTX_TRY_NUMBER": "1", "PATH": "/usr/bin:/bin"}}
    by_date = [each.execute(context | {"logical_date": LATE}) for each in tasks]
    assert by_date == ["--date 2026-02-01", "--date 2026-02-01", " "]  # what follows without run_date gets none
    by_hand = context | {"logical_date": None, "dag_run": types.SimpleNamespace(run_after=LATE)}
    assert tasks[0].execute(by_hand) == "--date 2026-02-01"


@pytest.mark.proof("the day of each way of starting is computed above; this one runs a notebook with it")
def test_the_notebook_gets_it_and_a_parameter_that_is_not_there_is_refused(project):
    write_notebook(
        project / "notebooks" / "01_load.ipynb", "day = RUN_DATE", parameters='RUN_DATE: str = "?"  # day'
    )
    file = project / "params" / "schedules.yml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("load: {notebook: 01_load, cron: '1 2 * * *', run_date: RUN_DATE}\n")
    ended = workbench("schedule", "run", "load", "--date", "2026-01-05", cwd=project)
    assert ended.returncode == 0, ended.stderr
    [record] = (project / "runs" / "01_load").glob("*/run.json")
    assert json.loads(record.read_text())["parameters"]["RUN_DATE"] == "2026-01-05"
    file.write_text("load: {notebook: 01_load, cron: '1 2 * * *', run_date: DAY}\n")
    refused = workbench("schedule", "check", cwd=project)
    assert refused.returncode == 2 and "load: DAY is not a parameter of this notebook" in refused.stderr
