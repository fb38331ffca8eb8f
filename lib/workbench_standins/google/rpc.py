"""The Data API on gRPC, on loopback only, with the messages that google-analytics-data publishes.

The handlers are generic, so no .proto file is needed: a message becomes what JSON has for it, is answered as by
HTTP, and the answer becomes a message again. A refusal has the status that its name in Google's APIs says.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from typing import Any

from workbench_standins.google.service import Call, Service
from workbench_standins.google.store import Refused
from workbench_standins.ports import HOST

NAME = "google.analytics.data.v1beta.BetaAnalyticsData"
THREADS = 8
STOP_SECONDS = 0.5  # that calls in flight have left when it ends


@contextmanager
def listening(service: Service) -> Iterator[int]:
    """Serve on threads of this process as long as the context is open; yield the port.

    Its credentials are gRPC's local ones: a client needs `grpc.local_channel_credentials()`, which carry those of
    a call without TLS, on this machine only.
    """
    import grpc

    server = grpc.server(
        futures.ThreadPoolExecutor(THREADS, thread_name_prefix="google-rpc"),
        options=[("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1)],
    )
    server.add_generic_rpc_handlers((_handlers(service),))
    port = server.add_secure_port(f"{HOST}:0", grpc.local_server_credentials())
    server.start()
    try:
        yield port
    finally:
        server.stop(STOP_SECONDS).wait()


def _handlers(service: Service) -> Any:
    import grpc
    from google.analytics.data_v1beta import types

    methods: dict[str, tuple[str, Any, Any, Callable[[Any], str]]] = {
        "RunReport": ("runReport", types.RunReportRequest, types.RunReportResponse, lambda sent: sent.property),
        "GetMetadata": ("metadata", types.GetMetadataRequest, types.Metadata, lambda sent: sent.name),
    }
    handlers = {}
    for method, (operation, request, response, named) in methods.items():
        handlers[method] = grpc.unary_unary_rpc_method_handler(
            _method(service, operation, response.pb(response()).__class__, named),
            request_deserializer=request.pb(request()).__class__.FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
    return grpc.method_handlers_generic_handler(NAME, handlers)


def _method(
    service: Service, operation: str, response: type, named: Callable[[Any], str]
) -> Callable[[Any, Any], Any]:
    """Return the function that answers a message; `named` says which property it is about."""
    import grpc
    from google.protobuf import json_format

    def answer(sent: Any, context: Any) -> Any:
        metadata = dict(context.invocation_metadata())
        number = [*named(sent).split("/"), ""][1]
        call = Call(operation, number, metadata.get("authorization", ""), json_format.MessageToDict(sent))
        content, fault = service.answer(call)
        if fault is not None and fault.kind == "slow_answer":
            time.sleep(fault.seconds)
        if fault is not None and fault.kind == "lost_answer":  # what a client makes of a connection that broke
            return context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        if isinstance(content, Refused):
            return context.abort(grpc.StatusCode[content.status], content.message)
        rows = content.pop("rows", ())
        message = json_format.ParseDict(content, response())
        _add(message, rows)
        return message

    return answer


def _add(message: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add the rows of a report to its message; json_format takes ten times as long for many."""
    for row in rows:
        added = message.rows.add()
        for value in row["dimensionValues"]:
            added.dimension_values.add(**value)
        for value in row["metricValues"]:
            added.metric_values.add(**value)
