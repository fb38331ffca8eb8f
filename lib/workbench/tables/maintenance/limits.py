"""Hold what bounds a run and what it may still do; check its marks and its moment."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from numbers import Integral
from typing import Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.errors import ArgumentError
from workbench.tables.maintenance.policy import Limits
from workbench.tables.maintenance.results import Done, Mark

MOST_COMMITS = 2**31 - 1  # Java's: Iceberg refuses a larger count in the middle of a run
MaxBytes = Annotated[int, Ge(0)]
MaxMinutes = Annotated[float, Ge(0)]
MaxCommits = Annotated[int, Ge(0), Le(MOST_COMMITS)]


@dataclass(frozen=True)
class Allowance:
    """What a run may still do; None means no limit.

    Attributes:
        bytes: of data files that are rewritten.
        commits: of all actions.
        until: of the clock that only goes forward.
    """

    bytes: int | None
    commits: int | None
    until: float | None

    def reached(self) -> str | None:
        """Return which limit is reached; None when there is room."""
        if self.until is not None and time.monotonic() >= self.until:
            return "max_minutes"
        return "max_commits" if self.commits == 0 else "max_bytes" if self.bytes == 0 else None

    def after(self, done: Done) -> "Allowance":
        """Return what a run may still do when something is done."""
        size = None if self.bytes is None else max(0, self.bytes - done.bytes_read)
        count = None if self.commits is None else max(0, self.commits - done.commits)
        return replace(self, bytes=size, commits=count)


def begun(
    limits: Limits, *, max_bytes: int | None, max_minutes: float | None, max_commits: int | None
) -> Allowance:
    """Return what a run may do that begins now.

    Args:
        limits: of the policy, which count where an argument is None.
        max_bytes: as of `running.run`, like the next two.
        max_minutes: from now on.
        max_commits: of all actions.
    """
    minutes = limits.max_minutes if max_minutes is None else max_minutes
    return Allowance(
        limits.max_bytes if max_bytes is None else max_bytes,
        limits.max_commits if max_commits is None else max_commits,
        None if minutes is None else time.monotonic() + minutes * 60,
    )


def moment(now: datetime | None) -> datetime:
    """Return the moment by which ages are measured, the present one for None; ValueError where it has no zone."""
    if now is not None and now.tzinfo is None:
        raise ArgumentError(f"now must have a time zone, such as datetime.now(UTC), found {now!r}")
    return now or datetime.now(UTC)


def several(marks: Any) -> tuple[Mark, ...]:
    """Return readers' marks as a tuple.

    Raises:
        ValueError: they are not several, or one is neither a snapshot's id nor a name.
    """
    expected = "marks must be a list of ids of snapshots or names of branches and tags"
    if isinstance(marks, str) or not isinstance(marks, Iterable):
        raise ArgumentError(f"{expected}, such as [{marks!r}], found {marks!r}")
    marks = tuple(marks)
    for mark in marks:
        if isinstance(mark, bool) or not isinstance(mark, str | Integral):
            raise ArgumentError(f"{expected}, found {mark!r} in it")
    return marks
