"""Memory of the workers of a distributed map, at 10^5 and at 10^7 items: it must not grow with them.

    python -m bench.maps_memory [DEVICES [HOURS [TIMES]]]

Each run is of the published definition, in a session of its own; the most that all Python workers had together is
looked at twice a second. The larger input has TIMES the hours of the smaller. The answers of each are compared with
the same rule in SQL before a figure is kept.
"""

import contextlib
import sys
import tempfile
import threading
import time

from workers import resident_mib

from bench import evidence
from bench.maps import ANALYSE, COLUMNS, FILE, MEMORY, ROW, RULE, analyse
from workbench import maps, session
from workbench.data import sensors


class Peak:
    """The most memory of the workers during a block, in MiB."""

    def __enter__(self):
        self.mib, self._over = 0, threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()
        return self

    def _look(self):
        while not self._over.wait(0.5):
            with contextlib.suppress(AssertionError):  # before the first task
                self.mib = max(self.mib, round(resident_mib()))

    def __exit__(self, *_):
        self._over.set()
        self._looking.join()


def main(devices=100, hours=1_000, times=100):
    small, large = (run(devices, hours * factor) for factor in (1, times))
    ratio = large["mib"] / small["mib"]
    evidence.write(
        "maps_memory", what="the most memory of all Python workers together during a run of the published map",
        runs=[small, large], ratio=round(ratio, 2), at_most=MEMORY, met=ratio <= MEMORY,
    )  # fmt: skip


def run(devices, hours):
    """Return items, MiB and seconds of a run in a session of its own."""
    spark = session.start("local")
    made = sensors.made(spark, devices=devices, hours=hours)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench_maps")
    with tempfile.TemporaryDirectory() as folder:
        buckets = {"lake": folder}
        maps.unload(spark, made.frame, to="s3://lake/day", partition="deviceid", buckets=buckets)
        definition = maps.read(FILE, names={"Partition": "aws", "AnalyseArn": ANALYSE, "StreamName": "readings"})
        given = {"bucket": "lake", "manifest": "day-manifest.csv", "tolerated": 0}
        bound, table = {ANALYSE: analyse, "readings": maps.Delivery(ROW)}, f"bench_maps.memory_{hours}"
        begin = time.monotonic()
        with Peak() as peak:
            maps.run(spark, definition, table, run_id="1", input=given, resources=bound, buckets=buckets)
        seconds = time.monotonic() - begin
        answers = maps.results(spark, table, run_id="1").select(*COLUMNS)
        ruled = spark.read.parquet(f"{folder}/day").selectExpr(
            "deviceid", "timestamp", "temperature", "humidity", RULE
        )
        found, expected = (fingerprint(frame) for frame in (answers, ruled.select(*COLUMNS)))
    session.stop(spark)
    if found != expected or found[0] != made.rows:
        raise SystemExit(f"the answers differ: {found} and {expected} of {made.rows}")
    figures = {"items": made.rows, "mib": peak.mib, "seconds": round(seconds)}
    print(figures, flush=True)
    return figures


def fingerprint(frame):
    row = frame.selectExpr("count(*)", "sum(CAST(xxhash64(*) AS DECIMAL(38, 0)))").first()
    return row[0], str(row[1])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
