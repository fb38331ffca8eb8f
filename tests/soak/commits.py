"""Four processes append while one compacts and one expires: every acknowledged row once, no live file twice.

    python -m soak.commits [COMMITS] [KILLS]

Then processes that are killed between a commit's swap in the catalog and its return, each begun again by its name.
"""

import sys
import time

import commits_child
import commits_processes as processes
from bench import evidence

from workbench import session
from workbench.tables import commits

WRITERS = 4


def main(count=1000, kills=10):
    """Run everything, print as it goes, and keep the figures; the exit code says whether all held."""
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
    begin = time.monotonic()
    table = "soak.everybody"
    processes.make(spark, table)
    commits.set_profile(spark, table)
    told, compacted, expired = processes.everybody_at_once(
        spark, table, writers=WRITERS, commits_each=count // WRITERS, timeout_s=600
    )
    minutes = (time.monotonic() - begin) / 60
    acknowledged = [(f"w{n}", number) for n, lines in told.items() for number, _, _ in lines]
    seen = processes.figures(spark, table, acknowledged)
    print(f"{len(acknowledged)} commits: {seen}", flush=True)
    again = [killed(spark, f"soak.killed_{n}") for n in range(kills)]
    evidence.write(
        "commits_soak",
        what="4 processes append, 1 compacts, 1 expires, on one SQLite catalog; kill -9 between swap and return",
        catalog="SQLite",
        commits=len(acknowledged),
        commits_expected=count // WRITERS * WRITERS,
        rows_lost=seen["lost"],
        rows_doubled=seen["doubled"],
        rows_not_acknowledged=seen["not_acknowledged"],
        files_twice=seen["files_twice"],
        compactions_that_replaced_files=compacted,
        manifest_lists_expired=sum(expired),
        begun_again_by_retrying=sum(tries - 1 for lines in told.values() for _, tries, _ in lines),
        minutes=round(minutes, 1),
        kills_between_swap_and_return=kills,
        killed_rows_lost=sum(one["lost"] for one in again),
        killed_rows_doubled=sum(one["doubled"] for one in again),
    )
    session.stop(spark)
    whole = len(acknowledged) == count // WRITERS * WRITERS and compacted > 0 and sum(expired) > 0
    return 0 if whole and not any(sum(one.values()) for one in (seen, *again)) else 1


def killed(spark, table):
    """Kill a process when its append is in the catalog and it has not heard so; begin it again; return figures."""
    processes.make(spark, table)
    child = processes.start("killed_append", table, "once")
    processes.ready(child)
    processes.killed(child)
    swapped = processes.figures(spark, table, [("once", 1)])["lost"] == 0
    done = commits.retrying(
        spark, table, lambda: commits_child.row(spark, "once", 1).writeTo(table).append(), id="once"
    )
    seen = processes.figures(spark, table, [("once", 1)])
    print(f"{table}: swapped before the kill: {swapped}, found by the rerun: {done.found}, {seen}", flush=True)
    return seen


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
