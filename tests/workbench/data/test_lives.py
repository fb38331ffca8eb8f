import pytest

from workbench.data import lives

SCRIPT = [
    {"a": (1, 1), "b": (1, 1), "c": (1, 1)},
    {"a": (1, 1), "b": None, "c": (2, 1), "d": None},
    {"b": (1, 1), "c": (1, 1)},
]


def test_the_history_of_a_script():
    assert lives.history(SCRIPT) == [
        ("a", 1, 1, None),
        ("b", 1, 1, 2),
        ("b", 1, 3, None),
        ("c", 1, 1, 2),
        ("c", 2, 2, 3),
        ("c", 1, 3, None),
    ]


def test_products_change_in_the_stated_share_and_a_seed_is_one_script():
    script = lives.products(rows=1_000, share=0.1, commits=3, seed=7)
    assert [len(step) for step in script] == [1_000, 100, 100, 100]
    assert script[0]["P0000999"] == (2, 0)
    assert script == lives.products(rows=1_000, share=0.1, commits=3, seed=7)
    assert script != lives.products(rows=1_000, share=0.1, commits=3, seed=8)
    rows = [row for step in script[1:] for row in step.values()]
    assert 10 <= rows.count(None) <= 60 and any(row and row[1] == 0 for row in rows)


def test_planes_that_do_not_fly_are_gone():
    script = lives.planes(commits=2)
    january, february = script[0], script[1]
    assert len(january) == 3_148 and sum(count for count, _ in january.values()) == 26_849
    gone = {key for key, row in february.items() if row is None}
    assert gone and gone == set(january) - {key for key, row in february.items() if row}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: lives.planes(commits=12), "commits must be an integer of at least 0 and of at most 11, found 12"),
        (
            lambda: lives.products(rows=0, share=0.1, commits=1, seed=1),
            "rows must be an integer of at least 1, found 0",
        ),
        (
            lambda: lives.products(rows=1, share=0, commits=1, seed=1),
            "share must be a number above 0 and of at most 1",
        ),
    ],
)
def test_arguments_out_of_range(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
