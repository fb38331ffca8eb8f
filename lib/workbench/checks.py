"""Checks that can fail: what must hold, found against expected, and the run fails when it does not."""

import math
from datetime import date
from decimal import Decimal
from typing import Any

from workbench import results, show
from workbench._base import moved
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.verdicts import Verdict

__all__ = ["CheckFailed", "Verdict", "require"]


class CheckFailed(AssertionError):
    """A check did not hold; the message names it, what was found and what was expected."""


@moved.renamed(found="actual")
@checked
def require(name: str, actual: Any, expected: Any, *, tolerance: float | Decimal = 0) -> None:
    """Require that a value equals the expected one; print a line, keep the outcome for the run record.

    Args:
        name: what must hold, in a few words; unique in the notebook.
        actual: the value by the first route: number, text, boolean, Decimal, or a list or dict of those.
        expected: the value by the second route.
        tolerance: for numbers, the largest accepted absolute difference; 0 asks for equality.

    Raises:
        CheckFailed: they differ.
        ValueError: nothing was compared (both are None), or a value is NaN or of a kind that cannot be compared.
    """
    actual, expected = _comparable(name, actual), _comparable(name, expected)
    if actual is None and expected is None:
        raise ArgumentError(f"{name}: both values are None, so nothing was compared")
    if tolerance:
        numbers = all(
            isinstance(value, int | float | Decimal) and value is not True and value is not False
            for value in (actual, expected)
        )
        if isinstance(tolerance, bool) or not 0 < tolerance < math.inf or not numbers:
            raise ArgumentError(f"{name}: a tolerance is a finite number, and goes with two numbers")
        passed = abs(Decimal(str(actual)) - Decimal(str(expected))) <= Decimal(str(tolerance))
    else:
        passed = _typed(actual) == _typed(expected)
    results.check(name, actual, expected, passed)
    if not passed:
        raise CheckFailed(f"{name}: found {results.plain(actual)!r}, expected {results.plain(expected)!r}")
    print(f"ok  {name}: {_text(actual)}")


def _comparable(name: str, value: Any) -> Any:
    """Return a value of plain kinds; refuse NaN, which equals nothing, and what is not one, such as a frame."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # numpy's numbers
        value = value.item()
    if isinstance(value, list | tuple):
        return [_comparable(name, item) for item in value]
    if isinstance(value, dict):
        return {key: _comparable(name, item) for key, item in value.items()}
    if isinstance(value, float | Decimal) and math.isnan(value):
        raise ArgumentError(f"{name}: NaN equals nothing")
    if value is None or isinstance(value, int | float | Decimal | str | date):
        return value
    raise ArgumentError(
        f"{name}: a {type(value).__name__} is not a value to compare; give numbers, texts, lists or dicts"
    )


def _typed(value: Any) -> Any:
    """Return a value in which a boolean does not equal a number, as it does in Python."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return {key: _typed(item) for key, item in value.items()} if isinstance(value, dict) else value


def _text(value: Any) -> str:
    """Return a value as a line shows it: a dict by its keys in order, because Spark's rows come in any order."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {_text(value[key])}" for key in sorted(value, key=str)) or "nothing"
    if isinstance(value, list | tuple):
        return " · ".join(map(_text, value)) or "nothing"
    return show.cell(results.plain(value), digits=6)
