"""Every function with `@checked` refuses what its annotations do not allow, by the argument's name, before it begins.

The cases are made from the annotations: each argument in turn is wrong, the others are such as they may be.
"""

import dataclasses
import importlib
import inspect
import math
import pkgutil
import types
import typing
from collections.abc import Callable, Hashable, Mapping, Set
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import pydantic
import pytest

import workbench
import workbench_ops
import workbench_proofs
import workbench_standins
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

CAPABILITIES = (
    "anonymity", "archive", "checks", "costs", "dbt", "errata", "formats", "history", "light", "light.functions", "maps", "plots", "predictions", "pulls", "pulls.analytics", "pulls.sheets", "quality", "sql", "streams", "tables.browse", "tables.changes", "tables.commits", "tables.doctor", "tables.joins", "tables.maintenance", "tables.publication", "tables.upserts", "wap",
)  # fmt: skip
UNCHECKED = {
    "workbench.tables.commits.tip",  # of a table that is loaded: Java's objects have no type to hold
    "workbench.light.query",  # pydantic's import would be a sixth of a cold answer
}
PLAIN = {
    str: "a",
    int: 1,
    float: 1.0,
    bool: True,
    bytes: b"a",
    type(None): None,
    Path: Path(),
    date: date(2026, 1, 31),
    datetime: datetime.now(UTC),
}


class Wrong:
    """A value of no type that any argument has."""

    def __repr__(self):
        return "a wrong value"


def modules():
    for package in (workbench, workbench_ops, workbench_proofs, workbench_standins):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            # the generated parser, and programs that begin at import
            if ".DataQuality" not in found.name and not found.name.endswith("__main__"):
                yield found.name


def is_checked(value):
    while inspect.isfunction(value):
        if value.__code__.co_qualname == "checked.<locals>.call":
            return True
        value = getattr(value, "__wrapped__", None)  # other decorators may stand above
    return False


def functions():
    """Return the functions of all packages that are checked, by the name of where they are defined."""
    by_name = {}
    for name in modules():
        try:
            module = importlib.import_module(name)
        except ImportError:  # of a kernel like Glue's, or of an extra
            continue
        for value in vars(module).values():
            if is_checked(value) and value.__module__ == name:
                by_name[f"{name}.{value.__qualname__}"] = value
    return by_name


def right(kind):
    """Return a value that an annotation allows."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        value = right(arguments[0])
        bounds = {
            name: getattr(hint, name) for hint in arguments[1:] for name in ("ge", "gt") if hasattr(hint, name)
        }
        return bounds.get("ge", bounds["gt"] + 1 if "gt" in bounds else value)
    if origin is Literal:
        return arguments[0]
    if origin in (Union, types.UnionType):
        return right(arguments[0])
    if kind is Callable or origin is Callable:
        return print
    if origin is type:
        return arguments[0]
    if isinstance(origin, type):
        if issubclass(origin, Mapping):
            return {}
        if issubclass(origin, Set):
            return origin()
        return tuple(map(right, arguments)) if origin is tuple and Ellipsis not in arguments else []
    if kind is Any or not isinstance(kind, type):
        return None
    if inspect.isabstract(kind) and kind.__module__.startswith("workbench"):
        return right(kind.__subclasses__()[0])
    if kind in PLAIN or inspect.isabstract(kind):
        return PLAIN.get(kind)
    if issubclass(kind, pydantic.BaseModel):
        return kind.model_construct(**dict.fromkeys(kind.model_fields))
    value = kind.__new__(kind)
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        object.__setattr__(value, field.name, None)  # a value without its fields cannot be shown
    return value


def wrong(kind):
    """Return values that an annotation does not allow; none where it allows everything."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        bounded = arguments[0] in (int, float) and any(hasattr(hint, "ge") for hint in arguments[1:])
        return [*wrong(arguments[0]), *([-math.inf, math.nan] if bounded and arguments[0] is float else [])]
    if origin in (Union, types.UnionType):
        each = [wrong(argument) for argument in arguments]
        return [Wrong()] if all(each) else []
    if kind in (Any, object, Hashable) or isinstance(kind, typing.TypeVar):
        return []
    return [Wrong(), True, "3"] if kind is int else [Wrong()]


def cases():
    for name, function in functions().items():
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters
        rights = {
            parameter: right(hints.get(parameter, Any))
            for parameter, about in parameters.items()
            if about.default is about.empty and about.kind not in (about.VAR_POSITIONAL, about.VAR_KEYWORD)
        }
        for parameter, about in parameters.items():
            if about.kind in (about.POSITIONAL_OR_KEYWORD, about.KEYWORD_ONLY):
                for value in wrong(hints.get(parameter, Any)):
                    yield pytest.param(
                        function, rights | {parameter: value}, parameter, id=f"{name}-{parameter}-{value!r}"
                    )


@pytest.mark.parametrize(("function", "arguments", "parameter"), cases())
def test_a_wrong_argument_is_refused_by_its_name(function, arguments, parameter):
    with pytest.raises(ArgumentError, match=rf"^{parameter} must be .*, found "):
        function(**arguments)


def test_a_function_that_is_not_checked_is_seen():
    def plain(table: str) -> None:
        return None

    assert not is_checked(plain) and is_checked(checked(plain))
    with pytest.raises(pytest.fail.Exception):
        test_a_wrong_argument_is_refused_by_its_name(plain, {"table": Wrong()}, "table")


def test_what_a_capability_offers_is_checked():
    unchecked = [
        f"workbench.{capability}.{name}"
        for capability in CAPABILITIES
        for name in offered(importlib.import_module(f"workbench.{capability}"))
    ]
    assert {name for name in unchecked if not is_checked(resolve(name))} == UNCHECKED


def offered(module):
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return [
        name for name in names if inspect.isfunction(value := getattr(module, name)) and of_ours(value, module)
    ]


def of_ours(function, module):
    return function.__module__.startswith(module.__name__)


def resolve(name):
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)
