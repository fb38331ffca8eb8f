"""The table of parts (parts.yml): what is proved, by which tests and programs, and what these need."""

import difflib
import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path

import environment_matrix

from workbench._base import yaml_files
from workbench._base.errors import ArgumentError

ROOT = Path(__file__).resolve().parents[2]
TABLE = "tests/prove/parts.yml"
KINDS = {
    "each": str, "what": str, "tests": list, "select": str, "programs": list, "env": dict, "needs": list,
    "reads": list, "notebooks": list, "environments": list, "alone": bool,
}  # fmt: skip
NAME = re.compile(r"[\w.-]*(\{each\})?[\w.-]*")  # it names a log file, too


@dataclass(frozen=True)
class Part:
    """One part of the proof, as the head of parts.yml explains its fields."""

    name: str
    what: str
    tests: tuple[str, ...] = ()
    select: str | None = None
    programs: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    notebooks: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    alone: bool = False

    def reach(self) -> dict[str, tuple[str, ...]]:
        """Return what `depends.files` starts from."""
        programs = tuple(program.split()[0] for program in self.programs)
        names = {"tests": self.tests, "notebooks": self.notebooks, "environments": self.environments}
        return names | {"programs": programs, "reads": self.reads}

    def runs(self) -> list:
        """Return what is run, for the digest: another selection, number of kills or variable is another proof."""
        return [self.tests, self.select, self.programs, self.env]


def read(root: Path = ROOT) -> dict[str, Part]:
    """Read the table, entries for each notebook and each home written out: name to part, in the table's order.

    Raises:
        ArgumentError: an entry has an unknown key, a value of another kind, nothing to run, or another one's name.
    """
    entries = yaml_files.read(root / TABLE)
    if not isinstance(entries, dict):
        raise ArgumentError(f"{TABLE} must be a mapping of the names of parts to what they are")
    each = {
        "notebook": sorted(path.stem for path in (root / "notebooks").glob("*.ipynb")),
        "home": list(environment_matrix.ENVIRONMENTS),
    }
    parts = {}
    for name, entry in entries.items():
        _refuse(name, entry, each)
        for value in each[entry["each"]] if "each" in entry else [""]:
            part = _part(name.replace("{each}", value), entry, value)
            if part.name in parts:
                raise ArgumentError(f"{TABLE}: two parts have the name {part.name}, the second from {name}")
            parts[part.name] = part
    return parts


def named(parts: dict[str, Part], patterns) -> set[str]:
    """Return the names of parts that match patterns, such as `wap` and `home-*`.

    Raises:
        ArgumentError: a pattern matches no part.
    """
    names = set()
    for pattern in patterns:
        matching = fnmatch.filter(parts, pattern)
        if not matching:
            near = difflib.get_close_matches(pattern, parts, n=3)
            meant = f" (did you mean {' or '.join(near)}?)" if near else ""
            raise ArgumentError(f"{pattern} is not a part of the proof{meant}; `make prove LIST=1` lists them")
        names.update(matching)
    return names


def _refuse(name, entry, each):
    if not isinstance(name, str) or not name or not NAME.fullmatch(name):
        raise ArgumentError(f"{name!r} is not the name of a part: letters, digits, dots and dashes")
    if not isinstance(entry, dict):
        raise ArgumentError(f"{name}: a part must be a mapping, found {entry!r}")
    for key, value in entry.items():
        if key not in KINDS:
            raise ArgumentError(f"{name}: {key} is not a key of a part; the keys are {', '.join(KINDS)}")
        if not isinstance(value, KINDS[key]):
            raise ArgumentError(f"{name}: {key} must be a {KINDS[key].__name__}, found {value!r}")
        for text in [*value, *value.values()] if isinstance(value, dict) else value if KINDS[key] is list else ():
            if not isinstance(text, str) or not text.strip():
                raise ArgumentError(f"{name}: {key} must hold texts, found {text!r}")
    if not entry.get("what") or not (entry.get("tests") or entry.get("programs")):
        raise ArgumentError(f"{name}: a part says what it proves, and has tests or programs")
    if ("each" in entry) != ("{each}" in name) or entry.get("each", "notebook") not in each:
        raise ArgumentError(f"{name}: each is one of {', '.join(each)}, and {{each}} stands in the name")


def _part(name, entry, value):
    fields = {key: _written_out(given, value) for key, given in entry.items() if key != "each"}
    return Part(name, **fields)


def _written_out(given, value):
    if isinstance(given, str):
        return given.replace("{each}", value)
    if isinstance(given, list):
        return tuple(text.replace("{each}", value) for text in given)
    return tuple(sorted(given.items())) if isinstance(given, dict) else given
