"""A run of maintenance in a process of its own: it says where it is, and stays there to be killed.

    python maintenance_child.py POINT < pickled (plan, now)

Points of `maintenance_kills.HOOKED` are in Python; at all others the run goes on, and who kills it looks at the
storage.
"""

import os
import pickle
import sys
import time

from maintenance_cases import raise_conflict

from workbench import session
from workbench.tables import maintenance
from workbench.tables.maintenance import arrow, orphans, storage


def here(*_, **__):
    print("here", flush=True)
    time.sleep(600)


def stop_at(point, spark, table):
    """Let the run stay at a point."""
    commit = arrow._commit
    if point == "before the fast commit":
        arrow._commit = here
    elif point == "behind the fast commit":
        arrow._commit = lambda *arguments: here(commit(*arguments))
    elif point == "before the files of a refused commit go":
        arrow._commit = lambda *_: raise_conflict(spark, table)
        storage.delete = here
    orphans._AT_ONCE = 1


def main(point):
    planned, now = pickle.load(sys.stdin.buffer)
    spark = session.start(os.environ.get("WORKBENCH_TEST_ENVIRONMENT", "local"))
    stop_at(point, spark, planned.table)
    print("ready", flush=True)
    maintenance.run(spark, planned, now=now, remove_orphans=True, no_commit_under_way=True)
    print("ended", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
