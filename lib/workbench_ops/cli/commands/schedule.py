"""`workbench schedule`: check `params/schedules.yml`, run an entry of it, write what cron and Airflow take."""

import json
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import columns
from workbench_ops.saying import say

if TYPE_CHECKING:
    from workbench_ops.run.preparing import Job, Prepared
    from workbench_ops.run.record import Record
    from workbench_ops.schedules import Entry
    from workbench_ops.schedules.running import Start
    from workbench_ops.schedules.updates import Snapshots

schedule = typer.Typer(help="When notebooks run: params/schedules.yml by cron or Airflow.", no_args_is_help=True)
Output = Annotated[
    Path | None, typer.Option(metavar="FILE", help="write it there instead of printing it", resolve_path=True)
]
CRON_PATH = "/usr/bin:/bin"  # what a crontab without a PATH has


@schedule.command()
def check(
    context: typer.Context,
    now: Annotated[
        str | None, typer.Option(metavar="TIME", help="pretend that it is this UTC time, such as 2026-01-31T02:15")
    ] = None,
) -> None:
    """Validate every entry and print the next three times it would run (exit 2: something is wrong)."""
    from workbench_ops import schedules
    from workbench_ops.schedules import running, times, updates

    entries, begin = schedules.read(), _moment(now) if now else datetime.now(UTC)
    planned = _validated(entries, context)
    lines = [("ENTRY", "RUNS", "ENVIRONMENT", "NEXT TIMES")]
    for name, entry in entries.items():
        when = f"after {', '.join(entry.after)}"
        if entry.after_update:
            when = f"after an update of {', '.join(entry.after_update)}"
        if entry.cron:
            following = times.following(entry.cron, entry.time_zone, begin, count=3)
            when = ", ".join(f"{moment:%Y-%m-%d %H:%M}" for moment in following) + f" ({entry.time_zone})"
        record = planned[name].record if name in planned else None
        what = record.notebook if record else f"workbench {entry.command}"
        if entry.script:
            what = f"{entry.script} on {' or '.join(entry.target)}"
        lines.append((name, what, (record and record.environment) or entry.environment or "", when))
    columns(lines)
    for name in entries:
        if alone := updates.without_updater(entries, name):
            print(f"{name}: no entry updates {', '.join(alone)}; Airflow's assets may start it, cron cannot")
    for name, prepared in planned.items():
        if needed := running.needed(prepared.environment):
            print(f"{name}: the scheduler's own environment must have {', '.join(needed)}")


@schedule.command()
def run(
    name: Annotated[str, typer.Argument(help="an entry of params/schedules.yml")],
    attempt: Annotated[
        int | None,
        typer.Option(
            "--try", min=1, help="run only this entry, once: the caller counts the tries and starts what follows"
        ),
    ] = None,
    request: Annotated[
        str | None,
        typer.Option(
            help="with --try: name of the request that is tried; what an earlier try has run is not run again"
        ),
    ] = None,
    due: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="run only if the entry is due at this wake-up of cron (UTC); otherwise exit 0"
        ),
    ] = None,
    date: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="date for run_date, such as 2026-01-31; by default the day it is due"),
    ] = None,
    updates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="with --try: write there the snapshots of the tables it updates, as JSON",
            resolve_path=True,
        ),
    ] = None,
    if_updated: Annotated[
        bool,
        typer.Option("--if-updated", help="with --try: only if its after_update has something new; else exit 0"),
    ] = False,
) -> None:
    """Run an entry with its tries and the entries that follow it, as cron does (exit codes of `workbench run`)."""
    from workbench_ops import schedules
    from workbench_ops.schedules import running, times
    from workbench_ops.schedules.entries import named

    if request and not attempt:
        raise ArgumentError("--request says whose tries these are, and needs --try")
    if (updates or if_updated) and not attempt:
        raise ArgumentError("--updates and --if-updated are for schedulers that know assets, and need --try")
    entries = schedules.read()
    entry = named(entries, name)
    running.enter()  # paths in the file are relative to it, wherever this is called
    if due and (not entry.cron or not times.due(entry.cron, entry.time_zone, _moment(due))):
        raise typer.Exit(0)
    moment = _moment(due) if due else datetime.now(UTC)
    day = running.day(entries, name, given=date, moment=moment)  # before any wait: a late start has its own day
    made: dict[str, Snapshots] = {}
    if attempt:
        if if_updated and (nothing := _nothing_new(entry)):
            say(nothing)
            _tell(updates, made, nothing)
            raise typer.Exit(0)
        start = partial(_start, request=request, day=day, made=made)
        code = running.once(entry, start, attempt=attempt, notify=_notify)
        _tell(updates, made)
        raise typer.Exit(code)
    with running.turn(entries, name, say=say):
        code = running.run(entries, name, partial(_start, day=day, made=made), notify=_notify, say=say)
    followed = _followed(entries, made, date, moment)  # also where an entry after the update did not pass
    raise typer.Exit(code or followed)


