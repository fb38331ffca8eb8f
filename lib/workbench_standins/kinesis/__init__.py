"""A Kinesis server for this machine, true where stand-ins are wrong; boto3 talks to it unchanged.

It listens on 127.0.0.1 only, accepts any signature and keeps everything in memory.

    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name="us-east-1", ...)

What it does, where real Kinesis and other stand-ins differ, and the fault script: docs/kinesis.md. The parts:

    clock, limits, sequence, tokens, refusal, request    values of the protocol
    stream, store                                        what there is
    control, writing, reading, operations                what can be done to it
    faults                                               what shall go wrong
    service, server, child                               JSON, HTTP, a process of its own
"""

import asyncio
import importlib.util
import signal
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_standins.kinesis import child, faults, server
from workbench_standins.kinesis.faults import Fault, Injected
from workbench_standins.kinesis.limits import UNLIMITED, Limits

__all__ = ["UNLIMITED", "Fault", "Injected", "Limits", "Server", "serve", "serve_forever"]


@dataclass(frozen=True)
class ClockHandle:
    """The server's clock: the machine's time until it is taken in hand."""

    ask: Callable = field(repr=False)

    def now(self):
        """Return the server's time in seconds since 1970."""
        return self.ask("now")

    def advance(self, seconds):
        """Push the clock forward, standing or running; returns the new time in seconds."""
        return self.ask("advance", seconds=seconds)

    def stop(self):
        """Let the clock stand still until it is advanced; returns the time in seconds."""
        return self.ask("stop")


@dataclass(frozen=True)
class FaultsHandle:
    """The server's fault script."""

    ask: Callable = field(repr=False)

    def set(self, script, *, seed=0):
        """Replace the script, from this moment on and with counts at 0.

        Args:
            script: list of Fault, or the path of a YAML or JSON file, whose seed then counts.
            seed: whole number; the same calls and the same seed are hit alike.

        Raises:
            ValueError: it is no fault script.
        """
        found, seed = _script(script, seed)
        self.ask("set_faults", faults=found, seed=seed)

    def clear(self):
        """Let nothing go wrong from now on; the counts are gone too."""
        self.set([])

    def injected(self):
        """Return what became of each fault: list of Injected (kind, matched, hit), in the script's order."""
        return [Injected(**one) for one in self.ask("injected")]


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        endpoint: its address, for `endpoint_url`.
        clock: its clock: now(), advance(seconds), stop().
        faults: its fault script: set(script), clear(), injected().
    """

    endpoint: str
    clock: ClockHandle
    faults: FaultsHandle
    ask: Callable = field(repr=False)

    def calls(self):
        """Return how many calls came, by operation, refused ones included; requests that are no call are not."""
        return self.ask("calls")


@contextmanager
def serve(
    *,
    port=0,
    limits=None,
    faults=(),
    seed=0,
    start=None,
    transition_seconds=0.0,
    region="us-east-1",
    in_thread=False,
):
    """Run a server as long as the context is open.

    Args:
        port: TCP port on 127.0.0.1; 0 takes a free one.
        limits: Limits, by default those of the service; UNLIMITED takes all away.
        faults: list of Fault or path of a fault script.
        seed: for the fault script.
        start: seconds since 1970 at which the clock stands still until it is advanced; None follows the machine.
        transition_seconds: how long a stream is CREATING, UPDATING or DELETING.
        region: where calls belong that are not signed for one.
        in_thread: serve from a thread of this process; by default a child process does.

    Yields:
        Server.

    Raises:
        ValueError: an argument does not go, or the port cannot be had.
        ModuleNotFoundError: aiohttp is not installed.
    """
    found, seed = _script(faults, seed)
    settings = _settings(port, limits, start, transition_seconds, region)
    place = server.in_thread(child.service(settings), port) if in_thread else child.running(settings)
    with place as (taken, ask):
        made = Server(f"http://{server.HOST}:{taken}", ClockHandle(ask), FaultsHandle(ask), ask)
        ask("set_faults", faults=found, seed=seed)
        yield made


def serve_forever(*, port=4567, limits=None, faults=(), seed=0, transition_seconds=0.0, ready=None):
    """Serve from this process until it is interrupted (SIGINT) or terminated (SIGTERM).

    Args:
        port: TCP port on 127.0.0.1; 0 takes a free one.
        limits: Limits, by default those of the service.
        faults: list of Fault or path of a fault script.
        seed: for the fault script.
        transition_seconds: how long a stream is CREATING, UPDATING or DELETING.
        ready: called with the endpoint once it listens.

    Raises:
        ValueError: an argument does not go, or the port cannot be had.
        ModuleNotFoundError: aiohttp is not installed.
    """
    found, seed = _script(faults, seed)
    service = child.service(_settings(port, limits, None, transition_seconds, "us-east-1"))
    service.control("set_faults", {"faults": found, "seed": seed})

    async def run():
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        async with server.listening(service, port) as taken:
            if ready:
                ready(f"http://{server.HOST}:{taken}")
            await ended.wait()

    asyncio.run(run())


def _settings(port, limits, start, transition_seconds, region):
    """Return the settings of a server after all of them were checked."""
    if importlib.util.find_spec("aiohttp") is None:
        raise MissingPackageError(
            "aiohttp is not installed: pip install 'iceberg-workbench[streams]'", name="aiohttp"
        )
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ArgumentError(f"port must be a whole number from 0 to 65535; got {port!r}")
    limits = Limits() if limits is None else limits
    if not isinstance(limits, Limits):
        raise ArgumentError(f"limits must be a Limits; got {limits!r}")
    limits = replace(limits, calls_per_second=dict(limits.calls_per_second))
    found = child.settings(
        port=port, limits=limits, start=start, transition_seconds=transition_seconds, region=region
    )
    child.service(found)  # refuses what does not go before anything is started
    return found


def _script(script, seed):
    """Return (faults as dicts, seed) of a list of Fault or of a file."""
    if isinstance(script, str | Path):
        script, seed = faults.read(script)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ArgumentError(f"seed must be a whole number; got {seed!r}")
    return faults.plain(script), seed
