"""What runs leave that ended: the verdict and its record, and what people read: reports, index, ledger."""

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from filelock import Timeout

from workbench import results
from workbench._base import children, locks, secrets, settings
from workbench_ops.pages import report
from workbench_ops.run import kernel, ledger, metering, processes
from workbench_ops.run import record as records
from workbench_ops.run.record import Record
from workbench_ops.run.watch import Outcome
from workbench_ops.saying import say

INDEX_SECONDS = 60  # to wait for other runners, of which each needs less than one
NOTIFY_SECONDS = 120  # the rest of a chain, and what waits for our exit code, are held up for as long


def refused(record: Record, reason: str) -> Record:
    """Record that a run was refused; return its record."""
    ended = records.finish(record, "refused", seconds=0.0, reason=reason, metrics=None)
    records.write(ended)
    return ended


def verdict(record: Record, outcome: Outcome, cell: Mapping[str, Any], *, seconds: float) -> Record:
    """Return the record of a run that was executed: how it ended, and what the notebook noted; nothing is written.

    Args:
        record: of the run while it was running.
        outcome: how the process ended that executed the notebook.
        cell: the last one that is known to have begun, as `watch.follow` reports it; empty before the first.
        seconds: how long the run took.
    """
    status, reason, failing = outcome.status, outcome.reason, outcome.failing_cell
    if failing is None and status != "passed" and cell:
        number, first_line = cell["number"], cell["first_line"]
        failing = records.FailingCell(
            number=number, first_line=first_line, error=outcome.error or status, message=reason or ""
        )
    noted = results.read(records.folder(record))
    swallowed = [check["name"] for check in noted["checks"] if not check["passed"]]
    if status == "passed" and swallowed:
        status, reason = "failed", f"a check failed and the notebook went on: {', '.join(swallowed)}"
    return records.finish(record, status, seconds=seconds, reason=reason, failing_cell=failing, **noted)


def recover() -> list[Record]:
    """Record runs that were killed from outside as interrupted, and end the processes they left behind.

    A run is dead when it says *running* and nobody holds its lock, which the operating system lets go however
    the runner ended. Its record is read again under the lock: it may have ended since all were read.

    Of one whose runner was killed behind the verdict, what was kept of its sessions is read now.

    Returns:
        The records that were corrected.
    """
    dead, unread = [], []
    for record in records.every():
        if record.status != "running":
            unread += [record] if record.metrics and record.metrics.state == "watching" else []
            continue
        try:
            with records.lock(record).acquire(timeout=0):
                if not _still_running(record):
                    continue
                seconds = max((_last_sign(record) - record.started).total_seconds(), 0)
                dead.append(records.finish(record, "interrupted", seconds=seconds, reason=records.KILLED))
                records.write(dead[-1])
        except Timeout:
            continue
    for record in dead:
        processes.end(record.run_id)
        kernel.remove(record.run_id)
        clean(records.folder(record), settings.secret_values(record.environment), keep_log=True)
    read = [metered for record in unread if (metered := _metered(record))]
    return [*read, *(_metered(record) or record for record in dead)]


def _metered(record: Record) -> Record | None:
    """Read the metrics of a run whose runner was killed, and return its record; None where another runner does."""
    if record.metrics is None:
        return record
    try:
        with records.lock(record).acquire(timeout=0):
            now = records.read(records.folder(record) / "run.json")
            if now.metrics is None or now.metrics.state != "watching":
                return None
            return metering.folded(now, settings.secret_values(now.environment))
    except (Timeout, ValueError):
        return None


def clean(folder: Path, hidden: Sequence[str], *, keep_log: bool) -> None:
    """Blank out secrets in what the processes of a run wrote, and delete an empty log.

    Args:
        folder: of the run.
        hidden: values that are blanked out, beside what looks like a secret.
        keep_log: whether the log stays; that of a passed run is not needed.
    """
    for path in (folder / "results.json", folder / "spark.log", folder / "log.txt"):
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.name == "log.txt" and not (keep_log and text.strip()):
            path.unlink()
        elif (redacted := secrets.redact(text, hidden)) != text:
            path.write_text(redacted, encoding="utf-8")


def publish(ended: Sequence[Record], hidden: Mapping[str, Sequence[str]] | None = None) -> list[Record]:
    """Write reports and the index; the last record says what cannot be written.

    Args:
        ended: records of runs that ended, as they are in their folders.
        hidden: run id to the secret values of its environment, where they are known.

    Returns:
        The records as they are then: the last one may have failed.
    """
    known = hidden or {}
    try:
        for record in ended:
            values = known[record.run_id] if record.run_id in known else settings.secret_values(record.environment)
            earlier = report.previous(records.every(record.notebook), record)
            clean_text = partial(secrets.redact, secrets=values)
            report.write(records.folder(record), record, previous=earlier, redact=clean_text)
        write_index()
    except OSError as error:
        reason = f"the report could not be written: {error.strerror}"
        last = records.changed(ended[-1], status="failed", exit_code=records.EXIT_CODES["failed"], reason=reason)
        records.write(last)
        return [*ended[:-1], last]
    return list(ended)


def write_ledger() -> None:
    """Add the runs that the ledger lacks; where it cannot be written that is printed, and changes no verdict."""
    try:
        ledger.sync()
    except Exception as error:  # whatever the lake has: the files are the truth, and the next start adds the row
        say(f"the ledger could not be written, the next run adds it: {error}")


def write_index() -> None:
    """Write the index of all runs.

    Runners take turns, and each reads the records when it is its turn: one that had read them before another
    run ended would otherwise write its older index over the newer one.
    """
    folder = records.runs_folder()
    try:
        with locks.held(folder / ".index.lock", "another runner does not release it", seconds=INDEX_SECONDS):
            report.write_index(folder, records.every())
    except ValueError as busy:
        say(f"the index could not be written, the next run does: {busy}")


def notify(command: str, record: Record | None = None, *, name: str = "--on-failure") -> None:
    """Call the user's command when a run failed; its outcome changes no verdict.

    Args:
        command: a command line.
        record: whose path is its last argument; None where there is none.
        name: of the setting that the command is from, for messages.
    """
    path = [] if record is None else [str(records.folder(record) / "run.json")]
    try:
        code = children.within([*shlex.split(command), *path], NOTIFY_SECONDS)
    except (OSError, ValueError) as error:
        say(f"{name} could not be called: {error}")
    except subprocess.TimeoutExpired:
        say(f"{name} {command} was ended after {NOTIFY_SECONDS:g} seconds")
    else:
        if code:
            say(f"{name} {command} ended with {code}")


def _still_running(record: Record) -> bool:
    """Read a record again and say whether it still says *running*."""
    try:
        return records.read(records.folder(record) / "run.json").status == "running"
    except ValueError:
        return False


def _last_sign(record: Record) -> datetime:
    """Return the moment at which a run last wrote into its folder."""
    times = [path.stat().st_mtime for path in records.folder(record).iterdir()]
    return datetime.fromtimestamp(max(times), UTC)
