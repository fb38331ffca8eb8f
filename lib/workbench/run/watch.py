"""The child process of a run, followed from outside: its events, its time, the signals that stop it."""

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

from workbench import settings
from workbench.run import processes


class Interrupted(Exception):
    """The runner was told to stop; holds the number of the signal."""


def start(path, folder, record, given):
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
    options |= {"kernel": record["engine"] or ""}
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
    return process, events, ours


def follow(child, job, where, started):
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
            spawned = processes.below(process.pid)
            process.kill()
            processes.kill(spawned)
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


@contextmanager
def signals():
    """Turn SIGTERM, SIGINT and SIGHUP into Interrupted, where this is the main thread."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def stop(number, frame):
        for other in numbers:
            signal.signal(other, signal.SIG_IGN)
        raise Interrupted(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
