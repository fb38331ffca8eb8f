"""The server's clock: the machine's time until it is taken in hand."""

import math
import time

from workbench._base.errors import ArgumentError


class Clock:
    """Time in milliseconds that never goes back; it can be pushed forward, and stopped.

    Args:
        start: seconds since 1970 at which the clock stands still; None lets it follow the machine's time.
    """

    def __init__(self, start=None):
        self._ahead_millis = 0
        self._stopped_at = None
        self._latest = 0
        if start is not None:
            self._stopped_at = round(_finite(start) * 1000)

    def millis(self):
        """Return the time in whole milliseconds since 1970; never less than an earlier answer."""
        there = self._stopped_at
        if there is None:
            there = time.time_ns() // 1_000_000 + self._ahead_millis
        self._latest = max(self._latest, there)
        return self._latest

    def now(self):
        """Return the time in seconds since 1970."""
        return self.millis() / 1000

    def advance(self, seconds):
        """Push the clock forward; one that stands still stays where it comes to. Returns the new time in seconds.

        Raises:
            ValueError: seconds are negative; time does not go back.
        """
        if _finite(seconds) < 0:
            raise ArgumentError(f"the clock only goes forward; got {seconds} seconds")
        step = round(seconds * 1000)
        if self._stopped_at is None:
            self._ahead_millis += step
        else:
            self._stopped_at = self.millis() + step
        return self.now()

    def stop(self):
        """Let the clock stand still at the present moment, until it is advanced. Returns the time in seconds."""
        self._stopped_at = self.millis()
        return self.now()


def _finite(seconds):
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        raise ArgumentError(f"seconds must be a finite number; got {seconds!r}")
    return seconds
