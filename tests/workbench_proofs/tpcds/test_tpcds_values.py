"""A value told by two engines in two types: what is right is never different, what is wrong is never equal."""

from decimal import ROUND_DOWN, ROUND_HALF_UP, localcontext
from decimal import Decimal as D
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tpcds_rows import answer, oracle

from workbench_proofs.tpcds.verdicts import compare

WAYS = {"rounded": ROUND_HALF_UP, "cut": ROUND_DOWN}


def told(value, scale, way):
    """Say a fraction with so many decimals, without a float in between."""
    with localcontext(prec=90) as context:
        context.rounding = WAYS[way]
        # a long way beyond the last decimal, cut: what comes after it changes no rounding of these values
        exact = (D(value.numerator) / D(value.denominator)) if value else D(0)
        return exact.quantize(D(1).scaleb(-scale), WAYS[way])


def judged(mine, theirs, shortens):
    """Compare two (kind, value), kinds as "decimal.2" or "float"."""
    return compare(answer(mine[0], (mine[1],)), oracle(theirs[0], (theirs[1],)), shortens=shortens).kind


FRACTIONS = st.tuples(st.integers(-(10**9), 10**9), st.integers(1, 10**4)).map(lambda parts: Fraction(*parts))
SCALES = st.integers(1, 12)
RIGHT = ("equal", "same value in another scale", "vacuous")


@settings(max_examples=200, deadline=None)
@given(FRACTIONS, SCALES, SCALES, st.sampled_from(sorted(WAYS)))
def test_a_right_decimal_is_never_different(value, mine, theirs, way):
    """Each engine drops digits in its own way; the oracle, whose decimals are of exact sums, drops none."""
    exact = Fraction(told(value, theirs, "rounded"))
    pair = [(f"decimal.{mine}", told(exact, mine, way)), (f"decimal.{theirs}", told(exact, theirs, way))]
    assert judged(*pair, shortens=way) in RIGHT


@settings(max_examples=200, deadline=None)
@given(FRACTIONS, SCALES, SCALES, st.sampled_from(sorted(WAYS)), st.sampled_from([-1, 1]))
def test_a_decimal_that_is_one_off_in_its_last_common_digit_is_different(value, mine, theirs, way, off):
    exact = Fraction(told(value, theirs, "rounded"))
    wrong = told(exact, mine, way) + off * D(1).scaleb(-min(mine, theirs))
    pair = (f"decimal.{mine}", wrong), (f"decimal.{theirs}", told(exact, theirs, way))
    assert judged(*pair, shortens=way) == "different"


@settings(max_examples=200, deadline=None)
@given(FRACTIONS, st.integers(1, 6), st.sampled_from(sorted(WAYS)), st.booleans())
def test_a_right_decimal_beside_a_float_is_never_different(value, scale, way, engine_is_float):
    """The engine's decimal is shortened in its way; the oracle's is whole, whatever the engine does."""
    exact = told(value, scale, "rounded" if engine_is_float else way)
    pair = [(f"decimal.{scale}", exact), ("float", float(exact if engine_is_float else value))]
    assert judged(*(reversed(pair) if engine_is_float else pair), shortens=way) in RIGHT


@settings(max_examples=200, deadline=None)
@given(FRACTIONS, st.integers(1, 6), st.sampled_from(sorted(WAYS)), st.booleans(), st.sampled_from([-1, 1]))
def test_a_decimal_that_is_one_off_beside_a_float_is_different(value, scale, way, engine_is_float, off):
    """Two steps, of which one may be the other side of a half; a float near a million has noise in the sixth decimal."""
    assume(abs(value) < 10**5)
    exact = told(value, scale, "rounded" if engine_is_float else way) + 2 * off * D(1).scaleb(-scale)
    pair = [(f"decimal.{scale}", exact), ("float", float(value))]
    assert judged(*(reversed(pair) if engine_is_float else pair), shortens=way) == "different"


