"""Kills of a real Airflow while one of its tasks runs a notebook: every DAG run has one run that passed, and no two at once.

Its scheduler, its server and the process that reads DAGs run for real, with the executor that forks workers. What is
killed by signal 9 is the task's process, the worker above it, the scheduler, the notebook's own process, or nothing:
then the disk on which runs are recorded is full while the notebook works.
"""

import json
import os
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
from conftest import write_notebook
from waiting import until

from workbench._base import children

DAG = "workbench_counted"
SCHEDULES = """
counted:
  notebook: counted
  cron: "0 0 29 2 *"
  retries: 3
  retry_wait_seconds: 1
  timeout_seconds: 300
"""
# Lines of when it begins and ends, and of another one at work, which a lock shows that no dead process holds
COUNTED = """
import fcntl, os, pathlib, sys, time
home = pathlib.Path(os.environ["WORKBENCH_HOME"])
def said(word):
    with (home / "counted.txt").open("a") as lines:
        print(word, os.environ["WORKBENCH_RUN_ID"], file=lines, flush=True)
said("begin")
alone = (home / "counted.lock").open("w")
try:
    fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    said("beside")
time.sleep(SECONDS)
said("end")
"""
WORK_SECONDS = 12  # longer than Airflow takes to see that a task is gone
WAIT_SECONDS = 240
SEEN_SECONDS = {  # of Airflow, which waits for minutes before it takes a task for lost
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": "1",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "6",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "2",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "5",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "10",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "2",
    "AIRFLOW__CORE__PARALLELISM": "2",
    "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
}


def rows(command: Path, workbench: Path, env: dict, folder: Path, *, each: int = 4) -> list[dict]:
    """Make a project with one entry, let Airflow run it and kill each kind of process `each` times; returns the rows.

    Args:
        command: of Airflow.
        workbench: our own command.
        env: variables of an Airflow without examples.
        folder: empty, for the project, Airflow's files and their log.
        each: kills of a kind.
    """
    home = folder / "project"
    (home / "runs").mkdir(parents=True)
    write_notebook(
        home / "notebooks" / "counted.ipynb", COUNTED, parameters=f"SECONDS: int = {WORK_SECONDS}  # of work"
    )
    env, log = prepared(command, workbench, env, folder, SCHEDULES)
    with _small_disk(home / "runs"), running(command, env, home, log) as airflow:
        return kills(airflow, each)


def prepared(command: Path, workbench: Path, env: dict, folder: Path, schedules: str) -> tuple[dict, Path]:
    """Write a project's schedules and their DAGs, and make Airflow's database; return its variables and its log."""
    home, log = folder / "project", folder / "log.txt"
    (home / "params").mkdir(parents=True, exist_ok=True)
    (home / "params" / "schedules.yml").write_text(schedules)
    (folder / "dags").mkdir()
    env = env | {"WORKBENCH_HOME": str(home), "AIRFLOW_HOME": str(folder / "airflow")}
    env |= {"AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags")}
    written = folder / "dags" / "workbench_dags.py"
    subprocess.run([workbench, "schedule", "airflow", "--output", written], env=env, cwd=home, check=True)
    with log.open("wb") as output:
        subprocess.run([command, "db", "migrate"], env=env, stdout=output, stderr=output, check=True)
    return env, log


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """Put a file system of eight MB under a folder, which takes root; without, nothing is put there."""
    if os.geteuid() != 0:
        yield
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "workbench", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


class Airflow(NamedTuple):
    """A running Airflow: its command, its variables, its processes by name, the workers of killed schedulers, its log, the project's folder."""

    command: Path
    env: dict
    processes: dict
    workers: list
    log: Path
    home: Path


@contextmanager
def running(command: Path, env: dict, home: Path, log: Path, *, dag: str = DAG) -> Iterator[Airflow]:
    """Start Airflow's server, scheduler and reader of DAGs on loopback, and wait for a DAG; end them at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = SEEN_SECONDS | env | {
        "AIRFLOW__API__HOST": "127.0.0.1", "AIRFLOW__API__PORT": str(port), "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor", "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__API_AUTH__JWT_SECRET": os.urandom(32).hex(),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
    }  # fmt: skip
    airflow = Airflow(command, env, {}, [], log, home)
    try:
        for name in ("api-server", "dag-processor", "scheduler"):
            begun(airflow, name)
        until(lambda: _answers(port), "Airflow's server", seconds=WAIT_SECONDS)
        until(lambda: asked(airflow, "SELECT 1 FROM dag WHERE dag_id = ?", dag), "the DAG", seconds=WAIT_SECONDS)
        yield airflow
    finally:
        psutil.wait_procs([each.terminate() or each for each in airflow.processes.values()], timeout=20)
        for process in [*_ours(airflow), *airflow.workers]:  # what did not end by itself
            with suppress(psutil.Error):
                process.kill()


def begun(airflow: Airflow, name: str) -> None:
    """Start one of Airflow's processes, in a group of its own."""
    more = ["--skip-serve-logs"] if name == "scheduler" else []  # a server for all the world
    with airflow.log.open("ab") as log:
        airflow.processes[name] = psutil.Popen(
            [airflow.command, name, *more], env=airflow.env, stdout=log, stderr=log, start_new_session=True,
            preexec_fn=children.end_with_parent,
        )  # fmt: skip


