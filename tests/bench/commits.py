"""The commit profile against Iceberg's defaults: failures at 8 writers, and latency over a thousand commits.

    python -m bench.commits [COMMITS] [PART …]

Parts that are not named are kept from the last time.

Eight writers are eight threads in two Spark processes: eight JVMs do not fit a small machine and would wait for
each other's processors more than for the catalog, and what has to honour the properties is Spark's own write. The
plain writes have nothing around them, so that a failure is one of Iceberg's retries.
"""

import json
import sys
import time

import commits_processes as processes

from bench import evidence
from workbench import session
from workbench.tables import commits

PROCESSES, THREADS, EXPIRE_EVERY = 2, 4, 100
VARIANTS = {  # name: (has the profile, what the writers do)
    "defaults, plain writes": (False, "plain"),
    "profile, plain writes": (True, "plain"),
    "defaults, retrying": (False, "retrying"),
}


def main(count=1000, *wanted):
    """Measure, print, and keep the figures."""
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench")
    parts = {
        name: lambda how=how, name=name: eight_writers(spark, name, count, *how) for name, how in VARIANTS.items()
    }
    parts |= {
        name: lambda every=every, name=name: commit_after_commit(spark, name, count, every)
        for name, every in LATENCIES.items()
    }
    parts["a true conflict under the profile"] = lambda: true_conflict(spark)
    if unknown := set(wanted) - set(parts):
        raise SystemExit(f"no part {sorted(unknown)[0]!r}; there are {', '.join(parts)}")
    path = evidence.FOLDER / "commits.json"
    figures = json.loads(path.read_text())["parts"] if wanted and path.is_file() else {}
    for name in wanted or parts:
        figures[name] = parts[name]()
        evidence.write(
            "commits",
            what="8 writers at once by Iceberg's default properties and by commits.PROFILE; one writer's latency, ms",
            writers=f"{PROCESSES} Spark processes of {THREADS} threads on one SQLite catalog",
            profile=commits.PROFILE,
            goal_last_over_10th=2.0,
            parts={one: figures[one] for one in parts if one in figures},
        )
    session.stop(spark)


def eight_writers(spark, name, count, profile, tried):
    """Append from eight writers at once; returns failures by kind, times, and what is wrong in the table."""
    table = "bench." + "".join(c if c.isalnum() else "_" for c in name)
    processes.make(spark, table)
    if profile:
        commits.set_profile(spark, table)
    each = count // (PROCESSES * THREADS)
    children = [processes.start("threads", table, f"p{n}", THREADS, each, tried) for n in range(PROCESSES)]
    processes.ready(*children)
    begin = time.monotonic()
    processes.go(*children)
    told = [json.loads(child.stdout.readline()) for child in children]
    seconds = time.monotonic() - begin
    for child in children:
        child.wait(120)
    took = sorted(one for child in told for one in child["milliseconds"])
    kinds = {kind for child in told for kind in child["failures"]}
    spark.sql(f"REFRESH TABLE {table}")
    rows = [tuple(row) for row in spark.table(table).collect()]
    found = {
        "acknowledged": len(took),
        "failures": {kind: sum(child["failures"].get(kind, 0) for child in told) for kind in sorted(kinds)},
        "rows": len(rows),
        "rows_doubled": len(rows) - len(set(rows)),
        "commits_a_second": round(len(took) / seconds, 1),
        "median_ms": took[len(took) // 2],
        "slowest_ms": took[-1],
    }
    print(f"{name}: {found}", flush=True)
    return found


LATENCIES = {"expiry every 100 commits": EXPIRE_EVERY, "no expiry": None}


def commit_after_commit(spark, name, count, every):
    """Append a row at a time by one writer; returns medians of 20 commits around some."""
    table = "bench.latency_" + ("expired" if every else "kept")
    warm, row = f"{table}_warm", lambda n: spark.range(0, 1, 1, 1).selectExpr("'one' AS name", f"{n}L AS n")
    for one in (warm, table):
        processes.make(spark, one)
        commits.set_profile(spark, one)
    for n in range(60):  # what a JVM does for the first times is not what grows
        row(n).writeTo(warm).append()
    took = []
    for n in range(1, count + 1):
        frame, begin = row(n), time.perf_counter()
        frame.writeTo(table).append()
        took.append((time.perf_counter() - begin) * 1000)
        if every and n % every == 0:
            now = spark.sql("SELECT CAST(current_timestamp() AS STRING)").collect()[0][0]
            spark.sql(
                f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '{now}', "
                "retain_last => 1)"
            )
    around = {n: took[max(0, n - 11) : n + 10] for n in (10, count // 10, count // 2, count - 10)}
    medians = {f"commit {n}": round(sorted(some)[len(some) // 2]) for n, some in around.items()}
    first, *_, last = medians.values()
    found = medians | {"last_over_10th": round(last / first, 2)}
    print(f"{name}: {found}", flush=True)
    return found


def true_conflict(spark):
    """Commit an overwrite that was planned before somebody else's rows came; returns what its error says."""
    table = "bench.conflict"
    processes.make(spark, table)
    commits.set_profile(spark, table)
    spark.sql(f"INSERT INTO {table} VALUES ('a', 1)")
    loaded, java = commits.load(spark, table), spark._jvm.org.apache.iceberg
    planned = loaded.newOverwrite().overwriteByRowFilter(java.expressions.Expressions.alwaysTrue())
    planned = planned.validateFromSnapshot(commits.head(loaded)).validateNoConflictingData()
    spark.sql(f"INSERT INTO {table} VALUES ('b', 2)")
    try:
        planned.commit()
    except Exception as error:
        return commits.kind(error)
    return "committed"


if __name__ == "__main__":
    main(int((sys.argv[1:2] or [1000])[0]), *sys.argv[2:])
