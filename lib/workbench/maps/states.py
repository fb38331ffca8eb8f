"""The states of a child, run for one item: Pass, Task, Choice, Succeed and Fail, with Retry, Catch and Assign."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.maps import expressions, jsons, resources
from workbench.maps.expressions import MOST_BYTES, EvaluationError, Scope, Template
from workbench.maps.resources import Call, Delivery, TaskFailed
from workbench.maps.texts import Path

MOST_STATES = 25_000  # that an execution enters; Step Functions ends one after 25,000 events
TOO_LARGE, RUNTIME, TIMEOUT = "States.DataLimitExceeded", "States.Runtime", "States.Timeout"
FAILED = "Failed"  # the error of a Fail state that names none
MOST_SECONDS = 31_622_400  # between two tries
MOST_VARIABLES = 10 * 2**20  # bytes of all variables together
_DYNAMIC = ("Arguments", "Output", "Assign", "Error", "Cause", "Condition")
_ALL, _TASK = "States.ALL", "States.TaskFailed"
_NEVER = {_ALL: (TOO_LARGE,), _TASK: (TOO_LARGE, TIMEOUT)}  # what these wildcards do not match


@dataclass(frozen=True)
class About:
    """What a state machine's run knows of itself.

    Attributes:
        run_id: the run's.
        machine: name of the definition.
        started: when the run began, as ISO 8601 in UTC.
        now: the same in milliseconds since 1970.
        table: what stands for the run's table: two tables may have a run of one name.
    """

    run_id: str
    machine: str
    started: str
    now: int
    table: str = ""

    def key(self, index: int | None, state: str | None = None, turn: int = 1) -> str:
        """Return what stands for a part of the run in its table: it tells a call from a repeated one.

        Args:
            index: of the item; None outside of the children.
            state: its name.
            turn: how often it was entered.
        """
        parts = [self.table] if self.table else []
        parts += [escaped(self.run_id), "-" if index is None else str(index)]
        if state is not None:
            parts.append(escaped(state) if turn == 1 else f"{escaped(state)}#{turn}")
        return "/".join(parts)


def escaped(name: str) -> str:
    """Return a name as a part of a key, which has / between parts and # before a turn."""
    return name.replace("%", "%25").replace("/", "%2F").replace("#", "%23")


@dataclass(frozen=True)
class Outcome:
    """How an execution ended.

    Attributes:
        output: its output; None where it failed.
        text: the output as JSON; None where it failed.
        error: name of the error; None where it did not fail.
        cause: of the error.
        tries: how often the state that was tried most was tried.
        records: that it delivered, as JSON texts; none where it failed.
    """

    output: Any = None
    text: str | None = None
    error: str | None = None
    cause: str | None = None
    tries: int = 1
    records: tuple[str, ...] = ()


@dataclass(slots=True)
class _Execution:
    """An execution that goes on.

    Attributes:
        key: its name, as AWS's context has it.
        index: of the item; None outside of the children.
        first: its input.
        variables: that states assigned.
        encoded: the last value that was made JSON, and its text.
        wide: whether a value may hold a whole number that JSONata does not.
        records: that it has delivered.
        tries: how often the state that was tried most was tried.
        entered: how often each state was.
        state_key: what stands for the state as it is entered now; a loop comes by it again.
    """

    key: str
    index: int | None
    first: Any
    encoded: tuple[Any, str]
    wide: bool
    variables: dict[str, Any] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    tries: int = 1
    entered: dict[str, int] = field(default_factory=dict)
    state_key: str = ""

    def text_of(self, value: Any) -> str:
        """Return a value as JSON; that of the last value is known."""
        return self.encoded[1] if value is self.encoded[0] else jsons.text(value)


