"""From a fresh process to the first count of an Iceberg table: our session against plain spark.jars and defaults.

The goal is a ratio of 2.5 or more. Both processes count the same table of one embedded lake.

    python -m bench.startup [COMMIT]

With a commit: what importing the library and running the template cost there and cost at HEAD, in turn, each from a
folder of its own with the packages of this environment. The goal is 5 % at most, of CPU seconds, which a shared machine
disturbs less than wall time: those of the processes that were waited for, their children included.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from bench import evidence

MAKE = """
from workbench import session
spark = session.start("lake")
spark.sql("CREATE NAMESPACE bench")
spark.sql("CREATE TABLE bench.t AS SELECT id FROM range(1000)")
"""
OURS = """
from workbench import session
print(session.start("lake").table("bench.t").count())
"""
PLAIN = """
import os
from pyspark.sql import SparkSession
from workbench._base import jars
lake = os.environ["WORKBENCH_HOME"] + "/.workbench/lake"
jars = ",".join(str(jars.path(name)) for name in ("iceberg", "sqlite"))
spark = (
    SparkSession.builder.config("spark.jars", jars)
    .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.lake.type", "jdbc")
    .config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:file:{lake}/catalog.db?busy_timeout=30000&journal_mode=WAL")
    .config("spark.sql.catalog.lake.warehouse", f"file://{lake}")
    .config("spark.sql.catalog.lake.jdbc.schema-version", "V1")
    .config("spark.sql.defaultCatalog", "lake")
    .getOrCreate()
)
print(spark.table("bench.t").count())
"""


ROOT = evidence.FOLDER.parents[1]
IMPORTS = {
    "import workbench": "import workbench",
    "import six capabilities": "from workbench import wap, quality, history, streams, archive, tables",
}
RUN = "workbench run 00_template"
IMPORTS_A_ROUND = 5
MOST = 1.05  # of the CPU seconds before


def checked_out(commit, folder):
    """Lay the files of a commit out in a folder, compiled; return (folder, the commit's short name)."""
    whole = folder / "whole.tar"
    subprocess.run(["git", "archive", "--output", whole, commit], cwd=ROOT, check=True)
    with tarfile.open(whole) as archive:
        archive.extractall(folder, filter="data")
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder / "lib"], check=True)
    name = subprocess.run(
        ["git", "rev-parse", "--short", commit], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return folder, name.stdout.strip()


def spending(command, tree, answer):
    """Return a function that runs a command in a tree and returns (wall seconds, (CPU seconds, its answer))."""
    env = os.environ | {"PYTHONPATH": str(tree / "lib"), "WORKBENCH_HOME": str(tree)}

    def spend():
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)
        seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode:
            raise RuntimeError(f"{command} ended with {process.returncode}: {process.stderr[-2000:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, (round(cpu, 3), answer(process.stdout, tree))

    return spend


def imported_there(printed, tree):
    """That the library was that of the tree."""
    if not Path(printed.strip()).is_relative_to(tree):
        raise RuntimeError(f"{printed.strip()} was imported, and not what lies in {tree}")
    return "its own"


def facts(printed, _):
    """What the run's record has as facts, as text."""
    record = json.loads(printed.splitlines()[-1])
    return json.dumps([record["status"], record["results"]], sort_keys=True)


def compare(commit, rounds=5):
    """Measure a commit against HEAD, print, and keep the figures."""
    commands = {
        name: ([sys.executable, "-c", f"{code}; import workbench; print(workbench.__file__)"], imported_there)
        for name, code in IMPORTS.items()
    }
    command = "import sys; from workbench_ops.cli import main; sys.argv[0] = 'workbench'; sys.exit(main())"
    commands[RUN] = ([sys.executable, "-c", command, "run", "00_template", "--json"], facts)
    with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as after:
        trees = [checked_out(commit, Path(before)), checked_out("HEAD", Path(after))]
        measured = {}
        for name, (line, answer) in commands.items():
            things = {short: spending(line, tree, answer) for tree, short in trees}
            for spend in things.values():
                spend()  # once beforehand, for the caches of files
            many = rounds if name == RUN else IMPORTS_A_ROUND * rounds  # of what is short, noise is larger
            seconds, answers = evidence.in_turn(things, rounds=many, digits=3)
            old, new = (statistics.median(cpu for cpu, _ in answers[short]) for short in things)
            measured[name] = {
                "wall_seconds": seconds,
                "cpu_seconds": {short: [cpu for cpu, _ in values] for short, values in answers.items()},
                "cpu_ratio": round(new / old, 3),
                "holds": new <= MOST * old,
                "answers_equal": len({text for values in answers.values() for _, text in values}) == 1,
            }
    evidence.write(
        "startup_change",
        what="a fresh process until its end at two commits, measured in turn; ratio of the medians of CPU seconds",
        before=trees[0][1],
        after=trees[1][1],
        most_ratio=MOST,
        measured=measured,
    )


def main(rounds=5):
    """Measure, print, and keep the figures."""
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {"WORKBENCH_HOME": home}
        subprocess.run([sys.executable, "-c", MAKE], env=env, check=True)

        def measured(code):
            return lambda: evidence.until_line([sys.executable, "-c", code], env=env, cwd=home)

        things = {"spark.jars and defaults": measured(PLAIN), "workbench session": measured(OURS)}
        seconds, answers = evidence.in_turn(things, rounds=rounds)
    medians = {name: evidence.median(values) for name, values in seconds.items()}
    plain, ours = medians.values()
    evidence.write(
        "startup",
        what="fresh process to the first count of an Iceberg table, seconds, measured in turn",
        seconds=seconds,
        median_seconds=medians,
        ratio=round(plain / ours, 2),
        goal_ratio=2.5,
        answers_equal={answer for found in answers.values() for answer in found} == {"1000"},
    )


if __name__ == "__main__":
    compare(sys.argv[1]) if sys.argv[1:] else main()
