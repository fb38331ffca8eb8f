"""A process of its own with the environment that is named: races, as JSON on its last line."""

import json
import sys
from dataclasses import asdict

from workbench import session
from workbench.tables import commits
from workbench_proofs import conflicts


def users_own(spark):
    """A pair of a user's own statements on a table of the user's; how they ended, and what the table holds."""
    spark.sql("CREATE NAMESPACE shop")
    spark.sql("CREATE TABLE shop.orders (id BIGINT, paid BOOLEAN) USING iceberg")
    spark.sql("INSERT INTO shop.orders SELECT /*+ COALESCE(1) */ * FROM VALUES (1, false), (2, false)")
    paid, gone = "UPDATE shop.orders SET paid = true WHERE id = 1", "DELETE FROM shop.orders WHERE id = 1"
    with conflicts.writers(spark) as two:
        one = conflicts.race(two.a, two.b, paid, gone, hold=two.hold)
        frame = "SELECT 3L AS id, false AS paid"
        other = conflicts.race(
            two.a,
            two.b,
            lambda spark: spark.sql(frame).writeTo("shop.orders").append(),
            lambda spark: spark.sql(gone),
            hold=two.hold,
        )
        quiet = nothing_held(two, "SELECT 2")
        wrong = nothing_held(two, "DELETE FROM shop.orders WHERE nowhere = 1")
    spark.sql("REFRESH TABLE shop.orders")
    rows = sorted(tuple(row) for row in spark.table("shop.orders").collect())
    ends = [[one_end.first is None, one_end.second and commits.kind(one_end.second), one_end.attempts > 1]
            for one_end in (one, other)]  # fmt: skip
    return {"ends": ends, "rows": rows, "quiet": quiet, "wrong": wrong}


def nothing_held(two, statement):
    try:
        conflicts.race(two.a, two.b, "SELECT 1", statement, hold=two.hold)
    except conflicts.NothingHeld as error:
        return str(error)


def main(environment):
    spark = session.start(environment)
    cells = [one for one in conflicts.telling() for _ in range(2)]
    found = {"cells": [asdict(one) for one in conflicts.run(spark, cells)]}
    found["left"] = [row.tableName for row in spark.sql("SHOW TABLES IN conflicts").collect()]
    found["own"] = users_own(spark)
    session.stop(spark)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
