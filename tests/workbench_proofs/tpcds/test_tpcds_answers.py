"""An answer in normal form, and what its hash does and does not tell apart."""

import datetime
from decimal import Decimal as D

import pyarrow as pa
import pytest
from tpcds_rows import answer

from workbench_proofs.tpcds import answers
from workbench_proofs.tpcds.answers import Answer, Column


def test_types_of_all_engines_come_to_the_same_kinds():
    table = pa.table(
        {
            "bigint": pa.array([1, None], pa.int64()),
            "hugeint": pa.array([D(2), None], pa.decimal128(38, 0)),
            "money": pa.array([D("1.50"), None], pa.decimal128(7, 2)),
            "double": pa.array([-0.0, None], pa.float64()),
            "name": pa.array(["x", None], pa.large_string()),
            "day": pa.array([datetime.date(2000, 1, 31), None]),
            "so": pa.array([True, None]),
            "nothing": pa.nulls(2),
        }
    )
    assert answers.of(table) == Answer(
        (
            Column("bigint", "whole"), Column("hugeint", "whole"), Column("money", "decimal", 2),
            Column("double", "float"), Column("name", "text"), Column("day", "date"), Column("so", "truth"),
            Column("nothing", "void"),
        ),
        ((1, 2, D("1.50"), 0.0, "x", datetime.date(2000, 1, 31), True, None), (None,) * 8),
    )  # fmt: skip
    assert type(answers.of(table).rows[0][1]) is int and str(answers.of(table).rows[0][3]) == "0.0"
    assert answers.of(table.slice(0, 0)).rows == ()


def test_a_type_no_answer_has_is_refused():
    with pytest.raises(ValueError, match="column l is of type list<item: int64>, which no answer of the set has"):
        answers.of(pa.table({"l": [[1]]}))


def test_the_hash_of_an_answer_stays():
    found = answer("whole text decimal.2 float date", (1, "x", D("1.50"), 0.5, datetime.date(2000, 1, 31)))
    assert answers.digest(found) == "b4551a367f844a991039bd9bd3de788035656dc97f1b12162380526df1ed0cae"


@pytest.mark.parametrize(
    ("kinds", "one", "other"),
    [
        ("whole", [(1,), (2,)], [(2,), (1,)]),
        ("whole", [(1,)], [(1,), (1,)]),
        ("text whole", [(None, 0)], [("", 0)]),
        ("text", [("null",)], [(None,)]),
        ("whole", [(None,)], [(0,)]),
        ("decimal.2", [(D("1.50"),)], [(D("1.51"),)]),
        ("float", [(1.0000000000001,)], [(1.0000000000002,)]),
        ("text text", [("a", "bc")], [("ab", "c")]),
    ],
)
def test_other_answers_have_other_hashes(kinds, one, other):
    assert answers.digest(answer(kinds, *one)) != answers.digest(answer(kinds, *other))


def test_scales_and_kinds_are_hashed_and_names_are_not():
    money = answers.digest(answer("decimal.2", (D("1.50"),)))
    assert answers.digest(Answer((Column("sum(x)", "decimal", 2),), ((D("1.50"),),))) == money
    assert answers.digest(answer("decimal.3", (D("1.500"),))) != money
    assert answers.digest(answer("text", ("1",))) != answers.digest(answer("whole", (1,)))


def test_the_noise_of_a_float_is_not_hashed():
    assert answers.digest(answer("float", (0.1 + 0.2,))) == answers.digest(answer("float", (0.3,)))


@pytest.mark.parametrize(
    ("kinds", "rows", "expected"),
    [
        ("whole", [], True),
        ("whole decimal.2 float", [(None, D("0.00"), 0.0)], True),
        ("whole", [(0,), (1,)], False),
        ("text", [("",)], False),
        ("truth", [(False,)], False),
        ("date", [(datetime.date(2000, 1, 31),)], False),
    ],
)
def test_vacuous_is_empty_or_only_null_and_0(kinds, rows, expected):
    assert answers.vacuous(answer(kinds, *rows)) is expected
