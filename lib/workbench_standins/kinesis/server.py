"""The service on HTTP, on loopback only. aiohttp is imported where it is needed: it is an extra."""

import asyncio
from contextlib import asynccontextmanager, contextmanager

from workbench._base.errors import ArgumentError
from workbench_standins import loops
from workbench_standins.ports import HOST

BODY_BYTES = 32 * 1024 * 1024  # 10 MiB of records in base64, with room
IDLE_SECONDS = 3600  # a client may think long between two calls on one connection


@asynccontextmanager
async def listening(service, port=0):
    """Serve as long as the context is open; it gives the port. Port 0 takes a free one.

    Raises:
        ValueError: the port cannot be had.
    """
    from aiohttp import web

    async def handle(http):
        headers = http.headers
        answer = service.answer(
            headers.get("X-Amz-Target", ""), http.content_type, headers.get("Authorization", ""), await http.read()
        )
        if answer.seconds:
            await asyncio.sleep(answer.seconds)
        if answer.lost:
            http.transport.close()  # what aiohttp then writes goes nowhere
        return web.Response(
            status=answer.status or 500, body=answer.body, content_type="application/x-amz-json-1.1"
        )

    application = web.Application(client_max_size=BODY_BYTES)
    application.router.add_post("/", handle)
    runner = web.AppRunner(application, access_log=None, keepalive_timeout=IDLE_SECONDS, shutdown_timeout=0.1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            raise ArgumentError(f"port {port} of {HOST} cannot be had: {error.strerror}") from None
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@contextmanager
def in_thread(service, port=0):
    """Serve from a thread of this process; gives (port, function that runs service.control on that thread).

    Raises:
        ValueError: the port cannot be had.
    """
    with loops.on_thread(lambda: listening(service, port), name="kinesis") as (chosen, call):
        yield chosen, lambda name, **arguments: call(service.control, name, arguments)
