"""A notebook run headless: prepared, executed in a child process, and published, with an honest record."""

import json
import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench._base import scratch, settings
from workbench_ops.run import durations, kernel, ledger, metering, preparing, processes, publishing, watch
from workbench_ops.run import record as records
from workbench_ops.run.preparing import Job, Prepared
from workbench_ops.run.record import Record

RESERVE_BYTES = 256 * 1024  # set aside so that a full disk still has room for the record


def run(job: Job) -> Record:
    """Run a notebook and record how it ended.

    Runs that were killed from outside are found and recorded first. The parameters are validated against the
    notebook's own cell before a kernel starts. Where an earlier run of the job's request is under way, it is
    waited for and its record returned; where one passed, its record is.

    Args:
        job: what to run; `job.tell` is called with the events `begin` (run_id, usual_seconds), `cell` (number, of,
            heading, seconds), `said` (text) and `end` (record).

    Returns:
        The record. Its `status` and `exit_code` are the verdict.

    Raises:
        Refused: nothing was started and no record could be written (no such notebook, runs folder unwritable).
    """
    planned = preparing.planned(job)
    preparing.require_writable(records.runs_folder())
    recovered = publishing.recover()
    with preparing.turn(planned) as prepared:
        recovered += publishing.recover() if prepared.waited else []
        hidden = settings.secret_values(prepared.environment or prepared.record.environment)
        ended, is_new = _ended(prepared, hidden)
        if news := [*recovered, *([ended] if is_new else [])]:
            published = publishing.publish(news, {prepared.record.run_id: hidden})
            ended = published[-1] if is_new else ended
        if job.ledger:
            publishing.write_ledger()
    if ended.status != "passed" and job.on_failure:
        publishing.notify(job.on_failure, ended)
    job.tell(event="end", record=ended)
    return ended


def _ended(prepared: Prepared, hidden: Sequence[str]) -> tuple[Record, bool]:
    """Return the record of the run that answers a job, and whether it is to be published.

    Args:
        prepared: a job whose turn it is.
        hidden: the secret values of its environment.
    """
    if answer := prepared.answer:
        how = f"{answer.status} as {answer.run_id}, which answers {prepared.job.request}: not run again"
        prepared.job.tell(event="said", text=f"{prepared.path.stem}  {how}")
        # its runner may have been killed between its record and its report
        return answer, not (records.folder(answer) / "report.html").is_file()
    if prepared.refusal:
        return publishing.refused(prepared.record, prepared.refusal), True
    return _executed(prepared, hidden), True


def _executed(prepared: Prepared, hidden: Sequence[str]) -> Record:
    """Execute the notebook in a child process and return the ended record, written."""
    job, record = prepared.job, prepared.record
    folder = records.folder(record)
    folder.mkdir(parents=True)
    lake = scratch.enter()
    if job.keep_scratch:
        scratch.keep(lake)
        record = records.changed(record, kept_lake=str(lake))
    cell: dict[str, Any] = {}
    started = time.monotonic()
    with records.lock(record), watch.signals():
        try:
            records.write(record, hidden=hidden)
            _tell_begin(prepared)
            (folder / ".reserve").write_bytes(b"\0" * RESERVE_BYTES)
            child = _started(prepared, folder)
            outcome = watch.follow(
                child, started=started, timeout_seconds=job.timeout_seconds, cell=cell, tell=job.tell
            )
        except watch.Interrupted as stop:
            name = signal.Signals(stop.args[0]).name
            outcome = watch.Outcome("interrupted", f"stopped by {name}")
        except OSError as error:
            outcome = watch.Outcome("failed", f"the run's folder could not be written: {error.strerror}")
        finally:
            processes.end(record.run_id)
            kernel.remove(record.run_id)
        verdict = publishing.verdict(record, outcome, cell, seconds=time.monotonic() - started)
        ended = records.redacted(verdict, hidden)
        (folder / ".reserve").unlink(missing_ok=True)
        records.write(ended, hidden=hidden)
        publishing.clean(folder, hidden, keep_log=ended.status != "passed")
        ended = metering.folded(ended, hidden)
        if text := metering.sentence(ended):
            job.tell(event="said", text=text)
    scratch.leave(lake)
    return ended


def _tell_begin(prepared: Prepared) -> None:
    job, notebook = prepared.job, prepared.notebook
    usual = durations.usual_seconds(prepared.record, records.every(prepared.record.notebook), notebook)
    job.tell(event="begin", run_id=prepared.record.run_id, usual_seconds=usual)
    if not job.kernel and not kernel.named(notebook):
        text = f"{prepared.path.stem}  names no kernel, and runs in {kernel.default(notebook)}"
        job.tell(event="said", text=text)


def _started(prepared: Prepared, folder: Path) -> watch.Child:
    """Start the process that executes the notebook, in the environment that was read for the run."""
    record, environment = prepared.record, prepared.environment
    variables = {processes.TAG: record.run_id, "WORKBENCH_RUN_DIR": str(folder)}
    variables["WORKBENCH_HOME"] = str(settings.home())
    variables |= metering.variables(record)
    if environment is not None and record.environment is not None:
        variables |= settings.for_children(record.environment, environment)
    options = {
        "input": prepared.path,
        "output": folder / "notebook.ipynb",
        "cwd": prepared.path.parent,
        "parameters": json.dumps(prepared.given),
        "environment": record.environment or "",
        "kernel": record.engine or "",
    }
    with (folder / "log.txt").open("wb") as log:
        child = watch.spawned("workbench_ops.run.child", options, env=os.environ | variables, output=log)
    if prepared.job.ledger:
        threading.Thread(target=ledger.load, daemon=True).start()
    return child
