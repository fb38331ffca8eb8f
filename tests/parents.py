"""Processes that serve something and are killed: what they started must not outlive them."""

import signal
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def serving(code, *arguments):
    """Run a program that serves; yield (process, its first line). It is killed by signal 9 when the block ends.

    Args:
        code: of Python; it prints a line when it serves, and waits.
        arguments: of its command line.
    """
    words = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline()
        finally:
            process.send_signal(signal.SIGKILL)
