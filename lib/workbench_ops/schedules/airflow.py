"""The DAG file that Airflow takes: a DAG for each entry that begins by itself, with a task for each that follows.

A DAG has one schedule, its own history, its own pause switch and one run at a time, which is what people look
for in Airflow; what runs after something else belongs to the same DAG, as a task with its own log and tries.
Tables that entries update are assets, whose events have the snapshot's id; what waits for an update is a DAG that
they start. Each task is `workbench schedule run` in the project's own Python environment; Airflow's needs neither
Spark nor more.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from string import Template

from workbench_ops.schedules import entries as schedules
from workbench_ops.schedules import running, updates
from workbench_ops.schedules.entries import Entry
from workbench_ops.schedules.running import Place

GRACE_SECONDS = 120  # the runner ends a run that is too slow and records it; Airflow only ends a runner that hangs
START = datetime(2026, 1, 1, tzinfo=UTC)  # fixed, so that the text is; nothing is caught up

TRY = '--try "$AIRFLOW_CTX_TRY_NUMBER" --request "$WORKBENCH_REQUEST"'
UPDATES = ' --updates "$WORKBENCH_UPDATES" $WORKBENCH_LOOK'  # the last one is an option, or nothing

DATE = ' --date "$WORKBENCH_DATE"'

HEAD = Template('''\
"""DAGs of the schedules in $source, written by `workbench schedule airflow`; change that file instead.

