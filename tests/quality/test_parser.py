"""The committed parser is what ANTLR makes of the grammar in the official jar."""

import pytest

from workbench import quality
from workbench.quality.dqdl import generate


@pytest.mark.proof(
    "the other tests read their rules by the committed parser; to make it anew takes the jars of ANTLR"
)
def test_the_parser_is_the_grammars(tmp_path):
    from pathlib import Path

    generate.generate(tmp_path)
    here = Path(generate.__file__).parent
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(generate.GENERATED)
    for name in generate.GENERATED:
        assert (tmp_path / name).read_bytes() == (here / name).read_bytes(), f"{name}: run `make quality-parser`"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(A) and (B) or (C)", ["(A) and (B)", "C"]),
        ("(A) or (B) and (C)", ["A", "(B) and (C)"]),
        ("(A) and (B) and (C)", ["A", "B", "C"]),
        ("((A) and (B)) and (C)", ["((A) and (B))", "C"]),
        ("A OR B", ["A", "B"]),
    ],
)
def test_how_rules_are_joined(text, parts):
    full = {"A": "RowCount > 1", "B": 'IsComplete "b"', "C": 'Mean "c" < 3'}

    def spelt(short):
        return "".join(full.get(letter, letter) if letter in "ABC" else letter for letter in short)

    text = text.replace(" OR ", " or ")
    (rule,) = quality.parse(f"Rules = [ {spelt(text)} ]")
    assert (rule.text, [part.text for part in rule.parts]) == (spelt(text), [spelt(part) for part in parts])


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("5", "5"),
        ("-0.25", "-1/4"),
        ("1 + 2 * 3", "9"),
        ("1 + (2 * 3)", "7"),
        ("(3 - 1) / 3", "2/3"),
        ("-3", "-3"),
    ],
)
def test_numbers_are_exact_and_calculated_from_left_to_right(number, value):
    (rule,) = quality.parse(f"Rules = [ RowCount = {number} ]")
    assert [str(operand) for operand in rule.condition.operands] == [value]


def test_a_text_keeps_its_escapes_where_they_mean_something():
    written = r"""Rules = [
        ColumnValues "a\"b" in ["c\"d\\e"],
        ColumnValues "a" matches "\\d+\"\d",
        CustomSql "select \"x\" rlike '\\d' from primary" = 1,
        IsComplete "a" where "b = \"c\\d\"" ]"""
    values, regex, sql, where = quality.parse(written)
    assert (values.parameters, values.condition.operands) == (('"a\\"b"',), ('c"d\\e',))
    assert regex.condition.operands == (r"\\d+\"\d",)
    assert sql.parameters == (r'''"select \"x\" rlike '\\d' from primary"''',)
    assert where.where == r'b = "c\\d"'


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ('IsComplet "id"', "(did you mean IsComplete, not IsComplet?)"),
        ('ColumnValues "a" betwen 1 and 2', "(did you mean between, not betwen?)"),
        ('ColumnValues "a" > 5 wiht threshold > 0.5', "(did you mean with, not wiht?)"),
        ('ColumnValues "a" > 5 with treshold > 0.5', "(did you mean threshold, not treshold?)"),
        ('IsComplete "id" wher "x > 1"', "(did you mean where, not wher?)"),
        ('(IsComplete "id") nd (IsUnique "id")', "(did you mean and, not nd?)"),
    ],
)
def test_a_misspelt_word_is_named_with_what_was_meant(rule, hint):
    with pytest.raises(ValueError) as refused:
        quality.parse(f"Rules = [ RowCount > 0, {rule} ]")
    assert hint in str(refused.value)


@pytest.mark.parametrize("rule", ['Foo "id"', "RowCount > 5 %", 'ColumnValues "a" > 12:30'])
def test_no_word_is_suggested_where_none_is_near(rule):
    with pytest.raises(ValueError) as refused:
        quality.parse(f"Rules = [ {rule} ]")
    assert "did you mean" not in str(refused.value)
