"""What a task's resource is bound to: a function of the caller's, or the delivery of records to the table."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.maps import expressions, jsons
from workbench.maps.expressions import MOST_BYTES
from workbench.records import types
from workbench.records.parsing import Json

_INVOKE = re.compile(r"arn:[\w-]+:states:::lambda:invoke")
_DELIVERS = re.compile(r"arn:[\w-]+:states:::(?:aws-sdk:)?firehose:putRecord")
# arguments by which services name what is called
_NAMED_BY = ("FunctionName", "DeliveryStreamName", "QueueUrl", "TopicArn", "TableName", "StateMachineArn")


class TaskFailed(WorkbenchError, Exception):
    """A resource failed, by a name that Retry and Catch can name.

    A function raises it to fail as a service does; any other exception that it raises fails by its class's name.

    Attributes:
        error: the name, as in ErrorEquals.
        cause: in words.
    """

    def __init__(self, error: str, cause: str = "") -> None:
        if not isinstance(error, str) or not error or not isinstance(cause, str):
            raise ArgumentError(
                f"TaskFailed takes the error's name, which is not empty, and a cause, both texts; found {error!r} "
                f"and {cause!r}"
            )
        super().__init__(f"{error}: {cause}")
        self.error = error
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        return TaskFailed, (self.error, self.cause)


@dataclass(frozen=True)
class Delivery:
    """Records of a Firehose stream, as rows of the table.

    Attributes:
        columns: of the table, as Spark DDL: `deviceid STRING NOT NULL, temperature DOUBLE`. A record is a JSON
            object with these fields; one with another field, or a value that its type does not hold, fails its
            item.
    """

    columns: str


@dataclass(frozen=True)
class Call:
    """What a function is told of the call, as its second argument.

    Attributes:
        key: of the item and the state, the same when the call is repeated, by Retry, a redrive or after a kill.
        run_id: the run's.
        index: of the item.
        tries: how often this state was tried before, by Retry.
    """

    key: str
    run_id: str
    index: int
    tries: int

    @property
    def aws_request_id(self) -> str:
        """The key, by the name that a handler of Lambda knows."""
        return self.key


Function = Callable[..., Any]
Bound = Mapping[str, Function | Delivery]


def names_of(task: Mapping[str, Any]) -> list[str]:
    """Return by what names a task's resource may be bound: what its arguments name, its function's, its own."""
    arguments, resource = task.get("Arguments"), task["Resource"]
    names = []
    for name in _NAMED_BY if isinstance(arguments, dict) else ():
        value = (arguments or {}).get(name)
        if isinstance(value, str) and not expressions.is_expression(value):
            names.append(value)
    return [*names, resource]


def delivers(task: Mapping[str, Any]) -> bool:
    """Say whether a task puts records to a Firehose stream."""
    return _DELIVERS.fullmatch(task["Resource"]) is not None


def bind(states: Mapping[str, Any], resources: Bound) -> dict[str, Function | Delivery]:
    """Return what each Task state calls, by the state's name.

    Raises:
        ValueError: a resource is bound to nothing, or wrongly; the message names each state.
    """
    bound, missing = {}, []
    for name, state in states.items():
        if state["Type"] != "Task":
            continue
        names = names_of(state)
        known = next((candidate for candidate in names if candidate in resources), None)
        if known is None:
            missing.append(f"{name} calls {' or '.join(names)}")
            continue
        target = resources[known]
        if isinstance(target, Delivery) and not delivers(state):
            raise ArgumentError(
                f"resources binds {known}, which {name} calls, to a Delivery; that is for firehose:putRecord"
            )
        if not isinstance(target, Delivery) and not callable(target):
            raise ArgumentError(f"resources binds {known} to {target!r}; expected a function or a Delivery")
        bound[name] = target
    if missing:
        listed = ", ".join(sorted(resources)) or "none"
        raise ArgumentError(f"resources lacks what {'; '.join(missing)}; it has {listed}")
    return bound


def refuse_unused(states: Iterable[Mapping[str, Any]], resources: Bound) -> None:
    """Refuse what is bound and called by no state: its name is misspelt, or its state is gone.

    Raises:
        ValueError: with what the states call.
    """
    tasks = [state for some in states for state in some.values() if state["Type"] == "Task"]
    called = {name for task in tasks for name in names_of(task)}
    if unused := sorted(set(resources) - called):
        listed = ", ".join(sorted(called)) or "nothing"
        raise ArgumentError(f"resources binds {unused[0]}, which no state calls; they call {listed}")


def delivery(bound: Mapping[str, Function | Delivery]) -> Delivery | None:
    """Return the delivery among what tasks are bound to; None where there is none.

    Raises:
        ValueError: there are two with different columns, and a map has one table.
    """
    deliveries = {target.columns: target for target in bound.values() if isinstance(target, Delivery)}
    if len(deliveries) > 1:
        raise ArgumentError(
            f"resources has deliveries of different columns: {' and '.join(deliveries)}; a map has one table"
        )
    return next(iter(deliveries.values()), None)


def records(target: Delivery) -> Json:
    """Return how a delivery's records become rows."""
    return Json(target.columns, unknown="dead")