def _followed(
    entries: "dict[str, Entry]", made: "dict[str, Snapshots]", date: str | None, moment: datetime
) -> int:
    """Run what waits for the updates that were made, each for its own day; return an exit code."""
    from workbench_ops.schedules import running
    from workbench_ops.schedules import updates as tables

    def start_of(name: str) -> "Start":
        return partial(_start, day=running.day_after(entries, name, given=date, moment=moment), made=made)

    return tables.follow(entries, made, start_of, notify=_notify, say=say)


def _nothing_new(entry: "Entry") -> str | None:
    """Return in a sentence that no table of `after_update` has a snapshot that the entry has not passed with."""
    from workbench_ops.schedules import updates

    if not entry.after_update:
        raise ArgumentError(f"--if-updated: {entry.name} has no after_update")
    now = updates.snapshots(entry.environment, entry.after_update)
    return None if updates.unseen(entry, now) else f"{entry.name} is not run: {', '.join(now)} has nothing new"


def _tell(file: Path | None, made: "dict[str, Snapshots]", nothing_new: str | None = None) -> None:
    """Write for a scheduler which snapshots were made, asset to id, or why nothing ran."""
    if file is not None:
        known = {asset: snapshot for snapshots in made.values() for asset, snapshot in snapshots.items()}
        file.write_text(json.dumps({"nothing_new": nothing_new, "snapshots": known}), encoding="utf-8")


@schedule.command()
def cron(
    context: typer.Context,
    output: Output = None,
    logrotate: Annotated[
        bool, typer.Option("--logrotate", help="print logrotate's configuration for the logs instead")
    ] = False,
    cron_zone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="time zone of the cron daemon; this machine's by default")
    ] = None,
) -> None:
    """Print a crontab: a line for each entry that has a time, safe for every cron program."""
    from workbench_ops import schedules
    from workbench_ops.schedules import crontab, running, times

    if logrotate:
        _write(crontab.logrotate(running.here()), output)
        return
    daemon = (cron_zone, times.zone(cron_zone)) if cron_zone else times.machine_zone()
    entries = schedules.read()
    _validated(entries, context)
    _write(crontab.text(entries, running.here(), daemon=daemon), output)


@schedule.command()
def airflow(context: typer.Context, output: Output = None) -> None:
    """Print a DAG file for Airflow 2.11 or 3: a DAG for each entry that has a time."""
    from workbench_ops import schedules
    from workbench_ops.schedules import airflow as dags
    from workbench_ops.schedules import running

    entries = schedules.read()
    _validated(entries, context)
    _write(dags.text(entries, running.here()), output)


def _validated(entries: "dict[str, Entry]", context: typer.Context) -> "dict[str, Prepared]":
    """Return the run of each entry with a notebook, prepared and not started.

    Raises:
        ArgumentError: it says all that is wrong at once.
    """
    from workbench_ops.run import preparing
    from workbench_ops.schedules import running, submitted, updates

    running.enter()
    planned: dict[str, Prepared] = {}
    wrong: list[str] = []
    jobs: dict[tuple[str | None, ...], str] = {}
    for name, entry in entries.items():
        if refusal := updates.refusal(entry):
            wrong.append(f"{name}: {refusal}")
        if not entry.notebook:
            unusable = submitted.refusal if entry.script else partial(_unusable, context.find_root().command)
            if refusal := unusable(entry) or _lacking(entry.on_failure):
                wrong.append(f"{name}: {refusal}")
            continue
        try:
            prepared = preparing.planned(_job(entry, day=running.SOME_DAY))
            refusal = prepared.refusal
        except ValueError as error:
            refusal = str(error)
        if refusal := refusal or _lacking(entry.on_failure):
            wrong.append(f"{name}: {refusal}")
            continue
        planned[name] = prepared
        record = prepared.record
        job = (record.notebook_path, record.params_file, record.environment)
        if (other := jobs.setdefault(job, name)) != name:
            wrong.append(f"{name}: it is the same job as {other}: notebook, params file and environment")
    if wrong:
        raise ArgumentError("; ".join(wrong))
    return planned


