"""A table's snapshots, described and counted. Nothing in this module changes a table."""

import re

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Row, SparkSession
from workbench.tables import reads


class TableNotFound(ArgumentError):
    """There is no such table; the message lists those there are."""


@checked
def history(spark: SparkSession, table: str) -> DataFrame:
    """Describe every snapshot of a table, oldest first.

    Snapshot ids and commit times differ on every run, so snapshots are named by ordinal. The order is that of the
    commits: a snapshot always stands behind its parent, even when both were committed within one millisecond or
    the later writer's clock was behind. What is not on main (branches, commits that were rolled back) is listed
    too, where its commit time puts it.

    Args:
        spark: session whose catalog holds the table.
        table: `namespace.name`.

    Returns:
        DataFrame, one row a snapshot, sorted by `n`: n (int, from 1), operation (string),
        added_rows, deleted_rows, data_files (long). Lazy; reads metadata only. Snapshots that are committed
        after the call are not in it.

    Raises:
        TableNotFound: no such table; the message lists those there are.
    """
    name = _existing(spark, table)
    ids = ", ".join(f"{snapshot}L" for snapshot in _ordered(spark, name))
    order = f"array_position(array({ids}), snapshot_id)" if ids else "0L"
    return spark.sql(
        f"""
        SELECT * FROM (
            SELECT CAST({order} AS INT) AS n, operation,
                   CAST(coalesce(summary['added-records'], 0) AS BIGINT) AS added_rows,
                   CAST(coalesce(summary['deleted-records'], 0) AS BIGINT) AS deleted_rows,
                   CAST(coalesce(summary['total-data-files'], 0) AS BIGINT) AS data_files
            FROM {name}.snapshots
        ) WHERE n > 0 ORDER BY n
        """
    )


@checked
def at(spark: SparkSession, table: str, n: int) -> int:
    """Return the snapshot id of the n-th snapshot, counted from 1 in the order of `history`.

    Raises:
        TableNotFound: no such table.
        ValueError: the table has no snapshot of that number.
    """
    ids = _ordered(spark, _existing(spark, table))
    if not 1 <= n <= len(ids):
        raise ArgumentError(f"{table} has no snapshot {n}; it has {len(ids)}")
    return ids[n - 1]


@checked
def current(spark: SparkSession, table: str, *, ref: str = "main") -> int | None:
    """Return the snapshot id a branch or tag points to; None when it has none yet.

    Raises:
        TableNotFound: no such table.
    """
    name = _existing(spark, table)
    refs = spark.sql(f"SELECT name, snapshot_id FROM {name}.refs").collect()
    return next((row.snapshot_id for row in refs if row.name == ref), None)


@checked
def files_read(df: DataFrame) -> int:
    """Count the data files that Spark's plan of a query reads, after all pruning.

    Iceberg decides at planning which files can have rows of the answer, so the query itself does not run. A query
    that Iceberg answers from metadata alone (a bare count) reads none.

    Args:
        df: DataFrame over Iceberg tables.

    Returns:
        int, distinct data files.

    Raises:
        ValueError: the query reads something other than Iceberg tables.
    """
    return len(reads.files(df))


