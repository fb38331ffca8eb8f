"""The proxy on HTTP: a thread with a loop of its own, on loopback, a port for all clients and one for each."""

import socket
from collections import deque
from contextlib import asynccontextmanager

from aiohttp import web

from workbench._base.errors import ArgumentError
from workbench_standins import loops
from workbench_standins.ports import HOST
from workbench_standins.proxy import relay
from workbench_standins.proxy.arrivals import Arrival
from workbench_standins.proxy.plan import Plan

LOG_LINES = 100_000
IDLE_SECONDS = 3600  # a client may think long between two requests on one connection
LEAVE_SECONDS = 5  # what is under way when the proxy closes has so long


class Server:
    """What runs on the loop.

    Attributes:
        plan: the script at work.
        ports: client's name to its port; None is the port for all.
        log: the latest requests that are through, in the order in which the upstream answered.
    """

    def __init__(self, upstream, script, port):
        self.upstream, self.clients = upstream, script.clients
        self.plan, self.log, self._count = Plan(script), deque(maxlen=LOG_LINES), 0
        self._sockets = _sockets(script.clients, port)
        self.ports = {name: one.getsockname()[1] for name, one in self._sockets.items()}
        self._by_port = {number: name for name, number in self.ports.items()}

    def endpoint(self, client):
        """Return the address for a client, or for all."""
        return f"http://{HOST}:{self.ports[client]}"

    @asynccontextmanager
    async def listening(self):
        """Serve as long as the context is open."""

        @web.middleware
        async def everything(request, handler):
            return await self._handle(request)

        application = web.Application(middlewares=[everything])  # no routes: whatever comes is passed on
        application.on_response_prepare.append(relay.only_own_headers)
        runner = web.AppRunner(
            application, access_log=None, auto_decompress=False, keepalive_timeout=IDLE_SECONDS,
            max_line_size=relay.HEADER_BYTES, max_field_size=relay.HEADER_BYTES, shutdown_timeout=LEAVE_SECONDS,
        )  # fmt: skip
        await runner.setup()
        async with relay.session() as self._session:
            try:
                for one in self._sockets.values():
                    await web.SockSite(runner, one).start()
                yield self
            finally:
                self.plan.close()
                await runner.cleanup()

    async def _handle(self, request):
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

    def _answered(self, arrival):
        self.log.append(arrival)
        if arrival.status < 400:
            self.plan.succeeded(arrival)


def _sockets(clients, port):
    """Return listening sockets by client's name; None is for all."""
    found = {}
    try:
        for name in (None, *clients):
            found[name] = socket.create_server((HOST, 0 if name else port))
    except OSError as error:
        for one in found.values():
            one.close()
        raise ArgumentError(f"port {port} of {HOST} cannot be had: {error.strerror}") from None
    return found


def in_thread(upstream, script, port):
    """Serve from a thread of this process; gives (Server, function that calls another on the loop).

    Raises:
        ValueError: the port cannot be had.
    """
    return loops.on_thread(lambda: Server(upstream, script, port).listening(), name="ordering proxy")
