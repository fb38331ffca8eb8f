"""`workbench pull`: a user's own function, a report and a sheet into tables, by one command each."""

import json
import subprocess
import sys

import pytest
from conftest import workbench

from workbench_standins import google

CODE = """
def ask(since, until):
    rows = [{"day": "2026-01-01", "shop": "Lyon", "revenue": "12.50"}, {"day": "2026-01-02", "shop": "Lyon", "revenue": "1"}]
    return [row for row in rows if str(since) <= row["day"] <= str(until)]

def everything():
    return []

def broken(since, until):
    return [{"day": "2026-01-01", "shop": "Lyon", "revenue": "much"}]
"""
DAYS = ("--first", "2026-01-01", "--until", "2026-01-02", "--settled-days", 3)


STATEMENTS = """
import json, sys
from workbench import session
spark = session.start("lake")
print(json.dumps([[list(row) for row in spark.sql(text).collect()] for text in sys.argv[1:]], default=str))
"""


def in_the_lake(*statements):
    """Run statements in a process of their own, for a process has one session, and return the rows of each."""
    done = subprocess.run(
        [sys.executable, "-c", STATEMENTS, *statements], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_refusals(tmp_path):
    file = tmp_path / "shop.py"
    file.write_text(CODE)
    run = ("pull", "run", file, "web.t", "--source", "shop", "--day", "day", "--key", "shop", "--settled-days", 3)
    sheet = ("pull", "sheet", "web.t", "--book", "b", "--tab", "S", "--key", "a")
    filled = ("--source", "shop", "--day", "day", "--first", "2026-01-01", "--settled-days", 3)
    # the last one of an option counts; each would have started a session of an environment that is not there
    right = ("pull", "run", file, "web.t", *filled, "--key", "shop", "--environment", "none")
    whole = ("pull", "whole", file, "web.t", "--source", "s", "--key", "shop", "--environment", "none")
    for arguments, said in (
        ((*right, "--source", ""), "source must be a name, found ''"),
        ((*right, "--day", ""), "day must name a column, found an empty text"),
        ((*right, "--key", ""), "key must name a column, found an empty text"),
        ((*right, "--key", "shop"), "key names a column twice: shop, shop"),
        ((*right, "--key", "day"), "key names day, which is the day"),
        ((*right, "--dead-letters", ""), "'' is not a table name"),
        (("pull", "run", file, "", *right[4:]), "'' is not a table name"),
        ((*right, "--ask", "everything"), "ask must be a function of the first and the last day"),
        (whole, "ask must be a function of no argument"),
        ((*whole, "--ask", "everything", "--key", "shop"), "key names a column twice: shop, shop"),
        (("pull", "lateness", "web.t", "", "--environment", "none"), "source must be a name, found ''"),
        (
            (*sheet, "--column", "a=text", "--credentials", "env:KEY", "--endpoint", ""),
            "--endpoint must be an address",
        ),
        (
            ("pull", "run", file, "web.t", *filled, "--environment", "none"),
            "no environment 'none'",
        ),  # needs no key
        ((*run, "--first", "soon"), "--first must be a date such as 2026-01-31, found 'soon'"),
        (
            (*run, "--first", "2026-02-01", "--until", "2026-01-01"),
            "until is 2026-01-01, before first, 2026-02-01",
        ),
        ((*run, "--first", "2026-01-01", "--dead-letters", "dead"), "'dead' is not a table name"),
        ((*run[:-1], 1001, "--first", "2026-01-01"), "Invalid value for '--settled-days'"),
        ((*run, "--first", "2026-01-01", "--ask", "other"), "shop.py has no function other"),
        ((*sheet, "--column", "a", "--credentials", "env:KEY"), "--column must be HEADER=TYPE, found 'a'"),
        (
            (*sheet, "--column", "a=text", "--credentials", "{secret}"),
            "must be a reference, env:NAME or ssm:/path",
        ),
        ((*sheet, "--column", "a=text", "--credentials", "env:NO_KEY"), "NO_KEY, which is not set"),
        ((*sheet, "--column", "a=text", "--credentials", "env:HOME"), "env:HOME is not the JSON key"),
    ):
        refused = workbench(*arguments, cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
        assert said in refused.stderr and "{secret}" not in refused.stderr


def test_what_google_answers_is_1_and_what_is_asked_for_wrongly_2(tmp_path):
    """Both before a session starts: there is no such environment."""
    with google.serve() as server:
        server.add_visits("7", [])
        given = ("--credentials", "env:KEY", "--endpoint", server.endpoint, *DAYS, "--environment", "none")
        own = {"KEY": json.dumps(server.credentials())}
        for number, metric, code, said in (
            ("99", "activeUsers", 1, "properties/99 cannot be read"),
            ("7", "users", 2, "properties/7 has no metric users"),
            ("7", "activeUsers", 2, "no environment 'none'"),
        ):
            refused = workbench(
                "pull", "analytics", "web.t", "--property", number, "--dimension", "day=date", "--metric",
                f"users={metric}", *given, cwd=tmp_path, env=own,
            )  # fmt: skip
            assert (refused.returncode, refused.stdout) == (code, ""), refused.stderr
            assert said in refused.stderr


@pytest.mark.proof("test_refusals is the command, tests/workbench/pulls what it calls")
def test_a_function_a_report_and_a_sheet(project):
    in_the_lake(
        "CREATE NAMESPACE web",
        "CREATE TABLE web.orders (day DATE, shop STRING, revenue DECIMAL(18,2)) USING iceberg PARTITIONED BY (day)",
        "CREATE TABLE web.visits (day DATE, country STRING, users INT) USING iceberg PARTITIONED BY (day)",
        "CREATE TABLE web.nations (nation INT, segment STRING) USING iceberg",
    )
    (project / "shop.py").write_text(CODE)
    run = ("pull", "run", "shop.py", "web.orders", "--source", "shop", "--day", "day", "--key", "shop", *DAYS)
    done = workbench(*run, cwd=project)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 2
    assert "2026-01-01  1 added, 0 changed, 0 removed" in done.stderr
    assert json.loads(workbench(*run, cwd=project).stdout)["snapshot_id"] is None
    broken = workbench(*run, "--ask", "broken", cwd=project)
    assert broken.returncode == 1 and "values of revenue (string) cannot be decimal(18,2)" in broken.stderr
    late = workbench("pull", "lateness", "web.orders", "shop", cwd=project)
    assert json.loads(late.stdout)["pulls"] == 1
    with google.serve() as server:
        visit = {"day": "2026-01-01", "user": 1, "new": 0, "cents": 0, "dims": {"country": "Italy"}, "known": 0}
        server.add_visits("7", [visit])
        server.set_book("b", {"S": {"rows": [["nation", "segment"], [6, "BUILDING"], [7, {"error": "REF"}]]}})
        own = {"KEY": json.dumps(server.credentials())}
        where = ("--credentials", "env:KEY", "--endpoint", server.endpoint)
        report = workbench(
            "pull", "analytics", "web.visits", "--property", "7", "--dimension", "day=date", "--dimension",
            "country=country", "--metric", "users=activeUsers", *DAYS, *where, cwd=project, env=own,
        )  # fmt: skip
        assert report.returncode == 0, report.stderr
        sheet = workbench(
            "pull", "sheet", "web.nations", "--book", "b", "--tab", "S", "--column", "nation=integer", "--column",
            "segment=text", "--key", "nation", "--dead-letters", "web.dead", *where, cwd=project, env=own,
        )  # fmt: skip
        assert sheet.returncode == 0, sheet.stderr
        for said in (report, sheet):
            assert "PRIVATE KEY" not in said.stdout + said.stderr and "canary" not in said.stdout + said.stderr
    assert (json.loads(report.stdout)["rows"], json.loads(sheet.stdout)["dead"]) == (1, 1)
    visits, nations, dead = in_the_lake(
        "SELECT * FROM web.visits", "SELECT * FROM web.nations", "SELECT address FROM web.dead"
    )
    assert (visits, nations, dead) == ([["2026-01-01", "Italy", 1]], [[6, "BUILDING"]], [["S!B3"]])
