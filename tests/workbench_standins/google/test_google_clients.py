"""Three independent clients, Google's by gRPC, Google's by REST and plain httpx, have the same rows and refusals."""

import time
from datetime import date

import grpc
import httpx
import pytest
from google.analytics.data_v1beta import BetaAnalyticsDataClient, types
from google.analytics.data_v1beta.services.beta_analytics_data.transports import BetaAnalyticsDataGrpcTransport
from google.api_core import exceptions
from google.auth.transport import grpc as auth_grpc
from google.auth.transport.requests import Request
from google.oauth2 import service_account
from google.protobuf import json_format

from workbench import pulls
from workbench.data import visits as planted
from workbench.pulls import analytics, asking
from workbench_standins import google

FIRST, DAYS = date(2026, 1, 1), 4
BODY = {
    "dimensions": [{"name": "date"}, {"name": "country"}, {"name": "deviceCategory"}],
    "metrics": [{"name": "activeUsers"}, {"name": "newUsers"}, {"name": "totalRevenue"}],
    "dateRanges": [{"startDate": "2026-01-01", "endDate": "2026-01-04"}],
    "metricAggregations": ["TOTAL"],
    "returnPropertyQuota": True,
}
CHANNELS = []  # of gRPC, closed at the end
REFUSALS = {  # HTTP's code to the class of an error that Google's clients raise
    400: exceptions.BadRequest, 401: exceptions.Unauthorized, 403: exceptions.Forbidden,
    429: exceptions.TooManyRequests, 500: exceptions.InternalServerError, 503: exceptions.ServiceUnavailable,
}  # fmt: skip


@pytest.fixture(scope="module")
def server():
    with google.serve(start=planted.night(date(2026, 1, 4)), grpc=True) as running:
        running.add_visits("1", planted.made(events=300, days=DAYS, latest_days=2))
        yield running
        for channel in CHANNELS:
            channel.close()


def credentials(server, scope=analytics.SCOPE, **options):
    return service_account.Credentials.from_service_account_info(server.credentials(**options), scopes=[scope])


def by_grpc(server, known):
    called = grpc.metadata_call_credentials(auth_grpc.AuthMetadataPlugin(known, Request()))
    channel = grpc.secure_channel(
        server.grpc_target,
        grpc.composite_channel_credentials(grpc.local_channel_credentials(), called),
        options=[("grpc.max_receive_message_length", -1)],
    )
    CHANNELS.append(channel)
    return BetaAnalyticsDataClient(transport=BetaAnalyticsDataGrpcTransport(channel=channel))


def by_rest(server, known):
    return BetaAnalyticsDataClient(
        credentials=known, transport="rest", client_options={"api_endpoint": server.endpoint}
    )


class ByHttpx:
    """What the official client does, by httpx alone: messages are JSON and errors are codes."""

    def __init__(self, server, known):
        self.at, self.known = f"{server.endpoint}/v1beta", known

    def _said(self, method, path, message, **content):
        if not self.known.valid:
            self.known.refresh(Request())
        answer = httpx.request(
            method, f"{self.at}/{path}", headers={"Authorization": f"Bearer {self.known.token}"}, **content
        )
        if answer.status_code != 200:
            error = answer.json()["error"]
            raise exceptions.from_http_status(answer.status_code, error["message"])
        return message(json_format.ParseDict(answer.json(), message.pb(message())))

    def run_report(self, request):
        body = json_format.MessageToDict(types.RunReportRequest.pb(request))
        path = f"{body.pop('property')}:runReport"
        return self._said("POST", path, types.RunReportResponse, json=body)

    def get_metadata(self, name):
        return self._said("GET", name, types.Metadata)


CLIENTS = {"gRPC": by_grpc, "REST": by_rest, "httpx": ByHttpx}


def request(number="1", **other):
    asked = types.RunReportRequest.pb(types.RunReportRequest())
    return types.RunReportRequest(
        json_format.ParseDict(BODY | {"property": f"properties/{number}"} | other, asked)
    )