def _unusable(command: Any, entry: "Entry") -> str | None:
    """Return why the command `workbench` would refuse the words of an entry, or None; nothing is called."""
    from workbench_ops.schedules import commands, running

    try:
        rest = commands.words(entry, running.SOME_DAY)
    except ValueError as error:
        return str(error)
    context = command.context_class(command, info_name="workbench")
    while hasattr(command, "get_command"):
        if not rest:
            return f"command: {context.command_path} has commands of its own, and none is named"
        name, *rest = rest
        if (inner := command.get_command(context, name)) is None:
            return f"command: {context.command_path} has no command {name!r}"
        context, command = inner.context_class(inner, parent=context, info_name=name), inner
    try:
        command.make_context(context.info_name, rest, parent=context.parent)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return f"command: {context.command_path}: {error.format_message()}"
    return None


def _lacking(command: str | None) -> str | None:
    """Return what the command for a failure lacks, or None; its program is found as cron would find it."""
    program = shlex.split(command)[0] if command else None
    if program is None or shutil.which(program, path=CRON_PATH):
        return None
    if Path(program).is_file():
        return f"on_failure: {program} may not be executed: chmod +x {program}"
    where = "in the project's folder" if "/" in program else f"in {CRON_PATH}, which is cron's PATH"
    return f"on_failure: no program {program} {where}"


def _job(
    entry: "Entry",
    tell: Callable[..., None] | None = None,
    request: str | None = None,
    day: str | None = None,
) -> "Job":
    from workbench_ops.run.preparing import Job, kernel_of

    notebook = entry.notebook or ""  # an entry with a command is not run here
    job = Job(
        notebook,
        params_file=entry.params,
        overrides=(f"{entry.run_date}={day}",) if entry.run_date else (),
        environment=entry.environment,
        timeout_seconds=entry.timeout_seconds,
        request=request,
        wait=entry.while_running == "wait",
        metrics=entry.metrics,
        **kernel_of(notebook),
    )
    return replace(job, tell=tell) if tell else job


def _start(
    entry: "Entry", request: str | None = None, day: str | None = None, *, made: "dict[str, Snapshots]"
) -> "tuple[int, Record | None]":
    """Run an entry once, and note the snapshots that it began with and made; return (exit code, record)."""
    from workbench_ops.run.record import EXIT_CODES
    from workbench_ops.schedules import updates

    ended: Record | None = None
    try:
        began = updates.begun(entry, request) if entry.after_update else None
        code, ended = _run(entry, request, day)
        if not code and began is not None:
            updates.remember(entry, began)
        if not code and entry.updates:
            made[entry.name] = updates.made(entry)
    except ArgumentError as refusal:
        say(str(refusal))
        return EXIT_CODES["refused"], ended
    return code, ended


def _run(entry: "Entry", request: str | None, day: str | None) -> "tuple[int, Record | None]":
    """Run an entry once, or take the result of an earlier try of the request; return (exit code, record).

    The last line printed is the path of the run's report; of a command, what it prints itself.
    """
    from workbench_ops.cli import progress
    from workbench_ops.run import record as records
    from workbench_ops.run import runner
    from workbench_ops.schedules import commands, submitted

    if entry.script:
        return submitted.run(entry, day or ""), None
    if entry.command:
        return commands.run(entry, commands.words(entry, day)), None
    try:
        with progress.shown() as tell:
            ended = runner.run(_job(entry, progress.named(entry.name, tell), request, day))
    except ValueError as refusal:  # so early that there is no record
        say(str(refusal))
        return records.EXIT_CODES["refused"], None
    except OSError as error:  # a full disk, say: there is no record either, and the caller must hear of it
        say(f"{entry.name} could not be run: {error}")
        return records.EXIT_CODES["failed"], None
    print(records.folder(ended) / "report.html", flush=True)
    return records.exit_code(ended), ended


def _notify(entry: "Entry", ended: "Record | None") -> None:
    """Call the entry's command: with the record's path, or without where no record could be written."""
    from workbench_ops.run import publishing

    if entry.on_failure:
        publishing.notify(entry.on_failure, ended, name="on_failure")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or not 1970 < moment.year < 9999:  # beyond, it has no year in another time zone
        raise ArgumentError(f"{text!r} is not a time like 2026-01-31T02:15")
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text, end="")
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    new = output.with_name(f".{output.name}.new")  # a scheduler may read the file at any moment
    new.write_text(text, encoding="utf-8")
    new.replace(output)
    say(f"wrote {output}")