Airflow 2.11 and 3. A refused run (exit code 2), one that was too slow (3) and one that was stopped (143) fail and
are not tried again: they need a person. A failure (1) and a dead kernel (4) are, as often as the entry says.
"""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

try:
    from airflow.sdk import DAG
    from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
except ImportError:  # Airflow 2 and the first of 3
    from airflow import DAG
    from airflow.exceptions import AirflowFailException, AirflowSkipException
try:
    from airflow.providers.standard.operators.bash import BashOperator
except ImportError:  # Airflow 2 without the standard provider
    from airflow.operators.bash import BashOperator
try:
    from airflow.sdk import Asset
except ImportError:  # Airflow 2
    from airflow.datasets import Dataset as Asset
from airflow.timetables.trigger import CronTriggerTimetable

FINAL = $final


class WorkbenchRun(BashOperator):
    """`workbench schedule run` of one entry; its last line of output, kept as XCom, is the path of the report."""

    template_fields = ()  # paths are taken as they are, braces included

    def execute(self, context):
        task = context["ti"]
        # A try that was killed may have left its run behind: the next one, of the same request, takes that run's
        # verdict. A person who clears a task asks anew; Airflow raises max_tries then.
        request = f"{task.dag_id}/{task.run_id}/{task.max_tries - self.retries}"
        self.env = {**self.env, "WORKBENCH_REQUEST": request}
        if zone := self.env.get("WORKBENCH_ZONE"):  # the day that was due, also of a backfill and a late try
            moment = context.get("logical_date") or context["dag_run"].run_after
            self.env["WORKBENCH_DATE"] = moment.astimezone(ZoneInfo(zone)).date().isoformat()
        if not (self.outlets or self.env.get("WORKBENCH_WAITS")):
            return self.called(context)
        # An update by a load that found nothing new starts nobody; a person who asks gets a run.
        kind = context["dag_run"].run_type if self.env.get("WORKBENCH_WAITS") else ""
        kind = getattr(kind, "value", kind)  # a text in Airflow 2: dataset_triggered
        triggered = kind.endswith("_triggered")
        asked_anew = task.max_tries > self.retries
        self.env["WORKBENCH_LOOK"] = "--if-updated" if triggered and not asked_anew else ""
        with TemporaryDirectory() as folder:
            self.env["WORKBENCH_UPDATES"] = f"{folder}/updates.json"
            last_line = self.called(context)
            told = json.loads(Path(self.env["WORKBENCH_UPDATES"]).read_text(encoding="utf-8"))
        if told["nothing_new"]:
            raise AirflowSkipException(told["nothing_new"])
        for asset in self.outlets:
            context["outlet_events"][asset].extra = {"snapshot_id": told["snapshots"][asset.uri]}
        return last_line

    def called(self, context):
        try:
            return super().execute(context)
        except AirflowSkipException as ended:  # how BashOperator tells an exit code from others
            raise AirflowFailException(f"{ended} Not skipped, but failed, and not tried again.") from ended


def run(name, *, timeout_seconds, retries, retry_wait_seconds, doc_md, zone=None, waits=False, updates=()):
    return WorkbenchRun(
        task_id=name,
        bash_command=$command + ($date if zone else "") + ($updates if waits or updates else ""),
        env=$variables | ({"WORKBENCH_ZONE": zone} if zone else {}) | ({"WORKBENCH_WAITS": "1"} if waits else {}),
        outlets=[Asset(uri) for uri in updates],
        append_env=True,
        cwd=$home,
        skip_on_exit_code=FINAL,
        execution_timeout=timedelta(seconds=timeout_seconds + $grace),
        retries=retries,
        retry_delay=timedelta(seconds=retry_wait_seconds),
        doc_md=doc_md,
    )

''')


def text(entries: Mapping[str, Entry], place: Place) -> str:
    """Return a Python file with a DAG `workbench_<entry>` for each entry that begins by itself.

    Args:
        entries: what `entries.read` returned.
        place: Place of the project.

    Returns:
        text, the same for the same arguments: it has no date and no secret (references stay references).
    """
    head = HEAD.substitute(
        source=schedules.FILE,
        final=repr(running.FINAL),
        command=f"{shlex.quote(place.command)!r} + f' schedule run {{name}} {TRY}'",
        date=repr(DATE),
        updates=repr(UPDATES),
        variables=repr(place.variables),
        home=repr(place.home),
        grace=GRACE_SECONDS,
    )
    return "\n".join([head, *(_dag(entries, name, place) for name, entry in entries.items() if entry.begins)])


def _dag(entries: Mapping[str, Entry], name: str, place: Place) -> str:
    entry, names = entries[name], schedules.chain(entries, name)
    schedule = f"CronTriggerTimetable({entry.cron!r}, timezone={entry.time_zone!r})"
    if entry.after_update:
        schedule = f"[{', '.join(f'Asset({asset!r})' for asset in _assets(entry, entry.after_update))}]"
    start = f"datetime({START.year}, {START.month}, {START.day}, tzinfo=timezone.utc)"
    lines = [
        "with DAG(",
        f"    dag_id={'workbench_' + name!r},",
        f"    schedule={schedule},",
        f"    start_date={start},",
        "    catchup=False,",
        "    max_active_runs=1,",
        "    tags=['workbench'],",
        "):",
        "    tasks = {}",
    ]
    for task_name in names:
        task = entries[task_name]
        lines += [
            f"    tasks[{task_name!r}] = run(",
            f"        {task_name!r},",
            f"        timeout_seconds={task.timeout_seconds!r},",
            f"        retries={task.retries!r},",
            f"        retry_wait_seconds={task.retry_wait_seconds!r},",
            f"        doc_md={_page(task, place)!r},",
            *([f"        zone={entry.time_zone!r},"] if task.takes_date else []),
            *(["        waits=True,"] if task.after_update else []),
            *([f"        updates={_assets(task, task.updates)!r},"] if task.updates else []),
            "    )",
        ]
    lines += [
        f"    tasks[{before!r}] >> tasks[{task_name!r}]"
        for task_name in names
        for before in entries[task_name].after
    ]
    return "\n".join([*lines, ""])


def _assets(entry: Entry, tables: Sequence[str]) -> list[str]:
    return [updates.asset(entry.environment, table) for table in tables]


def _page(entry: Entry, place: Place) -> str:
    """Markdown of a task: what it runs and where its report is; values in code blocks, where nothing is markup."""
    if entry.command:
        return f"A command of workbench:\n\n{_fenced(entry.command)}\n"
    if entry.script:
        return f"A script for {' or '.join(entry.target)}, once a date:\n\n{_fenced(entry.script)}\n"
    values = {"notebook": entry.notebook, "params": entry.params, "environment": entry.environment}
    index = str(Path(place.home) / "runs" / "index.html")
    what = json.dumps({key: value for key, value in values.items() if value}, indent=1, ensure_ascii=False)
    return f"A notebook run:\n\n{_fenced(what)}\n\nAll reports, the newest first:\n\n{_fenced(index)}\n"


def _fenced(value: str) -> str:
    fence = "```"
    while fence in value:
        fence += "`"
    return f"{fence}\n{value}\n{fence}"
