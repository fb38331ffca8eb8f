"""Wrong arguments, refused by a sentence before anything is done: what was given, and what was expected."""

import math
import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from workbench._base.errors import ArgumentError


def whole(name: str, value: Any, least: int, why: str) -> None:
    """Refuse what is not a whole number of at least `least`.

    Raises:
        ValueError: with the argument, its value and `why`.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentError(f"{name} is {value!r}, expected a whole number: {why}")
    if value < least:
        raise ArgumentError(f"{name} is {value}: {why}")


def kind(name: str, value: Any, kinds: Any, what: str) -> None:
    """Refuse an argument of another type.

    Args:
        name: the argument's.
        value: it.
        kinds: its type, or several (`str | Path`).
        what: in words, for the message.

    Raises:
        ValueError: with the argument, its type and what was expected.
    """
    if not isinstance(value, kinds):
        raise ArgumentError(f"{name} is {type(value).__name__}, expected {what}")


def place(name: str, value: Any, what: str) -> str:
    """Return a location or path as a text.

    Raises:
        ValueError: it is neither, or empty.
    """
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ArgumentError(f"{name} is {value!r}, expected {what}")
    return os.fspath(value)


def texts(name: str, values: Any, what: str) -> tuple[str, ...]:
    """Return several texts as a tuple; a text alone would be taken letter by letter.

    Args:
        name: the argument's.
        values: any collection of them.
        what: they are, in words, for the message.

    Raises:
        ValueError: they are not several, or one is not a text.
    """
    if isinstance(values, str):
        raise ArgumentError(f"{name} must be a list of {what}: write {name}=[{values!r}]")
    if not hasattr(values, "__iter__"):
        raise ArgumentError(f"{name} is {values!r}, expected a list of {what}")
    values = tuple(values)
    for value in values:
        if not isinstance(value, str):
            raise ArgumentError(f"{name} holds {value!r}, which is {type(value).__name__}: {what} are texts")
    return values


def each(name: str, values: Any, kind: Any, what: str) -> tuple[Any, ...]:
    """Return several values of a type as a tuple.

    Args:
        name: the argument's.
        values: any collection of them; a single value is refused.
        kind: their type.
        what: they are, in words, for the message.

    Raises:
        ValueError: they are not several, or one is of another type.
    """
    if isinstance(values, kind | str) or not hasattr(values, "__iter__"):
        raise ArgumentError(f"{name} is {type(values).__name__}, expected a list: {what}")
    values = tuple(values)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, kind):
            raise ArgumentError(f"{name} holds {value!r}, which is {type(value).__name__}, expected {what}")
    return values


def number(name: str, value: Any, least: float = 0, *, endless: bool = False) -> None:
    """Refuse what is not a number of at least `least`; infinity is accepted only where `endless` says so.

    Raises:
        ValueError: with the argument and its value.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not value >= least or (value == math.inf and not endless):  # NaN is not >= anything
        raise ArgumentError(f"{name} is {value!r}, expected a number from {least} on")


def text(name: str, value: Any, what: str) -> None:
    """Refuse what is not a text, or an empty one.

    Raises:
        ValueError: with the argument, its value and what was expected.
    """
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"{name} is {value!r}, expected {what}")


def entries(name: str, mapping: Any, what: str) -> dict[str, str]:
    """Return names with a text each as a dict.

    Args:
        name: the argument's.
        mapping: any mapping.
        what: they are, in words, for the message.

    Raises:
        ValueError: it is not a mapping, or a name or value is not a text.
    """
    if not isinstance(mapping, Mapping):
        raise ArgumentError(f"{name} is {type(mapping).__name__}, expected a dict: {what}")
    for key, value in mapping.items():
        if not isinstance(key, str) or not key or not isinstance(value, str):
            raise ArgumentError(f"{name} holds {key!r}: {value!r}, expected {what}")
    return dict(mapping)