def plain(answered):
    """An answer as JSON, without its quota, of which each call takes some."""
    content = json_format.MessageToDict(type(answered).pb(answered))
    quota = content.pop("propertyQuota", {})
    return content, quota.get("tokensPerDay", {}).get("consumed")


def in_turn(server, call, known=None):
    """What each client has of a call; it is the same for all, or the test ends here."""
    answers = {name: call(make(server, known or credentials(server))) for name, make in CLIENTS.items()}
    first = answers["REST"]
    assert {name for name, answer in answers.items() if answer != first} == set(), answers
    return first


def test_the_same_rows(server):
    answer, consumed = in_turn(server, lambda client: plain(client.run_report(request())))
    rows = [tuple(v["value"] for v in (*row["dimensionValues"], *row["metricValues"])) for row in answer["rows"]]
    truth = planted.truth(
        planted.made(events=300, days=DAYS, latest_days=2), date(2026, 1, 4), planted.night(date(2026, 1, 4))
    )
    assert len(rows) == answer["rowCount"] == len(truth) > 40
    assert {(date.fromisoformat(row[0]), *row[1:3]): int(row[3]) for row in rows} == {
        at: values[0] for at, values in truth.items()
    }
    assert (consumed, len(answer["totals"]), answer["metadata"]["currencyCode"]) == (10, 1, "EUR")
    page, _ = in_turn(server, lambda client: plain(client.run_report(request(limit=7, offset=5))))
    assert page["rows"] == answer["rows"][5:12]
    empty, _ = in_turn(
        server,
        lambda client: plain(
            client.run_report(request(dateRanges=[{"startDate": "2025-01-01", "endDate": "2025-01-02"}]))
        ),
    )
    assert "rows" not in empty
    described, _ = in_turn(server, lambda client: plain(client.get_metadata(name="properties/1/metadata")))
    assert {entry["type"] for entry in described["metrics"]} == {"TYPE_INTEGER", "TYPE_CURRENCY"}


def test_a_planted_difference_is_seen(server, monkeypatch):
    monkeypatch.setitem(CLIENTS, "gRPC", lambda server, known: by_rest_without_a_metric(server, known))
    with pytest.raises(AssertionError, match="gRPC"):
        in_turn(server, lambda client: plain(client.run_report(request())))


def by_rest_without_a_metric(server, known):
    client = by_rest(server, known)
    ask = client.run_report

    def less(asked):
        asked.metrics = asked.metrics[:2]
        return ask(asked)

    client.run_report = less
    return client


@pytest.mark.parametrize("kind", ["401", "403", "429", "500", "503", "lost_answer"])
def test_the_same_faults(server, kind):
    before, names = server.calls().get("runReport", 0), []
    for name, make in CLIENTS.items():
        client = make(server, credentials(server))
        client.get_metadata(name="properties/1/metadata")  # whoever wants a token has one now
        server.set_faults({"kind": kind, "operation": "runReport"})
        try:
            client.run_report(request())
        except (exceptions.GoogleAPICallError, httpx.TransportError) as error:
            assert isinstance(error, REFUSALS.get(int(kind) if kind.isdigit() else 503, ())) or "lost" in kind, (
                name
            )
            names.append(name)
        except OSError as error:  # requests' own error of a connection that ended
            assert kind == "lost_answer" and "RemoteDisconnected" in repr(error)
            names.append(name)
        server.set_faults()
    # a client of Google's takes a new token by itself at a 401, by HTTP alone
    assert names == [name for name in CLIENTS if (kind, name) != ("401", "REST")]
    assert server.calls()["runReport"] - before == len(CLIENTS) + (kind == "401")


def refused(call):
    """HTTP's code and the words of a refusal, whose class is the code's."""

    def said(client):
        with pytest.raises(exceptions.GoogleAPICallError) as error:
            call(client)
        code = error.value.code
        assert isinstance(error.value, REFUSALS[code])
        words = error.value.message  # by REST behind the method and its address
        return int(code), words.rpartition(": ")[2] if words.startswith(("GET http", "POST http")) else words

    return said


