"""A notebook run headless: refused before it starts, or executed in a child process and honestly recorded."""

import hashlib
import json
import os
import selectors
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from workbench import java, results, scratch, secrets, settings
from workbench.run import kernel, ledger, processes, report
from workbench.run import notebook as notebooks
from workbench.run import record as records

RESERVE_BYTES = 256 * 1024  # set aside so that a full disk still has room for the record


@dataclass(frozen=True)
class Job:
    """What is asked for: a notebook and its values, nothing checked yet."""

    notebook: str
    params_file: str | None = None
    overrides: tuple[str, ...] = ()
    environment: str | None = None
    timeout_seconds: float | None = None
    keep_scratch: bool = False
    on_failure: str | None = None
    tell: object = field(default=lambda **event: None)


class Interrupted(Exception):
    """The runner was told to stop; holds the number of the signal."""


def run(job):
    """Run a notebook and record how it ended.

    Runs that were killed from outside are found and recorded first. The parameters are checked against the
    notebook's own cell before a kernel starts.

    Args:
        job: what to run; `job.tell` is called with the events `cell` (number, of, heading) and `end`.

    Returns:
        dict, the record (design of run.json). Its `status` and `exit_code` tell the verdict.

    Raises:
        Refused: nothing was started and no record could be written (no such notebook, runs folder unwritable).
    """
    path = notebooks.find(job.notebook)
    _writable(records.runs_folder())
    recovered = _recover()
    record, given, reason = _prepared(job, path)
    with _only_one(record) as other:
        reason = reason or other
        if reason:
            ended = records.finish(record, "refused", seconds=0.0, reason=reason)
            records.write(ended)
        else:
            ended = _executed(job, path, record, given)
        _publish([*recovered, ended])
    if ended["status"] != "passed" and job.on_failure:
        _notify(job.on_failure, ended)
    job.tell(event="end", record=ended)
    return ended


def _prepared(job, path):
    """Return the record, the given values, and the reason for a refusal or None."""
    nb = notebooks.read(path)
    declared, given, reason = {}, {}, None
    try:
        declared = notebooks.parameters(nb)
        given = notebooks.values(
            declared, file=job.params_file, overrides=job.overrides, environment=job.environment
        )
    except notebooks.Refused as refusal:
        reason = str(refusal)
    everything = {name: p.default for name, p in declared.items()} | given
    environment = everything.get("ENVIRONMENT")
    if reason is None and environment is not None:
        try:
            java.require_jars(settings.environment(environment).jars, environment=environment)
        except ValueError as error:
            reason = str(error)
    overrides = [*job.overrides, *([f"ENVIRONMENT={job.environment}"] if job.environment else [])]
    params_file = job.params_file if job.params_file and Path(job.params_file).exists() else None
    record = records.new(
        path, params_file=params_file, parameters=everything, environment=environment, overrides=overrides
    )
    return record, given, reason


def _executed(job, path, record, given):
    """Execute the notebook in a child process and return the ended record, written."""
    folder = records.folder(record)
    folder.mkdir(parents=True)
    lake = scratch.enter()
    if job.keep_scratch:
        scratch.keep(lake)
        record = record | {"kept_lake": str(lake)}
    hidden, where, started = _hidden(record["environment"]), {}, time.monotonic()
    with records.lock(record), _signals():
        try:
            records.write(record, hidden=hidden)
            (folder / ".reserve").write_bytes(b"\0" * RESERVE_BYTES)
            how = _watch(_start(path, folder, record, given), job, where, started)
        except Interrupted as stop:
            how = {"status": "interrupted", "reason": f"stopped by {signal.Signals(stop.args[0]).name}"}
        except OSError as error:
            how = {"status": "failed", "reason": f"the run's folder could not be written: {error.strerror}"}
        finally:
            processes.end_tagged(record["run_id"])
            kernel.remove(record["run_id"])
        ended = _ended(record, how, where, seconds=time.monotonic() - started)
        (folder / ".reserve").unlink(missing_ok=True)
        records.write(ended, hidden=hidden)
        _clean_log(folder / "log.txt", hidden, keep=ended["status"] != "passed")
    scratch.leave(lake)
    return ended


def _start(path, folder, record, given):
    """Start the child process; return (process, read end of its events, our end of its lifeline)."""
    events, write_end = os.pipe()
    lifeline, ours = os.pipe()
    tag = {
        processes.TAG: record["run_id"],
        "WORKBENCH_RUN_DIR": str(folder),
        "WORKBENCH_HOME": str(settings.home()),
    }
    options = {"input": path, "output": folder / "notebook.ipynb", "cwd": path.parent}
    options |= {"parameters": json.dumps(given), "environment": record["environment"] or ""}
    options |= {"events": write_end, "lifeline": lifeline}
    command = [sys.executable, "-m", "workbench.run.child"]
    command += [part for name, value in options.items() for part in (f"--{name}", str(value))]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            command, env=os.environ | tag, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            pass_fds=(write_end, lifeline), start_new_session=True,
        )  # fmt: skip
    os.close(write_end)
    os.close(lifeline)
    threading.Thread(target=_warm_up, daemon=True).start()
    return process, events, ours


