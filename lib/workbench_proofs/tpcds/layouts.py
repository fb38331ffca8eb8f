"""How the tables lie in Iceberg: as published, flat, or ours, or flat with one lever of ours.

Loading is measured: it is part of the price.
"""

import hashlib
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench_proofs.tpcds import data as generated

FLAT, PUBLISHED, OURS = "flat", "published", "ours"
LAYOUTS = (FLAT, PUBLISHED, OURS)
# the facts and their date keys
FACTS = {
    "catalog_returns": "cr_returned_date_sk", "catalog_sales": "cs_sold_date_sk", "inventory": "inv_date_sk",
    "store_returns": "sr_returned_date_sk", "store_sales": "ss_sold_date_sk", "web_returns": "wr_returned_date_sk",
    "web_sales": "ws_sold_date_sk",
}  # fmt: skip
# Ours: half a year of days a partition instead of one. Iceberg filters files at run time by the join with date_dim
# only on a partition's source column. A truncate still has it, and a dozen partitions replace 1,800.
DAYS = 180
# Row groups of 16 MiB let a filter on the sorted key skip most of a file.
ROW_GROUPS = {"write.parquet.row-group-size-bytes": 16 << 20}
# Set when a table is created, and when it is whole: a load that was killed is ours to replace, but not to compare.
LAYOUT, DATA, WAY = "workbench.tpcds.layout", "workbench.tpcds.data", "workbench.tpcds.way"


@dataclass(frozen=True)
class Layout:
    """How tables lie: the facts' partitions, as SQL with {key}; whether sorted by it; all tables' properties."""

    partitions: str | None = None
    ordered: bool = False
    properties: Mapping[str, Any] = field(default_factory=dict)


TRUNCATE = f"truncate({DAYS}, {{key}})"
WAYS = {
    FLAT: Layout(),
    PUBLISHED: Layout("{key}"),
    OURS: Layout(TRUNCATE, ordered=True, properties=ROW_GROUPS),
    # what ours is made of, one at a time, for its worth; and texts whole in bounds, not their first 16 characters
    "truncated": Layout(TRUNCATE),
    "sorted": Layout(ordered=True),
    "row_groups": Layout(properties=ROW_GROUPS),
    "whole_bounds": Layout(properties={"write.metadata.metrics.default": "full"}),
}


@dataclass(frozen=True)
class Loaded:
    """One table as it was loaded: what a layout costs. Seconds include creating it."""

    table: str
    rows: int
    partitions: int
    files: int
    bytes: int
    seconds: float


@checked
def load(
    spark: SparkSession,
    data: generated.Data,
    namespace: str,
    *,
    layout: str,
    tables: Sequence[str] = generated.TABLES,
) -> tuple[Loaded, ...]:
    """Load tables into a namespace, replacing those that were loaded here before.

    Args:
        spark: session whose default catalog takes Iceberg tables.
        data: tpcds.data.Data.
        namespace: made when missing.
        layout: one of WAYS. `flat`; `published`: the facts partitioned by their date key; `ours`: by half a year,
            sorted by it.
        tables: some of the 24 when not all are needed.

    Returns:
        tuple of Loaded, in the order of `tables`.

    Raises:
        ValueError: no such layout or table, or a table of that name was not loaded by us.
        RuntimeError: a table does not hold the rows that were generated.
    """
    definition(layout)
    if unknown := sorted(set(tables) - set(data.tables)):
        raise ArgumentError(f"no table {unknown[0]!r}; there are {', '.join(data.tables)}")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {_quoted(namespace)}")
    foreign = [table for table, about in _properties(spark, namespace, tables).items() if LAYOUT not in about]
    if foreign:
        raise ArgumentError(f"{namespace}.{foreign[0]} was not loaded by this benchmark and is not replaced")
    return tuple(_load(spark, data, namespace, table, layout) for table in tables)


def definition(layout: str) -> str:
    """Return what a layout's name stands for as a short text without signs of SQL: the same text, the same way.

    Raises:
        ValueError: there is no such layout.
    """
    if layout not in WAYS:
        raise ArgumentError(f"no layout {layout!r}; there are {', '.join(WAYS)}")
    return hashlib.sha256(repr(WAYS[layout]).encode()).hexdigest()[:16]


