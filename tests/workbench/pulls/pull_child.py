"""A process of its own that pulls, and kills itself with signal 9 before a step, or races with another one.

pull_child.py kill WAY STEP NUMBER      WAY: run; first, into a table that was never pulled; whole
pull_child.py make                      the table that is raced for
pull_child.py race FILE PULLS           FILE counts how often the source was asked, by all
pull_child.py history                   what each pull of the race published
"""

import fcntl
import json
import os
import signal
import sys
from pathlib import Path

from restated import Source, make, night, options

from workbench import pulls, session
from workbench.tables import snapshots

DAY, RACED = night(0), "killed.race"


def kill(way, step, number):
    """Pull a figure, which is the number; print what the table holds then."""
    spark = session.start("lake")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS killed")
    table, dead, source = f"killed.{way}{number if way == 'first' else ''}", f"killed.{way}_dead", Source()
    if not snapshots.exists(spark, table):
        make(spark, table)
    source.put(DAY, "DE", number + 1)
    cells = [pulls.DeadCell(f"S!A{number}", "no number", "x")] if number else []

    def end(at):
        if at == step:
            os.kill(os.getpid(), signal.SIGKILL)

    pull(spark, table, source, way, cells, dead_letters=dead, on_step=end)
    rows = spark.table(table).selectExpr("CAST(event_date AS STRING)", "country", "users").collect()
    branches = spark.sql(f"SELECT name FROM {table}.refs WHERE type = 'BRANCH'").collect()
    return {
        "rows": [list(row) for row in rows],
        "branches": [row.name for row in branches],
        "dead": spark.table(dead).count() if number else 0,
    }


def pull(spark, table, source, way, cells, **other):
    def answer(since, until):
        return pulls.Answer(source.ask(since, until), dead=cells)

    if way == "whole":
        return pulls.whole(
            spark, table, source="shop", ask=lambda: answer(DAY, DAY), key=["event_date", "country"], **other
        )
    return pulls.run(spark, table, **options(source, DAY, ask=answer, **other))


def made():
    """Make the table that is raced for."""
    make(session.start("lake"), RACED)
    return RACED


def history():
    """Return each snapshot that a pull made main's, in their order, with the figure that it holds.

    What a refused run wrote to its branch is a snapshot, too, but never was main's.
    """
    spark = session.start("lake")
    pulled = spark.sql(
        f"SELECT h.snapshot_id FROM {RACED}.history h JOIN {RACED}.snapshots s ON h.snapshot_id = s.snapshot_id "
        "WHERE h.is_current_ancestor AND s.summary['pulls.position'] IS NOT NULL ORDER BY h.made_current_at"
    ).collect()
    return [
        [row.snapshot_id, spark.sql(f"SELECT users FROM {RACED} VERSION AS OF {row.snapshot_id}").first().users]
        for row in pulled
    ]


def race(file, count):
    """Pull as often as is said; each answer is newer than all before. Print what was published and refused."""
    spark = session.start("lake")
    print("ready", flush=True)
    sys.stdin.readline()
    published, refused = [], 0
    for _ in range(count):
        asked = []

        def ask(since, until, asked=asked):
            asked.append(following(Path(file)))
            return [{"event_date": DAY, "country": "DE", "users": asked[0], "revenue": None}]

        try:
            done = pulls.run(spark, RACED, **options(Source(), DAY, ask=ask))
        except pulls.AnotherWriter:
            refused += 1
        else:
            published.append([done.snapshot_id, asked[0]])
    return {"published": published, "refused": refused}


def following(file):
    """Return the next number of a file, of which no two processes get the same."""
    with file.open("r+") as counter:
        fcntl.flock(counter, fcntl.LOCK_EX)
        number = int(counter.read() or 0) + 1
        counter.seek(0)
        counter.write(str(number))
    return number


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    work = {
        "kill": lambda: kill(given[0], given[1], int(given[2])),
        "make": made,
        "race": lambda: race(given[0], int(given[1])),
        "history": history,
    }
    print(json.dumps(work[what]()))
