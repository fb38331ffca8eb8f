"""Rules of AWS Glue's language: docs/dqdl.md."""

from datetime import UTC, datetime
from typing import assert_type

from pyspark.sql import DataFrame, SparkSession

from workbench import quality
from workbench.verdicts import Verdict


def judged(spark: SparkSession, df: DataFrame, cities: DataFrame) -> DataFrame:
    result = quality.evaluate(spark, df, 'Rules = [ ColumnValues "current_temperature" between -10 and 50 ]')
    assert_type(result, quality.Result)
    assert_type(result.ruleOutcomes, DataFrame)
    assert_type(result.good, DataFrame)
    assert_type(result.quarantined, DataFrame)
    assert_type(result.verdict(), Verdict)
    assert_type([outcome.passed for outcome in result.outcomes], list[bool])
    quality.evaluate(
        spark, df, "Rules = []", references={"cities": cities}, now=datetime.now(UTC), composite="ROW"
    )
    quality.evaluate(df, "Rules = []")  # wrong: call-arg, arg-type
    quality.evaluate(spark, df, ["Rules = []"])  # wrong: arg-type
    quality.evaluate(spark, df, "Rules = []", composite="row")  # wrong: arg-type
    quality.evaluate(spark, df, "Rules = []", references=[cities])  # wrong: arg-type
    quality.evaluate(spark, df, "Rules = []", now="2026-01-31")  # wrong: arg-type
    assert_type(result.passed, bool)
    print(result.outcome)  # wrong: attr-defined
    print(quality.parse("Rules = []").rules)  # wrong: attr-defined
    return result.quarantined