def _watch(child, job, where, started):
    """Follow the child's events until it ends or its time is over; return status, reason, failing_cell."""
    process, events, lifeline = child
    verdict = None
    try:
        for line in _lines(events, deadline=job.timeout_seconds and started + job.timeout_seconds):
            event = json.loads(line)
            if event.pop("event") == "end":
                verdict = event
            else:
                where.update(event)
                job.tell(event="cell", seconds=time.monotonic() - started, **event)
    except TimeoutError:
        reason = f"not done after {job.timeout_seconds:g} seconds"
        return {"status": "timed_out", "reason": reason, "error": "Timeout"}
    finally:
        if verdict is None:
            process.kill()
        code = process.wait()
        os.close(events)
        os.close(lifeline)
    if verdict is None:
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}, see log.txt"
        return {"status": "died", "reason": f"the executing process ended {how}", "error": "Died"}
    return verdict


def _lines(pipe, *, deadline):
    """Yield the lines that come through a pipe until it closes; TimeoutError at the deadline."""
    selector, rest = selectors.DefaultSelector(), b""
    selector.register(pipe, selectors.EVENT_READ)
    while True:
        left = deadline - time.monotonic() if deadline else None
        if (left is not None and left <= 0) or not selector.select(left):
            raise TimeoutError
        part = os.read(pipe, 65536)
        if not part:
            return
        *lines, rest = (rest + part).split(b"\n")
        yield from lines


def _ended(record, how, where, *, seconds):
    cell = how.get("failing_cell")
    if cell is None and how["status"] != "passed" and where:
        error = how.get("error", how["status"])
        cell = {"number": where["number"], "first_line": where["first_line"], "error": error}
        cell["message"] = how["reason"]
    left = results.read(records.folder(record))
    ended = records.finish(record, how["status"], seconds=seconds, reason=how["reason"], failing_cell=cell)
    return ended | {name: left[name] for name in ("results", "measurements", "checks", "tables")}


def _recover():
    """Record the runs that were killed from outside, and end what they left behind."""
    dead = records.recover()
    for record in dead:
        processes.end_tagged(record["run_id"])
        kernel.remove(record["run_id"])
    return dead


def _publish(ended):
    """Write reports, ledger and index; what cannot be written is said in the record."""
    everything = records.every()
    try:
        for record in ended:
            earlier = report.previous(everything, record)
            report.write(records.folder(record), record, previous=earlier, redact=secrets.redact)
        ledger.sync()
        report.write_index(records.runs_folder(), everything)
    except OSError as error:
        last = ended[-1]
        last.update(status="failed", exit_code=1, reason=f"the report could not be written: {error.strerror}")
        records.write(last)


def _warm_up():
    """Load what the end of a run needs while the notebook is still busy."""
    import pyiceberg.catalog.sql
    import pyiceberg.io.pyarrow

    return pyiceberg


@contextmanager
def _only_one(record):
    """Give None while this is the only run of its job, else the sentence that names the other one."""
    parts = [record["notebook_path"], record["params_file"] or "", record["environment"] or ""]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    folder = records.runs_folder() / ".jobs"
    folder.mkdir(exist_ok=True)
    owner = folder / f"{name}.run"
    try:
        with FileLock(folder / f"{name}.lock", timeout=0):
            owner.write_text(record["run_id"])
            yield None
    except Timeout:
        job = f"{record['notebook']} with {record['params_file'] or 'no params file'}"
        yield f"{job} runs already in this environment: {owner.read_text()}; wait, or give this one its own file"


@contextmanager
def _signals():
    """Turn SIGTERM and SIGINT into Interrupted, where this is the main thread."""

    def stop(number, frame):
        signal.signal(number, signal.SIG_IGN)
        raise Interrupted(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _writable(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise notebooks.Refused(f"the runs folder {folder} cannot be written: {error.strerror}") from None


def _clean_log(log, hidden, *, keep):
    """Blank out secrets in what the processes printed; nobody needs an empty log, nor that of a passed run."""
    if not log.is_file():
        return
    text = log.read_text(encoding="utf-8", errors="replace")
    if keep and text.strip():
        log.write_text(secrets.redact(text, hidden), encoding="utf-8")
    else:
        log.unlink()


def _hidden(environment):
    return settings.secret_values(settings.environment(environment)) if environment else ()


def _notify(command, record):
    """Call the user's command with the record's path as its last argument; its failure changes no verdict."""
    try:
        done = subprocess.run([*shlex.split(command), str(records.folder(record) / "run.json")], check=False)
    except (OSError, ValueError) as error:
        print(f"workbench: --on-failure could not be called: {error}", file=sys.stderr)
    else:
        if done.returncode:
            print(f"workbench: --on-failure {command} ended with {done.returncode}", file=sys.stderr)
