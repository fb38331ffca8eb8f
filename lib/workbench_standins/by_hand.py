"""A server that a person starts in a shell, and ends there."""

import signal
import threading
from contextlib import contextmanager


@contextmanager
def interrupted():
    """Give an event that is set by the signals that end a server by hand."""
    ended = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: ended.set()) for number in numbers}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
