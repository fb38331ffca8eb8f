"""A join by storage against one by a shuffle, and what a lost join costs: two tables in a lake of the run's own.

    python -m bench.joins [ROWS [ROUNDS]]

The smaller table has half as many rows. Runs are in turn; the median of the rounds counts, and the answers are
compared before a figure is kept.
"""

import sys

from bench import evidence
from workbench import session
from workbench.tables import joins

GOAL = 1.8
BUCKETS = 8


def create(spark, name, rows, buckets):
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    columns = "id AS customer, concat('note ', xxhash64(id), ' of ', id) AS note, id % 97 AS amount"
    by = f"USING iceberg PARTITIONED BY (bucket({buckets}, customer))"
    spark.sql(f"CREATE TABLE {name} {by} AS SELECT {columns} FROM range(0, {rows}, 1, 4)")


def main(rows=1_500_000, rounds=5):
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench_joins")
    for name, count, buckets in (
        ("large", rows, BUCKETS),
        ("small", rows // 2, BUCKETS),
        ("other", rows // 2, 12),
    ):
        create(spark, f"bench_joins.{name}", count, buckets)
    query = "SELECT a.note, b.note AS other, a.amount + b.amount AS amount FROM bench_joins.large a JOIN bench_joins.{} b USING (customer)"
    compared = joins.compare(spark, query.format("small"), repeats=rounds)
    if not compared.equal or compared.by_storage.rows != rows // 2:
        raise SystemExit(
            f"the answers differ: {compared.by_storage.rows} rows by storage, {compared.shuffled.rows} shuffled"
        )
    with session.configured(spark, joins.BY_STORAGE):
        lost = joins.look(spark, query.format("other"))
    evidence.write(
        "joins", rows=rows, rounds=rounds, equal=compared.equal, goal=GOAL, ratio=round(compared.ratio, 2),
        shuffled_bytes={
            "by storage": compared.by_storage.shuffled_bytes, "shuffled": compared.shuffled.shuffled_bytes,
            "lost, other buckets": lost.shuffled_bytes,
        },
        last_seconds={"by storage": round(compared.by_storage.seconds, 2), "shuffled": round(compared.shuffled.seconds, 2)},
    )  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