class Machine:
    """A state machine, its expressions compiled; `run` runs it for one input."""

    def __init__(
        self,
        machine: Mapping[str, Any],
        bound: Mapping[str, resources.Function | Delivery],
        about: About,
        *,
        sleep: Callable[[float], None] = time.sleep,
        until: str | None = None,
    ) -> None:
        """Compile a state machine.

        Args:
            machine: with StartAt and States.
            bound: name of a Task state to what it calls.
            about: the run.
            sleep: function that waits between tries.
            until: name of a state before which a run ends.
        """
        self.start = machine["StartAt"]
        self.states = {name: _State(name, state) for name, state in machine["States"].items() if name != until}
        self.bound, self.about, self.sleep, self.until = bound, about, sleep, until
        self.wide = expressions.wide(jsons.text(machine))

    def run(self, value: Any, key: str, index: int, *, text: str | None = None) -> Outcome:
        """Run the states for an input; what fails is in the outcome.

        Args:
            value: the input.
            key: name of the execution.
            index: of the item.
            text: the input as JSON, where it is known.
        """
        text = jsons.text(value) if text is None else text
        execution = _Execution(key, index, value, (value, text), self.wide or expressions.wide(text))
        try:
            output, _ = self._through(execution, value)
            text = execution.text_of(output)
        except TaskFailed as error:
            return Outcome(error=error.error, cause=error.cause, tries=execution.tries)
        except Exception as error:  # as a value that is nested too deeply: the item's, and no end of the run
            cause = f"{type(error).__name__}: {error}"
            return Outcome(error=RUNTIME, cause=cause, tries=execution.tries)
        return Outcome(output, text, tries=execution.tries, records=tuple(execution.records))

    def before(self, value: Any, key: str) -> tuple[Outcome, bool, dict[str, Any]]:
        """Run the states before `until`; return the outcome, whether they led there, and the variables."""
        execution = _Execution(key, None, value, (value, jsons.text(value)), wide=True)
        try:
            output, reached = self._through(execution, value)
        except TaskFailed as error:
            return Outcome(error=error.error, cause=error.cause, tries=execution.tries), False, {}
        return Outcome(output, tries=execution.tries), reached, execution.variables

    def _through(self, execution: _Execution, value: Any) -> tuple[Any, bool]:
        """Run states until an end; return the last output, and whether `until` was led to."""
        name: str | None = self.start
        for _ in range(MOST_STATES):
            if name is None or name == self.until:
                return value, name is not None
            name, value = self._enter(self.states[name], execution, value)
        raise TaskFailed(RUNTIME, f"more than {MOST_STATES:,} states were entered")

    def _enter(self, state: "_State", execution: _Execution, value: Any) -> tuple[str | None, Any]:
        """Run a state, again where it says so; return the next state's name, None at an end, and its input."""
        turn = execution.entered[state.name] = execution.entered.get(state.name, 0) + 1
        execution.state_key = self.about.key(execution.index, state.name, turn)
        tried = [0] * len(state.retries)
        count = 0
        while True:
            try:
                return self._once(state, execution, value, count)
            except TaskFailed as error:
                wait = None if state.kind == "Fail" else state.again(error.error, tried, count)
                if wait is None:
                    return self._catch(state, execution, value, error, count)
                count += 1
                execution.tries = max(execution.tries, count + 1)
                self.sleep(wait)

    def _once(self, state: "_State", execution: _Execution, value: Any, count: int) -> tuple[str | None, Any]:
        scope = self._scope(state, execution, count, {"input": value})
        if state.kind == "Choice":
            return self._choose(state, execution, scope, value)
        if state.kind == "Fail":
            raise TaskFailed(_words(state, "Error", scope) or FAILED, _words(state, "Cause", scope))
        result = value
        if state.kind == "Task":
            arguments = value
            if "Arguments" in state.templates:
                arguments = _evaluate(state.templates["Arguments"], scope)
                _sized(arguments, "Arguments", state.name)
            result = self._call(state, execution, arguments, count)
            scope = self._scope(state, execution, count, {"input": value, "result": result})
        return state.next, self._leave(state.templates, state.name, execution, scope, result)

    def _call(self, state: "_State", execution: _Execution, arguments: Any, count: int) -> Any:
        target = self.bound[state.name]
        for name, given in arguments.items() if state.judges and isinstance(arguments, dict) else ():
            if wrong := resources.wrong_argument(state.state["Resource"], name, given):
                raise TaskFailed(RUNTIME, f"Arguments of {state.name} gave {name}, which {wrong}")
        if isinstance(target, Delivery):
            execution.records.append(_data(arguments))
            return {"Encrypted": False, "RecordId": f"{execution.key}/{len(execution.records)}"}
        call = Call(execution.state_key, self.about.run_id, execution.index or 0, count)
        if "Arguments" not in state.templates:  # they are the input, and a function may change what it is given
            arguments = jsons.value(execution.text_of(arguments))
        result, wide = resources.call(state.state, target, arguments, call)
        execution.wide = execution.wide or wide
        return result

    def _choose(self, state: "_State", execution: _Execution, scope: Scope, value: Any) -> tuple[str | None, Any]:
        for templates, target in state.choices:
            holds = _evaluate(templates["Condition"], scope)
            if not isinstance(holds, bool):
                raise TaskFailed(expressions.ERROR, f"a Condition of {state.name} gave {holds!r}, not a boolean")
            if holds:
                own = {name: template for name, template in templates.items() if name != "Condition"}
                return target, self._leave(own, state.name, execution, scope, value)
        if state.default is None:
            raise TaskFailed(
                "States.NoChoiceMatched", f"no Condition of {state.name} holds, and it has no Default"
            )
        return state.default, self._leave(state.templates, state.name, execution, scope, value)

    def _catch(
        self, state: "_State", execution: _Execution, value: Any, error: TaskFailed, count: int
    ) -> tuple[str | None, Any]:
        output = {"Error": error.error, "Cause": error.cause}
        for errors, templates, target in state.catches:
            if _matches(error.error, errors):
                scope = self._scope(state, execution, count, {"input": value, "errorOutput": output})
                return target, self._leave(templates, state.name, execution, scope, output)
        raise error

    def _leave(
        self, templates: Mapping[str, Template], name: str, execution: _Execution, scope: Scope, otherwise: Any
    ) -> Any:
        """Return a state's output, and assign its variables; the expressions see those of before."""
        output = otherwise
        if "Output" in templates:
            output = _evaluate(templates["Output"], scope)
            execution.encoded = output, _sized(output, "Output", name)
        if "Assign" in templates:
            assigned = _evaluate(templates["Assign"], scope)
            _sized(assigned, "Assign", name)
            variables = execution.variables | assigned
            if (length := len(jsons.text(variables).encode())) > MOST_VARIABLES:
                raise TaskFailed(
                    TOO_LARGE, f"all variables have {length:,} bytes; at most {MOST_VARIABLES:,} are taken"
                )
            execution.variables = variables
        return output

    def _scope(self, state: "_State", execution: _Execution, count: int, states: dict[str, Any]) -> Scope:
        if state.reads_context:
            states["context"] = context(self.about, execution.key, execution.first, state.name, count)
        bindings = {**execution.variables, "states": states}
        return Scope(bindings, execution.state_key, self.about.now, execution.wide)


