"""`workbench report`: the pages of runs, written again."""

from typing import Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import from_here
from workbench_ops.saying import say


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
