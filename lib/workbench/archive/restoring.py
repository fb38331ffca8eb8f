"""Ask S3 for a plan's objects and wait for them: resumable, bounded, tolerant of what S3 answers."""

import math
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from workbench._base import worklist
from workbench._base.bounds import Ge, Gt, Le, Lt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.archive import listing
from workbench.archive.planning import Plan
from workbench.archive.requests import STATE_TABLE
from workbench.archive.runs import Outcome, Run

UNKNOWN_HOURS = 48  # somebody else's restore: the slowest tier there is
MOST_HOURS = 24 * 365


@checked
def restore(
    plan: Plan,
    *,
    s3: Any,
    state: str | Path,
    wait_hours: Annotated[float, Ge(0), Le(MOST_HOURS)] | None = None,
    poll_s: Annotated[float, Gt(0), Lt(math.inf)] = 300.0,
    longest_poll_s: Annotated[float, Gt(0), Lt(math.inf)] = 3600.0,
    tries: Annotated[int, Ge(1)] = 5,
    workers: listing.Workers = listing.WORKERS,
    now: Callable[[], datetime] | None = None,
    sleep: Callable[[float], object] = time.sleep,
    progress: Callable[[int, int], object] | None = None,
) -> Outcome:
    """Ask for what a plan restores, wait until it is there, and say what became of it.

    Run again after a kill, with the same state table and a new plan or the old one, it asks for nothing twice.

    Args:
        plan: Plan.
        s3: boto3 client of S3.
        state: path of the state table, a file that is made when missing; keep it until all is restored.
        wait_hours: how long to wait at most; by default twice what the slowest takes, and as long as all tries
            take; 0 asks and returns.
        poll_s: seconds before the first look at what is under way, doubled after each look. A look is at as many
            objects as there are workers, and at all as soon as one of them is there.
        longest_poll_s: seconds between two looks at most.
        tries: how often an object is asked for when S3 has no capacity; the looks in between are its waits.
        workers: requests at a time.
        now: function that returns the time, a datetime in UTC; for a store with a clock of its own.
        sleep: function that waits for seconds; for the same.
        progress: function of (objects ready, objects in all); by default a bar on a terminal, nothing elsewhere.

    Returns:
        Outcome. What is not ready stands in it by name; nothing is raised for an object that S3 refuses.

    Raises:
        ValueError: an argument is wrong, another process has the state table open, or the file named is not a
            state table that this made. Nothing was asked then, and nothing changed in the file.
        OSError: the state table cannot be read or written, as on a full disk. Run again, as after a kill.
        botocore.exceptions.ClientError: S3 refuses the caller as such (AccessDenied …): all of the first requests,
            or a look. An object that it denies among others stands in `failed`.
    """
    if longest_poll_s < poll_s:
        raise ArgumentError(
            f"longest_poll_s must be a number of at least poll_s, {poll_s}; found {longest_poll_s}"
        )
    now = now or (lambda: datetime.now(UTC))
    hours = _patience(plan, poll_s, longest_poll_s, tries) if wait_hours is None else wait_hours
    with worklist.opened(state, STATE_TABLE) as table, listing.pool(s3, workers) as threads:
        run = Run(plan, s3, table, threads, workers, now, progress or _bar)
        run.resume()
        end, pause = now() + timedelta(hours=hours), poll_s
        for attempt in range(10**9):
            run.ask(last=attempt + 1 >= tries)
            left_s = (end - now()).total_seconds()
            if left_s <= 0:
                run.look()
            else:
                run.poll()
            if not run.open() or left_s <= 0:
                break
            sleep(min(pause, left_s))
            pause = min(2 * pause, longest_poll_s)
        return run.outcome()


def _patience(plan: Plan, poll_s: float, longest_poll_s: float, tries: int) -> float:
    """Return the hours to wait by default: twice what the slowest takes, and long enough for all tries."""
    slowest = max(plan.hours, UNKNOWN_HOURS if plan.waiting else 0)
    looks_s = sum(min(poll_s * 2**n, longest_poll_s) for n in range(min(tries, 100) - 1))
    return min(max(2 * slowest, looks_s / 3600 if plan.steps else 0), MOST_HOURS)


def _bar(ready: int, total: int) -> None:
    """Draw a bar where a person looks on."""
    if total and sys.stderr.isatty():
        full = 40 * ready // total
        end = "\n" if ready == total else ""
        sys.stderr.write(f"\rrestored [{'#' * full}{'.' * (40 - full)}] {ready}/{total}{end}")
        sys.stderr.flush()
