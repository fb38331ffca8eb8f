"""What people read of runs that ended, written behind them: reports, the index, the ledger."""

import sys
from functools import partial

from workbench._base import locks, secrets, settings
from workbench_ops.pages import report
from workbench_ops.run import ledger
from workbench_ops.run import record as records

INDEX_SECONDS = 60  # to wait for other runners, of which each needs less than one


def publish(ended: list[dict]) -> None:
    """Write reports and the index; what cannot be written is said in the last record.

    Args:
        ended: records of runs that ended, as they lie in their folders; the last one is changed where it must be.
    """
    everything = records.every()
    try:
        for record in ended:
            earlier = report.previous(everything, record)
            clean = partial(secrets.redact, secrets=settings.secret_values(record["environment"]))
            report.write(records.folder(record), record, previous=earlier, redact=clean)
        write_index()
    except OSError as error:
        last = ended[-1]
        last.update(status="failed", exit_code=1, reason=f"the report could not be written: {error.strerror}")
        records.write(last)


def write_ledger() -> None:
    """Add the runs that the ledger lacks; where it cannot be written that is said, and changes no verdict."""
    try:
        ledger.sync()
    except Exception as error:  # whatever the lake has: the files are the truth, and the next start adds the row
        print(f"workbench: the ledger could not be written, the next run adds it: {error}", file=sys.stderr)


def write_index() -> None:
    """Write the index of all runs there are.

    Runners take turns, and each reads the records when it is its turn: one that had read them before another
    run ended would otherwise write its older index over the newer one.
    """
    folder = records.runs_folder()
    try:
        with locks.held(folder / ".index.lock", "another runner does not let go of it", seconds=INDEX_SECONDS):
            report.write_index(folder, records.every())
    except ValueError as busy:
        print(f"workbench: the index could not be written, the next run does: {busy}", file=sys.stderr)
