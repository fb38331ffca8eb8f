"""Questions to Iceberg tables without Spark: DuckDB over the catalog's own pointer."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from workbench._base import duck, identifiers
from workbench._base.errors import ArgumentError
from workbench.light import catalogs, engine, limits, metadata, statements
from workbench.light.typing import ArrowTable, Catalog, Connection

Tables = Mapping[tuple[str, ...], metadata.Table]  # of a statement, by their names in it


# not @checked: pydantic would take 0.1 of the 0.7 seconds of a first answer, and all is judged below
def query(catalog: Catalog, sql: str, *, at: int | str | datetime | None = None, **values: Any) -> ArrowTable:
    """Answer a question from Iceberg tables, without a JVM and without importing PyIceberg.

    The catalog is asked where each table's metadata are, so that the answer is that of the last commit. Nulls are
    sorted as by Spark, times are UTC, and a sum of integers is a long as there, an error where it does not fit.
    What DuckDB would answer otherwise than Spark, or not at all, is refused before work starts.

    Args:
        catalog: PyIceberg's Catalog; or its properties as `load_catalog` takes them, with `name` beside them.
        sql: one SELECT in DuckDB's SQL, tables as `namespace.name` or `catalog.namespace.name`, values as `$name`.
        at: version of all its tables: a snapshot's id, a tag, a branch, or a time (datetime or ISO text, UTC where
            it has no zone); left out, the current one.
        values: one for each parameter.

    Returns:
        pyarrow.Table, in the order that the statement asks for.

    Raises:
        ValueError: the statement writes or is not one SELECT, a value is missing, a table, column or version is
            unknown, or this engine does not answer as Spark does; the message says which and what there is.
    """
    with opened(catalog, sql, at=at) as (connection, statement, tables):
        statements.check_values(statement, values)
        for table in tables.values():
            _refuse(connection, table, statement)
        return _answer(connection, statement, tables, values)


@contextmanager
def opened(
    catalog: Catalog, sql: str, *, at: int | str | datetime | None = None
) -> Iterator[tuple[Connection, statements.Statement, Tables]]:
    """Take a statement apart and find its tables.

    Yields:
        DuckDB's connection, the statement, and its tables by their names in it.
    """
    with engine.connection(None) as parser:
        statement = statements.read(parser, sql)
    pointers = {parts: catalogs.pointer(catalog, parts) for parts in statement.tables}
    storage: dict[str, str] | None = None
    for pointer in pointers.values():
        metadata.readable(pointer)
        if metadata.scheme(pointer.location) in metadata.S3:
            storage = (storage or {}) | pointer.storage
    with (
        _read(pointers.values()),
        engine.connection(storage, alone=any(len(parts) > 2 for parts in pointers)) as connection,
    ):
        tables = {parts: metadata.load(connection, pointer, at) for parts, pointer in pointers.items()}
        known = frozenset(name for table in tables.values() for name in metadata.names(table.schema["fields"]))
        yield connection, replace(statement, known=known), tables


@contextmanager
def _read(pointers: Iterable[catalogs.Pointer]) -> Iterator[None]:
    """Say by a sentence that files of tables are not there, or that their storage does not answer."""
    import duckdb

    try:
        yield
    except duckdb.IOException as error:
        names = ", ".join(sorted({pointer.table for pointer in pointers})) or "no table"
        raise ArgumentError(
            f"files of {names} cannot be read, deleted since or in a storage that does not answer: "
            f"{catalogs.first_line(error)}"
        ) from error


def require(parts: tuple[str, ...], tables: Collection[tuple[str, ...]]) -> None:
    """Refuse a statement that does not read a table.

    Args:
        parts: the table's name.
        tables: names of those that it reads; a catalog's name may stand in front.

    Raises:
        ValueError: with those that it reads.
    """
    if parts[-2:] not in {name[-2:] for name in tables}:
        known = ", ".join(sorted(map(identifiers.spelled, tables))) or "no table"
        raise ArgumentError(f"the statement does not read {identifiers.spelled(parts)}; it reads {known}")


def _refuse(connection: Connection, table: metadata.Table, statement: statements.Statement) -> None:
    if reason := next(limits.duckdb(connection, table, statement), None):
        raise ArgumentError(
            f"DuckDB does not answer from {table.pointer.table} as Spark does: {reason}; ask Spark"
        )


def _answer(
    connection: Connection, statement: statements.Statement, tables: Tables, values: Mapping[str, Any]
) -> ArrowTable:
    import duckdb

    _name(connection, tables)
    try:
        result = connection.execute(statement.sql, dict(values) or None)
        kinds = [str(column[1]) for column in result.description]
        answer = result.to_arrow_table()
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise ArgumentError(f"the statement does not fit its tables: {error}") from None
    except (duckdb.DataError, duckdb.ProgrammingError, duckdb.NotSupportedError) as error:
        raise ArgumentError(f"the statement, with these values and rows, ends in an error: {error}") from None
    return _narrowed(answer, kinds)


def _name(connection: Connection, tables: Tables) -> None:
    """Give the tables their names in the statement, each a view of its version."""
    databases = {parts[0] for parts in tables if len(parts) > 2}
    for database in databases:
        connection.execute(f"ATTACH ':memory:' AS {duck.quoted(database)}")
    for parts, table in tables.items():
        schema, name = ".".join(map(duck.quoted, parts[:-1])), ".".join(map(duck.quoted, parts))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {metadata.scan(table)}")


def _narrowed(answer: ArrowTable, kinds: Sequence[str]) -> ArrowTable:
    """Return sums of integers as longs, which they are in Spark; DuckDB has them with 128 bits."""
    import pyarrow as pa

    for place, (field, kind) in enumerate(zip(answer.schema, kinds, strict=True)):
        if kind == "HUGEINT":
            try:
                column = answer.column(place).cast(pa.int64())
            except pa.ArrowInvalid:
                raise ArgumentError(
                    f"{field.name} is greater than a long holds, and a sum of integers is a long; sum DECIMAL, as "
                    "sum(amount::DECIMAL(38, 0))"
                ) from None
            answer = answer.set_column(place, pa.field(field.name, pa.int64()), column)
        elif "HUGEINT" in kind:
            raise ArgumentError(
                f"{field.name} is {kind}, and integers of 128 bits are no type of Spark or Iceberg; cast what is "
                "in it, as sum(amount)::BIGINT"
            )
    return answer
