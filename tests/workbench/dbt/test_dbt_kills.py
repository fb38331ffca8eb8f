"""kill -9 wherever a run of tests asks an engine, or writes its ledger or artifact: run again, it has the same outcomes."""

import inspect
import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import dbt_projects
import lakes
import pyarrow as pa
import pytest

from workbench import dbt

ROWS = pa.table({"id": [1, 2, 3], "kind": ["a", "b", "a"], "price": [1.0, 2.0, 3.0], "note": ["x1", "x2", "x3"]})
NAMES = {"duckdb": '"shop"."main"."orders"', "spark": "own.main.orders"}
SQL = [
    "id < 0", "note not like 'x%'", "note like 'x1'", "kind not in ('a', 'b')", "price < 0",
]  # fmt: skip
# a point is named by the function, whether it is before or after a call, and which call: "put before 2"
CHILD = """
import json, os, signal, sys
from collections import Counter
from pathlib import Path
from tests_of import project_tests
from workbench import dbt
from workbench._base import worklist
from workbench.dbt.duckdbs import DuckDB
from workbench.dbt.sparks import Spark

name, location, ledger, last, target, environment = sys.argv[1:]
points, calls = [], Counter()

def counted(function):
    def call(*arguments, **named):
        calls[function.__name__] += 1
        at = calls[function.__name__]
        for step in ("before", "after"):
            points.append(f"{function.__name__} {step} {at}")
            if points[-1] == last:
                os.kill(os.getpid(), signal.SIGKILL)
            if step == "before":
                answer = function(*arguments, **named)
        return answer
    return call

if environment:
    from workbench import session
    engine, asked = session.start(environment), Spark
else:
    engine, asked = "duckdb", DuckDB
for owner, names in ((asked, ("rows", "binds", "failing", "distinct")), (worklist.Worklist, ("put", "rows"))):
    for method in names:
        setattr(owner, method, counted(getattr(owner, method)))
plan = dbt.plan(project_tests(name), dialect=asked.dialect)
outcomes = dbt.prove(plan, {name: location}, engine=engine, ledger=ledger)
os.replace = counted(os.replace)
Path.write_text = counted(Path.write_text)
dbt.write(outcomes, target)
print(json.dumps(points))
"""


def project_tests(name):
    unique = (
        f"select id, count(*) as n from {name} where id is not null group by id having count(*) > 1",
        f"select kind, count(*) as n from {name} where kind is not null group by kind having count(*) > 1",
    )
    rows = [f"select * from {name} where {where}" for where in SQL]
    return [dbt.Test(f"test.shop.t{n}", sql) for n, sql in enumerate([*rows, *unique])]


@pytest.fixture
def location(tmp_path):
    return dbt_projects.tables(tmp_path, {"orders": ROWS})["orders"].metadata_location


@pytest.fixture
def own_catalog(spark, tmp_path):
    """A session that sees the lake of the folder by the name that the killed process has for it.

    It is a test's own, because a session keeps a catalog under its name, whatever its settings become.
    """
    session = spark.newSession()
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".warehouse": f"file://{tmp_path}"}
    settings[".uri"] = f"jdbc:sqlite:file:{tmp_path}/catalog.db"
    for key, value in settings.items():
        session.conf.set(f"spark.sql.catalog.own{key}", value)
    return session


