"""Planted incidents are what they say, healthy runs are none, and what is scored is enough of each."""

from collections import Counter

import pytest
from conftest import ROOT
from soak import incident_runs
from soak import incidents as soak

from workbench import metrics
from workbench.metrics import events, incidents, reports
from workbench.metrics.causes import CAUSES
from workbench_proofs.incidents import healthy, planted


def looked_at(spark, folder, job):
    """Return (answer, error, incidents) of a job."""
    answer, error = None, None
    with metrics.watch(spark, folder):
        try:
            answer = job()
        except Exception as raised:
            error = raised
    run = events.read(folder)
    return answer, error, {i.cause for i in incidents.find(run, reports.read(folder), error=error)}


@pytest.mark.parametrize("name", ["small_files", "file_explosion", "out_of_memory", "fetch_failure"])
def test_a_planted_job_has_its_incident_and_its_truth(spark, namespace, tmp_path, name):
    plant, table, seed = planted.PLANTS[name], f"{namespace}.t", 1234
    if plant.prepare:
        plant.prepare(spark, table, seed)
    answer, error, causes = looked_at(spark, tmp_path, lambda: plant.run(spark, table, seed))
    assert causes == {plant.cause}
    answer = plant.ask(spark, table, seed) if plant.ask else answer
    assert answer == (None if error else plant.truth(seed)) and bool(error) == (name == "out_of_memory")


@pytest.mark.parametrize("name", ["uneven_shuffle", "limited", "merged"])
def test_a_healthy_job_has_none(spark, namespace, tmp_path, name):
    job = lambda: healthy.run(spark, name, f"{namespace}.t", tmp_path / "files", 1234)  # noqa: E731
    _, error, causes = looked_at(spark, tmp_path / "watched", job)
    assert (error, causes) == (None, set())


def test_settings_are_put_back(spark):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    with (
        pytest.raises(ZeroDivisionError),
        planted.setting(spark, {"spark.sql.shuffle.partitions": "3", "spark.sql.mine": "x"}),
    ):
        assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
        raise ZeroDivisionError
    assert spark.conf.get("spark.sql.shuffle.partitions") == before and not spark.conf.get("spark.sql.mine", None)


def test_what_is_scored_is_20_of_each_cause_and_200_healthy_runs():
    runs = soak.wanted(soak.EACH, soak.HEALTHY)
    kinds = [incident_runs.KINDS[name] for name, _ in runs]
    assert Counter(kind.cause for kind in kinds if kind.cause) == dict.fromkeys(CAUSES, soak.EACH)
    assert sum(kind.cause is None for kind in kinds) >= soak.HEALTHY
    assert all((ROOT / "notebooks" / f"{name}.ipynb").is_file() for name in incident_runs.NOTEBOOKS)


def test_scores_count_what_was_missed_and_what_was_not_there():
    def result(cause, *found, besides=()):
        return {"planted": cause, "found": list(found), "by_log": list(found)[:1], "besides": list(besides)}

    results = {
        ("a", 1): result("skew", "skew"),
        ("a", 2): result("skew"),
        ("b", 1): result("spill", "skew", "spill"),
        ("c", 1): result(None, "skew"),
        ("d", 1): result("lost_executor", "lost_executor", "fetch_failure", besides=["fetch_failure"]),
    }
    scores = soak.scores(results)
    assert scores["skew"] == {
        "planted": 2, "found": 1, "found_by_log_alone": 1, "false_alarms": 2, "precision": 0.333, "recall": 0.5,
    }  # fmt: skip
    assert scores["spill"]["found_by_log_alone"] == 0 and scores["fetch_failure"]["false_alarms"] == 0
    assert scores["disk_full"]["precision"] is None and scores["disk_full"]["recall"] is None
