"""Assets on a real Airflow: what updates a table starts the entry that waits for it, once an update and not for nothing.

The entry that updates is a script for a target, so a second DAG run of its date submits nothing: the table keeps its
snapshot, the asset's event comes all the same, and the task of the entry that waits is skipped. Another script is
backfilled for three dates, twice: each date is submitted once, with its own date.
"""

import json
import subprocess
from pathlib import Path

from conftest import write_notebook
from waiting import until

from bench import airflow_kills

SCHEDULES = """
load: {script: "load.py {date}", target: here, cron: "15 2 29 2 *", environment: lake, updates: sales.orders}
report: {notebook: report, after_update: sales.orders, environment: lake}
behind: {notebook: behind, after: report}
daily: {script: "daily.py {date}", target: here, cron: "15 2 1-3 1 *", time_zone: Europe/Berlin}
"""
SCRIPT = """
import pyarrow as pa
from workbench import session
rows = pa.table({"id": [1]})
catalog = session.catalog("lake")
catalog.create_namespace_if_not_exists("sales")
table = catalog.create_table_if_not_exists("sales.orders", rows.schema)
table.append(rows)
print("snapshot", table.refresh().current_snapshot().snapshot_id)
"""
DAILY = "import sys; open('dates.txt', 'a').write(sys.argv[1] + chr(10))"
DATES = ["2026-01-01", "2026-01-02", "2026-01-03"]
WAIT_SECONDS = 240
PATIENT = {"AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "120"}  # nothing is killed here
PARAMETERS = 'ENVIRONMENT: str = "lake"  # where'


def rows(command: Path, workbench: Path, env: dict, folder: Path) -> list[dict]:
    """Let Airflow run an entry twice for one date; return a row a run of it, `right` where all was as expected.

    Args:
        command: of Airflow.
        workbench: our own command.
        env: variables of an Airflow without examples.
        folder: empty, for the project, Airflow's files and their log.
    """
    home = folder / "project"
    (home / "params" / "targets").mkdir(parents=True)
    (home / "params" / "targets" / "here.yml").write_text("type: process\n")
    (home / "load.py").write_text(SCRIPT)
    (home / "daily.py").write_text(DAILY)
    for name in ("report", "behind"):
        write_notebook(home / "notebooks" / f"{name}.ipynb", "print(1)", parameters=PARAMETERS)
    env, log = airflow_kills.prepared(command, workbench, env | PATIENT, folder, SCHEDULES)
    with airflow_kills.running(command, env, home, log, dag="workbench_report") as airflow:
        first = _one(airflow, 1, {"report": "success", "behind": "success"})
        second = _one(airflow, 2, {"report": "skipped", "behind": "skipped"})
        once = len(list((home / ".workbench" / "submissions").iterdir())) == 1
        filled = [_filled(airflow, number) for number in (1, 2)]
    once = once and first["snapshot"] == second["snapshot"]
    return [first, second | {"right": second["right"] and once}, *filled]


def _one(airflow: airflow_kills.Airflow, number: int, expected: dict[str, str]) -> dict:
    """Trigger the DAG that updates, and wait for the run of the DAG that its event starts; return what came of both."""
    subprocess.run(
        [airflow.command, "dags", "trigger", "workbench_load", "--run-id", f"load_{number}"],
        env=airflow.env,
        capture_output=True,
        check=True,
    )
    until(lambda: len(_events(airflow)) == number, "the asset's event", seconds=WAIT_SECONDS)
    until(lambda: len(_ended(airflow)) == number, "the run after the update", seconds=WAIT_SECONDS)
    run_id, kind = _ended(airflow)[-1]
    states = dict(
        airflow_kills.asked(airflow, "SELECT task_id, state FROM task_instance WHERE run_id = ?", run_id)
    )
    output = next((airflow.home / ".workbench" / "submissions").glob("*/log")).read_text()
    snapshot = json.loads(_events(airflow)[-1]).get("snapshot_id")
    row = {"run": number, "begun_by": kind, "states": states, "snapshot": snapshot}
    right = states == expected and kind == "asset_triggered" and f"snapshot {snapshot}\n" in output
    print(json.dumps(row), flush=True)
    return row | {"right": right}


def _filled(airflow: airflow_kills.Airflow, number: int) -> dict:
    """Backfill three dates, also those that have run, and wait for their runs; return which dates were submitted."""
    words = ["backfill", "create", "--dag-id", "workbench_daily", "--reprocess-behavior", "completed"]
    dates = ["--from-date", DATES[0], "--to-date", "2026-01-04"]
    subprocess.run([airflow.command, *words, *dates], env=airflow.env, capture_output=True, check=True)
    statement = (
        "SELECT state FROM task_instance WHERE dag_id = 'workbench_daily' "
        "AND state IN ('success', 'failed') AND try_number >= ?"
    )
    until(lambda: len(airflow_kills.asked(airflow, statement, number)) == 3, "the backfill", seconds=WAIT_SECONDS)
    open_ones = "SELECT 1 FROM backfill WHERE completed_at IS NULL"  # of a DAG there is one at a time
    until(lambda: not airflow_kills.asked(airflow, open_ones), "the backfill's end", seconds=WAIT_SECONDS)
    states = [state for (state,) in airflow_kills.asked(airflow, statement, number)]
    submitted = sorted((airflow.home / "dates.txt").read_text().split())
    row = {"backfill": number, "states": states, "submitted": submitted}
    print(json.dumps(row), flush=True)
    return row | {"right": submitted == DATES and states == ["success"] * len(DATES)}


def _events(airflow: airflow_kills.Airflow) -> list[str]:
    """Return the extras of all events of assets, as JSON, oldest first."""
    return [extra for (extra,) in airflow_kills.asked(airflow, "SELECT extra FROM asset_event ORDER BY id")]


def _ended(airflow: airflow_kills.Airflow) -> list[tuple[str, str]]:
    """Return (run id, kind) of the ended runs of the DAG that waits, oldest first."""
    statement = (
        "SELECT run_id, run_type FROM dag_run WHERE dag_id = 'workbench_report' "
        "AND state IN ('success', 'failed') ORDER BY id"
    )
    return airflow_kills.asked(airflow, statement)
