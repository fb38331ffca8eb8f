"""YAML is read safely, and what would silently be something else is refused with its line."""

import pytest

from workbench import yaml_files


def test_a_file_that_cannot_be_read_is_named_once(tmp_path):
    with pytest.raises(ValueError) as refused:
        yaml_files.read(tmp_path / "no.yml")
    assert str(refused.value) == f"{tmp_path / 'no.yml'} cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\na: 2\n", "line 2: a stands twice"),
        ("a: [1\n", "line 2"),
        ("a: 1\nDAY: 2026-13-45\n", "line 2: 2026-13-45 is no date that there is; a text"),
        ("codes: [SE,\n  No]\n", "line 2: No may be a word or a boolean; write true or false"),
        ("a: 1\nb: 12:30.5\n", "line 2: 12:30.5 is no decimal number"),
        ("a: !!float ''\n", "line 1:  is no decimal number"),
        ("a: !!timestamp x\n", "line 1: x is no date"),
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
