"""Wrong arguments, refused by a sentence before anything is done: what was given, and what was expected."""

import math
import os
from collections.abc import Mapping
from numbers import Integral, Real

from workbench._base.errors import ArgumentError


def whole(name, value, least, why):
    """Refuse what is no whole number from `least` on.

    Raises:
        ValueError: with the argument, its value and `why`.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentError(f"{name} is {value!r}, expected a whole number: {why}")
    if value < least:
        raise ArgumentError(f"{name} is {value}: {why}")


def kind(name, value, wanted, what):
    """Refuse an argument of another type.

    Args:
        name: the argument's.
        value: it.
        wanted: its type, or several (`str | Path`).
        what: in words, for the message.

    Raises:
        ValueError: with the argument, its type and what was expected.
    """
    if not isinstance(value, wanted):
        raise ArgumentError(f"{name} is {type(value).__name__}, expected {what}")


def place(name, value, what):
    """Return a location or path as a text.

    Raises:
        ValueError: it is none, or empty.
    """
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ArgumentError(f"{name} is {value!r}, expected {what}")
    return os.fspath(value)


def texts(name, given, what):
    """Return several texts as a tuple; a text alone would be taken letter by letter.

    Args:
        name: the argument's.
        given: any collection of them.
        what: they are, in words, for the message.

    Raises:
        ValueError: they are not several, or one is no text.
    """
    if isinstance(given, str):
        raise ArgumentError(f"{what} are several: say {name}=[{given!r}]")
    if not hasattr(given, "__iter__"):
        raise ArgumentError(f"{name} is {given!r}, expected several {what}")
    given = tuple(given)
    for one in given:
        if not isinstance(one, str):
            raise ArgumentError(f"{name} holds {one!r}, which is {type(one).__name__}: {what} are texts")
    return given


def each(name, given, wanted, what):
    """Return several values of a type as a tuple.

    Args:
        name: the argument's.
        given: any collection of them; one alone is refused.
        wanted: their type.
        what: they are, in words, for the message.

    Raises:
        ValueError: they are not several, or one is of another type.
    """
    if isinstance(given, wanted | str) or not hasattr(given, "__iter__"):
        raise ArgumentError(f"{name} is {type(given).__name__}, expected several: {what}")
    given = tuple(given)
    for one in given:
        if isinstance(one, bool) or not isinstance(one, wanted):
            raise ArgumentError(f"{name} holds {one!r}, which is {type(one).__name__}, expected {what}")
    return given


def flag(name, value):
    """Refuse what is neither True nor False: the text "false" would count as True.

    Raises:
        ValueError: with the argument and its value.
    """
    if not isinstance(value, bool):
        raise ArgumentError(f"{name} is {value!r}, expected True or False")


def number(name, value, least=0, *, endless=False):
    """Refuse what is no number from `least` on; an endless one only goes where it has a meaning.

    Raises:
        ValueError: with the argument and its value.
    """
    wrong = isinstance(value, bool) or not isinstance(value, Real) or not value >= least  # NaN is neither
    if wrong or (value == math.inf and not endless):
        raise ArgumentError(f"{name} is {value!r}, expected a number from {least} on")


def text(name, value, what):
    """Refuse what is no text, or an empty one.

    Raises:
        ValueError: with the argument, its value and what was expected.
    """
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"{name} is {value!r}, expected {what}")


def function(name, value, what):
    """Refuse what cannot be called, as the result of a call that was made already.

    Raises:
        ValueError: with the argument, its type and what was expected.
    """
    if not callable(value):
        raise ArgumentError(f"{name} is {type(value).__name__}, expected {what}")


def entries(name, given, what):
    """Return names with a text each as a dict.

    Args:
        name: the argument's.
        given: any mapping.
        what: they are, in words, for the message.

    Raises:
        ValueError: it is no mapping, or a name or value is no text.
    """
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name} is {type(given).__name__}, expected a dict: {what}")
    for key, value in given.items():
        if not isinstance(key, str) or not key or not isinstance(value, str):
            raise ArgumentError(f"{name} holds {key!r}: {value!r}, expected {what}")
    return dict(given)
