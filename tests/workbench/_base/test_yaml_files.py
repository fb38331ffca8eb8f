"""YAML is read safely, and what would silently be something else is refused with its line."""

import pytest

from workbench._base import yaml_files


def test_a_file_that_cannot_be_read_is_named_once(tmp_path):
    with pytest.raises(ValueError) as refused:
        yaml_files.read(tmp_path / "no.yml")
    assert str(refused.value) == f"{tmp_path / 'no.yml'} cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\na: 2\n", "line 2: a is given twice"),
        ("a: [1\n", "line 2"),
        ("a: 1\nDAY: 2026-13-45\n", "line 2: 2026-13-45 is not a date of the calendar; a text"),
        ("codes: [SE,\n  No]\n", "line 2: No may be a word or a boolean; write true or false"),
        ("a: 1\nb: 12:30.5\n", "line 2: 12:30.5 is not a decimal number"),
        ("a: !!float ''\n", "line 1:  is not a decimal number"),
        (
            "a: [1.5e+400]\n",
            "line 1: 1.5e\\+400 is not a decimal number of 64 bits; write one, or a text in quotes",
        ),
        ("a: -1_0.0e-400\n", "line 1: -1_0.0e-400 is not a decimal number of 64 bits"),
        ("a: !!timestamp x\n", "line 1: x is not a date"),
        ("a: !!bool [1]\n", "line 1: expected a scalar node"),
        ('a: "\\UFFFFFFFF"\n', "x.yml: "),
        ("a: !!python/object/apply:os.system ['true']\n", "could not determine a constructor"),
    ],
)
def test_yaml_is_read_safely_and_strictly(tmp_path, text, sentence):
    path = tmp_path / "x.yml"
    path.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        yaml_files.read(path)


TIMES = [
    "2026-01-31",
    "2026-01-31 10:00:00",
    "2026-01-31T10:00:00",
    "2026-01-31t10:00:00.5",
    "2026-01-31 10:00:00.123456789",
    "2026-01-31T10:00:00Z",
    "2026-01-31 10:00:00 +02:00",
    "2026-1-5 1:02:03",
]


@pytest.mark.parametrize("text", TIMES)
def test_a_date_or_a_time_is_the_text_that_was_written(text):
    assert yaml_files.read_text(f"WHEN: {text}\n", "x.yml") == {"WHEN": text}
    assert yaml_files.read_text(f"days: [{text}]\nby: {{a: {text}}}\n", "x.yml") == {
        "days": [text],
        "by": {"a": text},
    }
    assert yaml_files.read_text(f"? {text}\n: 1\n", "x.yml") == {text: 1}
    with pytest.raises(ValueError, match="is given twice"):
        yaml_files.read_text(f"? {text}\n: 1\n? '{text}'\n: 2\n", "x.yml")


@pytest.mark.parametrize(
    (
        "text",
        "value",
    ),  # what a plain scalar is: YAML 1.1 as PyYAML resolves it; REFUSED where that would be a surprise
    [
        ("abc", "abc"),
        ("'010'", "010"),
        ("!!str 010", "010"),
        ("!!str 2026-01-31", "2026-01-31"),
        ("y", "y"),
        ("NO_", "NO_"),
        ("1e5", "1e5"),
        ("1.2.3", "1.2.3"),
        ("09", "09"),
        ("0o10", "0o10"),
        ("2026-1-5", "2026-1-5"),
        ("20260131", 20260131),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("1_000", 1000),
        ("1.50", 1.5),
        (".5", 0.5),
        ("1.0e+3", 1000.0),
        ("-.Inf", float("-inf")),
        ("0.0e-400", 0.0),
        ("1.5e+400", "REFUSED"),
        ("1.5e-400", "REFUSED"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("010", "REFUSED"),
        ("0x1F", "REFUSED"),
        ("0b11", "REFUSED"),
        ("10:30", "REFUSED"),
        ("10:30:00", "REFUSED"),
        ("1:30.5", "REFUSED"),
        ("yes", "REFUSED"),
        ("Off", "REFUSED"),
        ("NO", "REFUSED"),
        ("2026-02-30", "REFUSED"),
        ("2026-01-31 25:00:00", "REFUSED"),
        ("2026-01-31 10:00:00 +99:00", "REFUSED"),
        ("=", "REFUSED"),
        ("*other", "REFUSED"),
        ("!!binary aGk=", "REFUSED"),
        ("!!set {a, b}", "REFUSED"),
        ("!!omap [a: 1]", "REFUSED"),
        ("!!pairs [a: 1]", "REFUSED"),
        ("{<<: {a: 1}}", "REFUSED"),
    ],
)
def test_the_type_of_what_is_written(text, value):
    if value == "REFUSED":
        with pytest.raises(ValueError, match=r"^x\.yml, line 1: "):
            yaml_files.read_text(f"A: {text}\n", "x.yml")
        return
    found = yaml_files.read_text(f"A: {text}\n", "x.yml")["A"]
    assert (found, type(found)) == (value, type(value))


AS_WRITTEN = [
    "5.10", "1e3", "1.50e+3", "010", "0x1F", "0b11", "1:30", "190:20:30", "yes", "on", "NO", "y", "True", "TRUE",
    "+7", "1_000", "1.5e+400", ".5", "1.", "-.Inf", ".nan", "=", "<<", "2026-01-31", "2026-02-30",
    "12345678901234567890123456789.10", "abc",
]  # fmt: skip


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_the_values_of_a_mapping_of_texts_are_what_stands_there(text):
    file = f"a: {{b: {{c: {text}, d: '{text}'}}, e: 1.50}}\n"
    assert yaml_files.read_text(file, "x.yml", texts=("a.b", "no.where")) == {
        "a": {"b": {"c": text, "d": text}, "e": 1.5}
    }


def test_a_mapping_of_texts_is_as_strict_as_any():
    for file, sentence in (
        ("a: {b: 1, b: 2}\n", "b is given twice"), ("a: {b: *c}\n", "aliases are not accepted"),
        ("a: {b: !!binary aGk=}\n", "!!binary is not accepted"), ("a: {b: [1, 010]}\n", "010 is not a decimal number"),
        ("a: {<<: {b: 1}}\n", "constructor"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            yaml_files.read_text(file, "x.yml", texts=("a",))
    for file in ("", "- 1\n", "a: 1\n", "a:\n", "1: {b: 2}\n"):
        assert yaml_files.read_text(file, "x.yml", texts=("a", "a.b")) == yaml_files.read_text(file, "x.yml")
    assert yaml_files.read_text("a: {b: , c: ~, d: null, e: ''}", "x.yml", texts=("a",)) == {
        "a": {"b": None, "c": None, "d": None, "e": ""}
    }
