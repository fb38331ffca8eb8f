"""Checks of a definition: fields and their values, transitions, and what runs here of what AWS has."""

import re
from collections.abc import Mapping
from typing import Any

from workbench.maps import expressions, resources, scopes
from workbench.maps.fields import KINDS, REFUSED, REFUSED_IN, REFUSED_STATES, REQUIRED, RUNS, STATES
from workbench.maps.reasons import Gathered
from workbench.maps.texts import Path

_NAMED = re.compile(r"\$\{\w+\}")  # as CloudFormation has them
_NO_JOBS = ("lambda:invoke", "firehose:putRecord", "aws-sdk:firehose:putRecord")  # without .sync
_ACTION = re.compile(r"arn:[\w-]+:states:::([\w-]+(?::[\w-]+)*)((?:\.\w+(?::2)?)?)")
_FUNCTION = re.compile(r"arn:[\w-]+:lambda:[\w-]*:\d*:function:.+")
_ERRORS = frozenset(  # names that AWS keeps for itself, behind States.
    {
        "ALL", "BranchFailed", "DataLimitExceeded", "ExceedToleratedFailureThreshold", "HeartbeatTimeout",
        "Http.Socket", "IntrinsicFailure", "ItemReaderFailed", "NoChoiceMatched", "ParameterPathFailure",
        "Permissions", "QueryEvaluationError", "ResultPathMatchFailure", "ResultWriterFailed", "Runtime",
        "TaskFailed", "Timeout",
    }
)  # fmt: skip
_READER = re.compile(r"arn:[\w-]+:states:::s3:(\w+)")


def check(machine: Any, gathered: Gathered) -> None:
    """Note all that is wrong with a state machine's definition, or does not run here."""
    for path in gathered.text.doubled:
        gathered.add(path, "is there twice; an object has a field once")
    if not isinstance(machine, dict):
        gathered.add((), "must be an object")
        return
    _object(machine, (), "machine", gathered)
    if "QueryLanguage" not in machine:
        gathered.add((), "has no QueryLanguage, which means JSONPath; only JSONata runs here")
    for path, text in scopes.texts_of(machine):
        for name in sorted(set(_NAMED.findall(text))):
            gathered.add(path, f"has {name} left; give its value in names")
    _states(machine, (), gathered, outer=True)
    scopes.check(machine, gathered)


def _object(value: Mapping[str, Any], path: Path, kind: str, gathered: Gathered) -> None:
    """Check the names of an object's fields, and their values where these are checked alone."""
    for name in value:
        if name in RUNS[kind]:
            continue
        why = REFUSED_IN.get((kind, name)) or REFUSED.get(name)
        others = ", ".join(sorted(RUNS[kind] - {"Comment", "QueryLanguage"}))
        gathered.add((*path, name), why or f"is not a field of {_called(kind)}; it has {others}")
    for name in REQUIRED.get(kind, ()):
        if name not in value:
            gathered.add(path, f"has no {name}")
    for name in RUNS[kind] & set(value):
        if name in KINDS and (wrong := KINDS[name].wrong(value[name])):
            gathered.add((*path, name), wrong)


def _called(kind: str) -> str:
    words = {"machine": "a state machine", "child": "an ItemProcessor", "choice": "a choice",
             "retry": "a Retry entry", "catch": "a Catch entry"}  # fmt: skip
    return words.get(kind) or (f"a {kind} state" if kind in STATES else kind)


def _states(machine: Mapping[str, Any], path: Path, gathered: Gathered, *, outer: bool) -> None:
    states = machine.get("States")
    if not isinstance(states, dict):
        return
    for name, state in states.items():
        at = (*path, "States", name)
        if not isinstance(state, dict):
            gathered.add(at, "must be an object")
        elif len(name) > 80:
            gathered.add(at, f"has a name of {len(name)} characters; at most 80 are taken")
        else:
            _state(state, at, gathered, outer=outer)
    _transitions(machine, path, gathered)
    if outer:
        _one_map(states, path, gathered)


def _one_map(states: Mapping[str, Any], path: Path, gathered: Gathered) -> None:
    maps = [name for name, state in states.items() if isinstance(state, dict) and state.get("Type") == "Map"]
    if len(maps) != 1:
        gathered.add((*path, "States"), f"must have one Map state, found {len(maps)}")
    for name in maps:
        after = states[name].get("Next")
        last = states.get(after) if isinstance(after, str) else None
        if isinstance(last, dict) and (last.get("Type") != "Succeed" or "Output" in last):
            gathered.add(
                (*path, "States", name, "Next"),
                f"leads to {after}, and what comes after the Map does not run here, but a Succeed without Output",
            )


