"""The server as a child process, so that it shares no interpreter lock with its client.

The settings go in and the port comes out, then one control and its answer after another (see `children`).
"""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from workbench._base import children
from workbench_standins.kinesis import server
from workbench_standins.kinesis.clock import Clock
from workbench_standins.kinesis.limits import Limits
from workbench_standins.kinesis.service import Service
from workbench_standins.kinesis.store import Store

LINE_BYTES = 16 * 1024 * 1024


def service(settings: Mapping[str, Any]) -> Service:
    """Return the service that settings describe: limits, start, transition_seconds, region."""
    clock, limits = Clock(settings["start"]), Limits(**settings["limits"])
    store = Store(clock, limits, transition_seconds=settings["transition_seconds"])
    return Service(store, region=settings["region"])


@contextmanager
def running(settings: Mapping[str, Any]) -> Iterator[tuple[int, Callable[..., Any]]]:
    """Run a child with these settings and yield (port, function that sends it a control).

    Raises:
        ValueError: the port cannot be had.
        ChildProcessError: it did not start, or it died meanwhile.
    """
    with children.started(__name__) as process:
        turn = threading.Lock()

        def ask(name: str, **arguments: Any) -> Any:
            with turn:
                return answer({"control": name, "arguments": arguments})

        def answer(message: Mapping[str, Any]) -> Any:
            return children.ask(process, message, name="Kinesis server")["value"]

        yield answer(settings), ask


def main() -> None:
    """Serve as the child: read settings and controls from standard input until it ends."""
    asyncio.run(_main())


async def _main() -> None:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    settings = json.loads(await reader.readline())
    served = service(settings)
    try:
        async with server.listening(served, settings["port"]) as port:
            children.say({"value": port})
            while line := await reader.readline():
                message = json.loads(line)
                try:
                    children.say({"value": served.control(message["control"], message["arguments"])})
                except ValueError as error:
                    children.say({"error": str(error)})
    except ValueError as error:
        children.say({"error": str(error)})
