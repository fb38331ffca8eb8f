"""Checks that can fail: what must hold, found against expected, and the run fails when it does not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from workbench import results, show


class CheckFailed(AssertionError):
    """A check did not hold; the message names it, what was found and what was expected."""


@dataclass(frozen=True)
class Verdict:
    """What an audit says of a set of rows; what asks for one (the gate) need not know who gave it.

    Attributes:
        passed: whether the rows may go on.
        rules: the text that was applied; its checksum becomes part of the evidence.
        figures: name to number or text, what was measured on the way.
        reasons: why it failed, one sentence each; empty when it passed.
        quarantined: DataFrame of the rows that must not go on, with the rules that each failed; None when the
            audit does not tell rows apart.

    Raises:
        ValueError: one of them is of another kind; it is refused here because the gate would notice too late.
    """

    passed: bool
    rules: str
    figures: Mapping[str, int | float | Decimal | str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    quarantined: Any = None

    def __post_init__(self):
        if not isinstance(self.passed, bool):
            raise ValueError(f"a Verdict's passed is True or False, not {self.passed!r}")
        if not isinstance(self.rules, str) or not self.rules.strip():
            raise ValueError("a Verdict's rules is the text that was applied; it is empty or no text")
        if not isinstance(self.figures, Mapping):
            raise ValueError(f"a Verdict's figures are numbers or texts by name, not {self.figures!r}")
        for name, value in self.figures.items():
            if not isinstance(name, str) or not isinstance(value, int | float | Decimal | str):
                raise ValueError(f"a Verdict's figures are numbers or texts by name, not {name!r}: {value!r}")
        if not isinstance(self.reasons, list | tuple) or not all(isinstance(one, str) for one in self.reasons):
            raise ValueError(f"a Verdict's reasons are a tuple of sentences, not {self.reasons!r}")
        if self.quarantined is not None and not hasattr(self.quarantined, "writeTo"):
            raise ValueError(
                f"a Verdict's quarantined is a DataFrame of the refused rows, not {self.quarantined!r}"[:300]
            )


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
    found, expected = _comparable(name, found), _comparable(name, expected)
    if found is None and expected is None:
        raise ValueError(f"{name}: both values are None, so nothing was compared")
    if tolerance:
        numbers = all(
            isinstance(v, int | float | Decimal) and v is not True and v is not False for v in (found, expected)
        )
        if isinstance(tolerance, bool) or not 0 < tolerance < math.inf or not numbers:
            raise ValueError(f"{name}: a tolerance is a finite number, and goes with two numbers")
        passed = abs(Decimal(str(found)) - Decimal(str(expected))) <= Decimal(str(tolerance))
    else:
        passed = _typed(found) == _typed(expected)
    results.check(name, found, expected, passed)
    if not passed:
        raise CheckFailed(f"{name}: found {results.plain(found)!r}, expected {results.plain(expected)!r}")
    print(f"ok  {name}: {_text(found)}")


def _comparable(name, value):
    """Return a value of plain kinds; NaN, which equals nothing, and what is no value (a frame) are refused."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # numpy's numbers
        value = value.item()
    if isinstance(value, list | tuple):
        return [_comparable(name, item) for item in value]
    if isinstance(value, dict):
        return {key: _comparable(name, item) for key, item in value.items()}
    if isinstance(value, float | Decimal) and math.isnan(value):
        raise ValueError(f"{name}: NaN equals nothing")
    if value is None or isinstance(value, int | float | Decimal | str | date):
        return value
    raise ValueError(
        f"{name}: a {type(value).__name__} is no value to compare; give numbers, texts, lists or dicts"
    )


def _typed(value):
    """Return a value in which a boolean does not equal a number, as Python's do."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return {key: _typed(item) for key, item in value.items()} if isinstance(value, dict) else value


def _text(value):
    """Return a value as a line shows it: a dict by its keys in order, because Spark's rows come in any order."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {_text(value[key])}" for key in sorted(value, key=str)) or "nothing"
    if isinstance(value, list | tuple):
        return " · ".join(map(_text, value)) or "nothing"
    return show.cell(results.plain(value), digits=6)
