"""The rows of docs/evidence/proof.json: when each part was proved last, of which files, and whether that still holds."""

import json
from dataclasses import dataclass
from pathlib import Path

from prove import depends
from prove.parts import ROOT, Part
from workbench._base import files, locks

FILE = "docs/evidence/proof.json"
HOLDS, OUT_OF_DATE, FAILED, NEVER = "holds", "out of date", "failed", "never proved"
MOST_REASONS = 3


@dataclass(frozen=True)
class State:
    """What is known of a part: its state, why it is so, what it depends on now, and its row (None without one)."""

    part: Part
    state: str
    why: str
    digest: str
    contents: dict[str, str]
    row: dict | None


def read(root: Path = ROOT) -> dict[str, dict]:
    """Return the rows: name of the part to its row.

    Raises:
        ValueError: the file is not one of rows, as after a merge that was not ended.
    """
    file = root / FILE
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))["parts"] if file.is_file() else []
        return {row["part"]: row for row in rows}
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(
            f"{FILE} cannot be read: {error}; expected the rows of parts, as `git checkout {FILE}` brings them back"
        ) from error


def keep(row: dict, root: Path = ROOT) -> None:
    """Put a row in the place of the one before it, in one step; other processes that keep rows take turns."""
    with locks.held(
        root / ".workbench" / "proof.lock", "another process writes the rows of the proof", seconds=60
    ):
        rows = read(root) | {row["part"]: row}
        lines = ",\n".join("  " + json.dumps(rows[name], ensure_ascii=False) for name in sorted(rows))
        with files.replacing(root / FILE) as new:
            new.write_text(f'{{"name": "proof", "parts": [\n{lines}\n]}}\n', encoding="utf-8")


def current(part: Part, house: depends.House) -> tuple[str, dict[str, str]]:
    """Return the digest of a part as its files are now, and what counts of each file."""
    contents = depends.contents(house, depends.files(house, **part.reach()))
    return depends.digest(contents, part.runs()), contents


def states(parts, house: depends.House, rows: dict[str, dict]) -> list[State]:
    """Return the state of each part, in their order."""
    return [_state(part, *current(part, house), rows.get(part.name)) for part in parts]


def _state(part, digest, contents, row):
    if row is None:
        return State(part, NEVER, "", digest, contents, None)
    if row["digest"] != digest:
        return State(part, OUT_OF_DATE, why(row["files"], contents), digest, contents, row)
    if row["verdict"] != "passed":
        return State(part, FAILED, row["verdict"], digest, contents, row)
    return State(part, HOLDS, "", digest, contents, row)


def why(before, now):
    reasons = [f"{name} changed" for name in before if name in now and now[name] != before[name]]
    reasons += [f"{name} is new to it" for name in now if name not in before]
    reasons += [f"{name} is no longer part of it" for name in before if name not in now]
    more = f" and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    return ", ".join(reasons[:MOST_REASONS]) + more or "it runs something else"
