"""Kills of a real Airflow while one of its tasks waits for a job of a target: a date is submitted once.

What is killed by signal 9 is the task's process, the worker above it, the scheduler, or the job. The job outlives the
first three, and the next try adopts it; only one that was seen to have failed is followed by another one. The oracle
is what the job writes: when it begins and ends, and whether another one is at work.
"""

import json
import subprocess
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import psutil
from waiting import until

from bench import airflow_kills
from bench.airflow_kills import DAG, WAIT_SECONDS, Airflow

SCHEDULES = """
counted:
  script: counted.py {date}
  target: here
  cron: "0 0 29 2 *"
  retries: 3
  retry_wait_seconds: 1
  timeout_seconds: 300
"""
FIRST = date(2026, 1, 1)  # each DAG run has a date of its own
KINDS = {name: airflow_kills.KINDS[name] for name in ("task", "worker", "scheduler")}
KINDS["job"] = airflow_kills.KINDS["notebook"]


def rows(command: Path, workbench: Path, env: dict, folder: Path, *, each: int = 5) -> list[dict]:
    """Make a project with one entry, let Airflow submit it and kill each kind of process `each` times; returns the rows.

    Args:
        command: of Airflow.
        workbench: our own command.
        env: variables of an Airflow without examples.
        folder: empty, for the project, Airflow's files and their log.
        each: kills of a kind.
    """
    home = folder / "project"
    (home / "params" / "targets").mkdir(parents=True)
    (home / "params" / "targets" / "here.yml").write_text("type: process\n")
    named = airflow_kills.COUNTED.replace('os.environ["WORKBENCH_RUN_ID"]', "sys.argv[1]")
    (home / "counted.py").write_text(f"SECONDS = {airflow_kills.WORK_SECONDS}\n{named}")
    env, log = airflow_kills.prepared(command, workbench, env, folder, SCHEDULES)
    found: list[dict] = []
    with airflow_kills.running(command, env, home, log) as airflow:
        for kind, kill in KINDS.items():
            for number in range(1, each + 1):
                day = (FIRST + timedelta(len(found))).isoformat()
                row = {"killed": kind, "number": number} | _one(airflow, kill, day)
                row["right"] = right(row)
                print(json.dumps(row), flush=True)
                found.append(row)
    return found


def _one(airflow: Airflow, kill: Callable[[Airflow, psutil.Process], None], day: str) -> dict:
    """Trigger a DAG run of a date, kill while its job works, wait for its end; returns what came of it."""
    dag_run = f"{day}_{time.time_ns()}"
    trigger = [
        airflow.command,
        "dags",
        "trigger",
        DAG,
        "--run-id",
        dag_run,
        "--logical-date",
        f"{day}T12:00:00+00:00",
    ]
    subprocess.run(trigger, env=airflow.env, capture_output=True, check=True)

    def said() -> list[str]:
        return [word for word, of in airflow_kills.lines(airflow.home) if of == day]

    until(said, "the job's begin", seconds=WAIT_SECONDS)
    kill(airflow, airflow_kills.runner_of(airflow))
    state = until(lambda: airflow_kills.state_of(airflow, dag_run), f"the end of {dag_run}", seconds=WAIT_SECONDS)
    [(tries,)] = airflow_kills.asked(airflow, "SELECT try_number FROM task_instance WHERE run_id = ?", dag_run)
    row = {"state": state, "tries": tries, "submitted": submitted(airflow.home, day)}
    return row | {word: said().count(word) for word in ("begin", "end", "beside")}


def submitted(home: Path, day: str) -> list[str]:
    """Return how each run that was submitted for a date ended, oldest first: its exit code, or that it was killed."""
    ends = []
    for run in sorted((home / ".workbench" / "submissions").iterdir()):
        given = json.loads(json.loads((run / "job.json").read_text())["given"])
        if given["token"] == f"counted {day}":
            ended = run / "ended"
            ends.append(str(json.loads(ended.read_text())["code"]) if ended.is_file() else "killed")
    return ends


def right(row: dict) -> bool:
    """Say whether a date passed by one job that worked alone and to its end, and others were begun only behind its death."""
    if row["state"] != "success" or row["beside"] or row["end"] != 1:
        return False
    died, last = row["submitted"][:-1], row["submitted"][-1]
    return (
        last == "0"
        and row["begin"] == len(row["submitted"])
        and died == (["killed"] if row["killed"] == "job" else [])
    )