def statements(table: str, columns: str, layout: str, *, name: str) -> tuple[str, ...]:
    """Return the statements that create a table, ready to be appended to.

    Args:
        table: one of the 24.
        columns: in SQL: `d_date_sk BIGINT, …`.
        layout: one of WAYS.
        name: quoted name of the table to create.
    """
    key, way = FACTS.get(table), WAYS[layout]
    by = way.partitions.format(key=key) if key and way.partitions else None
    properties = {LAYOUT: layout, WAY: definition(layout), **way.properties}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    partitioned = f"PARTITIONED BY ({by}) " if by else ""
    create = f"CREATE TABLE {name} ({columns}) USING iceberg {partitioned}TBLPROPERTIES ({listed})"
    if not (key and way.ordered):
        return (create,)
    written = f"DISTRIBUTED BY PARTITION LOCALLY ORDERED BY {key}" if by else f"ORDERED BY {key}"
    return create, f"ALTER TABLE {name} WRITE {written}"


def require(
    spark: SparkSession, namespace: str, data: generated.Data, tables: Collection[str] = generated.TABLES
) -> str:
    """Return the layout of a namespace, having seen that its tables hold this data.

    Raises:
        ValueError: a table is missing, holds other data, or lies in another layout than the rest.
    """
    return _layout(_properties(spark, namespace, tables), namespace, data, tables)


def loaded(
    catalog: Any, namespace: str, data: generated.Data, tables: Iterable[str] = generated.TABLES
) -> dict[str, Any]:
    """Return PyIceberg's tables of a namespace, having seen as `require` does that they hold this data.

    Args:
        catalog: PyIceberg's.
        namespace: of the tables.
        data: tpcds.data.Data.
        tables: some of the 24.

    Returns:
        dict of name to pyiceberg Table.

    Raises:
        ValueError: as `require`.
    """
    # PyIceberg takes a text apart at its dots, and knows no backticks
    parts = identifiers.parts(namespace, least=1)
    names = {name: (*parts, name) for name in tables}
    existing = {name: catalog.load_table(full) for name, full in names.items() if catalog.table_exists(full)}
    _layout({name: table.properties for name, table in existing.items()}, namespace, data, names)
    return existing


def _layout(
    properties: Mapping[str, Mapping[str, str]], namespace: str, data: generated.Data, tables: Iterable[str]
) -> str:
    """Return the one layout that tables have by their properties: name to those of the table."""
    for table in tables:
        if properties.get(table, {}).get(DATA) != data.digest:
            raise ArgumentError(
                f"{namespace}.{table} does not hold the data of scale factor {data.scale}; load it first"
            )
    layouts = sorted({about[LAYOUT] for about in properties.values()})
    if len(layouts) != 1:
        raise ArgumentError(f"{namespace} mixes layouts: {', '.join(layouts)}")
    if any(about.get(WAY) != definition(layouts[0]) for about in properties.values()):
        raise ArgumentError(
            f"{namespace} was loaded by an earlier definition of the layout {layouts[0]}; load it again"
        )
    return layouts[0]


def _load(spark: SparkSession, data: generated.Data, namespace: str, table: str, layout: str) -> Loaded:
    name = identifiers.joined((*identifiers.parts(namespace, least=1), table))
    rows = spark.read.parquet(str(data.path(table)))
    columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema)
    start = time.perf_counter()
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    for statement in statements(table, columns, layout, name=name):
        spark.sql(statement)
    rows.writeTo(name).append()
    seconds = time.perf_counter() - start
    # a table without partitions has no such column, and its files lie in one
    counted = "count(DISTINCT partition)" if WAYS[layout].partitions and table in FACTS else "count(DISTINCT 1)"
    ((files, size, count, partitions),) = spark.sql(
        f"SELECT count(*), sum(file_size_in_bytes), sum(record_count), {counted} FROM {name}.files"
    ).collect()
    if count != data.tables[table].rows:
        raise RuntimeError(
            f"{namespace}.{table} has {count} rows, expected {data.tables[table].rows} as generated"
        )
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{DATA}' = '{data.digest}')")
    return Loaded(table, count, partitions, files, size, seconds)


def _properties(spark: SparkSession, namespace: str, tables: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the properties of those tables that exist: name to dict; empty where there is no such namespace."""
    if not spark.catalog.databaseExists(_quoted(namespace)):
        return {}
    existing = {row.tableName for row in spark.sql(f"SHOW TABLES IN {_quoted(namespace)}").collect()}
    return {
        table: {
            row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {_quoted(namespace)}.{table}").collect()
        }
        for table in tables
        if table in existing
    }


def _quoted(namespace: str) -> str:
    return identifiers.joined(identifiers.parts(namespace, least=1))
