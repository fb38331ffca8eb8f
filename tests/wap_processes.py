"""What the check and the soak run do with processes of their own: two auditors at once, and kills with their rerun."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import wap_child

from workbench import wap

CHILD = Path(__file__).with_name("wap_child.py")


def make(spark, table):
    """A table whose row 0 counts the loads; every other row is one load's."""
    spark.sql(f"CREATE TABLE {table} (id BIGINT, n BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (0, 0)")


def start(*arguments, new_session=False):
    """Start a child; with a session of its own it can be killed together with its JVM."""
    return subprocess.Popen(
        [sys.executable, CHILD, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=new_session,
    )


def two_auditors(spark, table, folder, rounds):
    """Let this process and another one publish at once, round by round; returns the attempts of each round."""
    make(spark, table)
    attempts = []
    with start("auditor", table, "b", folder) as other:
        assert other.stdout.readline() == "ready\n"
        for number in range(1, rounds + 1):
            other.stdin.write(f"{number}\n")
            other.stdin.flush()
            mine = wap_child.audited_round(
                spark, table, name="a", number=number, folder=folder, new_id=2000 + number
            )
            theirs = json.loads(other.stdout.readline())
            assert mine.published and theirs["published"]
            attempts.append(sorted([mine.attempts, theirs["attempts"]]))
        other.stdin.close()
    return attempts


def found(spark, table):
    """What two auditors left, to be compared with `expected`."""
    told = wap.evidence(spark, table).collect()
    pairs = [(row.evidence_snapshot_id, row.audited_snapshot_id) for row in told]
    return {
        "rows": sorted(tuple(row) for row in spark.table(table).collect()),
        "runs": sorted(row.run_id for row in told),
        # main's history: the first load, then a data snapshot and its evidence in turn, and nothing else
        "history_is_pairs": ancestry(spark, table)[1:] == [i for pair in pairs for i in reversed(pair)],
        "refs": refs(spark, table),
    }


def expected(rounds):
    """The same, from the number of rounds alone."""
    numbers = range(1, rounds + 1)
    return {
        "rows": sorted([(0, 2 * rounds)] + [(base + i, 0) for base in (1000, 2000) for i in numbers]),
        "runs": sorted(f"{name}-{i}" for name in "ab" for i in numbers),
        "history_is_pairs": True,
        "refs": ["main"],
    }


def ancestry(spark, table):
    """Snapshot ids of main's history, oldest first, by the parents in the snapshots table."""
    spark.catalog.refreshTable(table)
    parents = {row.snapshot_id: row.parent_id for row in spark.table(f"{table}.snapshots").collect()}
    main = [row.snapshot_id for row in spark.table(f"{table}.refs").where("name = 'main'").collect()]
    chain = []
    at = main[0] if main else None
    while at is not None:
        chain.append(at)
        at = parents.get(at)
    return chain[::-1]


def refs(spark, table):
    spark.catalog.refreshTable(table)
    return sorted(row.name for row in spark.table(f"{table}.refs").collect())


def kill(spark, table, step, kind):
    """Start a run that is killed after a step; returns the process, to be waited for by `killed`."""
    make(spark, table)
    return start("killed", table, f"{step}-{kind}", step, kind)


def killed(process):
    process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL, f"the child was not killed but ended with {process.returncode}"


def after_kill(spark, table, step, kind):
    """Look at the table, run the same id again, look again; returns what was seen, without ids."""
    left = refs(spark, table)
    seen = {"rows_after_kill": rows(spark, table), "branches_left": len(left) - 1}
    try:
        done = wap.run(
            spark,
            table,
            write=wap_child.count_and_insert(spark, 5),
            audit=lambda df: wap_child.verdict(df, kind == "passed"),
            id=f"{step}-{kind}",
            quarantine=f"{table}_refused",
        )
        seen["rerun"] = "published" if done.published else "refused"
    except wap.AlreadyPublished:
        seen["rerun"] = "already published"
    quarantine = f"{table}_refused"
    refused = spark.table(quarantine).select("id", "n").collect() if spark.catalog.tableExists(quarantine) else []
    return seen | {
        "rows": rows(spark, table),
        "quarantined": sorted(tuple(row) for row in refused),
        "evidence": wap.evidence(spark, table).count(),
        "refs": refs(spark, table),
    }


def after_kill_expected(step, kind):
    """What has to be seen: a load is there once or not at all, and the rerun ends it."""
    before, after = [(0, 0)], [(0, 1), (5, 0)]
    landed = kind == "passed" and step in ("published", "dropped")
    twice = (
        kind == "failed" and step == "dropped"
    )  # a run that had ended before the kill: a second load of that id
    return {
        "rows_after_kill": after if landed else before,
        "branches_left": 0 if step in ("published", "dropped") else 1,
        "rerun": "already published" if landed else "published" if kind == "passed" else "refused",
        "rows": after if kind == "passed" else before,
        "quarantined": [] if kind == "passed" else [(5, 0)] * (2 if twice else 1),
        "evidence": 1 if kind == "passed" else 0,
        "refs": ["main"],
    }


def rows(spark, table):
    spark.catalog.refreshTable(table)
    return sorted(tuple(row) for row in spark.table(table).collect())
