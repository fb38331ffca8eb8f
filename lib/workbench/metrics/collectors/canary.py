"""A thread that does nothing: by how much it overslept tells how long nothing at all could run."""

import time
from collections.abc import Callable


class Canary:
    """A sleeper.

    Attributes:
        overslept: the longest that it slept beyond its time, in seconds.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.overslept = seconds, 0.0

    def watch(self, over: Callable[[], bool]) -> None:
        """Sleep again and again until `over` returns True."""
        while not over():
            begin = time.perf_counter()
            time.sleep(self.seconds)
            self.overslept = max(self.overslept, time.perf_counter() - begin - self.seconds)
