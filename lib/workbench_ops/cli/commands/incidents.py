"""`workbench incidents`: what went wrong with a run, and what may help.

Exit codes: 0 none found · 1 some found · 2 refused.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from workbench_ops.cli.commands.metrics import Log, kept, run_folder

if TYPE_CHECKING:
    from workbench.metrics import Collection, Incident, Run


def incidents(
    log: Log,
    reports: Annotated[
        str | None, typer.Option(metavar="FILE", help="Iceberg's reports; left out, beside the log")
    ] = None,
    gc_log: Annotated[
        str | None, typer.Option(metavar="FILE", help="log of the collector of a JVM of the run")
    ] = None,
    error: Annotated[str | None, typer.Option(metavar="TEXT", help="what the job ended with")] = None,
    healthy: Annotated[
        list[str] | None, typer.Option(metavar="LOG", help="log of a healthy run, to calibrate by; three or more")
    ] = None,
) -> None:
    """Find incidents in a run's event log (exit 0 none, 1 some, 2 refused)."""
    from workbench.metrics import incidents as found
    from workbench.metrics import reports as reading

    run, reported = kept(log, reports)
    thresholds = None
    if healthy:
        pairs = [kept(path, None) for path in healthy]
        thresholds = found.calibrate([run for run, _ in pairs], [reported for _, reported in pairs])
    listed = found.find(
        run, reported, error=error or _error(log), collection=_collection(gc_log), thresholds=thresholds
    )  # fmt: skip
    _say_what_is_missing(run, looked_at_reports=reported is not reading.NONE, lost=reported.dropped_events)
    for incident in listed:
        _print(incident)
    print(f"{len(listed)} incident{'s' * (len(listed) != 1)}")
    raise typer.Exit(int(bool(listed)))


def _collection(path: str | None) -> "Collection | None":
    from workbench.metrics import collectors

    return None if path is None else collectors.read(path)


def _error(log: str) -> str | None:
    """Return what the notebook of a run ended with; None where a path is meant, or it did not fail."""
    from workbench_ops.run import record as records

    if (folder := run_folder(log)) is None or not (folder / "run.json").is_file():
        return None
    cell = records.read(folder / "run.json").failing_cell
    return f"{cell.error}: {cell.message}" if cell else None


def _say_what_is_missing(run: "Run", *, looked_at_reports: bool, lost: int) -> None:
    """Print what could not be looked at: that nothing is found there says nothing."""
    if run.ended is None:
        last = f"{run.until:%Y-%m-%d %H:%M:%S} UTC"
        print(f"note: the log has no end; the run was killed, or goes on. Its last event is of {last}")
    if count := max(run.missing_tasks + run.missing_ends, lost):
        print(f"note: at least {count:,} events were lost: sums are too small")
    if not looked_at_reports:
        print("note: there are no reports of Iceberg: retries and files of commits were not looked at")


def _print(incident: "Incident") -> None:
    from workbench.metrics import incidents as found

    print(f"{incident.severity}  {incident.cause} of {incident.where}: {incident.evidence}")
    figure, threshold = _number(incident.figure), _number(incident.threshold)
    print(f"        {figure} {incident.unit}, from {threshold} on ({incident.source})")
    for cure in found.cures(incident):
        print(f"        try: {cure.name}: {cure.words}")
        for key, value in cure.settings.items():
            print(f"             {key}={value}{' (at the start)' if cure.at_start else ''}")
        for statement in cure.statements:
            print(f"             {statement}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:,.3g}"
