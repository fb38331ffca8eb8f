"""The table of parts (parts.yml): what is proved, by which tests and programs, and what these need."""

import difflib
import fnmatch
from dataclasses import dataclass
from pathlib import Path

import environment_matrix

from workbench._base import yaml_files

ROOT = Path(__file__).resolve().parents[2]
TABLE = "tests/prove/parts.yml"
KINDS = {
    "each": str, "what": str, "tests": list, "select": str, "programs": list, "env": dict, "needs": list,
    "reads": list, "notebooks": list, "environments": list, "alone": bool,
}  # fmt: skip


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
        ValueError: an entry has an unknown key, a value of another kind, or nothing to run.
    """
    each = {
        "notebook": sorted(path.stem for path in (root / "notebooks").glob("*.ipynb")),
        "home": list(environment_matrix.ENVIRONMENTS),
    }
    parts = {}
    for name, entry in yaml_files.read(root / TABLE).items():
        _refuse(name, entry, each)
        for value in each[entry["each"]] if "each" in entry else [""]:
            part = _part(name.replace("{each}", value), entry, value)
            parts[part.name] = part
    return parts


def named(parts: dict[str, Part], patterns) -> set[str]:
    """Return the names of parts that match patterns, such as `wap` and `home-*`.

    Raises:
        ValueError: a pattern matches no part.
    """
    names = set()
    for pattern in patterns:
        matching = fnmatch.filter(parts, pattern)
        if not matching:
            near = difflib.get_close_matches(pattern, parts, n=3)
            meant = f" (did you mean {' or '.join(near)}?)" if near else ""
            raise ValueError(f"{pattern} is not a part of the proof{meant}; `make prove LIST=1` lists them")
        names.update(matching)
    return names


def _refuse(name, entry, each):
    for key, value in entry.items():
        if key not in KINDS:
            raise ValueError(f"{name}: {key} is not a key of a part; the keys are {', '.join(KINDS)}")
        if not isinstance(value, KINDS[key]):
            raise ValueError(f"{name}: {key} must be a {KINDS[key].__name__}, found {value!r}")
    if not entry.get("what") or not (entry.get("tests") or entry.get("programs")):
        raise ValueError(f"{name}: a part says what it proves, and has tests or programs")
    if ("each" in entry) != ("{each}" in name) or entry.get("each", "notebook") not in each:
        raise ValueError(f"{name}: each is one of {', '.join(each)}, and {{each}} stands in the name")


def _part(name, entry, value):
    fields = {key: _written_out(given, value) for key, given in entry.items() if key != "each"}
    return Part(name, **fields)


def _written_out(given, value):
    if isinstance(given, str):
        return given.replace("{each}", value)
    if isinstance(given, list):
        return tuple(text.replace("{each}", value) for text in given)
    return tuple(sorted(given.items())) if isinstance(given, dict) else given
