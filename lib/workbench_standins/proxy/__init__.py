"""The ordering proxy: between clients and S3 or a REST catalog, it fixes the order of two commits.

It listens on 127.0.0.1 only, passes everything byte for byte and, by script or by hand, holds a named client's
request until another's has passed, loses an answer after the request took effect, delays it or fails it.

    with proxy.between("http://127.0.0.1:8333", clients=["a", "b"]) as between:
        with between.hold("a", proxy.METADATA_PUT) as held:   # writer a talks to between.endpoint_of("a")
            ...                                               # start a's commit
            held.wait()                                       # it has written its files and stands before the swap
            ...                                               # b commits
        ...                                                   # a goes on and finds b's commit

What it can do, and the script file: docs/proxy.md. The parts:

    rules, scripts             what is meant and what is done to it; the same as a file
    arrivals, gates, plan      a request on its way, where it waits, what hits it
    relay, server              HTTP byte for byte; a thread with a loop and its ports
"""

import importlib.util
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_standins.proxy.arrivals import Passed
from workbench_standins.proxy.gates import PASS, Held
from workbench_standins.proxy.plan import Injected
from workbench_standins.proxy.rules import ANY, COMMIT, METADATA_PUT, Match, Rule
from workbench_standins.proxy.scripts import Script, check_client, read_script

__all__ = [
    "ANY", "COMMIT", "METADATA_PUT", "Held", "Injected", "Match", "Passed", "Proxy", "Rule", "Script", "between",
    "read_script",
]  # fmt: skip


@dataclass(frozen=True)
class Proxy:
    """A running proxy.

    Attributes:
        endpoint: its address for all clients, who are told by the access key that signs their requests.
        upstream: what it stands before.
        clients: name to access key, or None.
    """

    endpoint: str
    upstream: str
    clients: dict[str, str | None]
    running: object = field(repr=False)
    ask: Callable = field(repr=False)

    def endpoint_of(self, client):
        """Return the address for one client: what comes there is this client's, whatever protocol it signs by.

        Raises:
            ValueError: there is no such client.
        """
        check_client(client, self.clients)
        return self.running.endpoint(client)

    def hold(self, client, what=METADATA_PUT, *, answer=False, skip=0):
        """Hold a client's requests from now on, until the returned Held says how they go on.

        Args:
            client: its name; None means any.
            what: Match of the requests; its own client does not count.
            answer: hold the answer, after the request has taken effect.
            skip: so many matching requests pass first.

        Returns:
            Held.

        Raises:
            ValueError: there is no such client, or an argument does not go.
        """
        check_client(client, self.clients)
        if not isinstance(what, Match):
            raise ArgumentError(f"what must be a Match, as METADATA_PUT; got {what!r}")
        if isinstance(skip, bool) or not isinstance(skip, int) or skip < 0:
            raise ArgumentError(f"skip is a whole number from 0 on; got {skip!r}")
        what = what.of(client)
        gate = self.ask(self.running.plan.hold, what, at_answer=answer, skip=skip)
        return Held(what, answer, gate, self)

    def open(self, gate, verdict=PASS):
        """Open a gate; returns whether it was closed. After the proxy's end all are open."""
        return not gate.is_open and self.ask(gate.open, verdict)

    def play(self, script, *, seed=0):
        """Replace the script from this moment on, with counts at 0; what the old one held goes on.

        Args:
            script: list of Rule, Script, or path of a script file; the latter two have their own seed.
            seed: whole number for the shares of a list.

        Raises:
            ValueError: it is no script, or names a client that is not there.
        """
        found = _script(script, seed, self.clients)
        self.ask(self.running.plan.play, found.rules, found.seed)

    def injected(self):
        """Return what became of each rule: list of Injected (do, matched, hit), in the script's order."""
        return self.ask(self.running.plan.injected)

    @property
    def log(self):
        """What is through: tuple of Passed, in the order in which the upstream answered; the latest 100,000.

        A request that the upstream has answered is here before its client has the answer.
        """
        return tuple(one.line() for one in self.ask(tuple, self.running.log))

    def passed(self, client=None, what=ANY):
        """Return the lines of the log that match, oldest first; client None means any."""
        what = what.of(client)
        return [one for one in self.log if what.meets(one.client, one.method, one.path)]


@contextmanager
def between(upstream, *, clients=None, script=(), seed=0, port=0):
    """Run a proxy before an upstream as long as the context is open.

    At its end all that is held goes on, except requests whose client has gone; what is under way has 5 seconds.

    Args:
        upstream: `http://host:port` of an S3 server or a REST catalog.
        clients: names, or name to access key; None takes those of the script.
        script: list of Rule, Script, or path of a script file.
        seed: whole number for the shares of a list of rules.
        port: TCP port on 127.0.0.1 for all clients; 0 takes a free one.

    Yields:
        Proxy.

    Raises:
        ValueError: an argument does not go, or the port cannot be had.
        ModuleNotFoundError: aiohttp is not installed.
    """
    if importlib.util.find_spec("aiohttp") is None:
        raise MissingPackageError("aiohttp is not installed: pip install 'iceberg-workbench[s3]'", name="aiohttp")
    from workbench_standins.proxy import server  # aiohttp is an extra

    address = urlsplit(str(upstream))
    if (
        address.scheme != "http"
        or not address.netloc
        or address.path.strip("/")
        or address.query
        or address.username
    ):
        raise ArgumentError(f"upstream is an address as http://127.0.0.1:8333; got {upstream!r}")
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ArgumentError(f"port must be a whole number from 0 to 65535; got {port!r}")
    found = _script(script, seed, clients)
    with server.in_thread(f"http://{address.netloc}", found, port) as (running, ask):
        yield Proxy(running.endpoint(None), running.upstream, found.clients, running, ask)


def _script(script, seed, clients):
    """Return the Script of a list of Rule, of a Script or of a file, with these clients when they are given."""
    if isinstance(script, str | Path):
        script = read_script(script)
    if isinstance(script, Script):
        return script if clients is None else replace(script, clients=clients)
    return Script(script, seed, clients or {})
