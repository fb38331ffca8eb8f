"""The DAG file: compiled and executed on stand-ins of Airflow's classes (`make airflow` runs it in a real Airflow)."""

import ast
import json
import re
import subprocess
import sys
import types
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench_ops.schedules import airflow, entries
from workbench_ops.schedules.running import Place

PLACE = Place("/srv/workbench", "/srv/workbench/.venv/bin/workbench", {})
TEXT = """
load: {notebook: 01_first_table, environment: lake, cron: "15 2 * * *", time_zone: Europe/Berlin, retries: 2}
gate: {notebook: 20_write_audit_publish, after: load, timeout_seconds: 60, retry_wait_seconds: 5}
left: {notebook: 21_track_history, after: load}
last: {notebook: 23_check_quality, after: [gate, left]}
import: {notebook: 40_compact_small_files, cron: "0 4 * * sun"}
"""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class FailedForGood(Exception):
    pass


class Bash:
    """What BashOperator does with an exit code, as in its provider's source."""

    template_fields = ("bash_command", "env", "cwd")

    def __init__(self, **values):
        self.values, self.before = values, []
        self.env, self.retries, self.outlets = values["env"], values["retries"], values["outlets"]
        Dag.open.tasks.append(self)

    def __rshift__(self, other):
        other.before.append(self.values["task_id"])

    def execute(self, context):
        done = subprocess.run(
            ["bash", "-c", self.values["bash_command"]],
            cwd=self.values["cwd"], env=self.env | context["env"], capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        if done.returncode in self.values["skip_on_exit_code"]:
            raise Skipped(f"Bash command returned exit code {done.returncode}. Skipping.")
        if done.returncode:
            raise Failed(done.returncode)
        return done.stdout.splitlines()[-1]


class Dag:
    open = None

    def __init__(self, **values):
        self.values, self.tasks = values, []
        MADE.append(self)

    def __enter__(self):
        Dag.open = self

    def __exit__(self, *_):
        Dag.open = None


MADE = []


def module(name, **content):
    found = types.ModuleType(name)
    vars(found).update(content)
    return {name: found}


class Asset:
    """What Airflow has of a table: with one text, it is name and address."""

    def __init__(self, uri):
        self.uri = uri


def timetable(expression, *, timezone):
    return expression, timezone


errors = {"AirflowFailException": FailedForGood, "AirflowSkipException": Skipped}
AIRFLOW_3 = (
    module("airflow") | module("airflow.sdk", DAG=Dag, Asset=Asset) | module("airflow.sdk.exceptions", **errors)
    | module("airflow.providers.standard.operators.bash", BashOperator=Bash)
    | module("airflow.timetables.trigger", CronTriggerTimetable=timetable)
)  # fmt: skip
AIRFLOW_2 = (
    module("airflow", DAG=Dag) | module("airflow.exceptions", **errors)
    | module("airflow.datasets", Dataset=Asset) | module("airflow.operators.bash", BashOperator=Bash)
    | module("airflow.timetables.trigger", CronTriggerTimetable=timetable)
)  # fmt: skip
NOT_THERE = dict.fromkeys([*AIRFLOW_3, *AIRFLOW_2])  # None: importing it is an ImportError


@pytest.fixture
def found(tmp_path):
    file = tmp_path / "schedules.yml"
    file.write_text(TEXT)
    return entries.read(file)


def made(text, modules=AIRFLOW_3):
    """The DAGs of a file, executed where only those modules of Airflow are there."""
    MADE.clear()
    with pytest.MonkeyPatch.context() as patched:
        for name, found in (NOT_THERE | modules).items():
            patched.setitem(sys.modules, name, found)
        exec(compile(text, "dags.py", "exec"), {"__name__": "dags"})
    return list(MADE)


@pytest.mark.parametrize("modules", [AIRFLOW_2, AIRFLOW_3], ids=["airflow 2", "airflow 3"])
def test_a_dag_for_each_time_and_a_task_for_each_run(found, modules):
    dags = made(airflow.text(found, PLACE), modules)
    assert [(one.values["dag_id"], one.values["schedule"]) for one in dags] == [
        ("workbench_load", ("15 2 * * *", "Europe/Berlin")), ("workbench_import", ("0 4 * * sun", "UTC")),
    ]  # fmt: skip
    assert all(one.values["catchup"] is False and one.values["max_active_runs"] == 1 for one in dags)
    tasks = [
        (t.values["task_id"], sorted(t.before), t.values["retries"], t.values["retry_delay"], t.values["execution_timeout"])
        for one in dags for t in one.tasks
    ]  # fmt: skip
    minute, hour, grace = timedelta(minutes=1), timedelta(hours=1), timedelta(seconds=airflow.GRACE_SECONDS)
    assert tasks == [
        ("load", [], 2, minute, hour + grace),
        ("gate", ["load"], 0, timedelta(seconds=5), minute + grace),
        ("left", ["load"], 0, minute, hour + grace),
        ("last", ["gate", "left"], 0, minute, hour + grace),
        ("import", [], 0, minute, hour + grace),
    ]
    page = dags[0].tasks[0].values["doc_md"]
    assert '"notebook": "01_first_table"' in page and "/srv/workbench/runs/index.html" in page


def test_the_text_is_the_same_every_time_and_holds_no_secret(found, monkeypatch):
    before = airflow.text(found, PLACE)
    monkeypatch.setenv("DB_PASSWORD", "correct horse")
    assert airflow.text(found, PLACE) == before
    assert "correct horse" not in before


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\x00")
    | st.sampled_from(list("'\"\\{}%$`\n.~ #"))
)


