"""Each verdict from an answer that was planted for it; whatever else changes is "different"."""

from decimal import Decimal as D

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tpcds_rows import answer, oracle

from workbench_proofs.tpcds import verdicts
from workbench_proofs.tpcds.verdicts import Judgement, compare

TRUTH = (("a", 1), ("b", 2), ("c", 3))


def test_equal():
    found = compare(answer("text whole", *TRUTH), oracle("text whole", *TRUTH, keys=[0]))
    assert found == Judgement("equal", "3 rows in the same order")
    assert found.verified


@pytest.mark.parametrize(
    ("kinds", "mine", "theirs"),
    [
        ("decimal.6 float", D("0.333333"), 1 / 3),
        ("decimal.17 float", D("66.66666666666666667"), 200 / 3),
        ("decimal.2 decimal.6", D("1.24"), D("1.235000")),
        ("decimal.6 decimal.2", D("1.240000"), D("1.24")),
        ("decimal.3 decimal.2", D("1.240"), D("1.24")),
        ("whole decimal.2", 7, D("7.00")),
        ("float whole", 7.0, 7),
        ("decimal.2 float", D("-0.13"), -0.125),
    ],
)
def test_same_value_in_another_scale(kinds, mine, theirs):
    ours, other = kinds.split()
    found = compare(answer(ours, (mine,)), oracle(other, (theirs,)))
    assert found == Judgement(
        "same value in another scale",
        f"1 rows; the first in another scale: row 1, column 1: {mine}, {theirs}",
    )


@pytest.mark.parametrize(
    ("kinds", "mine", "theirs"),
    [
        ("decimal.6 float", D("0.333334"), 1 / 3),
        ("decimal.6 float", D("0.333332"), 1 / 3),
        ("decimal.2 decimal.6", D("1.23"), D("1.235000")),  # cut, by an engine that rounds
        ("decimal.2 decimal.2", D("1.23"), D("1.24")),
        ("whole decimal.2", 5, D("5.49")),  # an integer division is no scale
        ("whole float", 5, 5.49),
        ("float float", 0.3333333333, 1 / 3),
        ("decimal.2 float", D("1.00"), float("nan")),
        ("decimal.2 float", D("0.00"), None),
        ("whole whole", None, 0),
        ("text text", "a", "a "),
        ("decimal.2 float", D("1.00"), float("inf")),
        ("float float", float("inf"), 5.0),
        ("float float", 5.0, float("-inf")),
        ("float float", float("inf"), float("-inf")),
    ],
)
def test_a_digit_that_does_not_agree_is_different(kinds, mine, theirs):
    ours, other = kinds.split()
    found = compare(answer(ours, (mine,)), oracle(other, (theirs,)))
    assert found == Judgement("different", f"row 1, column 1 (a): found {mine}, expected {theirs}")
    assert not found.verified


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (D("0.666666"), 2 / 3, "same value in another scale"),
        (D("-0.666666"), -2 / 3, "same value in another scale"),
        (D("0.666667"), 2 / 3, "different"),
        (D("0.666665"), 2 / 3, "different"),
        (D("0.500000"), 0.5, "same value in another scale"),
        (D("0.666666"), -2 / 3, "different"),
    ],
)
def test_an_engine_that_cuts_is_held_to_cutting(mine, theirs, expected):
    found = compare(answer("decimal.6", (mine,)), oracle("float", (theirs,)), shortens="cut")
    assert found.kind == expected


@pytest.mark.parametrize(("shortens", "kept"), [("rounded", D("1.24")), ("cut", D("1.23"))])
def test_a_decimal_cut_and_a_decimal_rounded(shortens, kept):
    theirs = oracle("decimal.6", (D("1.235000"),))
    found = {
        two: compare(answer("decimal.2", (two,)), theirs, shortens=shortens).kind for two in (D("1.23"), D("1.24"))
    }
    assert found.pop(kept) == "same value in another scale"
    assert list(found.values()) == ["different"]


def test_floats_are_equal_up_to_their_noise():
    found = compare(
        answer("float", (0.1 + 0.2,), (float("nan"),)), oracle("float", (0.3,), (float("nan"),), keys=[])
    )
    assert found == Judgement("equal", "2 rows in the same order")


def test_infinity_is_a_value_of_its_own():
    rows = (("a", float("-inf")), ("b", 5.0), ("c", float("inf")))
    assert compare(answer("text float", *rows), oracle("text float", *rows, keys=[1])).kind == "equal"
    moved = answer("text float", rows[1], rows[0], rows[2])
    assert compare(moved, oracle("text float", *rows, keys=[1])).kind == "different"  # no peers


def test_only_order_among_peers():
    rows = (("a", 1), ("a", 2), ("b", 3))
    swapped = answer("text whole", rows[1], rows[0], rows[2])
    assert compare(swapped, oracle("text whole", *rows, keys=[0])) == Judgement(
        "only order", "3 rows; row 1 is the first that changed places with a peer"
    )
    assert compare(swapped, oracle("text whole", *rows, keys=[0, 1])) == Judgement(
        "different", "row 1 (a, 2) stands where ORDER BY wants (a, 1)"
    )


