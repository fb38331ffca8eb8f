"""10^5 rows: a report in pages that change between, and a sheet; one state of them, and memory that stays bounded."""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account
from large_child import DIMENSIONS, METRICS
from restated import by_another_engine, make
from test_pulls_analytics import report

from workbench import pulls
from workbench.data import visits as planted
from workbench.pulls import analytics, asking, sheets
from workbench_standins import google

pytestmark = pytest.mark.proof(
    "test_pulls_analytics has pages that change between, of few rows, and test_pulls_sheets the sheet"
)
FIRST, DAYS = date(2026, 1, 1), 5
LAST = FIRST + timedelta(DAYS - 1)
ROWS, PAGE_ROWS = 100_000, 10_000
ROW_BYTES = 750  # of memory that a row of the answer may take at most
NOW = planted.night(LAST)
CHILD = Path(__file__).with_name("large_child.py")


def country(number):
    return f"{number % (ROWS // DAYS):05}"


def made():
    """A visit a row, day by day, so that pages are in the rows' order."""
    return [
        {
            "day": str(FIRST + timedelta(number // (ROWS // DAYS))), "user": number, "new": 0, "cents": number % 997,
            "dims": {"country": country(number)}, "known": 0.0,
        }
        for number in range(ROWS)
    ]  # fmt: skip


def truth(visits, now):
    """The rows of the report as of a time: day, country, users, revenue."""
    users, cents = defaultdict(set), Counter()
    for visit in visits:
        if visit["known"] <= now and not (visit.get("gone") and visit["gone"] <= now):
            at = date.fromisoformat(visit["day"]), visit["dims"]["country"]
            users[at].add(visit["user"])
            cents[at] += visit["cents"]
    return {(*at, len(found), Decimal(cents[at]) / 100) for at, found in users.items()}


@pytest.fixture(scope="module")
def visits():
    """Money of a row of the first page is given to one of the last page a minute later: rows and totals stay."""
    listed = made()
    at = {"known": 0.0, "day": str(FIRST), "user": 0, "dims": {"country": country(0)}}
    listed.append(at | {"new": 0, "cents": 500, "gone": NOW + 60})
    later = {"known": NOW + 60, "day": str(LAST), "user": ROWS - 1, "dims": {"country": country(ROWS - 1)}}
    return [*listed, later | {"new": 0, "cents": 500}]


@pytest.fixture
def server(visits, monkeypatch):
    monkeypatch.setattr(asking, "wait", lambda attempt, first_wait_s: None)
    with google.serve(start=NOW) as running:
        running.add_visits("1", visits)
        running.add_visits("small", visits[:10])
        yield running


def asked(server):
    return report(server, dimensions=DIMENSIONS, metrics=METRICS, page_rows=PAGE_ROWS)


def test_pages_that_change_between_come_as_one_state(spark, namespace, server, visits):
    table = f"{namespace}.t"
    make(spark, table)
    server.set_faults({"kind": "later", "operation": "runReport", "after_calls": 5, "seconds": 60})
    options = {"source": "ga4", "day": "event_date", "key": ["country"], "first": FIRST, "until": LAST}
    done = pulls.run(spark, table, ask=asked(server), settled_days=DAYS, **options)
    # ten pages whose sums are not their totals, and ten of one state
    assert (done.rows, done.requests, done.added) == (ROWS, 2 * ROWS // PAGE_ROWS, ROWS)
    assert by_another_engine(spark, table) == truth(visits, NOW + 60)
    again = pulls.run(spark, table, ask=asked(server), settled_days=DAYS, **options)
    assert (again.snapshot_id, again.requests) == (None, ROWS // PAGE_ROWS)
    restated = {"day": str(LAST), "user": 1, "new": 0, "cents": 1, "dims": {"country": "new"}, "known": NOW}
    server.add_visits("1", [restated])
    third = pulls.run(spark, table, ask=asked(server), settled_days=DAYS, **options)
    assert (third.added, third.changed, third.removed, third.rows) == (1, 0, 0, ROWS // DAYS + 1)
    assert by_another_engine(spark, table) == truth([*visits, restated], NOW + 60)


def test_sums_that_are_not_compared_hide_it(server, visits, monkeypatch):
    """The planted fault: rows of two states, in which the money that moved is counted twice."""
    monkeypatch.setattr(analytics, "_refuse_totals", lambda *given: None)
    server.set_faults({"kind": "later", "operation": "runReport", "after_calls": 5, "seconds": 60})
    answer = asked(server)(FIRST, LAST)
    assert answer.rows.num_rows == ROWS and answer.requests == ROWS // PAGE_ROWS
    revenue = sum(Decimal(value) for value in answer.rows["revenue"].to_pylist())
    assert revenue == sum(row[3] for row in truth(visits, NOW)) + 5


def row_bytes(server, *, keep):
    """How much memory a row of the large report took, in a process of its own that read a small one first."""
    told = {"endpoint": server.endpoint, "key": server.credentials(), "page_rows": PAGE_ROWS, "keep": keep}
    words = [sys.executable, CHILD, str(LAST)]
    done = subprocess.run(words, input=json.dumps(told), capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert said["rows"] == {"small": 10, "large": ROWS}
    return (said["peaks"]["large"] - said["peaks"]["small"]) / ROWS


def test_memory_is_bounded_by_the_rows(server):
    assert row_bytes(server, keep=False) < ROW_BYTES


def test_rows_that_are_kept_are_seen(server):
    assert row_bytes(server, keep=True) > ROW_BYTES


def test_a_sheet_of_as_many_rows(spark, namespace):
    table, dead = f"{namespace}.t", f"{namespace}.dead"
    spark.sql(f"CREATE TABLE {table} (n INT, name STRING, since DATE) USING iceberg")
    rows = [[number, f"name {number}", {"date": "2026-01-31"}] for number in range(ROWS)]
    rows[ROWS - 1][2] = {"serial": 46053}
    with google.serve() as running:
        key = running.credentials()
        credentials = service_account.Credentials.from_service_account_info(key, scopes=[sheets.SCOPE])
        columns = {"n": "integer", "name": "text", "since": "date"}
        ask = sheets.tab(AuthorizedSession(credentials), "b", "S", columns, endpoint=running.endpoint)
        running.set_book("b", {"S": {"rows": [[*columns], *rows]}})

        def pulled():
            return pulls.whole(spark, table, source="s", ask=ask, key=["n"], dead_letters=dead)

        first = pulled()
        assert (first.added, first.dead, first.requests) == (ROWS - 1, 1, 1)
        assert [row.address for row in spark.table(dead).collect()] == [f"S!C{ROWS + 1}"]
        rows[5][1], rows[ROWS - 1][2] = "another", {"date": "2026-02-01"}
        running.set_book("b", {"S": {"rows": [[*columns], *rows]}})
        second = pulled()
    assert (second.added, second.changed, second.removed, second.dead) == (1, 1, 0, 0)
    held = spark.table(table).selectExpr("count(*)", "sum(n)", "count_if(name = concat('name ', n))").first()
    assert tuple(held) == (ROWS, sum(range(ROWS)), ROWS - 1)
