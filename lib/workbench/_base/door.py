"""Arguments that are not what a function's annotations say, refused by a sentence before anything is done.

    @checked
    def write(spark: SparkSession, table: str, *, tries: Annotated[int, Ge(1)] = 5) -> None: ...

    write(spark, "sales.orders", tries=True)  # ArgumentError: tries must be an integer of at least 1, found True

Types are held strictly: no text for a number, no True for 1; a number may be NumPy's. Arguments are passed on as
they were given. Types that are imported for a type checker only cannot be held; `_base.typing` has PySpark's. Of a
dict pydantic would make a model of its own: such a parameter is `pydantic.InstanceOf[Model]`.
"""

import collections.abc
import datetime
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union

from workbench._base.errors import ArgumentError

P = ParamSpec("P")
T = TypeVar("T")
_WORDS = {
    int: "an integer", float: "a number", str: "a text", bool: "True or False", bytes: "bytes", type(None): "None",
    datetime.datetime: "a datetime", datetime.date: "a date", datetime.timedelta: "a timedelta", Path: "a path",
}  # fmt: skip
_SEVERAL = {
    int: "integers",
    float: "numbers",
    str: "texts",
    bool: "True or False",
    bytes: "bytes",
    tuple: "tuples",
    type(None): "None",
}
_BOUNDS = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}
_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL,
)  # fmt: skip
_LONGEST = 120  # characters of a value in a message


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that refuses arguments of other types than its annotations say.

    What is refused is an ArgumentError: the argument, what it must be, what was found. The check is built at the
    first call, never at import.
    """
    build = functools.cache(lambda: _check_of(function))

    @functools.wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        import pydantic

        try:
            build()(*map(_plain, arguments), **{name: _plain(value) for name, value in named.items()})
        except pydantic.ValidationError as error:
            sentence = _sentence(function, arguments, named, error.errors(include_url=False)[0])
        else:
            return function(*arguments, **named)
        raise ArgumentError(sentence)

    return call


def _check_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return pydantic's check of a function's arguments, of a function that does nothing with them."""
    import pydantic

    @functools.wraps(function)
    def nothing(*arguments: Any, **named: Any) -> None:
        return None

    signature = inspect.signature(function)
    # pydantic would copy the defaults at each call, and not all of them can be copied
    parameters = [
        parameter if parameter.default is parameter.empty else parameter.replace(default=None)
        for parameter in signature.parameters.values()
    ]
    vars(nothing)["__signature__"] = signature.replace(parameters=parameters)
    return pydantic.validate_call(config=pydantic.ConfigDict(strict=True, arbitrary_types_allowed=True))(nothing)


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's, and a read-only mapping, which pydantic cannot copy, as a dict."""
    if isinstance(value, types.MappingProxyType):
        return dict(value)
    if isinstance(value, int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _sentence(
    function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any], error: Any
) -> str:
    """Return what an error of pydantic says of a function's arguments, in our words."""
    parameters = inspect.signature(function).parameters
    at = error["loc"][0]
    positional = [name for name, parameter in parameters.items() if parameter.kind in _POSITIONAL]
    name = positional[min(at, len(positional) - 1)] if isinstance(at, int) else str(at)
    if error["type"] == "unexpected_keyword_argument":
        return f"{function.__name__} has no argument {name}; it has {', '.join(parameters)}"
    if error["type"] == "unexpected_positional_argument":
        return f"{function.__name__} was given too many arguments without a name; it has {', '.join(parameters)}"
    if error["type"] == "multiple_argument_values":
        return f"{name} was given twice"
    expected = described(typing.get_type_hints(function, include_extras=True).get(name, Any))
    if error["type"].startswith("missing"):
        return f"{name} is missing: it must be {expected}"
    given = inspect.signature(function).bind(*arguments, **named).arguments[name]
    inside = given is not error["input"] and not isinstance(given, Real)
    return f"{name} must be {expected}, found {_shown(error['input'])}{' in it' if inside else ''}"


def described(kind: Any) -> str:
    """Return in words what a type allows."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        bounds = [f"{word} {value}" for name, word in _BOUNDS.items() for value in _bounds(arguments[1:], name)]
        bounds += [f"of at least {n} character{'s' * (n > 1)}" for n in _bounds(arguments[1:], "min_length")]
        return " ".join([described(arguments[0]), " and ".join(bounds)]).strip()
    if origin is Literal:
        return _listed([repr(value) for value in arguments])
    if origin in (Union, types.UnionType):
        return _listed([described(argument) for argument in arguments])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, value = arguments
        return f"a dict of {_several(key)} to {_several(value)}"
    if origin is collections.abc.Callable or kind is Callable:
        return "a function"
    if isinstance(origin, type) and arguments:
        kinds = {collections.abc.Sequence: "a list of", collections.abc.Set: "a set of"}
        several = next((words for kind, words in kinds.items() if issubclass(origin, kind)), "several")
        return f"{several} {_several(arguments[0])}"
    return str(_WORDS.get(kind) or getattr(kind, "__name__", kind))


def _several(kind: Any) -> str:
    if typing.get_origin(kind) is Annotated:
        plain = typing.get_args(kind)[0]
        return described(kind).replace(described(plain), _several(plain))
    if typing.get_origin(kind) in (Union, types.UnionType):
        return _listed([_several(argument) for argument in typing.get_args(kind)])
    if typing.get_origin(kind) is Literal:
        return described(kind)
    kind = typing.get_origin(kind) or kind
    return "values" if kind is Any else _SEVERAL.get(kind) or str(getattr(kind, "__name__", kind))


def _bounds(hints: Iterable[Any], name: str) -> list[Any]:
    return [value for hint in hints if (value := getattr(hint, name, None)) is not None]


def _listed(words: list[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _shown(value: object) -> str:
    """Return a value as a message shows it."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({type(value).__name__})"
