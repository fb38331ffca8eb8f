"""Two values of two engines: identical, the same in another scale, or different."""

import math
from collections.abc import Iterable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from workbench_proofs.tpcds.answers import DECIMAL, FLOAT, NUMBERS, WHOLE, Column, Row

IDENTICAL, OTHER_SCALE = 0, 1
ROUNDED, CUT = "rounded", "cut"
# Relative. Engines add floats in different orders; averages and deviations agree to more digits than this.
FLOAT_TOLERANCE = 1e-12


class Comparison:
    """Rows of two answers with the same number of columns, compared.

    Args:
        mine: columns of the engine's answer.
        theirs: columns of the oracle's.
        shortens: how the engine drops the decimals that it has no room for. The oracle rounds.
        alike: whether values in another scale differ.
    """

    def __init__(
        self, mine: Iterable[Column], theirs: Iterable[Column], shortens: str = ROUNDED, *, alike: bool = False
    ) -> None:
        self.columns, self.shortens, self.alike = tuple(zip(mine, theirs, strict=True)), shortens, alike
        numbers = set(NUMBERS)
        self.exact = tuple(
            n
            for n, (a, b) in enumerate(self.columns)
            if a.kind == b.kind == WHOLE or not {a.kind, b.kind} <= numbers
        )

    def rows(self, mine: Row, theirs: Row) -> int | None:
        """Return IDENTICAL, OTHER_SCALE, or None when a value differs."""
        worst = IDENTICAL
        for n, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            level = self.values(n, a, b)
            if level is None or (self.alike and level != IDENTICAL):
                return None
            worst = max(worst, level)
        return worst

    def values(self, n: int, a: Any, b: Any) -> int | None:
        """Return the same of two values of column n."""
        mine, theirs = self.columns[n]
        if a is None or b is None:
            return IDENTICAL if a is b else None
        if mine.kind not in NUMBERS or theirs.kind not in NUMBERS:
            return IDENTICAL if a == b else None
        return _numbers(a, mine, b, theirs, self.shortens)

    def shortened(self, n: int, value: Any) -> Any:
        """Return the oracle's value of column n with the digits that the engine has there."""
        mine, theirs = self.columns[n]
        fewer = mine.kind == DECIMAL and (
            theirs.kind == FLOAT or (theirs.kind == DECIMAL and mine.scale < theirs.scale)
        )
        if not fewer or value is None or not math.isfinite(value):
            return value
        return _shortened(Decimal(value), mine.scale, self.shortens)

    def fixed(self, row: Row) -> Row:
        """Return the values of a row that must be identical: what partners are looked up by."""
        return tuple(row[n] for n in self.exact)


def near(a: float, b: float) -> bool:
    """Say whether two floats are equal within the tolerance; infinity is near to nothing but itself."""
    return a == b or (a != a and b != b) or abs(a - b) <= FLOAT_TOLERANCE * max(abs(a), abs(b)) < math.inf


def _numbers(a: Any, mine: Column, b: Any, theirs: Column, shortens: str) -> int | None:
    kinds = {mine.kind, theirs.kind}
    if kinds == {FLOAT}:
        return IDENTICAL if near(a, b) else None
    if FLOAT in kinds:
        if mine.kind == FLOAT:  # the oracle's decimals are of exact sums, so none of their digits was dropped
            return OTHER_SCALE if _rounds_to(a, Decimal(b), 0, ROUNDED) else None
        return OTHER_SCALE if _rounds_to(b, Decimal(a), mine.scale, shortens) else None
    if mine.kind == theirs.kind and mine.scale == theirs.scale:
        return IDENTICAL if a == b else None
    if WHOLE in kinds or mine.scale > theirs.scale:  # neither a whole number nor the oracle's lost digits
        return OTHER_SCALE if a == b else None
    return OTHER_SCALE if _shortened(b, mine.scale, shortens) == a else None


def _shortened(value: Decimal, scale: int, shortens: str) -> Decimal:
    with localcontext(prec=80):
        return value.quantize(Decimal(1).scaleb(-scale), ROUND_DOWN if shortens == CUT else ROUND_HALF_UP)


def _rounds_to(value: float, exact: Decimal, scale: int, shortens: str) -> bool:
    """Say whether a float is a decimal before its last digits were dropped, up to the float's own noise."""
    if not math.isfinite(value):
        return False
    with localcontext(prec=80):
        number = Decimal(value)
        noise = abs(number) * Decimal(FLOAT_TOLERANCE)
        unit = Decimal(1).scaleb(-scale) if scale else Decimal(0)  # a whole number dropped nothing
        if shortens == ROUNDED or not unit:
            return abs(number - exact) <= unit / 2 + noise
        further = (number - exact) * (-1 if number < 0 else 1)  # cut is towards zero
        return -noise <= further < unit + noise
