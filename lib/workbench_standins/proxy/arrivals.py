"""One request on its way through the proxy, and its line in the log."""

import concurrent.futures
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

KEY = re.compile(r"Credential=([^/,\s]+)/")


@dataclass(frozen=True)
class Passed:
    """One line of the log.

    Attributes:
        n: its place among all requests by arrival, from 1.
        client: its client's name, None when the proxy does not know it.
        method: as sent.
        path: as patterns match it, without the query.
        status: the upstream's answer; None when it never had the whole request, or gave no answer.
        action: pass, or what a rule or a Held did to it.
        told: the status that went back to the client; None when the connection was broken or the client had gone.
    """

    n: int
    client: str | None
    method: str
    path: str
    status: int | None
    action: str
    told: int | None


class Arrival:
    """One request on its way; changed on the proxy's loop only.

    Attributes:
        gone: function without arguments that returns whether the client has closed its connection.
        finished: future of its line in the log, once somebody waits for its end.
    """

    def __init__(self, n: int, client: str | None, method: str, path: str, gone: Callable[[], bool]) -> None:
        self.n, self.client, self.method, self.path, self.gone = n, client, method, path, gone
        self.status: int | None = None
        self.told: int | None = None
        self.action = "pass"
        self.finished: concurrent.futures.Future[Passed] | None = None

    def hold(self) -> "concurrent.futures.Future[Passed]":
        """Return the future of its line in the log, for those who wait for its end."""
        self.finished = concurrent.futures.Future()
        return self.finished

    def finish(self) -> None:
        """Note that it is through, and forget its connection."""
        self.gone = lambda: True
        if self.finished:
            self.finished.set_result(self.line())

    def line(self) -> Passed:
        """Return its line in the log, as it is now."""
        return Passed(self.n, self.client, self.method, self.path, self.status, self.action, self.told)


def plain_path(target: str) -> str:
    """Return the path of a request's target without its query, decoded except for encoded slashes."""
    segments = target.partition("?")[0].split("/")
    return "/".join(unquote(segment).replace("/", "%2F") for segment in segments)


def access_key(authorization: str, target: str) -> str | None:
    """Return the access key that signed a request (Signature Version 4, in header or query), or None."""
    if signed := KEY.search(authorization):
        return signed[1]
    credential = parse_qs(target.partition("?")[2]).get("X-Amz-Credential", [""])[0]
    return credential.partition("/")[0] or None
