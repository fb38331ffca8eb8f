"""The stand-in of Google answers Google's own clients, refuses as Google does, and ends with its context."""

import http.client
import json

import pytest
from google.analytics.data_v1beta import BetaAnalyticsDataClient, types
from google.api_core import exceptions
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account
from google.protobuf import json_format

from workbench_standins import google

ANALYTICS = "https://www.googleapis.com/auth/analytics.readonly"
SHEETS = "https://www.googleapis.com/auth/spreadsheets.readonly"
START = 1_772_323_200.0  # 2026-03-01


@pytest.fixture(scope="module")
def server():
    with google.serve(start=START) as running:
        yield running


def credentials(server, *scopes, **options):
    return service_account.Credentials.from_service_account_info(server.credentials(**options), scopes=scopes)


def client(server, **options):
    return BetaAnalyticsDataClient(
        credentials=credentials(server, ANALYTICS, **options), transport="rest",
        client_options={"api_endpoint": server.endpoint},
    )  # fmt: skip


def visit(day, user, cents=0, country="DE", known=START, **other):
    return {
        "day": day,
        "user": user,
        "new": 0,
        "cents": cents,
        "dims": {"country": country},
        "known": known,
    } | other


def ask(number, **options):
    return types.RunReportRequest(
        property=f"properties/{number}",
        dimensions=[types.Dimension(name=name) for name in options.pop("dimensions", ["date", "country"])],
        metrics=[types.Metric(name=name) for name in options.pop("metrics", ["activeUsers", "totalRevenue"])],
        date_ranges=[types.DateRange(start_date="2026-02-01", end_date="yesterday")],
        **options,
    )


def rows(answered):
    return [tuple(v.value for v in (*row.dimension_values, *row.metric_values)) for row in answered.rows]


def test_reports_by_the_clock(server):
    server.set_property("1")
    server.add_visits("1", [
        visit("2026-02-28", 1, 150), visit("2026-02-28", 1, 25), visit("2026-02-28", 2, known=START + 60),
        visit("2026-02-27", 3, country="FR", gone=START + 60),
    ])  # fmt: skip
    reader = client(server)
    assert rows(reader.run_report(ask("1"))) == [("20260227", "FR", "1", "0"), ("20260228", "DE", "1", "1.75")]
    server.advance(60)
    answered = reader.run_report(ask("1", metric_aggregations=[1], return_property_quota=True))
    assert rows(answered) == [("20260228", "DE", "2", "1.75")]
    assert (answered.row_count, answered.totals[0].metric_values[1].value) == (1, "1.75")
    assert answered.property_quota.tokens_per_day.consumed == 10
    assert rows(reader.run_report(ask("1", limit=1, offset=1))) == []


def test_refusals_are_googles(server):
    server.set_property("2", tokens_per_day=10, readers=[google.ACCOUNT])
    reader = client(server)
    nine = ["date", "country", "region", "city", "browser", "language", "deviceModel", "operatingSystem", "deviceCategory", "sessionSource"]  # fmt: skip
    reader.run_report(ask("2"))
    with pytest.raises(exceptions.TooManyRequests, match="Exhausted property tokens per day"):
        reader.run_report(ask("2"))
    server.advance(86_400)
    with pytest.raises(exceptions.BadRequest, match="limited to 9 dimensions"):
        reader.run_report(ask("2", dimensions=nine))
    server.set_property("2", tokens_per_day=1000)
    with pytest.raises(exceptions.BadRequest, match="Field users is not a valid metric"):
        reader.run_report(ask("2", metrics=["users"]))
    for number, account in (("99", google.ACCOUNT), ("2", "somebody@else")):
        with pytest.raises(exceptions.Forbidden, match="sufficient permissions"):
            client(server, account=account).run_report(ask(number))
    with pytest.raises(exceptions.Forbidden, match="authentication scopes"):
        BetaAnalyticsDataClient(
            credentials=credentials(server, SHEETS),
            transport="rest",
            client_options={"api_endpoint": server.endpoint},
        ).run_report(ask("2"))


def test_a_forged_key_gets_no_token(server):
    from google.auth.exceptions import RefreshError

    with google.serve(start=START) as other:
        forged = server.credentials() | {"private_key": other.credentials()["private_key"]}
    info = service_account.Credentials.from_service_account_info(forged, scopes=[SHEETS])
    with pytest.raises(RefreshError, match="Invalid JWT"):
        AuthorizedSession(info).get(f"{server.endpoint}/v4/spreadsheets/b")


