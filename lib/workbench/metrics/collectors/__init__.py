"""Compare garbage collectors by what clients have of them: pauses, waits for memory, latency from when it was due.

flags = collectors.options("Z", "z.gc.log", java=21, heap_bytes=1 << 30)      # for the JVM that is looked at
met = collectors.load(ask, rate=1_500, seconds=40)                           # beside it
collectors.compare({"Z": collectors.read("z.gc.log")}, {"Z": met})

options     of a JVM, with its log
reading     the log
latency     requests at a fixed rate, timed from when each was due
comparing   variants beside each other
results     what a log says
"""

from workbench.metrics.collectors.comparing import compare
from workbench.metrics.collectors.latency import Load, load
from workbench.metrics.collectors.options import Name, options
from workbench.metrics.collectors.reading import read
from workbench.metrics.collectors.results import Collection

__all__ = ["Collection", "Load", "Name", "compare", "load", "options", "read"]
