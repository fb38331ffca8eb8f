"""What a principal sees of a table, as a DataFrame of Spark."""

from typing import cast

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java, Judged, SparkSession, jvm
from workbench.access import statements
from workbench.access.conditions import ALWAYS
from workbench.access.deciding import HIDDEN, Decision, refuse_other_columns, refuse_other_table
from workbench.access.typing import IcebergSchema
from workbench.tables import commits

ALIAS = "governed"
SPARK_TABLE = "org.apache.iceberg.spark.source.SparkTable"


@checked
def frame(spark: SparkSession, table: str, decision: Judged[Decision]) -> DataFrame:
    """Return what a principal sees of a table.

    The frame stands under an alias, because Spark resolves what a `select` has dropped: hidden columns and
    `_file` cannot be named behind it. It is no boundary for somebody who has the session: who can call
    `spark.table`, or Java, reads everything. Rows are chosen before a condition of the reader's is asked
    (`statements.apart`), so that no error tells of a hidden row; such conditions skip no files.

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
    refuse_other_columns(decision, _schema(spark, _columns(spark, read)))
    if decision.row != ALWAYS:
        rows = rows.where(F.expr(statements.visible_row(decision, "spark")))
    cells = [F.expr(statements.cell(column, "spark")).alias(column.name) for column in columns]
    rows = rows.select(*cells, F.expr(statements.hidden(decision, "spark")).alias(HIDDEN))
    return (rows if decision.row == ALWAYS else rows.where(statements.APART)).alias(ALIAS)


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
    return _schema(spark, _columns(spark, _read(rows, table)))


def _read(rows: DataFrame, table: str) -> Java:
    """Return Spark's own table object of the relation that a frame reads, as it was resolved."""
    leaf = rows._jdf.queryExecution().analyzed()
    while leaf.nodeName() == "SubqueryAlias":
        leaf = leaf.child()
    if leaf.getClass().getSimpleName() != "DataSourceV2Relation":  # a view may give a column another's name
        raise ArgumentError(f"{table} is not an Iceberg table but a {leaf.nodeName()}")
    kinds = _kinds(leaf.table())
    if "org.apache.iceberg" not in kinds[0]:
        raise ArgumentError(f"{table} is not an Iceberg table but of {kinds[0]}")
    if kinds[0] != SPARK_TABLE or "org.apache.iceberg.BaseMetadataTable" in _kinds(leaf.table().table()):
        raise ArgumentError(f"{table} is a part of a table, which shows what is hidden; name the table")
    return leaf.table()


def _kinds(value: Java) -> list[str]:
    """Return the names of an object's class and of those that it extends."""
    names, kind = [], value.getClass()
    while kind is not None:
        names.append(kind.getName())
        kind = kind.getSuperclass()
    return names


def _columns(spark: SparkSession, read: Java) -> Java:
    """Return Iceberg's schema by which a relation is read.

    Iceberg keeps it private, and no snapshot id tells it: the newest snapshot is read by the schema of now, and
    the same one by the schema of its own time where a tag or a time names it. Names alone must not be trusted: a
    column that was dropped and added again has the same.
    """
    kind, gateway = read.getClass(), cast("Java", spark.sparkContext._gateway)
    if "schema" in [field.getName() for field in kind.getDeclaredFields()]:
        schema = kind.getDeclaredField("schema")
        schema.setAccessible(True)
        return schema.get(read)
    no_kinds = gateway.new_array(jvm(spark).java.lang.Class, 0)  # of Iceberg 1.10, for Spark 3.5
    method = kind.getDeclaredMethod("snapshotSchema", no_kinds)
    method.setAccessible(True)
    return method.invoke(read, gateway.new_array(jvm(spark).java.lang.Object, 0))


def _schema(spark: SparkSession, schema: Java) -> IcebergSchema:
    from pyiceberg.schema import Schema

    return Schema.model_validate_json(jvm(spark).org.apache.iceberg.SchemaParser.toJson(schema))
