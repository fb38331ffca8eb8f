"""The keeper of the spare: it has at most one JVM, hands it to a kernel that asks for its like, starts the next.

It speaks JSON, a line each way, by a Unix socket. Asked `{"recipe": …}` it answers `{"port", "secret",
"pid"}` with the writing end of the JVM's standard input, or `{}`; asked `{}` it says whether a spare is there.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from typing import Any

from workbench._base import children
from workbench_ops.lab.spare import recipe as recipes
from workbench_ops.lab.spare import wire
from workbench_ops.lab.spare.recipe import Recipe
from workbench_ops.run import processes

PAUSE_SECONDS = 5.0  # the kernel that has just begun has the machine to itself
ASKING_SECONDS = 5.0  # that a kernel may take to say what it asks


class Keeper:
    """The spare: what it is like, the JVM when it is there, and the process that is starting it."""

    def __init__(self) -> None:
        self.recipe: Recipe | None = None
        self.jvm: dict[str, Any] = {}
        self.lifeline: int | None = None  # the writing end of the JVM's standard input
        self.channel: socket.socket | None = None  # to the process that starts it
        self.due: float | None = None  # when the next one is to be started
        self.first: dict[str, Any] | None = None

    def answer(self, asked: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        """Return what a kernel is answered and the file descriptor that goes with it."""
        if "recipe" not in asked:
            return {"ready": self.lifeline is not None}, []
        equal = asked["recipe"] == self.recipe
        if equal and self.lifeline is not None:
            return self.jvm, [self.lifeline]
        if not equal:
            if self.recipe is not None:
                places = ", ".join(recipes.differences(self.recipe, asked["recipe"]))
                print(
                    f"spare: a kernel starts a JVM of its own, it differs in {places}", file=sys.stderr, flush=True
                )
            self.drop()
            self.recipe = asked["recipe"]
        self.first = None
        if self.channel is None:
            self.due = time.monotonic() + PAUSE_SECONDS
        return {}, []

    def handed(self) -> None:
        """Let go of the spare, which is a kernel's now, and have the next one started."""
        self.let_go()
        self.due = time.monotonic() + PAUSE_SECONDS

    def let_go(self) -> None:
        """Close our end of the spare's standard input; where nobody else has it, the JVM ends."""
        if self.lifeline is not None:
            os.close(self.lifeline)
        self.lifeline, self.jvm = None, {}

    def drop(self) -> None:
        """End the spare, and the process that is starting one."""
        self.let_go()
        if self.channel is not None:
            self.channel.close()
        self.channel = self.due = None

    def begin(self) -> None:
        """Have a spare started by a process of its own, which ends when our side of the channel is closed."""
        self.due = None
        self.channel, theirs = socket.socketpair()
        request: dict[str, Any] = {"recipe": self.recipe} if self.first is None else self.first
        python = sys.executable if self.recipe is None else self.recipe["python"]
        code = f"from workbench_ops.lab.spare import starting; starting.main({theirs.fileno()})"
        with theirs:
            subprocess.Popen(
                [python, "-P", "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,  # ours is the server's, which reads JSON there
            )
        wire.send(self.channel, request)

    def started(self) -> None:
        """Take the JVM from the process that started it; without one there is no spare until a kernel asks."""
        assert self.channel is not None
        with suppress(OSError, ValueError):  # it could not: the channel ended
            spare, descriptors = wire.receive(self.channel)
            self.recipe, self.jvm, self.lifeline = spare["recipe"], spare["jvm"], descriptors[0]
            self.first = None
        self.channel.close()
        self.channel = None


def main() -> None:
    """Keep a spare until standard input ends, which is when the server does."""
    settings = json.loads(sys.stdin.readline())
    processes.adopt()  # JVMs whose starter has ended become ours, so that somebody waits for them
    signal.signal(signal.SIGCHLD, lambda *_: _reap())
    keeper = Keeper()
    keeper.first = {name: settings[name] for name in ("environment", "folder")}
    keeper.due = time.monotonic() + PAUSE_SECONDS
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(settings["socket"])
        listening.listen()
        children.say({})
        while True:
            sources = [sys.stdin.fileno(), listening, *([keeper.channel] if keeper.channel else [])]
            wait = None if keeper.due is None else max(0.0, keeper.due - time.monotonic())
            ready, _, _ = select.select(sources, [], [], wait)
            if sys.stdin.fileno() in ready:
                return
            if keeper.channel in ready:
                keeper.started()
            if listening in ready:
                _serve(keeper, listening)
            if keeper.due is not None and time.monotonic() >= keeper.due:
                keeper.begin()


def _serve(keeper: Keeper, listening: socket.socket) -> None:
    """Answer one kernel; a kernel that goes away meanwhile costs the spare, and no more."""
    connection, _ = listening.accept()
    with connection, suppress(OSError, ValueError):
        connection.settimeout(ASKING_SECONDS)
        message, descriptors = keeper.answer(wire.receive(connection)[0])
        try:
            wire.send(connection, message, descriptors)
        finally:
            if descriptors:
                keeper.handed()


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