class Runs:
    """Runs of the same tests in a folder: in processes that may be killed, and in this one."""

    def __init__(self, folder, location, spark=None):
        self.folder, self.location, self.spark = folder, location, spark
        kind = "spark" if spark else "duckdb"
        self.name, self.environment = NAMES[kind], str(lakes.environment(folder)) if spark else ""
        self.plan = dbt.plan(project_tests(self.name), dialect=kind)
        source = f"from workbench import dbt\nSQL = {SQL!r}\n{inspect.getsource(project_tests)}"
        (folder / "tests_of.py").write_text(source)
        (folder / "child.py").write_text(CHILD)

    def target(self, last):
        return self.folder / f"target {last}"

    def ledger(self, last):
        return self.folder / f"ledger {last}.db"

    def child(self, last):
        """Run in a process that is killed at a point, at none for one that there is not."""
        self.target(last).mkdir()
        (self.target(last) / "manifest.json").write_text('{"metadata": {"dbt_version": "1.11.16"}}')
        command = [
            sys.executable,
            str(self.folder / "child.py"),
            self.name,
            self.location,
            str(self.ledger(last)),
            last,
        ]
        command += [str(self.target(last)), self.environment]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def here(self, ledger=None):
        """Run in this process; return statuses and failures."""
        engine = self.spark or "duckdb"
        outcomes = dbt.prove(self.plan, {self.name: self.location}, engine=engine, ledger=ledger)
        return [(outcome.status, outcome.failures) for outcome in outcomes]

    def lines(self, last):
        """Return the lines of a ledger, without those that name the project."""
        if not self.ledger(last).exists():
            return set()
        with closing(sqlite3.connect(self.ledger(last))) as database:
            try:
                return set(database.execute("SELECT digest, states, told_by FROM dbt_passed WHERE engine <> ''"))
            except sqlite3.OperationalError:
                return set()

    def written(self, last):
        """Return what a killed run left as its artifact: all results, or None for no file."""
        path = self.target(last) / "run_results.json"
        if not path.exists():
            return None
        return [(result["status"], result["failures"]) for result in json.loads(path.read_text())["results"]]


def killed(runs, chosen):
    """Kill a run at points chosen of all, each in a ledger of its own, and run it again; return all points.

    Args:
        runs: Runs.
        chosen: points, or a function of all of them, for which a run that nobody kills is made.
    """
    expected, points = runs.here(runs.ledger("here")), []
    assert {status for status, _ in expected} == {"pass", "fail"}
    evidence = runs.lines("here")
    assert evidence
    if callable(chosen):
        points = json.loads(runs.child("none").stdout)
        assert (runs.written("none"), runs.lines("none")) == (expected, evidence)
        chosen = chosen(points)
    for last in chosen:
        ended = runs.child(last)
        assert ended.returncode == -9, (last, ended.stderr)
        assert runs.lines(last) <= evidence, last  # nothing is noted that no run could tell
        if last.startswith(("write_text after", "replace")):
            assert runs.lines(last) == evidence, last
        assert runs.written(last) in (None, expected), last
        assert runs.here(runs.ledger(last)) == expected
        assert {line[:2] for line in runs.lines(last)} == {line[:2] for line in evidence}, last
    return points


def test_a_run_that_is_killed_is_run_again(location, tmp_path):
    killed(Runs(tmp_path, location), lambda points: [points[len(points) // 2]])


@pytest.mark.proof("killed once, in the middle: test_a_run_that_is_killed_is_run_again")
def test_a_run_that_is_killed_at_each_point_is_run_again(location, tmp_path):
    assert len(killed(Runs(tmp_path, location), lambda points: points)) > 20


def test_a_run_on_spark_that_is_killed_is_run_again(own_catalog, location, tmp_path):
    """Before the third line of what passed; the first names the project."""
    runs = Runs(tmp_path, location, own_catalog)
    killed(runs, ["put before 4"])
    assert runs.written("put before 4") is None


@pytest.mark.proof("killed once, before a line of the ledger: test_a_run_on_spark_that_is_killed_is_run_again")
def test_a_run_on_spark_that_is_killed_at_each_point_is_run_again(own_catalog, location, tmp_path):
    """Before and after each question, each line of the ledger, and each step of the artifact."""
    points = killed(Runs(tmp_path, location, own_catalog), lambda points: points)
    assert {"put before 2", "put after 2", "write_text before 1", "write_text after 1", "replace after 1"} <= {
        *points
    }
    assert len(points) > 20
