"""The processes of a run: found by the tag that the runner puts into their environment, and ended."""

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

TAG = "WORKBENCH_RUN_ID"
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def tagged(run_id: str) -> list[psutil.Process]:
    """Return the living processes that carry a run's tag, wherever their parents are, except this one."""
    processes = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(TAG) == run_id:
                processes.append(process)
        except (psutil.Error, OSError):
            continue  # gone meanwhile, or another user's
    return processes


def adopt() -> None:
    """Let processes whose parents die become this process's (Linux), so that `below` finds daemons too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def below(pid: int) -> list[psutil.Process]:
    """Return the living processes below one, whatever their environment is."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def when_cut(lifeline: int, act: Callable[[], None]) -> None:
    """Act, in a thread, when the parent's end of a lifeline is closed: by the parent, or by its death.

    Args:
        lifeline: file descriptor of our end of the pipe.
        act: called once, without arguments.
    """

    def wait() -> None:
        os.read(lifeline, 1)
        act()

    threading.Thread(target=wait, daemon=True).start()


def kill(processes: Iterable[psutil.Process], *, patience_seconds: float = 10) -> None:
    """Kill processes and wait until they are gone."""
    processes = list(processes)
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=patience_seconds)


def end(run_id: str, *, also: Iterable[psutil.Process] = ()) -> None:
    """Kill every process of a run and wait until they are gone.

    A kernel's JVM outlives it by seconds and a killed runner leaves all of them, so the tag decides.

    Args:
        run_id: the run.
        also: processes without the tag, as `below` found them.
    """
    kill(also)
    for _ in range(3):  # a process may have started another one meanwhile
        if not (living := tagged(run_id)):
            break
        kill(living)
