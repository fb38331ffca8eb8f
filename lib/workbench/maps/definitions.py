"""A published definition, read and checked: the state machine of a file with a distributed Map."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.maps import checking, expressions, scopes, texts
from workbench.maps.fields import KINDS
from workbench.maps.reasons import DefinitionRefused, Gathered, Reason

_NAME = re.compile(r"\$\{(\w+)\}")
_LINTED = re.compile(r"State Machine(?:\.States\.([^.\"]+))?")
_VALUE = re.compile(r"\.(\w+)(?:\[\d+\])? is ")  # what a problem with a field's value begins with
_BEHIND = (  # fields that statelint lacks
    "InputType", "ManifestType", "CSVHeaderLocation", "CSVHeaders", "CSVDelimiter", "Label",
)  # fmt: skip
MOST_BYTES = 1_048_576  # of a definition, as AWS has it


@dataclass(frozen=True)
class Definition:
    """A state machine that runs here.

    Attributes:
        name: the file's name without its endings.
        machine: the definition, names replaced.
        state: name of its Map state.
        digest: SHA-256 of the machine without comments; the same for a file that is only formatted otherwise.
    """

    name: str
    machine: Mapping[str, Any] = field(repr=False)
    state: str
    digest: str

    @property
    def map(self) -> Mapping[str, Any]:
        """The Map state."""
        return self.machine["States"][self.state]

    @property
    def child(self) -> Mapping[str, Any]:
        """The state machine that runs for each item, or each batch of them."""
        return self.map["ItemProcessor"]


@checked
def read(file: Path | str, *, names: Mapping[str, str] | None = None) -> Definition:
    """Read an Amazon States Language file with a distributed Map, and check that all of it runs here.

    Args:
        file: its path; JSON.
        names: what stands for `${Name}` in the file's texts, as CloudFormation's DefinitionSubstitutions have it.

    Returns:
        Definition.

    Raises:
        DefinitionRefused: something in it is wrong, or does not run here; it has all reasons, with their places.
        ValueError: there is no such file, or it is not UTF-8.
        MissingPackageError: jlens or statelint is not installed.
    """
    expressions.engine()
    content = _content(Path(file))
    try:
        text = texts.read(content)
    except texts.NotJson as error:
        raise DefinitionRefused(file, (Reason(error.line, "the text", f"is not JSON: {error.reason}"),)) from None
    gathered, used = Gathered(text), set[str]()
    machine = _named(text.value, names or {}, used)
    if len(content.encode()) > MOST_BYTES:
        gathered.add((), f"has {len(content.encode()):,} bytes; AWS takes at most {MOST_BYTES:,}")
    if unused := sorted(set(names or {}) - used):
        gathered.add((), f"has no ${{{unused[0]}}}, which names has a value for")
    checking.check(machine, gathered)
    _lint(machine, gathered)
    if gathered.reasons:
        raise DefinitionRefused(file, gathered.sorted())
    state = next(name for name, state in machine["States"].items() if state["Type"] == "Map")
    plain = json.dumps(_without_comments(machine, ()), sort_keys=True, separators=(",", ":"))
    return Definition(Path(file).name.split(".")[0], machine, state, hashlib.sha256(plain.encode()).hexdigest())


def _content(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{file} is not UTF-8: byte {error.start}") from None
    except OSError as error:
        raise ArgumentError(
            f"{file} cannot be read: {error.strerror}; expected an Amazon States Language file"
        ) from None


def _named(value: Any, names: Mapping[str, str], used: set[str]) -> Any:
    """Return a value with the names in its texts replaced by what they stand for."""
    if isinstance(value, dict):
        return {name: _named(member, names, used) for name, member in value.items()}
    if isinstance(value, list):
        return [_named(element, names, used) for element in value]
    if not isinstance(value, str):
        return value

    def replaced(match: re.Match[str]) -> str:
        if match[1] not in names:
            return match[0]
        used.add(match[1])
        return names[match[1]]

    return _NAME.sub(replaced, value)


def _without_comments(value: Any, path: texts.Path) -> Any:
    if isinstance(value, dict):
        named = ((name, member, (*path, name)) for name, member in value.items())
        return {name: _without_comments(member, at) for name, member, at in named if not scopes.is_comment(at)}
    if isinstance(value, list):
        return [_without_comments(element, (*path, place)) for place, element in enumerate(value)]
    return value


def _lint(machine: Any, gathered: Gathered) -> None:
    """Note what statelint finds in states in which our own checks found nothing."""
    if not isinstance(machine, dict):
        return
    try:
        from statelint.linter import Linter
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "maps need statelint, a check of definitions: pip install 'iceberg-workbench[maps]'"
        ) from error
    if gathered.reasons:
        seen = {path[1] for path, _ in gathered.reasons if len(path) > 1 and path[0] == "States"}
    else:
        seen = set()
    whole = any(len(path) < 2 for path, _ in gathered.reasons)
    for problem in _problems(Linter, machine, gathered):
        if any(f'Field "{name}" not allowed' in problem for name in _BEHIND):
            continue
        if (value := _VALUE.search(problem)) and value[1] in KINDS:
            continue  # our own check of it also knows expressions
        match = _LINTED.search(problem)
        state = match[1] if match else None
        if (state is None and whole) or state in seen or (state is None and seen):
            continue
        gathered.add(("States", state) if state else (), f"is refused by statelint: {problem}")


def _problems(linter: Any, machine: Any, gathered: Gathered) -> list[str]:
    """Return what statelint finds; nothing where our own checks found what it cannot read."""
    try:
        return list(linter.validate(machine))
    except Exception:
        if not gathered.reasons:
            raise
        return []
