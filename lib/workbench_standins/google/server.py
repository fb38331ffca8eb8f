"""The services on HTTP, on loopback only: OAuth's token endpoint, the Data API and the Sheets API."""

import json
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from workbench_standins import http
from workbench_standins.google.service import Call, Service
from workbench_standins.google.store import Refused


def _call(method: str, at: SplitResult, headers: Mapping[str, str], body: bytes) -> Call:
    """Return what a request asks for.

    Raises:
        Refused: there is no such method, or its message is invalid.
    """
    operation = _operation(method, at.path)
    if operation == "token":
        return Call(operation, request=parse_qs(body.decode()))
    number = unquote(at.path.rstrip("/").split("/")[3]).partition(":")[0]
    request: dict[str, Any] = dict(parse_qs(at.query))
    if operation == "runReport":
        try:
            request = json.loads(body or b"{}")
        except ValueError:
            raise Refused(400, "INVALID_ARGUMENT", "Invalid JSON payload received.") from None
    return Call(operation, number, headers.get("authorization", ""), request)


def _operation(method: str, path: str) -> str:
    if (method, path) == ("POST", "/token"):
        return "token"
    if method == "POST" and path.startswith("/v1beta/properties/") and path.endswith(":runReport"):
        return "runReport"
    if method == "GET" and path.startswith("/v1beta/properties/") and path.endswith("/metadata"):
        return "metadata"
    if method == "GET" and path.startswith("/v4/spreadsheets/"):
        return "spreadsheet"
    raise Refused(404, "NOT_FOUND", f"The stand-in has no {method} {path}.")


def _answered(service: Service, request: http.Request) -> tuple[int, Mapping[str, Any]] | None:
    """Return the status and the content of an answer; None where a fault takes the answer away."""
    content: Mapping[str, Any] | Refused
    try:
        asked = _call(request.method, urlsplit(request.path), request.headers, request.body)
        content, fault = service.answer(asked)
    except Refused as refusal:
        content, fault = refusal, None
    if fault is not None and fault.kind == "slow_answer":
        time.sleep(fault.seconds)
    if fault is not None and fault.kind == "lost_answer":
        return None
    if not isinstance(content, Refused):
        return 200, content
    return content.code, {"error": {"code": content.code, "message": content.message, "status": content.status}}


def listening(service: Service, port: int) -> AbstractContextManager[int]:
    """Serve on threads of this process as long as the context is open; yield the port.

    Raises:
        ValueError: the port cannot be had.
    """
    return http.serving(partial(_answered, service), name="google", port=port)
