"""20 DQDL rules that a scan can answer, in one evaluation against one Spark query a rule; and what a shuffle costs.

The goal is a ratio of 2.5 or more on one Parquet file of 10 M rows, and of 4 or more where PySail evaluates. The queries
are what a person would write for each rule alone; all must give the same answers.
"""

import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from bench import evidence
from bench.spent import Clock
from workbench._base import children

NOW = datetime(2024, 6, 1, tzinfo=UTC)
SINGLE, TOGETHER, PYSAIL = "one query a rule", "one evaluation", "one evaluation on PySail"
GOAL_OF_PYSAIL = 4

# two cores, and a JVM that compiles fully: the work lasts minutes
ENVIRONMENT = """
description: the benchmark of quality
catalog: {type: embedded, folder: scratch}
spark:
  master: "local[2]"
  shuffle_partitions: 2
  lifetime: long
  # as Iceberg writes them; what Spark writes else PySail reads as times without a zone
  conf: {spark.sql.parquet.outputTimestampType: TIMESTAMP_MICROS}
"""

# rule, and the query that a person would write for it: true when it holds; three of them do not
SCANNED = {
    "RowCount > 0": "count(*) > 0",
    'IsComplete "id"': "count(id) = count(*)",
    'Completeness "note" > 0.96': "count(note) / count(*) > 0.96",
    'Completeness "amount" >= 0.99': "count(amount) / count(*) >= 0.99",
    'ColumnValues "id" >= 0': "coalesce(bool_and(id >= 0), false) and count(id) = count(*)",
    'ColumnValues "temperature" between -20 and 45': "bool_and(coalesce(temperature > -20 and temperature < 45, false))",
    'ColumnValues "humidity" between -1 and 99': "bool_and(coalesce(humidity > -1 and humidity < 99, false))",
    'ColumnValues "humidity" > 0 with threshold > 0.9': "count_if(humidity > 0) / count(*) > 0.9",
    'ColumnValues "room" in ["kitchen", "living"]': "bool_and(coalesce(room in ('kitchen', 'living'), false))",
    'ColumnValues "room" != "cellar"': "bool_and(coalesce(room != 'cellar', true))",
    'ColumnValues "code" matches "[A-Z]{2}[0-9]+"': r"bool_and(coalesce(code rlike '\\A(?:[A-Z]{2}[0-9]+)\\z', false))",
    'ColumnLength "code" between 2 and 12': "bool_and(length(coalesce(code, '')) > 2 and length(coalesce(code, '')) < 12)",
    'ColumnLength "room" <= 10': "bool_and(length(coalesce(room, '')) <= 10)",
    'Mean "temperature" between 0 and 40': "avg(temperature) > 0 and avg(temperature) < 40",
    'Mean "humidity" > 40': "avg(humidity) > 40",
    'Sum "amount" > 1000': "sum(amount) > 1000",
    'StandardDeviation "temperature" < 20': "stddev_pop(temperature) < 20",
    'ColumnValues "measured" <= now()': "bool_and(coalesce(measured <= timestamp'2024-06-01 00:00:00Z', false))",
    'DataFreshness "measured" <= 900 days': "bool_and(coalesce(measured >= timestamp'2024-06-01 00:00:00Z' - interval 900 days, false))",
    'ColumnDataType "digits" = "integer"': "bool_and(try_cast(digits as int) is not null)",
}  # fmt: skip
SHUFFLED = {
    'IsUnique "id"': "select count_if(n = 1) = sum(n) from (select count(*) n from {} group by id)",
    'IsPrimaryKey "id"': "select count_if(n = 1 and id is not null) = sum(n) from (select id, count(*) n from {} group by id)",
    'Uniqueness "code" > 0.5': "select sum(if(n = 1, 1, 0)) / sum(n) > 0.5 from (select count(*) n from {} group by code)",
    'DistinctValuesCount "code" > 10': "select count(distinct code) > 10 from {}",
    'Entropy "room" > 1': "select -sum(p * ln(p)) > 1 from (select count(*) / sum(count(*)) over () p from {} group by room)",
}  # fmt: skip


