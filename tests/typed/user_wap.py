"""The gate: docs/wap.md."""

from typing import assert_type

from pyspark.sql import DataFrame, SparkSession

from workbench import quality, wap
from workbench.verdicts import Verdict

RULES = 'Rules = [ IsComplete "id" ]'


def night(spark: SparkSession, new_rows: DataFrame, night: str) -> wap.Outcome:
    def write(stage: wap.Stage) -> None:
        new_rows.writeTo(stage.table).append()

    def audit(df: DataFrame) -> Verdict:
        bad = df.where("NOT coalesce(temperature BETWEEN -10 AND 50, false)")
        return Verdict(bad.isEmpty(), rules="temperature between -10 and 50", quarantined=bad)

    def undecided(df: DataFrame) -> bool:
        return df.isEmpty()

    outcome = wap.run(spark, "rooms.readings", write=write, audit=audit, id=night, quarantine="rooms.refused")
    wap.run(spark, "rooms.readings", write=lambda stage: new_rows.writeTo(stage.table).append(),
            audit=lambda df: quality.evaluate(spark, df, RULES).verdict())  # fmt: skip
    assert_type(outcome, wap.Outcome)
    assert_type(outcome.published, bool)
    assert_type(outcome.published_snapshot_id, int | None)
    wap.run(spark, "rooms.readings", write=write, audit=undecided)  # wrong: arg-type
    wap.run(spark, "rooms.readings", write=write)  # wrong: call-arg
    wap.run(spark, "rooms.readings", write, audit)  # wrong: call-arg
    wap.run(spark, "rooms.readings", write=write, audit=audit, rebases="3")  # wrong: arg-type
    print(outcome.rows)  # wrong: attr-defined
    outcome.published = True  # wrong: misc
    return outcome


def by_hand(spark: SparkSession, new_rows: DataFrame) -> None:
    with wap.staging(spark, "rooms.readings", branch="fix-1") as stage:
        assert_type(stage, wap.Stage)
        new_rows.writeTo(stage.table).append()
        wap.attest(spark, stage, audit=lambda df: Verdict(not df.isEmpty(), rules="rows"))
    assert_type(wap.publish(spark, "rooms.readings", "fix-1"), int)
    assert_type(wap.evidence(spark, "rooms.readings"), DataFrame)
    assert_type(wap.sweep(spark, "rooms.readings", older_than_hours=24), tuple[str, ...])
    wap.publish(spark, "rooms.readings")  # wrong: call-arg
    wap.sweep(spark, "rooms.readings", older_than_days=1)  # wrong: call-arg
    try:
        wap.publish(spark, "rooms.readings", "fix-1")
    except wap.AlreadyPublished as error:
        assert_type(error.snapshot_id, int)
