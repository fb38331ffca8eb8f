"""A real Airflow runs the DAG file that `workbench schedule airflow` writes: `make airflow`, not part of `make check`.

In a project made for it: the template passes and what follows it runs, a planted notebook fails twice (one try more
is allowed), what follows that is not started, and an entry whose params file was broken meanwhile is refused once.
Airflow lives in an environment of its own under .workbench/airflow, with SQLite and without its examples. Its reading
of cron expressions is compared with ours on the way. Then twenty kills beside a running scheduler (airflow_kills): each
DAG run has one run that passed; and twenty of what waits for a job of a target (airflow_submits): each date is submitted
once. Then an entry updates a table, whose event starts another one (airflow_updates). Its own
page of the run that failed is shown to a browser: the picture in docs/schedules.md, which stays as it was where no
Chromium is installed.
"""

import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import nbformat

from bench import airflow_kills, airflow_picture, airflow_submits, airflow_updates, evidence
from workbench_ops.schedules import times

ROOT = Path(__file__).resolve().parents[2]
AIRFLOW = ROOT / ".workbench" / "airflow" / "venv" / "bin"
WORKBENCH = Path(sys.executable).parent / "workbench"
SCHEDULES = """
passing:
  notebook: 00_template
  environment: local
  cron: "15 2 * * *"
behind_passing:
  notebook: 02_small
  after: passing
failing:
  notebook: 03_fails
  cron: "15 2 * * *"
  retries: 1
  retry_wait_seconds: 0
behind_failing:
  notebook: 04_small
  after: failing
refused:
  notebook: 02_small
  params: params/refused.yml
  cron: "15 2 * * *"
  retries: 1
  retry_wait_seconds: 0
"""
KILLS, SUBMITS = 4, 5  # of each kind
# state in Airflow, tries there, exit codes in our own records
EXPECTED = {
    "passing": ("success", 1, [0]),
    "behind_passing": ("success", 1, [0]),
    "failing": ("failed", 2, [1, 1]),
    "behind_failing": ("upstream_failed", 0, []),
    "refused": ("failed", 1, [2]),
}
EXPRESSIONS = {
    "15 2 * * *": "UTC",
    "*/20 8-17 * * 1-5": "America/New_York",
    "0 4 1,15 * 5": "UTC",
    "30 23 29 2 *": "Europe/Berlin",
    "0 6 * * 0,5-6": "Asia/Kathmandu",
    "5 12 * jan sun": "Australia/Lord_Howe",
    "30 2 * * *": "Europe/Berlin",
}
BEGIN = "2026-03-27T00:00:00+00:00"  # two days before the clock of Berlin jumps
AIRFLOWS_TIMES = """
import json, sys
import pendulum
from airflow.timetables.base import TimeRestriction
from airflow.timetables.trigger import CronTriggerTimetable
expressions, begin = json.loads(sys.argv[1]), pendulum.parse(sys.argv[2])
found = {}
for expression, zone in expressions.items():
    table = CronTriggerTimetable(expression, timezone=zone)
    moment, times = begin, []
    for _ in range(5):
        moment = table._get_next(moment)
        times.append(moment.in_timezone("UTC").isoformat())
    found[expression] = times
print(json.dumps(found))
"""


def main():
    """Run the DAGs, print a table, keep the states; ends with 1 when one is not as expected."""
    with tempfile.TemporaryDirectory(prefix="workbench-airflow-") as folder:
        home = made(Path(folder) / "project")
        env = environment(Path(folder), home)
        dags = Path(folder) / "dags" / "workbench_dags.py"
        dags.parent.mkdir()
        subprocess.run([WORKBENCH, "schedule", "airflow", "--output", dags], env=env, cwd=home, check=True)
        (home / "params" / "refused.yml").write_text("NOT_THERE: 1\n")
        log = ROOT / ".workbench" / "airflow" / "log.txt"
        with log.open("w") as output:
            asked(env, "db", "migrate", output=output)
            for name in ("passing", "failing", "refused"):
                print(f"airflow dags test workbench_{name}", flush=True)
                asked(env, "dags", "test", f"workbench_{name}", "--dagfile-path", dags, output=output)
            database = Path(folder) / "airflow" / "airflow.db"
            airflow_picture.take(AIRFLOW / "airflow", env, page(database, "workbench_failing"), output=output)
        found = states(database, home)
        version = airflow_version(env)
        ours, theirs = following(), airflows_following(env)
    table(found)
    disagreeing = sorted(expression for expression in EXPRESSIONS if ours[expression] != theirs[expression])
    print(
        f"next times as Airflow reads them: {len(EXPRESSIONS) - len(disagreeing)} of {len(EXPRESSIONS)} the same"
    )
    for expression in disagreeing:
        print(f"  {expression} {EXPRESSIONS[expression]}: ours {ours[expression]}, Airflow's {theirs[expression]}")
    kills = beside_scheduler(airflow_kills, each=KILLS)
    submits = beside_scheduler(airflow_submits, each=SUBMITS)
    updated = beside_scheduler(airflow_updates)
    right = {name: tuple(one) for name, one in found.items()} == EXPECTED
    evidence.write(
        "airflow",
        show=False,
        what="the DAGs of tests/bench/airflow_runs.py run by `airflow dags test`: state, tries, our exit codes",
        airflow={"airflow": version, "python": platform.python_version(), "database": "sqlite"},
        states={
            name: dict(zip(("state", "tries", "exit_codes"), one, strict=True)) for name, one in found.items()
        },
        as_expected=right,
        kills_what="signal 9, or a full disk of runs, while a DAG run's notebook works; `right`: the DAG run passed by one "
        "run that worked alone and to its end, and each other run of it ended badly",
        kills=kills,
        submits_what="signal 9 while a DAG run waits for its date's job of a target; `right`: the date passed by one job that "
        "worked alone and to its end, and another one was submitted only where the job itself was killed; "
        "`submitted`: how each ended",
        submits=submits,
        updates_what="an entry that updates a table is run twice for one date: its asset's event starts the entry that waits "
        "with the snapshot's id, and the second time, when nothing was submitted, that one is skipped; "
        "a script that is backfilled twice for three dates is submitted once a date",
        updates=[{name: value for name, value in row.items() if name != "snapshot"} for row in updated],
        expressions_compared=len(EXPRESSIONS),
        expressions_read_differently=disagreeing,
    )
    sys.exit(0 if right and all(row["right"] for row in [*kills, *submits, *updated]) else 1)


