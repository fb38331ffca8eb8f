"""Serve metrics on loopback, for a Prometheus on this machine or one that a proxy lets in."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.metrics import prometheus

LOOPBACK = "127.0.0.1"


@checked
@contextmanager
def serve(text: Callable[..., Any], *, port: Annotated[int, Ge(0), Le(65535)] = 0) -> Iterator[str]:
    """Serve OpenMetrics text at /metrics on loopback while the block runs.

    Args:
        text: called without arguments at each request, from a thread; returns the text. Where it fails the answer
            is 503 with its sentence, and Prometheus counts the target as down: no old figures pass for new ones.
        port: 0 for any that is free.

    Yields:
        The address, `http://127.0.0.1:…/metrics`.

    Raises:
        ValueError: the port is taken.
    """

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                return self._send(404, "there is /metrics\n", "text/plain")
            try:
                body = text()
            except WorkbenchError as error:
                return self._send(503, f"{error}\n", "text/plain")
            except Exception as error:
                return self._send(503, f"{type(error).__name__}\n", "text/plain")
            self._send(200, body, prometheus.CONTENT_TYPE)

        def _send(self, status: int, body: str, kind: str) -> None:
            content = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind if "charset" in kind else f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            return None  # a request is no event of ours

    try:
        server = ThreadingHTTPServer((LOOPBACK, port), Answer)
    except OSError as error:
        raise ArgumentError(f"port {port} of {LOOPBACK} cannot be taken: {error.strerror}") from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
