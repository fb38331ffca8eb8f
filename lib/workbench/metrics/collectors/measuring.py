"""The process between us and a command that is measured: what it and all that it starts take, to the last of them.

On Linux it adopts what its children leave behind, such as the JVM of a Python that has ended: nothing is missing.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench.metrics.collectors.canary import Canary

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_STRAGGLERS_SECONDS = 60.0
_CANARY_SECONDS = 0.005


def main() -> None:
    """Run the command that standard input names, and say what it took."""
    settings = json.loads(sys.stdin.buffer.readline())
    linux = sys.platform == "linux"
    if linux:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    canary = Canary(_CANARY_SECONDS)
    threading.Thread(target=canary.watch, args=[lambda: False], daemon=True).start()
    begin = time.monotonic()
    try:
        with Path(settings["out"]).open("wb") as out, Path(settings["errors"]).open("wb") as errors:
            process = subprocess.Popen(
                settings["words"], stdin=subprocess.DEVNULL, stdout=out, stderr=errors, process_group=0,
                env=settings["env"], preexec_fn=children.end_with_parent if linux else None,
            )  # fmt: skip
    except OSError as error:
        children.say({"error": f"{settings['words'][0]} could not be started: {error.strerror}"})
        return
    timer = threading.Timer(settings["limit_seconds"], _kill, [process.pid])
    timer.start()
    children.until_either_ends(process)
    timed_out = not timer.is_alive()
    timer.cancel()
    if process.poll() is None:  # our own input has ended: nobody waits for an answer
        _kill(process.pid)
    exit_code = process.wait()
    _wait_for_stragglers(process.pid)
    cpu_seconds, peak_memory_bytes = children.taken()
    answer: dict[str, Any] = {
        "exit_code": exit_code,
        "timed_out": timed_out,
        "seconds": time.monotonic() - begin,
        "cpu_seconds": cpu_seconds,
        "peak_memory_bytes": peak_memory_bytes,
        "canary_seconds": canary.overslept,
    }
    children.say(answer)


def _wait_for_stragglers(group: int) -> None:
    """Wait for what the command left behind, and end it where it takes too long."""
    timer = threading.Timer(_STRAGGLERS_SECONDS, _kill, [group])
    timer.daemon = True
    timer.start()
    with suppress(ChildProcessError):  # there are none any more
        while True:
            os.waitpid(-1, 0)
    timer.cancel()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # all of it has ended
        os.killpg(group, signal.SIGKILL)
