"""Entries that begin after an update: refused when wrong, begun by what updates their tables, and not for nothing."""

import enum
import json
import types

import pyarrow as pa
import pytest
from test_schedule_dags import AIRFLOW_2, AIRFLOW_3, Skipped, made
from test_schedule_targets import called, here  # noqa: F401  (a fixture)

from workbench import session
from workbench._base.errors import ArgumentError
from workbench_ops.schedules import airflow, crontab, entries, times, updates
from workbench_ops.schedules.running import Place

TEXT = """
load: {notebook: n, cron: "15 2 * * *", environment: lake, updates: sales.orders}
other: {notebook: n, cron: "15 3 * * *", environment: lake, updates: [sales.people]}
read: {notebook: m, after_update: sales.orders, environment: lake, updates: sales.days}
both: {notebook: m, after_update: [sales.orders, sales.people], environment: lake}
last: {notebook: k, after: read}
end: {notebook: k, after_update: sales.days, environment: lake, time_zone: Europe/Berlin, run_date: DAY}
"""
PLACE = Place("/srv/workbench", "/srv/workbench/.venv/bin/workbench", {})
ORDERS, PEOPLE, DAYS = (f"iceberg://lake/sales.{name}" for name in ("orders", "people", "days"))


def read(folder, text=TEXT):
    (folder / "params").mkdir(exist_ok=True)
    (file := folder / "params" / "schedules.yml").write_text(text)
    return entries.read(file)


@pytest.fixture
def lake(project):
    """Return a function that appends a row to a table of the project's lake, made when it is missing."""
    catalog = session.catalog("lake")
    catalog.create_namespace_if_not_exists("sales")
    rows = pa.table({"id": [1]})

    def append(name):
        catalog.create_table_if_not_exists(f"sales.{name}", rows.schema).append(rows)
        return str(catalog.load_table(f"sales.{name}").current_snapshot().snapshot_id)

    return append


A = 'a: {notebook: x, cron: "1 2 * * *", environment: lake, updates: n.t}\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('a: {notebook: x, cron: "1 2 * * *", updates: n.t}', "a: updates needs environment: it says which catalog"),
        ("a: {notebook: x, after_update: n.t}", "a: after_update needs environment"),
        ('a: {notebook: x, cron: "1 2 * * *", after_update: n.t, environment: lake}', "found cron and after_update"),
        (A.replace("n.t", "t"), "a: updates: a table must be namespace.name without its catalog, found 't'"),
        (A.replace("n.t", "'n.t; x'"), "a table must be namespace.name without its catalog, found 'n.t; x'"),
        (A.replace("n.t", "[n.t, n.t]"), "a: updates: it names a table twice: n.t, n.t"),
        (A + "b: {notebook: y, after_update: n.t, environment: lake, updates: n.t}",
         "b would start itself again: b updates b"),
        (A + "b: {notebook: y, after_update: n.u, environment: lake}\n"
         "c: {notebook: y, after: b, environment: lake, updates: n.v}\n"
         "d: {notebook: y, after_update: n.v, environment: lake, updates: n.u}", "would start itself again: b updates d updates b"),
        (A + "b: {command: maintain, after_update: n.t}", "b: after_update needs environment"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_sentence(tmp_path, text, sentence):
    with pytest.raises(ArgumentError) as refusal:
        read(tmp_path, text)
    assert sentence in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("environment", "said"),
    [("local", "the tables of the environment local are gone with its run"), ("lkae", "did you mean lake?")],
)
def test_an_environment_whose_tables_do_not_stay_is_refused(project, environment, said):
    found = read(
        project,
        TEXT.replace("environment: lake, updates: sales.orders", f"environment: {environment}, updates: a.b"),
    )
    assert said in (updates.refusal(found["load"]) or "")
    assert updates.refusal(found["read"]) is None and updates.refusal(found["last"]) is None


def test_cron_starts_what_waits_and_refuses_what_nobody_starts(tmp_path):
    found = read(tmp_path)
    text = crontab.text(found, PLACE, daemon=("UTC", times.zone("UTC")), year=2026)
    assert "# load: 15 2 * * * (UTC); after its updates read, both\n" in text
    assert text.count("schedule run") == 2
    with pytest.raises(
        ArgumentError, match=r"end: no entry updates sales\.days, so cron has nothing that starts it"
    ):
        crontab.text(
            read(tmp_path, TEXT.replace(", updates: sales.days", "")), PLACE, daemon=("UTC", times.zone("UTC"))
        )


