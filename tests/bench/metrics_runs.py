"""What watching costs over whole notebooks: CPU seconds of headless runs, watched against unwatched, in turn.

    python -m bench.metrics_runs [ROUNDS]

A round runs each notebook twice, one way after the other, and the ways change places from round to round. All that
`workbench run` starts counts, and so does what follows the notebook: the record, its metrics and the report.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import evidence
from bench.spent import Clock, measured
from workbench_ops.run import record

ROOT, GOAL = Path(__file__).resolve().parents[2], 1.03
NOTEBOOKS = (
    "01_first_table",
    "20_write_audit_publish",
    "23_check_quality",
    "31_join_without_shuffle",
    "42_expire_and_clean",
)
WAYS = {"unwatched": "off", "watched": "run"}


def main(rounds=5):
    """Measure, print, and keep the figures."""
    clock, seconds = Clock(), {way: {name: [] for name in NOTEBOOKS} for way in WAYS}
    verdicts = {way: [] for way in WAYS}
    for number in range(rounds):
        for name in NOTEBOOKS:
            for way in WAYS if number % 2 else reversed(WAYS):
                with tempfile.TemporaryDirectory() as home:
                    seconds[way][name].append(measured(clock, lambda: run(name, way, home))[0])  # noqa: B023
                    verdicts[way].append(verdict(home, way))
                print(
                    f"round {number + 1} of {rounds}  {name:24} {way:10} {seconds[way][name][-1]:7.2f} CPU s",
                    flush=True,
                )
    totals = {
        way: [round(sum(values), 2) for values in zip(*of.values(), strict=True)] for way, of in seconds.items()
    }
    ratios = [
        round(watched / bare, 3) for watched, bare in zip(totals["watched"], totals["unwatched"], strict=True)
    ]
    evidence.write(
        "metrics_runs",
        what="CPU seconds of headless runs of notebooks, watched over unwatched, in turn; the sum of the notebooks a round",
        rounds=rounds,
        load=round(os.getloadavg()[0], 1),
        cpu_seconds=seconds,
        cpu_seconds_of_rounds=totals,
        ratios=ratios,
        median_ratio=round(statistics.median(ratios), 3),
        goal_ratio=GOAL,
        answers_equal=verdicts["watched"] == verdicts["unwatched"],
    )


def run(name, way, home):
    command = [
        sys.executable,
        "-m",
        "workbench_ops.cli",
        "run",
        ROOT / "notebooks" / f"{name}.ipynb",
        "--metrics",
        WAYS[way],
    ]
    ended = subprocess.run(
        command, env=os.environ | {"WORKBENCH_HOME": home}, cwd=home, capture_output=True, text=True
    )
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)


def verdict(home, way):
    """Return what a run's record says of its checks; refuse one that was watched and should not be, or the reverse."""
    (path,) = Path(home).glob("runs/*/*/run.json")
    kept = record.read(path)
    if (kept.metrics is not None) != (way == "watched"):
        raise SystemExit(f"the run was to be {way}")
    return kept.status, [(check.name, check.passed) for check in kept.checks]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
