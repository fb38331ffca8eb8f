"""The front by gRPC, before a server that is not there: who is let in, and what is refused without asking it."""

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc

from workbench._base.errors import ArgumentError
from workbench_ops import front
from workbench_ops.front import operations, refusals, tokens
from workbench_ops.front.refusals import Refused
from workbench_ops.front.service import visible
from workbench_standins import ports

SESSION = "00000000-0000-4000-8000-000000000001"
TEXT = "SELECT uid FROM lake.sales.people"
KINDS = list(base_pb2.ExecutePlanResponse.DESCRIPTOR.oneofs_by_name["response_type"].fields)


def governed(principal, table):
    raise ArgumentError(f"{table} has a hidden column salary")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A front; nobody listens where it looks for its server."""
    port = ports.choose(("server",), {"server": 0})["server"]
    server = SimpleNamespace(address=f"127.0.0.1:{port}", token=lambda: "the token of the server")
    key = tmp_path_factory.mktemp("front") / "key"
    with front.serve(governed, server=server, users={"reader", "writer"}, key=key, catalog="lake") as serving:
        yield serving


@pytest.fixture(scope="module")
def channel(running):
    with grpc.secure_channel(f"localhost:{running.port}", grpc.local_channel_credentials()) as open_channel:
        yield open_channel


def answer(channel, call, request, *metadata):
    """The status and the sentence that a call is refused with, and what its ErrorInfo holds."""
    stub = getattr(base_pb2_grpc.SparkConnectServiceStub(channel), call)
    try:
        response = stub(iter([request]) if call == "AddArtifacts" else request, metadata=metadata, timeout=60)
        list(response) if hasattr(response, "cancel") and call != "AddArtifacts" else None
    except grpc.RpcError as error:
        status = rpc_status.from_call(error)
        info = error_details_pb2.ErrorInfo()
        status.details[0].Unpack(info)
        return error.code().name, status.message, dict(info.metadata)
    return "OK", "", {}


def bearer(token):
    return ("authorization", f"Bearer {token}")


def request(kind="AnalyzePlanRequest", user="reader", **fields):
    message = getattr(base_pb2, kind)(session_id=SESSION, **fields)
    message.user_context.user_id = user
    return message


VERSION = {"spark_version": base_pb2.AnalyzePlanRequest.SparkVersion()}


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ([], "a token is needed"),
        ([("authorization", "Basic x")], "a token is needed"),
        ([bearer("x.y.z")], "it cannot be read"),
        ([bearer(tokens.issue(b"another key of thirty-two bytes!", "reader"))], "its signature is not ours"),
    ],
)
def test_who_has_no_token_of_ours_is_not_let_in(channel, metadata, sentence):
    code, message, _ = answer(channel, "AnalyzePlan", request(**VERSION), *metadata)
    assert code == "UNAUTHENTICATED" and sentence in message


def test_who_is_let_in(running, channel):
    """Each ends at the server that is not there; the front has let it through."""
    gone = ("UNAVAILABLE", "the server behind the front does not answer", {})
    mine = bearer(running.token("reader"))
    assert answer(channel, "AnalyzePlan", request(**VERSION), mine) == gone
    assert answer(channel, "AnalyzePlan", request(user="root", **VERSION), mine) == gone  # PySpark sends $USER
    assert (
        answer(channel, "AnalyzePlan", request(user="writer", **VERSION), mine) == gone
    )  # who is one is not told
    twice = answer(channel, "AnalyzePlan", request(**VERSION), mine, bearer(running.token("writer")))
    assert twice[0] == "UNAUTHENTICATED"
    other = bearer(tokens.issue(running.key, "stranger"))
    assert answer(channel, "AnalyzePlan", request(**VERSION), other)[:2] == (
        "UNAUTHENTICATED", "the front refuses this: stranger is not let in",
    )  # fmt: skip
    with pytest.raises(ArgumentError, match="'stranger' is not let in by this front; it lets in 2 users"):
        running.token("stranger")


@pytest.mark.parametrize(
    ("call", "message", "sentence"),
    [
        ("AddArtifacts", request("AddArtifactsRequest"), "AddArtifacts: files and classes of the client's own"),
        ("ArtifactStatus", request("ArtifactStatusesRequest"), "ArtifactStatus: it is not among the calls"),
        ("CloneSession", request("CloneSessionRequest"), "CloneSession: it is not among the calls"),
        ("FetchErrorDetails", request("FetchErrorDetailsRequest"), "FetchErrorDetails: what the server says"),
        ("AnalyzePlan", request(explain={}), "a plan shows what is hidden"),
        ("Config", request("ConfigRequest", operation={"get_all": {}}), "the settings hold keys of the server"),
        ("ExecutePlan", request("ExecutePlanRequest", plan={"command": {"ml_command": {}}}), "Command.ml_command"),
        (
            "ReattachExecute",
            request("ReattachExecuteRequest", operation_id=SESSION),
            "INVALID_HANDLE.OPERATION_NOT_FOUND",
        ),
    ],
)
def test_calls_that_are_refused(running, channel, call, message, sentence):
    _, refusal, info = answer(channel, call, message, bearer(running.token("reader")))
    assert sentence in refusal and info == {"classes": '["org.apache.spark.sql.AnalysisException"]'}


def test_a_refusal_tells_nothing_of_the_table(running, channel):
    plan = {"root": {"read": {"named_table": {"unparsed_identifier": "sales.people"}}}}
    code, message, _ = answer(
        channel, "ExecutePlan", request("ExecutePlanRequest", plan=plan), bearer(running.token("reader"))
    )
    assert (code, message) == (
        "PERMISSION_DENIED",
        "the front refuses this: lake.sales.people is not shared with reader, or does not exist",
    )


def test_a_call_that_nobody_knows_is_refused(channel):
    call = channel.unary_unary("/spark.connect.SparkConnectService/OfTomorrow")
    with pytest.raises(grpc.RpcError) as error:
        call(b"", timeout=60)
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_what_is_wrong_is_refused_at_the_start(running, tmp_path):
    server = SimpleNamespace(address="127.0.0.1:1", token=lambda: "x")
    options = {"server": server, "users": {"reader"}, "key": tmp_path / "key", "catalog": "lake"}
    with (
        pytest.raises(ArgumentError, match=f"port {running.port} of 127.0.0.1 cannot be had"),
        front.serve(governed, port=running.port, **options),
    ):
        pass
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(ArgumentError, match="of mode 600, found mode 644"), front.serve(governed, **options):
        pass
    with (
        pytest.raises(ArgumentError, match="recheck_seconds must be"),
        front.serve(governed, recheck_seconds=-1, **options),
    ):
        pass


def response(**fields):
    return base_pb2.ExecutePlanResponse(session_id=SESSION, response_id="r", operation_id="o", **fields)


def test_answers_are_let_through_without_figures_of_the_scan():
    """Metrics of a scan count hidden rows, progress counts their bytes."""
    batch = response(arrow_batch={"row_count": 2, "data": b"arrow", "chunk_index": 1, "num_chunks_in_batch": 2})
    assert visible(batch) == batch
    metrics = base_pb2.ExecutePlanResponse.Metrics(metrics=[{"name": "Scan", "plan_id": 1}])
    counted = base_pb2.ExecutePlanResponse.FromString(batch.SerializeToString())
    counted.metrics.CopyFrom(metrics)
    counted.observed_metrics.add(name="m")
    assert visible(counted) == batch
    assert visible(response(metrics=metrics)) is None
    assert visible(response(execution_progress={"num_inflight_tasks": 1})) is None
    done, columns = response(result_complete={}), response(schema={"integer": {}})
    assert (visible(done), visible(columns)) == (done, columns)
    with pytest.raises(Refused, match="sql_command_result is not among what the front lets through"):
        visible(response(sql_command_result={}))


@pytest.mark.parametrize("kind", KINDS, ids=lambda f: f.name)
def test_each_kind_of_answer_is_known_or_refused(kind):
    message = response()
    getattr(message, kind.name).SetInParent()
    if kind.name in ("arrow_batch", "result_complete"):
        assert visible(message) == message
    elif kind.name == "execution_progress":
        assert visible(message) is None
    else:
        with pytest.raises(Refused):
            visible(message)


class Ended(grpc.RpcError):
    """An error of a server, as gRPC hands it to a client."""

    def __init__(self, code, text, metadata=None):
        info = error_details_pb2.ErrorInfo(metadata=metadata or {})
        self._status = refusals._status(code.name, text, dict(info.metadata))

    def code(self):
        return self._status.code

    def details(self):
        return self._status.details

    def trailing_metadata(self):
        return self._status.trailing_metadata


def cleaned(code, text, metadata, words=""):
    status = refusals.cleaned(Ended(code, text, metadata), frozenset(words.split()))
    info = error_details_pb2.ErrorInfo()
    from google.rpc import status_pb2

    (details,) = (value for name, value in status.trailing_metadata if name == "grpc-status-details-bin")
    status_pb2.Status.FromString(details).details[0].Unpack(info)
    return status.code.name, status.details, dict(info.metadata)


def test_errors_of_the_server_lose_what_the_client_did_not_send():
    """The texts are those of Spark 4.1.4, but for the value and the name that are looked for."""
    internal = grpc.StatusCode.INTERNAL
    classes = (
        '["org.apache.spark.sql.catalyst.ExtendedAnalysisException", "com.example.Secret", "java.lang.Object"]'
    )
    passed_on = '["org.apache.spark.sql.catalyst.ExtendedAnalysisException", "java.lang.Object"]'
    unresolved = {
        "classes": classes, "errorClass": "UNRESOLVED_COLUMN.WITH_SUGGESTION", "sqlState": "42703", "errorId": "id",
        "stackTrace": "salary", "messageParameters": '{"objectName": "`Nothing`", "proposal": "`name`, `salary`"}',
    }  # fmt: skip
    code, message, metadata = cleaned(internal, "a column `salary`", unresolved, "nothing select")
    assert (code, message) == (
        "INTERNAL",
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] the server behind the front cannot answer this; of what it names, this "
        "is also in the query: objectName = `Nothing`",
    )
    assert metadata == {
        "classes": passed_on, "errorClass": "UNRESOLVED_COLUMN.WITH_SUGGESTION", "sqlState": "42703",
        "messageParameters": '{"objectName": "`Nothing`"}',
    }  # fmt: skip
    # of a row nothing is told, though the client may have guessed it
    cast = {"errorClass": "CAST_INVALID_INPUT", "messageParameters": '{"expression": "\'canary\'"}'}
    _, message, metadata = cleaned(internal, "the value 'canary'", cast, "canary")
    assert message == "[CAST_INVALID_INPUT] the server behind the front cannot answer this"
    assert metadata["messageParameters"] == "{}"
    # what has no class of Spark's is not passed on at all
    for kind in ("", "not a class: canary", "canary", "A" * 400):
        assert cleaned(internal, "canary", {"errorClass": kind}) == (
            "INTERNAL", "the server behind the front failed; what it says of it is not passed on", {"classes": "[]"},
        )  # fmt: skip
    for broken in ("[", "7", '"x"'):
        assert "canary" not in str(cleaned(internal, "canary", unresolved | {"messageParameters": broken}))


def test_words_of_a_request():
    message = request(
        "ExecutePlanRequest", plan={"root": {"sql": {"query": "select A_b from s.t"}}}, tags=["mine"]
    )
    message.plan.root.sql.args["key"].string = "value"
    words = refusals.words_of(message)
    assert {"select", "a_b", "s", "t", "mine", "key", "value", "reader"} <= words


def test_a_grant_that_is_taken_back_ends_a_query():
    clock, shared = [100.0], {"lake.sales.people": TEXT}
    operation = operations.Operation("reader", {"lake.sales.people": TEXT}, frozenset())
    asked = []

    def now_governed(table):
        asked.append(table)
        return shared[table]

    def require():
        operations.require_shared(operation, now_governed, every_seconds=1.0, now=lambda: clock[0])

    require()
    require()
    assert len(asked) == 1  # the first is asked for, the next is younger than a second
    clock[0] += 1.5
    require()
    assert len(asked) == 2
    shared["lake.sales.people"] = TEXT.replace("uid", "NULL AS uid")
    require()
    clock[0] += 1.5
    with pytest.raises(Refused, match="what is shared of lake.sales.people has changed since the query began"):
        require()


def test_an_operation_is_of_its_principal_and_begins_once():
    kept = operations.Operations()
    first = operations.Operation("reader", {}, frozenset())
    kept.add(("reader", SESSION, "o"), first)
    assert kept.get(("reader", SESSION, "o")) is first and kept.get(("writer", SESSION, "o")) is None
    with pytest.raises(Refused, match="the operation o has begun already"):
        kept.add(("reader", SESSION, "o"), first)
    kept.drop_session("writer", SESSION)
    assert kept.get(("reader", SESSION, "o")) is first
    kept.drop_session("reader", SESSION)
    assert kept.get(("reader", SESSION, "o")) is None
    for number in range(operations.MOST + 5):
        kept.add(("reader", SESSION, str(number)), first)
    kept.add(("writer", SESSION, "o"), first)
    held = [number for number in range(operations.MOST + 5) if kept.get(("reader", SESSION, str(number)))]
    assert held == list(range(5, operations.MOST + 5))


def test_many_that_are_refused_do_not_hold_each_other_up(running, channel):
    mine = bearer(running.token("reader"))
    begin = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        codes = set(pool.map(lambda _: answer(channel, "AnalyzePlan", request(explain={}), mine)[0], range(64)))
    assert codes == {"PERMISSION_DENIED"} and time.monotonic() - begin < 60
