"""Units that were measured, kept in a file: a run that was stopped goes on, another clone does too.

A line each, because files of units are committed: the unit, what its results depend on, where and when it was
measured, and its results. One that was stopped in the middle is in a worklist beside them, which is not.
"""

import dataclasses
import hashlib
import json
import os
import platform
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path
from tempfile import TemporaryDirectory

from workbench import session
from workbench._base import files, locks, worklist
from workbench._base.errors import ArgumentError
from workbench_proofs.tpcds import kept, runs, texts
from workbench_proofs.tpcds.verdicts import Judgement

_HALVES = worklist.Form(
    name="file of units that were stopped", user="run", table="units", key=("unit",), outlives_power=False,
    columns={"unit": "TEXT NOT NULL", "entry": "TEXT NOT NULL"},
)  # fmt: skip


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
def alone(file: Path | str | None) -> Iterator[worklist.Worklist]:
    """Keep a second run from a file of results: each would write the units it knows over those of the other.

    Gives the units that were stopped in the middle, for the three functions below; beside no file (None) there are
    none, and none are kept.

    Raises:
        ValueError: another run keeps its results in the folder.
    """
    with TemporaryDirectory() as nowhere:
        file = Path(file or f"{nowhere}/units.json")
        busy = f"another run keeps its results in {file.parent}: wait for its end"
        halves_file, lines = (file.with_suffix(f".part.{end}") for end in ("db", "json"))
        with (
            locks.held(file.parent / "lock", busy),
            worklist.opened(halves_file, _HALVES, earlier=lambda: starmap(_row, read(lines).items())) as stopped,
        ):
            lines.unlink(missing_ok=True)  # what the version before this one kept is in the worklist
            yield stopped


def halves(stopped: worklist.Worklist) -> dict[Unit, dict]:
    """Return the units that were stopped, as `read` returns units."""
    return dict(_unit(json.loads(row["entry"])) for row in stopped.rows())


def keep_half(stopped: worklist.Worklist, unit: Unit, found: dict) -> None:
    """Keep what is there of a unit, in the place of what was."""
    stopped.put([_row(unit, found)])


def forget_half(stopped: worklist.Worklist, unit: Unit) -> None:
    """Forget a unit, which is whole now."""
    stopped.remove([(_key(unit),)])


def read(file: Path | str | None) -> dict[Unit, dict]:
    """Return the units that a file holds: Unit to dict of conditions, of, made (see `measuring`) and results.

    Raises:
        ValueError: it is no such file.
    """
    if file is None or not Path(file).is_file():
        return {}
    try:
        return dict(_unit(entry) for entry in json.loads(Path(file).read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise ArgumentError(f"{file} is no file of measured units: {error}") from None


def write(file: Path | str | None, units: dict[Unit, dict]) -> None:
    """Keep all units, a line each, in one step: a kill leaves the file as it was."""
    if file is None:
        return
    with files.replacing(Path(file)) as new:
        lines = ",\n".join(json.dumps(_entry(unit, found)) for unit, found in units.items())
        new.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _row(unit, found):
    return {"unit": _key(unit), "entry": json.dumps(_entry(unit, found))}


def _key(unit):
    return f"{unit.engine} {unit.layout} {unit.round}"


def _unit(entry):
    """Return (Unit, what is kept of it) of an entry of a file."""
    results = [
        runs.Result(**(fields | {"verdict": Judgement(**fields["verdict"])})) for fields in entry["results"]
    ]
    about = {"conditions": entry["conditions"], "of": entry.get("of"), "made": entry.get("made")}
    return Unit(**entry["unit"]), about | {"results": results}


def _entry(unit, found):
    """Return the entry of a file; fields of a result that say nothing are as a Result has them by itself."""
    results = [
        {name: value for name, value in dataclasses.asdict(result).items() if value is not None}
        for result in found["results"]
    ]
    made = {"made": found["made"]} if found["made"] else {}
    about = {"conditions": found["conditions"], "of": found["of"]}
    return {"unit": dataclasses.asdict(unit)} | about | made | {"results": results}
