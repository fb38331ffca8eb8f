"""The service on HTTP, on loopback only. aiohttp is imported where it is needed: it is an extra."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from workbench._base.errors import ArgumentError
from workbench_standins import loops
from workbench_standins.kinesis.service import MEDIA_TYPE, Service
from workbench_standins.ports import HOST

BODY_BYTES = 32 * 1024 * 1024  # 10 MiB of records in base64, with room
IDLE_SECONDS = 3600  # a client may think long between two calls on one connection


@asynccontextmanager
async def listening(service: Service, port: int = 0) -> AsyncIterator[int]:
    """Serve as long as the context is open, and yield the port. Port 0 takes a free one.

    Raises:
        ValueError: the port cannot be had.
    """
    from aiohttp import web

    async def handle(http: web.Request) -> web.Response:
        headers = http.headers
        answer = service.answer(
            headers.get("X-Amz-Target", ""), http.content_type, headers.get("Authorization", ""), await http.read()
        )
        if answer.seconds:
            await asyncio.sleep(answer.seconds)
        if answer.lost and http.transport:
            http.transport.close()  # so that aiohttp cannot send the answer
        return web.Response(status=answer.status or 500, body=answer.body, content_type=MEDIA_TYPE)

    application = web.Application(client_max_size=BODY_BYTES)
    application.router.add_post("/", handle)
    runner = web.AppRunner(application, access_log=None, keepalive_timeout=IDLE_SECONDS, shutdown_timeout=0.1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            raise ArgumentError(f"port {port} of {HOST} cannot be had: {error.strerror}") from None
        chosen: int = runner.addresses[0][1]
        yield chosen
    finally:
        await runner.cleanup()


@contextmanager
def in_thread(service: Service, port: int = 0) -> Iterator[tuple[int, Callable[..., Any]]]:
    """Serve from a thread of this process; yield (port, function that runs service.control on that thread).

    Raises:
        ValueError: the port cannot be had.
    """
    with loops.on_thread(lambda: listening(service, port), name="kinesis") as (chosen, call):
        yield chosen, lambda name, **arguments: call(service.control, name, arguments)
