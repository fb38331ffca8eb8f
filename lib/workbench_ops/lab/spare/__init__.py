"""A JVM that is started ahead and handed to one kernel of `workbench lab`, so that its session is there at once.

A JVM is never used twice: what another kernel left in it (a stream, cached tables, views, Python workers with an
old version of a module) would live on. The spare has run Spark for some statements on a lake of its own, which is
gone, and then stopped it; the kernel begins its own Spark in it. It is handed over with the writing end of its
standard input, which only that kernel has from then on: PySpark's JVM ends when that end is closed, however the
kernel ends.

A kernel whose settings, variables, folder or files differ in anything from those the spare was started with starts
a JVM of its own; the next spare is like that one.

    recipe    what a JVM is started with, all of which must be equal
    keeper    a process beside the server: it has the one spare, and hands it over by a Unix socket
    starting  a process that starts one JVM, lets it work, gives it to the keeper and ends
    taking    in a kernel: where PySpark starts a JVM, the keeper is asked first
    wire      what they say to each other
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench._base import children

VARIABLE = "WORKBENCH_LAB_SPARE"  # the keeper's socket, told to the kernels of a `workbench lab`
FIRST = "local"  # environment of the spare that is there before any kernel asked


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Keep a spare for the kernels that this process starts; it and its keeper end with the context or with us.

    Args:
        folder: where the first kernel will be, as a guess.

    Raises:
        ChildProcessError: the keeper does not begin.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-lab-") as private:  # the path of a socket must be short
        settings = {"socket": str(Path(private) / "keeper"), "folder": str(folder.resolve()), "environment": FIRST}
        with children.serving("workbench_ops.lab.spare.keeper", settings, name="keeper of the spare JVM"):
            os.environ[VARIABLE] = settings["socket"]
            try:
                yield
            finally:
                del os.environ[VARIABLE]