def call(task: Mapping[str, Any], function: Function, arguments: Any, about: Call) -> tuple[Any, bool]:
    """Call a function as its task does; return the task's result, as plain JSON, and whether it may be wide.

    A function of Lambda gets its payload, and each other what the state's Arguments give. What it returns is the
    Payload of `lambda:invoke`'s result, and the result itself elsewhere.

    Raises:
        TaskFailed: it raised something, or returned what is not JSON or too large.
    """
    invoked = _INVOKE.fullmatch(task["Resource"])
    payload = _payload(arguments) if invoked else arguments
    try:
        result = function(payload, about)
    except TaskFailed as error:
        raise TaskFailed(encodable(error.error), encodable(error.cause)) from error
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # sys.exit and a cancelled task of asyncio, too, end the item and not the run
        cause = {"errorMessage": encodable(_message(error)), "errorType": type(error).__name__}
        raise TaskFailed(type(error).__name__, json.dumps(cause, ensure_ascii=False)) from error
    text = _json(result, task["Resource"])
    result = jsons.value(text)
    if invoked:
        result = {"ExecutedVersion": "$LATEST", "Payload": result, "StatusCode": 200}
    return result, expressions.wide(text)


def limits_arguments(resource: str) -> bool:
    """Say whether there are arguments that a task of a resource may not have (`wrong_argument`)."""
    return bool(_INVOKE.fullmatch(resource) or _DELIVERS.fullmatch(resource))


def wrong_argument(resource: str, name: str, value: Any) -> str | None:
    """Say why an argument of a task does not run here; None where it does.

    Args:
        resource: the task's.
        name: of the argument.
        value: of it, expressions evaluated or not.
    """
    if _INVOKE.fullmatch(resource):
        if name == "InvocationType":
            if value == "RequestResponse" or expressions.is_expression(value):
                return None
            return "must be RequestResponse: a call whose result nobody awaits does not run here"
        if name not in ("FunctionName", "Payload"):
            return "does not run here; the arguments are FunctionName and Payload"
    elif _DELIVERS.fullmatch(resource) and name not in ("DeliveryStreamName", "Record"):
        return "is not an argument of putRecord; it has DeliveryStreamName and Record"
    return None


def _payload(arguments: Any) -> Any:
    """Return what a function of Lambda gets, of what the Arguments of lambda:invoke gave."""
    if not isinstance(arguments, dict):
        raise TaskFailed(
            "Lambda.InvalidParameterValueException",
            f"the Arguments must be an object with FunctionName and Payload, found {kind_of(arguments)}",
        )
    return arguments.get("Payload", {})


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failure:
        return f"its message cannot be read: {type(failure).__name__}"


def encodable(text: Any) -> str:
    """Return a text without half characters, which neither a table nor JSONata holds."""
    return str(text).encode("utf-8", "replace").decode()


def _json(value: Any, what: str) -> str:
    """Return a function's result as JSON.

    Raises:
        TaskFailed: it is not JSON, or too large.
    """
    try:
        text = jsons.text(value)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise TaskFailed("Runtime.MarshalError", f"the result of {what} is not JSON: {error}") from error
    if size > MOST_BYTES:
        raise TaskFailed(
            "States.DataLimitExceeded",
            f"the result of {what} has {size:,} bytes; at most {MOST_BYTES:,} are taken",
        )
    return text


def kind_of(value: Any) -> str:
    """Return what JSON calls a value."""
    return types.kind(value)