def test_every_answer_is_the_apis_message(server):
    """Fields that the published message has not are refused by protobuf."""
    server.set_property("3", threshold=2, sampling=[5, 10], most_rows=1)
    server.add_visits("3", [visit("2026-02-28", n, country=country) for n in (1, 2, 3) for country in ("A", "B")])
    server.add_visits("3", [visit("2026-02-28", 9, country="C")])
    session = AuthorizedSession(credentials(server, ANALYTICS))
    request = {
        "dimensions": [{"name": "date"}, {"name": "country"}], "metrics": [{"name": "activeUsers"}],
        "dateRanges": [{"startDate": "2026-02-01", "endDate": "2026-02-28"}], "metricAggregations": ["TOTAL"],
        "returnPropertyQuota": True,
    }  # fmt: skip
    answered = session.post(f"{server.endpoint}/v1beta/properties/3:runReport", json=request).json()
    message = json_format.ParseDict(answered, types.RunReportResponse.pb(types.RunReportResponse()))
    assert message.metadata.data_loss_from_other_row and message.metadata.subject_to_thresholding
    assert message.metadata.sampling_metadatas[0].samples_read_count == 5
    assert message.rows[0].dimension_values[1].value == "(other)"
    described = session.get(f"{server.endpoint}/v1beta/properties/3/metadata").json()
    json_format.ParseDict(described, types.Metadata.pb(types.Metadata()))
    with pytest.raises(json_format.ParseError):
        json_format.ParseDict(
            answered | {"dimensionFilter": {}}, types.RunReportResponse.pb(types.RunReportResponse())
        )


def test_sheets_by_a_field_mask(server):
    server.set_book(
        "b", {"S": {"rows": [["n", "when"], [1.5, {"date": "2026-01-31"}], [{"error": "REF"}, {"serial": 3}]]}}
    )
    session = AuthorizedSession(credentials(server, SHEETS))
    mask = "sheets(properties/title,data/rowData/values(effectiveValue,effectiveFormat/numberFormat/type))"
    sheet = session.get(f"{server.endpoint}/v4/spreadsheets/b", params={"fields": mask}).json()["sheets"][0]
    assert sheet["properties"] == {"title": "S"}
    cells = [row["values"] for row in sheet["data"][0]["rowData"]]
    assert cells[1] == [
        {"effectiveValue": {"numberValue": 1.5}},
        {"effectiveValue": {"numberValue": 46053}, "effectiveFormat": {"numberFormat": {"type": "DATE"}}},
    ]
    assert cells[2][0]["effectiveValue"]["errorValue"]["type"] == "REF"
    assert session.get(f"{server.endpoint}/v4/spreadsheets/none").status_code == 404
    unnamed = session.get(f"{server.endpoint}/v4/spreadsheets/b", params={"ranges": "Other"})
    assert (unnamed.status_code, unnamed.json()["error"]["message"]) == (400, "Unable to parse range: Other")


def test_faults_and_revoked_tokens(server):
    server.set_book("f", {"S": {"rows": [["n"]]}})
    session, at = AuthorizedSession(credentials(server, SHEETS)), f"{server.endpoint}/v4/spreadsheets/f"
    before = server.calls().get("spreadsheet", 0)
    server.set_faults(
        {"kind": "503", "operation": "spreadsheet"},
        {"kind": "429", "operation": "spreadsheet", "after_calls": 1},
    )
    assert [session.get(at).status_code for _ in range(4)] == [503, 200, 429, 200]
    tokens = server.calls()["token"]
    server.set_faults({"kind": "401", "operation": "spreadsheet"})
    assert session.get(at).status_code == 200  # google-auth took a new token by itself
    assert (server.calls()["token"], server.calls()["spreadsheet"] - before) == (tokens + 1, 6)
    server.set_faults({"kind": "lost_answer", "operation": "spreadsheet"})
    with pytest.raises(Exception, match="(?i)connection aborted|remote end closed"):
        session.get(at)
    with pytest.raises(ValueError, match="'418' is not a kind of fault"):
        server.set_faults({"kind": "418"})
    server.set_faults()


def test_another_client_and_the_end():
    with google.serve() as server:
        host = server.endpoint.removeprefix("http://")
        connection = http.client.HTTPConnection(host)
        connection.request("GET", "/v4/spreadsheets/b")
        said = json.loads(connection.getresponse().read())
        assert said["error"]["status"] == "UNAUTHENTICATED"
        connection.close()
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection(host).request("GET", "/")
    with google.serve() as server:
        taken = google.serve(port=int(server.endpoint.rpartition(":")[2]))
        with pytest.raises(ValueError, match="cannot be had"):
            taken.__enter__()
