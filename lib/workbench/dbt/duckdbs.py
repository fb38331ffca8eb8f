"""DuckDB as the engine of a dbt project: one state of each table, and parts of it."""

import importlib.util
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from workbench._base import duck
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.dbt.planning import Planned
from workbench.dbt.states import File, State

# types that a file's columns are read as, field by field
READ = r"BOOLEAN|INTEGER|BIGINT|FLOAT|DOUBLE|VARCHAR|DATE|TIMESTAMP|TIMESTAMP WITH TIME ZONE|DECIMAL\(\d+,\d+\)"


class DuckDB:
    """A DuckDB of its own for one run; nothing is downloaded, and no connection is made before it is needed.

    Attributes:
        dialect: of the SQL.
        errors: what a statement raises that cannot be answered.
        raw: whether a part of a table is read with the rows that delete files take from it.
    """

    dialect = "duckdb"
    raw = True

    def __init__(self) -> None:
        try:
            import duckdb
        except ModuleNotFoundError:
            raise MissingPackageError("DuckDB is not installed; install iceberg-workbench[dbt]") from None
        self.errors: tuple[type[Exception], ...] = (duckdb.Error, ArgumentError)
        self.connections: dict[str, Any] = {}
        self.shown: set[tuple[str, ...]] = set()
        self.types: dict[tuple[str, ...], dict[str, str]] = {}
        self.ids: dict[str, set[int]] = {}
        with duckdb.connect(":memory:") as connection:
            zone = connection.execute("SELECT current_setting('TimeZone')").fetchall()[0][0]
        self.name = f"duckdb {duckdb.__version__} {zone}"

    def close(self) -> None:
        """Close the connections that were opened."""
        for connection in self.connections.values():
            connection.close()

    def rows(self, planned: Planned, states: Sequence[State]) -> list[tuple]:
        """Return the answer of dbt's own statement."""
        return list(self._whole(states).execute(planned.test.statement).fetchall())

    def binds(self, planned: Planned, state: State) -> bool:
        """Return whether dbt's own statement has an answer as far as the columns of the table decide it."""
        self._shape(state)
        try:
            self._connection("shapes").execute(f"EXPLAIN {planned.test.statement}")
        except self.errors:
            return False
        return True

    def failing(self, planned: Planned, state: State, files: Sequence[File]) -> int | None:
        """Return how many rows of some files fail, deleted ones included; None where that cannot be said."""
        types, fields = self._shape(state), state.fields(planned.columns)
        if not fields or not all(re.fullmatch(READ, types.get(column.name, "")) for column in fields):
            return None
        paths = [re.sub(r"^file:(//)?(?=/)", "", file.path) for file in files]
        parquet = all(file.entry.file_format.value == "PARQUET" for file in files)
        if not parquet or any(set(path) & set("*?[") for path in paths):
            return None
        if not {column.field_id for column in fields} <= self._ids(paths):
            return None  # such as a file that was taken over, or a column that is younger than the file
        columns = ", ".join(
            f"{column.field_id}: {{name: {duck.literal(column.name)}, type: {duck.literal(types[column.name])}, "
            "default_value: NULL}"
            for column in fields
        )
        listed = ", ".join(map(duck.literal, paths))
        connection = self._connection("parts")
        _made(connection, "VIEW", state, f"SELECT * FROM read_parquet([{listed}], schema = MAP {{{columns}}})")
        try:
            return int(connection.execute(planned.test.statement).fetchall()[0][0])
        except self.errors:
            return None

    def distinct(self, planned: Planned, state: State) -> bool:
        """Return whether the hashes of the keys are as many as the rows, so that no key stands in two."""
        unique = planned.unique
        if unique is None or not state.hashable(unique.names):
            return False
        statement = unique.counted(_name(state), hashed_by="hash", dialect=self.dialect)
        try:
            return bool(self._whole([state]).execute(statement).fetchall()[0][0])
        except self.errors:
            return False

    def _whole(self, states: Sequence[State]) -> Any:
        """Return a connection that shows the states of tables."""
        connection = self._connection("whole")
        for state in states:
            if state.name not in self.shown:
                _made(connection, "VIEW", state, f"SELECT * FROM iceberg_scan({duck.literal(state.location)})")
                self.shown.add(state.name)
        return connection

    def _connection(self, purpose: str) -> Any:
        """Return the connection of a purpose: in each, the same names show something else."""
        if purpose not in self.connections:
            self.connections[purpose] = connected()
        return self.connections[purpose]

    def _shape(self, state: State) -> dict[str, str]:
        """Return the types of a table's columns, of an empty table by its name."""
        if state.name not in self.types:
            connection = self._connection("shapes")
            source = f"SELECT * FROM iceberg_scan({duck.literal(state.location)}) LIMIT 0"
            try:
                _made(connection, "TABLE", state, source)
            except self.errors:
                self.types[state.name] = {}
                return {}
            described = connection.execute(f"DESCRIBE {_name(state)}").fetchall()
            self.types[state.name] = {row[0]: row[1] for row in described}
        return self.types[state.name]

    def _ids(self, paths: Sequence[str]) -> set[int]:
        """Return ids of the columns that each of some Parquet files has."""
        unread = [path for path in paths if path not in self.ids]
        if unread:
            self.ids |= {path: set() for path in unread}
            schemas = self._connection("parts").execute(
                "SELECT file_name, field_id FROM parquet_schema(?) WHERE field_id IS NOT NULL", [unread]
            )
            for path, number in schemas.fetchall():
                self.ids.setdefault(path, set()).add(number)
        return set.intersection(*(self.ids[path] for path in paths))


def connected() -> Any:
    """Return a connection to a DuckDB of its own that reads Iceberg tables."""
    import duckdb

    connection = duckdb.connect(":memory:", config=duck.OFFLINE)
    # it would be printed into logs; where it cannot be drawn (no ipywidgets), it cannot be set either
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    for name in ("avro", "iceberg"):
        if importlib.util.find_spec(f"duckdb_extension_{name}") is None:
            raise MissingPackageError(f"duckdb-extension-{name} is not installed; install iceberg-workbench[dbt]")
        connection.execute(f"LOAD {duck.literal(duck.extension(name, extra='dbt'))}")
    return connection


def _name(state: State) -> str:
    return ".".join(map(duck.quoted, state.name))


def _made(connection: Any, kind: str, state: State, source: str) -> None:
    """Make a view or a table by the name that the tests use."""
    parents = [*map(duck.quoted, state.name)][:-1]
    if len(parents) == 2:
        connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {parents[0]}")
    if parents:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {'.'.join(parents)}")
    connection.execute(f"CREATE OR REPLACE {kind} {_name(state)} AS {source}")
