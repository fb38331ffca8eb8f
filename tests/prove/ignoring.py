"""What `make check CHANGED=1` leaves out: long test files that a part which holds has run whole."""

import json
from collections.abc import Iterable
from pathlib import Path

from prove import rows

TIMES = "docs/evidence/check.json"
LONG_SECONDS = 5  # shorter files are run: many of them read the whole tree, which no digest of a part covers


def files(states: Iterable[rows.State], root: Path) -> list[str]:
    """Return the test files to leave out, as paths from the project's folder, sorted.

    A part with a selection has run some of the tests only, and one with variables has run them in another environment.
    """
    took = json.loads((root / TIMES).read_text(encoding="utf-8"))["files"]
    long = {name for name, _, seconds, _ in took if seconds >= LONG_SECONDS and name.startswith("tests/")}
    proved = {
        str(path.relative_to(root))
        for state in states
        if state.state == rows.HOLDS and not (state.part.select or state.part.env)
        for name in state.part.tests
        for path in _tests(root / name)
    }
    return sorted(long & proved)


def _tests(path: Path) -> list[Path]:
    return list(path.rglob("test_*.py")) if path.is_dir() else [path]