def test_the_same_refusals(server):
    def report(number="1", **other):
        return refused(lambda client: client.run_report(request(number, **other)))

    server.set_property("2", tokens_per_day=10, readers=["somebody@else"])
    server.set_property("3", tokens_per_day=0)
    for call, known, expected in (
        (report("99"), None, (403, "sufficient permissions for this property")),
        (report("2"), None, (403, "sufficient permissions for this property")),
        (report("3"), None, (429, "Exhausted property tokens per day")),
        (report(metrics=[{"name": "users"}]), None, (400, "Field users is not a valid metric")),
        (report(dimensions=[{"name": "date"}] * 10), None, (400, "limited to 9 dimensions")),
        (report(), credentials(server, scope="https://www.googleapis.com/auth/other"), (403, "scopes")),
        (refused(lambda client: client.get_metadata(name="properties/99/metadata")), None, (403, "permissions")),
    ):  # fmt: skip
        code, words = in_turn(server, call, known)
        assert code == expected[0] and expected[1] in words


def test_one_quota_for_all(server):
    """Tokens that are spent by one way are missing by the others."""
    server.set_property("4", tokens_per_day=20)
    known = credentials(server)
    by_grpc(server, known).run_report(request("4"))
    by_rest(server, known).run_report(request("4"))
    with pytest.raises(exceptions.TooManyRequests, match="Exhausted"):
        ByHttpx(server, known).run_report(request("4"))


def test_a_slow_answer_and_a_token_that_is_over(server):
    client = by_grpc(server, credentials(server))
    client.run_report(request())
    server.set_faults({"kind": "slow_answer", "operation": "runReport", "seconds": 1.0})
    begin = time.monotonic()
    with pytest.raises(exceptions.DeadlineExceeded):
        client.run_report(request(), timeout=0.2)
    assert time.monotonic() - begin < 0.9
    server.set_faults()
    server.revoke()
    with pytest.raises(exceptions.Unauthenticated):
        client.run_report(request())
    with grpc.secure_channel(server.grpc_target, grpc.local_channel_credentials()) as channel:
        anonymous = BetaAnalyticsDataClient(transport=BetaAnalyticsDataGrpcTransport(channel=channel))
        with pytest.raises(exceptions.Unauthenticated):
            anonymous.run_report(request())


def test_a_report_by_grpc_is_the_one_by_rest(server, monkeypatch):
    """What a pull makes of an answer, and of each fault, whichever way it came."""
    monkeypatch.setattr(asking, "wait", lambda attempt, first_wait_s: None)
    options = {
        "dimensions": {"day": "date", "country": "country", "device": "deviceCategory"},
        "metrics": {"users": "activeUsers", "revenue": "totalRevenue"}, "page_rows": 10,
    }  # fmt: skip
    asks = [analytics.report(make(server, credentials(server)), "1", **options) for make in (by_grpc, by_rest)]
    answers = [ask(FIRST, date(2026, 1, 4)) for ask in asks]
    assert answers[0] == answers[1]
    assert answers[0].rows.num_rows > 40 and answers[0].requests > 4
    for kind in ("429", "500", "503", "lost_answer"):
        server.set_faults({"kind": kind, "operation": "runReport"})
        assert asks[0](FIRST, date(2026, 1, 4)).rows == answers[1].rows, kind
    server.set_faults({"kind": "503", "operation": "runReport", "most": 99})
    for ask in asks:
        with pytest.raises(pulls.AnswerRefused, match="properties/1 cannot be read: .*UNAVAILABLE"):
            ask(FIRST, FIRST)
    server.set_faults()


def test_it_ends_with_its_context():
    with google.serve(grpc=True) as running:
        channel = grpc.secure_channel(running.grpc_target, grpc.local_channel_credentials())
        grpc.channel_ready_future(channel).result(10)
    with (
        pytest.raises(grpc.FutureTimeoutError),
        grpc.secure_channel(running.grpc_target, grpc.local_channel_credentials()) as other,
    ):
        grpc.channel_ready_future(other).result(0.5)
    channel.close()
    with google.serve() as running:
        assert running.grpc_target == ""
