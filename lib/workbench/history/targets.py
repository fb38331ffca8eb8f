"""The table that a history is written to: its columns, and what is added when the source gets more."""

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.tables import commits, snapshots

COLUMNS = {
    "valid_from": "timestamp",
    "valid_to": "timestamp",
    "is_current": "boolean",
    "version": "int",
    "change_ordinal": "int",
}


def load(spark, target):
    """Return the target's handle, None where there is none yet."""
    if snapshots.exists(spark, target):
        return commits.load(spark, target)
    try:
        spark.table(identifiers.quoted(target))
    except Exception:
        return None
    raise ArgumentError(f"{target} is a view; a history is written to a table")


def full_name(spark, target):
    """Return a target's name with its catalog, so that two spellings of it are one."""
    parts = identifiers.parts(target)
    named = spark.conf.get(f"spark.sql.catalog.{parts[0]}", None)
    return identifiers.spelled(parts if named else (spark.catalog.currentCatalog(), *parts))


def fit(spark, target, goal, schema, table, before):
    """Refuse a target whose columns are not the history's; add those that are new in the source.

    Raises:
        ValueError: a column is missing, too many or of another type, or has a default that the target cannot have.
    """
    name = identifiers.quoted(target)
    wanted = {field.name: field.dataType.simpleString() for field in schema.fields} | COLUMNS
    there = {field.name: field.dataType.simpleString() for field in spark.table(name).schema.fields}
    for column, kind in there.items():
        if column not in wanted:
            raise ArgumentError(f"{target} has a column {column}, which the history has not: {', '.join(wanted)}")
        if wanted[column] != kind:
            raise ArgumentError(f"column {column} of {target} is {kind}, and has to be {wanted[column]}")
    missing = [column for column in wanted if column not in there]
    if not missing:
        return
    if before is None or set(missing) & {*before.columns, *COLUMNS}:
        raise ArgumentError(
            f"{target} has no column {missing[0]}; a history of this source has {', '.join(wanted)}"
        )
    fields = [table.schema().findField(column) for column in missing]
    if goal.operations().current().formatVersion() < 3 and any(one.initialDefault() is not None for one in fields):
        raise ArgumentError(
            f"column {missing[0]} has a default, which {target} of format 2 cannot have: upgrade it to 3"
        )

    def add():
        update = commits.load(spark, target).updateSchema()
        for one in fields:
            default = (one.initialDefaultLiteral(),) if one.initialDefault() is not None else ()
            # no parent: a name with a dot in it is a column's own
            update = update.addColumn(None, one.name(), one.type(), one.doc(), *default)
        update.commit()

    def added():
        there = commits.columns_of(commits.load(spark, target))
        return target if set(missing) <= set(there) else None

    commits.attempt(add, landed=added, conditional=True)
    spark.catalog.refreshTable(name)
