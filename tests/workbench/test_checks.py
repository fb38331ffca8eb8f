"""A check prints what held, keeps the outcome, and fails when it does not hold."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from workbench import checks, results


def test_equal_values_pass_and_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    checks.require("rows", 3, 3)
    assert capsys.readouterr().out == "ok  rows: 3\n"
    assert results.read(tmp_path)["checks"] == [{"name": "rows", "found": 3, "expected": 3, "passed": True}]


def test_a_failing_check_names_both_values_and_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    with pytest.raises(checks.CheckFailed, match=r"^miles: found 1, expected 2$"):
        checks.require("miles", 1, 2)
    assert results.read(tmp_path)["checks"] == [{"name": "miles", "found": 1, "expected": 2, "passed": False}]


@pytest.mark.parametrize(
    ("found", "expected", "tolerance", "passes"),
    [
        ({"a": 1}, {"a": 1}, 0, True),
        ([1, 2], [2, 1], 0, False),
        (Decimal("1.10"), Decimal("1.1"), 0, True),
        (1.0, 1.05, 0.1, True),
        (1.0, 1.2, 0.1, False),
        (None, 0, 0, False),
    ],
)
def test_equality_and_tolerance(found, expected, tolerance, passes):
    if passes:
        checks.require("x", found, expected, tolerance=tolerance)
    else:
        with pytest.raises(checks.CheckFailed):
            checks.require("x", found, expected, tolerance=tolerance)


@pytest.mark.parametrize(("found", "expected"), [(None, None), (float("nan"), 1.0), (1.0, float("nan"))])
def test_what_compares_nothing_is_refused(found, expected):
    with pytest.raises(ValueError):
        checks.require("x", found, expected)


@pytest.mark.parametrize(("found", "expected"), [(True, 1), (0, False), ([True], [1]), ({"a": 1}, {"a": True})])
def test_a_boolean_is_no_number(found, expected):
    with pytest.raises(checks.CheckFailed):
        checks.require("x", found, expected)


NAN = float("nan")


@pytest.mark.parametrize(
    ("found", "expected", "tolerance"),
    [
        ([NAN], [NAN], 0),
        ({"a": NAN}, {"a": NAN}, 0),
        (np.float32("nan"), 1, 0),
        (Decimal("NaN"), 1, 0),
        (np.array([1, 2]), [1, 2], 0),
        (pd.Series([1]), pd.Series([1]), 0),
        ((i for i in [1]), 1, 0),
        (len, len, 0),
        (1, 1, float("inf")),
        (1, 2, True),
        (1, 2, -1),
        (True, False, 1),
        ([1], [1], 0.1),
    ],
)
def test_what_is_no_value_and_no_tolerance_is_refused(found, expected, tolerance):
    with pytest.raises(ValueError):
        checks.require("x", found, expected, tolerance=tolerance)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"passed": "Failed"}, "passed is True or False, not 'Failed'"),
        ({"passed": np.bool_(True)}, "passed is True or False"),
        ({"rules": " "}, "rules is the text that was applied; it is empty or not a text"),
        ({"rules": None}, "rules is the text that was applied"),
        ({"figures": None}, "figures are numbers or texts by name, not None"),
        ({"figures": {"a": [1]}}, r"figures are numbers or texts by name, not 'a': \[1\]"),
        ({"figures": {1: 1}}, "figures are numbers or texts by name, not 1: 1"),
        ({"reasons": "too hot"}, "reasons are a tuple of sentences, not 'too hot'"),
        ({"reasons": (None,)}, r"reasons are a tuple of sentences, not \(None,\)"),
        ({"quarantined": "x"}, "quarantined is a DataFrame of the refused rows, not 'x'"),
    ],
)
def test_a_verdict_is_refused_where_it_is_made(wrong, says):
    assert checks.Verdict(True, "r", {"a": Decimal("1.5"), "b": "x"}, ["r"]).quarantined is None
    with pytest.raises(ValueError, match=f"a Verdict's {says}"):
        checks.Verdict(**{"passed": True, "rules": "r"} | wrong)


def test_numbers_of_numpy_and_decimals_are_values():
    checks.require("a", np.int64(3), 3)
    checks.require("b", np.bool_(True), True)
    checks.require("c", Decimal("0.1"), 0.15, tolerance=0.06)
    checks.require("d", (1, 2), [1, 2])
