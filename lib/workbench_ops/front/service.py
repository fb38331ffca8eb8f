"""The calls of Spark Connect, answered by the front: each asks who is there, and makes the request anew."""

import logging
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from workbench_ops.front import looking, messages, protocol, refusals, tokens
from workbench_ops.front.operations import Key, Operation, Operations, require_shared
from workbench_ops.front.plans import Governed, Rewriting
from workbench_ops.front.refusals import Refused

SERVICE = "spark.connect.SparkConnectService"
LOOK_SECONDS = 120
FIXED = ("session_id", "server_side_session_id", "operation_id", "response_id", "schema")


@dataclass
class Service:
    """What the calls share.

    Attributes:
        governed: as of `Rewriting`.
        catalog: as of `Rewriting`.
        users: principals that are let in.
        key: of the tokens.
        stub: of the server behind.
        metadata: by which the server behind knows the front.
        looks: runs the looks at the server's plans.
        recheck_seconds: after which a query that goes on asks again whether its tables are shared.
    """

    governed: Governed
    catalog: str
    users: Collection[str]
    key: bytes
    stub: Any
    metadata: tuple[tuple[str, str], ...] = field(repr=False)
    looks: Executor
    recheck_seconds: float
    operations: Operations = field(default_factory=Operations)

    def handlers(self) -> Any:
        """Return gRPC's handlers: one for each call of the descriptors, and those that are not answered refuse."""
        import grpc

        base_pb2 = protocol.base()
        answered: dict[str, Any] = {}
        for method in base_pb2.DESCRIPTOR.services_by_name["SparkConnectService"].methods:
            if method.name not in messages.CALLS:
                answered[method.name] = _refusing(grpc, method)
                continue
            reads = getattr(base_pb2, method.input_type.name).FromString
            call = getattr(self, _snake(method.name))
            kind = "unary_stream" if method.server_streaming else "unary_unary"
            answer = _streaming if method.server_streaming else _single
            make = getattr(grpc, f"{kind}_rpc_method_handler")
            answered[method.name] = make(partial(answer, call), reads, _serialized)
        return grpc.method_handlers_generic_handler(SERVICE, answered)

    def execute_plan(self, request: Any, context: Any) -> Iterator[Any]:
        """Answer a query: rewritten, looked at, and streamed while its tables are shared."""
        rewriting, new = self._rewritten(request, context)
        new.operation_id = new.operation_id or str(uuid.uuid4())
        key = (rewriting.principal, new.session_id, new.operation_id)
        operation = Operation(rewriting.principal, rewriting.tables, refusals.words_of(request))
        if new.plan.WhichOneof("op_type") == "command":
            yield from self._defined(key, operation, request, new)
            return
        self.operations.add(key, operation)
        with _cleaned(operation.words):
            # the query begins while its plan is looked at; nothing of it is let through before
            look = self.looks.submit(self._look, new, new.plan.root, rewriting.tables)
            stream = self.stub.ExecutePlan(new, metadata=self.metadata)
            context.add_callback(stream.cancel)
            try:
                look.result()
                operation.looked = True
            except BaseException:
                self._end(key, new, stream)
                raise
            yield from self._released(key, operation, new, stream)

    def reattach_execute(self, request: Any, context: Any) -> Iterator[Any]:
        """Go on with the answer of a query of the same principal that this front has begun."""
        rewriting, new = self._rewritten(request, context)
        key = (rewriting.principal, new.session_id, new.operation_id)
        operation = self.operations.get(key)
        if operation is None or operation.answered or not operation.looked:
            # by this word PySpark's client begins the query anew
            raise Refused("INVALID_HANDLE.OPERATION_NOT_FOUND: there is no such operation of yours", "NOT_FOUND")
        with _cleaned(operation.words):
            operation.asked_at = 0.0
            stream = self.stub.ReattachExecute(new, metadata=self.metadata)
            context.add_callback(stream.cancel)
            yield from self._released(key, operation, new, stream)

    def release_execute(self, request: Any, context: Any) -> Any:
        """Release answers that the client has, or all of a query."""
        base_pb2 = protocol.base()
        rewriting, new = self._rewritten(request, context)
        key = (rewriting.principal, new.session_id, new.operation_id)
        operation = self.operations.get(key)
        if new.WhichOneof("release") != "release_until":
            self.operations.drop(key)
        if operation is None or operation.answered:
            return base_pb2.ReleaseExecuteResponse(session_id=new.session_id)
        return self._asked("ReleaseExecute", new, request)

    def release_session(self, request: Any, context: Any) -> Any:
        """Release the session of a client at the server."""
        rewriting, new = self._rewritten(request, context)
        self.operations.drop_session(rewriting.principal, new.session_id)
        return self._asked("ReleaseSession", new, request)

    def analyze_plan(self, request: Any, context: Any) -> Any:
        """Answer what a frame's columns are, of the rewritten plan."""
        rewriting, new = self._rewritten(request, context)
        kind = new.WhichOneof("analyze")
        if kind in ("schema", "tree_string", "is_streaming"):
            with _cleaned(refusals.words_of(request)):
                self._look(new, getattr(new, kind).plan.root, rewriting.tables)
        return self._asked("AnalyzePlan", new, request)

    def config(self, request: Any, context: Any) -> Any:
        """Read a setting that a client needs, or set how a notebook prints."""
        _, new = self._rewritten(request, context)
        answer = self._asked("Config", new, request)
        answer.ClearField("warnings")
        return answer

    def interrupt(self, request: Any, context: Any) -> Any:
        """End queries of the client's own session."""
        _, new = self._rewritten(request, context)
        return self._asked("Interrupt", new, request)

    def _rewritten(self, request: Any, context: Any) -> tuple[Rewriting, Any]:
        """Return who asks, and the request anew."""
        # whom the request names is of no account: a refusal would tell which names are principals of the policy
        rewriting = Rewriting(self._principal(context), self.governed, self.catalog)
        return rewriting, rewriting.request(request)

    def _principal(self, context: Any) -> str:
        given = [value for name, value in context.invocation_metadata() if name == "authorization"]
        kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if kind != "Bearer":
            raise Refused("a token is needed: sc://localhost:PORT/;token=TOKEN", "UNAUTHENTICATED")
        principal = tokens.principal_of(self.key, token)
        if principal not in self.users:
            raise Refused(f"{principal} is not let in", "UNAUTHENTICATED")
        return principal

    def _asked(self, call: str, new: Any, request: Any) -> Any:
        """Return the server's answer to a request made anew."""
        with _cleaned(refusals.words_of(request)):
            return getattr(self.stub, call)(new, metadata=self.metadata)

    def _look(self, new: Any, root: Any, tables: Mapping[str, str]) -> str:
        """Look at the server's plan of a relation; return the session id that the server answers with."""
        identity = ""
        for relation, whole in looking.to_be_seen(root):
            asking = _asking(new, relation)
            answer = self.stub.AnalyzePlan(asking, metadata=self.metadata, timeout=LOOK_SECONDS)
            plan = answer.explain.explain_string
            looking.require_governed(plan, tables.values(), self.catalog, whole=whole and bool(tables))
            identity = answer.server_side_session_id
        return identity

    def _defined(self, key: Key, operation: Operation, request: Any, new: Any) -> Iterator[Any]:
        """Answer `spark.sql(query)`: the client gets its own query back, once the server can plan it."""
        base_pb2 = protocol.base()
        root = new.plan.command.sql_command.input
        with _cleaned(operation.words):
            server_session = self._look(new, root, operation.tables)
        operation.answered = True
        self.operations.add(key, operation)
        ids = {"session_id": key[1], "operation_id": key[2], "server_side_session_id": server_session}
        answer = base_pb2.ExecutePlanResponse(response_id=str(uuid.uuid4()), **ids)
        answer.sql_command_result.relation.CopyFrom(request.plan.command.sql_command.input)
        yield answer
        last = base_pb2.ExecutePlanResponse(response_id=str(uuid.uuid4()), **ids)
        last.result_complete.SetInParent()
        yield last

    def _released(self, key: Key, operation: Operation, new: Any, stream: Any) -> Iterator[Any]:
        """Yield the answers of a query as long as its tables are shared as they were."""
        import grpc

        governed = Rewriting(operation.principal, self.governed, self.catalog).governed_text
        try:
            for answer in stream:
                require_shared(operation, governed, every_seconds=self.recheck_seconds)
                if (shown := visible(answer)) is not None:
                    yield shown
        except Refused:
            self._end(key, new, stream)
            raise
        except grpc.RpcError as error:
            if "INVALID_HANDLE" in (error.details() or ""):  # the server lost it; the client may begin it anew
                self.operations.drop(key)
            raise

    def _end(self, key: Key, new: Any, stream: Any) -> None:
        """End a query at the server, so that nobody can reattach to it."""
        import grpc

        base_pb2 = protocol.base()
        self.operations.drop(key)
        stream.cancel()
        common = {"session_id": new.session_id, "user_context": new.user_context, "operation_id": key[2]}
        kind = base_pb2.InterruptRequest.INTERRUPT_TYPE_OPERATION_ID
        interrupt = base_pb2.InterruptRequest(interrupt_type=kind, **common)
        release = base_pb2.ReleaseExecuteRequest(**common)
        release.release_all.SetInParent()
        for call, message in (("Interrupt", interrupt), ("ReleaseExecute", release)):
            with suppress(grpc.RpcError):  # it may have ended by itself
                getattr(self.stub, call)(message, metadata=self.metadata, timeout=LOOK_SECONDS)


