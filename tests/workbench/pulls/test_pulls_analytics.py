"""Reports of Analytics by Google's own client, against the stand-in: right after every night, or refused in words."""

import json
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

import pytest
from google.analytics.data_v1beta import BetaAnalyticsDataClient
from google.oauth2 import service_account

from workbench import pulls
from workbench.data import visits as planted
from workbench.pulls import analytics, asking
from workbench_standins import google

FIRST, DAYS = date(2026, 1, 1), 5
DIMENSIONS = {"event_date": "date", "country": "country", "device": "deviceCategory"}
METRICS = {"users": "activeUsers", "new_users": "newUsers", "revenue": "totalRevenue"}


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    monkeypatch.setattr(asking, "wait", lambda attempt, first_wait_s: None)


@pytest.fixture
def server():
    with google.serve(start=planted.night(FIRST)) as running:
        running.set_property("1")
        yield running


def client_of(server):
    credentials = service_account.Credentials.from_service_account_info(
        server.credentials(), scopes=[analytics.SCOPE]
    )
    return BetaAnalyticsDataClient(
        credentials=credentials, transport="rest", client_options={"api_endpoint": server.endpoint}
    )


def report(server, number="1", **options):
    return analytics.report(
        client_of(server), number, **({"dimensions": DIMENSIONS, "metrics": METRICS} | options)
    )


def rows(answer):
    return {
        (row["event_date"], row["country"], row["device"]): (
            int(row["users"]), int(row["new_users"]), round(Decimal(row["revenue"]) * 100),
        )
        for row in answer.rows.to_pylist()
    }  # fmt: skip


def visit(day=FIRST, user=1, cents=0, country="Italy", known=0.0, **other):
    dims = {"country": country, "deviceCategory": "mobile"}
    return {"day": str(day), "user": user, "new": 0, "cents": cents, "dims": dims, "known": known} | other


def test_night_by_night_into_a_table(spark, namespace, server):
    table, visits = f"{namespace}.visits", planted.made(events=400, days=DAYS, latest_days=2)
    server.add_visits("1", visits)
    spark.sql(
        f"CREATE TABLE {table} (event_date DATE, country STRING, device STRING, users INT, new_users INT, "
        "revenue DECIMAL(18,2)) USING iceberg PARTITIONED BY (event_date)"
    )
    ask, restated = report(server, page_rows=10), 0
    for number in range(DAYS):
        until = FIRST + timedelta(number)
        done = pulls.run(
            spark, table, source="ga4", ask=ask, day="event_date", key=["country", "device"], first=FIRST,
            until=until, settled_days=3,
        )  # fmt: skip
        restated += done.changed + done.removed
        pulled = {
            tuple(row[:3]): (row.users, row.new_users, round(row.revenue * 100))
            for row in spark.table(table).collect()
        }
        assert pulled == planted.truth(visits, until, planted.night(until))
        server.advance(planted.DAY_SECONDS)
    assert restated > 0 and done.flags == {"currency": "EUR", "time_zone": "Europe/Berlin"}
    summaries = spark.sql(f"SELECT summary FROM {table}.snapshots").collect()
    assert "canary" not in json.dumps([row.summary for row in summaries])


def test_pages(server):
    server.add_visits("1", [visit(user=n, cents=n, country=c) for n, c in enumerate("ABCDE")])
    for page_rows, pages in ((5, 1), (4, 2), (2, 3), (250_000, 1)):
        answer = report(server, page_rows=page_rows)(FIRST, FIRST)
        assert (answer.rows.num_rows, answer.requests, answer.through) == (5, pages, FIRST)
    assert report(server)(date(2025, 1, 1), date(2025, 1, 2)).rows.num_rows == 0


def test_pages_of_two_states_are_asked_for_again(server):
    now = planted.night(FIRST)
    server.add_visits("1", [visit(user=n, cents=5, country=c) for n, c in enumerate("ABCD")])
    server.add_visits("1", [visit(user=9, cents=100, country="A", known=now + 60)])
    server.set_faults({"kind": "later", "operation": "runReport", "after_calls": 1, "seconds": 60})
    answer = report(server, page_rows=2)(FIRST, FIRST)
    assert rows(answer)[FIRST, "A", "mobile"] == (2, 0, 105)
    assert answer.requests == 4  # two pages that did not match, and two that do
    for n in range(1, 9):
        server.add_visits("1", [visit(user=9, cents=100, country="A", known=now + 60 + n * 60)])
    server.set_faults({"kind": "later", "operation": "runReport", "seconds": 60, "most": 99})
    with pytest.raises(pulls.AnswerRefused, match="changed each time while its pages were read"):
        report(server, page_rows=2, tries=3)(FIRST, FIRST)


def test_totals_that_are_not_compared_hide_a_moving_report(server, monkeypatch):
    """The planted fault: without the comparison rows of two states stand side by side."""
    now = planted.night(FIRST)
    server.add_visits("1", [visit(user=n, cents=5, country=c) for n, c in enumerate("ABCD")])
    server.add_visits("1", [visit(user=9, cents=100, country="A", known=now + 60)])
    server.set_faults({"kind": "later", "operation": "runReport", "after_calls": 1, "seconds": 60})
    once = analytics._once

    def careless(state, first, last):
        monkeypatch.setattr(analytics, "_Moved", type("Never", (Exception,), {}))
        page = analytics._page
        monkeypatch.setattr(analytics, "_page", lambda *given: _without_totals(page(*given)))
        return once(state, first, last)

    monkeypatch.setattr(analytics, "_once", careless)
    assert rows(report(server, page_rows=2)(FIRST, FIRST))[FIRST, "A", "mobile"] == (1, 0, 5)


