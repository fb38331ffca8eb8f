"""HTTP on threads of this process, on loopback only: each request is answered by one function."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from workbench._base.errors import ArgumentError
from workbench_standins.ports import HOST

PATIENCE_SECONDS = 60  # for a client that keeps a connection open and asks nothing


@dataclass(frozen=True)
class Request:
    """What somebody asks.

    Attributes:
        method: GET or POST.
        path: with its query.
        headers: name in small letters to value.
        body: bytes, none of a GET.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@contextmanager
def serving(
    answer: Callable[[Request], tuple[int, Mapping[str, Any]] | None], *, name: str, port: int = 0
) -> Iterator[int]:
    """Serve JSON as long as the context is open, and write no log; yield the port.

    Args:
        answer: called with a Request on a thread of its connection, returns (status, content); None ends the
            connection without an answer.
        name: of the thread.
        port: TCP port on 127.0.0.1; 0 takes a free one.

    Raises:
        ArgumentError: the port cannot be had.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = PATIENCE_SECONDS

        def _answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length") or 0))
            answered = answer(Request(self.command, self.path, headers, body))
            if answered is None:
                self.close_connection = True
                return
            status, content = answered
            text = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *arguments: object) -> None:
            """Write no log: its lines would be a notebook's output."""

    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        raise ArgumentError(f"port {port} of {HOST} cannot be had: {error.strerror}") from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=name, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