def _state(state: Mapping[str, Any], path: Path, gathered: Gathered, *, outer: bool) -> None:
    kind = state.get("Type")
    if not isinstance(kind, str | None):
        gathered.add((*path, "Type"), f"must be a text, found {kind!r}")
    elif kind in REFUSED_STATES:
        gathered.add((*path, "Type"), f"is {kind}: {REFUSED_STATES[kind]}")
    elif kind not in STATES:
        what = "has no Type" if kind is None else f"must be one of {', '.join(sorted(STATES))}, found {kind!r}"
        gathered.add((*path, "Type") if kind is not None else path, what)
    elif kind == "Map" and not outer:
        gathered.add((*path, "Type"), "is Map: a Map within the children of a Map does not run here")
    else:
        _object(state, path, kind, gathered)
        if kind in ("Pass", "Task", "Map"):
            _one_end(state, path, gathered)
        if kind == "Task":
            _resource(state.get("Resource"), (*path, "Resource"), gathered)
            _arguments(state, path, gathered)
        for name, entry in (("Retry", "retry"), ("Catch", "catch"), ("Choices", "choice")):
            if name in RUNS[kind]:
                _entries(state.get(name), (*path, name), entry, gathered)
        if kind == "Map":
            _map(state, path, gathered)


def _one_end(state: Mapping[str, Any], path: Path, gathered: Gathered) -> None:
    if "Next" in state and "End" in state:
        gathered.add(path, "has both Next and End; it has one of them")
    elif "Next" not in state and state.get("End") is not True:
        gathered.add(path, "has neither Next nor End: true")


def _entries(entries: Any, path: Path, kind: str, gathered: Gathered) -> None:
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        at = (*path, place)
        if not isinstance(entry, dict):
            gathered.add(at, "must be an object")
            continue
        _object(entry, at, kind, gathered)
        errors = entry.get("ErrorEquals")
        if isinstance(errors, list) and "States.ALL" in errors and (len(errors) > 1 or place + 1 < len(entries)):
            gathered.add((*at, "ErrorEquals"), "has States.ALL, which stands alone, in the last entry")
        for name in errors if isinstance(errors, list) else ():
            if not isinstance(name, str) or not name:
                gathered.add((*at, "ErrorEquals"), f"must be a list of texts that are not empty, found {name!r}")
            elif name.startswith("States.") and name.removeprefix("States.") not in _ERRORS:
                gathered.add((*at, "ErrorEquals"), f"has {name}, which is no error that AWS knows")
            elif name == "States.Runtime":
                gathered.add((*at, "ErrorEquals"), "has States.Runtime, which nothing tries again or catches")


def _resource(resource: Any, path: Path, gathered: Gathered) -> None:
    if not isinstance(resource, str) or _NAMED.search(resource) or _FUNCTION.fullmatch(resource):
        return
    action = _ACTION.fullmatch(resource)
    if action is None:
        gathered.add(
            path, f"must be the ARN of a Lambda function or of an action of a service, found {resource!r}"
        )
    elif action[2] == ".waitForTaskToken":
        gathered.add(path, "ends in .waitForTaskToken, which does not run here: no token is awaited")
    elif action[2] and action[1] in _NO_JOBS:
        gathered.add(path, f"ends in {action[2]}, and {action[1]} has no job that ends later")
    elif action[2] not in ("", ".sync", ".sync:2"):
        gathered.add(path, f"must end in the action, .sync or .sync:2, found {action[2]}")


def _arguments(state: Mapping[str, Any], path: Path, gathered: Gathered) -> None:
    """Note arguments of a task that it does not take, as far as they are known before it runs."""
    arguments, resource = state.get("Arguments"), state.get("Resource")
    if not isinstance(arguments, dict) or not isinstance(resource, str):
        return
    for name, value in arguments.items():
        if wrong := resources.wrong_argument(resource, name, value):
            gathered.add((*path, "Arguments", name), wrong)


def _transitions(machine: Mapping[str, Any], path: Path, gathered: Gathered) -> None:
    """Check that each transition leads to a state, and that each state is reached and an end can be."""
    states: dict[str, Any] = {name: state for name, state in machine["States"].items() if isinstance(state, dict)}
    start = machine.get("StartAt")
    if not isinstance(start, str):
        return
    if start not in machine["States"]:
        gathered.add((*path, "StartAt"), _no_state(start, states))
    leads = {name: dict(scopes.transitions(state)) for name, state in states.items()}
    for name, targets in leads.items():
        for at, target in targets.items():
            if target not in machine["States"]:
                gathered.add((*path, "States", name, *at), _no_state(target, states))
    if start not in states:
        return
    reached, todo = set(), [start]
    while todo:
        if (name := todo.pop()) not in reached and name in states:
            reached.add(name)
            todo += leads[name].values()
    for name in states:
        if name not in reached:
            gathered.add((*path, "States", name), "is reached from no state")
    if not any(
        states[name].get("Type") in ("Succeed", "Fail") or states[name].get("End") is True for name in reached
    ):
        gathered.add((*path, "States"), "have no end that is reached: no End: true, Succeed or Fail")