ODD = 'it\'s "100%" {{ ds }} {home} $HOME `x` \\n \n end.sh'


def in_fence(page):
    """Return what stands in the first code block, as Markdown ends it: at as many backticks as it began with, or more."""
    fence = re.search("^(`{3,})\n", page, re.MULTILINE)
    body, end, _ = re.split(rf"^(`{{{len(fence[1])},}})$", page[fence.end() :], maxsplit=1, flags=re.MULTILINE)
    assert end == fence[1]
    return body


@example("h", "c", "v", "a```\n````\nb", "e", "f")
@example(*[ODD] * 6)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(home=words, command=words.filter(bool), value=words, notebook=words, environment=words, failure=words)
def test_odd_values_survive(home, command, value, notebook, environment, failure):
    place = Place(f"/{home}", f"/{command}", {"JAVA_HOME": value})
    odd = entries.Entry.model_construct(
        name="load", notebook=notebook, environment=environment, params=None, cron="15 2 * * *", on_failure=failure
    )
    [dag] = made(airflow.text({"load": odd}, place))
    [task] = dag.tasks
    assert (task.values["cwd"], task.values["env"]) == (f"/{home}", {"JAVA_HOME": value})
    assert task.template_fields == ()
    said = json.loads(in_fence(task.values["doc_md"]))
    assert said == {k: v for k, v in {"notebook": notebook, "environment": environment}.items() if v}
    shown = subprocess.run(
        ["bash", "-c", "set -- " + task.values["bash_command"] + "; printf '%s\\0' \"$@\""],
        env={"AIRFLOW_CTX_TRY_NUMBER": "2", "WORKBENCH_REQUEST": "a b/c"}, capture_output=True, timeout=60,
    ).stdout  # fmt: skip
    said = [f"/{command}", "schedule", "run", "load", "--try", "2", "--request", "a b/c"]
    assert shown.decode().split("\0")[:-1] == said
    assert not task.values["bash_command"].endswith((".sh", ".bash"))  # Airflow would read a file of that name


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(0, None), (1, Failed), (2, FailedForGood), (3, FailedForGood), (4, Failed), (143, FailedForGood)],
)
def test_exit_codes_become_states(found, tmp_path, code, outcome):
    stub = tmp_path / "work bench"
    stub.write_text(f'#!/bin/sh\necho "$@"\necho /runs/report.html\nexit {code}\n')
    stub.chmod(0o755)
    task = made(airflow.text(found, Place(str(tmp_path), str(stub), {})))[0].tasks[0]
    context = instance(max_tries=2)
    if outcome is None:
        assert task.execute(context) == "/runs/report.html"
    else:
        with pytest.raises(outcome) as ended:
            task.execute(context)
        assert str(code) in str(ended.value)


def test_tries_of_a_task_are_one_request_until_a_person_clears_it(found, tmp_path):
    stub = tmp_path / "workbench"
    stub.write_text('#!/bin/sh\necho "$7"\n')
    stub.chmod(0o755)
    task = made(airflow.text(found, Place(str(tmp_path), str(stub), {})))[0].tasks[0]
    asked = [task.execute(instance(max_tries=tries)) for tries in (2, 2, 5)]
    assert asked == ["workbench_load/scheduled__2026/0"] * 2 + ["workbench_load/scheduled__2026/3"]


def instance(max_tries):
    """What Airflow hands to a task: its instance, and the variables that BashOperator exports."""
    task = types.SimpleNamespace(dag_id="workbench_load", run_id="scheduled__2026", max_tries=max_tries)
    return {"ti": task, "env": {"AIRFLOW_CTX_TRY_NUMBER": "1", "PATH": "/usr/bin:/bin"}}


def test_no_two_lines_decide_when_the_text_was_written(found):
    """Names of clocks in the file are only those of its schedules."""
    calls = [
        ast.unparse(n.func) for n in ast.walk(ast.parse(airflow.text(found, PLACE))) if isinstance(n, ast.Call)
    ]
    assert not [name for name in calls if name.endswith(("now", "utcnow", "today"))]
