"""A child process: it reads what to do from its standard input and ends when that ends, so it never outlives us.

Both sides speak JSON, a line each way. The module that is the child has a `main`, which reads its settings from
standard input. Nothing of it stands in a command line, where other users of the machine would read keys.
"""

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from workbench._base.errors import ArgumentError, ProcessError

Process = subprocess.Popen[Any]  # one that `started` gives has pipes for standard input and output
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@contextmanager
def started(
    module: str,
    *,
    patience_seconds: float = 5,
    env: Mapping[str, str] | None = None,
    python: str | Path | None = None,
    log: IO[Any] | None = None,
) -> Iterator[Process]:
    """Start `module.main()` as a process; yield its Popen, which is ended with the context.

    Args:
        module: full name of the module.
        patience_seconds: how long it may take to end by itself before it is killed.
        env: variables that it has beside ours.
        python: interpreter of another environment; ours by default.
        log: open file that takes its standard error; ours by default.
    """
    package, _, name = module.rpartition(".")
    process = subprocess.Popen(
        [str(python or sys.executable), "-P", "-c", f"from {package} import {name}; {name}.main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=os.environ | (env or {}),
        start_new_session=True,  # an interrupt of the parent is not meant for it
    )
    assert process.stdin and process.stdout  # for a type checker: they are pipes
    try:
        yield process
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError, PermissionError):  # it has just ended
                os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own: what it started goes, too
            process.wait()
        process.stdout.close()


def ask(
    process: Process, message: Any, *, name: str, patience_seconds: float = 5, answer_seconds: float | None = None
) -> dict[str, Any]:
    """Say something to a child and return its answer, a dict.

    Args:
        process: Popen of `started`.
        message: what JSON can carry.
        name: what the child is, for errors.
        patience_seconds: how long to wait for the exit code of a child that went away.
        answer_seconds: how long to wait for the answer; None waits for as long as the child lives.

    Raises:
        ValueError: it refuses, with its own sentence under "error".
        ChildProcessError: it could not go on, with its own sentence under "died", or it is no longer there.
        TimeoutError: it gave no answer in time, and is still busy: end it.
    """
    assert process.stdin and process.stdout  # for a type checker: they are pipes
    try:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        if answer_seconds and not select.select([process.stdout], [], [], answer_seconds)[0]:
            raise TimeoutError(f"the {name} gave no answer in {answer_seconds:g} seconds")
        line = process.stdout.readline()
    except BrokenPipeError:
        line = b""
    if not line:
        try:
            how = f"ended by itself, exit code {process.wait(patience_seconds)}"
        except subprocess.TimeoutExpired:
            how = "says nothing more and does not end"
        raise ProcessError(f"the {name} {how}")
    answer = json.loads(line)
    if "error" in answer:
        raise ArgumentError(answer["error"])
    if "died" in answer:
        raise ProcessError(answer["died"])
    return answer


@contextmanager
def serving(
    module: str, settings: Any, *, name: str, patience_seconds: float = 5, env: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Start a child that serves; yield what it says when it does.

    Args:
        module: as for `started`.
        settings: what it is told, as JSON can carry it.
        name: what the child is, for errors.
        patience_seconds: as for `started`.
        env: as for `started`.

    Raises:
        ValueError, ChildProcessError: as `ask`.
    """
    with started(module, patience_seconds=patience_seconds, env=env) as process:
        yield ask(process, settings, name=name, patience_seconds=patience_seconds)


def within(words: Sequence[str], seconds: float, **options: Any) -> int:
    """Run a program and return its exit code; one that takes longer ends with all that it started.

    Args:
        words: of its command line.
        seconds: that it may take.
        options: of subprocess.Popen.

    Raises:
        subprocess.TimeoutExpired: it took longer.
        OSError: there is no such program.
    """
    with subprocess.Popen(words, start_new_session=True, **options) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def end(process: Process, *, haste: bool, patience_seconds: float, group: bool = False) -> None:
    """End a process that we started and wait: by SIGTERM and, when that takes too long or in haste, by SIGKILL.

    Args:
        process: Popen.
        haste: whether it gets no time to end by itself.
        patience_seconds: that it gets.
        group: whether it leads a session of its own, of which nobody may be left either.
    """

    def send(number: int) -> None:
        if not group:
            process.send_signal(number)
            return
        with suppress(ProcessLookupError, PermissionError):  # all of it has ended
            os.killpg(process.pid, number)

    send(signal.SIGKILL if haste else signal.SIGTERM)
    try:
        process.wait(patience_seconds)
    except subprocess.TimeoutExpired:
        send(signal.SIGKILL)
        process.wait()
    if group:
        send(signal.SIGKILL)  # those whom it left behind


def taken() -> tuple[float, int]:
    """Return what this process's ended children took: CPU seconds, and the most memory that one held, bytes."""
    usage, unit = resource.getrusage(resource.RUSAGE_CHILDREN), 1 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def last_words(log: Path) -> str:
    """Return the first line of a Java program's log that tells of an error, else its first; cut, "" for none."""
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    errors = [line for line in lines if "ERROR" in line or "Exception" in line]
    return (errors or lines or [""])[0].strip()[:400]


def until_either_ends(process: Process) -> None:
    """Wait, as a child, until the parent ends our input or what we started has ended."""

    def input_ends() -> None:
        while os.read(sys.stdin.fileno(), 1024):  # not by a buffer, whose lock would hold up our own end
            pass

    over = threading.Event()

    def then_over(waits: Callable[[], object]) -> None:
        waits()
        over.set()

    for waits in (input_ends, process.wait):
        threading.Thread(target=then_over, args=[waits], daemon=True).start()
    over.wait()


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent dies; for `preexec_fn`, on Linux."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def say(message: Any) -> None:
    """Say something to the parent, as its child; a parent that is gone needs no answer."""
    # a plain write: the line must be out before anything else can be
    with suppress(BrokenPipeError):
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()
