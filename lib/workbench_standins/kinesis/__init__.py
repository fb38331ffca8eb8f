"""A Kinesis server for this machine, correct where other stand-ins are wrong; boto3 uses it unchanged.

It listens on 127.0.0.1 only, accepts any signature and keeps everything in memory.

    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name="us-east-1", ...)

What it does, where real Kinesis and other stand-ins differ, and the fault script: docs/kinesis.md. The parts:

    clock, limits, sequence, tokens, refusal, request    values of the protocol
    stream, store                                        the streams with their shards and records
    control, writing, reading, operations                the operations on them
    faults                                               fault scripts
    service, server, child                               JSON, HTTP, a process of its own
"""

import asyncio
import importlib.util
import math
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from workbench._base.bounds import Ge, Gt, Lt
from workbench._base.door import checked
from workbench._base.errors import MissingPackageError
from workbench_standins.kinesis import child, faults, server
from workbench_standins.kinesis.clock import Seconds
from workbench_standins.kinesis.faults import Fault, Injected
from workbench_standins.kinesis.limits import UNLIMITED, Limits
from workbench_standins.ports import HOST, Port

__all__ = ["UNLIMITED", "Fault", "Injected", "Limits", "Server", "serve", "serve_forever"]

Faults = Sequence[Fault] | str | Path  # or the path of a fault script
Moment = Annotated[float, Gt(-math.inf), Lt(math.inf)]
Transition = Annotated[float, Ge(0), Lt(3600)]


@dataclass(frozen=True)
class ClockHandle:
    """The server's clock: the machine's time until it is taken in hand."""

    ask: Callable[..., Any] = field(repr=False)

    def now(self) -> float:
        """Return the server's time in seconds since 1970."""
        return float(self.ask("now"))

    @checked
    def advance(self, seconds: Seconds) -> float:
        """Push the clock forward, standing or running, and return the new time in seconds since 1970."""
        return float(self.ask("advance", seconds=float(seconds)))

    def stop(self) -> float:
        """Let the clock stand still until it is advanced, and return the time in seconds since 1970."""
        return float(self.ask("stop"))


@dataclass(frozen=True)
class FaultsHandle:
    """The server's fault script."""

    ask: Callable[..., Any] = field(repr=False)

    @checked
    def set(self, script: Faults, *, seed: int = 0) -> None:
        """Replace the script, from this moment on and with counts at 0.

        Args:
            script: list of Fault, or the path of a YAML or JSON file, whose seed then counts.
            seed: the same calls with the same seed are hit alike.

        Raises:
            ValueError: the file is not a fault script.
        """
        self.ask("set_faults", **_script(script, seed))

    def clear(self) -> None:
        """Remove the script, with its counts."""
        self.set([])

    def injected(self) -> list[Injected]:
        """Return the counts of each fault, in the script's order."""
        return [Injected(**counts) for counts in self.ask("injected")]


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
    ask: Callable[..., Any] = field(repr=False)

    def calls(self) -> dict[str, int]:
        """Return the number of calls by operation, refused ones included, requests that are not calls excluded."""
        counts: dict[str, int] = self.ask("calls")
        return counts


@checked
@contextmanager
def serve(
    *,
    port: Port = 0,
    limits: Limits | None = None,
    faults: Faults = (),
    seed: int = 0,
    start: Moment | None = None,
    transition_seconds: Transition = 0.0,
    region: str = "us-east-1",
    in_thread: bool = False,
) -> Iterator[Server]:
    """Serve Kinesis as long as the context is open.

    Args:
        port: TCP port on 127.0.0.1; 0 takes a free one.
        limits: by default those of the service; UNLIMITED removes all.
        faults: list of Fault or path of a fault script.
        seed: for the fault script.
        start: seconds since 1970 at which the clock stands still until it is advanced; None follows the machine.
        transition_seconds: how long a stream is CREATING, UPDATING or DELETING.
        region: of calls that are not signed for one.
        in_thread: serve from a thread of this process; by default a child process does.

    Yields:
        Server.

    Raises:
        ValueError: an argument is invalid, or the port cannot be had.
        ModuleNotFoundError: aiohttp is not installed.
    """
    script = _script(faults, seed)
    settings = _settings(port, limits, start, transition_seconds, region)
    serving = server.in_thread(child.service(settings), port) if in_thread else child.running(settings)
    with serving as (served, ask):
        ask("set_faults", **script)
        yield Server(f"http://{HOST}:{served}", ClockHandle(ask), FaultsHandle(ask), ask)


@checked
def serve_forever(
    *,
    port: Port = 4567,
    limits: Limits | None = None,
    faults: Faults = (),
    seed: int = 0,
    transition_seconds: Transition = 0.0,
    ready: Callable[[str], object] | None = None,
) -> None:
    """Serve from this process until it is interrupted (SIGINT) or terminated (SIGTERM).

    Args:
        port: TCP port on 127.0.0.1; 0 takes a free one.
        limits: by default those of the service.
        faults: list of Fault or path of a fault script.
        seed: for the fault script.
        transition_seconds: how long a stream is CREATING, UPDATING or DELETING.
        ready: called with the endpoint once it listens.

    Raises:
        ValueError: an argument is invalid, or the port cannot be had.
        ModuleNotFoundError: aiohttp is not installed.
    """
    script = _script(faults, seed)
    service = child.service(_settings(port, limits, None, transition_seconds, "us-east-1"))
    service.control("set_faults", script)

    async def run() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        async with server.listening(service, port) as served:
            if ready:
                ready(f"http://{HOST}:{served}")
            await ended.wait()

    asyncio.run(run())


def _settings(
    port: int, limits: Limits | None, start: float | None, transition_seconds: float, region: str
) -> dict[str, Any]:
    """Return the settings of a server, as JSON can carry them."""
    if importlib.util.find_spec("aiohttp") is None:
        raise MissingPackageError(
            "aiohttp is not installed: pip install 'iceberg-workbench[streams]'", name="aiohttp"
        )
    limits = limits or Limits()
    return {
        "port": int(port),
        "limits": asdict(replace(limits, calls_per_second=dict(limits.calls_per_second))),
        "start": None if start is None else float(start),
        "transition_seconds": float(transition_seconds),
        "region": region,
    }


def _script(script: Faults, seed: int) -> dict[str, Any]:
    """Return {"faults": as dicts, "seed"} of a list of Fault or of a file."""
    if isinstance(script, str | Path):
        script, seed = faults.read(script)
    return {"faults": [asdict(fault) for fault in script], "seed": int(seed)}
