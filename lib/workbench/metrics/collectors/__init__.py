"""Compare garbage collectors by what clients have of them: pauses, waits for memory, latency from when it was due.

flags = collectors.options("Z", "z.gc.log", java=21, heap_bytes=1 << 30)      # for the JVM that is looked at
met = collectors.load(ask, rate=1_500, seconds=40)                           # beside it
collectors.compare({"Z": collectors.read("z.gc.log")}, {"Z": met})

job = lambda name: collectors.run(["python", "job.py"], name, folder=new_folder(), heap_bytes=1 << 30)
collectors.medians(collectors.rounds(job, ["G1", "Parallel", "Z"]))          # a Spark job of one's own, in turn

options     of a JVM, with its log; which collectors it has
reading     the log
latency     requests at a fixed rate, timed from when each was due
driving     the same from a JVM, for thousands a second
running     a program under a collector, in processes of its own (measuring: what they took)
comparing   variants beside each other
results     what a log says
"""

from workbench.metrics.collectors.comparing import compare, medians
from workbench.metrics.collectors.driving import command, drive
from workbench.metrics.collectors.latency import Load, load
from workbench.metrics.collectors.options import Name, available, options
from workbench.metrics.collectors.reading import read
from workbench.metrics.collectors.results import Collection
from workbench.metrics.collectors.running import Trial, rounds, run

__all__ = [
    "Collection", "Load", "Name", "Trial", "available", "command", "compare", "drive", "load", "medians",
    "options", "read", "rounds", "run",
]  # fmt: skip
