"""Bounds as Iceberg cuts them, by the examples in its own rules: cut, then made greater where that can be."""

import pytest

from workbench.tables.maintenance import arrow

LAST = "\U0010ffff"  # after which there is no character


@pytest.mark.parametrize(
    ("value", "lower", "upper"),
    [
        ("", "", ""),
        ("abc", "abc", "abc"),
        ("abcd", "abcd", "abcd"),
        ("abcde", "abcd", "abce"),
        ("ab\ud7ffcde"[:5], "ab\ud7ffc", "ab\ud7ffd"),
        ("abc\ud7ffe", "abc\ud7ff", "abc\ue000"),  # what stands between is no character
        (f"abc{LAST}e", f"abc{LAST}", "abd"),
        (f"{LAST * 5}", LAST * 4, None),
        ("\U0001f600" * 5, "\U0001f600" * 4, "\U0001f600" * 3 + "\U0001f601"),
    ],
)
def test_texts_are_cut_by_characters(value, lower, upper):
    found = arrow.kept_bounds(value.encode(), value.encode(), "truncate(4)", text=True)
    assert found == (lower.encode(), None if upper is None else upper.encode())
    assert found[0] <= value.encode() and (found[1] is None or value.encode() <= found[1])


@pytest.mark.parametrize(
    ("value", "lower", "upper"),
    [
        (b"abcd", b"abcd", b"abcd"),
        (b"abcde", b"abcd", b"abce"),
        (b"ab\xff\xffe", b"ab\xff\xff", b"ac"),
        (b"\xff" * 5, b"\xff" * 4, None),
    ],
)
def test_bytes_are_cut_by_bytes(value, lower, upper):
    assert arrow.kept_bounds(value, value, "truncate(4)", text=False) == (lower, upper)


def test_a_column_that_has_no_bounds_or_whole_ones():
    assert arrow.kept_bounds(b"abcde", b"x" * 9, "full", text=True) == (b"abcde", b"x" * 9)
    assert arrow.kept_bounds(b"a" * 13, b"b" * 13, "truncate(12)", text=True) == (b"a" * 12, b"b" * 11 + b"c")
    for mode in ("none", "counts"):
        assert arrow.kept_bounds(b"abcde", b"x" * 9, mode, text=True) == (None, None)
    assert arrow.kept_bounds(b"a", b"\xc3", "truncate(4)", text=True) == (
        None,
        None,
    )  # no text, though Spark took it
