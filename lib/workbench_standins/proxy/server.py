"""The proxy on HTTP: a thread with a loop of its own, on loopback, a port for all clients and one for each."""

import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any

from aiohttp import web

from workbench._base.errors import ArgumentError
from workbench_standins import loops
from workbench_standins.ports import HOST
from workbench_standins.proxy import relay
from workbench_standins.proxy.arrivals import Arrival
from workbench_standins.proxy.plan import Plan
from workbench_standins.proxy.scripts import Script

LOG_LINES = 100_000
IDLE_SECONDS = 3600  # a client may think long between two requests on one connection
LEAVE_SECONDS = 5  # for requests that are under way when the proxy closes


class Server:
    """The proxy on its loop.

    Attributes:
        plan: the script at work.
        ports: client's name to its port; None is the port for all.
        log: the latest requests that are through, in the order in which the upstream answered.
    """

    def __init__(self, upstream: str, script: Script, port: int) -> None:
        self.upstream, self.clients = upstream, script.clients
        self.plan, self._count = Plan(script), 0
        self.log: deque[Arrival] = deque(maxlen=LOG_LINES)
        self._sockets = _sockets(script.clients, port)
        self.ports = {name: listening.getsockname()[1] for name, listening in self._sockets.items()}
        self._by_port = {number: name for name, number in self.ports.items()}

    def endpoint(self, client: str | None) -> str:
        """Return the address for a client, or for all."""
        return f"http://{HOST}:{self.ports[client]}"

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["Server"]:
        """Serve as long as the context is open."""

        @web.middleware
        async def everything(request: web.Request, handler: Any) -> web.StreamResponse:
            return await self._handle(request)

        application = web.Application(middlewares=[everything])  # no routes: every request is passed on
        application.on_response_prepare.append(relay.only_own_headers)
        runner = web.AppRunner(
            application, access_log=None, auto_decompress=False, keepalive_timeout=IDLE_SECONDS,
            max_line_size=relay.HEADER_BYTES, max_field_size=relay.HEADER_BYTES, shutdown_timeout=LEAVE_SECONDS,
        )  # fmt: skip
        await runner.setup()
        async with relay.session() as self._session:
            try:
                for listening in self._sockets.values():
                    await web.SockSite(runner, listening).start()
                yield self
            finally:
                self.plan.close()
                await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self._count += 1
        client, path = relay.meant(request, self.clients, self._by_port)
        arrival = Arrival(self._count, client, request.method, path, lambda: request.transport is None)
        try:
            return await relay.handle(
                request, session=self._session, upstream=self.upstream, arrival=arrival, plan=self.plan,
                answered=self._answered,
            )  # fmt: skip
        finally:
            if arrival.status is None:
                self.log.append(arrival)
            arrival.finish()

    def _answered(self, arrival: Arrival) -> None:
        self.log.append(arrival)
        if arrival.status and arrival.status < 400:
            self.plan.succeeded(arrival)


def _sockets(clients: Iterable[str], port: int) -> dict[str | None, socket.socket]:
    """Return listening sockets by client's name; None is for all."""
    sockets: dict[str | None, socket.socket] = {}
    try:
        for name in (None, *clients):
            sockets[name] = socket.create_server((HOST, 0 if name else port))
    except OSError as error:
        for listening in sockets.values():
            listening.close()
        raise ArgumentError(f"port {port} of {HOST} cannot be had: {error.strerror}") from None
    return sockets


def in_thread(
    upstream: str, script: Script, port: int
) -> AbstractContextManager[tuple[Server, Callable[..., Any]]]:
    """Serve from a thread of this process; the context yields (Server, function that calls another on the loop).

    Raises:
        ValueError: the port cannot be had.
    """
    return loops.on_thread(lambda: Server(upstream, script, port).listening(), name="ordering proxy")
