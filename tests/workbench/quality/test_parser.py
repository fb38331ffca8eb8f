"""The committed parser is what ANTLR makes of the grammar in the official jar."""

from dataclasses import replace

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


def labels(text):
    return [dict(rule.labels) for rule in quality.parse(text)]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ('IsUnique "id" labels=["team"="sales"]', 'IsUnique "id"'),
        ('IsUnique "id" where "a > 1" labels = [ "team" = "sales" ]', 'IsUnique "id" where "a > 1"'),
        (
            'ColumnValues "a" > 1 with threshold > 0.8 labels=["team"="sales"]',
            'ColumnValues "a" > 1 with threshold > 0.8',
        ),
        (
            'ColumnValues "a" > 1 labels=["team"="sales"] with threshold > 0.8',
            'ColumnValues "a" > 1 with threshold > 0.8',
        ),
        ('(IsUnique "id") labels=["team"="sales"]', 'IsUnique "id"'),
        ('(IsUnique "id" labels=["team"="sales"])', 'IsUnique "id"'),
        ('(RowCount > 0 AND IsUnique "id") labels=["team"="sales"]', '(RowCount > 0 AND IsUnique "id")'),
        (
            '((RowCount > 0) or (IsUnique "id")) # why\n labels=["team"="sales"]',
            '((RowCount > 0) or (IsUnique "id"))',
        ),
    ],
)
def test_a_rule_has_its_labels_and_its_text_has_none(rule, text):
    """The guide writes them behind `with threshold`, the published grammar before it."""
    found = quality.parse(f"Rules = [ {rule}, RowCount > 5 ]")
    assert [(one.text, one.labels) for one in found] == [(text, (("team", "sales"),)), ("RowCount > 5", ())]
    bare, *_ = quality.parse(f"Rules = [ {text} ]")
    assert bare == replace(found[0], labels=())  # labels change nothing else


def test_default_labels_are_every_rules_and_give_way_to_its_own():
    begin = 'names = ["a"] DefaultLabels=["frequency"="monthly", "Team"=""] '
    rules = """RowCount > 0, ColumnValues "b" in $names labels=["frequency"="daily", "team"="a \\"b\\" = [c]"],
        (RowCount > 1 and IsComplete "a")"""
    assert labels(f"{begin}Rules = [ {rules} ]") == [
        {"frequency": "monthly", "Team": ""},  # a value may be empty, and keys are case sensitive
        {"frequency": "daily", "Team": "", "team": 'a "b" = [c]'},
        {"frequency": "monthly", "Team": ""},
    ]
    (composite,) = quality.parse('DefaultLabels=["a"="b"] Rules = [ (RowCount > 1) and (RowCount > 2) ]')
    assert [part.labels for part in (composite, *composite.parts)] == [(("a", "b"),), (), ()]


TEN = ", ".join(f'"k{n}"="v"' for n in range(10))
JOINED = 'labels belong to all rules that are joined, as in ((rule) and (rule)) labels=["key"="value"]'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('Rules = [ IsComplete "a" labels=[] ]', "the list of labels is empty; leave it out"),
        ("DefaultLabels=[] Rules = [ RowCount > 0 ]", "the list of labels is empty; leave it out"),
        ('Rules = [ RowCount > 0 labels=[""="a"] ]', "the key of a label is empty"),
        ('Rules = [ RowCount > 0 labels=["a"="b", "a"="c"] ]', "the label 'a' is given twice; the keys of labels must be different"),
        (f'Rules = [ RowCount > 0 labels=[{TEN}, "a"="b"] ]', "a rule has at most 10 labels, found 11"),
        (
            f'DefaultLabels=["a"="b"] Rules = [ RowCount > 0 labels=[{TEN}] ]',
            "a rule has at most 10 labels, found 11, 1 of them in DefaultLabels",
        ),
        (f'Rules = [ RowCount > 0 labels=["{"k" * 129}"="v"] ]', "the key of a label has at most 128 characters, found 129"),
        (f'Rules = [ RowCount > 0 labels=["k"="{"v" * 257}"] ]', "the value of a label has at most 256 characters, found 257"),
        ('Rules = [ (RowCount > 0) AND (RowCount > 1) labels=["a"="b"] ]', JOINED),  # as the guide has it
        ('Rules = [ (RowCount > 0 labels=["a"="b"]) AND (RowCount > 1) ]', JOINED),
        ('Rules = [ RowCount > 0 AND RowCount > 1 labels=["a"="b"] ]', JOINED),
        ('Rules = [ ((RowCount > 0) or ((RowCount > 1) labels=["a"="b"])) labels=["a"="b"] ]', JOINED),
        ('Rules = [ (RowCount > 0 labels=["a"="b"]) labels=["c"="d"] ]', "it has labels twice; write one list of them"),
        (
            'Rules = [ Mean "a" > 1 labels=["a"="b"] with threshold > 0.5 labels=["c"="d"] ]',
            "it has labels twice; write one list of them",
        ),
        ('Rules = [ RowCount > 0 label=["a"="b"] ]', "(did you mean labels, not label?)"),
        ('Defaultlabels=["a"="b"] Rules = [ RowCount > 0 ]', "(did you mean DefaultLabels, not Defaultlabels?)"),
    ],
)  # fmt: skip
def test_labels_that_the_language_does_not_have(text, sentence):
    with pytest.raises(ValueError) as refused:
        quality.parse(text)
    assert sentence in str(refused.value)


def test_ten_labels_that_override_each_other_are_ten():
    assert labels(f"DefaultLabels=[{TEN}] Rules = [ RowCount > 0 labels=[{TEN}] ]") == [
        {f"k{n}": "v" for n in range(10)}
    ]


def test_a_grammar_that_the_edits_were_not_made_for_is_refused():
    with pytest.raises(ValueError, match="the grammar has 'whereClause.*' 0 times, expected once"):
        generate.with_labels("grammar Other;")
