"""The server as a child process, so that it shares no interpreter lock with its client.

First the settings and the port, then one control at a time go to and fro (see `children`).
"""

import asyncio
import json
import sys
import threading
from contextlib import contextmanager
from dataclasses import asdict

from workbench._base import children
from workbench_standins.kinesis import server
from workbench_standins.kinesis.clock import Clock
from workbench_standins.kinesis.limits import Limits
from workbench_standins.kinesis.service import Service
from workbench_standins.kinesis.store import Store

LINE_BYTES = 16 * 1024 * 1024


def settings(*, port, limits, start, transition_seconds, region):
    """Return what a child has to know, as JSON can carry it."""
    return {
        "port": port,
        "limits": asdict(limits),
        "start": start,
        "transition_seconds": transition_seconds,
        "region": region,
    }


def service(found):
    """Return the service that settings describe."""
    store = Store(Clock(found["start"]), Limits(**found["limits"]), transition_seconds=found["transition_seconds"])
    return Service(store, region=found["region"])


@contextmanager
def running(found):
    """Run a child with these settings; gives (port, function that asks it for a control).

    Raises:
        ValueError: the port cannot be had.
        ChildProcessError: it did not start, or it died meanwhile.
    """
    with children.started(__name__) as process:
        turn = threading.Lock()

        def ask(name, **arguments):
            with turn:
                return answer({"control": name, "arguments": arguments})

        def answer(message):
            return children.ask(process, message, name="Kinesis server")["value"]

        yield answer(found), ask


def main():
    """Be the child: read settings and controls from standard input until it ends."""
    asyncio.run(_main())


async def _main():
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    found = json.loads(await reader.readline())
    made = service(found)
    try:
        async with server.listening(made, found["port"]) as port:
            children.say({"value": port})
            while line := await reader.readline():
                asked = json.loads(line)
                try:
                    children.say({"value": made.control(asked["control"], asked["arguments"])})
                except ValueError as error:
                    children.say({"error": str(error)})
    except ValueError as error:
        children.say({"error": str(error)})
