"""Units that were measured, kept in a file: a run that was stopped goes on, another clone does too.

A line each: the unit, what its results depend on, where and when it was measured, and its results.
"""

import dataclasses
import hashlib
import json
import os
import platform
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench import session
from workbench._base import files, locks
from workbench_proofs.tpcds import kept, runs, texts
from workbench_proofs.tpcds.verdicts import Judgement


@dataclass(frozen=True)
class Unit:
    """What is measured, or found measured, in one go."""

    engine: str
    layout: str
    round: int


def origins(file, todo):
    """Say where, when and by which rules of comparison units of a file were measured.

    Args:
        file: of `measuring.run`.
        todo: Units.

    Returns:
        list of dicts, distinct ones, the most frequent first: date, system, cores, memory_gib, rules_of_now
        (False: verdicts by other rules or texts), processes that answered (more than one where an engine died or
        the run was stopped), and how many `units`. Early ones say nothing, they are counted.
    """
    there, now = read(file), origin()["rules"]
    said = [dict(there[unit]["made"] or {}) for unit in todo if unit in there]
    for one in said:
        if one:
            one["rules_of_now"] = one.pop("rules") == now
    told = Counter(tuple(one.items()) for one in said)
    return [dict(one) | {"units": count} for one, count in told.most_common()]


def origin():
    """Return where, when and by which rules of comparison something is measured now."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gib": round(session.machine_memory_bytes() / 2**30),
        "rules": hashlib.sha256(json.dumps([*kept.rules(), texts.version()]).encode()).hexdigest()[:16],
    }


@contextmanager
def alone(file):
    """Keep a second run from a file of results: each would write the units it knows over those of the other."""
    if file is None:
        yield
        return
    folder = Path(file).parent
    with locks.held(folder / "lock", f"another run keeps its results in {folder}: wait for its end"):
        yield


def part(file):
    """Return the file beside a file of units that has those that were stopped in the middle; None beside None."""
    return file and Path(file).with_suffix(".part.json")


def read(file):
    """Return the units that a file holds: Unit to dict of conditions, of, made (see `measuring`) and results.

    Raises:
        ValueError: it is no such file.
    """
    if file is None or not Path(file).is_file():
        return {}
    found = {}
    try:
        for entry in json.loads(Path(file).read_text(encoding="utf-8")):
            results = [runs.Result(**(one | {"verdict": Judgement(**one["verdict"])})) for one in entry["results"]]
            found[Unit(**entry["unit"])] = {
                "conditions": entry["conditions"],
                "of": entry.get("of"),
                "made": entry.get("made"),
                "results": results,
            }
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is no file of measured units: {error}") from None
    return found


def write(file, units):
    """Keep all units, a line each, in one step: a kill leaves the file as it was. Of no unit there is no file."""
    if file is None:
        return
    if not units:
        Path(file).unlink(missing_ok=True)
        return
    told = [
        {
            "unit": dataclasses.asdict(unit),
            "conditions": found["conditions"],
            "of": found["of"],
            **({"made": found["made"]} if found["made"] else {}),
            "results": [_said(dataclasses.asdict(one)) for one in found["results"]],
        }
        for unit, found in units.items()
    ]
    with files.replacing(Path(file)) as new:
        lines = ",\n".join(json.dumps(one) for one in told)
        new.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _said(fields):
    """Return the fields of a result that say something; the others are as a Result has them by itself."""
    return {name: value for name, value in fields.items() if value is not None}