def _without_totals(page):
    del page.totals[:]
    return page


def test_faults_of_the_service(server):
    server.add_visits("1", [visit()])
    ask = report(server)
    for kind in ("429", "500", "503", "401", "lost_answer"):
        server.set_faults({"kind": kind, "operation": "runReport"})
        assert ask(FIRST, FIRST).rows.num_rows == 1, kind
    server.set_faults({"kind": "503", "operation": "runReport", "most": 99})
    with pytest.raises(pulls.AnswerRefused, match="properties/1 cannot be read: .*UNAVAILABLE"):
        ask(FIRST, FIRST)
    server.set_faults({"kind": "403", "operation": "runReport", "most": 99})
    with pytest.raises(pulls.AnswerRefused, match="PERMISSION_DENIED") as refused:
        ask(FIRST, FIRST)
    assert "http" not in str(refused.value)  # the client's own message begins with the request


@pytest.mark.proof("test_faults_of_the_service has an answer that is lost, for which the client waits no longer")
def test_an_answer_that_is_too_slow(server):
    server.add_visits("1", [visit()])
    client = client_of(server)
    client.run_report = partial(client.run_report, timeout=3.0)  # of the caller's client
    server.set_faults({"kind": "slow_answer", "operation": "runReport", "seconds": 10.0})
    answer = analytics.report(client, "1", dimensions=DIMENSIONS, metrics=METRICS)(FIRST, FIRST)
    assert answer.rows.num_rows == 1 and answer.requests >= 2
    server.set_faults({"kind": "slow_answer", "operation": "runReport", "seconds": 10.0, "most": 99})
    with pytest.raises(pulls.AnswerRefused, match="properties/1 cannot be read: .*(Timeout|timed out)"):
        analytics.report(client, "1", dimensions=DIMENSIONS, metrics=METRICS, tries=2)(FIRST, FIRST)


def test_tokens_used_up(server):
    """The days that are complete are kept; where none is, it is said."""
    server.set_property("1", tokens_per_day=30, most_rows=1)
    server.add_visits(
        "1", [visit(FIRST + timedelta(n), user=m, country=c) for n in (0, 1) for m, c in enumerate("AB")]
    )
    ask = report(server, refuse=[])
    answer = ask(FIRST, FIRST + timedelta(1))  # (other), so each day by itself: three requests
    assert (answer.requests, answer.stopped, answer.flags["other"]) == (3, "", "2026-01-01, 2026-01-02")
    with pytest.raises(analytics.TokensUsedUp, match="Exhausted property tokens per day"):
        ask(FIRST, FIRST)
    server.advance(planted.DAY_SECONDS)
    server.set_property("1", tokens_per_day=20)
    answer = ask(FIRST, FIRST + timedelta(1))
    assert (answer.through, answer.requests) == (FIRST, 2)
    assert "Exhausted property tokens" in answer.stopped
    assert {row["event_date"] for row in answer.rows.to_pylist()} == {FIRST}


def test_doubts(server):
    server.add_visits("1", [visit(user=n, country=c) for n, c in ((1, "A"), (2, "A"), (3, "B"))])
    server.set_property("1", threshold=2, sampling=[5, 10])
    answer = report(server)(FIRST, FIRST)
    assert answer.rows.num_rows == 1
    assert answer.flags["thresholded"] == "rows with few users are withheld"
    assert answer.flags["sampled"] == "5 of 10 events were read"
    for doubt in ("thresholded", "sampled"):
        with pytest.raises(pulls.AnswerRefused, match=f"is {doubt}"):
            report(server, refuse=[doubt])(FIRST, FIRST)
    server.set_property("1", threshold=0, sampling=None, most_rows=1)
    with pytest.raises(pulls.AnswerRefused, match="puts rows of 2026-01-01 together as .other."):
        report(server)(FIRST, FIRST)


def test_what_is_refused_before_a_report(server):
    ten = {name: name for name in ("date", "country", "region", "city", "browser", "language", "deviceModel", "operatingSystem", "deviceCategory", "sessionSource")}  # fmt: skip
    for options, said in (
        ({"dimensions": ten}, "dimensions must be 1 to 9, found 10"),
        ({"dimensions": {"country": "country"}}, "dimensions must have date"),
        ({"dimensions": DIMENSIONS | {"town": "cty"}}, "has no dimension cty; it has .*city"),
        ({"metrics": {"users": "users"}}, "has no metric users; it has activeUsers"),
        ({"metrics": {"country": "activeUsers"}}, "a column of a dimension and of a metric"),
        ({"metrics": {}}, "metrics must be 1 to 10"),
        ({"number": "99"}, "sufficient permissions"),
        ({"number": "properties/1"}, "number is properties/1; give the property's number alone"),
    ):
        with pytest.raises(ValueError, match=said):
            report(server, **options)
    assert "runReport" not in server.calls()


def test_a_metric_whose_type_changed(server):
    server.add_visits("1", [visit()])
    ask = report(server)
    server.set_property("1", types={"activeUsers": "TYPE_FLOAT"})
    with pytest.raises(pulls.AnswerRefused, match="activeUsers .* was TYPE_INTEGER and is now TYPE_FLOAT"):
        ask(FIRST, FIRST)
