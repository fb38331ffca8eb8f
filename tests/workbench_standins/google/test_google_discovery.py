"""Every answer of the stand-in is one that Google's discovery documents describe, and what pulls ask for is in them."""

import json
import urllib.error
import urllib.request

import google_discovery
import httpx
import pytest
from google.auth.transport.requests import AuthorizedSession, Request
from google.oauth2 import service_account
from google.rpc import code_pb2
from hypothesis import given
from hypothesis import strategies as st
from test_google import START, visit

from workbench.pulls import analytics, sheets
from workbench_proofs import segments
from workbench_standins import google
from workbench_standins.google import grids, reports
from workbench_standins.google.store import STATUS, Book, Property

SHEETS, DATA = "sheets.v4", "analyticsdata.v1beta"
EVERY_CELL = [
    None, 7, 7.5, -1e300, "a", "", "=1", True, False, {"date": "2026-01-31"}, {"date": "0001-01-01"}, {"serial": 46053},
    {"serial": 4e9, "format": "DATE"}, {"serial": 1.5, "format": "DATE_TIME"}, *({"error": kind} for kind in grids.ERRORS),
]  # fmt: skip
CELLS = st.one_of(
    st.sampled_from(EVERY_CELL), st.text(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-2**53, 2**53),
    st.dates().map(lambda day: {"date": day.isoformat()}),
    st.builds(lambda serial, kind: {"serial": serial, "format": kind}, st.integers(-10**6, 10**6), st.sampled_from(sheets.DATES)),
)  # fmt: skip


@pytest.fixture(scope="module")
def server():
    with google.serve(start=START) as running:
        yield running


def session(server, *scopes):
    return AuthorizedSession(
        service_account.Credentials.from_service_account_info(server.credentials(), scopes=scopes)
    )


def through_json(value):
    """What a client reads: JSON has other types than Python."""
    return json.loads(json.dumps(value, allow_nan=False))


def book_faults(content):
    return google_discovery.faults(SHEETS, "Spreadsheet", through_json(content))


# grids and reports by themselves: what they can answer


def test_every_kind_of_cell():
    rows = [EVERY_CELL, [], [None]]
    merge = {"startRowIndex": 0, "endRowIndex": 1, "startColumnIndex": 0, "endColumnIndex": 2}
    book = Book({"S": {"rows": rows, "merges": [merge]}, "Max's": {"rows": []}})
    for ranges in ([], ["S"], ["'Max''s'"]):
        for mask in ("", sheets.FIELDS, "*", "sheets/data/rowData"):
            assert book_faults(grids.spreadsheet(book, "b", ranges, mask)) == []


@given(st.lists(st.lists(CELLS, max_size=4), max_size=4))
def test_random_sheets(rows):
    assert book_faults(grids.spreadsheet(Book({"S": {"rows": rows}}), "b", [], "")) == []


def test_the_seventeen_sheets():
    edits = segments.edits(segments.rows(seed=1), seed=1)
    assert len(edits) == 17
    for edit in edits:
        assert book_faults(grids.spreadsheet(Book({segments.TITLE: dict(edit.tab)}), "b", [], sheets.FIELDS)) == []


def test_every_kind_of_report():
    known = Property(
        visits=[visit("2026-02-28", user, 150, country) for user, country in ((1, "A"), (2, "A"), (3, "B"))]
    )
    asked = {
        "dimensions": [{"name": "date"}, {"name": "country"}], "metrics": [{"name": name} for name in reports.METRICS],
        "dateRanges": [{"startDate": "2026-02-01", "endDate": "yesterday"}],
    }  # fmt: skip
    for settings in (
        {},
        {"threshold": 2},
        {"most_rows": 1},
        {"sampling": [5, 10]},
        {"types": {"activeUsers": "TYPE_FLOAT"}},
    ):
        owner = Property(known.visits, **settings)
        for more in ({}, {"metricAggregations": ["TOTAL"]}, {"limit": "1", "offset": "1"}, {"dimensions": []}):
            answer = through_json(reports.report(owner, asked | more, START))
            assert google_discovery.faults(DATA, "RunReportResponse", answer) == []
        described = through_json(reports.metadata(owner, "1"))
        assert google_discovery.faults(DATA, "Metadata", described) == []


