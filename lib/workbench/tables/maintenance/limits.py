"""What bounds a run, what it may still do, and which arguments say neither."""

import math
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from numbers import Integral, Real

from workbench._base import arguments
from workbench._base.errors import ArgumentError

_INT = 2**31 - 1  # Java's: Iceberg refuses a larger count in the middle of a run


@dataclass(frozen=True)
class Left:
    """What a run may still do; None is no limit.

    Attributes:
        bytes: of data files that are rewritten.
        commits: of all actions.
        until: of the clock that only goes forward.
    """

    bytes: int | None
    commits: int | None
    until: float | None

    def nothing(self):
        """Return which limit is reached; None when there is room."""
        if self.until is not None and time.monotonic() >= self.until:
            return "max_minutes"
        return "max_commits" if self.commits == 0 else "max_bytes" if self.bytes == 0 else None

    def after(self, done):
        """Return what is left when something is done (a Done)."""
        size = None if self.bytes is None else max(0, self.bytes - done.bytes_read)
        count = None if self.commits is None else max(0, self.commits - done.commits)
        return replace(self, bytes=size, commits=count)


def begun(limits, *, max_bytes, max_minutes, max_commits):
    """Return what a run may do that begins now.

    Args:
        limits: of the policy, which count where an argument is None.
        max_bytes: as of `running.run`, like the next two.
        max_minutes: from now on.
        max_commits: of all actions.
    """
    minutes = limits.max_minutes if max_minutes is None else max_minutes
    return Left(
        limits.max_bytes if max_bytes is None else max_bytes,
        limits.max_commits if max_commits is None else max_commits,
        None if minutes is None else time.monotonic() + minutes * 60,
    )


def check(*, max_bytes=None, max_minutes=None, max_commits=None, tries=1, **flags):
    """Refuse arguments of a run that say nothing it could go by.

    Args:
        max_bytes: as of `running.run`, like the next three.
        max_minutes: a number.
        max_commits: a whole number.
        tries: a whole number from 1.
        flags: those that are True or False. Any other value is refused, for the text "false" would count as True.

    Raises:
        ValueError: with the argument, its value and what was expected.
    """
    arguments.whole("tries", tries, 1, "a thing is begun at least once")
    none = "a limit is 0 or more, and None is no limit"
    for name, most in (("max_bytes", max_bytes), ("max_commits", max_commits)):
        if most is not None:
            arguments.whole(name, most, 0, none)
    if max_commits is not None and max_commits > _INT:
        raise ArgumentError(f"max_commits is {max_commits}, expected {_INT} at most, and None is no limit")
    if max_minutes is not None:
        if isinstance(max_minutes, bool) or not isinstance(max_minutes, Real) or math.isnan(max_minutes):
            raise ArgumentError(f"max_minutes is {max_minutes!r}, expected a number: {none}")
        if max_minutes < 0:
            raise ArgumentError(f"max_minutes is {max_minutes}: {none}")
    for name, value in flags.items():
        arguments.flag(name, value)


def moment(now):
    """Return a moment by which ages are told; this one for None.

    Raises:
        ValueError: it has no zone, or is something else.
    """
    say = "say datetime.now(UTC), for ages are told in UTC"
    if now is not None and not isinstance(now, datetime):
        raise ArgumentError(f"now is {now!r}, expected a datetime with a zone: {say}")
    if now is not None and now.tzinfo is None:
        raise ArgumentError(f"now has no time zone: {say}")
    return now or datetime.now(UTC)


def several(marks):
    """Return readers' marks as a tuple.

    Raises:
        ValueError: they are not several, or one is neither a snapshot's id nor a name.
    """
    if isinstance(marks, str | Integral) or not hasattr(marks, "__iter__"):
        raise ArgumentError(f"marks are several: say marks=[{marks!r}]")
    marks = tuple(marks)
    for one in marks:
        if isinstance(one, bool) or not isinstance(one, str | Integral):
            raise ArgumentError(
                f"{one!r} is no mark: it is neither the id of a snapshot nor the name of a branch or tag"
            )
    return marks
