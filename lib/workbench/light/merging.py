"""Rows merged into a table by key: those that are there are replaced, the others added, in one commit."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from workbench._base import duck
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.light import abilities, conversions, engine, slices, writing
from workbench.light.typing import ArrowTable, Catalog, Connection, IcebergTable, Rows

OWN_COLUMNS = {"__source_index", "__target_index"}  # of PyIceberg's upsert, beside those of the rows
_REFUSED = "409"  # by which a REST catalog says that somebody committed first; nothing was written


@dataclass(frozen=True)
class Merge:
    """What a merge did.

    Attributes:
        rows: how many rows of the table it replaced or added; one that is there already as given may not count.
        engine: duckdb or pyiceberg.
        tries: how often it was begun.
    """

    rows: int
    engine: str
    tries: int


@checked
def merge(
    catalog: Catalog,
    table: str,
    rows: Rows,
    *,
    key: Sequence[str],
    tries: Annotated[int, Ge(1)] = writing.TRIES,
) -> Merge:
    """Merge rows into a table by key: a row of the same key is replaced, any other is added.

    In a REST catalog that lets in by a token DuckDB does it, which leaves delete files for what it replaces;
    elsewhere PyIceberg, which writes the files anew that hold a key. A refused commit is repeated as a whole, from
    the table's newest state, so that merges at once leave what they would leave one after another.

    Args:
        catalog: as of `query`.
        table: `namespace.name`.
        rows: pyarrow.Table, or a list of dicts whose keys are columns; each column of the table, and each field
            of a struct, is there in each row: what is left out would become null.
        key: columns that name a row.
        tries: how often the commit is begun at most.

    Returns:
        Merge.

    Raises:
        ValueError: an argument is wrong, a key is null or there twice, or neither engine merges into such a table
            as Spark would; the message says why.
        WorkbenchError: the catalog or the storage went away meanwhile; the rows may be there or not.
        duckdb.TransactionException, pyiceberg.exceptions.CommitFailedException: others committed first in every
            try; nothing was written.
    """
    loaded = writing.load(catalog, table)
    arrow = slices.fit(loaded, rows)
    if path := conversions.absent(rows, loaded.schema().as_arrow()):
        raise ArgumentError(f"the rows have no column {path}, so a row that is there would lose its value")
    _check_key(arrow, loaded, table, key)
    if not loaded.sort_order().is_unsorted:
        raise ArgumentError(
            f"{table} has a sort order, which a merge by DuckDB or PyIceberg does not keep; merge with Spark"
        )
    if not len(arrow):
        return Merge(0, "none", 0)
    if own := sorted(OWN_COLUMNS.intersection(arrow.column_names)):
        raise ArgumentError(
            f"{table} has a column {own[0]}, which is what PyIceberg calls one of its own in a merge; use Spark"
        )
    properties = loaded.catalog.properties
    by_token = properties.get("uri", "").startswith("http") and "rest.sigv4-enabled" not in properties
    name = "duckdb" if by_token else "pyiceberg"
    if reasons := abilities.able(catalog, table)[name]:
        raise ArgumentError(
            f"{name} does not read {table} as Spark does, so it cannot merge into it: {reasons[0]}"
        )
    import duckdb

    with writing.ended(table, "merge them again", duckdb.IOException):
        return {"duckdb": _by_duckdb, "pyiceberg": _by_pyiceberg}[name](loaded, arrow, key, tries)


def _check_key(rows: ArrowTable, loaded: IcebergTable, table: str, key: Sequence[str]) -> None:
    import pyarrow as pa

    names = loaded.schema().as_arrow().names
    if not key or (unknown := [name for name in key if name not in names]):
        raise ArgumentError(
            f"key is {', '.join(unknown) if key else 'empty'}, expected columns of {table}: {', '.join(names)}"
        )
    if len(set(key)) < len(key):
        raise ArgumentError(f"key is {', '.join(key)}, expected each column once")
    for name in key:
        kind = rows.schema.field(name).type
        if pa.types.is_floating(kind):
            raise ArgumentError(f"the column {name} of the key is a floating-point number, which names no row")
        if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
            raise ArgumentError(
                f"the column {name} of the key is {loaded.schema().find_type(name)}, by which neither PyIceberg "
                "nor Arrow finds rows; merge with Spark"
            )
        if rows.column(name).null_count:
            raise ArgumentError(
                f"the column {name} of the key is null in {rows.column(name).null_count} rows; it names no row"
            )
    if repeated := _repeated(rows, key):
        raise ArgumentError(f"the key {repeated} is there twice; only one row can count")


def _repeated(rows: ArrowTable, key: Sequence[str]) -> tuple[object, ...]:
    """Return the values of a key that two rows have; nothing where each has its own."""
    import pyarrow.compute as pc

    counts = rows.group_by(list(key)).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts["count_all"], 1)).slice(length=1).select(list(key)).to_pylist()
    return tuple(repeated[0].values()) if repeated else ()


def _by_pyiceberg(loaded: IcebergTable, rows: ArrowTable, key: Sequence[str], tries: int) -> Merge:
    for attempt in writing.attempts(tries):
        with attempt:
            loaded.refresh()
            writing.once(loaded)
            _refuse_a_key_that_is_there_twice(loaded, rows, key)
            upsert = loaded.upsert(rows, join_cols=list(key))
            count = upsert.rows_updated + upsert.rows_inserted
            return Merge(count, "pyiceberg", attempt.retry_state.attempt_number)
    raise AssertionError("attempts end by a return or an error")


def _refuse_a_key_that_is_there_twice(loaded: IcebergTable, rows: ArrowTable, key: Sequence[str]) -> None:
    """Refuse a merge that PyIceberg would do otherwise than Spark.

    Spark replaces both rows. PyIceberg looks for them in each batch alone, and where one of them has the new
    values already, it deletes both and writes one.
    """
    from pyiceberg.table import upsert_util

    matching = upsert_util.create_match_filter(rows, list(key))
    keys = loaded.scan(row_filter=matching, selected_fields=tuple(key)).to_arrow()
    if repeated := _repeated(keys, key):
        name = ".".join(loaded.name()[-2:])
        raise ArgumentError(
            f"{name} holds the key {repeated} of {', '.join(key)} twice, and PyIceberg would "
            "not replace both as Spark does; merge with Spark"
        )


def _by_duckdb(loaded: IcebergTable, rows: ArrowTable, key: Sequence[str], tries: int) -> Merge:
    import duckdb
    import tenacity

    target = f"target_{uuid.uuid4().hex}"  # all connections of a DuckDB share the names of databases
    statement = _statement(loaded, target, rows, key)
    properties = dict(loaded.catalog.properties) | dict(loaded.io.properties)
    with engine.connection(properties) as connection, _attached(connection, target, properties):
        connection.register("given", rows)
        retrying = writing.attempts(tries).copy(
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, duckdb.TransactionException) and _REFUSED in str(error)
            )
        )
        for attempt in retrying:
            with attempt:
                ((count,),) = connection.execute(statement).fetchall()
                return Merge(count, "duckdb", attempt.retry_state.attempt_number)
    raise AssertionError("attempts end by a return or an error")


@contextmanager
def _attached(connection: Connection, target: str, properties: Mapping[str, str]) -> Iterator[None]:
    connection.execute(_attach(target, properties))
    try:
        yield
    finally:
        connection.execute(f"DETACH {target}")


def _statement(loaded: IcebergTable, target: str, rows: ArrowTable, key: Sequence[str]) -> str:
    names = [duck.quoted(name) for name in rows.column_names]
    table = ".".join(map(duck.quoted, (target, *loaded.name())))
    same = " AND ".join(f"t.{name} = g.{name}" for name in map(duck.quoted, key))
    new = [name for name in names if name not in set(map(duck.quoted, key))]
    update = f"WHEN MATCHED THEN UPDATE SET {', '.join(f'{name} = g.{name}' for name in new)} " if new else ""
    return (
        f"MERGE INTO {table} AS t USING given AS g ON {same} {update}WHEN NOT MATCHED THEN "
        f"INSERT ({', '.join(names)}) VALUES ({', '.join(f'g.{name}' for name in names)})"
    )


def _attach(target: str, properties: Mapping[str, str]) -> str:
    """Return the statement by which DuckDB reaches a REST catalog."""
    warehouse = properties.get("warehouse", "")
    if urlsplit(warehouse).scheme == "s3":  # DuckDB takes such a text for a folder, which it only reads
        warehouse = urlsplit(warehouse).netloc
    options = {"TYPE": "iceberg", "ENDPOINT": properties["uri"]}
    if token := properties.get("token"):
        options |= {"TOKEN": token}
    elif credential := properties.get("credential"):
        client, _, secret = credential.rpartition(":")
        options |= {"CLIENT_ID": client, "CLIENT_SECRET": secret}
        options["OAUTH2_SERVER_URI"] = (
            properties.get("oauth2-server-uri") or f"{properties['uri']}/v1/oauth/tokens"
        )
    else:
        options |= {"AUTHORIZATION_TYPE": "none"}
    listed = ", ".join(
        f"{name} {value if name == 'TYPE' else duck.literal(value)}" for name, value in options.items()
    )
    return f"ATTACH {duck.literal(warehouse)} AS {target} ({listed})"
