"""The command `workbench`: run notebooks, list runs, refresh notebooks, diagnose the set-up."""

import json
import shutil
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from workbench._base.errors import ArgumentError, MissingPackageError, WorkbenchError
from workbench_ops.cli.doctor import doctor
from workbench_ops.cli.engines import engines
from workbench_ops.cli.export import export
from workbench_ops.cli.ingest import ingest
from workbench_ops.cli.local import local
from workbench_ops.cli.maintain import maintain
from workbench_ops.cli.policies import policies
from workbench_ops.cli.printing import columns, from_here, say
from workbench_ops.cli.run import run
from workbench_ops.cli.schedule import schedule

app = typer.Typer(
    help="Parameterised Iceberg notebooks, run headless with a verdict that can fail.",
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
)  # fmt: skip
app.add_typer(local, name="local")
app.add_typer(engines, name="engines")
app.add_typer(export, name="export")
app.add_typer(doctor, name="doctor")
app.add_typer(schedule, name="schedule")
app.command()(run)


def main() -> None:
    """Run the command. A refusal prints one sentence and exits with 2; a defect of ours shows its traceback."""
    try:
        app(standalone_mode=True)
    except UnicodeError as error:
        say(f"a text could not be written or read: {error}")
        sys.exit(1)
    except WorkbenchError as error:
        say(str(error))
        sys.exit(2 if isinstance(error, ArgumentError | MissingPackageError) else 1)
    except ModuleNotFoundError as error:
        needed = "pip install 'iceberg-workbench[notebooks,catalog,streams,s3,kafka]'"
        say(f"{error.name} is not installed, this command needs it: {needed}")
        sys.exit(2)
    except OSError as error:
        say(f"{error.strerror}: {error.filename}")
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        say("this is a defect of the workbench, not of what you asked for: please report it with the lines above")
        sys.exit(1)


@app.command()
def params(notebook: Annotated[str, typer.Argument(help="name in notebooks/ or path")]) -> None:
    """List the parameters of a notebook: name, type, default, help; and its params files."""
    from workbench._base import settings
    from workbench_ops.run import notebook as notebooks

    path = notebooks.find(notebook)
    declared = notebooks.parameters(notebooks.read(path)).values()
    columns(
        [
            ("PARAMETER", "TYPE", "DEFAULT", ""),
            *((p.name, p.type or "any", repr(p.default), p.help) for p in declared),
        ]
    )
    files = sorted((settings.home() / "params" / path.stem).glob("*.yml"))
    for file in files:
        print(f"file  {file.relative_to(settings.home())}")


@app.command()
def runs(
    notebook: Annotated[str | None, typer.Option(help="only this notebook")] = None,
    status: Annotated[
        str | None, typer.Option(help="only runs with this status: passed, failed, refused …")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="only runs from this ISO date on (UTC)")
    ] = None,
    show: Annotated[str | None, typer.Option(metavar="RUN_ID", help="print one run's record")] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="delete files of old runs; the ledger keeps its rows")
    ] = False,
    older_than_days: Annotated[float | None, typer.Option(min=0, help="with --prune: how old")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="with --prune: do not ask")] = False,
) -> None:
    """List the runs of the ledger, newest first."""
    from workbench_ops.run import ledger, publishing
    from workbench_ops.run import record as records

    if status and status not in records.EXIT_CODES:
        raise ArgumentError(f"no status {status!r}; there are {', '.join(records.EXIT_CODES)}")
    publishing.recover()
    ledger.sync()
    if prune:
        return _prune(older_than_days, yes)
    if show:
        return print(json.dumps(_details(show), indent=1, ensure_ascii=False, default=str))
    records.every(on_damage=say)
    lines = [("RUN", "NOTEBOOK", "STATUS", "STARTED (UTC)", "SECONDS", "ENVIRONMENT", "REASON")]
    for row in ledger.rows(notebook=notebook, status=status, since=since):
        started = f"{row['started_at']:%Y-%m-%d %H:%M:%S}"
        seconds = f"{row['seconds']:.1f}" if row["seconds"] is not None else ""
        lines.append(
            (row["run_id"], row["notebook"], row["status"], started, seconds, row["environment"] or "",
             (row["reason"] or "")[:80])
        )  # fmt: skip
    columns(lines)


@app.command()
def report(
    run: Annotated[
        str | None, typer.Argument(help="a run, or a notebook; left out: each notebook's newest")
    ] = None,
) -> None:
    """Write reports and the index of runs again, and print their paths."""
    from workbench._base import secrets
    from workbench_ops.pages import report as pages
    from workbench_ops.run import publishing
    from workbench_ops.run import record as records

    everything = records.every(on_damage=say)
    newest = {record.notebook: record for record in everything}
    of_run = [r for r in (*everything, *newest.values()) if run in (r.run_id, r.notebook)][-1:]
    if run and not of_run:
        raise ArgumentError(f"no run {run} in {records.runs_folder()}")
    for record in of_run if run else newest.values():
        earlier = pages.previous(everything, record)
        page = pages.write(records.folder(record), record, previous=earlier, redact=secrets.redact)
        print(f"{record.notebook:28} {record.status:12} {from_here(page)}")
    publishing.write_index()
    print(f"index  {from_here(records.runs_folder() / 'index.html')}")


@app.command()
def refresh(
    names: Annotated[list[str] | None, typer.Argument(help="notebooks; left out: all of them")] = None,
) -> None:
    """Execute notebooks in a fresh kernel and store their outputs in normal form."""
    from workbench_ops.run import notebook as notebooks
    from workbench_ops.run import refresh as refreshing

    for path in [notebooks.find(name) for name in names or []] or notebooks.every():
        print(f"{path.stem:28} {'changed' if refreshing.refresh(path) else 'the same'}", flush=True)


@app.command()
def new(name: Annotated[str, typer.Argument(help="two digits and words, such as 25_find_duplicates")]) -> None:
    """Start a notebook from the template."""
    from workbench_ops.run import refresh as refreshing

    path = refreshing.create(name)
    print(f"{from_here(path)}: edit it in JupyterLab, then `workbench refresh {name}`")


app.command()(ingest)
app.command()(maintain)
app.command()(policies)


def _prune(days: float | None, yes: bool) -> None:
    from workbench_ops.run import publishing
    from workbench_ops.run import record as records

    if days is None:
        raise ArgumentError("--prune needs --older-than-days N")
    before = datetime.now(UTC) - timedelta(days=days)
    old = [record for record in records.every() if record.status != "running" and record.started < before]
    if not old:
        return print(f"no runs older than {days:g} days")
    if not yes and not typer.confirm(f"Delete the files of {len(old)} runs older than {days:g} days?"):
        raise typer.Exit(1)
    for record in old:
        shutil.rmtree(records.folder(record))
    publishing.write_index()
    print(f"deleted the files of {len(old)} runs; the ledger keeps its rows")


def _details(run_id: str) -> Mapping[str, Any]:
    """Return what is known about a run: its record, or its row of the ledger where its files were pruned."""
    from workbench_ops.run import ledger
    from workbench_ops.run import record as records

    for path in records.runs_folder().glob("*/*/run.json"):
        if path.parent.name == run_id:
            return records.document(records.read(path))
    if rows := ledger.rows(run_id=run_id):
        return rows[0]
    raise ArgumentError(f"no run {run_id}; `workbench runs` lists them")
