"""A user's own job, one line added: its planted skew is found, the cure is tried on a repeat and judged by figures."""

import pytest

from workbench import metrics, session
from workbench.metrics import events, incidents, reports

PLAIN = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.skewJoin.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
}


def job(spark):
    """Join visits, nine tenths of which are of one person, with people; return the answer."""
    visits = spark.range(200_000).selectExpr(
        "IF(id % 10 < 9, 0, id % 997) AS person", "sha2(CAST(id AS STRING), 512) AS note"
    )
    people = spark.range(997).selectExpr("id AS person", "CAST(id % 7 AS INT) AS area")
    return sorted(map(tuple, visits.join(people, "person").groupBy("area").agg({"note": "max"}).collect()))


@pytest.mark.proof("test_a_session_is_watched and test_a_cure_is_judged_by_its_repeat show both halves")
def test_skew_is_found_and_its_cure_is_judged(spark, tmp_path):
    def watched(name, settings):
        with session.configured(spark, PLAIN | settings), metrics.watch(spark, tmp_path / name):
            answer = job(spark)
        return events.read(tmp_path / name), answer

    before, answer = watched("before", {})
    (incident,) = incidents.find(before)
    assert incident.cause == "skew" and incident.figure > 20

    def repeat(cure):
        run, again = watched(cure.name, dict(cure.settings))
        return run, reports.NONE, again == answer

    (trial,) = incidents.mitigate(incident, before, repeat)
    assert trial.cure.name == "split skewed partitions" and trial.verdict != "void"
    gone = trial.figure_after < incident.threshold
    less = trial.cpu_seconds_after < 0.9 * trial.cpu_seconds_before
    more = trial.cpu_seconds_after > 1.1 * trial.cpu_seconds_before
    assert trial.verdict == ("worse" if more else "helped" if gone or less else "no effect"), trial.sentence
