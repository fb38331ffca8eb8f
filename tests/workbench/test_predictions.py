"""Guesses compared with what came out, errata that must differ, and the guesses of a class."""

import json

import pytest
from typer.testing import CliRunner

from workbench import errata, predictions
from workbench._base.errors import ArgumentError
from workbench_ops.cli import app


@pytest.fixture(autouse=True)
def of_this_test():
    predictions.clear()
    yield
    predictions.clear()


def test_a_run_without_guesses_says_so(capsys):
    assert predictions.compare("files read", None, 3) is None
    assert predictions.score() == (0, 0)
    assert capsys.readouterr().out == "files read: no prediction; it is 3\nno predictions were made\n"


@pytest.mark.parametrize(
    ("guess", "actual", "within", "right"),
    [(3, 3, 0, True), (4, 3, 0, False), (4, 3, 1, True), (2.0, 3, 0.5, False), ("a", "a", 0, True),
     (True, False, 0, False)],
)  # fmt: skip
def test_a_guess_is_right_or_wrong(capsys, guess, actual, within, right):
    assert predictions.compare("x", guess, actual, within=within) is right
    assert predictions.score() == (int(right), 1)
    assert capsys.readouterr().out == (
        f"x: you said {guess}, it is {actual}: {'right' if right else 'wrong'}\n{int(right)} of 1 predictions were right\n"
    )


def test_compared_again_the_last_one_counts(capsys):
    predictions.compare("x", 1, 3)
    predictions.compare("y", 2, 2)
    predictions.compare("x", 3, 3)
    assert predictions.score() == (2, 2)


@pytest.mark.parametrize(
    ("guess", "actual", "within", "sentence"),
    [
        ("3", 3, 0, "the prediction of 'x' must be like 3, found '3'"),
        (True, 1, 0, "the prediction of 'x' must be like 1, found True"),
        ("a", "b", 1, "the prediction of 'x' must be like 'b', found 'a'"),
        (1, None, 0, "actual of 'x' is None, so that nothing can be compared with it"),
    ],
)
def test_what_cannot_be_compared_is_refused(guess, actual, within, sentence):
    with pytest.raises(ArgumentError) as caught:
        predictions.compare("x", guess, actual, within=within)
    assert str(caught.value) == sentence


def test_an_erratum_must_differ(capsys):
    errata.show(2, says="10 rows", found="3 rows")
    assert capsys.readouterr().out == "erratum 2: the text says 10 rows, found 3 rows\n"
    with pytest.raises(AssertionError, match="erratum 2 is none: the text says 3, and so it is"):
        errata.show(2, says=3, found=3)
    with pytest.raises(ArgumentError, match="erratum 1 needs both"):
        errata.show(1, says=None, found=3)


def notebook(path, *sources):
    cells = [{"cell_type": "code", "metadata": {"tags": ["prediction"]}, "source": source} for source in sources]
    other = {"cell_type": "code", "metadata": {}, "source": "OTHER = 1"}
    path.write_text(json.dumps({"cells": [other, *cells]}), encoding="utf-8")


def called(*arguments):
    done = CliRunner().invoke(app, ["class", *map(str, arguments)])
    return done.exit_code, done.output, done.exception


def test_the_guesses_of_a_class_are_read_and_nothing_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path / "anna.ipynb", "FILES_READ = 4  # your guess\nROWS: int = None", ["ROWS_LEFT = ", "-7"])
    notebook(tmp_path / "ben.ipynb", "FILES_READ = open('gone', 'w')\nprint(1)\nROWS = 'x'")
    code, output, _ = called(".")
    assert (code, output.splitlines()) == (
        0,
        [
            "PREDICTION  GUESS          NOTEBOOK",
            "FILES_READ  4              anna.ipynb",
            "FILES_READ  not a literal  ben.ipynb",
            "ROWS        no prediction  anna.ipynb",
            "ROWS        'x'            ben.ipynb",
            "ROWS_LEFT   -7             anna.ipynb",
            "FILES_READ: 1 of 2 guessed",
            "ROWS: 1 of 2 guessed",
            "ROWS_LEFT: 1 of 1 guessed",
        ],
    )
    assert not (tmp_path / "gone").exists()
    assert [each["guess"] for each in json.loads(called("anna.ipynb", "--json")[1])["guesses"]] == [4, None, -7]


def test_a_copy_that_is_damaged_does_not_hide_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path / "anna.ipynb", "N = 1")
    (tmp_path / "ben.ipynb").write_text("{")
    (tmp_path / "carl.ipynb").write_text("[1]")
    notebook(tmp_path / "dora.ipynb", "N = = 2")
    code, output, _ = called("anna.ipynb", "ben.ipynb", "carl.ipynb", "dora.ipynb")
    assert code == 1
    assert [line.partition(": ")[0] for line in output.splitlines()] == [
        "PREDICTION  GUESS  NOTEBOOK", "N           1      anna.ipynb", "N", "cannot be read", "cannot be read",
        "cannot be read",
    ]  # fmt: skip
    code, _, error = called("nobody.ipynb")
    assert code == 1 and str(error) == "nobody.ipynb is neither a notebook nor a folder"


def test_a_class_without_predictions(tmp_path):
    notebook(tmp_path / "anna.ipynb")
    assert called(tmp_path)[:2] == (0, "no prediction cells\n")
