"""Entries that are a command of workbench: of those that may be called again, whatever became of the last call."""

import shlex
import subprocess
from collections.abc import Sequence

from workbench._base import children, locks
from workbench._base.errors import ArgumentError
from workbench_ops.run import record as records
from workbench_ops.run import watch
from workbench_ops.saying import say
from workbench_ops.schedules import running
from workbench_ops.schedules.entries import DATE, Entry

# Each goes on from where a killed call was, or finds nothing left to do; a notebook has `notebook:`
REPEATABLE = ("dbt", "formats", "ingest", "maintain", "map", "pull")
END_SECONDS = 20  # between SIGTERM and SIGKILL: a wave or a batch may still be published


def words(entry: Entry, day: str | None) -> list[str]:
    """Return the words of an entry's command, the date of the run in them.

    Raises:
        ArgumentError: it is not a command that may be called again.
    """
    given = shlex.split(entry.command or "")
    if given[0] not in REPEATABLE:
        raise ArgumentError(
            f"command: {given[0]!r} is not a command that may be called again; there are {', '.join(REPEATABLE)}"
        )
    if "--help" in given:
        raise ArgumentError("command: --help runs nothing")
    return [word.replace(DATE, day or "") for word in given]


def run(entry: Entry, given: Sequence[str]) -> int:
    """Run a command of workbench as a process that never outlives this one; return an exit code of the runner.

    Two calls of an entry are never under way at once: the second waits or is refused, as the entry says.

    Args:
        entry: whose command it is.
        given: its words.
    """
    codes = records.EXIT_CODES
    program = [running.here().command, *given]
    busy = f"{entry.name} is still running"
    seconds = running.FOREVER if entry.while_running == "wait" else 0
    try:
        with locks.held(running.folder() / f"{entry.name}.command.lock", busy, seconds=seconds), watch.signals():
            code = _ended(program, entry.timeout_seconds)
    except ValueError as refusal:
        say(str(refusal))
        return codes["refused"]
    except watch.Interrupted:
        return running.INTERRUPTED
    if code is None:
        say(f"{entry.name} was ended after {entry.timeout_seconds:g} seconds")
        return codes["timed_out"]
    if code not in (0, codes["failed"], codes["refused"]):
        say(f"{entry.name} died, exit code {code}")
        return codes["died"]
    return code


def _ended(program: Sequence[str], seconds: float) -> int | None:
    """Run a program; return its exit code, or None where it took too long. An interrupt ends it, too."""
    with subprocess.Popen(program, start_new_session=True, preexec_fn=children.end_with_parent) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            children.end(process, haste=False, patience_seconds=END_SECONDS, group=True)
            return None
        except watch.Interrupted:
            children.end(process, haste=False, patience_seconds=END_SECONDS, group=True)
            raise
