"""A notebook run headless: refused before it starts, or executed in a child process and honestly recorded."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from workbench import results
from workbench._base import children, jars, scratch, secrets, settings
from workbench.session import services as stand_ins
from workbench_ops import account
from workbench_ops.run import durations, kernel, ledger, processes, publishing, requests, tags, watch
from workbench_ops.run import notebook as notebooks
from workbench_ops.run import record as records

NOTIFY_SECONDS = 120  # the rest of a chain, and what waits for our exit code, are held up for as long
RESERVE_BYTES = 256 * 1024  # set aside so that a full disk still has room for the record


@dataclass(frozen=True)
class Job:
    """What is asked for: a notebook and its values, nothing checked yet.

    `kernel` is another than the notebook's own. `versions` are the packages of the environment that the kernel is
    in, where it is not ours. Without `ledger` whoever starts several runs writes it, once, when they have ended.
    `request` names what asked for the run, where that asks again when it has lost sight of it: of a request at
    most one run passes (`workbench_ops.run.requests`). With `wait` the job waits for another run of it, instead of
    being refused.
    """

    notebook: str
    params_file: str | None = None
    overrides: tuple[str, ...] = ()
    environment: str | None = None
    timeout_seconds: float | None = None
    keep_scratch: bool = False
    on_failure: str | None = None
    kernel: str | None = None
    versions: dict = field(default_factory=dict)
    ledger: bool = True
    request: str | None = None
    wait: bool = False
    tell: object = field(default=lambda **event: None)


def run(job):
    """Run a notebook and record how it ended.

    Runs that were killed from outside are found and recorded first. The parameters are checked against the
    notebook's own cell before a kernel starts. Where an earlier run of the job's request is under way, it is
    waited for and its record returned; where one passed, its record is.

    Args:
        job: what to run; `job.tell` is called with the events `begin` (run_id, usual_seconds), `cell` (number, of,
            heading, seconds) and `end` (record).

    Returns:
        dict, the record (design of run.json). Its `status` and `exit_code` tell the verdict.

    Raises:
        Refused: nothing was started and no record could be written (no such notebook, runs folder unwritable).
    """
    if job.timeout_seconds is not None and not 0 < job.timeout_seconds < 10**7:
        raise notebooks.Refused(f"the timeout is a number of seconds, found {job.timeout_seconds}")
    path = notebooks.find(job.notebook)
    require_writable(records.runs_folder())
    recovered = recover()
    record, given, reason = _prepared(job, path)
    with requests.turn(record, wait=job.wait, tell=job.tell) as turn:
        recovered += recover() if turn.waited_for else []
        if ended := requests.earlier(record, turn.waited_for):
            said = (
                f"{path.stem}  {ended['status']} as {ended['run_id']}, which answers {job.request}: not run again"
            )
            job.tell(event="said", text=said)
            # its runner may have been killed between its record and its report
            new = [] if (records.folder(ended) / "report.html").is_file() else [ended]
        else:
            reason = reason or turn.refusal or (record["environment"] and _lacking(record["environment"]))
            ended = _refused(record, reason) if reason else _executed(job, path, record, given)
            new = [ended]
        if recovered or new:
            publishing.publish([*recovered, *new])
        if job.ledger:
            publishing.write_ledger()
    if ended["status"] != "passed" and job.on_failure:
        notify(job.on_failure, ended)
    job.tell(event="end", record=ended)
    return ended


def _refused(record, reason):
    ended = records.finish(record, "refused", seconds=0.0, reason=reason)
    records.write(ended)
    return ended


def planned(job):
    """Return (record, reason for a refusal or None) of a job that is not started; nothing is written.

    Raises:
        Refused: there is no such notebook, or it cannot be read.
    """
    record, _, reason = _prepared(job, notebooks.find(job.notebook))
    return record, reason


def _prepared(job, path):
    """Return the record, the given values, and the reason for a refusal or None."""
    nb = notebooks.read(path)
    declared, given, reason = {}, {}, None
    try:
        declared = notebooks.parameters(nb)
        given = notebooks.values(
            declared, file=job.params_file, overrides=job.overrides, environment=job.environment
        )
        tags.sole_values(nb, given)
        notebooks.runnable(nb, kernel=job.kernel)
    except notebooks.Refused as refusal:
        reason = str(refusal)
    everything = {name: p.default for name, p in declared.items()} | given
    environment = everything.get("ENVIRONMENT")
    if environment is not None and not isinstance(environment, str):
        reason, environment = reason or f"ENVIRONMENT takes a name, found {environment!r}", None
    if reason is None and environment is not None:
        try:
            env = settings.environment(environment)
            if job.kernel is None and not job.versions:  # another Spark's jars its session asks for
                jars.for_environment(env.jars, environment)
            stand_ins.require(env)
        except (ValueError, ModuleNotFoundError) as error:
            reason = str(error)
    overrides = [*job.overrides, *([f"ENVIRONMENT={job.environment}"] if job.environment else [])]
    params_file = job.params_file if job.params_file and Path(job.params_file).exists() else None
    values = {"params_file": params_file, "parameters": everything, "environment": environment}
    record = records.new(path, **values, overrides=overrides, engine=job.kernel, other=job.versions)
    record["request"] = job.request
    return record, given, reason


def _lacking(environment):
    """Say which variables the session of an environment refers to and nobody has set, or that nobody is signed in.

    Asked when a run starts, and not before: a scheduler has variables that whoever writes the schedule has not.
    """
    env = settings.environment(environment)
    named = [*settings.catalog_references(env).values(), env.spark.master, *map(str, env.spark.conf.values())]
    asked = {
        one.removeprefix("env:") for one in named if one.startswith("env:") and secrets.REFERENCE.fullmatch(one)
    }
    if not (unset := sorted(name for name in asked if not os.environ.get(name))):
        with suppress(ModuleNotFoundError):  # boto3, which Spark needs not
            return account.missing_credentials(env)
        return None
    by = "; `workbench local cluster` gives both" if environment == "cluster" else ""
    return f"{environment} refers to variables that are not set: export {'=… '.join(unset)}=…{by}"


def _executed(job, path, record, given):
    """Execute the notebook in a child process and return the ended record, written."""
    folder = records.folder(record)
    folder.mkdir(parents=True)
    lake = scratch.enter()
    if job.keep_scratch:
        scratch.keep(lake)
        record = record | {"kept_lake": str(lake)}
    hidden, where, started = settings.secret_values(record["environment"]), {}, time.monotonic()
    with records.lock(record), watch.signals():
        try:
            records.write(record, hidden=hidden)
            nb = notebooks.read(path)
            job.tell(event="begin", run_id=record["run_id"], usual_seconds=_usual_seconds(nb, record))
            if said := _kernel_chosen(job, path, nb):
                job.tell(event="said", text=said)
            (folder / ".reserve").write_bytes(b"\0" * RESERVE_BYTES)
            how = watch.follow(_started(job, path, folder, record, given), job, where, started)
        except watch.Interrupted as stop:
            how = {"status": "interrupted", "reason": f"stopped by {signal.Signals(stop.args[0]).name}"}
        except OSError as error:
            how = {"status": "failed", "reason": f"the run's folder could not be written: {error.strerror}"}
        finally:
            processes.end(record["run_id"])
            kernel.remove(record["run_id"])
        ended = secrets.redact(_ended(record, how, where, seconds=time.monotonic() - started), hidden)
        (folder / ".reserve").unlink(missing_ok=True)
        records.write(ended, hidden=hidden)
        _clean(folder, hidden, keep_log=ended["status"] != "passed")
    scratch.leave(lake)
    return ended


def _usual_seconds(nb, record):
    return durations.usual_seconds(record, records.every(), nb)


def _kernel_chosen(job, path, nb):
    """Say in which kernel a notebook runs that names none; nothing where it or the job names one."""
    if job.kernel or kernel.named(nb):
        return None
    return f"{path.stem}  names no kernel, and runs in {kernel.default(nb)}"


def _started(job, path, folder, record, given):
    child = watch.start(path, folder, record, given)
    if job.ledger:
        threading.Thread(target=ledger.load, daemon=True).start()
    return child


def _ended(record, how, where, *, seconds):
    cell = how.get("failing_cell")
    if cell is None and how["status"] != "passed" and where:
        error = how.get("error", how["status"])
        cell = {"number": where["number"], "first_line": where["first_line"], "error": error}
        cell["message"] = how["reason"]
    left = results.read(records.folder(record))
    swallowed = [check["name"] for check in left["checks"] if not check["passed"]]
    if how["status"] == "passed" and swallowed:
        how = {"status": "failed", "reason": f"a check failed and the notebook went on: {', '.join(swallowed)}"}
    ended = records.finish(record, how["status"], seconds=seconds, reason=how["reason"], failing_cell=cell)
    return ended | {name: left[name] for name in ("results", "measurements", "checks", "tables")}


def recover():
    """Record the runs that were killed from outside, and end what they left behind."""
    dead = records.recover()
    for record in dead:
        processes.end(record["run_id"])
        kernel.remove(record["run_id"])
        _clean(records.folder(record), settings.secret_values(record["environment"]), keep_log=True)
    return dead


def require_writable(folder: Path) -> None:
    """Refuse a folder of runs that cannot be written.

    Raises:
        Refused: it is no folder, or not ours to write.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise notebooks.Refused(f"the runs folder {folder} cannot be written: {error.strerror}") from None


def _clean(folder, hidden, *, keep_log):
    """Blank out secrets in what the processes wrote; nobody needs an empty log, nor that of a passed run."""
    for path in (folder / "results.json", folder / "spark.log", folder / "log.txt"):
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.name == "log.txt" and not (keep_log and text.strip()):
            path.unlink()
        elif (clean := secrets.redact(text, hidden)) != text:
            path.write_text(clean, encoding="utf-8")


def notify(command, record=None, *, name="--on-failure"):
    """Call the user's command when a run failed; what becomes of it changes no verdict.

    Args:
        command: a command line.
        record: whose path is its last argument; None where there is none.
        name: of the setting that the command is from, for what is said of it.
    """
    path = [] if record is None else [str(records.folder(record) / "run.json")]
    try:
        code = children.within([*shlex.split(command), *path], NOTIFY_SECONDS)
    except (OSError, ValueError) as error:
        print(f"workbench: {name} could not be called: {error}", file=sys.stderr)
    except subprocess.TimeoutExpired:
        print(f"workbench: {name} {command} was ended after {NOTIFY_SECONDS:g} seconds", file=sys.stderr)
    else:
        if code:
            print(f"workbench: {name} {command} ended with {code}", file=sys.stderr)
