"""Servers that are programs of others: started in a folder of theirs, and awaited until they answer."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench._base.children import Process


def launch(
    words: Sequence[str], folder: Path, log: str, *, env: Mapping[str, str] | None = None, **options: Any
) -> Process:
    """Start a program in a folder, with its output in a log there; on Linux it ends with this process.

    Args:
        words: of its command line.
        folder: its working folder.
        log: name of the log, which is written anew.
        env: all of its variables; None for ours.
        options: of subprocess.Popen.
    """
    with (folder / log).open("wb") as output:
        return subprocess.Popen(
            words, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            preexec_fn=children.end_with_parent if sys.platform == "linux" else None, **options,
        )  # fmt: skip


def answer(
    processes: Sequence[Process], ready: Callable[[], bool], *, patience_seconds: float, poll_seconds: float = 0.1
) -> bool:
    """Wait until `ready` returns True; False when a process has ended or it took too long.

    A process that ended may have left its port to another server, so that an answer alone proves nothing.
    """

    def alive() -> bool:
        return all(process.poll() is None for process in processes)

    until = time.monotonic() + patience_seconds
    while time.monotonic() < until and alive():
        if ready():
            return alive()
        time.sleep(poll_seconds)
    return False
