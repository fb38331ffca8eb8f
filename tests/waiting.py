"""Waiting for something that another process does: in small steps, with an end."""

import time


def until(condition, what="what was waited for", seconds=300):
    """Return the value of a condition as soon as it is true.

    Raises:
        AssertionError: it was not true within the seconds.
    """
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not come within {seconds} seconds"
        time.sleep(0.02)
    return value
