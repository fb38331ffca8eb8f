"""The services on HTTP, on loopback only: OAuth's token endpoint, the Data API and the Sheets API."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from workbench._base.errors import ArgumentError
from workbench_standins.google.service import Call, Service
from workbench_standins.google.store import Refused
from workbench_standins.ports import HOST


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


def _written(content: Mapping[str, Any] | Refused) -> tuple[int, bytes]:
    """Return the status of an answer and its JSON."""
    if not isinstance(content, Refused):
        return 200, json.dumps(content).encode()
    error = {"code": content.code, "message": content.message, "status": content.status}
    return content.code, json.dumps({"error": error}).encode()


@contextmanager
def listening(service: Service, port: int) -> Iterator[int]:
    """Serve on threads of this process as long as the context is open; yield the port.

    Raises:
        ValueError: the port cannot be had.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def _answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                content, fault = service.answer(_call(self.command, urlsplit(self.path), headers, body))
            except Refused as refusal:
                content, fault = refusal, None
            if fault is not None and fault.kind == "slow_answer":
                time.sleep(fault.seconds)
            if fault is not None and fault.kind == "lost_answer":
                self.close_connection = True
                return
            status, text = _written(content)
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *arguments: object) -> None:
            """Write no log."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    try:
        http = Server((HOST, port), Handler)
    except OSError as error:
        raise ArgumentError(f"port {port} of {HOST} cannot be had: {error.strerror}") from None
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.05}, name="google", daemon=True
    )
    thread.start()
    try:
        yield http.server_address[1]
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