class Runs:
    """What `follow` is given to run entries: it notes them, and updates tables as they would."""

    def __init__(self, found, append, codes=()):
        self.found, self.append, self.codes, self.ran, self.made = found, append, dict(codes), [], {}

    def start(self, entry):
        self.ran.append(entry.name)
        began = updates.begun(entry, None) if entry.after_update else None
        code = self.codes.get(entry.name, 0)
        for table in entry.updates if not code else ():
            self.append(table.removeprefix("sales."))
        if not code and began is not None:
            updates.remember(entry, began)
        if not code and entry.updates:
            self.made[entry.name] = updates.made(entry)
        return code, None

    def follow(self):
        said = []
        code = updates.follow(self.found, self.made, lambda _: self.start, notify=lambda *_: None, say=said.append)
        return code, said


def test_what_waits_runs_once_an_update_and_not_before_all_its_tables_have_one(project, lake):
    runs = Runs(read(project), lake)
    runs.start(runs.found["load"])
    code, said = runs.follow()
    assert (code, runs.ran) == (0, ["load", "read", "last", "end"])
    assert said == [f"both is not started: {PEOPLE} has nothing new"]
    assert runs.made["read"] == {DAYS: runs.made["read"][DAYS]} and runs.made["read"][DAYS].isdigit()

    runs.ran, runs.made = [], {}
    runs.start(runs.found["other"])
    assert runs.follow() == (0, []) and runs.ran == ["other", "both"]

    runs.ran, runs.made = [], {"load": updates.made(runs.found["load"])}  # it passed and committed nothing
    code, said = runs.follow()
    assert (code, runs.ran) == (0, []) and f"read is not started: {ORDERS} has nothing new" in said


def test_what_failed_is_begun_again_by_the_next_update(project, lake):
    runs = Runs(read(project), lake, {"read": 1})
    runs.start(runs.found["load"])
    assert runs.follow()[0] == 1 and runs.ran == ["load", "read"]
    runs.codes = {}
    runs.ran, runs.made = [], {"load": updates.made(runs.found["load"])}
    assert runs.follow()[0] == 0 and runs.ran == ["read", "last", "end"]


def test_what_came_after_an_adopted_run_began_is_not_taken_for_worked_on(project, lake):
    entry = read(project)["read"]
    first = lake("orders")
    assert updates.begun(entry, "dag/run/0") == {ORDERS: first}
    second = lake("orders")
    assert updates.begun(entry, "dag/run/0") == {ORDERS: first}  # a later try, which may adopt the run
    updates.remember(entry, {ORDERS: first})
    assert updates.unseen(entry, {ORDERS: second}) == [ORDERS]
    assert updates.begun(entry, "dag/other/0") == {ORDERS: second}


def test_a_table_that_is_not_there_after_all_is_said(project, lake):
    found = read(project)
    with pytest.raises(
        ArgumentError, match="load passed, and iceberg://lake/sales.orders of its updates has no snapshot"
    ):
        updates.made(found["load"])
    assert updates.unseen(found["read"], {ORDERS: None}) == []


SCRIPT = """
import sys, pyarrow as pa
from workbench import session
rows = pa.table({"id": [1]})
catalog = session.catalog("lake")
catalog.create_namespace_if_not_exists("sales")
catalog.create_table_if_not_exists("sales.orders", rows.schema).append(rows)
"""
WHOLE = """
load: {script: load.py, target: here, cron: "15 2 * * *", environment: lake, updates: sales.orders}
read: {command: map check {date}.json, after_update: sales.orders, environment: lake}
""".replace("map check {date}.json", '"map check {date}.json"')


