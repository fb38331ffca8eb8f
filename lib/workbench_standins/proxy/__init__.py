"""The ordering proxy: between clients and S3 or a REST catalog, it fixes the order of two commits.

It listens on 127.0.0.1 only, passes everything byte for byte and, by script or by hand, holds a named client's
request until another's has passed, loses an answer after the request took effect, delays it or fails it.

    with proxy.between("http://127.0.0.1:8333", clients=["a", "b"]) as between:
        with between.hold("a", proxy.METADATA_PUT) as commit:  # writer a talks to between.endpoint_of("a")
            ...                                                # start a's commit
            commit.wait()                                      # it has written its files and waits before the swap
            ...                                                # b commits
        ...                                                    # a goes on and finds b's commit

What it can do, and the script file: docs/proxy.md. The parts:

    rules, scripts             which requests are meant and what is done to them; the same as a file
    arrivals, gates, plan      a request on its way, where it waits, what hits it
    relay, server              HTTP byte for byte; a thread with a loop and its ports
"""

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_standins.ports import Port
from workbench_standins.proxy.arrivals import Passed
from workbench_standins.proxy.gates import PASS, Gate, Held, Verdict
from workbench_standins.proxy.plan import Injected
from workbench_standins.proxy.rules import ANY, COMMIT, METADATA_PUT, Match, Rule
from workbench_standins.proxy.scripts import Clients, Script, check_client, keys_of, read_script

if TYPE_CHECKING:  # aiohttp is an extra
    from workbench_standins.proxy.server import Server

__all__ = [
    "ANY", "COMMIT", "METADATA_PUT", "Held", "Injected", "Match", "Passed", "Proxy", "Rule", "Script", "between",
    "read_script",
]  # fmt: skip


@dataclass(frozen=True)
class Proxy:
    """A running proxy.

    Attributes:
        endpoint: its address for all clients, which are known by the access key that signs their requests.
        upstream: address of the server behind it.
        clients: name to access key, or to None.
    """

    endpoint: str
    upstream: str
    clients: Mapping[str, str | None]
    running: "Server" = field(repr=False)
    ask: Callable[..., Any] = field(repr=False)

    @checked
    def endpoint_of(self, client: str | None) -> str:
        """Return the address for one client: requests to it are this client's, whatever protocol signs them.

        Raises:
            ValueError: there is no such client.
        """
        check_client(client, self.clients)
        return self.running.endpoint(client)

    @checked
    def hold(
        self,
        client: str | None,
        what: Match = METADATA_PUT,
        *,
        answer: bool = False,
        skip: Annotated[int, Ge(0)] = 0,
    ) -> Held:
        """Hold a client's requests from now on, until the returned Held decides how they go on.

        Args:
            client: its name; None means any.
            what: Match of the requests; its own client does not count.
            answer: hold the answer, after the request has taken effect.
            skip: number of matching requests that pass first.

        Raises:
            ValueError: there is no such client, or an argument is invalid.
        """
        check_client(client, self.clients)
        what = what.of(client)
        gate = self.ask(self.running.plan.hold, what, at_answer=answer, skip=skip)
        return Held(what, answer, gate, self)

    def open(self, gate: Gate, verdict: Verdict = PASS) -> bool:
        """Open a gate and return whether it was closed. After the proxy's end all are open."""
        return not gate.is_open and bool(self.ask(gate.open, verdict))

    @checked
    def play(self, script: Sequence[Rule] | Script | str | Path, *, seed: int = 0) -> None:
        """Replace the script from this moment on, with counts at 0; requests that the old one held go on.

        Args:
            script: list of Rule, Script, or path of a script file; the latter two have their own seed.
            seed: for the shares of a list.

        Raises:
            ValueError: the file is not a script, or a rule names a client that the proxy does not have.
        """
        played = _script(script, seed, self.clients)
        self.ask(self.running.plan.play, played.rules, played.seed)

    def injected(self) -> list[Injected]:
        """Return the counts of each rule, in the script's order."""
        counts: list[Injected] = self.ask(self.running.plan.injected)
        return counts

    @property
    def log(self) -> tuple[Passed, ...]:
        """The requests that are through, in the order in which the upstream answered; the latest 100,000.

        A request that the upstream has answered is here before its client has the answer.
        """
        return tuple(arrival.line() for arrival in self.ask(tuple, self.running.log))

    @checked
    def passed(self, client: str | None = None, what: Match = ANY) -> list[Passed]:
        """Return the lines of the log that match, oldest first; client None means any."""
        what = what.of(client)
        return [line for line in self.log if what.meets(line.client, line.method, line.path)]


@checked
@contextmanager
def between(
    upstream: str,
    *,
    clients: Clients | None = None,
    script: Sequence[Rule] | Script | str | Path = (),
    seed: int = 0,
    port: Port = 0,
) -> Iterator[Proxy]:
    """Serve a proxy before an upstream as long as the context is open.

    At its end all held requests go on, except those whose client has gone; they have 5 seconds to end.

    Args:
        upstream: `http://host:port` of an S3 server or a REST catalog.
        clients: names, or name to access key; None takes those of the script.
        script: list of Rule, Script, or path of a script file.
        seed: for the shares of a list of rules.
        port: TCP port on 127.0.0.1 for all clients; 0 takes a free one.

    Yields:
        Proxy.

    Raises:
        ValueError: an argument is invalid, or the port cannot be had.
        ModuleNotFoundError: aiohttp is not installed.
    """
    if importlib.util.find_spec("aiohttp") is None:
        raise MissingPackageError("aiohttp is not installed: pip install 'iceberg-workbench[s3]'", name="aiohttp")
    from workbench_standins.proxy import server  # aiohttp is an extra

    address = urlsplit(upstream)
    more = address.path.strip("/") or address.query or address.username
    if address.scheme != "http" or not address.netloc or more:
        raise ArgumentError(f"upstream must be an address such as http://127.0.0.1:8333, found {upstream!r}")
    played = _script(script, seed, clients)
    with server.in_thread(f"http://{address.netloc}", played, port) as (running, ask):
        yield Proxy(running.endpoint(None), running.upstream, played.clients, running, ask)


def _script(script: Sequence[Rule] | Script | str | Path, seed: int, clients: Clients | None) -> Script:
    """Return the Script of a list of Rule, of a Script or of a file, with these clients when they are given."""
    if isinstance(script, str | Path):
        script = read_script(script)
    if isinstance(script, Script):
        return script if clients is None else replace(script, clients=keys_of(clients))
    return Script(tuple(script), seed, keys_of(clients or ()))