def kills(airflow: Airflow, each: int) -> list[dict]:
    """Kill each kind of process so many times while the notebook works; returns a row a kill."""
    rows = []
    for kind, kill in KINDS.items():
        if kind == "disk full" and not os.path.ismount(airflow.home / "runs"):
            print("no disk was filled, which takes root")
            continue
        for number in range(1, each + 1):
            row = {"killed": kind, "number": number} | _one(airflow, kind, kill)
            print(json.dumps(row), flush=True)
            rows.append(row)
    return rows


def _one(airflow: Airflow, kind: str, kill: Callable[[Airflow, psutil.Process], None]) -> dict:
    """Trigger a DAG run, kill while its notebook works, wait for its end; returns what came of it."""
    dag_run = f"{kind.replace(' ', '_')}_{time.time_ns()}"
    before = len(lines(airflow.home))
    subprocess.run(
        [airflow.command, "dags", "trigger", DAG, "--run-id", dag_run],
        env=airflow.env,
        capture_output=True,
        check=True,
    )
    until(lambda: len(lines(airflow.home)) > before, "the notebook's begin", seconds=WAIT_SECONDS)
    kill(airflow, runner_of(airflow))
    state = until(lambda: state_of(airflow, dag_run), f"the end of {dag_run}", seconds=WAIT_SECONDS)
    said = [word for word, _ in lines(airflow.home)[before:]]
    mine = [one for one in records(airflow.home) if (one["request"] or "").startswith(f"{DAG}/{dag_run}/")]
    [(tries,)] = asked(airflow, "SELECT try_number FROM task_instance WHERE run_id = ?", dag_run)
    row = {"state": state, "tries": tries, "runs": [record["status"] for record in mine]}
    row |= {word: said.count(word) for word in ("begin", "end", "beside")}
    return row | {"right": right(row)}


def right(row: dict) -> bool:
    """Say whether a DAG run passed by one run, which worked alone and to its end, and each other ended badly."""
    once = row["runs"].count("passed") == row["end"] == 1
    return row["state"] == "success" and once and not row["beside"] and row["begin"] == len(row["runs"])


def records(home: Path) -> list[dict]:
    """Return the records of all runs, oldest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in home.glob("runs/*/*/run.json")]
    return sorted(found, key=lambda record: record["run_id"])


def lines(home: Path) -> list[tuple[str, str]]:
    """Return what the notebook wrote: (word, run id)."""
    path = home / "counted.txt"
    return [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []


def _kill_task(airflow, runner):
    _above(runner)[0].kill()


def _kill_worker(airflow, runner):
    _above(runner)[1].kill()


def _kill_scheduler(airflow, runner):
    scheduler = airflow.processes.pop("scheduler")
    # a worker's title lies over its environment, so that nobody knows it again when its parent is gone
    airflow.workers.extend(each for each in scheduler.children() if "worker" in " ".join(_command(each)))
    scheduler.kill()
    time.sleep(3)
    begun(airflow, "scheduler")


def _kill_notebook(airflow, runner):
    for process in runner.children(recursive=True):
        process.kill()


def _fill_disk(airflow, runner):
    """Leave no room where runs are recorded until the run has ended."""
    filler = airflow.home / "runs" / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"0" * 4096)
        except OSError:
            pass
    psutil.wait_procs([runner], timeout=WAIT_SECONDS)
    filler.unlink()


KINDS = {
    "task": _kill_task, "worker": _kill_worker, "scheduler": _kill_scheduler, "notebook": _kill_notebook,
    "disk full": _fill_disk,
}  # fmt: skip


def runner_of(airflow):
    """Return the process of `workbench schedule run` that the notebook, or the job, at work belongs to."""
    found = [each for each in _ours(airflow) if "schedule" in _command(each) and "counted" in _command(each)]
    return next(each for each in found if "bash" not in _command(each)[0])


def _above(runner):
    """Return the processes above a run that are Airflow's: the task's, the worker's, the scheduler's."""
    return [each for each in runner.parents() if "bash" not in _command(each)[0]]


def _ours(airflow):
    """Return the living processes of this Airflow and of what it started."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("AIRFLOW_HOME") == airflow.env["AIRFLOW_HOME"]:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def _command(process):
    try:
        return process.cmdline() or [""]
    except psutil.Error:
        return [""]


def asked(airflow, statement, *values):
    """Ask Airflow's database."""
    with closing(sqlite3.connect(Path(airflow.env["AIRFLOW_HOME"]) / "airflow.db", timeout=30)) as connection:
        return connection.execute(statement, values).fetchall()


def state_of(airflow, dag_run):
    """Return how a DAG run ended; nothing while it runs."""
    rows = asked(airflow, "SELECT state FROM dag_run WHERE run_id = ?", dag_run)
    return next((state for (state,) in rows if state in ("success", "failed")), "")


def _answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
