"""The table that a history is written to: its columns, and what is added when the source gets more."""

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession, StructType
from workbench.history.positions import Position
from workbench.tables import commits, snapshots

COLUMNS = {
    "valid_from": "timestamp",
    "valid_to": "timestamp",
    "is_current": "boolean",
    "version": "int",
    "change_ordinal": "int",
}


def load(spark: SparkSession, target: str) -> Java | None:
    """Return Iceberg's own object of the target; None where there is no such table yet."""
    if snapshots.exists(spark, target):
        return commits.load(spark, target)
    try:
        spark.table(identifiers.quoted(target))
    except Exception:
        return None
    raise ArgumentError(f"{target} is a view; a history is written to a table")


def full_name(spark: SparkSession, target: str) -> str:
    """Return a target's name with its catalog, so that two spellings of it are one."""
    parts = identifiers.parts(target)
    named = spark.conf.get(f"spark.sql.catalog.{parts[0]}", None)
    return identifiers.spelled(parts if named else (spark.catalog.currentCatalog(), *parts))


def fit(
    spark: SparkSession, target: str, goal: Java, schema: StructType, table: Java, before: Position | None
) -> None:
    """Refuse a target whose columns are not the history's; add those that are new in the source.

    Raises:
        ValueError: a column is missing, too many or of another type, or has a default that the target cannot have.
    """
    name = identifiers.quoted(target)
    expected = {field.name: field.dataType.simpleString() for field in schema.fields} | COLUMNS
    actual = {field.name: field.dataType.simpleString() for field in spark.table(name).schema.fields}
    for column, kind in actual.items():
        if column not in expected:
            raise ArgumentError(
                f"{target} has a column {column}, which this history does not have; it has {', '.join(expected)}"
            )
        if expected[column] != kind:
            raise ArgumentError(f"column {column} of {target} is {kind}, and has to be {expected[column]}")
    missing = [column for column in expected if column not in actual]
    if not missing:
        return
    if before is None or set(missing) & {*before.columns, *COLUMNS}:
        raise ArgumentError(
            f"{target} has no column {missing[0]}; a history of this source has {', '.join(expected)}"
        )
    fields = [table.schema().findField(column) for column in missing]
    if goal.operations().current().formatVersion() < 3 and any(
        field.initialDefault() is not None for field in fields
    ):
        raise ArgumentError(
            f"column {missing[0]} has a default, which {target} of format 2 cannot have: upgrade it to 3"
        )

    def add() -> None:
        update = commits.load(spark, target).updateSchema()
        for field in fields:
            default = (field.initialDefaultLiteral(),) if field.initialDefault() is not None else ()
            # no parent: a name with a dot in it is a column's own
            update = update.addColumn(None, field.name(), field.type(), field.doc(), *default)
        update.commit()

    def added() -> str | None:
        actual = commits.columns_of(commits.load(spark, target))
        return target if set(missing) <= set(actual) else None

    commits.attempt(add, landed=added, conditional=True)
    spark.catalog.refreshTable(name)
