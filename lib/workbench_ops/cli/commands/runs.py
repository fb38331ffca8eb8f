"""`workbench runs`: the ledger of runs, one run's record, and the end of old files."""

import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import columns
from workbench_ops.saying import say

_FIGURES = (  # head, name, digits behind the point
    ("CPU S", "cpu_seconds", 1),
    ("ROWS READ", "rows_in", 0),
    ("FILES READ", "files_read", 0),
    ("OF PLANNED", "files_planned", 0),
    ("SKIPPED", "files_skipped", 0),
    ("SPILLED BYTES", "spilled_bytes", 0),
    ("LOST TRIES", "retries", 0),
)


def runs(
    notebook: Annotated[str | None, typer.Option(help="only this notebook")] = None,
    status: Annotated[
        str | None, typer.Option(help="only runs with this status: passed, failed, refused …")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="only runs from this ISO date on (UTC)")
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="what watched runs did: CPU, rows, files, spill, incidents")
    ] = False,
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
    if metrics:
        return _print_metrics(ledger.rows(notebook=notebook, status=status, since=since))
    lines = [("RUN", "NOTEBOOK", "STATUS", "STARTED (UTC)", "SECONDS", "ENVIRONMENT", "REASON")]
    for row in ledger.rows(notebook=notebook, status=status, since=since):
        started = f"{row['started_at']:%Y-%m-%d %H:%M:%S}"
        seconds = f"{row['seconds']:.1f}" if row["seconds"] is not None else ""
        lines.append(
            (row["run_id"], row["notebook"], row["status"], started, seconds, row["environment"] or "",
             (row["reason"] or "")[:80])
        )  # fmt: skip
    columns(lines)


def _print_metrics(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what runs of the ledger did; of those that nobody watched there is only their time."""
    from workbench_ops.run import ledger, measured
    from workbench_ops.run import record as records

    with ledger.turn():
        sums = measured.sums()
    watched = {record.run_id: record.metrics for record in records.every() if record.metrics}
    lines = [("RUN", "NOTEBOOK", "STATUS", "SECONDS", *(head for head, *_ in _FIGURES), "INCIDENTS")]
    sentences = []
    for row in rows:
        seconds = f"{row['seconds']:.1f}" if row["seconds"] is not None else ""
        entry = sums.get(row["run_id"])
        figures = [f"{entry[name]:,.{digits}f}" if entry else "-" for _, name, digits in _FIGURES]
        causes = ", ".join(sorted(set(entry["incidents"]))) or "none" if entry else "not watched"
        if not entry and (metrics := watched.get(row["run_id"])):
            causes = metrics.note or "none: no stage ran"
        lines.append((row["run_id"], row["notebook"], row["status"], seconds, *figures, causes))
        pairs = zip(entry["incidents"], entry["evidence"], strict=True) if entry else ()
        sentences += [f"{row['run_id']}  slower: {sentence}" for cause, sentence in pairs if cause == "slower"]
    columns(lines)
    if sentences:
        print("\n" + "\n".join(sentences))


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
