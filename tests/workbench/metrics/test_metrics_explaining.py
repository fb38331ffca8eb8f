"""A model ranks and words what was found; what it invents is dropped, and what it keeps to itself is there all the same."""

import copy
import json

import metrics_cases
import pytest

from workbench.metrics import events, explaining, incidents

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


CANARIES = (
    "AKIAABCDEFGHIJKLMNOP",
    "postgresql://reader:canary-of-a-password@db/sales",
    "password=canary-of-a-password",
    "-----BEGIN PRIVATE KEY-----\ncanarycanarycanary\n-----END PRIVATE KEY-----",
)


@pytest.mark.parametrize("canary", CANARIES)
def test_a_canary_reaches_neither_the_model_nor_the_reader(tmp_path, canary):
    """A secret in an error, a statement, a stage's failure and a model's own words, wherever it comes from."""
    happenings = copy.deepcopy(metrics_cases.listed("full"))
    for event in happenings:
        if event["Event"].endswith("SQLExecutionStart"):
            event["description"] = event["physicalPlanDescription"] = canary
        if event["Event"].endswith("SQLExecutionEnd"):
            event["errorMessage"] = f"No space left on device {canary}"
        if event["Event"] == "SparkListenerTaskEnd":
            event["Task End Reason"] |= {"Description": f"No space left on device {canary}"}
        if event["Event"] == "SparkListenerStageCompleted" and "Failure Reason" in event["Stage Info"]:
            event["Stage Info"]["Failure Reason"] = f"No space left on device {canary}"
    run = events.read(metrics_cases.write(tmp_path / "log", happenings))
    found = incidents.find(run, error=f"MemoryError: {canary}")
    assert len(found) == 2
    asked = []
    result = explaining.explain(
        found, lambda text: asked.append(text) or json.dumps([{"number": 2, "words": canary}, {"cause": canary}])
    )
    seen = " ".join([*asked, *result.words, *result.dropped])
    assert "AKIA" not in seen and "canary" not in seen and result.by_model


def ranked(*order):
    return lambda asked: json.dumps([{"number": number} for number in order])


def test_a_ranking_is_scored_against_what_was_planted():
    storm = incidents.find(metrics_cases.run("aggregate"), error="java.lang.OutOfMemoryError: x")
    cases = [(FOUND, "small_files"), (FOUND, "file_explosion"), (storm, "out_of_memory")]
    assert [incident.cause for incident in FOUND] == ["file_explosion", "small_files"]
    assert explaining.score(cases, ranked(1)) == explaining.Score(2, 1, 1, 1.0, 0, 0)
    knowing = explaining.score(cases[:1], ranked(2, 1))
    assert knowing == explaining.Score(1, 1, 0, 0.5, 0, 0) and knowing.better
    silent = explaining.score(cases, lambda asked: "no JSON")  # is not given the order of `find` as its own
    assert silent == explaining.Score(2, 0, 1, 1.0, 2, 2) and not silent.better
    assert explaining.score(cases, ranked(3)).dropped == 2


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(
        ValueError, match="skew is not among the incidents of its run, which are file_explosion, small"
    ):
        explaining.score([(FOUND, "skew")], ranked(1))
    with pytest.raises(ValueError, match="no run has two incidents"):
        explaining.score([(FOUND[:1], "small_files")], ranked(1))
