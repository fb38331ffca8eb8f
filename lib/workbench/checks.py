"""Checks that can fail: what must hold, found against expected, and the run fails when it does not."""

import math

from workbench import results, show


class CheckFailed(AssertionError):
    """A check did not hold; the message names it, what was found and what was expected."""


def require(name, found, expected, *, tolerance=0):
    """Require that a found value equals the expected one; print a line, keep the outcome for the run record.

    Args:
        name: what must hold, in a few words; unique in the notebook.
        found: the value by the first route: number, text, boolean, Decimal, or a list or dict of those.
        expected: the value by the second route.
        tolerance: for numbers, the largest accepted absolute difference; 0 asks for equality.

    Raises:
        CheckFailed: they differ.
        ValueError: nothing was compared (both are None), or a value has a time-out, NaN, for a number.
    """
    if found is None and expected is None:
        raise ValueError(f"{name}: both values are None, so nothing was compared")
    if any(isinstance(value, float) and math.isnan(value) for value in (found, expected)):
        raise ValueError(f"{name}: NaN equals nothing; found {found!r}, expected {expected!r}")
    passed = bool(abs(found - expected) <= tolerance if tolerance else found == expected)
    results.check(name, found, expected, passed)
    if not passed:
        raise CheckFailed(f"{name}: found {results.plain(found)!r}, expected {results.plain(expected)!r}")
    print(f"ok  {name}: {_text(found)}")


def _text(value):
    """Return a value as a line shows it: a dict by its keys in order, because Spark's rows come in any order."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {_text(value[key])}" for key in sorted(value, key=str)) or "nothing"
    if isinstance(value, list | tuple):
        return " · ".join(map(_text, value)) or "nothing"
    return show.cell(results.plain(value), digits=6)
