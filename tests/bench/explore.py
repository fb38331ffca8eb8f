"""What exploring costs: a look at a table without Spark, a SQL cell, a completion, a restarted kernel.

    python -m bench.explore [PART] [MANIFESTS]

    look     head, files and PyIceberg's own `inspect.files` of a table of so many manifests, in turn in one process;
             files at least four times as fast as it
    cell     `sql.run` against bare `spark.sql(…).limit(…).collect()`, in turn: at most 10 ms more
    names    what a completion takes where the catalog is asked, and where it was asked before: at most 0.1 s
    restart  a kernel of `workbench lab` begun anew, until the first rows of a table: with a spare JVM and without, in
             turn in two servers; at least four times as fast

Without a part all of them are measured; with one the others stay as they were.
"""

import contextlib
import io
import sys
import tempfile
import time
from statistics import median

import labs
import psutil
import pyarrow as pa

from bench import evidence
from workbench import session, sql
from workbench.sql import completing
from workbench.tables import browse
from workbench.tables.browse import manifests, opening
from workbench_ops.lab.spare import taking

MANIFESTS, GOAL_RATIO, ROUNDS = 1000, 4, 3
CELL_ROUNDS, CELL_MOST_SECONDS, NAMES_MOST_SECONDS, HEAD_MOST_SECONDS = 15, 0.010, 0.1, 0.1
FIRST_TABLE = """\
from workbench import session
spark = session.start("own")
print(spark.sql("SELECT sum(order_id), count(*) FROM sales.orders").first())
"""


def main(part="", count=MANIFESTS):
    """Measure a part or all, print, and write docs/evidence/explore.json."""
    if part and part not in PARTS:
        raise SystemExit(f"{part!r} is not a part; there are {', '.join(PARTS)}")
    others = [name for name in PARTS if part and name != part]
    figures = evidence.kept("explore", others) if others and (evidence.FOLDER / "explore.json").is_file() else {}
    for name in [part] if part else PARTS:
        figures[name] = PARTS[name](int(count)) if name == "look" else PARTS[name]()
    evidence.write(
        "explore", what=__doc__.splitlines()[0], **{name: figures[name] for name in PARTS if name in figures}
    )


def look(count):
    """Return the figures of a look without Spark."""
    with tempfile.TemporaryDirectory() as folder:
        lake = made(folder, count)
        things = {
            "head": timed(lambda: browse.head(lake, "n.many").snapshots),
            "files, first": timed(
                lambda: len(browse.files(lake, "n.many")), before=manifests.kept.by_manifest.clear
            ),
            "files, again": timed(lambda: len(browse.files(lake, "n.many"))),
            "inspect.files": timed(lambda: len(opening.table_of(lake, "n.many").inspect.files())),
        }
        seconds, answers, cpu = in_turn(things, ROUNDS)
        ours = sorted((file.path, file.rows, file.bytes) for file in browse.files(lake, "n.many"))
        rows = opening.table_of(lake, "n.many").inspect.files().to_pylist()
        theirs = sorted((row["file_path"], row["record_count"], row["file_size_in_bytes"]) for row in rows)
    middle = {name: median(values) for name, values in seconds.items()}
    ratio = round(middle["inspect.files"] / middle["files, first"], 1)
    return {
        "manifests": count, "seconds": seconds, "cpu_seconds": cpu, "answers": answers, "equal": ours == theirs,
        "files_times_as_fast": ratio, "goal_ratio": GOAL_RATIO, "files_hold": ratio >= GOAL_RATIO,
        "head_most_seconds": HEAD_MOST_SECONDS, "head_holds": middle["head"] <= HEAD_MOST_SECONDS,
    }  # fmt: skip


def cell():
    """Return what `sql.run` costs over the statement that it runs, of 20 and of 1,000 rows."""
    spark = session.start()
    figures = {}
    for rows in (20, 1000):
        query = f"SELECT id, CAST(id AS STRING) AS name, id / 7 AS share FROM range({rows}) ORDER BY id"
        things = {
            "bare": timed(lambda query=query, rows=rows: len(spark.sql(query).limit(rows + 1).collect())),
            "cell": timed(lambda query=query, rows=rows: printed(spark, query, rows)),
        }
        for measure in things.values():
            measure()  # once beforehand, for Spark's compiled code
        seconds, answers, cpu = in_turn(things, CELL_ROUNDS)
        over = round(median(seconds["cell"]) - median(seconds["bare"]), 4)
        figures[f"{rows} rows"] = {
            "seconds": seconds, "cpu_seconds_of_python": cpu, "over_bare_seconds": over, "ratio": round(1 + over / median(seconds["bare"]), 3),
            "most_seconds": CELL_MOST_SECONDS, "holds": over <= CELL_MOST_SECONDS,
            "equal": {*answers["bare"], *answers["cell"]} == {rows},
        }  # fmt: skip
    return figures