def _ordered(spark: SparkSession, name: str) -> list[int]:
    """Return all snapshot ids, oldest first: by commit time, or by the parent's where a clock was behind."""
    # a number: as a datetime of this process two times could change places when its clocks are put back
    columns = "snapshot_id, parent_id, unix_micros(committed_at) AS committed_at"
    rows = spark.sql(f"SELECT {columns} FROM {name}.snapshots").collect()
    by_id = {row.snapshot_id: row for row in rows}
    refs = spark.sql(f"SELECT snapshot_id FROM {name}.refs WHERE name = 'main'").collect()
    on_main, snapshot = set(), refs[0].snapshot_id if refs else None
    while snapshot in by_id:
        on_main.add(snapshot)
        snapshot = by_id[snapshot].parent_id
    places: dict[int, tuple[int, int]] = {}

    def place(row: Row) -> tuple[int, int]:
        """Return (time, generation): a child's time is at least its parent's, its generation is above."""
        line = [row]
        while (parent := by_id.get(line[-1].parent_id)) and parent.snapshot_id not in places:
            line.append(parent)
        for entry in reversed(line):
            time, generation = places.get(entry.parent_id, (entry.committed_at, 0))
            places[entry.snapshot_id] = (max(time, entry.committed_at), generation + 1)
        return places[row.snapshot_id]

    ordered = sorted(rows, key=lambda row: (*place(row), row.snapshot_id not in on_main, row.snapshot_id))
    return [row.snapshot_id for row in ordered]


@checked
def exists(spark: SparkSession, table: str) -> bool:
    """Say whether there is a table of a name.

    A JDBC catalog of schema version 0, its default, has no views: where there is no table, Spark asks it for a
    view, and gets an error in place of an answer.

    Raises:
        ValueError: the text is not a table's name.
    """
    name = identifiers.quoted(table)
    try:
        return spark.catalog.tableExists(name)
    except Exception as error:
        if "JDBC catalog is initialized without view support" not in str(error):
            raise
        return False


@checked
def refuse_no_namespace(spark: SparkSession, table: str) -> None:
    """Refuse the name of a new table whose namespace is not there: some catalogs would make the namespace too.

    Raises:
        ValueError: it is not a table's name, or there is no such namespace.
    """
    if not spark.catalog.databaseExists(identifiers.namespace(table)):
        namespace = identifiers.spelled(identifiers.parts(table)[:-1])
        raise ArgumentError(f"{table} cannot be made: there is no namespace {namespace}")


def _existing(spark: SparkSession, table: str) -> str:
    name = identifiers.quoted(table)
    if exists(spark, table):
        return name
    parts = identifiers.parts(table)[:-1]
    if why := _refused_by_glue(spark, identifiers.parts(table)):
        raise TableNotFound(f"no table {table}; {why}")
    namespace, quoted = identifiers.spelled(parts), identifiers.joined(parts)
    if not spark.catalog.databaseExists(quoted):
        catalog = parts[0]
        known = (
            len(parts) < 2 or catalog == "spark_catalog" or spark.conf.get(f"spark.sql.catalog.{catalog}", None)
        )
        why = "" if known else f", for {catalog} is not a catalog of this session"
        raise TableNotFound(f"no table {table}; there is no namespace {namespace}{why}")
    names = [row.tableName for row in spark.sql(f"SHOW TABLES IN {quoted}").collect()]
    tables = [identifiers.spelled((*parts, name)) for name in names]
    raise TableNotFound(f"no table {table}; {namespace} has {', '.join(sorted(tables)) or 'none'}")


def _refused_by_glue(spark: SparkSession, parts: tuple[str, ...]) -> str:
    """Say why Iceberg does not ask Glue for a name that Glue may well have; empty where it does."""
    own = spark.conf.get(f"spark.sql.catalog.{parts[0]}", None)
    catalog, below = (parts[0], parts[1:]) if own else (spark.catalog.currentCatalog(), parts)
    kind, implementation, skips = (
        spark.conf.get(f"spark.sql.catalog.{catalog}.{key}", None) or ""
        for key in ("type", "catalog-impl", "glue.skip-name-validation")
    )
    if kind != "glue" and not implementation.endswith(".GlueCatalog"):
        return ""
    odd = next((part for part in below if not re.fullmatch(r"[a-z0-9_]+", part)), None)
    if odd is None or skips.lower() == "true":
        return ""
    return (
        f"{catalog} is Glue's catalog, and Iceberg asks it for names of small letters, digits and _ only, which "
        f"{odd} is not: set spark.sql.catalog.{catalog}.glue.skip-name-validation to true"
    )
