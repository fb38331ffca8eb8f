"""`workbench metrics`: what a run did, from its event log, for people and for Prometheus."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import columns
from workbench_ops.saying import say

if TYPE_CHECKING:
    from workbench.metrics import Reports, Run

Log = Annotated[str, typer.Argument(help="event log, folder of a watched session, or run id")]


def metrics(
    log: Annotated[str | None, typer.Argument(help="event log, folder of a watched session, or run id")] = None,
    reports: Annotated[
        str | None, typer.Option(metavar="FILE", help="Iceberg's reports; left out, beside the log")
    ] = None,
    prometheus: Annotated[bool, typer.Option("--prometheus", help="print OpenMetrics text")] = False,
    job: Annotated[
        str | None, typer.Option(help="with --prometheus or --port: name of what runs; left out, the run's")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="serve OpenMetrics text on loopback until Ctrl-C")
    ] = None,
    dashboard: Annotated[bool, typer.Option("--dashboard", help="print a Grafana dashboard as JSON")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="print alert rules for Prometheus as YAML")] = False,
    check: Annotated[
        str | None, typer.Option(metavar="FILE", help="check a dashboard or rules against the metrics")
    ] = None,
) -> None:
    """Print what a run did: stages, scans and commits."""
    asked = [name for name, value in (("--dashboard", dashboard), ("--rules", rules), ("--check", check)) if value]
    if len(asked) > 1 or (asked and (log or prometheus or port is not None)):
        raise ArgumentError(f"{asked[0]} is printed alone, without a log or another option")
    if asked:
        return _definitions(asked[0], check)
    if log is None:
        raise ArgumentError("name an event log, a folder of a watched session, or a run id")
    if port is not None:
        return _serve(log, reports, job, port)
    if prometheus:
        return print(_text(log, reports, job), end="")
    run, reported = kept(log, reports)
    _print(run, reported)


def kept(log: str, reports: str | None) -> "tuple[Run, Reports]":
    """Return a run and its reports, by a path or the id of a run that was watched."""
    from workbench.metrics import events
    from workbench.metrics import reports as reading

    path = Path(log)
    if (folder := run_folder(log)) is not None:
        if reports is None and (read := _read_before(folder)):
            return read
        path = _watched(folder)
    run = events.read(path)
    if reports is not None:
        return run, reading.read(reports)
    beside = path if path.is_dir() and not path.name.startswith("eventlog_v2_") else path.parent
    return run, reading.read(beside)


def run_folder(log: str) -> Path | None:
    """Return the folder of a run by its id; None where a path is meant."""
    if Path(log).exists() or "/" in log:
        return None
    from workbench_ops.run import record

    folders = (
        [folder for folder in record.runs_folder().glob(f"*/{log}") if folder.is_dir()] if _plain(log) else []
    )
    if not folders:
        raise ArgumentError(f"there is no file and no run {log}; `workbench runs` lists the runs")
    return folders[0]


def _read_before(folder: Path) -> "tuple[Run, Reports] | None":
    """Return what was read of a run when it ended; None where nothing was, or no session was watched."""
    from workbench.metrics import documents
    from workbench_ops.run import fold, metering

    content = metering.document(folder)
    if not content or not content["sessions"]:
        return None
    sessions = [documents.read(session) for session in content["sessions"]]
    if len(sessions) > 1:
        say(f"note: the run had {len(sessions)} sessions, shown as one: numbers of stages may come twice")
    return fold.merged(sessions)


def _watched(folder: Path) -> Path:
    from workbench_ops.run import metering

    if not (logs := folder / metering.FOLDER).is_dir():
        raise ArgumentError(
            f"the run {folder.name} was not watched: it has no folder {logs.name}; run it with --metrics run"
        )
    return logs


def _plain(name: str) -> bool:
    return not set(name) & set("*?[]/\\")


def _definitions(option: str, check: str | None) -> None:
    import yaml

    from workbench._base import yaml_files
    from workbench.metrics import dashboards

    if option == "--dashboard":
        return print(json.dumps(dashboards.dashboard(), indent=1))
    if option == "--rules":
        return print(yaml.safe_dump(dashboards.rules(), sort_keys=False), end="")
    content = yaml_files.read(str(check))  # JSON is YAML, too
    if not isinstance(content, dict):
        raise ArgumentError(f"{check} is neither a dashboard of Grafana nor rules of Prometheus")
    count = dashboards.check(content)
    print(f"{check}: {count} expressions, each of a metric that there is")


def _text(log: str, reports: str | None, job: str | None) -> str:
    from workbench.metrics import incidents, prometheus

    run, reported = kept(log, reports)
    folder = run_folder(log)
    name = job or (folder.parent.name if folder else run.name) or "run"
    return prometheus.text(run, reported, incidents.find(run, reported), job=name)


def _serve(log: str, reports: str | None, job: str | None, port: int) -> None:
    import time

    from workbench.metrics import serving

    _text(log, reports, job)  # what cannot be read is refused before anything listens
    with serving.serve(lambda: _text(log, reports, job), port=port) as address:
        print(f"{address}, until Ctrl-C", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return


def _print(run: "Run", reported: "Reports") -> None:
    state = (
        "whole" if run.whole else "cut off, killed or still written" if run.ended is None else "events were lost"
    )
    print(f"{run.name or run.application_id}, Spark {run.spark_version}, log {state}")
    rows = [
        (
            stage.stage_id,
            stage.tasks,
            stage.failed_tasks,
            f"{stage.run_seconds:.1f}",
            f"{stage.cpu_seconds:.1f}",
            f"{stage.rows_in:,}",
            f"{stage.bytes_in + stage.shuffle_bytes_read:,}",
            f"{stage.spilled_bytes:,}",
            stage.name[:60],
        )
        for stage in run.stages
    ]
    if rows:
        columns(
            [("STAGE", "TASKS", "FAILED", "TASK S", "CPU S", "ROWS IN", "BYTES READ", "SPILLED", "NAME"), *rows]
        )
    scans = [
        (scan.table, scan.data_files, scan.skipped_files, f"{scan.bytes:,}", f"{scan.planning_seconds:.2f}")
        for scan in run.scans
    ]
    if scans:
        print()
        columns([("SCAN OF", "FILES", "SKIPPED", "BYTES", "PLANNING S"), *scans])
    commits = [
        (commit.table, commit.operation, commit.tries, f"{commit.added_rows:,}", commit.added_data_files)
        for commit in reported.commits
    ]
    if commits:
        print()
        columns([("COMMIT TO", "OPERATION", "TRIES", "ROWS", "FILES"), *commits])