def generate(spark, rows):
    """Return a frame of sensor readings, eight columns, the same on every machine."""
    from pyspark.sql import functions as F

    mixed = F.xxhash64("id")
    return spark.range(rows).select(
        "id",
        F.element_at(F.array(*map(F.lit, ("kitchen", "living", "myroom"))), (F.pmod(mixed, F.lit(3)) + 1).cast("int")).alias("room"),
        (F.pmod(mixed, F.lit(5000)) / 100 - 10).alias("temperature"),
        F.pmod(mixed, F.lit(100)).cast("int").alias("humidity"),
        (F.pmod(mixed, F.lit(100000)) / 100).cast("decimal(10,2)").alias("amount"),
        F.concat(F.lit("AB"), F.pmod(mixed, F.lit(1_000_000)).cast("string")).alias("code"),
        F.timestamp_seconds(F.lit(1_700_000_000) + F.pmod(mixed, F.lit(10_000_000))).alias("measured"),
        F.pmod(mixed, F.lit(1_000_000)).cast("string").alias("digits"),
        F.when(F.pmod(mixed, F.lit(20)) > 0, F.lit("ok")).alias("note"),
    )  # fmt: skip


def derived(spark, folder):
    """Return the frame as somebody finds it: text files, parsed, and joined with what the rooms are."""
    rooms = spark.createDataFrame([("kitchen", 1), ("living", 2), ("myroom", 3)], "room string, floor int")
    types = spark.read.parquet(f"{folder}/readings").schema
    return spark.read.csv(f"{folder}/csv", header=True, schema=types).join(rooms, "room")


def compared(spark, df, rules):
    """Return the two ways, each a function that gives (seconds, answers)."""
    from workbench import quality

    df.createOrReplaceTempView("readings")
    whole = {rule: sql if sql.startswith("select") else f"select {sql} from {{}}" for rule, sql in rules.items()}

    def together():
        begin = time.perf_counter()
        result = quality.evaluate(spark, df, f"Rules = [{', '.join(rules)}]", now=NOW)
        return time.perf_counter() - begin, tuple(outcome.passed for outcome in result.outcomes)

    def one_by_one():
        begin = time.perf_counter()
        answers = tuple(spark.sql(sql.replace("{}", "readings")).first()[0] for sql in whole.values())
        return time.perf_counter() - begin, answers

    return {SINGLE: one_by_one, TOGETHER: together}


def measured(ways, rules, *, rounds):
    """Measure ways in turn, after one of each that does not count; the ratio is of the first to the last."""
    for way in ways.values():
        way()
    clock, cpu = Clock(), {name: [] for name in ways}

    def spent(name):
        before = clock()
        found = ways[name]()
        cpu[name].append(round(clock() - before, 2))
        return shortened(found)

    seconds, answers = evidence.in_turn({name: lambda name=name: spent(name) for name in ways}, rounds=rounds)
    wall, worked = ({name: evidence.median(figures[name]) for name in ways} for figures in (seconds, cpu))
    first, *_, last = ways
    return {
        "rules": len(rules),
        "seconds": seconds,
        "median_seconds": wall,
        "ratio": round(wall[first] / wall[last], 2),
        "cpu_seconds": cpu,
        "ratio_of_cpu": round(worked[first] / worked[last], 2),
        "answers_equal": len({answer for found in answers.values() for answer in found}) == 1,
        "answers": next(iter(answers.values()))[0],
    }


