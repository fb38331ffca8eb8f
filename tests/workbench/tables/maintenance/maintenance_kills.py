"""Maintenance killed by signal 9 in a stage of its run, begun again, and what must be as if nobody had killed it."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

from digests import digest
from maintenance_cases import ALL, LATER, PLAIN, append, folder, ids, made, old, plan

from workbench.tables import maintenance
from workbench.tables.maintenance import metadata, wording

CHILD = Path(__file__).with_name("maintenance_child.py")
HOOKED = (
    "before the fast commit",
    "behind the fast commit",
    "before the files of a refused commit go",
)
SEEN = {  # in the storage: what of it, how it looks, and the actions that run
    "in Spark's rewrite": ("new", ".parquet", ALL[:1]),
    "between two commits of Spark's rewrite": ("new", ".metadata.json", ALL[:1]),
    "in the rewrite of manifests": ("new", ".avro", ALL[2:3]),
    "in expiry, behind its commit": ("new", ".metadata.json", ALL[3:4]),
    "in expiry, among its files": ("gone", ".parquet", ALL[3:4]),
    "in the removal of orphans": ("gone", "orphan", ALL[4:5]),
}
POINTS = (*HOOKED, *SEEN)


def sick(spark, table, properties=PLAIN):
    """Make a table in which every action has something to do; returns what its readers see."""
    made(spark, table, properties=properties, partitioned="bucket(4, id)", appends=4)
    spark.sql(f"ALTER TABLE {table} CREATE TAG reader AS OF VERSION {ids(spark, table)[1]}")
    spark.sql(
        f"INSERT OVERWRITE {table} SELECT id, 'w' FROM range(20)"
    )  # the last two appends' files are dead now
    for n in range(4, 7):
        append(spark, table, n)
    for n in range(5):
        path = folder(spark, table) / "data" / f"orphan_{n}.parquet"
        path.write_text("x")
        old(path)
    return seen(spark, table)


def seen(spark, table):
    return digest(spark, table), digest(spark, table, "VERSION AS OF 'reader'")


def planned(spark, table, *actions, fast=True):
    return plan(
        spark, table, *actions, fast=fast, min_input_files=2, min_manifests=2, solitary_refs=["reader"]
    )  # fmt: skip


def start(point, wanted):
    """Start a child that does a plan, in a process group of its own with its JVM."""
    child = subprocess.Popen(
        [sys.executable, CHILD, point], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    child.stdin.write(pickle.dumps((wanted, LATER)))
    child.stdin.close()
    return child


def files(top):
    return {path.name for path in top.rglob("*") if not path.name.startswith(".")}


def reached(point, top, before):
    """Say whether the storage shows that a run is in a stage."""
    what, ending, _ = SEEN[point]
    now = files(top)
    return any(ending in name for name in (now - before if what == "new" else before - now))


def killed(spark, table, point, *, wanted=None, after_s=0):
    """Run maintenance in a child and kill it, with its JVM, at a point; returns the plan.

    With a plan given it is killed so many seconds after it began, wherever it is.
    """
    fast = point in HOOKED
    mine = wanted or planned(spark, table, *(ALL[:1] if fast else SEEN[point][2]), fast=fast)
    top = folder(spark, table)
    before = files(top)
    child = start(point, mine)
    try:
        assert child.stdout.readline() == b"ready\n"
        if wanted:
            time.sleep(after_s)
        elif point in HOOKED:
            assert child.stdout.readline() == b"here\n"
        else:
            end = time.monotonic() + 600
            while not reached(point, top, before) and child.poll() is None and time.monotonic() < end:
                time.sleep(0.002)
            assert reached(point, top, before), f"never {point}"
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        said = child.stdout.read()
        child.stdout.close()
        child.wait(60)
    if not wanted:
        assert (child.returncode, said) == (-signal.SIGKILL, b""), f"{point}: it was not killed but {said}"
    return mine


def begun_again(spark, table, mine, before):
    """Look at what a killed run left, begin it again with its plan; returns what is wrong, in sentences."""
    wrong = [] if seen(spark, table) == before else ["readers saw other rows after the kill"]
    left = maintenance.inventory(spark, table)
    wrong += [f"lost by the kill: {one}" for one in left.missing]
    found = {
        metadata.path(one)
        for one in maintenance.run(spark, sweep(spark, table), now=LATER, no_commit_under_way=True)[0].orphans
    }
    wrong += [f"not taken for an orphan: {one}" for one in left.unknown if metadata.path(one) not in found]
    maintenance.run(spark, mine, now=LATER, remove_orphans=True, no_commit_under_way=True)
    wrong += [] if seen(spark, table) == before else ["readers saw other rows after the run that was begun again"]
    names = [one.name for one in mine.actions if one.name not in ("remove_orphans", "rewrite_manifests")]
    again = planned(spark, table, *names, fast=mine.policy.fast).actions if names else ()
    # what the run itself made obsolete was not in its plan, and is the next one's
    wrong += [f"left to do: {wording.action(one)}" for one in again if one.name != "expire_snapshots"]
    stay = {id for one in again for id in one.snapshots} & {id for one in mine.actions for id in one.snapshots}
    wrong += [f"not expired: {id}" for id in sorted(stay)]
    maintenance.run(spark, sweep(spark, table), now=LATER, remove_orphans=True, no_commit_under_way=True)
    last = maintenance.inventory(spark, table)
    wrong += [f"lost: {one}" for one in last.missing] + [f"left: {one}" for one in last.unknown]
    live = [row.file_path for row in spark.sql(f"SELECT file_path FROM {table}.data_files").collect()]
    return wrong + ([] if len(live) == len(set(live)) else ["a file is live twice"])


def stage(spark, table):
    """Say in a word how far a killed run of all actions had come."""
    spark.sql(f"REFRESH TABLE {table}")
    done = [row.operation for row in spark.sql(f"SELECT operation FROM {table}.snapshots").collect()]
    left = maintenance.inventory(spark, table)
    if len(done) < 8:
        orphans = sum("orphan_" in one for one in left.unknown)
        return "expired" if orphans == 5 else "all done" if orphans == 0 else "orphans half removed"
    half = "files without a commit" if len(left.unknown) > 5 else ""
    return half or (f"{done.count('replace')} rewrites" if "replace" in done else "nothing")


def sweep(spark, table):
    return plan(spark, table, "remove_orphans")
