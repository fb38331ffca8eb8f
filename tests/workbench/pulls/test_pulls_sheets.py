"""Seventeen sheets as people leave them: rows, dead letters by address, or a sentence; never wrong rows."""

from datetime import date, datetime
from decimal import Decimal

import pytest
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account

from workbench import pulls
from workbench.pulls import asking, sheets
from workbench_standins import google

COLUMNS = {"nation": "integer", "name": "text", "segment": "text", "since": "date", "budget": "decimal"}
HEADER = [*COLUMNS]
DAY = {"date": "2026-01-31"}
FRANCE, CIV = [6, "FRANCE", "BUILDING", DAY, 12.5], [22, "CÔTE D’IVOIRE", "MACHINERY", DAY, 7]
GOOD = [HEADER, FRANCE, CIV]
ROWS = [
    {"nation": 6, "name": "FRANCE", "segment": "BUILDING", "since": date(2026, 1, 31), "budget": "12.5"},
    {"nation": 22, "name": "CÔTE D’IVOIRE", "segment": "MACHINERY", "since": date(2026, 1, 31), "budget": "7"},
]


def header(**names):
    return [[names.get(name, name) for name in HEADER], FRANCE, CIV]


def cell(column, value):
    row = [*FRANCE]
    row[HEADER.index(column)] = value
    return [HEADER, row, CIV]


def merge(rows, columns):
    return {
        "startRowIndex": rows[0], "endRowIndex": rows[1], "startColumnIndex": columns[0], "endColumnIndex": columns[1],
    }  # fmt: skip