@pytest.mark.parametrize(
    ("mine", "theirs", "shortens", "kind"),
    [
        # the oracle has fewer digits because there are no more: an engine that has others made them up
        (("decimal.3", D("1.240")), ("decimal.2", D("1.24")), "cut", "same value in another scale"),
        (("decimal.3", D("1.235")), ("decimal.2", D("1.24")), "cut", "different"),
        (("decimal.6", D("43822.544999")), ("decimal.2", D("43822.54")), "rounded", "different"),
        (("float", 43822.5449), ("decimal.2", D("43822.54")), "rounded", "different"),
        (("float", 43822.54), ("decimal.2", D("43822.54")), "rounded", "same value in another scale"),
        # a decimal of an engine that cuts, with more digits than a float has
        (("decimal.18", D("0.666666666666666666")), ("float", 2 / 3), "cut", "same value in another scale"),
        (("decimal.2", D("-0.66")), ("float", -2 / 3), "cut", "same value in another scale"),
        (("decimal.2", D("0.00")), ("float", -0.004), "cut", "vacuous"),
        # a negative one is not cut beyond zero
        (("decimal.2", D("0.01")), ("float", 0.005), "cut", "different"),
        (("decimal.2", D("-0.01")), ("float", -0.005), "cut", "different"),
        (("decimal.2", D("0.01")), ("float", -0.005), "rounded", "different"),
    ],
)
def test_whose_digits_were_dropped(mine, theirs, shortens, kind):
    assert judged(mine, theirs, shortens) == kind


SCALED = (("a", D("1.24")), ("b", D("2.00")), ("c", D("3.00")))


def test_that_digits_differ_is_said_beside_any_other_verdict():
    """Peers that changed places hid that values agree in another scale only: `exact` figures counted them as exact."""
    theirs = oracle("text decimal.3", *((a, D(f"{b}0")) for a, b in SCALED))
    swapped = compare(answer("text decimal.2", *reversed(SCALED)), theirs)
    assert (swapped.kind, swapped.scaled) == ("only order", True)
    same = compare(answer("text decimal.2", *SCALED), theirs)
    assert (same.kind, same.scaled) == ("same value in another scale", True)
    plain = compare(answer("text decimal.2", *reversed(SCALED)), oracle("text decimal.2", *SCALED))
    assert (plain.kind, plain.scaled) == ("only order", False)


def test_that_digits_differ_is_said_of_a_tie_too():
    full = oracle("text decimal.3", *((a, D(f"{b}0")) for a, b in SCALED))
    cut = oracle("text decimal.3", *full.answer.rows[:2], limit=2)
    for scale, scaled in ((2, True), (3, False)):
        rows = [(a, b.quantize(D(1).scaleb(-scale))) for a, b in SCALED]
        kinds = f"text decimal.{scale}"
        tie = compare(
            answer(kinds, rows[0], rows[2]), cut, unlimited=lambda k=kinds, r=rows: (answer(k, *r), full)
        )
        assert (tie.kind, tie.scaled) == ("tie at the limit", scaled)


TWO_THIRDS = (("b", 0.66666634), ("a", 0.66666667), ("c", 0.9))


@pytest.mark.parametrize(
    ("mine", "kind", "why"),
    [
        (
            (("a", "0.666666"), ("b", "0.666666"), ("c", "0.900000")),
            "only order",
            "one ratio for it, then by name",
        ),
        ((("b", "0.666666"), ("a", "0.666666"), ("c", "0.900000")), "same value in another scale", "by chance"),
        ((("c", "0.900000"), ("a", "0.666666"), ("b", "0.666666")), "different", "its own ratios are not sorted"),
        ((("a", "0.666666"), ("b", "0.666667"), ("c", "0.900000")), "different", "it cuts"),
    ],
)
def test_an_engine_sorts_by_the_digits_that_it_has(mine, kind, why):
    """By ratio, name: what an engine tells with six decimals it cannot sort by the seventh."""
    theirs = oracle("text float", *TWO_THIRDS, keys=[1, 0])
    found = compare(answer("text decimal.6", *((a, D(b)) for a, b in mine)), theirs, shortens="cut")
    assert found.kind == kind, why


def test_an_engine_with_all_digits_sorts_by_them():
    rows = [(name, D(str(ratio))) for name, ratio in TWO_THIRDS]
    theirs = oracle("text float", *TWO_THIRDS, keys=[1, 0])
    assert compare(answer("text decimal.8", *rows), theirs).kind == "same value in another scale"
    assert compare(answer("text decimal.8", rows[1], rows[0], rows[2]), theirs).kind == "different"