def test_without_order_by_any_order_will_do():
    found = compare(answer("text whole", *reversed(TRUTH)), oracle("text whole", *TRUTH))
    assert found.kind == "only order"


def test_a_row_that_comes_too_often_is_different():
    mine = answer("text whole", TRUTH[0], TRUTH[0], TRUTH[2])
    assert compare(mine, oracle("text whole", *TRUTH)) == Judgement(
        "different", "row 2 (a, 1) comes more often than expected"
    )


def test_noise_in_a_sort_key_leaves_the_next_keys_without_a_say():
    """Both sort by ratio, name; the ratios of x and y are one number, of which the oracle sees the noise."""
    rows = (("y", 0.1 + 0.2 - 2e-16), ("x", 0.1 + 0.2), ("z", 0.7))
    mine = answer("text decimal.6", ("x", D("0.300000")), ("y", D("0.300000")), ("z", D("0.700000")))
    assert compare(mine, oracle("text float", *rows, keys=[1, 0])).kind == "only order"
    wrong = answer("text decimal.6", ("z", D("0.700000")), ("x", D("0.300000")), ("y", D("0.300000")))
    assert compare(wrong, oracle("text float", *rows, keys=[1, 0])).kind == "different"


FULL = (("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 2))


def limited(*mine, full=FULL, mine_full=FULL):
    """Compare with what LIMIT 3 left of FULL, sorted by the number alone."""
    return compare(
        answer("text whole", *mine),
        oracle("text whole", *full[:3], keys=[1], limit=3),
        unlimited=lambda: (answer("text whole", *mine_full), oracle("text whole", *full, keys=[1])),
    )


def test_tie_at_the_limit():
    assert limited(("b", 1), ("a", 1), ("e", 2)) == Judgement(
        "tie at the limit",
        "3 of 5 rows, which are equal without LIMIT; row 3, column 1 (a): found e, expected c",
    )
    assert limited(("b", 1), ("a", 1), ("c", 2)).kind == "only order"


@pytest.mark.parametrize(
    ("mine", "mine_full", "sentence"),
    [
        ([("a", 1), ("c", 2), ("d", 2)], FULL, "equal without LIMIT, but LIMIT may not keep row 2"),
        ([("a", 1), ("b", 1), ("f", 2)], FULL, "equal without LIMIT, but LIMIT may not keep row 3"),
        ([("a", 1), ("b", 1), ("b", 1)], FULL, "equal without LIMIT, but LIMIT may not keep row 3"),
        ([("a", 1), ("b", 1), ("e", 2)], (*FULL[:4], ("e", 3)), "without LIMIT too: row 5, column 2 (b): found 3"),
    ],
)
def test_what_limit_may_not_keep_is_different(mine, mine_full, sentence):
    found = limited(*mine, mine_full=mine_full)
    assert found.kind == "different"
    assert sentence in found.sentence


def test_a_tie_is_not_taken_on_trust():
    mine = answer("text whole", ("a", 1), ("b", 1), ("e", 2))
    assert compare(mine, oracle("text whole", *FULL[:3], keys=[1], limit=3)).kind == "different"


def test_fewer_rows_than_the_limit_leave_no_tie():
    """Three rows under LIMIT 100: nothing was cut off."""
    mine = answer("text whole", ("a", 1), ("b", 1), ("e", 2))
    theirs = oracle("text whole", *FULL[:3], keys=[1], limit=100)
    assert compare(mine, theirs, unlimited=lambda: 1 / 0).kind == "different"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "both answers hold no rows: nothing is verified"),
        ([(None, 0)], "both answers hold only NULL and 0: nothing is verified"),
    ],
)
def test_vacuous(rows, sentence):
    found = compare(answer("text whole", *rows), oracle("text whole", *rows))
    assert found == Judgement("vacuous", sentence)
    assert not found.verified


def test_an_empty_answer_is_vacuous_only_when_the_oracle_is_empty_too():
    assert compare(answer("text whole"), oracle("text whole", *TRUTH)) == Judgement(
        "different", "0 rows, expected 3"
    )
    assert compare(answer("whole", (0,)), oracle("whole", (None,))).kind == "different"
    assert (
        compare(answer("text whole", (None, 0), ("x", 0)), oracle("text whole", (None, 0), ("x", 0))).kind
        == "equal"
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "sentence"),
    [
        ("text", "text whole", "1 columns, expected 2"),
        ("text date", "text whole", "column 2 (b) is date, expected whole"),
        ("truth whole", "text whole", "column 1 (a) is truth, expected text"),
    ],
)
def test_other_columns_are_different(mine, theirs, sentence):
    assert compare(answer(mine), oracle(theirs)) == Judgement("different", sentence)


def test_a_column_of_nothing_but_null_may_have_no_type():
    assert compare(answer("void text", (None, "x")), oracle("date text", (None, "x"))).kind == "equal"


def test_a_verdict_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="'fine' is not a verdict; there are equal"):
        Judgement("fine", "")
    with pytest.raises(ValueError, match="an engine's decimals are rounded or cut, not 'bent'"):
        compare(answer("whole"), oracle("whole"), shortens="bent")


