"""What a principal sees of a table, as a DataFrame of Spark."""

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java, Judged, SparkSession, jvm
from workbench.access import conditions, statements
from workbench.access.conditions import ALWAYS
from workbench.access.deciding import HIDDEN, Decision, refuse_other_columns, refuse_other_table
from workbench.access.typing import IcebergSchema
from workbench.tables import commits

ALIAS = "governed"


@checked
def frame(spark: SparkSession, table: str, decision: Judged[Decision]) -> DataFrame:
    """Return what a principal sees of a table.

    The frame stands under an alias, because Spark resolves what a `select` has dropped: hidden columns and
    `_file` cannot be named behind it. It is no boundary for somebody who has the session: who can call
    `spark.table`, or Java, reads everything.

    Args:
        spark: classic session whose catalog holds the table.
        table: its name, or the name of a branch or a tag of it.
        decision: as `decide` returns it, for the schema that is read.

    Returns:
        DataFrame, one row a visible row: the columns that the principal sees in some row, hidden cells NULL, and
        `_hidden`, a list of the names of a row's hidden cells. Lazy.

    Raises:
        NothingVisible: the principal sees nothing of it.
        ArgumentError: it is another table than was decided on, or its columns are others by now; a column is named
            `_hidden`.
    """
    from pyspark.sql import functions as F

    columns = statements.columns_of(decision)
    commits.classic(spark)
    rows = spark.table(identifiers.quoted(table))
    read = _read(rows, table)
    refuse_other_table(decision, str(read.table().uuid().toString()))
    refuse_other_columns(decision, _schema(spark, _columns(spark, rows, read)))
    if decision.row != ALWAYS:
        rows = rows.where(F.expr(conditions.rendered(decision.row, "spark")))
    cells = [F.expr(statements.cell(column, "spark")).alias(column.name) for column in columns]
    return rows.select(*cells, F.expr(statements.hidden(decision, "spark")).alias(HIDDEN)).alias(ALIAS)


@checked
def schema(spark: SparkSession, table: str) -> IcebergSchema:
    """Return the current schema of a table, for `decide`.

    Args:
        spark: classic session whose catalog holds the table.
        table: its name, or the name of a branch or a tag of it.

    Returns:
        PyIceberg's Schema, with Iceberg's field ids.

    Raises:
        ArgumentError: no such table, or not one of Iceberg.
    """
    commits.classic(spark)
    rows = spark.table(identifiers.quoted(table))
    return _schema(spark, _columns(spark, rows, _read(rows, table)))


def _read(rows: DataFrame, table: str) -> Java:
    """Return Spark's own table object of the relation that a frame reads, as it was resolved."""
    leaves = rows._jdf.queryExecution().analyzed().collectLeaves()
    leaf = leaves.apply(0)
    if leaves.size() != 1 or leaf.getClass().getSimpleName() != "DataSourceV2Relation":
        raise ArgumentError(f"{table} is not an Iceberg table but {leaf.nodeName()}")
    if leaf.table().getClass().getName() != "org.apache.iceberg.spark.source.SparkTable":
        raise ArgumentError(f"{table} is not an Iceberg table but {leaf.table().getClass().getSimpleName()}")
    if "org.apache.iceberg.BaseMetadataTable" in _ancestors(leaf.table().table()):
        raise ArgumentError(f"{table} is a part of a table, which shows what is hidden; name the table")
    return leaf.table()


def _ancestors(value: Java) -> set[str]:
    names, kind = set(), value.getClass()
    while kind is not None:
        names.add(kind.getName())
        kind = kind.getSuperclass()
    return names


def _columns(spark: SparkSession, rows: DataFrame, read: Java) -> Java:
    """Return Iceberg's schema by which a relation is read: of a tag, or another snapshot, the one of that time."""
    loaded, snapshot_id = read.table(), read.snapshotId()
    schema = (
        jvm(spark).org.apache.iceberg.util.SnapshotUtil.schemaFor(loaded, snapshot_id)
        if snapshot_id
        else loaded.schema()
    )
    names = [column.name() for column in schema.columns()]
    if names != rows.columns:
        raise ArgumentError(f"the columns of {loaded.name()} changed while it was opened; try again")
    return schema


def _schema(spark: SparkSession, schema: Java) -> IcebergSchema:
    from pyiceberg.schema import Schema

    return Schema.model_validate_json(jvm(spark).org.apache.iceberg.SchemaParser.toJson(schema))
