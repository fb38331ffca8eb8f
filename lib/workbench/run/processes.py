"""The processes of a run: found by the tag that the runner puts into their environment, and ended."""

import os

import psutil

TAG = "WORKBENCH_RUN_ID"


def tagged(run_id):
    """Return the living processes that carry a run's tag, wherever their parents are; this one excepted."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(TAG) == run_id:
                found.append(process)
        except (psutil.Error, OSError):
            continue  # gone meanwhile, or another user's
    return found


def end_tagged(run_id, *, patience_seconds=10):
    """Kill every process of a run and wait until they are gone.

    A kernel's JVM outlives it by seconds and a killed runner leaves all of them, so the tag decides, not the
    family tree.

    Returns:
        int, how many were killed.
    """
    killed = []
    for _ in range(3):  # a process may have started another one while we looked
        found = tagged(run_id)
        if not found:
            break
        for process in found:
            try:
                process.kill()
            except psutil.Error:
                continue
        psutil.wait_procs(found, timeout=patience_seconds)
        killed += found
    return len(killed)
