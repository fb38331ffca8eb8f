"""The server's clock: the machine's time until it is taken in hand."""

import math
import time
from typing import Annotated

from workbench._base.bounds import Ge, Lt
from workbench._base.door import checked

Seconds = Annotated[float, Ge(0), Lt(math.inf)]


class Clock:
    """Time in milliseconds that never goes back; it can be pushed forward, and stopped.

    Args:
        start: seconds since 1970 at which the clock stands still; None lets it follow the machine's time.
    """

    def __init__(self, start: float | None = None) -> None:
        self._ahead_millis = self._latest = 0
        self._stopped_at = None if start is None else round(start * 1000)

    def millis(self) -> int:
        """Return the time in whole milliseconds since 1970; never less than an earlier answer."""
        millis = self._stopped_at
        if millis is None:
            millis = time.time_ns() // 1_000_000 + self._ahead_millis
        self._latest = max(self._latest, millis)
        return self._latest

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return self.millis() / 1000

    @checked
    def advance(self, seconds: Seconds) -> float:
        """Push the clock forward and return the new time in seconds; one that stands still stands at that time."""
        step = round(seconds * 1000)
        if self._stopped_at is None:
            self._ahead_millis += step
        else:
            self._stopped_at = self.millis() + step
        return self.now()

    def stop(self) -> float:
        """Let the clock stand still from now until it is advanced, and return the time in seconds."""
        self._stopped_at = self.millis()
        return self.now()
