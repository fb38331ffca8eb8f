"""What the gate costs: stage and publish against a direct append of the same rows, in turn, into a table of its own.

The goal is 1.3 times or less without the audit's own work. What the audit costs is stated beside it in scans: the time
of an audit that reads every column once, as a share of the direct append.

    python -m bench.wap [ROWS]
"""

import sys
import time

from bench import evidence
from workbench import checks, session, wap

COLUMNS = (
    "id",
    "TIMESTAMP'2026-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id % 2592000) AS read_at",
    "concat('room-', id % 40) AS room",
    "CAST(18 + pmod(hash(id), 900) / 100 AS DECIMAL(5, 2)) AS temperature",
    "CAST(40 + pmod(hash(id, 1), 3000) / 100 AS DECIMAL(5, 2)) AS humidity",
    "sha2(CAST(id AS STRING), 256) AS device",
)
RULES = "Rules = [ RowCount > 0 ]"


def main(rows=1_000_000, rounds=7):
    """Measure, print, and keep the figures."""
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench")
    # The rows are a table already, so that both ways read the same and neither pays for making them
    make(spark, "bench.source")
    frame = spark.range(rows).selectExpr(*COLUMNS)
    frame.writeTo("bench.source").append()

    def direct():
        spark.table("bench.source").writeTo("bench.direct").append()

    def gate(audit):
        def run():
            wap.run(
                spark,
                "bench.gate",
                write=lambda s: spark.table("bench.source").writeTo(s.table).append(),
                audit=audit,
            )

        return run

    things = {
        "direct append": measured(spark, "bench.direct", direct),
        "gate, no audit": measured(spark, "bench.gate", gate(lambda df: checks.Verdict(True, RULES))),
        "gate, audit of one scan": measured(spark, "bench.gate", gate(one_scan)),
    }
    for measure in things.values():  # what a JVM does for the first time is not what is compared
        measure()
    seconds, answers = evidence.in_turn(things, rounds=rounds)
    medians = {name: evidence.median(values) for name, values in seconds.items()}
    direct_s, gate_s, scan_s = medians.values()
    evidence.write(
        "wap",
        what="stage and publish by wap.run against a direct append of the same rows, seconds, in turn",
        rows=rows,
        seconds=seconds,
        median_seconds=medians,
        ratio=round(gate_s / direct_s, 2),
        goal_ratio=1.3,
        audit_scans=1,
        audit_scan_seconds=round(scan_s - gate_s, 2),
        audit_scan_share_of_append=round((scan_s - gate_s) / direct_s, 2),
        answers_equal=len({answer for found in answers.values() for answer in found}) == 1,
    )
    session.stop(spark)


def make(spark, table):
    """Make an empty table for the rows."""
    spark.sql(f"DROP TABLE IF EXISTS {table} PURGE")
    spark.range(0).selectExpr(*COLUMNS).writeTo(table).using("iceberg").create()


def one_scan(df):
    """An audit that reads every column of every row once."""
    figures = df.selectExpr("count(*) AS rows", f"sum({digest(df)}) AS digest").collect()[0]
    return checks.Verdict(figures.rows > 0, RULES, {"rows": figures.rows, "digest": str(figures.digest)})


def digest(df):
    """One number of each row, from every column."""
    return f"CAST(xxhash64({', '.join(df.columns)}) AS DECIMAL(38, 0))"


def measured(spark, table, load):
    """A function that loads an empty table and returns (seconds, count and digest of its rows)."""

    def measure():
        make(spark, table)
        begin = time.perf_counter()
        load()
        seconds = time.perf_counter() - begin
        df = spark.table(table)
        found = df.selectExpr("count(*) AS rows", f"sum({digest(df)}) AS digest").collect()[0]
        return seconds, f"{found.rows} rows, {found.digest}"

    return measure


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
