"""The server as a child process, so that it shares no interpreter lock with its client.

Parent and child speak JSON, a line each way, on the child's standard input and output: first the settings and the
port, then one control at a time. The input's end is the child's end, so it never outlives its parent.
"""

import asyncio
import json
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import asdict

from workbench.local.kinesis import server
from workbench.local.kinesis.clock import Clock
from workbench.local.kinesis.limits import Limits
from workbench.local.kinesis.service import Service
from workbench.local.kinesis.store import Store

PATIENCE_SECONDS = 5
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
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", "from workbench.local.kinesis import child; child.main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt of the parent is not meant for it
    )

    turn = threading.Lock()

    def ask(name, **arguments):
        with turn:
            return _exchange(process, {"control": name, "arguments": arguments})

    try:
        yield _exchange(process, found), ask
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _exchange(process, message):
    try:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = b""
    if not line:
        raise ChildProcessError(f"the Kinesis server ended by itself, exit code {process.wait(PATIENCE_SECONDS)}")
    answer = json.loads(line)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer["value"]


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
            _say({"value": port})
            while line := await reader.readline():
                asked = json.loads(line)
                try:
                    _say({"value": made.control(asked["control"], asked["arguments"])})
                except ValueError as error:
                    _say({"error": str(error)})
    except ValueError as error:
        _say({"error": str(error)})


def _say(message):
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()