def context(about: About, key: str, first: Any, state: str, tries: int = 0) -> dict[str, Any]:
    """Return the context object of an execution that is in a state."""
    return {
        "Execution": {"Id": key, "Name": key, "Input": first, "StartTime": about.started},
        "State": {"Name": state, "EnteredTime": about.started, "RetryCount": tries},
        "StateMachine": {"Id": about.machine, "Name": about.machine},
    }


class _State:
    """A state, its expressions compiled."""

    def __init__(self, name: str, state: Mapping[str, Any]) -> None:
        self.name, self.state, self.kind = name, state, state["Type"]
        self.next: str | None = state.get("Next")
        self.default: str | None = state.get("Default")
        self.templates = _templates(state, (name,))
        self.choices = [
            (_templates(choice, (name, "Choices", place)), choice["Next"])
            for place, choice in enumerate(state.get("Choices", ()))
        ]
        self.catches = [
            (entry["ErrorEquals"], _templates(entry, (name, "Catch", place)), entry["Next"])
            for place, entry in enumerate(state.get("Catch", ()))
        ]
        self.retries = state.get("Retry", [])
        self.judges = self.kind == "Task" and _judged_late(state)
        entries = [*state.get("Choices", ()), *state.get("Catch", ())]
        dynamic = [fields[name] for fields in (state, *entries) for name in _DYNAMIC if name in fields]
        self.reads_context = any(map(_reads_context, expressions.within(dynamic)))

    def again(self, error: str, tried: list[int], count: int) -> float | None:
        """Return the seconds to wait before the next try; None where there is none. `tried` counts by entry."""
        for place, entry in enumerate(self.retries):
            if not _matches(error, entry["ErrorEquals"]):
                continue
            if tried[place] >= entry.get("MaxAttempts", 3):
                return None
            most = entry.get("MaxDelaySeconds", MOST_SECONDS)
            try:
                wait = min(
                    entry.get("IntervalSeconds", 1) * float(entry.get("BackoffRate", 2)) ** tried[place], most
                )
            except OverflowError:
                wait = most
            tried[place] += 1
            return random.uniform(0, wait) if entry.get("JitterStrategy") == "FULL" else wait
        return None


