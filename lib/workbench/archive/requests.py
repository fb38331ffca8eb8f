"""The state table of a restore: what was asked for which object, in one SQLite file that outlives the process.

A request is noted as `asking` before it is sent and as `asked` when it was answered, so that after a kill it is
known which objects may have been asked: those are looked at, never asked blindly again.
"""

import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from workbench._base import locks

PLANNED, ASKING, ASKED, READY, FAILED = "planned", "asking", "asked", "ready", "failed"
OPEN = (PLANNED, ASKING, ASKED)
_COLUMNS = {
    "uri": "TEXT NOT NULL", "version": "TEXT NOT NULL", "version_id": "TEXT", "action": "TEXT NOT NULL",
    "tier": "TEXT", "days": "INTEGER", "hours": "REAL", "state": "TEXT NOT NULL", "status": "INTEGER",
    "asked_at": "TEXT", "until": "TEXT", "why": "TEXT",
}  # fmt: skip
_TABLE = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
_CREATE = f"CREATE TABLE IF NOT EXISTS requests ({_TABLE}, PRIMARY KEY (uri, version))"


class Requests:
    """An open state table; made by `open_state`. One row an object, its key (uri, version)."""

    def __init__(self, database):
        self.database = database

    def put(self, rows):
        """Write whole rows, in one transaction: dicts of all columns that are not null."""
        with self.database:
            for row in rows:
                marks = ", ".join("?" * len(row))
                self.database.execute(
                    f"INSERT OR REPLACE INTO requests ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
                )

    def rows(self, keys, *states):
        """Return the rows of these (uri, version), as dicts, by address; with states, those that are in one."""
        which = f"WHERE state IN ({', '.join('?' * len(states))})" if states else ""
        found = self.database.execute(
            f"SELECT {', '.join(_COLUMNS)} FROM requests {which} ORDER BY uri, version", states
        )
        return [dict(zip(_COLUMNS, row, strict=True)) for row in found if row[:2] in keys]

    def note(self, changes):
        """Note new values, in one transaction: list of (row, dict of column to value)."""
        self.put([row | values for row, values in changes])


@contextmanager
def open_state(path):
    """Open a state table, made when missing, for this process alone.

    Raises:
        ValueError: another process has it open; or the file is none, and nothing was changed in it.
    """
    path = Path(path).absolute()  # SQLite has names of its own, as :memory:
    _refuse_foreign(path)
    with locks.held(f"{path}.lock", f"another restore has the state table {path} open"):
        database = sqlite3.connect(path, timeout=30)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute(_CREATE)
            yield Requests(database)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path} is no state table: {error}") from None
        finally:
            database.close()


def _refuse_foreign(path):
    """Refuse what is no state table, by looking only: not even a lock is left beside a file of somebody else."""
    if not path.parent.is_dir():
        raise ValueError(f"the folder of the state table {path} is not there")
    if path.is_symlink() or (path.is_file() and path.stat().st_nlink > 1):
        raise ValueError(
            f"{path} is no state table but another name of a file, which a second restore may have open"
        )
    if not path.exists():
        return
    if not path.is_file():
        raise ValueError(f"{path} is no state table but a folder or a device")
    with closing(sqlite3.connect(":memory:")) as ours:
        ours.execute(_CREATE)
        expected = _described(ours)
    try:
        found = _looked_into(path)
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} is no state table: {error}") from None
    if found and found != expected:
        names = sorted({name for _, name, *_ in found})
        raise ValueError(f"{path} is no state table: it is a database with {', '.join(names[:5])}")


def _looked_into(path):
    """Return what a file holds, as `_described` does; nothing is changed, and no file made beside it."""
    size = path.stat().st_size
    unfinished = any(Path(f"{path}{end}").exists() for end in ("-wal", "-journal"))  # to be read with the file
    how = "mode=ro" if unfinished else "immutable=1"
    with closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=30)) as database:
        found = _described(database)
        pages = database.execute("PRAGMA page_count").fetchone()[0]
    if size and not pages:  # a few bytes, which SQLite would write over
        raise sqlite3.DatabaseError("file is not a database")
    return found


def _described(database):
    """Return what a database holds: (kind, name, column, type, place in the key); nothing of an empty one."""
    return database.execute(
        "SELECT held.type, held.name, had.name, had.type, had.pk FROM sqlite_master AS held "
        "LEFT JOIN pragma_table_info(held.name) AS had WHERE held.name NOT LIKE 'sqlite@_%' ESCAPE '@' "
        "ORDER BY held.type, held.name, had.cid"
    ).fetchall()


def text(moment):
    """Return a time as the table keeps it; None stays."""
    return moment.astimezone(UTC).isoformat() if moment else None


def moment(kept):
    """Return the time that the table keeps; None stays."""
    return datetime.fromisoformat(kept) if kept else None