def visible(answer: Any) -> Any:
    """Return an answer of a query as a client gets it, or None: figures of the scan count hidden rows too."""
    kind = answer.WhichOneof("response_type")
    if kind is None and not answer.HasField("schema"):
        return None
    if kind == "execution_progress":
        return None
    if kind is not None and kind not in messages.ANSWERS:
        raise Refused(f"an answer of the kind {kind} is not among what the front lets through", "INTERNAL")
    new = type(answer)()
    for name in (*FIXED, kind):
        if name is None:
            continue
        value = getattr(answer, name)
        if hasattr(value, "SerializeToString"):
            if answer.HasField(name):
                getattr(new, name).CopyFrom(value)
        else:
            setattr(new, name, value)
    return new


def _asking(new: Any, relation: Any) -> Any:
    """Return the request that asks the server for its plan of a relation, in all sections."""
    base_pb2 = protocol.base()
    asking = base_pb2.AnalyzePlanRequest(session_id=new.session_id, user_context=new.user_context)
    if new.HasField("client_observed_server_side_session_id"):
        asking.client_observed_server_side_session_id = new.client_observed_server_side_session_id
    asking.explain.plan.root.CopyFrom(relation)
    asking.explain.explain_mode = base_pb2.AnalyzePlanRequest.Explain.EXPLAIN_MODE_EXTENDED
    return asking


