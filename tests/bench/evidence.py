"""How a benchmark is measured and what it leaves: rounds in turn, medians, machine, versions, date."""

import json
import os
import platform
import statistics
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

from workbench import session
from workbench_ops.run import record as records

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "evidence"


def until_line(command, **options):
    """Start a command; return (seconds until its first line of output, that line). Waits for its end."""
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options
    ) as process:
        line = process.stdout.readline().strip()
        seconds = time.perf_counter() - begin
        process.stdout.read()
    return seconds, line


def in_turn(things, *, rounds, digits=2):
    """Measure things one after another, round by round, so that a slow minute of the machine hits all of them.

    Args:
        things: name to a function that returns (seconds, answer).
        rounds: how many of each.
        digits: of the seconds.

    Returns:
        (name to list of seconds, name to list of answers).
    """
    seconds, answers = {name: [] for name in things}, {name: [] for name in things}
    for number in range(rounds):
        for name, measure in things.items():
            spent, answer = measure()
            seconds[name].append(round(spent, digits))
            answers[name].append(answer)
            print(f"round {number + 1} of {rounds}  {name!s:28} {spent:6.{digits}f} s  {answer}", flush=True)
    return seconds, answers


def median(values):
    """Return the median, rounded as seconds are."""
    return round(statistics.median(values), 2)


def made_from() -> dict:
    """Return what kept rounds must have been made from to count: these versions and, in a part of the proof, its files.

    A soak keeps its rounds, so that a proof that was interrupted goes on. Rounds of other code prove nothing of this.
    """
    digest = os.environ.get("WORKBENCH_PART_DIGEST")
    return {"versions": records.versions()} | ({"digest": digest} if digest else {})


def kept(name, parts, **same):
    """Return the parts of docs/evidence/<name>.json, to be written again beside one that is measured anew.

    Raises:
        ValueError: they were measured with other versions or sizes.
    """
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    wanted = {"versions": records.versions(), **same}
    if other := [key for key, value in wanted.items() if found.get(key) != value]:
        raise ValueError(f"{name}.json was measured with other {', '.join(other)}; measure all of it")
    return {part: found[part] for part in parts if part in found}


def machine() -> dict:
    """Return what this machine is: system, cores, memory_gib."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gib": round(session.machine_memory_bytes() / 2**30),
    }


def write(name, *, show=True, folder=None, **figures):
    """Write <name>.json: the figures with machine, versions and date; print the figures too.

    Args:
        name: of the file.
        show: False prints nothing.
        folder: docs/evidence by default; a trial has one of its own.
        figures: what was measured.

    Returns:
        the file.
    """
    folder = folder or FOLDER
    found = {
        "name": name,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(found | made_from() | figures, indent=1) + "\n", encoding="utf-8")
    if show:
        print(json.dumps(figures, indent=1))
    return path


def with_lines(path, name, rows):
    """Put rows behind the figures of a file, one a line."""
    listed = ",\n".join("  " + json.dumps(row) for row in rows)
    text = path.read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
    path.write_text(f'{text},\n "{name}": [\n{listed}\n ]\n}}\n', encoding="utf-8")
