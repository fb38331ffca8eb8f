"""A check prints what held, keeps the outcome, and fails when it does not hold."""

from decimal import Decimal

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
