"""How often each detector is right: 20 planted runs of each cause and 200 healthy ones, each a real run of Spark.

    python -m soak.incidents [PLANTED [HEALTHY]]

The thresholds are the defaults, which no run of these was looked at for: seeds from 1001 on are scored, and what was
tried while the detectors were written, and mended, had other ones. What is planted is known by how a run was made. A run is
found where its cause is among what `incidents.find` names, and a false alarm of a detector is a run, planted with
something else or healthy, where it names a cause that is not there. Results are kept in .workbench: started again,
the proof goes on. The figures are written when every run is there.
"""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import evidence

from soak.incident_runs import KINDS
from workbench.metrics.causes import CAUSES

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".workbench" / "soak_incidents"
EACH, HEALTHY, ROUNDS, FIRST_SEED = 20, 200, 3, 1001
WAITING = ("streams", "stuck", "s3")  # lanes that wait more than they work
CHUNKS = {"streams": 7, "stuck": 6, "plain": 60}  # runs of a process
LEAST = 0.95
SMALL_DISK_BYTES = 8 << 20


def wanted(planted, healthy):
    """Return the runs that are scored, `name-seed` to lane."""
    runs = {}
    for name, kind in KINDS.items():
        share = planted / EACH if kind.cause else healthy / HEALTHY
        count = max(1, round(kind.runs * share))
        runs |= {(name, seed): kind.lane for seed in range(FIRST_SEED, FIRST_SEED + count)}
    return runs


def kept(runs):
    """Return the results that are there for these versions and files: (name, seed) to what was found."""
    now, note = evidence.made_from(), KEPT / "made_from.json"
    if note.is_file() and json.loads(note.read_text()) != now:
        shutil.rmtree(KEPT)
    KEPT.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(now))
    files = {(name, seed): KEPT / "results" / f"{name}-{seed}.json" for name, seed in runs}
    return {run: json.loads(file.read_text()) for run, file in files.items() if file.is_file()}


def chunks(runs, done):
    """Return (lane, its runs that are missing), those of a long lane in several processes."""
    by_lane = {}
    for (name, seed), lane in runs.items():
        if (name, seed) not in done:
            by_lane.setdefault(lane, []).append(f"{name}:{seed}")
    parts = []
    for lane, names in by_lane.items():
        names.sort(key=lambda name: int(name.partition(":")[2]))  # kinds by turns
        size = CHUNKS.get(lane, len(names))
        parts += [(f"{lane}.{n}", names[n * size : n * size + size]) for n in range(-(-len(names) // size))]
    return parts


def made(part):
    """Make the runs of a lane in a process of its own."""
    lane, names = part
    log, command = KEPT / f"{lane}.out", [sys.executable, "-m", "soak.incident_lanes", lane, str(KEPT), *names]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "lib"), str(ROOT / "tests")])}
    if lane.startswith("small_disk"):
        disk = KEPT / "disk"
        disk.mkdir(exist_ok=True)
        env["SOAK_SMALL_DISK"] = str(disk)
        mount = f'mount -t tmpfs -o size={SMALL_DISK_BYTES} tmpfs "$0"'
        mount += ' && mkdir "$0/tables" "$0/shuffles" && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", mount, str(disk), *command]
    shutil.rmtree(KEPT / lane, ignore_errors=True)
    with log.open("w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=env, cwd=ROOT).returncode
    told = log.read_text()
    print(f"{lane}: {len(names)} runs, exit {code}\n{told if code else ''}", flush=True)


def scores(results):
    """Return for each cause how many were planted, found, found without the caller's error, and alarmed falsely."""
    found = {}
    for cause in CAUSES:
        planted = [result for result in results.values() if result["planted"] == cause]
        hits = sum(cause in result["found"] for result in planted)
        false = sum(
            cause in result["found"] and cause != result["planted"] and cause not in result["besides"]
            for result in results.values()
        )
        found[cause] = {
            "planted": len(planted),
            "found": hits,
            "found_by_log_alone": sum(cause in result["by_log"] for result in planted),
            "false_alarms": false,
            "precision": round(hits / (hits + false), 3) if hits + false else None,
            "recall": round(hits / len(planted), 3) if planted else None,
        }
    return found


def main(planted=EACH, healthy=HEALTHY):
    """Make what is missing, score all, keep the figures; the exit code says whether they are good enough."""
    runs = wanted(planted, healthy)
    for _ in range(ROUNDS):
        parts = chunks(runs, kept(runs))
        if not parts:
            break
        waiting = [part for part in parts if part[0].startswith(WAITING)]
        with ThreadPoolExecutor(3) as idle, ThreadPoolExecutor(2) as busy:
            both = idle.map(made, waiting), busy.map(made, [part for part in parts if part not in waiting])
            [list(results) for results in both]
    results = kept(runs)
    by_cause = scores(results)
    print(json.dumps(by_cause, indent=1))
    if missing := [f"{name}:{seed}" for name, seed in runs if (name, seed) not in results]:
        raise SystemExit(f"{len(missing)} of {len(runs)} runs are missing, nothing is kept: {', '.join(missing)}")
    well = [result for result in results.values() if result["planted"] is None]
    evidence.write(
        "incidents",
        what="real runs of Spark, planted and healthy; what incidents.find names with the default thresholds",
        runs=len(results),
        planted=len(results) - len(well),
        healthy=len(well),
        healthy_kinds=len({name for (name, _), result in results.items() if result["planted"] is None}),
        healthy_with_false_alarms=sum(bool(result["wrong"]) for result in well),
        planted_with_false_alarms=sum(bool(r["wrong"]) for r in results.values() if r["planted"]),
        detectors=by_cause,
        missed={f"{name}-{seed}": r["missed"] for (name, seed), r in results.items() if r["missed"]},
        false_alarms={f"{name}-{seed}": r["wrong"] for (name, seed), r in results.items() if r["wrong"]},
    )
    low = [
        cause for cause, score in by_cause.items() if min(score["precision"] or 0, score["recall"] or 0) < LEAST
    ]
    if low:
        print(f"precision or recall below {LEAST}: {', '.join(low)}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
