"""kill -9 wherever a run of tests asks an engine, or writes its ledger or artifact: run again, it has the same outcomes."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from workbench import dbt

NAME = '"shop"."main"."orders"'
SQL = [
    "id < 0", "note not like 'x%'", "note like 'x1'", "kind not in ('a', 'b')", "price < 0",
]  # fmt: skip
CHILD = """
import os, signal, sys
from pathlib import Path
from workbench import dbt
from workbench._base import worklist
from workbench.dbt.duckdbs import DuckDB

location, ledger, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
points = 0

def counted(function):
    def call(*arguments, **named):
        global points
        for step in ("before", "after"):
            points += 1
            if points == last:
                os.kill(os.getpid(), signal.SIGKILL)
            if step == "before":
                answer = function(*arguments, **named)
        return answer
    return call

for owner, names in ((DuckDB, ("rows", "binds", "failing", "distinct")), (worklist.Worklist, ("put", "rows"))):
    for name in names:
        setattr(owner, name, counted(getattr(owner, name)))
from tests_of import project_tests
outcomes = dbt.prove(dbt.plan(project_tests()), {'"shop"."main"."orders"': location}, ledger=ledger)
os.replace = counted(os.replace)
Path.write_text = counted(Path.write_text)
dbt.write(outcomes, sys.argv[4])
print(points)
"""


def project_tests():
    unique = (
        f"select id, count(*) as n from {NAME} where id is not null group by id having count(*) > 1",
        f"select kind, count(*) as n from {NAME} where kind is not null group by kind having count(*) > 1",
    )
    rows = [f"select * from {NAME} where {where}" for where in SQL]
    return [dbt.Test(f"test.shop.t{n}", sql) for n, sql in enumerate([*rows, *unique])]


@pytest.fixture
def location(tmp_path):
    (tmp_path / "lake").mkdir()
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/lake.db", warehouse=f"file://{tmp_path}/lake")
    catalog.create_namespace("main")
    rows = pa.table(
        {"id": [1, 2, 3], "kind": ["a", "b", "a"], "price": [1.0, 2.0, 3.0], "note": ["x1", "x2", "x3"]}
    )
    table = catalog.create_table("main.orders", rows.schema)
    table.append(rows)
    return table.metadata_location


def run(location, ledger, last, folder):
    (folder / "tests_of.py").write_text(
        f"from workbench import dbt\nNAME, SQL = {NAME!r}, {SQL!r}\n" + _source(project_tests)
    )
    (folder / "child.py").write_text(CHILD)
    target = folder / f"target{last}"
    target.mkdir()
    (target / "manifest.json").write_text('{"metadata": {"dbt_version": "1.11.16"}}')
    command = [sys.executable, str(folder / "child.py"), location, str(ledger), str(last), str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def _source(function):
    import inspect

    return inspect.getsource(function)


def lines(ledger):
    if not ledger.exists():
        return set()
    with closing(sqlite3.connect(ledger)) as database:
        try:
            return set(database.execute("SELECT digest, states, told_by FROM dbt_passed"))
        except sqlite3.OperationalError:
            return set()


def written(folder, last):
    """Return what a killed run left as its artifact: all results, or None for no file."""
    path = folder / f"target{last}" / "run_results.json"
    if not path.exists():
        return None
    return [(result["status"], result["failures"]) for result in json.loads(path.read_text())["results"]]


def shape(outcomes):
    return [(outcome.status, outcome.failures) for outcome in outcomes]


def killed(location, folder, points):
    """Kill a run at each of some points, in a ledger of its own, and run it again."""
    plan, there = dbt.plan(project_tests()), {NAME: location}
    expected = shape(dbt.prove(plan, there))
    assert {status for status, _ in expected} == {"pass", "fail"}
    whole = folder / "whole.db"
    total = int(run(location, whole, 0, folder).stdout)
    evidence = lines(whole)
    assert written(folder, 0) == expected
    for last in points(total):
        ledger = folder / f"killed{last}.db"
        assert run(location, ledger, last, folder).returncode == -9
        assert lines(ledger) <= evidence, last  # nothing is noted that no run could tell
        assert written(folder, last) in (None, expected), last
        assert shape(dbt.prove(plan, there, ledger=ledger)) == expected
        assert {line[:2] for line in lines(ledger)} == {line[:2] for line in evidence}, last
    return total


def test_a_run_that_is_killed_is_run_again(location, tmp_path):
    killed(location, tmp_path, lambda total: [total // 2])


@pytest.mark.proof("killed once, in the middle: test_a_run_that_is_killed_is_run_again")
def test_a_run_that_is_killed_at_each_point_is_run_again(location, tmp_path):
    assert killed(location, tmp_path, lambda total: range(1, total + 1)) > 20
