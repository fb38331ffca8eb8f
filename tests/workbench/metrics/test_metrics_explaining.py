"""A model ranks and words what was found; what it invents is dropped, and what it keeps to itself is there all the same."""

import json

import metrics_cases
import pytest

from workbench.metrics import explaining, incidents

FOUND = incidents.find(metrics_cases.run("small_files"), metrics_cases.kept("small_files"))


def explained(answer):
    return explaining.explain(FOUND, lambda asked: answer if isinstance(answer, str) else json.dumps(answer))


def test_a_model_orders_and_words():
    result = explained([{"number": 2, "words": "the table has tiny files"}, {"number": 1}])
    assert result.incidents == FOUND[::-1] and result.by_model and result.dropped == ()
    assert result.words[0] == "the table has tiny files" and result.words[1].startswith(
        "a commit adds many small files: "
    )


@pytest.mark.parametrize(
    ("answer", "dropped"),
    [
        ("no JSON", 1),
        ([], 0),
        ([{"number": 3, "words": "rm -rf /"}], 1),
        ([{"number": True, "words": "x"}, {"number": "1"}, 7, None], 4),
        ({"cause": "out_of_memory"}, 1),
    ],
)
def test_what_a_model_invents_is_dropped(answer, dropped):
    result = explained(answer)
    assert result.incidents == FOUND and not result.by_model and len(result.dropped) == dropped
    assert result.words == explaining.explain(FOUND).words


def test_an_incident_that_is_named_twice_or_not_is_there_once():
    result = explained([{"number": 2}, {"number": 2, "words": "again"}])
    assert result.incidents == FOUND[::-1] and len(result.dropped) == 1


def test_a_model_that_fails_changes_nothing():
    def model(_):
        raise RuntimeError

    result = explaining.explain(FOUND, model)
    assert result.incidents == FOUND and result.dropped == ("no answer: RuntimeError",)
    assert explaining.explain([], model).incidents == ()


def test_the_model_is_told_no_secret():
    (told,) = incidents.find(metrics_cases.run("aggregate"), error="NoClassDefFoundError AKIAABCDEFGHIJKLMNOP")
    asked = []
    explaining.explain([told], lambda text: asked.append(text) or "[]")
    assert "AKIA" not in asked[0] and "[secret]" in asked[0] and '"number": 1' in asked[0]
