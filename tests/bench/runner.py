"""What the runner adds to a notebook: `workbench run` against plain papermill on the same notebook, in turn.

The goal is 2 seconds or less. The runner also validates, records, reports and keeps the ledger.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import evidence

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def main(rounds=5):
    """Measure, print, and keep the figures."""
    notebook = ROOT / "notebooks" / "00_template.ipynb"
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {"WORKBENCH_HOME": home}

        def measured(command, output):
            def measure():
                begin = time.perf_counter()
                subprocess.run(command, env=env, cwd=home, check=True, capture_output=True)
                return time.perf_counter() - begin, printed(max(Path(home).glob(output), key=os.path.getmtime))

            return measure

        things = {
            "papermill": measured([BIN / "papermill", notebook, f"{home}/out.ipynb"], "out.ipynb"),
            "workbench run": measured([BIN / "workbench", "run", notebook], "runs/*/*/notebook.ipynb"),
        }
        seconds, answers = evidence.in_turn(things, rounds=rounds)
        ledger_seconds = [ledger_row(env, home) for _ in range(rounds)]
    differences = [round(b - a, 2) for a, b in zip(*seconds.values(), strict=True)]
    evidence.write(
        "runner",
        what="the runner's own cost: workbench run minus plain papermill on 00_template, seconds, in turn",
        seconds=seconds,
        median_seconds={name: evidence.median(values) for name, values in seconds.items()},
        cost_seconds=evidence.median(differences),
        goal_seconds=2,
        ledger_seconds=ledger_seconds,
        ledger_median_seconds=evidence.median(ledger_seconds),
        ledger_goal_seconds=1,
        answers_equal=len({answer for found in answers.values() for answer in found}) == 1,
    )


LEDGER_ROW = """
import sys, time
from pathlib import Path
from workbench_ops.run import ledger, record
ledger.load()  # as during a run, while the notebook is still busy
one = record.finish(record.new(Path(sys.argv[1])), "passed", seconds=1.0)
record.write(one)
begin = time.perf_counter()
assert ledger.sync() == 1
print(round(time.perf_counter() - begin, 3))
"""


def ledger_row(env, home):
    """Seconds that one new row of the ledger takes in a process that has loaded PyIceberg."""
    command = [sys.executable, "-c", LEDGER_ROW, str(ROOT / "notebooks" / "00_template.ipynb")]
    return float(subprocess.run(command, env=env, cwd=home, check=True, capture_output=True, text=True).stdout)


def printed(path):
    """A digest of everything the cells of an executed notebook printed."""
    cells = json.loads(path.read_text())["cells"]
    outputs = [o.get("text") or o.get("data") for c in cells if c["cell_type"] == "code" for o in c["outputs"]]
    return f"{len(outputs)} outputs, {hash(json.dumps(outputs)) % 10**8:08}"


if __name__ == "__main__":
    main()
