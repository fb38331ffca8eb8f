"""Progress that outlives a process: units of work in an SQLite file, each noted before its request is sent.

A unit is stored as *about to be requested*; then its request is sent; then the unit is stored with the answer.
After a kill in between it is still *about to be requested*: the next process first looks what happened, and
never repeats the request blindly. What a unit depends on (versions, a digest) is a column like its state; the
reader of a unit decides whether it still counts.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench._base import locks
from workbench._base.errors import ArgumentError

BUSY_SECONDS = 30  # that another program, which only looks, may keep SQLite waiting
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@dataclass(frozen=True)
class Form:
    """What a list holds. Table and columns are stored: they keep their names.

    Attributes:
        name: what people call its file, such as `state table`.
        user: who has it open, such as `restore`.
        table: its table in the file.
        columns: name to type as SQLite has it.
        key: columns that name a unit; each is NOT NULL.
        outlives_power: whether rows are on the disk when they are put. Else they outlive a kill, but a power cut
            may take the last ones: enough where a unit can be done again, and waits for the disk add up.
    """

    name: str
    user: str
    table: str
    columns: dict[str, str]
    key: tuple[str, ...]
    outlives_power: bool = True

    @property
    def definition(self) -> str:
        """The table as SQLite keeps it behind CREATE TABLE."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        return f"{self.table} ({columns}, PRIMARY KEY ({', '.join(self.key)}))"


class Worklist:
    """An open list; `opened` makes it. One row a unit, in the order in which units were put first."""

    def __init__(self, database: sqlite3.Connection, path: Path, form: Form) -> None:
        self.database, self.path, self.form = database, path, form

    def put(self, rows: Iterable[dict]) -> None:
        """Write whole rows, all or none; no kill after this returns takes them. A unit keeps the place it has.

        Args:
            rows: column to value; a column that is left out is null.

        Raises:
            OSError: they cannot be written; the list is as it was.
        """
        columns = self.form.columns
        new = ", ".join(f"{name} = excluded.{name}" for name in columns)
        self._change(
            f"INSERT INTO {self.form.table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
            f"ON CONFLICT ({', '.join(self.form.key)}) DO UPDATE SET {new}",
            [tuple((dict.fromkeys(columns) | row).values()) for row in rows],
        )

    def remove(self, keys: Iterable[tuple]) -> None:
        """Forget units, all or none; a unit that does not exist is not an error.

        Raises:
            OSError: as of `put`.
        """
        same = " AND ".join(f"{name} = ?" for name in self.form.key)
        self._change(f"DELETE FROM {self.form.table} WHERE {same}", list(keys))

    def rows(self, **among: Collection) -> list[dict]:
        """Return rows, column to value.

        Args:
            among: column to values, of which a row has one: `state=("asked", "asking")`.

        Raises:
            ValueError: the file is damaged.
            OSError: it cannot be read.
        """
        conditions = [f"{name} IN ({', '.join('?' * len(values))})" for name, values in among.items()]
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        values = [value for choices in among.values() for value in choices]
        with _explained(self.path, self.form):
            selected = self.database.execute(
                f"SELECT {', '.join(self.form.columns)} FROM {self.form.table} {where} ORDER BY rowid", values
            ).fetchall()
        return [dict(zip(self.form.columns, row, strict=True)) for row in selected]

    def _change(self, statement: str, values: list[tuple[Any, ...]]) -> None:
        with _explained(self.path, self.form), self.database:
            self.database.execute("BEGIN IMMEDIATE")
            self.database.execute(f"CREATE TABLE IF NOT EXISTS {self.form.definition}")
            self.database.executemany(statement, values)


@contextmanager
def opened(
    path: Path | str, form: Form, *, seconds: float = 0, earlier: Callable[[], Iterable[dict]] = tuple
) -> Iterator[Worklist]:
    """Open a list for this process alone; its file is made when missing.

    Args:
        path: its file, in a folder that is there; a lock stays beside it.
        form: what it holds.
        seconds: how long to wait for another process that has it open.
        earlier: gives the rows that a version before this one kept elsewhere, when the list is made.

    Raises:
        ValueError: another process has it open; or the file is another one, and nothing was changed in it.
        OSError: it cannot be read or written.
    """
    path = Path(path).absolute()  # SQLite has names of its own, as :memory:
    _refuse_foreign(path, form)
    in_use = f"another {form.user} has the {form.name} {path} open"
    with locks.held(f"{path}.lock", in_use, seconds=seconds):
        with _explained(path, form):
            database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        with closing(database):
            units = Worklist(database, path, form)
            with _explained(path, form):
                begun = _refuse_another(database, path, form)  # again: what a kill left is undone by now
                database.execute("PRAGMA journal_mode = WAL")
                database.execute(f"PRAGMA synchronous = {'FULL' if form.outlives_power else 'NORMAL'}")
            if not begun:
                units.put(earlier())  # with its table: a kill leaves no list without them
            yield units


@contextmanager
def _explained(path: Path, form: Form) -> Iterator[None]:
    """Say in a sentence what is wrong with the file, or with the disk that it lies on."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:
            raise ArgumentError(f"{path} is not a {form.name}: {error}") from None
        if isinstance(error, sqlite3.OperationalError):
            raise OSError(f"the {form.name} {path} cannot be read or written: {error}") from None
        raise


def _refuse_foreign(path: Path, form: Form) -> None:
    """Refuse what is not a list, by looking only: not even a lock is left beside a file of somebody else."""
    if not path.parent.is_dir():
        raise ArgumentError(f"the folder of the {form.name} {path} is not there")
    other = f"{path} is not a {form.name}"
    if path.is_symlink() or (path.is_file() and path.stat().st_nlink > 1):
        raise ArgumentError(
            f"{other} but a link: a second {form.user} could have the same file open by its other name"
        )
    if not path.exists():
        return
    if not path.is_file():
        raise ArgumentError(f"{other} but a folder or a device")
    size = path.stat().st_size
    log, journal, lock = (Path(f"{path}{end}").exists() for end in ("-wal", "-journal", ".lock"))
    # A log is read with the file, by SQLite's rules of who may write. A journal is what a kill left in the making:
    # by the rules it is undone first, which is to write
    address = f"{path.as_uri()}?{'mode=ro' if (log or lock) and not journal else 'immutable=1'}"
    with _explained(path, form), closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as database:
        _refuse_another(database, path, form)
        pages = database.execute("PRAGMA page_count").fetchone()[0]
    if size and not pages:  # a few bytes, which SQLite would write over
        raise ArgumentError(f"{other}: file is not a database")


def _refuse_another(database: sqlite3.Connection, path: Path, form: Form) -> bool:
    """Return whether a database holds this list; refuse one that holds anything else."""
    objects = database.execute(
        "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY name"
    ).fetchall()
    if objects and objects != [(form.table, f"CREATE TABLE {form.definition}")]:
        names = ", ".join([name for name, _ in objects][:5])
        raise ArgumentError(f"{path} is not a {form.name}: it is a database with {names}")
    return bool(objects)
