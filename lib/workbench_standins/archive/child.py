"""The store as a process of its own: moto is patched there and nowhere else, and its end is the parent's end.

Settings come as one line, the port goes out as one line (see `children`).
Everything else goes over HTTP: S3 from any client, and the store's own controls under /_store/.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from workbench._base import children
from workbench._base.errors import ArgumentError
from workbench_standins.archive import patches
from workbench_standins.archive.store import State
from workbench_standins.ports import HOST

CONTROLS = "/_store/"
Respond = Callable[..., Any]  # start_response of WSGI
Application = Callable[[dict[str, Any], Respond], Iterable[bytes]]


@contextmanager
def running(settings: Mapping[str, Any]) -> Iterator[int]:
    """Run a child with these settings and yield its port.

    Raises:
        ValueError: the port cannot be had.
        ChildProcessError: it did not start.
    """
    env = {"MOTO_DISABLE_GLOBAL_CORS": "true", "MOTO_S3_DEFAULT_MAX_KEYS": "1000"}
    with children.serving(__name__, settings, name="archive store", env=env) as answer:
        yield answer["port"]


def ask(endpoint: str, control: str, **arguments: Any) -> Any:
    """Send a control to a running store and return its answer.

    Raises:
        ValueError: the store refuses the control.
        ConnectionError: no store answers at the endpoint.
    """
    import urllib.error
    import urllib.request

    request = urllib.request.Request(
        endpoint + CONTROLS + control,
        data=json.dumps(arguments).encode(),
        headers={"Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=600) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise ArgumentError(json.loads(error.read())["error"]) from None
    except OSError as error:
        raise ConnectionError(f"no archive store answers at {endpoint}: {error}") from None


def main() -> None:
    """Serve as the child, until standard input ends."""
    import threading

    from werkzeug.serving import make_server

    settings = json.loads(sys.stdin.buffer.readline())
    start = settings["start"] and datetime.fromisoformat(settings["start"])
    state = State(start, restore_status=settings["restore_status"])
    patches.install(state)
    try:
        server: Any = make_server(
            HOST, settings["port"], application(state), threaded=True, request_handler=_handler(state)
        )
    except (OSError, SystemExit):
        children.say({"error": f"port {settings['port']} of {HOST} cannot be had"})
        return
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    children.say({"port": server.port})
    sys.stdin.buffer.read()
    os._exit(0)  # nothing here outlives the process, and open connections shall not delay its end


def application(state: State) -> Application:
    """Return the WSGI application: moto's S3 behind the store's latency, counts and controls."""
    from moto.moto_server.werkzeug_app import create_backend_app

    s3 = create_backend_app("s3")
    s3.debug = False

    def call(environ: dict[str, Any], start_response: Respond) -> Iterable[bytes]:
        if environ.get("HTTP_HOST", "").partition(":")[0] not in (HOST, "localhost"):
            return _answer(start_response, 403, {"error": f"this store answers at {HOST} only"})
        path = environ["PATH_INFO"]
        if path.startswith(CONTROLS):
            return _control(state, path.removeprefix(CONTROLS), environ, start_response)
        with state.lock:
            state.requests[operation(environ["REQUEST_METHOD"], path, environ["QUERY_STRING"])] += 1
        if state.latency_s:
            time.sleep(state.latency_s)

        # moto's own name; the handler says whose server this is
        def without_name(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start_response(
                status, [(name, text) for name, text in headers if name.lower() != "server"], *rest
            )

        return s3(environ, without_name)

    return call


def operation(method: str, path: str, query: str) -> str:
    """Return the name of the S3 operation that a path-style request is, as far as the store counts them."""
    bucket_only = "/" not in path.strip("/")
    words = {part.partition("=")[0] for part in query.split("&")}
    if method == "POST" and "restore" in words:
        return "RestoreObject"
    if bucket_only and method == "GET" and path != "/":
        if words & {"versioning", "lifecycle", "location", "tagging", "policy"}:
            return "GetBucketSettings"
        if "versions" in words:
            return "ListObjectVersions"
        return "ListObjectsV2" if "list-type" in words else "ListObjects"
    known = method in ("HEAD", "GET", "PUT", "DELETE", "POST")
    return (method.capitalize() if known else method) + ("Bucket" if bucket_only else "Object")


def _control(state: State, name: str, environ: Mapping[str, Any], start_response: Respond) -> Iterable[bytes]:
    """Answer a control. A web page cannot send one: browsers ask for a permission first, which is not given."""
    from workbench_standins.archive import controls

    if environ.get("CONTENT_TYPE") != "application/json" or environ["REQUEST_METHOD"] != "POST":
        return _answer(start_response, 403, {"error": "controls are POST requests of JSON"})
    arguments = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
    try:
        return _answer(start_response, 200, controls.answer(state, name, arguments))
    except ValueError as error:
        return _answer(start_response, 400, {"error": str(error)})


def _answer(start_response: Respond, status: int, value: Any) -> Iterable[bytes]:
    body = json.dumps(value).encode()
    start_response(
        f"{status} {'OK' if status == 200 else 'Refused'}",
        [("Content-Type", "application/json"), ("Content-Length", str(len(body)))],
    )
    return [body]


def _handler(state: State) -> Any:
    from moto.moto_server.werkzeug_app import MotoRequestHandler

    class Handler(MotoRequestHandler):
        """Names itself as S3 does where its listings say what S3's say, and logs nothing."""

        def version_string(self) -> str:
            return "AmazonS3" if state.restore_status else "workbench"

        def log(self, *args: Any, **kwargs: Any) -> None:
            pass

    return Handler


def utc(moment: datetime) -> str:
    """Return a datetime as the text that controls exchange."""
    return moment.astimezone(UTC).isoformat()
