"""A look at a table without Spark against PyIceberg's own: head, and the files of many manifests.

    python -m bench.explore [manifests]

A table gets one small commit a manifest. Measured in turn, in one process: the head; the files with manifests that are
read for the first time, and again; PyIceberg's `inspect.files`. The goal: files at least four times as fast as it.
"""

import sys
import tempfile
import time
from statistics import median

import pyarrow as pa

from bench import evidence
from workbench.tables import browse
from workbench.tables.browse import manifests, opening

GOAL_RATIO, ROUNDS = 4, 3


def main(count=1000):
    """Measure, print, and write docs/evidence/explore.json."""
    with tempfile.TemporaryDirectory() as folder:
        lake = made(folder, count)
        things = {
            "head": timed(lambda: browse.head(lake, "n.many").snapshots),
            "files, first": timed(
                lambda: len(browse.files(lake, "n.many")), before=manifests.kept.by_manifest.clear
            ),
            "files, again": timed(lambda: len(browse.files(lake, "n.many"))),
            "inspect.files": timed(lambda: len(opening.table_of(lake, "n.many").inspect.files())),
        }
        seconds, answers = evidence.in_turn(things, rounds=ROUNDS)
        ours = sorted((file.path, file.rows, file.bytes) for file in browse.files(lake, "n.many"))
        rows = opening.table_of(lake, "n.many").inspect.files().to_pylist()
        theirs = sorted((row["file_path"], row["record_count"], row["file_size_in_bytes"]) for row in rows)
    ratios = {name: round(median(seconds["inspect.files"]) / median(seconds[name]), 1) for name in things}
    print(f"equal to PyIceberg's: {ours == theirs}; times as fast as inspect.files: {ratios}")
    evidence.write(
        "explore", what=__doc__.splitlines()[0], manifests=count, seconds=seconds, answers=answers,
        times_as_fast=ratios, goal_ratio=GOAL_RATIO, equal=ours == theirs,
    )  # fmt: skip


def made(folder, count):
    """Make a table of so many commits that are never merged; return the properties of its catalog."""
    lake = {"name": "own", "type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}"}
    catalog = opening.catalog_of(lake)
    catalog.create_namespace("n")
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
    table = catalog.create_table("n.many", rows.schema)
    for _ in range(count):
        table.append(rows)
    return lake


def timed(call, *, before=lambda: None):
    """Return a function that prepares, calls, and returns (seconds, answer)."""

    def measure():
        before()
        begin = time.perf_counter()
        answer = call()
        return time.perf_counter() - begin, answer

    return measure


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
