"""Entries that begin after an update of tables: the snapshots that tables have, and those worked on.

An update is another snapshot than the one before. Airflow is told of it by an event of an asset; under cron the
entry that has updated a table starts those that wait for it. Both ways an entry remembers the snapshots that it
passed with, so that a load that found nothing new starts nobody.
"""

import importlib.util
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench._base import settings
from workbench._base.errors import ArgumentError
from workbench._base.files import replacing
from workbench_ops.run.record import EXIT_CODES
from workbench_ops.schedules import running
from workbench_ops.schedules.entries import Entry, followers

Snapshots = dict[str, str | None]  # asset to snapshot id as a text: it has more digits than JavaScript keeps


def asset(environment: str | None, table: str) -> str:
    """Return the address of a table as Airflow's assets have it, the same for each project."""
    return f"iceberg://{Path(environment or '').stem}/{table}"


def refusal(entry: Entry) -> str | None:
    """Return why tables of an entry cannot be looked up, or None; no catalog is asked."""
    if not (entry.updates or entry.after_update):
        return None
    if importlib.util.find_spec("pyiceberg") is None:
        return "updates and after_update need PyIceberg: pip install 'iceberg-workbench[catalog]'"
    try:
        env = settings.environment(entry.environment or "")
    except ValueError as error:
        return str(error)
    scratch = getattr(env.catalog, "folder", None) == "scratch" and env.stand_in not in ("s3", "rest")
    if scratch or (env.stand_in in ("s3", "rest") and env.folder == "scratch"):
        return (
            f"the tables of the environment {env.name} are gone with its run; updates need one whose tables stay"
        )
    return None


def snapshots(environment: str | None, tables: Iterable[str]) -> Snapshots:
    """Return the current snapshots of tables, asset to id; None of a table that has none or is not there.

    Raises:
        ArgumentError: the catalog cannot be asked.
    """
    from pyiceberg.exceptions import NoSuchTableError

    from workbench import session

    found: Snapshots = {}
    try:
        catalog = session.catalog(environment or "")
        for table in tables:
            try:
                snapshot = catalog.load_table(table).current_snapshot()
            except NoSuchTableError:
                snapshot = None
            found[asset(environment, table)] = str(snapshot.snapshot_id) if snapshot else None
    except ArgumentError:
        raise
    except Exception as error:  # of a database, HTTP or AWS: each catalog has its own
        raise ArgumentError(f"the catalog of {environment} cannot be asked for its snapshots: {error}") from error
    return found


def made(entry: Entry) -> Snapshots:
    """Return the snapshots that the tables of `updates` have after an entry passed.

    Raises:
        ArgumentError: a table is not there, or the catalog cannot be asked.
    """
    found = snapshots(entry.environment, entry.updates)
    if lacking := [name for name, snapshot in found.items() if snapshot is None]:
        raise ArgumentError(
            f"{entry.name} passed, and {', '.join(lacking)} of its updates has no snapshot; a table was expected"
        )
    return found


def unseen(entry: Entry, now: Mapping[str, str | None]) -> list[str]:
    """Return the assets of an entry whose snapshot is another one than it passed with last, sorted."""
    seen = _notes(entry).get("passed", {})
    return sorted(name for name, snapshot in now.items() if snapshot is not None and seen.get(name) != snapshot)


def begun(entry: Entry, request: str | None) -> Snapshots:
    """Return the snapshots that a run begins with, and write them down for the later tries of its request.

    A later try may adopt the run of an earlier one: what came after that one began was not worked on.
    """
    notes = _notes(entry)
    before = notes.get("begun", {})
    if request and before.get("request") == request:
        return dict(before["snapshots"])
    now = snapshots(entry.environment, entry.after_update)
    _write(entry, notes | {"begun": {"request": request, "snapshots": now}})
    return now


def remember(entry: Entry, now: Mapping[str, str | None]) -> None:
    """Write down the snapshots that an entry has passed with: those from before it began."""
    _write(entry, _notes(entry) | {"passed": dict(now)})


def follow(
    entries: Mapping[str, Entry],
    made: dict[str, Snapshots],
    start_of: Callable[[str], running.Start],
    *,
    notify: running.Notify,
    say: Callable[[str], None],
) -> int:
    """Run the entries that begin after the updates that were made, and then those after theirs.

    One runs where all its tables have a snapshot that it has not passed with; else it is left for the next update.

    Args:
        entries: what `entries.read` returned.
        made: entry that has passed to the snapshots that it made; the runs begun here add theirs.
        start_of: given the name of an entry, returns what `running.run` takes as `start`.
        notify: as of `running.run`.
        say: called with sentences.

    Returns:
        int, 0 or the exit code of the first that did not pass.
    """
    codes, queue = [0], waiting(entries, made)
    while queue:
        name, before = queue.pop(0), set(made)
        entry = entries[name]
        try:
            # an update that came while it ran is looked at afterwards
            with running.chain_held(name, f"{name} is still running", seconds=running.FOREVER):
                now = snapshots(entry.environment, entry.after_update)
                if old := sorted(set(now) - set(unseen(entry, now))):
                    say(f"{name} is not started: {', '.join(old)} has nothing new")
                    continue
                codes.append(running.run(entries, name, start_of(name), notify=notify, say=say))
        except ArgumentError as refusal:
            say(f"{name}: {refusal}")
            codes.append(EXIT_CODES["refused"])
        queue += [other for other in waiting(entries, set(made) - before) if other not in queue]
    return next((code for code in codes if code), 0)


def waiting(entries: Mapping[str, Entry], names: Iterable[str]) -> list[str]:
    """Return the names of the entries that begin after an update by one of those named, each once."""
    found = [
        follower
        for name in names
        for table in entries[name].updates
        for follower in followers(entries, entries[name].environment, table)
    ]
    return list(dict.fromkeys(found))


def without_updater(entries: Mapping[str, Entry], name: str) -> list[str]:
    """Return the tables of an entry's `after_update` that no entry of the file updates."""
    entry = entries[name]
    here = {
        table for other in entries.values() if other.environment == entry.environment for table in other.updates
    }
    return [table for table in entry.after_update if table not in here]


def _file(entry: Entry) -> Path:
    return running.folder() / f"{entry.name}.snapshots.json"


def _notes(entry: Entry) -> dict[str, Any]:
    """Return what is written down of an entry: `passed`, asset to snapshot, and `begun`, of a request."""
    try:
        return dict(json.loads(_file(entry).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ArgumentError(
            f"{_file(entry)} cannot be read: {error}; without it the entry runs once more"
        ) from None


def _write(entry: Entry, notes: Mapping[str, Any]) -> None:
    with replacing(_file(entry)) as new:
        new.write_text(json.dumps(notes, indent=1, sort_keys=True), encoding="utf-8")
