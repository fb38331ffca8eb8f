"""Sentences on standard error, whose reader may have ended: work goes on without one."""

import os
import sys
from typing import TextIO


def say(sentence: str) -> None:
    """Print a sentence of the command's own on standard error."""
    on_stderr(f"workbench: {sentence}")


def on_stderr(text: str) -> None:
    """Print lines on standard error; where nobody reads it any longer, work goes on without a word."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Let a stream whose reader has ended lead nowhere: Python, too, writes to it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
