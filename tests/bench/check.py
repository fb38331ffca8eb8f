"""What `make check` takes, by file, notebook and fixture: wall seconds and CPU seconds of process trees.

    python -m bench.check

Its command is that of the Makefile, with the plugin `bench.spent`. The files of docs/evidence/check.json are the order
in which the check runs them, longest first; `slow_tests` are held against tests/slow.yml. `before` is the check as it was
on 26 November 2026, in two runs of pytest on the machine that is named there.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import psutil

from bench import evidence, spent

ROOT = Path(__file__).resolve().parents[2]
SLOW_SECONDS, LEAST_SECONDS = 3, 1
GOAL = {"seconds": 720, "cpu_seconds": 1440, "notebook_seconds": 600}


def main() -> int:
    """Run the check, print and keep the figures; returns pytest's exit code."""
    before = json.loads((evidence.FOLDER / "check.json").read_text(encoding="utf-8"))["before"]
    load, begin, busy = os.getloadavg(), time.monotonic(), machine_seconds()
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {spent.VARIABLE: folder}
        code = subprocess.run([*command(), "-p", "bench.spent"], cwd=ROOT, env=env, check=False).returncode
        seconds = time.monotonic() - begin
        figures = table(Path(folder))
    if code not in (0, 1):  # pytest ran no test, or was interrupted: there is nothing to keep
        return code
    path = evidence.write(
        "check",
        show=False,
        what="make check without its set-up, one run; worker seconds and CPU seconds of process trees by file",
        seconds=round(seconds),
        machine_cpu_seconds=round(machine_seconds() - busy),
        load={"before": load[0], "behind": os.getloadavg()[0]},
        goal=GOAL,
        exit_code=code,
        **figures,
        before=before,
    )
    with_short_lists(path)
    for name, goal in GOAL.items():
        print(f"{name}: {json.loads(path.read_text())[name]} of {goal}")
    return code


def machine_seconds() -> float:
    """Return the CPU seconds that this machine has spent on everything, ours and others'.

    The sum by tests lacks what a JVM used whose parent was killed: it is nobody's child. This one has it, and all else.
    """
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + times.irq + times.softirq


def command() -> list[str]:
    """Return pytest's command of the check, as the Makefile has it without CHANGED=1."""
    line = re.search(r"^\t@\$\(BIN\)/python (-m pytest .*)$", (ROOT / "Makefile").read_text(), re.M)[1]
    whole = re.sub(r"\$\(if \$\(CHANGED\),.*\)\)", "", line)
    return [sys.executable, *whole.split()]


def table(folder: Path) -> dict:
    """Return the figures of the workers' files in a folder.

    Returns:
        dict: cpu_seconds; notebook_seconds (of workers); tests; slow_tests (name to the seconds of its call); files (name, tests,
        seconds, cpu_seconds; longest first); fixtures (name, times set up, seconds, cpu_seconds; those of a second or more).
    """
    workers = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    files, fixtures = defaultdict(lambda: [0, 0.0, 0.0]), defaultdict(lambda: [0, 0.0, 0.0])
    slow = {}
    for worker in workers:
        for name, wall, cpu, *call in worker["tests"]:
            for place, amount in enumerate((1, wall, cpu)):
                files[name.partition("::")[0]][place] += amount
            if call and call[0] > SLOW_SECONDS and ".ipynb" not in name:
                slow[name] = call[0]
        for name, row in worker["fixtures"].items():
            for place, amount in enumerate(row):
                fixtures[name][place] += amount
    listed = {name: rounded(rows) for name, rows in (("files", files), ("fixtures", fixtures))}
    notebooks = sum(row[1] for name, row in files.items() if name.endswith(".ipynb"))
    return {
        "cpu_seconds": round(sum(worker["cpu"] for worker in workers)),
        "notebook_seconds": round(notebooks),
        "tests": sum(row[0] for row in files.values()),
        "slow_tests": dict(sorted(slow.items(), key=lambda item: -item[1])),
        "files": listed["files"],
        "fixtures": [row for row in listed["fixtures"] if row[2] >= LEAST_SECONDS],
    }


def rounded(rows: dict) -> list[list]:
    """Return rows of (name, count, seconds, cpu_seconds), longest first."""
    lines = [[name, count, round(wall, 1), round(cpu, 1)] for name, (count, wall, cpu) in rows.items()]
    return sorted(lines, key=lambda line: (-line[2], line[0]))


def with_short_lists(path: Path) -> None:
    """Write a file of JSON again with each innermost list on a line."""
    text = path.read_text(encoding="utf-8")
    path.write_text(
        re.sub(r"\[[^][{}]+\]", lambda found: re.sub(r"\s*\n\s*", " ", found[0]), text), encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