# over HTTP, at the addresses that the documents have


def address(server, method, **named):
    path = method.get("flatPath", method["path"])
    for name, value in named.items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path
    return method["httpMethod"], f"{server.endpoint}/{path}"


def test_at_the_documents_addresses(server):
    server.add_visits("1", [visit("2026-02-28", 1, 150)])
    server.set_book("b", {"S": {"rows": [EVERY_CELL]}, "T": {"rows": []}})
    get = google_discovery.method(SHEETS, "spreadsheets", "get")
    content = (
        session(server, sheets.SCOPE)
        .request(*address(server, get, spreadsheetId="b"), params={"fields": sheets.FIELDS})
        .json()
    )
    assert (
        get["response"] == {"$ref": "Spreadsheet"} and book_faults(content) == [] and len(content["sheets"]) == 2
    )
    ran, named = (google_discovery.method(DATA, "properties", name) for name in ("runReport", "getMetadata"))
    reader = session(server, analytics.SCOPE)
    asked = {"metrics": [{"name": "activeUsers"}], "metricAggregations": ["TOTAL"], "returnPropertyQuota": True}
    assert google_discovery.faults(DATA, ran["request"]["$ref"], asked) == []
    answer = reader.request(*address(server, ran, propertiesId="1"), json=asked).json()
    assert google_discovery.faults(DATA, ran["response"]["$ref"], answer) == [] and answer["propertyQuota"]
    described = reader.request(*address(server, named, propertiesId="1")).json()
    assert google_discovery.faults(DATA, named["response"]["$ref"], described) == []


def test_a_book_without_a_mask_has_no_cells_unless_they_are_asked_for(server):
    """As the parameter's description has it: it is ignored where there is a mask."""
    server.set_book("g", {"S": {"rows": [["n"]]}})
    reader, at = session(server, sheets.SCOPE), f"{server.endpoint}/v4/spreadsheets/g"
    plain, grid = (reader.get(at, params=asked).json() for asked in ({}, {"includeGridData": "true"}))
    assert ["data" in content["sheets"][0] for content in (plain, grid)] == [False, True]
    assert book_faults(plain) == book_faults(grid) == []
    masked = reader.get(at, params={"fields": sheets.FIELDS, "includeGridData": "false"}).json()
    assert "data" in masked["sheets"][0]


def test_every_refusal_is_a_status(server):
    """An error's JSON is google.rpc.Status with HTTP's code, and the name of the status beside it."""
    server.set_book("e", {"S": {"rows": []}}, readers=["nobody"])
    reader, at = session(server, sheets.SCOPE), f"{server.endpoint}/v4/spreadsheets"
    answers = [reader.get(f"{at}/none"), reader.get(f"{at}/e"), reader.post(f"{at}/e"), httpx.get(f"{at}/e")]
    answers += [session(server, analytics.SCOPE).get(f"{at}/e")]
    for kind in STATUS:
        server.set_faults({"kind": kind, "operation": "spreadsheet", "most": 9})
        answers.append(reader.get(f"{at}/none"))
    server.set_faults()
    asked = {"metrics": [{"name": "users"}]}
    answers.append(
        session(server, analytics.SCOPE).post(f"{server.endpoint}/v1beta/properties/1:runReport", json=asked)
    )
    assert {answer.status_code for answer in answers} == {400, 401, 403, 404, 429, 500, 503}
    for answer in answers:
        error = dict(answer.json()["error"])
        assert error.pop("status") in code_pb2.Code.keys() and error["code"] == answer.status_code  # noqa: SIM118
        assert [*answer.json()] == ["error"] and google_discovery.faults(DATA, "Status", error) == []


