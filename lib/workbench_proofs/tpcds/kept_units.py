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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
    """What is measured in one go: an engine on a layout, in a round from 1."""

    engine: str
    layout: str
    round: int


def origins(file: Path | str | None, todo: Iterable[Unit]) -> list[dict[str, Any]]:
    """Say where, when and by which rules of comparison units of a file were measured.

    Args:
        file: of `measuring.run`.
        todo: Units.

    Returns:
        list of dicts, distinct ones, the most frequent first: date, system, cores, memory_gib, rules_of_now
        (False: verdicts by other rules or texts), processes that answered (more than one where an engine died or
        the run was stopped), and how many `units`. Early ones have nothing of this but their count.
    """
    units, now = read(file), origin()["rules"]
    of_units = [dict(units[unit]["made"] or {}) for unit in todo if unit in units]
    for about in of_units:
        if about:
            about["rules_of_now"] = about.pop("rules") == now
    counts = Counter(tuple(about.items()) for about in of_units)
    return [dict(items) | {"units": count} for items, count in counts.most_common()]


def origin() -> dict[str, Any]:
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


def halves(stopped: worklist.Worklist) -> dict[Unit, dict[str, Any]]:
    """Return the units that were stopped, as `read` returns units."""
    return dict(_unit(json.loads(row["entry"])) for row in stopped.rows())


def keep_half(stopped: worklist.Worklist, unit: Unit, measured: dict[str, Any]) -> None:
    """Keep what was measured of a unit so far, in the place of what was kept before."""
    stopped.put([_row(unit, measured)])


def forget_half(stopped: worklist.Worklist, unit: Unit) -> None:
    """Forget a unit, which is whole now."""
    stopped.remove([(_key(unit),)])


def read(file: Path | str | None) -> dict[Unit, dict[str, Any]]:
    """Return the units that a file holds: Unit to dict of conditions, of, made (see `measuring`) and results.

    Raises:
        ValueError: it is another file.
    """
    if file is None or not Path(file).is_file():
        return {}
    try:
        return dict(_unit(entry) for entry in json.loads(Path(file).read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise ArgumentError(f"{file} is not a file of measured units: {error}") from None


def write(file: Path | str | None, units: dict[Unit, dict[str, Any]]) -> None:
    """Keep all units, a line each, in one step: a kill leaves the file as it was."""
    if file is None:
        return
    with files.replacing(Path(file)) as new:
        lines = ",\n".join(json.dumps(_entry(unit, measured)) for unit, measured in units.items())
        new.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _row(unit: Unit, measured: dict[str, Any]) -> dict[str, str]:
    return {"unit": _key(unit), "entry": json.dumps(_entry(unit, measured))}


def _key(unit: Unit) -> str:
    return f"{unit.engine} {unit.layout} {unit.round}"


def _unit(entry: dict[str, Any]) -> tuple[Unit, dict[str, Any]]:
    """Return (Unit, what is kept of it) of an entry of a file."""
    results = [
        runs.Result(**(fields | {"verdict": Judgement(**fields["verdict"])})) for fields in entry["results"]
    ]
    about = {"conditions": entry["conditions"], "of": entry.get("of"), "made": entry.get("made")}
    return Unit(**entry["unit"]), about | {"results": results}


def _entry(unit: Unit, measured: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of a file; a result's fields that are None, as they are by default, are left out."""
    results = [
        {name: value for name, value in dataclasses.asdict(result).items() if value is not None}
        for result in measured["results"]
    ]
    about = {name: measured[name] for name in ("conditions", "of", "made") if name != "made" or measured["made"]}
    return {"unit": dataclasses.asdict(unit)} | about | {"results": results}