def _matches(error: str, errors: list[str]) -> bool:
    if error == RUNTIME:  # which nothing catches, by its name neither
        return False
    return any(error == name or (name in _NEVER and error not in _NEVER[name]) for name in errors)


def _judged_late(task: Mapping[str, Any]) -> bool:
    """Say whether only a run tells what arguments a task has; others were looked at when it was read."""
    arguments = task.get("Arguments")
    known = isinstance(arguments, dict) and "InvocationType" not in arguments
    return not known and resources.limits_arguments(task["Resource"])


def _templates(fields: Mapping[str, Any], path: Path) -> dict[str, Template]:
    """Return the fields of a state, or of one of its entries, that may hold expressions."""
    return {name: Template(fields[name], (*path, name)) for name in _DYNAMIC if name in fields}


def _reads_context(text: tuple[Path, str]) -> bool:
    """Say whether a text is an expression that may read the context."""
    if not expressions.is_expression(text[1]):
        return False
    states = expressions.reads(expressions.source(text[1])).states
    return states is True or "context" in states


def _words(state: _State, field: str, scope: Scope) -> str:
    """Return Error or Cause of a Fail state; empty where it has none."""
    if field not in state.templates:
        return ""
    if not isinstance(text := _evaluate(state.templates[field], scope), str):
        kind = resources.kind_of(text)
        raise TaskFailed(expressions.ERROR, f"{field} of {state.name} must be a text, found {kind}")
    return text


def _evaluate(template: Template, scope: Scope) -> Any:
    try:
        return template.evaluate(scope)
    except EvaluationError as error:
        raise TaskFailed(TOO_LARGE if error.too_large else expressions.ERROR, str(error)) from None


def _sized(value: Any, field: str, name: str) -> str:
    """Return a value as JSON."""
    text = jsons.text(value)
    if (length := len(text.encode())) > MOST_BYTES:
        raise TaskFailed(TOO_LARGE, f"{field} of {name} has {length:,} bytes; at most {MOST_BYTES:,} are taken")
    return text


def _data(arguments: Any) -> str:
    """Return the record that a putRecord brings."""
    record = arguments.get("Record") if isinstance(arguments, dict) else None
    data = record.get("Data") if isinstance(record, dict) else None
    if not isinstance(data, str):
        raise TaskFailed(
            "Firehose.InvalidArgumentException", f"Record.Data must be a text, found {resources.kind_of(data)}"
        )
    return data
