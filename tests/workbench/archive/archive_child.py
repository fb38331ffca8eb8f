"""A restore that kills itself with signal 9 at its n-th request: `before` it is sent, or `after` its answer came."""

import itertools
import os
import signal
import sys

from workbench import archive
from workbench_standins.archive import Store

endpoint, prefix, state, point, nth = sys.argv[1:]
store = Store(endpoint)
s3 = store.client(max_pool_connections=16)
count = itertools.count(1)


def die(**arguments):
    if next(count) == int(nth):
        os.kill(os.getpid(), signal.SIGKILL)


s3.meta.events.register(f"{point}-call.s3.RestoreObject", die)
plan = archive.plan(archive.inventory(prefix, s3=s3), tier="Bulk", days=3, now=store.clock.now())
archive.restore(plan, s3=s3, state=state, wait_hours=0, workers=16, now=store.clock.now)
print("not killed")
