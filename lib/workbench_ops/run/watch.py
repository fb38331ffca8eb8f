"""A process that reports events, followed from outside: its events, its time, the signals that stop us."""

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, BinaryIO, NamedTuple

from workbench._base.errors import WorkbenchError
from workbench_ops.run import processes
from workbench_ops.run.record import FailingCell

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(WorkbenchError, Exception):
    """The runner was told to stop; holds the number of the signal."""


class Child(NamedTuple):
    """A process of ours that reports events: it ends when our end of its lifeline closes."""

    process: subprocess.Popen[bytes]
    events: int
    lifeline: int


@dataclass(frozen=True)
class Outcome:
    """How the process ended that executed a notebook.

    Attributes:
        status: of the run, a key of record.EXIT_CODES.
        reason: sentence; None where it passed.
        failing_cell: None where the process could not say.
        error: name of the error of the cell under way; empty for the status.
    """

    status: str
    reason: str | None
    failing_cell: FailingCell | None = None
    error: str = ""


def spawned(module: str, options: Mapping[str, object], *, env: Mapping[str, str], output: BinaryIO) -> Child:
    """Start a module of ours as a process that reports events and does not outlive us.

    Args:
        module: full name; it takes the options, and beside them `--events` and `--lifeline`, file descriptors.
        options: of its command line, name to value.
        env: its environment.
        output: file that takes what it prints.
    """
    events, write_end = os.pipe()
    lifeline, ours = os.pipe()
    options = {**options, "events": write_end, "lifeline": lifeline}
    command = [sys.executable, "-m", module]
    command += [part for name, value in options.items() for part in (f"--{name}", str(value))]
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        pass_fds=(write_end, lifeline), start_new_session=True,
    )  # fmt: skip
    os.close(write_end)
    os.close(lifeline)
    return Child(process, events, ours)


def follow(
    child: Child,
    *,
    started: float,
    timeout_seconds: float | None,
    cell: dict[str, Any],
    tell: Callable[..., None],
) -> Outcome:
    """Follow a process that executes a notebook until it ends or its time is over.

    Args:
        child: the process, `workbench_ops.run.child`.
        started: of time.monotonic, when the run began.
        timeout_seconds: how long the run may take; None for no limit.
        cell: receives what is known about the cell under way: number, of, heading, first_line.
        tell: called with the event `cell`, and these, for each cell that begins.
    """
    process, events, lifeline = child
    outcome = None
    try:
        for line in _lines_of(events, deadline=timeout_seconds and started + timeout_seconds):
            event = json.loads(line)
            if event.pop("event") == "end":
                failing = event.pop("failing_cell")
                outcome = Outcome(**event, failing_cell=failing and FailingCell(**failing))
            else:
                cell.update(event)
                tell(event="cell", seconds=time.monotonic() - started, **event)
    except TimeoutError:
        return Outcome("timed_out", f"not done after {timeout_seconds:g} seconds", error="Timeout")
    finally:
        if outcome is None:
            below = processes.below(process.pid)
            process.kill()
            processes.kill(below)
        code = process.wait()
        os.close(events)
        os.close(lifeline)
    if outcome is None:
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}, see log.txt"
        return Outcome("died", f"the executing process ended {how}", error="Died")
    return outcome


def _lines_of(pipe: int, *, deadline: float | None) -> Iterator[bytes]:
    """Yield the lines that come through one pipe until it closes; TimeoutError at the deadline."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        for _, line in lines(selector, deadline=deadline):
            if line is not None:
                yield line


def lines(
    selector: selectors.BaseSelector, *, deadline: float | None = None
) -> Iterator[tuple[Any, bytes | None]]:
    """Yield the lines that come through pipes, until all of them are closed.

    Args:
        selector: where the pipes are registered, each with data that names it; more may come meanwhile.
        deadline: of time.monotonic, or None.

    Yields:
        (data, line) without its end, and (data, None) when a pipe closes.

    Raises:
        TimeoutError: the deadline has come.
    """
    unfinished = defaultdict[int, bytes](bytes)
    while selector.get_map():
        remaining_seconds = deadline - time.monotonic() if deadline else None
        if (remaining_seconds is not None and remaining_seconds <= 0) or not (
            ready := selector.select(remaining_seconds)
        ):
            raise TimeoutError
        for key, _ in ready:
            part = os.read(key.fd, 65536)
            if not part:
                selector.unregister(key.fd)
                unfinished.pop(key.fd, None)  # the number will be another pipe's
                yield key.data, None
                continue
            *whole, unfinished[key.fd] = (unfinished[key.fd] + part).split(b"\n")
            for line in whole:
                yield key.data, line


@contextmanager
def signals() -> Iterator[None]:
    """Turn SIGTERM, SIGINT and SIGHUP into Interrupted, where this is the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        for other in STOPS:
            signal.signal(other, signal.SIG_IGN)
        raise Interrupted(number)

    with handling(stop):
        yield


@contextmanager
def stop_requests() -> Iterator[int]:
    """Yield the read end of a pipe that reports SIGTERM, SIGINT and SIGHUP: a line each, the signal's number.

    It is for a caller with several processes: nothing is interrupted half-way.
    """
    read_end, write_end = os.pipe()
    try:
        with handling(lambda number, frame: os.write(write_end, b"%d\n" % number)):
            yield read_end
    finally:
        os.close(read_end)
        os.close(write_end)


@contextmanager
def handling(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle the signals that stop us by a function, where this is the main thread.

    A signal that is ignored already stays so: nohup does that with SIGHUP.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = [number for number in STOPS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in asked}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