# Tables of any small shape: a number to sort by, a text, a decimal and a float, NULLs among them
CELLS = st.tuples(
    st.one_of(st.none(), st.integers(0, 3)),
    st.one_of(st.none(), st.sampled_from(["", "a", "b", "ab"])),
    st.one_of(st.none(), st.integers(-(10**8), 10**8).map(lambda n: D(n).scaleb(-6))),
    st.one_of(st.none(), st.integers(-(10**6), 10**6).map(lambda n: n / 7)),
)
KINDS = "whole text decimal.6 float"
TABLES = st.lists(CELLS, min_size=1, max_size=8)
KEYS = st.sampled_from([[], [0], [0, 1], [1, 0, 2]])


def in_order(rows, keys):
    """Sort as Spark does: NULL is less than anything."""
    return sorted(
        rows, key=lambda row: [(row[k] is not None, (0, "", D(0))[k] if row[k] is None else row[k]) for k in keys]
    )


def shuffled_peers(rows, keys, random):
    """Shuffle rows whose keys are equal."""
    rows = list(rows)
    random.shuffle(rows)
    return in_order(rows, keys)


@settings(max_examples=60, deadline=None)
@given(TABLES, KEYS, st.randoms(use_true_random=False))
def test_peers_in_any_order_are_the_same_answer(rows, keys, random):
    found = compare(
        answer(KINDS, *shuffled_peers(rows, keys, random)), oracle(KINDS, *in_order(rows, keys), keys=keys)
    )
    assert found.kind in ("equal", "only order", "vacuous")


@settings(max_examples=60, deadline=None)
@given(TABLES, KEYS, st.randoms(use_true_random=False))
def test_fewer_digits_of_the_same_values_are_the_same_answer(rows, keys, random):
    """The engine keeps two decimals of the oracle's six, and three of a float."""
    keys = [key for key in keys if key < 2]
    mine = [
        (
            a,
            b,
            None if c is None else c.quantize(D("0.01"), "ROUND_HALF_UP"),
            None if d is None else D(d).quantize(D("0.001")),
        )
        for a, b, c, d in shuffled_peers(rows, keys, random)
    ]
    theirs = oracle(KINDS, *in_order(rows, keys), keys=keys)
    found = compare(answer("whole text decimal.2 decimal.3", *mine), theirs)
    assert found.kind in ("same value in another scale", "only order", "equal", "vacuous")


@settings(max_examples=100, deadline=None)
@given(TABLES, KEYS, st.randoms(use_true_random=False), st.data())
def test_one_changed_digit_is_different_wherever_it_is(rows, keys, random, data):
    mine = shuffled_peers(rows, keys, random)
    n, column = data.draw(st.integers(0, len(mine) - 1)), data.draw(st.integers(0, 3))
    value = mine[n][column]
    if value is None:
        changed = (0, "", D("0.000000"), 0.0)[column]
    elif column == 1:
        changed = value + "x"
    elif column == 3:
        changed = value * (1 + 1e-10) if value else 1e-10
    else:  # any digit of those there are
        unit = D(1).scaleb(-data.draw(st.integers(0, 6))) if column == 2 else 1
        changed = value + unit
    mine[n] = (*mine[n][:column], changed, *mine[n][column + 1 :])
    found = compare(answer(KINDS, *mine), oracle(KINDS, *in_order(rows, keys), keys=keys))
    assert found.kind == "different", found


@settings(max_examples=60, deadline=None)
@given(TABLES, KEYS, st.integers(1, 8), st.randoms(use_true_random=False), st.booleans())
def test_what_a_limit_cuts_among_peers_is_a_tie_and_nothing_else(rows, keys, limit, random, wrong):
    limit = min(limit, len(rows))
    mine_full, theirs = shuffled_peers(rows, keys, random), in_order(rows, keys)
    mine = mine_full[:limit]
    if wrong:
        mine[-1] = (99, *mine[-1][1:])
    found = compare(
        answer(KINDS, *mine),
        oracle(KINDS, *theirs[:limit], keys=keys, limit=limit),
        unlimited=lambda: (answer(KINDS, *mine_full), oracle(KINDS, *theirs, keys=keys)),
    )
    expected = ("different",) if wrong else ("equal", "only order", "tie at the limit", "vacuous")
    assert found.kind in expected, found


def test_the_matching_moves_rows_that_took_anothers_partner():
    """2.50 fits 2.504 and 2.496; 2.5 fits both only in this order: the first must give its partner up."""
    mine = answer("decimal.2", (D("2.50"),), (D("2.50"),), (D("2.49"),))
    theirs = oracle("decimal.3", (D("2.494"),), (D("2.504"),), (D("2.496"),))
    assert compare(mine, theirs).kind == "only order"
    chain = verdicts.partners([(1.0,), (1.0 + 0.9e-12,)], [(1.0 + 0.8e-12,), (1.0 - 0.9e-12,)], float_column())
    assert chain is None


def float_column():
    from workbench_proofs.tpcds.values import Comparison

    column = answer("float").columns
    return Comparison(column, column)
