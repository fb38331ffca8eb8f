"""What watching a session costs: CPU seconds of this process and its JVM, watched against unwatched, in pairs.

    python -m bench.metrics [PAIRS]

The job is dense: statements of few milliseconds, most of them reads of an Iceberg table, so that there are many
events a second of work; a job of longer tasks has fewer of them. The halves of a pair change places from pair to
pair, and beginning and ending the watch are counted with it. CPU seconds and no wall times: other processes of the
machine make them a little longer, and by far less than they make the wall time.
"""

import os
import statistics
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from bench import evidence, spent
from workbench import metrics, session
from workbench.metrics import events, reports

STATEMENTS, WARM_UPS, GOAL = 20, 8, 1.05


def main(pairs=20):
    """Measure, print, and keep the figures."""
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench")
    spark.sql("CREATE TABLE bench.read (id BIGINT, k BIGINT) USING iceberg")
    spark.range(0, 80_000, 1, 8).selectExpr("id", "id % 97 AS k").writeTo("bench.read").append()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(WARM_UPS):
            measured(spark, Path(folder) / f"warm{number}", watched=bool(number % 2))
        halves = []
        for number in range(pairs):
            pair = {
                watched: measured(spark, Path(folder) / str(number), watched=watched)
                for watched in (bool(number % 2), not number % 2)
            }
            halves.append(pair)
            print(f"pair {number + 1} of {pairs}: {pair[True][0]:.2f} against {pair[False][0]:.2f} s", flush=True)
        run, kept = events.read(Path(folder) / "0"), reports.read(Path(folder) / "0")
        kept_bytes = sum(path.stat().st_size for path in (Path(folder) / "0").iterdir())
    ratios = [round(pair[True][0] / pair[False][0], 3) for pair in halves]
    quarters = statistics.quantiles(ratios, n=4)
    evidence.write(
        "metrics",
        what="CPU seconds of a dense job, watched over unwatched, in pairs",
        pairs=pairs,
        load=round(os.getloadavg()[0], 1),
        tasks=len(run.tasks),
        scans=len(kept.scans),
        commits=len(kept.commits),
        kept_bytes=kept_bytes,
        cpu_seconds={
            "watched": [round(pair[True][0], 2) for pair in halves],
            "unwatched": [round(pair[False][0], 2) for pair in halves],
        },
        ratios=ratios,
        median_ratio=round(statistics.median(ratios), 3),
        quartile_ratios=[round(quarters[0], 3), round(quarters[2], 3)],
        goal_ratio=GOAL,
        answers_equal=len({answer for pair in halves for _, answer in pair.values()}) == 1,
    )


def measured(spark, folder, *, watched):
    """Return (CPU seconds, answer) of the job."""
    clock = spent.Clock()
    with metrics.watch(spark, folder) if watched else nullcontext() as watching:
        answer = job(spark)
    seconds = clock()
    if watched and watching.failure:
        raise RuntimeError(watching.failure)
    return seconds, answer


def job(spark):
    """Ask 20 short questions and write twice; return all answers as a text."""
    spark.sql("CREATE OR REPLACE TABLE bench.written (id BIGINT, k BIGINT) USING iceberg")
    answers = []
    for number in range(STATEMENTS):
        answers += spark.sql(
            f"SELECT k % 5 AS m, count(*), sum(id) FROM bench.read WHERE id >= {number * 1900} GROUP BY m ORDER BY m"
        ).collect()
    for part in range(2):
        spark.range(part * 1000, part * 1000 + 1000, 1, 2).selectExpr("id", "id % 7 AS k").writeTo(
            "bench.written"
        ).append()
    return str(answers + spark.sql("SELECT count(*), sum(k) FROM bench.written").collect())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
