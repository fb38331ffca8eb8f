"""The lines that cron takes, and the rotation of the logs they write.

A line is what every cron program reads the same way: five fields and a command for /bin/sh with absolute paths, so
that neither PATH nor the working folder matters. CRON_TZ is not written: not every cron program knows it, and one
that does not runs the job at another hour without a word. An entry whose time zone is not the daemon's is woken up
at its minutes of every hour instead, and looks whether it is due.
"""

import re
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from workbench._base.errors import ArgumentError
from workbench_ops.schedules import entries as schedules
from workbench_ops.schedules import times, updates
from workbench_ops.schedules.entries import Entry
from workbench_ops.schedules.running import Place

LONGEST = 990  # bytes of a command: Vixie's cron cuts at 1,000 without a word
LOGS = ".workbench/schedules"
NOW = r'"$(/bin/date -u +\%Y-\%m-\%dT\%H:\%M)"'


def text(
    entries: Mapping[str, Entry], place: Place, *, daemon: tuple[str, tzinfo], year: int | None = None
) -> str:
    """Return a crontab for crontab(1): a line for each entry that has a time, in the order of the file.

    Args:
        entries: what `entries.read` returned.
        place: Place of the project.
        daemon: (name, zone) of the clock that the cron daemon follows.
        year: first of the two years in which time zones are compared; this one by default.

    Returns:
        text, the same for the same arguments.

    Raises:
        ArgumentError: a path holds a line break, a line would be longer than cron reads, or an entry waits for the
            update of a table that no entry makes.
    """
    for name in entries:
        if alone := updates.without_updater(entries, name):
            raise ArgumentError(
                f"{name}: no entry updates {', '.join(alone)}, so cron has nothing that starts it; name the table "
                "in `updates` of an entry of the same environment, or use Airflow, where another project may do it"
            )
    zone_name, zone = daemon
    year = year or datetime.now(UTC).year
    lines = [
        "# begin workbench schedules: written by `workbench schedule cron`; change params/schedules.yml instead",
        f"# For crontab(1), and for a cron daemon in the time zone {_printable(zone_name)}.",
    ]
    for name, entry in entries.items():
        if not entry.cron:
            continue
        follow = schedules.chain(entries, name)[1:]
        then = f"; then {', '.join(follow)}" if follow else ""
        if waiting := updates.waiting(entries, [name, *follow]):
            then += f"; after its updates {', '.join(waiting)}"
        plain = times.same_clock(times.zone(entry.time_zone), zone, year)
        asked = "" if plain else ", asked at its minutes of every hour"
        lines.append(f"# {name}: {entry.cron} ({entry.time_zone}){asked}{then}")
        lines.append(f"{entry.cron if plain else _wake_ups(entry.cron)} {command(name, place, asked=not plain)}")
    return "\n".join([*lines, "# end workbench schedules", ""])


def command(name: str, place: Place, *, asked: bool = False) -> str:
    """Return the command of an entry as it stands in a crontab: for /bin/sh, percent signs escaped.

    With `asked` it looks first whether the entry is due. Its output is appended to the entry's log; its exit code
    is that of `workbench schedule run`.
    """
    variables = "".join(f" {key}={quoted(value)}" for key, value in place.variables.items())
    run = f"{quoted(place.command)} schedule run {name}" + (f" --due {NOW}" if asked else "")
    line = (
        f"cd {quoted(place.home)} && /bin/mkdir -p {LOGS} &&"
        f" exec{' /usr/bin/env' if variables else ''}{variables} {run} >>{LOGS}/{name}.log 2>&1"
    )
    if len(line.encode()) > LONGEST:
        raise ArgumentError(
            f"{name}: its line has {len(line.encode())} bytes, cron reads {LONGEST}; shorten the paths"
        )
    return line


def quoted(value: str) -> str:
    r"""Return a word for /bin/sh inside a crontab.

    cron ends a command at a percent sign and takes `\%` for it; busybox leaves that to the shell. Outside of
    quotes both arrive at a percent sign, so it always stands there.

    Raises:
        ArgumentError: the value has a control character, which no line of a crontab can hold.
    """
    if re.search(r"[\x00-\x1f\x7f]", value):
        raise ArgumentError(f"{value!r} has a line break or a control character; a crontab cannot hold it")
    return r"\%".join(shlex.quote(part) if part else "" for part in value.split("%")) or "''"


def logrotate(place: Place, *, weeks: int = 8) -> str:
    """Return a configuration of logrotate for the entries' logs: weekly, compressed a turn later.

    A run under way keeps writing to the file it opened, so the newest rotated one is not compressed and no log is
    cut off or copied. It names the folder's owner: run as root, logrotate leaves alone what a group may write to.

    Raises:
        ArgumentError: the project's folder has a character that logrotate reads as a pattern or cannot quote.
    """
    if re.search(r'[\x00-\x1f\x7f"*?\[\]{}\\]', place.home):
        raise ArgumentError(
            f"{place.home!r}: logrotate reads quotes, backslashes, * ? [ ] {{ }} in a path otherwise"
        )
    return (
        f'"{place.home}/{LOGS}/*.log" {{\n    su {_owner(Path(place.home))}\n    weekly\n    rotate {weeks}\n'
        "    compress\n    delaycompress\n    missingok\n    notifempty\n    nocreate\n}\n"
    )


def _owner(folder: Path) -> str:
    """User and group of a folder: names, or numbers where the system has no names for them."""
    numbers = folder.stat()
    names = []
    for name_of, number in ((folder.owner, numbers.st_uid), (folder.group, numbers.st_gid)):
        try:
            names.append(name_of())
        except KeyError:
            names.append(str(number))
    return " ".join(names)


def _wake_ups(expression: str) -> str:
    if expression.split()[0] == "*":
        return "* * * * *"
    return f"{','.join(str(minute) for minute in times.slots(expression))} * * * *"


def _printable(text_: str) -> str:
    return re.sub(r"[^\w/+-]", "_", text_)