def test_three_independent_clients_read_one_book(server):
    server.set_book("three", {"S": {"rows": [EVERY_CELL, ["n"]]}})
    at, reader = f"{server.endpoint}/v4/spreadsheets/three", session(server, sheets.SCOPE)
    known = reader.credentials
    known.refresh(Request())
    headers = {"Authorization": f"Bearer {known.token}"}

    def by_urllib(asked):
        whole = urllib.request.Request(f"{at}?{httpx.QueryParams(asked)}", headers=headers)
        try:
            with urllib.request.urlopen(whole, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    for asked in ({"fields": sheets.FIELDS}, {"ranges": "S"}, {"ranges": "other"}, {"fields": "sheets(("}):
        answers = [
            reader.get(at, params=asked).json(), httpx.get(at, params=asked, headers=headers).json(), by_urllib(asked),
        ]  # fmt: skip
        assert answers[0] == answers[1] == answers[2]
        assert ("error" in answers[0]) == (asked.get("ranges") == "other" or "((" in asked.get("fields", ""))


def test_what_a_pull_asks_for_is_described():
    """The mask names fields that there are, and the scopes are those of the methods."""
    assert google_discovery.mask_faults(SHEETS, "Spreadsheet", sheets.FIELDS) == []
    typo = sheets.FIELDS.replace("numberFormat", "numberFormats").replace("timeZone", "timezone")
    assert google_discovery.mask_faults(SHEETS, "Spreadsheet", typo) == [
        "SpreadsheetProperties has no timezone", "CellFormat has no numberFormats", "None has no type",
    ]  # fmt: skip
    assert sheets.SCOPE in google_discovery.method(SHEETS, "spreadsheets", "get")["scopes"]
    assert analytics.SCOPE in google_discovery.method(DATA, "properties", "runReport")["scopes"]
    assert google_discovery.document(SHEETS)["rootUrl"] == f"{sheets.ENDPOINT}/"


# planted faults

ROWS = "Spreadsheet.sheets[0].data[0].rowData[0].values[0]"
PLANTED = [
    (SHEETS, "Spreadsheet", {"sheet": []}, "Spreadsheet has no field sheet"),
    (SHEETS, "Spreadsheet", {"sheets": {}}, "Spreadsheet.sheets must be array, found {}"),
    (SHEETS, "Sheet", {"properties": {"sheetId": True}}, "Sheet.properties.sheetId must be integer, found True"),
    (SHEETS, "Sheet", {"properties": {"sheetId": 2**31}}, "Sheet.properties.sheetId must be an int32, found 2147483648"),
    (SHEETS, "ExtendedValue", {"numberValue": "7"}, "ExtendedValue.numberValue must be number, found '7'"),
    (SHEETS, "ExtendedValue", {"numberValue": float("inf")}, "numberValue must be a finite number, found inf"),
    (SHEETS, "ExtendedValue", {"errorValue": {"type": "N/A"}}, "errorValue.type must be one of ERROR_TYPE_UNSPECIFIED"),
    (SHEETS, "CellData", {"effectiveFormat": {"numberFormat": {"type": "DAY"}}}, "type must be one of NUMBER_FORMAT_TYPE"),
    (DATA, "SamplingMetadata", {"samplesReadCount": 5}, "samplesReadCount must be string, found 5"),
    (DATA, "SamplingMetadata", {"samplesReadCount": "5.0"}, "samplesReadCount must be a text of an int64, found '5.0'"),
    (DATA, "RunReportResponse", {"rowCount": "1"}, "rowCount must be integer, found '1'"),
    (DATA, "RunReportResponse", {"rows": [{"metricValues": [{"value": 1}]}]}, "metricValues[0].value must be string"),
    (DATA, "MetricHeader", {"type": "INTEGER"}, "MetricHeader.type must be one of METRIC_TYPE_UNSPECIFIED"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "schema", "value", "said"), PLANTED, ids=[said for *_, said in PLANTED])
def test_a_planted_fault_is_told(name, schema, value, said):
    [fault] = google_discovery.faults(name, schema, value)
    assert said in fault


@pytest.mark.parametrize(
    ("place", "said"),
    [("cell", f"{ROWS} has no field value"), ("error", f"{ROWS}.effectiveValue.errorValue.type must be one of")],
)
def test_a_fault_of_the_stand_in_is_told(monkeypatch, place, said):
    if place == "cell":
        monkeypatch.setattr(grids, "cell", lambda value: {"value": value})
    else:
        monkeypatch.setitem(grids.ERRORS, "GONE", "#GONE!")
    book = Book({"S": {"rows": [[{"error": "GONE"}]]}})
    [fault] = book_faults(grids.spreadsheet(book, "b", [], ""))
    assert fault.startswith(said)
