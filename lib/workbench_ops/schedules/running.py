"""One entry run as a scheduler would: in the project's folder, its tries, what comes after it, and one exit code.

Exit codes are those of the runner: 0 passed, 1 failed, 2 refused, 3 timed out, 4 the kernel died, 143 interrupted.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from workbench._base import java, locks, settings
from workbench._base.errors import ArgumentError
from workbench_ops.run.record import Record
from workbench_ops.schedules import entries as schedules
from workbench_ops.schedules import times

INTERRUPTED = 143
# Tried again is what may end otherwise: a failure may be a network's, a death the memory's. A refusal repeats
# itself until somebody changes something, a slow run would hold up the next one, a stopped one was meant to stop.
RETRIED = (1, 4)
FINAL = (2, 3, INTERRUPTED)
Start = Callable[[schedules.Entry], tuple[int, Record | None]]
Notify = Callable[[schedules.Entry, Record | None], None]
SOME_DAY = "2026-01-31"  # in place of a run's date, where an entry is validated
FOREVER = -1  # seconds, as filelock has it: what is waited for has a timeout of its own
# They decide what is found, and in whose account; none holds a secret
PATHS = (
    "WORKBENCH_HOME",
    "WORKBENCH_PARAMS",
    "JAVA_HOME",
    "XDG_CACHE_HOME",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
)
NAMES = ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True)
class Place:
    """The project's folder, the absolute path of the command `workbench`, and variables to set: name to value."""

    home: str
    command: str
    variables: dict[str, str]


def here() -> Place:
    """Return the Place of this project and this Python environment.

    Raises:
        ArgumentError: the command is not installed beside this Python.
    """
    command = Path(sys.executable).parent / "workbench"
    if not command.is_file():
        raise ArgumentError(
            f"the command workbench is not installed beside {sys.executable}; `make setup` does it"
        )
    home = settings.home().resolve()
    variables = {name: os.environ[name] for name in (*PATHS, *NAMES) if os.environ.get(name)}
    if java_home := java.on_path():  # a scheduler's PATH differs
        variables["JAVA_HOME"] = java_home
    return Place(str(home), str(command), variables)


def enter() -> None:
    """Go to the project's folder, as a scheduler does; paths in variables stay those they were from here."""
    home = settings.home()
    os.environ |= {name: str(Path(os.environ[name]).absolute()) for name in PATHS if os.environ.get(name)}
    os.chdir(home)


def needed(environment: settings.Environment | None) -> list[str]:
    """Return the names of variables that an environment refers to, sorted; the scheduler must set them."""
    return [name.removeprefix("env:") for name in settings.references(environment) if name.startswith("env:")]


def folder() -> Path:
    """Return the folder of this project's schedules: logs and locks."""
    return settings.home() / ".workbench" / "schedules"


def run(
    entries: Mapping[str, schedules.Entry],
    name: str,
    start: Start,
    *,
    notify: Notify,
    say: Callable[[str], None],
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Run an entry, and then those that follow it; one whose predecessor did not pass is not started.

    Args:
        entries: what `entries.read` returned.
        name: of the entry.
        start: called with an Entry, runs it once and returns (exit code, what `notify` takes).
        notify: called with an Entry and what `start` returned second, when an entry failed for good.
        say: called with sentences.
        wait: called with seconds between two tries.

    Returns:
        int, 0 or the exit code of the first entry that did not pass.
    """
    codes: dict[str, int] = {}
    for follower in schedules.chain(entries, name):
        entry = entries[follower]
        if not_passed := [before for before in entry.after if codes.get(before)]:
            say(f"{follower} is not started: {', '.join(not_passed)} did not pass")
            codes[follower] = codes[not_passed[0]]
            continue
        for attempt in range(1, entry.retries + 2):
            codes[follower] = once(entry, start, attempt=attempt, notify=notify)
            if codes[follower] not in RETRIED or attempt > entry.retries:
                break
            say(f"{follower} ended with {codes[follower]}, try {attempt + 1} of {entry.retries + 1} follows")
            wait(entry.retry_wait_seconds)
        if codes[follower] == INTERRUPTED:
            break
    return next((code for code in codes.values() if code), 0)


def once(entry: schedules.Entry, start: Start, *, attempt: int, notify: Notify) -> int:
    """Run one try of an entry, and notify when it failed for good; returns the exit code.

    Args:
        entry: what to run.
        start: as for `run`.
        attempt: which try this is, from 1, also where a scheduler counts them.
        notify: as for `run`.
    """
    code, ended = start(entry)
    if code and (code not in RETRIED or attempt > entry.retries):
        notify(entry, ended)
    return code


def day(entries: Mapping[str, schedules.Entry], name: str, *, given: str | None, moment: datetime) -> str | None:
    """Return the date of a run that was asked for; as `day_after`, whose date must be one that the chain takes.

    Args:
        entries: what `entries.read` returned.
        name: of the entry that is started.
        given: the date, as 2026-01-31; None for that of the moment in the entry's time zone.
        moment: when the run was due, or begins.

    Raises:
        ArgumentError: what is given is no date, or no entry of the chain takes one.
    """
    if given is not None:
        try:
            asked = date.fromisoformat(given)
        except ValueError:
            asked = None
        if asked is None or asked.isoformat() != given:
            raise ArgumentError(f"--date must be a date such as 2026-01-31, found {given!r}")
    decided = day_after(entries, name, given=given, moment=moment)
    if given is not None and decided is None:
        raise ArgumentError(
            f"--date is given, and neither {name} nor what follows it has run_date or {{date}}, which take it"
        )
    return decided


def day_after(
    entries: Mapping[str, schedules.Entry], name: str, *, given: str | None, moment: datetime
) -> str | None:
    """Return the date of a run that an update begins, which the parameters that `run_date` names get.

    Args:
        entries: what `entries.read` returned.
        name: of the entry that is started.
        given: the date of the run that has updated, where it was given one.
        moment: when that one was due, or began.

    Returns:
        the date that is given, else that of the moment in the entry's time zone; None where its chain takes none.
    """
    if not any(entries[other].takes_date for other in schedules.chain(entries, name)):
        return None
    zone = times.zone(entries[schedules.roots(entries)[name]].time_zone)
    return given or moment.astimezone(zone).date().isoformat()


def chain_held(first: str, sentence: str, *, seconds: float = 0) -> AbstractContextManager[None]:
    """Hold the lock of a chain.

    Args:
        first: name of the entry that it begins with.
        sentence: of the refusal where it is under way.
        seconds: how long to wait for its end; FOREVER without end.
    """
    return locks.held(folder() / f"{first}.lock", sentence, seconds=seconds)


@contextmanager
def turn(entries: dict[str, schedules.Entry], name: str, *, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of an entry's chain, which is kept from starting over while its later entries still run.

    Where the entry waits, one start waits for the one under way; a third is refused like the second of others.

    Raises:
        ArgumentError: the chain is running, or another start waits for it already.
    """
    first, waits = schedules.roots(entries)[name], entries[name].while_running == "wait"
    running = f"{first}, or what follows it, is still running"
    with ExitStack() as locked:
        try:
            locked.enter_context(chain_held(first, f"{running}; this start is refused"))
        except ValueError:
            if not waits:
                raise
            with locks.held(
                folder() / f"{first}.next.lock", f"{running}, and another start waits; this one is refused"
            ):
                say(f"{running}; {name} waits for its end")
                locked.enter_context(chain_held(first, running, seconds=FOREVER))
        yield
