"""`workbench local cluster`: the cluster by hand."""

import os
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from workbench_standins import by_hand, cluster


def serve(*, port=7077, workers=2, cores=1, memory="1g", applications=2, say=None):
    """Serve until SIGINT, SIGTERM or SIGHUP.

    Args:
        port: as for `cluster.serve`, as are the others.
        workers: how many.
        cores: of a worker, for an application.
        memory: of a worker, for an application.
        applications: how many side by side.
        say: called with each line that tells what there is, none of which holds the secret; None prints them.

    Raises:
        ValueError: an argument does not go, or the port cannot be had.
        ChildProcessError: it did not start.
    """
    say = say or partial(print, flush=True)
    sizes = {"port": port, "workers": workers, "cores": cores, "memory": memory, "applications": applications}
    with by_hand.interrupted() as ended, cluster.serve(**sizes) as running, _told(running) as file:
        each = f"{cores} core{'s' if cores > 1 else ''} and {memory} for a session"
        say(f"Spark cluster on {running.master}: {workers} workers of {each}")
        say(f"sessions side by side: {applications}; one more waits until another ends")
        say(f"session  . {file}  lets this shell use it; only you can read it")
        say("         workbench run 01_first_table --environment cluster")
        say("Ctrl-C ends it; nothing stays")
        ended.wait()


@contextmanager
def _told(running):
    """Write the variables to a file of the owner's, gone with the cluster."""
    handle, name = tempfile.mkstemp(prefix="workbench-cluster-", suffix=".env")  # mkstemp: 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"export {key}={value}\n" for key, value in running.variables().items())
    try:
        yield name
    finally:
        Path(name).unlink(missing_ok=True)
