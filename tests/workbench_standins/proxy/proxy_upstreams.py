"""What the proxy stands before in tests: an HTTP server that keeps what it gets, and a real S3 with a REST catalog."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from workbench_standins.s3 import weed as seaweedfs

PATIENCE_SECONDS = 90  # for conditions; nothing takes so long unless it is broken
KEYS = {"a": "key-of-a", "b": "key-of-b"}
SECRETS = {"a": "secret-of-a", "b": "secret-of-b"}


@dataclass
class Got:
    """What the recorder got: request line, headers in order, body; whole is False when the body broke off."""

    line: str
    headers: list
    body: bytes
    whole: bool = True


class Recorder(BaseHTTPRequestHandler):
    """Keeps every request; answers what `server.answers` has for the path, else 200 and nothing.

    An answer is (status, headers, bytes); bytes as a list are chunks; None breaks the connection, as does a number:
    only so many of the bytes go out.
    """

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_any(self):
        got = Got(self.requestline, self.headers.items(), b"", False)
        self.server.got.append(got)
        got.body, got.whole = self.read_body()
        status, headers, body, *sent = self.server.answers.get(self.path.partition("?")[0], (200, [], b""))
        if status is None or not got.whole:
            self.close_connection = True
            return
        if isinstance(body, bytes) and not {"Content-Length"} & dict(headers).keys() and status not in (204, 304):
            headers = [*headers, ("Content-Length", str(len(body)))]
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if isinstance(body, list):
            self.send_header("Transfer-Encoding", "chunked")
            body = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in body) + b"0\r\n\r\n"
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: sent[0]] if sent else body)
        if sent:
            self.close_connection = True

    def read_body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline() or b"-1", 16):
                if size < 0:
                    return body, False
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body, True
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size)
        return body, len(body) == size

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = do_OPTIONS = handle_any


class Listening(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, *_):
        pass  # connections break here on purpose

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def recorder():
    """Run a Recorder; yields the server: endpoint, got, answers."""
    with Listening(("127.0.0.1", 0), Recorder) as server:
        server.got, server.answers = [], {}
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@dataclass(frozen=True)
class Weed:
    s3: str
    catalog: str


@contextmanager
def weed(folder):
    """Run SeaweedFS as the environments do, but with two clients whose keys are known; yields Weed."""
    identities = [
        {"name": name, "credentials": [{"accessKey": KEYS[name], "secretKey": SECRETS[name]}],
         "actions": ["Admin", "Read", "List", "Tagging", "Write"]}
        for name in KEYS
    ]  # fmt: skip
    (folder / "s3.json").write_text(json.dumps({"identities": identities}))
    process, ports = seaweedfs.start(folder, (KEYS["a"], SECRETS["a"]), {"s3": 0, "catalog": 0})
    try:
        yield Weed(*(f"http://127.0.0.1:{ports[name]}" for name in ("s3", "catalog")))
    finally:
        seaweedfs.end(process, ports, haste=True)


def s3(endpoint, client, *, secret=None, attempts=1, read_timeout=PATIENCE_SECONDS):
    """Return a boto3 client that tries once unless told otherwise."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=KEYS[client],
        aws_secret_access_key=secret or SECRETS[client],
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}, read_timeout=read_timeout, max_pool_connections=64,
                      retries={"total_max_attempts": attempts, "mode": "standard"}),
    )  # fmt: skip
