"""The matrix as an Iceberg table, a row a cell and versions, so that those of two versions can be compared."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from workbench._base import arguments, identifiers, releases
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession
from workbench.tables import snapshots
from workbench.tables.commits.errors import first_line
from workbench_proofs.conflicts.cells import COLUMNS
from workbench_proofs.conflicts.runs import Result

_SCHEMA = (
    "first STRING, second STRING, isolation STRING, partition STRING, mode STRING, outcome STRING, "
    "error_class STRING, message STRING, rows INT, equal_to STRING, orders STRING, spark STRING, iceberg STRING"
)
_VERSIONS = ("spark", "iceberg")
_OUTCOME = ("outcome", "error_class", "equal_to", "rows")


@checked
def save(spark: SparkSession, table: str, results: Iterable[Result]) -> int:
    """Keep results in a table, made when missing; a cell that is there for the same versions is replaced.

    Args:
        spark: session whose catalog holds the table.
        table: `namespace.name`; its namespace is made too.
        results: iterable of Result.

    Returns:
        int, how many were given.

    Raises:
        ValueError: an argument is wrong, the table is another one, or a cell is among the results twice for one
            pair of versions; nothing was made.
    """
    name = _named(spark, table)
    rows = [asdict(result) for result in arguments.each("results", results, Result, "what conflicts.run gives")]
    keys = [tuple(row[part] for part in (*COLUMNS, *_VERSIONS)) for row in rows]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise ArgumentError(
            f"the cell {'/'.join(part or '-' for part in twice)} is in the results twice, expected each cell once"
        )
    new = _frame(spark, rows)
    _refuse_another(spark, table)
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {identifiers.namespace(table)}")
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name} ({_SCHEMA}) USING iceberg")
    if rows:
        from pyspark.sql import functions as F

        same = " AND ".join(f"{name}.{part} <=> new.{part}" for part in (*COLUMNS, *_VERSIONS))
        merging = releases.merge_into(new, name, F.expr(same))
        merging.whenMatched().updateAll().whenNotMatched().insertAll().merge()
    return len(rows)


@checked
def compare(spark: SparkSession, table: str, before: str | Sequence[str], after: str | Sequence[str]) -> DataFrame:
    """Compare the matrices of two versions.

    Args:
        spark: session whose catalog holds the table.
        table: `namespace.name`, as `save` made it.
        before: Iceberg's version, or (Spark's, Iceberg's).
        after: the other one.

    Returns:
        DataFrame, one row a cell that is not the same, sorted: the cell's columns, and outcome, error_class,
        equal_to and rows each with `_before` and `_after`; nulls where one of them has no such cell. Lazy.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, the table is another one, or it has no cell of one of the versions.
    """
    from pyspark.sql import functions as F

    _named(spark, table)
    _version("before", before)
    _version("after", after)
    if not snapshots.exists(spark, table):
        snapshots.current(spark, table)  # says which tables there are
    _refuse_another(spark, table)
    rows, others = _of(spark, table, before).alias("b"), _of(spark, table, after).alias("a")
    same = F.expr(" AND ".join(f"b.{part} <=> a.{part}" for part in COLUMNS))
    cell = [F.coalesce(f"b.{part}", f"a.{part}").alias(part) for part in COLUMNS]
    outcomes = [F.col(f"{side}.{part}").alias(f"{part}_{name}")
                for part in _OUTCOME for side, name in (("b", "before"), ("a", "after"))]  # fmt: skip
    differ = F.expr(" OR ".join(f"NOT (b.{part} <=> a.{part})" for part in _OUTCOME))
    return rows.join(others, same, "full").where(differ).select(*cell, *outcomes).orderBy(*COLUMNS)


def _named(spark: SparkSession, table: str) -> str:
    """Return the quoted name of a table; refuses what is not a session."""
    if not callable(getattr(spark, "table", None)):
        raise ArgumentError(f"spark is {type(spark).__name__}, expected a Spark session")
    return identifiers.quoted(table)


def _frame(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    """Return rows as a frame; refuses a result that was made by hand with values of other kinds."""
    try:
        return spark.createDataFrame(rows, _SCHEMA).alias("new")
    except Exception as error:
        raise ArgumentError(f"a result has a value of the wrong type: {first_line(error)}") from error


def _refuse_another(spark: SparkSession, table: str) -> None:
    """Refuse a table that is not a matrix; where there is none, nothing is refused."""
    name, expected = identifiers.quoted(table), _SCHEMA.lower().split(", ")
    try:
        schema = spark.table(name).schema
    except Exception:  # there is none; if it is something else, the next statement says so
        return
    columns = [f"{field.name} {field.dataType.simpleString()}" for field in schema]
    if sorted(columns) != sorted(expected):
        raise ArgumentError(
            f"{table} is not a matrix: it has {', '.join(columns)}; a matrix has {', '.join(expected)}"
        )
    try:
        spark.sql(f"SELECT * FROM {name}.refs").schema  # noqa: B018 - asks for it
    except Exception as error:
        raise ArgumentError(f"{table} is not an Iceberg table: {first_line(error)}") from error


def _version(name: str, value: str | Sequence[str]) -> None:
    """Refuse what is neither a version nor a pair of them."""
    if not isinstance(value, str) and len(value) != 2:
        raise ArgumentError(f"{name} is {value!r}, expected Iceberg's version, or (Spark's, Iceberg's)")


def _of(spark: SparkSession, table: str, version: str | Sequence[str]) -> DataFrame:
    """Return the rows of a version, refused when there are none."""
    engine, iceberg = (None, version) if isinstance(version, str) else version
    matrix = spark.table(identifiers.quoted(table))
    rows = matrix.where(matrix.iceberg == iceberg)
    if engine is not None:
        rows = rows.where(matrix.spark == engine)
    if rows.isEmpty():
        versions = matrix.select("spark", "iceberg").distinct().orderBy("spark", "iceberg").collect()
        raise ArgumentError(
            f"{table} has no cells of {version}; there are "
            + (", ".join(f"Spark {row.spark} with Iceberg {row.iceberg}" for row in versions) or "none")
        )
    return rows
