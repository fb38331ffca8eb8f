"""What came through: one request on its way, and what the log says of it."""

import concurrent.futures
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

KEY = re.compile(r"Credential=([^/,\s]+)/")


@dataclass(frozen=True)
class Passed:
    """One line of the log.

    Attributes:
        n: its place among all requests by arrival, from 1.
        client: its client's name, None when the proxy could not tell.
        method: as sent.
        path: as the patterns see it, without the query.
        status: what the upstream answered; None when it never had the whole request, or gave no answer.
        action: what was done to it: pass, or what a rule or a Held did.
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
        gone: function without arguments that says whether the client has closed its connection.
        finished: future of its line in the log, once it is held.
    """

    def __init__(self, n, client, method, path, gone):
        self.n, self.client, self.method, self.path, self.gone = n, client, method, path, gone
        self.status, self.told, self.action = None, None, "pass"
        self.finished = None

    def held(self):
        """Let somebody wait for its end."""
        self.finished = concurrent.futures.Future()

    def finish(self):
        """Note that it is through; nothing of its connection is kept."""
        self.gone = None
        if self.finished:
            self.finished.set_result(self.line())

    def line(self):
        """Return what the log says of it now: Passed."""
        return Passed(self.n, self.client, self.method, self.path, self.status, self.action, self.told)


def plain_path(target):
    """Return the path of a request's target without its query; percent-encoding is taken off but for slashes."""
    segments = target.partition("?")[0].split("/")
    return "/".join(unquote(segment).replace("/", "%2F") for segment in segments)


def access_key(authorization, target):
    """Return the access key that signed a request (Signature Version 4, in header or query), or None."""
    if found := KEY.search(authorization):
        return found[1]
    credential = parse_qs(target.partition("?")[2]).get("X-Amz-Credential", [""])[0]
    return credential.partition("/")[0] or None
