"""A process of its own that pulls a day, and kills itself with signal 9 before a step: pull_child.py STEP NUMBER."""

import json
import os
import signal
import sys

from restated import Source, make, night, options

from workbench import pulls, session
from workbench.tables import snapshots


def main(step, number):
    spark = session.start("lake")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS killed")
    table, dead, source = "killed.t", "killed.dead", Source()
    if not snapshots.exists(spark, table):
        make(spark, table)
    source.put(night(0), "DE", number + 1)
    ask = source.ask

    def answer(since, until):
        cells = [pulls.DeadCell(f"S!A{number}", "no number", "x")] if number else []
        return pulls.Answer(ask(since, until), dead=cells)

    def kill(at):
        if at == step:
            os.kill(os.getpid(), signal.SIGKILL)

    pulls.run(spark, table, on_step=kill, **options(source, night(0), ask=answer, dead_letters=dead))
    rows = spark.table(table).selectExpr("CAST(event_date AS STRING)", "country", "users").collect()
    branches = spark.sql(f"SELECT name FROM {table}.refs WHERE type = 'BRANCH'").collect()
    print(
        json.dumps(
            {
                "rows": [list(row) for row in rows],
                "branches": [row.name for row in branches],
                "dead": spark.table(dead).count() if number else 0,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
