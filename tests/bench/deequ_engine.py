"""deequ's DQDL engine, in an environment of its own (Spark 3.5): answers cases, or times one ruleset.

    python deequ_engine.py cases CASES.json ANSWERS.json
    python deequ_engine.py time RULESET.dqdl DATA.parquet --rounds 3

Imports nothing of ours, and PySpark only where a session is made, so that the other side can use `frame` and
`verdicts` too: both engines see the same rows and are read in the same way.
"""

import argparse
import json
import os
import time
from pathlib import Path

VERDICTS = {"DataQualityRulesPass": "pass", "DataQualityRulesFail": "fail", "DataQualityRulesSkip": "skip"}


def session(master="local[2]", memory="2g"):
    """Start Spark 3.5 with the jars that DEEQU_JARS names (separated as a class path is)."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.extraClassPath": os.environ["DEEQU_JARS"],
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
    }
    builder = SparkSession.builder.master(master).appName("deequ")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def frame(spark, described):
    """Make a small frame: {"columns": {name: Spark type}, "rows": lists of texts and None}, each text cast."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    columns = described["columns"]
    texts = StructType([StructField(f"c{i}", StringType()) for i in range(len(columns))])
    made = spark.createDataFrame([tuple(row) for row in described["rows"]], texts)
    return made.select(*(F.col(f"c{i}").cast(kind).alias(n) for i, (n, kind) in enumerate(columns.items())))


def verdicts(rows, columns):
    """Read row-level outcomes of a ruleset of one rule.

    Args:
        rows: DataFrame with DataQualityRulesPass, DataQualityRulesFail and DataQualityRulesSkip.
        columns: names of the input's columns.

    Returns:
        sorted list of [the row as JSON, `pass`, `fail` or `skip`; several joined by `+`].
    """
    from pyspark.sql import functions as F

    quoted = [f"`{name.replace('`', '``')}`" for name in columns]
    found = rows.select(F.to_json(F.struct(*quoted), {"ignoreNullFields": "false"}), *VERDICTS).collect()
    return sorted(
        [row[0], "+".join(word for name, word in VERDICTS.items() if row[name]) or "none"] for row in found
    )


def answer(spark, frames, case):
    """Let deequ answer one case: outcome, reason, metrics, and what each row got; `Refused` when it throws.

    A query's number (CustomSql with a condition) reads views that the caller of deequ has to make; they are made here.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame

    engine = spark._jvm.com.amazon.deequ.dqdl.EvaluateDataQuality
    references = {alias: frame(spark, frames[name]) for alias, name in case["references"].items()}
    data, others = frame(spark, frames[case["frame"]]), spark._jvm.java.util.HashMap()
    for alias, other in references.items():
        others[alias] = other._jdf
    for alias, view in {"primary": data, **references}.items():
        view.createOrReplaceTempView(alias)
    others = spark._jvm.PythonUtils.toScalaMap(others)
    try:
        parts = engine.processRows(data._jdf, case["ruleset"], others)
        # beside a composite rule it reports the rules it is made of, whose texts are parts of its own
        found = max(DataFrame(parts.apply("ruleOutcomes"), spark).collect(), key=lambda row: len(row.Rule))
        rows = verdicts(DataFrame(parts.apply("rowLevelOutcomes"), spark), data.columns)
    except (PySparkException, Py4JError) as error:
        return {"outcome": "Refused", "reason": _said(error), "metrics": {}, "rows": None}
    return {
        "outcome": found.Outcome,
        "reason": found.FailureReason,
        "metrics": found.EvaluatedMetrics,
        "rows": rows,
    }


def _said(error):
    """The first line of what a JVM exception says."""
    java = getattr(error, "java_exception", None)
    text = java.toString() if java is not None else str(error)
    return text.strip().splitlines()[0]


def answer_cases(source, target):
    """Answer every case of a file: {"frames": …, "cases": [{"name", "frame", "ruleset", "references"}]}."""
    asked = json.loads(Path(source).read_text(encoding="utf-8"))
    spark = session()
    answers = {case["name"]: answer(spark, asked["frames"], case) for case in asked["cases"]}
    versions = {"spark": spark.version, "java": spark._jvm.System.getProperty("java.version")}
    Path(target).write_text(json.dumps({"versions": versions, "answers": answers}), encoding="utf-8")


def time_ruleset(ruleset, data, rounds, master, memory):
    """Time the evaluation of a ruleset over a Parquet path: once to warm up, then `rounds` times."""
    spark = session(master, memory)
    engine, text = spark._jvm.com.amazon.deequ.dqdl.EvaluateDataQuality, Path(ruleset).read_text(encoding="utf-8")
    rows, seconds = spark.read.parquet(data), []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        found = engine.process(rows._jdf, text).collectAsList()
        seconds.append(round(time.perf_counter() - begin, 3))
    outcomes = {row.getString(0): row.getString(1) for row in found}
    print(json.dumps({"warm_up_seconds": seconds[0], "seconds": seconds[1:], "outcomes": outcomes}), flush=True)


def main():
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    cases = commands.add_parser("cases")
    cases.add_argument("source")
    cases.add_argument("target")
    timed = commands.add_parser("time")
    timed.add_argument("ruleset")
    timed.add_argument("data")
    timed.add_argument("--rounds", type=int, default=3)
    timed.add_argument("--master", default="local[2]")
    timed.add_argument("--memory", default="4g")
    asked = parser.parse_args()
    if asked.command == "cases":
        answer_cases(asked.source, asked.target)
    else:
        time_ruleset(asked.ruleset, asked.data, asked.rounds, asked.master, asked.memory)


if __name__ == "__main__":
    main()