def printed(spark, query, rows):
    """Run a cell and return how many rows it showed."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        sql.run(spark, query, limit=rows)
    lines = out.getvalue().splitlines()
    return len(lines) - 1 - next(n for n, line in enumerate(lines) if line.startswith("-"))


def names():
    """Return what a completion takes: of 200 tables asked of the catalog, and once more."""
    spark = session.start()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS completed")
    for n in range(200):
        spark.sql(f"CREATE TABLE IF NOT EXISTS completed.t{n:03} (id BIGINT, name STRING) USING iceberg")
    text = "%%sql\nSELECT * FROM completed.t19"
    kept = completing.Known(spark)
    offered = [f"t{n}" for n in range(190, 200)]

    def complete(known):
        return [name for name, _ in completing.complete(known(), text, len(text))[1]] == offered

    things = {
        "asked": timed(lambda: complete(lambda: completing.Known(spark))),
        "kept": timed(lambda: complete(lambda: kept)),
    }
    for measure in things.values():
        measure()
    seconds, answers, cpu = in_turn(things, CELL_ROUNDS)
    return {
        "seconds": seconds, "cpu_seconds_of_python": cpu, "most_seconds": NAMES_MOST_SECONDS, "right": all(map(all, answers.values())),
        "holds": all(median(values) <= NAMES_MOST_SECONDS for values in seconds.values()),
    }  # fmt: skip


def restart():
    """Return what a restarted kernel takes to its first rows, wall and CPU seconds, with a spare and without."""
    with contextlib.ExitStack() as living:
        kernels = {}
        for name in ("cold", "spare"):
            folder = labs.folder_of(living.enter_context(tempfile.TemporaryDirectory()))
            kernels[name] = labs.Kernel(living.enter_context(labs.running(folder, spare=name == "spare")))
            kernels[name].run(FIRST_TABLE)
        things = {name: begun_anew(kernel, spare=name == "spare") for name, kernel in kernels.items()}
        seconds, answers = evidence.in_turn(things, rounds=ROUNDS)
    whose = {name: {jvm for _, jvm, _ in found} for name, found in answers.items()}
    middle = {name: median(values) for name, values in seconds.items()}
    ratio = round(middle["cold"] / middle["spare"], 1)
    return {
        "seconds": seconds, "cpu_seconds": {name: [cpu for *_, cpu in found] for name, found in answers.items()},
        "times_as_fast": ratio, "goal_ratio": GOAL_RATIO, "holds": ratio >= GOAL_RATIO,
        "equal": len({answer for found in answers.values() for answer, *_ in found}) == 1,
        "as_meant": whose == {"cold": {"subprocess"}, "spare": {taking.__name__}},
    }  # fmt: skip


def begun_anew(kernel, *, spare):
    """Return a function that measures from the restart of a kernel to its first rows, and says whose JVM it had."""

    def measure():
        if spare:
            kernel.await_spare()
        begin = time.perf_counter()
        kernel.restart()
        answer = kernel.run(FIRST_TABLE)
        seconds = time.perf_counter() - begin
        whose = kernel.run("print(type(spark.sparkContext._gateway.proc).__module__)")
        used = psutil.Process(int(kernel.run("import os; print(os.getpid())"))).cpu_times()
        return seconds, (answer, whose, round(used.user + used.system, 2))

    return measure


PARTS = {"look": look, "cell": cell, "names": names, "restart": restart}


def made(folder, count):
    """Make a table of so many commits that are never merged; return the properties of its catalog."""
    lake = {"name": "own", "type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}"}
    catalog = opening.catalog_of(lake)
    catalog.create_namespace("n")
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
    table = catalog.create_table("n.many", rows.schema)
    for _ in range(count):
        table.append(rows)
    return lake


def in_turn(things, rounds):
    """Return seconds, answers and CPU seconds, each by the name of the thing, a value a round."""
    seconds, measured = evidence.in_turn(things, rounds=rounds, digits=4)
    answers = {name: [answer for answer, _ in values] for name, values in measured.items()}
    return seconds, answers, {name: [cpu for _, cpu in values] for name, values in measured.items()}


def timed(call, *, before=lambda: None):
    """Return a function that prepares, calls, and returns (seconds, (answer, CPU seconds of this process))."""

    def measure():
        before()
        begin, used = time.perf_counter(), time.process_time()
        answer = call()
        return time.perf_counter() - begin, (answer, round(time.process_time() - used, 4))

    return measure


if __name__ == "__main__":
    main(*sys.argv[1:])
