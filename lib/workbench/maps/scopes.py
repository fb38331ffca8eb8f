"""What each expression of a definition may read, and what it reads that is not there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.maps import expressions
from workbench.maps.reasons import Gathered
from workbench.maps.texts import Path

_COMMON: dict[str, Any] = {
    "Execution": {"Id": True, "Name": True, "Input": True, "StartTime": True},
    "State": {"Name": True, "EnteredTime": True, "RetryCount": True},
    "StateMachine": {"Id": True, "Name": True},
}
_ITEM = {**_COMMON, "Map": {"Item": {"Index": True, "Value": True, "Source": True}}}
_NESTED = {"ItemProcessor", "Catch", "Choices"}  # looked at for themselves


def texts_of(machine: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield all texts of a definition but comments, each with its path."""
    return ((path, text) for path, text in expressions.within(machine) if not is_comment(path))


def is_comment(path: Path) -> bool:
    """Say whether a path leads to the comment of a state machine, of a state, or of an entry of one.

    A field of that name elsewhere is a value as any other: of an Output, or a state that is called so.
    """
    while path[:1] == ("States",) and len(path) > 2:
        path = path[2:]
        if path[:1] != ("ItemProcessor",):
            break
        path = path[1:]
    if len(path) == 3 and path[0] in ("Choices", "Retry", "Catch") and isinstance(path[1], int):
        path = path[2:]
    return path == ("Comment",)


def transitions(state: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield where a state leads: path within the state, and the name of the next."""
    for name in ("Next", "Default"):
        if isinstance(state.get(name), str):
            yield (name,), state[name]
    for name in ("Catch", "Choices"):
        for place, entry in enumerate(state[name] if isinstance(state.get(name), list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get("Next"), str):
                yield (name, place, "Next"), entry["Next"]


@dataclass(frozen=True)
class _Place:
    """What expressions at a place see.

    Attributes:
        known: names of the variables.
        outer: names of variables of the states around, which children do not see.
        states: fields of $states.
        context: fields of $states.context, nested.
    """

    known: frozenset[str]
    outer: frozenset[str]
    states: frozenset[str]
    context: Mapping[str, Any]


def check(machine: Mapping[str, Any], gathered: Gathered) -> None:
    """Note each expression that cannot be read, or that reads what is not there."""
    _machine(machine, (), frozenset(), gathered)


def _machine(machine: Mapping[str, Any], path: Path, outer: frozenset[str], gathered: Gathered) -> None:
    states = machine.get("States")
    states = (
        {name: state for name, state in states.items() if isinstance(state, dict)}
        if isinstance(states, dict)
        else {}
    )
    before = _before(states)
    for name, state in states.items():
        at = (*path, "States", name)
        known = frozenset().union(*(_assigned(states[other]) for other in before[name]))
        _state(state, at, known, outer, gathered)
        child = state.get("ItemProcessor")
        if isinstance(child, dict):
            everything = frozenset().union(*(_assigned(other) for other in states.values()))
            _machine(child, (*at, "ItemProcessor"), everything, gathered)


def _before(states: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the states that may come before each state; itself too where a way leads back."""
    leads = {name: {target for _, target in transitions(state)} & set(states) for name, state in states.items()}
    before: dict[str, set[str]] = {name: set() for name in states}
    grew = True
    while grew:
        grew = False
        for name, targets in leads.items():
            for target in targets:
                more = before[name] | {name}
                if not more <= before[target]:
                    before[target] |= more
                    grew = True
    return before


def _assigned(state: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the variables that a state assigns, those of its entries too."""
    names = set(state["Assign"]) if isinstance(state.get("Assign"), dict) else set()
    for field in ("Catch", "Choices"):
        for entry in state[field] if isinstance(state.get(field), list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("Assign"), dict):
                names |= set(entry["Assign"])
    return frozenset(names)


def _state(
    state: Mapping[str, Any], path: Path, known: frozenset[str], outer: frozenset[str], gathered: Gathered
) -> None:
    kind = state.get("Type")
    plain = frozenset({"input", "context"})
    for name, value in state.items():
        if name in _NESTED or name == "Comment":
            continue
        sees = plain | ({"result"} if kind == "Task" and name in ("Output", "Assign") else set())
        context = _ITEM if name == "ItemSelector" else _COMMON
        _texts(value, (*path, name), _Place(known, outer, sees, context), gathered)
    for field, sees in (("Catch", plain | {"errorOutput"}), ("Choices", plain)):
        for place, entry in enumerate(state[field] if isinstance(state.get(field), list) else ()):
            _texts(entry, (*path, field, place), _Place(known, outer, sees, _COMMON), gathered)
    for name in _assigned(state):
        if name == "states" or not name.isidentifier():
            gathered.add(
                (*path, "Assign"), f"has the variable {name!r}; a name is letters, digits and _, and not states"
            )
        elif len(name) > 80:
            gathered.add(
                (*path, "Assign"), f"has a variable's name of {len(name)} characters; at most 80 are taken"
            )


def _texts(value: Any, path: Path, place: _Place, gathered: Gathered) -> None:
    for at, text in expressions.within(value, path):
        if is_comment(at):
            continue
        if expressions.is_expression(text):
            _expression(text, at, place, gathered)
        elif lacks := expressions.almost(text):
            gathered.add(at, lacks)


def _expression(text: str, path: Path, place: _Place, gathered: Gathered) -> None:
    try:
        reads = expressions.reads(expressions.source(text))
    except expressions.EvaluationError as error:
        gathered.add(path, f"is not JSONata: {error}")
        return
    for name in sorted(reads.names - place.known):
        gathered.add(path, _unknown(name, place))
    if reads.bare and not reads.names - place.known:
        gathered.add(path, "reads a field that no variable leads to; the state's input is $states.input")
    if isinstance(reads.states, dict):
        for name in sorted(set(reads.states) - place.states):
            gathered.add(path, f"reads $states.{name}; here are {', '.join(sorted(place.states))}")
        for wrong in _beyond(reads.states.get("context", {}), place.context):
            gathered.add(path, f"reads $states.context.{wrong}, which is not there")


def _unknown(name: str, place: _Place) -> str:
    if name == "eval":
        return "calls $eval, which Step Functions does not have"
    if name in place.outer:
        return (
            f"reads ${name}, a variable of the states around: a child does not see it. Pass it on by ItemSelector"
        )
    names = ", ".join(sorted(place.known)) or "none"
    return f"reads ${name}, which is no function, and no variable that is assigned before; variables here: {names}"


def _beyond(read: Any, offered: Any, path: str = "") -> Iterator[str]:
    """Yield the fields that are read of a context and are not there."""
    if not isinstance(read, dict) or offered is True:
        return
    for name, deeper in read.items():
        at = f"{path}.{name}" if path else name
        if name not in offered:
            yield at
        else:
            yield from _beyond(deeper, offered[name], at)