class _Failed(Exception):
    """The server behind failed; holds what gRPC sends of it."""

    def __init__(self, status: Any) -> None:
        super().__init__()
        self.status = status


@contextmanager
def _cleaned(words: Collection[str]) -> Iterator[None]:
    """Turn errors of the server into what may be told of them."""
    import grpc

    try:
        yield
    except grpc.RpcError as error:
        raise _Failed(refusals.cleaned(error, words)) from None


def _single(call: Callable[[Any, Any], Any], request: Any, context: Any) -> Any:
    try:
        return call(request, context)
    except Exception as error:
        status = _status_of(error)
    return context.abort_with_status(status)


def _streaming(call: Callable[[Any, Any], Iterator[Any]], request: Any, context: Any) -> Iterator[Any]:
    try:
        yield from call(request, context)
        return
    except Exception as error:
        status = _status_of(error)
    context.abort_with_status(status)


def _status_of(error: Exception) -> Any:
    if isinstance(error, _Failed):
        return error.status
    if isinstance(error, Refused):
        return refusals.status(error)
    # its words may be of what is hidden: neither the client nor a log gets them
    logging.getLogger(__name__).error("the front failed: %s", type(error).__name__)
    return refusals.status(Refused("it failed by a defect of its own", "INTERNAL"))


def _refusing(grpc: Any, method: Any) -> Any:
    """Return a handler that refuses a call, whatever it holds: nothing of it is read."""
    refused = refusals.status(Refused(f"{method.name}: {_CALLS.get(method.name, _CALLS[''])}"))

    def single(request: Any, context: Any) -> Any:
        return context.abort_with_status(refused)

    def streaming(request: Any, context: Any) -> Iterator[Any]:
        yield context.abort_with_status(refused)

    sides = ("stream" if side else "unary" for side in (method.client_streaming, method.server_streaming))
    make = getattr(grpc, f"{'_'.join(sides)}_rpc_method_handler")
    return make(streaming if method.server_streaming else single, None, None)


def _serialized(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


_CALLS = {
    "AddArtifacts": "files and classes of the client's own would run where hidden rows are",
    "FetchErrorDetails": "what the server says of an error may be of what is hidden",
    "": "it is not among the calls that the front answers",
}
