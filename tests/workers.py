"""The memory of Spark's Python workers, as tests and benchmarks look at it."""

import contextlib

import psutil


def resident_mib():
    """Return the resident memory in MiB of all Python processes that Spark started below this one.

    Raises:
        AssertionError: none of them runs tasks, so that the figure would be of others.
    """
    total, tasks = 0, False
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # workers come and go
            arguments = process.cmdline()
            if arguments[1:2] == ["-m"] and arguments[2].endswith(".daemon"):  # whoever the daemon is
                total += process.memory_info().rss
                tasks = tasks or arguments[3:4] == ["pyspark.worker"]
    assert tasks, "no Python worker of Spark that runs tasks is there"
    return total / 2**20
