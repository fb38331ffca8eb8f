"""States of Iceberg tables, each fixed by the metadata file that names its snapshot."""

import hashlib
import importlib.util
from functools import cached_property
from typing import Any

from workbench._base import duck
from workbench._base.errors import ArgumentError, MissingPackageError


class State:
    """A table as one metadata file describes it; nothing of it changes afterwards.

    Attributes:
        name: (database, schema, name), as the project's tests write it.
        location: of its metadata file.
    """

    def __init__(self, name: tuple[str, ...], location: str) -> None:
        self.name, self.location = name, location

    @cached_property
    def table(self) -> Any:
        """The table as PyIceberg reads it."""
        try:
            from pyiceberg.table import StaticTable
        except ModuleNotFoundError:
            raise MissingPackageError("PyIceberg is not installed; install iceberg-workbench[dbt]") from None
        try:
            return StaticTable.from_metadata(self.location)
        except (OSError, ValueError) as error:
            raise ArgumentError(f"the metadata of {'.'.join(self.name)} cannot be read: {error}") from None

    @cached_property
    def text(self) -> str:
        """Table, snapshot and schema, field ids included: equal texts have equal rows."""
        table = self.table
        schema = table.schema().model_dump_json() + table.properties.get("schema.name-mapping.default", "")
        snapshot = table.metadata.current_snapshot_id
        return f"{table.metadata.table_uuid}@{snapshot}/{hashlib.sha256(schema.encode()).hexdigest()[:16]}"

    def is_free_of_null(self, column: str) -> bool:
        """Return whether the metrics of the data files prove that a column has no NULL; no data file is read."""
        from pyiceberg import expressions

        fields = [field for field in self.table.schema().fields if field.name.lower() == column.lower()]
        if len(fields) != 1 or fields[0].required:  # PyIceberg believes a required column without looking
            return False
        is_null: Any = expressions.IsNull  # its signature is pydantic's
        return not [*self.table.scan(row_filter=is_null(fields[0].name)).plan_files()]


def connected() -> Any:
    """Return a connection to a DuckDB of its own that reads Iceberg tables; nothing is downloaded."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingPackageError("DuckDB is not installed; install iceberg-workbench[dbt]") from None
    connection = duckdb.connect(":memory:", config=duck.OFFLINE)
    for name in ("avro", "iceberg"):
        if importlib.util.find_spec(f"duckdb_extension_{name}") is None:
            raise MissingPackageError(f"duckdb-extension-{name} is not installed; install iceberg-workbench[dbt]")
        connection.execute(f"LOAD {duck.literal(duck.extension(name, extra='dbt'))}")
    return connection


def shown(connection: Any, state: State) -> None:
    """Make a view under the name that the tests use, of the one state."""
    *parents, name = map(duck.quoted, state.name)
    if len(parents) == 2:
        connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {parents[0]}")
    if parents:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {'.'.join(parents)}")
    view, location = ".".join([*parents, name]), duck.literal(state.location)
    connection.execute(f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM iceberg_scan({location})")