# what is planted: (rows, merges, dead cells as (address, reason, raw) or the words of a refusal)
SHEETS = {
    "as it should be": (GOOD, [], []),
    "columns moved": ([[row[n] for n in (4, 2, 0, 1, 3)] for row in GOOD], [], []),
    "rows without a value": ([HEADER, FRANCE, [], [None] * 5, CIV, [""], []], [], []),
    "a header renamed": (header(segment="market segment"), [], "lacks segment; it has nation, name, market segment"),
    "a header doubled": (header(segment="name"), [], "has name twice, in Sheet1!B1 and Sheet1!C1"),
    "a header merged": (GOOD, [merge((0, 1), (1, 3))], "header of Sheet1 has merged cells"),
    "a header gone": (GOOD[1:], [], "lacks nation"),
    "a new column": ([[*row, "x"] for row in GOOD], [], "has x in Sheet1!F1"),
    "emptied": ([], [], "lacks nation; it has nothing"),
    "an error": (cell("segment", {"error": "REF"}), [], [("Sheet1!C2", "an error of the sheet", "#REF!")]),
    "a date that is a number": (
        cell("since", {"serial": 46053}), [],
        [("Sheet1!D2", "a number that is not formatted as a date, expected date", "46053")],
    ),
    "a date that is a text": (cell("since", "31.1.2026"), [], [("Sheet1!D2", "a text, expected date", "31.1.2026")]),
    "a number that is a text": (cell("nation", "07"), [], [("Sheet1!A2", "a text, expected integer", "07")]),
    "a text that became a number": (cell("name", 7), [], [("Sheet1!B2", "a number, expected text", "7")]),
    "a part of a number": (cell("nation", 6.5), [], [("Sheet1!A2", "not a whole number", "6.5")]),
    "cells merged": (
        [HEADER, FRANCE, [7, "GERMANY", None, DAY, 1], CIV], [merge((1, 3), (2, 3))],
        [
            ("Sheet1!C2", "a part of merged cells: 2 rows, 1 columns", "BUILDING"),
            ("Sheet1!C3", "a part of merged cells: 2 rows, 1 columns", ""),
        ],
    ),
    "a value beside": ([HEADER, [*FRANCE, "note"], CIV], [], [("Sheet1!F2", "it has no header", "note")]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    monkeypatch.setattr(asking, "wait", lambda attempt, first_wait_s: None)


@pytest.fixture(scope="module")
def server():
    with google.serve() as running:
        yield running


def tab(server, rows, merges=(), **options):
    server.set_book("book", {"Sheet1": {"rows": rows, "merges": list(merges)}})
    credentials = service_account.Credentials.from_service_account_info(
        server.credentials(), scopes=[sheets.SCOPE]
    )
    return sheets.tab(
        AuthorizedSession(credentials), "book", options.pop("title", "Sheet1"), options.pop("columns", COLUMNS),
        endpoint=server.endpoint, **options,
    )  # fmt: skip


def test_seventeen():
    assert len(SHEETS) == 17


@pytest.mark.parametrize("what", SHEETS)
def test_a_planted_sheet(server, what):
    rows, merges, expected = SHEETS[what]
    ask = tab(server, rows, merges, required=["nation"])
    if isinstance(expected, str):
        with pytest.raises(pulls.AnswerRefused, match=expected):
            ask()
        return
    answer = ask()
    assert [(dead.address, dead.reason, dead.raw) for dead in answer.dead] == expected
    assert answer.rows.to_pylist() == (ROWS[1:] if expected else ROWS)
    assert (answer.requests, answer.flags["locale"]) == (1, "en_US")


def test_into_a_table(spark, namespace, server):
    table, dead = f"{namespace}.segments", f"{namespace}.dead"
    spark.sql(
        f"CREATE TABLE {table} (nation INT, name STRING, segment STRING, since DATE, budget DECIMAL(9,1)) USING iceberg"
    )

    def pulled(rows, **options):
        return pulls.whole(spark, table, source="segments", ask=tab(server, rows), key=["nation"], **options)

    assert pulled(GOOD).added == 2
    assert pulled(GOOD).snapshot_id is None
    for rows, said in (
        ([HEADER], "2 of the 2 rows"), ([HEADER, FRANCE], "1 of the 2 rows"),
        ([HEADER, FRANCE, FRANCE, CIV], "2 rows have one key, nation 6"),
        (cell("budget", 1.25), "cannot be decimal.9,1."), (cell("segment", {"error": "REF"}), "at Sheet1!C2"),
    ):  # fmt: skip
        with pytest.raises((pulls.PullRefused, pulls.AnswerRefused), match=said):
            pulled(rows)
        assert spark.table(table).count() == 2, said
    bad = pulled(cell("segment", {"error": "REF"}), dead_letters=dead, most_removed=0.5)
    assert (bad.dead, bad.removed) == (1, 1)
    assert pulled(GOOD, dead_letters=dead).added == 1
    assert [row.address for row in spark.table(dead).collect()] == ["Sheet1!C2"]
    assert spark.table(table).where("nation = 22").collect()[0].name == "CÔTE D’IVOIRE"
    assert spark.table(table).where("nation = 6").collect()[0].budget == Decimal("12.5")
    edited = []

    def meanwhile(step):
        if step == "publish":
            edited.append(tab(server, cell("segment", "MACHINERY")))

    changed = pulled(cell("budget", 13), on_step=meanwhile)  # what was asked for is of one moment
    assert (changed.changed, spark.table(table).where("nation = 6").collect()[0].segment) == (1, "BUILDING")
    again = pulls.whole(spark, table, source="segments", ask=edited[0], key=["nation"])
    assert (again.changed, spark.table(table).where("nation = 6").collect()[0].segment) == (1, "MACHINERY")


def test_types(server):
    rows = [["at", "yes", "none"], [{"date": "2026-01-31"}, True, None], [{"date": "2026-01-31"}, 1, None]]
    columns = {"at": "timestamp", "yes": "boolean", "none": "text"}
    answer = tab(server, rows, columns=columns)()
    assert answer.rows.to_pylist() == [{"at": datetime(2026, 1, 31), "yes": True, "none": None}]
    assert answer.dead[0].reason == "a number, expected boolean"
    assert tab(server, GOOD, columns=COLUMNS | {"since": "decimal"})().dead[0].reason == "a date, expected decimal"
    empty = tab(server, cell("name", None), required=["name"])()
    assert (empty.dead[0].address, empty.dead[0].reason) == ("Sheet1!B2", "name is empty")


BEYOND = [  # of a type's range: (kind, cell, reason)
    ("integer", 2.0**63, "a number too large, expected integer"),
    ("integer", -1e30, "a number too large, expected integer"),
    ("date", {"serial": 2958466, "format": "DATE"}, "a date beyond the year 9999, expected date"),
    ("date", {"serial": 4e9, "format": "DATE"}, "a date beyond the year 9999, expected date"),
    ("timestamp", {"serial": -1e12, "format": "DATE_TIME"}, "a date before the year 1, expected timestamp"),
]


@pytest.mark.parametrize(("kind", "value", "reason"), BEYOND)
def test_a_number_beyond_its_type_is_dead(server, kind, value, reason):
    """A telephone number that Sheets formats as a date, for example: its row alone is left out."""
    answer = tab(server, [["n", "x"], [1, value], [2, None]], columns={"n": "integer", "x": kind})()
    assert answer.rows.to_pylist() == [{"n": 2, "x": None}]
    assert [(dead.address, dead.reason) for dead in answer.dead] == [("Sheet1!B2", reason)]


def test_refusals(server):
    with pytest.raises(pulls.AnswerRefused, match="has no tab Sheet2; it has Sheet1"):
        tab(server, GOOD, title="Sheet2")()
    with pytest.raises(ValueError, match="required names x"):
        tab(server, GOOD, required=["x"])
    with pytest.raises(ValueError, match="columns must"):
        tab(server, GOOD, columns={"a": "number"})
    ask = tab(server, GOOD)
    server.set_book("book", {"Sheet1": {"rows": GOOD}}, readers=["nobody"])
    with pytest.raises(pulls.AnswerRefused, match="403 PERMISSION_DENIED"):
        ask()
    ask = tab(server, GOOD)
    for kind in ("429", "500", "503", "401", "lost_answer"):
        server.set_faults({"kind": kind, "operation": "spreadsheet"})
        assert ask().rows.num_rows == 2, kind
    server.set_faults({"kind": "500", "operation": "spreadsheet", "most": 99})
    with pytest.raises(pulls.AnswerRefused, match="the book book cannot be read: 500 INTERNAL"):
        ask()
    server.set_faults()


@pytest.mark.proof("test_refusals has an answer that is lost, for which the client waits no longer")
def test_an_answer_that_is_too_slow(server, monkeypatch):
    monkeypatch.setattr(asking, "SECONDS", 3.0)
    server.set_faults({"kind": "slow_answer", "operation": "spreadsheet", "seconds": 10.0})
    answer = tab(server, GOOD)()
    assert answer.rows.num_rows == 2 and answer.requests >= 2
    server.set_faults({"kind": "slow_answer", "operation": "spreadsheet", "seconds": 10.0, "most": 99})
    with pytest.raises(pulls.AnswerRefused, match="the book book cannot be read: (ReadTimeout|ConnectionError)"):
        tab(server, GOOD, tries=2)()
    server.set_faults()


def test_addresses():
    assert sheets.address("Sheet1", 6, 2) == "Sheet1!C7"
    assert sheets.address("Max's sheet", 0, 27) == "'Max''s sheet'!AB1"