def beside_scheduler(module, **options):
    """Return the rows of a module that runs Airflow's scheduler, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="workbench-airflow-") as folder:
        place = Path(folder)
        env = environment(place, place / "project")
        return module.rows(AIRFLOW / "airflow", WORKBENCH, env, place, **options)


def made(home):
    """Make a project: the template and small notebooks beside it, its schedules, and a params file that is right."""
    (home / "notebooks").mkdir(parents=True)
    (home / "params").mkdir()
    (home / "params" / "schedules.yml").write_text(SCHEDULES)
    (home / "params" / "refused.yml").write_text("N: 2\n")
    shutil.copy(ROOT / "notebooks" / "00_template.ipynb", home / "notebooks")
    for name, code in (("02_small", "print(N)"), ("03_fails", "print(1 / 0)"), ("04_small", "print(N)")):
        nb = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        nb.cells = [
            nbformat.v4.new_code_cell("N: int = 1  # any", metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell(code),
        ]
        nbformat.write(nb, home / "notebooks" / f"{name}.ipynb")
    return home


def environment(folder, home):
    """Return the variables of an Airflow of its own: SQLite, no examples, nothing sent home."""
    paths = [
        p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and Path(p).resolve().name != "tests"
    ]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in paths),
        "WORKBENCH_HOME": str(home),
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }


def asked(env, *arguments, output):
    """Call Airflow's command; a failed DAG is no error of the call, so its states are read afterwards."""
    return subprocess.run([AIRFLOW / "airflow", *map(str, arguments)], env=env, stdout=output, stderr=output)


def states(database, home):
    """Return name to (state, tries, exit codes of our records) of every task."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT dag_id, task_id, state, try_number FROM task_instance").fetchall()
    codes = {}
    for path in sorted(home.glob("runs/*/*/run.json")):
        one = json.loads(path.read_text())
        key = "refused" if one["status"] == "refused" else one["notebook"]
        codes.setdefault(key, []).append(one["exit_code"])
    of = {
        "passing": "00_template",
        "behind_passing": "02_small",
        "failing": "03_fails",
        "behind_failing": "04_small",
    }
    found = {task: [state, tries, codes.get(of.get(task, task), [])] for _, task, state, tries in rows}
    return {name: found.get(name, [None, None, []]) for name in EXPECTED}


def page(database, dag):
    """Return the path of Airflow's page of a DAG's only run."""
    with closing(sqlite3.connect(database)) as connection:
        ((run,),) = connection.execute("SELECT run_id FROM dag_run WHERE dag_id = ?", (dag,)).fetchall()
    return f"/dags/{quote(dag)}/runs/{quote(run)}"


def table(found):
    """Print what became of each task beside what was expected."""
    for name, (state, tries, codes) in found.items():
        verdict = "as expected" if (state, tries, codes) == EXPECTED[name] else f"EXPECTED {EXPECTED[name]}"
        print(f"{name:16} {state!s:16} tries {tries}  exit codes {codes}  {verdict}")


def airflow_version(env):
    """Return Airflow's version."""
    said = subprocess.run([AIRFLOW / "airflow", "version"], env=env, capture_output=True, text=True, check=True)
    return said.stdout.split()[-1]


def following():
    """Return the next five times of each expression as we compute them, UTC."""
    begin = datetime.fromisoformat(BEGIN)
    zone = begin.tzinfo
    return {
        expression: [
            one.astimezone(zone).isoformat() for one in times.following(expression, time_zone, begin, count=5)
        ]
        for expression, time_zone in EXPRESSIONS.items()
    }


def airflows_following(env):
    """Return the same as Airflow computes them."""
    command = [AIRFLOW / "python", "-c", AIRFLOWS_TIMES, json.dumps(EXPRESSIONS), BEGIN]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return json.loads(said.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