def test_the_command_runs_what_waits_and_tells_a_scheduler(project, capfd):
    (project / "params" / "targets").mkdir(parents=True)
    (project / "params" / "targets" / "here.yml").write_text("type: process\n")
    (project / "load.py").write_text(SCRIPT)
    read(project, WHOLE)
    (project / "2026-01-31.json").write_text("{}")
    answer = called("check")
    assert answer.returncode == 0 and "after an update of sales.orders" in answer.stdout, answer.stderr
    answer = called("run", "load", "--date", "2026-01-31")  # its date is handed on
    assert answer.returncode == 2 and "2026-01-31.json does not run here" in capfd.readouterr().err

    told = project / "told.json"
    answer = called("run", "load", "--date", "2026-01-31", "--try", "1", "--updates", str(told))
    snapshot = str(session.catalog("lake").load_table("sales.orders").current_snapshot().snapshot_id)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(told.read_text()) == {"nothing_new": None, "snapshots": {ORDERS: snapshot}}
    updates.remember(entries.read()["read"], {ORDERS: snapshot})
    answer = called("run", "read", "--try", "1", "--updates", str(told), "--if-updated")
    sentence = f"read is not run: {ORDERS} has nothing new"
    assert answer.returncode == 0 and sentence in answer.stderr
    assert json.loads(told.read_text()) == {"nothing_new": sentence, "snapshots": {}}


def test_options_of_schedulers_that_know_assets_need_a_try(project):
    read(project)
    for words in (["--if-updated"], ["--updates", "x.json"]):
        answer = called("run", "load", *words)
        assert answer.returncode == 2 and "need --try" in answer.stderr
    answer = called("run", "load", "--try", "1", "--if-updated")
    assert answer.returncode == 2 and "--if-updated: load has no after_update" in answer.stderr


STUB = """#!/bin/sh
echo "$@" >>calls
while [ "$1" != --updates ]; do shift; done
echo '{"nothing_new": '"${NOTHING-null}"', "snapshots": {"iceberg://lake/sales.orders": "5", "iceberg://lake/sales.days": "7"}}' >"$2"
echo /runs/report.html
"""


@pytest.mark.parametrize("modules", [AIRFLOW_2, AIRFLOW_3], ids=["airflow 2", "airflow 3"])
def test_assets_start_dags_and_their_events_have_the_snapshot(tmp_path, modules):
    (stub := tmp_path / "workbench").write_text(STUB)
    stub.chmod(0o755)
    dags = {
        one.values["dag_id"]: one
        for one in made(airflow.text(read(tmp_path), Place(str(tmp_path), str(stub), {})), modules)
    }
    assert sorted(dags) == [f"workbench_{name}" for name in ("both", "end", "load", "other", "read")]
    schedules = {
        name: [asset.uri for asset in dags[f"workbench_{name}"].values["schedule"]]
        for name in ("both", "end", "read")
    }
    assert schedules == {"both": [ORDERS, PEOPLE], "end": [DAYS], "read": [ORDERS]}
    [load], [reader, last] = dags["workbench_load"].tasks, dags["workbench_read"].tasks
    assert ([a.uri for a in load.outlets], [a.uri for a in reader.outlets], last.outlets) == ([ORDERS], [DAYS], [])
    assert last.before == ["read"]

    context = asked(load)
    assert load.execute(context) == "/runs/report.html"
    assert [event.extra for event in context["outlet_events"].values()] == [{"snapshot_id": "5"}]
    kinds = (
        ("asset_triggered", 0, True),
        ("dataset_triggered", 0, True),
        ("manual", 0, False),
        ("asset_triggered", 1, False),
    )
    for kind, tries, look in kinds:
        reader.execute(asked(reader, kind, tries))
        assert (tmp_path / "calls").read_text().splitlines()[-1].endswith("--if-updated") == look, kind
    quiet = asked(reader, "asset_triggered", 0)
    quiet["env"]["NOTHING"] = '"read is not run"'
    with pytest.raises(Skipped, match="read is not run"):
        reader.execute(quiet)
    assert not any(hasattr(event, "extra") for event in quiet["outlet_events"].values())


class RunType(enum.Enum):
    """As Airflow has it: its text is not its value."""

    SCHEDULED = "scheduled"
    MANUAL = "manual"
    ASSET_TRIGGERED = "asset_triggered"


def asked(task, kind="scheduled", tries=0):
    """What Airflow hands to a task, with the events of its outlets."""
    instance = types.SimpleNamespace(dag_id="d", run_id="r", max_tries=tries)
    run = types.SimpleNamespace(run_type=kind if kind == "dataset_triggered" else RunType(kind), run_after=None)
    events = {asset: types.SimpleNamespace() for asset in task.outlets}
    env = {"AIRFLOW_CTX_TRY_NUMBER": "1", "PATH": "/usr/bin:/bin"}
    return {"ti": instance, "dag_run": run, "env": env, "outlet_events": events}