def _no_state(name: str, states: Mapping[str, Any]) -> str:
    return f"names {name!r}, which is no state here; these are {', '.join(states)}"


def _map(state: Mapping[str, Any], path: Path, gathered: Gathered) -> None:
    child, reader = state.get("ItemProcessor"), state.get("ItemReader")
    if isinstance(child, dict):
        _object(child, (*path, "ItemProcessor"), "child", gathered)
        config = child.get("ProcessorConfig")
        if isinstance(config, dict):
            _mode(config, isinstance(reader, dict), (*path, "ItemProcessor", "ProcessorConfig"), gathered)
        _states(child, (*path, "ItemProcessor"), gathered, outer=False)
    if isinstance(reader, dict):
        _reader(reader, (*path, "ItemReader"), gathered)
    batcher, writer = state.get("ItemBatcher"), state.get("ResultWriter")
    if isinstance(batcher, dict) and batcher:
        _object(batcher, (*path, "ItemBatcher"), "ItemBatcher", gathered)
        if not {"MaxItemsPerBatch", "MaxInputBytesPerBatch"} & set(batcher):
            gathered.add((*path, "ItemBatcher"), "has neither MaxItemsPerBatch nor MaxInputBytesPerBatch")
    if isinstance(writer, dict):
        _object(writer, (*path, "ResultWriter"), "ResultWriter", gathered)
        _action_of(writer.get("Resource"), (*path, "ResultWriter", "Resource"), "putObject", gathered)
        arguments = writer.get("Arguments")
        for name in arguments if isinstance(arguments, dict) else ():
            if name not in ("Bucket", "Prefix"):
                gathered.add(
                    (*path, "ResultWriter", "Arguments", name),
                    "does not run here; the arguments are Bucket and Prefix",
                )


def _mode(config: Mapping[str, Any], reads: bool, path: Path, gathered: Gathered) -> None:
    if config.get("Mode") == "INLINE":
        more = ", and with ItemReader AWS does not take it" if reads else ""
        gathered.add((*path, "Mode"), f"is INLINE, which does not run here{more}; expected DISTRIBUTED")
        config = {name: value for name, value in config.items() if name != "Mode"} | {"Mode": "DISTRIBUTED"}
    _object(config, path, "ProcessorConfig", gathered)


def _reader(reader: Mapping[str, Any], path: Path, gathered: Gathered) -> None:
    _object(reader, path, "ItemReader", gathered)
    _action_of(reader.get("Resource"), (*path, "Resource"), "getObject", gathered)
    arguments, config = reader.get("Arguments"), reader.get("ReaderConfig")
    if isinstance(arguments, dict):
        for name in arguments:
            if name not in ("Bucket", "Key"):
                gathered.add((*path, "Arguments", name), "does not run here; the arguments are Bucket and Key")
        for name in ("Bucket", "Key"):
            if name not in arguments:
                gathered.add((*path, "Arguments"), f"has no {name}")
    elif arguments is not None and not expressions.is_expression(arguments):
        gathered.add(
            (*path, "Arguments"), "must be an object with Bucket and Key, or an expression that gives one"
        )
    if isinstance(config, dict):
        _reader_config(config, (*path, "ReaderConfig"), gathered)


def _reader_config(config: Mapping[str, Any], path: Path, gathered: Gathered) -> None:
    _object(config, path, "ReaderConfig", gathered)
    given = [name for name in ("CSVHeaderLocation", "CSVHeaders", "CSVDelimiter") if name in config]
    if config.get("InputType") != "CSV":
        for name in given:
            gathered.add((*path, name), f"is for CSV, and InputType is {config.get('InputType')}")
    elif "CSVHeaderLocation" not in config:
        gathered.add(path, "has no CSVHeaderLocation, which CSV needs: FIRST_ROW or GIVEN")
    elif (config["CSVHeaderLocation"] == "GIVEN") != ("CSVHeaders" in config):
        gathered.add(path, "has CSVHeaders if, and only if, CSVHeaderLocation is GIVEN")
    headers = config.get("CSVHeaders")
    if isinstance(headers, list) and not all(isinstance(name, str) for name in headers):
        gathered.add((*path, "CSVHeaders"), "must be a list of texts")
    elif isinstance(headers, list) and len(set(headers)) < len(headers):
        gathered.add((*path, "CSVHeaders"), "has a name twice")


def _action_of(resource: Any, path: Path, action: str, gathered: Gathered) -> None:
    if not isinstance(resource, str) or _NAMED.search(resource):
        return
    match = _READER.fullmatch(resource)
    if match is None or match[1] != action:
        gathered.add(path, f"must be arn:…:states:::s3:{action}, found {resource!r}")
