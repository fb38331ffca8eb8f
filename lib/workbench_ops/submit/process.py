"""The target Process: jobs as processes of this machine, which outlive whoever submitted them.

A run has a folder with its log. A supervisor process leads the run: it passes the fence, starts the script, and
writes the exit code down. A run is seen to have failed when that code is not 0, or when the supervisor and all
processes of its group are gone without one.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench._base.errors import ArgumentError
from workbench._base.files import replacing
from workbench_ops.submit import claims as documents
from workbench_ops.submit import fencing
from workbench_ops.submit.errors import TargetUnavailable
from workbench_ops.submit.jobs import Job
from workbench_ops.submit.services import CANCELLED, FAILED, PASSED, QUEUED, RUNNING, UNKNOWN, State

DECLINED = "declined"
END_SECONDS = 10


class Processes:
    """Processes of this machine, with a folder of their runs."""

    once = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def healthy(self) -> None:
        """Raise TargetUnavailable where the folder cannot be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TargetUnavailable(f"{self.folder} cannot be made: {error.strerror}") from None
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise TargetUnavailable(f"{self.folder} cannot be written")

    def submit(self, job: Job, *, token: str, given: str) -> str:
        """Start the supervisor of a run; return its id, which is the name of the run's folder."""
        self.healthy()
        run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(6)}"
        run = self.folder / run_id
        run.mkdir()
        words = {"script": job.script, "arguments": list(job.arguments), "variables": dict(job.variables)}
        with replacing(run / "job.json") as new:
            new.write_text(json.dumps(words | {"given": given, "host": host()}))
        with (run / "log").open("wb") as log:
            supervisor = subprocess.Popen(
                [sys.executable, "-P", "-c", f"from {__package__} import process; process.main()", str(run)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        _write(run, "supervisor", {"pid": supervisor.pid, "began": began(supervisor.pid)})
        return run_id

    def state(self, run_id: str) -> State:
        """Return the state of a run; unknown where it was started on another machine or its folder is gone."""
        run = self.folder / run_id
        job = _read(run, "job.json")
        if job is None or job["host"] != host():
            return UNKNOWN
        for _ in range(2):  # what ended between the two looks has its code by the second
            if ended := _read(run, "ended"):
                return _of_code(ended["code"])
            if self._alive(run):
                return RUNNING if (run / "began").exists() else QUEUED
        return FAILED

    def logs(self, run_id: str) -> str:
        """Return what the run has printed so far."""
        try:
            return (self.folder / run_id / "log").read_text(errors="replace")
        except OSError as error:
            raise ArgumentError(f"the run {run_id} has no log: {error.strerror}") from None

    def cancel(self, run_id: str) -> None:
        """End a run: SIGTERM to all its processes and, ten seconds later, SIGKILL."""
        run = self.folder / run_id
        if self.state(run_id) not in (QUEUED, RUNNING):
            return
        _write(run, "cancelled", {})
        leader = _read(run, "supervisor")
        for number in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + END_SECONDS
            with suppress(ProcessLookupError):
                if leader and self._alive(run):
                    os.killpg(leader["pid"], number)
            while self._alive(run) and time.monotonic() < until:
                time.sleep(0.02)
        if _read(run, "ended") is None:
            _write(run, "ended", {"code": CANCELLED})

    def cost_usd(self, run_id: str) -> str | None:
        """Return "0": nobody charges for it."""
        return "0"

    def _alive(self, run: Path) -> bool:
        """Tell whether any process of a run lives; those of its group, also when the supervisor was killed."""
        leader = _read(run, "supervisor")
        if leader is None:  # its submitter has not written it yet, or was killed before; the fence decides then
            return False
        if (now := began(leader["pid"])) is not None and now != leader["began"]:
            return False  # another process has the number by now
        return _group_lives(leader["pid"])


def began(pid: int) -> str | None:
    """Return when a process began, in ticks since the machine did; None where it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def _group_lives(group: int) -> bool:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] not in "ZX" and int(fields[2]) == group:
                return True
    return False


def host() -> str:
    """Return what names this machine since its start."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return os.uname().nodename


def _of_code(code: Any) -> State:
    if code == CANCELLED:
        return CANCELLED
    return PASSED if code in (0, DECLINED) else FAILED


def _read(run: Path, name: str) -> Any:
    try:
        return json.loads((run / name).read_text())
    except FileNotFoundError:
        return None


def _write(run: Path, name: str, values: Any) -> None:
    with replacing(run / name) as new:
        new.write_text(json.dumps(values))


def main() -> None:
    """Lead a run: pass the fence, run the script, write its exit code down."""
    run = Path(sys.argv[1])
    job = _read(run, "job.json")
    submission = json.loads(job["given"])
    _write(run, "supervisor", {"pid": os.getpid(), "began": began(os.getpid())})
    claims = documents.at(submission["claims"])
    token, generation, attempt = submission["token"], submission["generation"], submission["attempt"]
    if not fencing.passes(claims, token, generation, attempt, run.name):
        _write(run, "ended", {"code": DECLINED})
        return
    own = {fencing.VARIABLE: job["given"], fencing.PASSED: attempt, "PYTHONUNBUFFERED": "1"}
    signal.signal(signal.SIGTERM, lambda *_: None)  # it is the script's: the code is still to be written
    _write(run, "began", {})
    script = subprocess.Popen(
        [sys.executable, job["script"], *job["arguments"]],
        stdin=subprocess.DEVNULL, env=os.environ | job["variables"] | own, preexec_fn=children.end_with_parent,
    )  # fmt: skip
    code: Any = script.wait()
    _write(run, "ended", {"code": CANCELLED if (run / "cancelled").exists() and code else code})
