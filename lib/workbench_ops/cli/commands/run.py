"""`workbench run`: a notebook headless, or all of them side by side."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli import options
from workbench_ops.cli.printing import columns, from_here

if TYPE_CHECKING:
    from workbench_ops.run.batch import Ending
    from workbench_ops.run.preparing import Job


def run(
    notebook: Annotated[
        str | None, typer.Argument(help="name in notebooks/ or path; without it all notebooks run, side by side")
    ] = None,
    params: options.Params = None,
    overrides: options.Overrides = None,
    environment: options.Environment = None,
    engine: Annotated[
        str | None, typer.Option(help="another Spark with a kernel of its own: see `workbench engines`")
    ] = None,
    timeout: options.Timeout = None,
    keep: Annotated[bool, typer.Option("--keep", help="keep the throw-away lake")] = False,
    metrics: options.Metrics = "off",
    as_json: options.AsJson = False,
    on_failure: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="command to call when a run fails, with the path of its record"),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", help="notebooks that run at once; by default as many as fit the machine"),
    ] = None,
) -> None:
    """Run a notebook headless (exit 0 passed, 1 failed, 2 refused, 3 timed out, 4 died, 143 interrupted).

    Without a name all notebooks run, as many at once as cores and memory allow.
    The exit code is then that of the first notebook, by name, that did not pass.
    """
    from workbench_ops.run import metering
    from workbench_ops.run.preparing import Job, kernel_of

    if notebook == "":
        raise ArgumentError("the name of the notebook is empty; give one, or leave it out to run all notebooks")
    if notebook is None and (params or overrides):
        raise ArgumentError("--params and --set belong to one notebook; name it")
    if notebook is not None and jobs is not None:
        raise ArgumentError(f"--jobs is for all notebooks, and {notebook} runs alone; leave one of them out")
    if jobs is not None and jobs < 1:
        raise ArgumentError(f"--jobs takes a number of notebooks of at least 1, found {jobs}")
    values = params, tuple(overrides or ()), environment, timeout, keep, on_failure
    metering.require(metrics)
    paths = [notebook] if notebook else _every()
    prepared = [Job(path, *values, metrics=metrics, **kernel_of(path, engine)) for path in paths]
    raise typer.Exit(_alone(prepared[0], as_json) if notebook else _side_by_side(prepared, jobs, as_json))


def _every() -> list[str]:
    from workbench_ops.run import notebook as notebooks

    if not (paths := [str(path) for path in notebooks.every()]):
        raise ArgumentError("there are no notebooks here; name one, or start in a project's folder")
    return paths


def _alone(job: "Job", as_json: bool) -> int:
    """Run one notebook in this process; return the exit code."""
    from dataclasses import replace
    from pathlib import Path

    from workbench_ops.cli import progress
    from workbench_ops.run import record as records
    from workbench_ops.run import runner

    with progress.shown() as tell:
        record = runner.run(replace(job, tell=progress.named(Path(job.notebook).stem, tell)))
    if as_json:
        print(json.dumps(records.document(record), ensure_ascii=False))
    return records.exit_code(record)


def _side_by_side(jobs: "list[Job]", at_once: int | None, as_json: bool) -> int:
    """Run notebooks side by side and print a table of them; return the exit code."""
    from workbench_ops.cli import progress
    from workbench_ops.run import batch
    from workbench_ops.run import record as records

    seconds, together = batch.usual_seconds(jobs), at_once or batch.fitting()
    with progress.shown(progress.Several(together, seconds)) as tell:
        endings = batch.run(jobs, at_once=together, usual_seconds=seconds, tell=tell)
    _summary(endings)
    if as_json:
        documents = [records.document(ending.record) for ending in endings if ending.record]
        print(json.dumps(documents, ensure_ascii=False))
    return next((ending.exit_code for ending in endings if ending.exit_code), 0)


def _summary(endings: "list[Ending]") -> None:
    from workbench_ops.run import record as records
    from workbench_ops.run.member import NOT_STARTED

    rows = [("NOTEBOOK", "VERDICT", "SECONDS", "REPORT")]
    for ending in endings:
        if record := ending.record:
            page = from_here(records.folder(record) / "report.html")
            rows.append((ending.notebook, record.status, f"{record.seconds:.1f}", page))
        else:
            why = "not started" if ending.exit_code == NOT_STARTED else "not recorded"
            rows.append((ending.notebook, why, "", ""))
    columns(rows)
    print(f"\nall runs: {from_here(records.runs_folder() / 'index.html')}")