def on_pysail(spark, df, folder, *, rounds):
    """Measure both ways of Spark and one evaluation on PySail, which reads the same file, in turn.

    PySail runs in a process of its own that stays warm, as the JVM does; its start counts for neither.
    """
    rules = list(SCANNED)
    with children.started("bench.quality_pysail") as child:

        def there():
            asked = {"folder": f"{folder}/readings", "rules": rules, "now": NOW.isoformat()}
            answer = children.ask(child, asked, name="PySail")
            return answer["seconds"], tuple(answer["passed"])

        figures = measured({**compared(spark, df, SCANNED), PYSAIL: there}, SCANNED, rounds=rounds)
    return {"goal_ratio": GOAL_OF_PYSAIL, "pysail": metadata.version("pysail")} | figures


def against_deequ(spark, df, folder, *, rounds):
    """Measure one evaluation against deequ's own DQDL engine on Spark 3.5, in turn, each warm.

    deequ runs in a process and an environment of its own, begun anew each round; its time is that of the second
    evaluation there. It reads the clock, so for this comparison we do too.
    """
    from bench import deequ
    from workbench import quality

    rules = Path(folder) / "rules.dqdl"
    rules.write_text(f"Rules = [{', '.join(SCANNED)}]")
    told = {}

    def ours():
        begin = time.perf_counter()
        result = quality.evaluate(spark, df, rules.read_text(), now=datetime.now(UTC))
        told["ours"] = [outcome.passed for outcome in result.outcomes]
        return time.perf_counter() - begin, sum(told["ours"])

    def theirs():
        found = deequ.timed(str(rules), f"{folder}/readings", rounds=1)
        told["deequ"] = {_plain(rule): outcome == "Passed" for rule, outcome in found["outcomes"].items()}
        return found["seconds"][0], sum(told["deequ"].values())

    seconds, _ = evidence.in_turn({"deequ": theirs, "ours": ours}, rounds=rounds)
    both = zip(SCANNED, told["ours"], strict=True)
    return {
        "seconds": seconds,
        "ratio": round(evidence.median(seconds["deequ"]) / evidence.median(seconds["ours"]), 2),
        "answers_that_differ": [rule for rule, passed in both if told["deequ"].get(_plain(rule)) != passed],
        "why": "deequ ignores `with threshold` on ColumnValues (docs/evidence/deequ.json)",
    }


def _plain(rule):
    """Return a rule's text without what deequ writes otherwise: blanks and quotes."""
    return "".join(rule.replace('"', "").split())


def shortened(found):
    """Return seconds and the answers as one text of letters, P for passed and F for failed."""
    seconds, answers = found
    return seconds, "".join("P" if answer is True else "F" for answer in answers)


def main(rows=10_000_000, only=None, *, rounds=5):
    """Measure, print, and keep the figures; `only` names a part to measure anew, the others stay as they are."""
    from workbench import session

    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "bench.yml"
        environment.write_text(ENVIRONMENT)
        spark = session.start(str(environment))
        data = generate(spark, rows)
        data.coalesce(1).write.parquet(f"{folder}/readings")
        readings = spark.read.parquet(f"{folder}/readings")
        readings.write.csv(f"{folder}/csv", header=True)
        parts = {
            "scan": lambda: measured(compared(spark, readings, SCANNED), SCANNED, rounds=rounds),
            "pysail": lambda: on_pysail(spark, readings, folder, rounds=rounds),
            "expensive_to_derive": lambda: measured(
                compared(spark, derived(spark, folder), SCANNED), SCANNED, rounds=min(rounds, 3)
            ),
            "shuffle": lambda: measured(compared(spark, readings, SHUFFLED), SHUFFLED, rounds=rounds),
            "deequ": lambda: against_deequ(spark, readings, folder, rounds=min(rounds, 3)),
        }
        what = "DQDL rules in one evaluation against one Spark query a rule, seconds, in turn"
        figures = evidence.kept("quality", parts, rows=rows) if only else {}
        for name in [only] if only else parts:  # a part that fails does not take the ones before it along
            figures[name] = parts[name]()
            evidence.write("quality", what=what, rows=rows, goal_ratio=2.5, **figures)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
