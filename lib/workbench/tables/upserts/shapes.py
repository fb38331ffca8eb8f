"""What a table and its updates must be to be merged: columns, types, isolation."""

from dataclasses import dataclass

from workbench._base import arguments, identifiers
from workbench._base.errors import ArgumentError
from workbench.tables import commits

KINDS = ("upsert", "delete")  # of operations
OPERATIONS = {"I": "upsert", "U": "upsert", "D": "delete"}
_ISOLATION = "write.merge.isolation-level"
_NO_KEYS = ("array", "map", "struct", "variant", "float", "double")
_ORDERED = ("byte", "short", "integer", "long", "decimal", "date", "timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class Shape:
    """What is merged into what.

    Attributes:
        table: its name.
        columns: its columns, name to Spark type.
        key, sequence: names among them.
        operation: column of the updates, or None.
        operations: what it may hold, each `upsert` or `delete`.
        deleted: name among the columns, or None.
    """

    table: str
    columns: dict
    key: tuple[str, ...]
    sequence: tuple[str, ...]
    operation: str | None
    operations: dict
    deleted: str | None

    @property
    def given(self):
        """The columns that updates bring: all but the one that is made of the operation."""
        return [name for name in self.columns if name != self.deleted]

    @property
    def values(self):
        """The columns that are neither key nor sequence nor the mark of a deleted row."""
        return [name for name in self.given if name not in (*self.key, *self.sequence)]


def of(spark, table, updates, *, key, sequence, operation, operations, deleted):
    """Return the Shape of a merge; reads metadata only.

    Raises:
        ValueError: something does not fit; the message says what is expected and there.
    """
    given = roles(key=key, sequence=sequence, operation=operation, operations=operations, deleted=deleted)
    loaded = commits.load(spark, table)
    _check_frame(updates)
    level = loaded.properties().get(_ISOLATION)
    if level is not None and level.lower() != "serializable":  # Iceberg reads it in any case
        loose = level.lower() == "snapshot"
        why = "with which two merges at once both insert a new key" if loose else "which Iceberg does not know"
        raise ArgumentError(f"{table} has {_ISOLATION} {level!r}, {why}; it must be serializable")
    columns = {field.name: field.dataType for field in spark.table(identifiers.quoted(table)).schema}
    shape = Shape(table, columns, **given)
    _check_columns(shape)
    _check_updates(spark, shape, updates)
    return shape


def roles(*, key, sequence, operation, operations, deleted):
    """Return what the columns of a merge are to it, as it is kept in a Shape; looks at no table.

    Raises:
        ValueError: something is of another kind, or does not go together.
    """
    key, sequence = _names("key", key), _names("sequence", sequence)
    for name, value in (("operation", operation), ("deleted", deleted)):
        if value is not None:
            arguments.text(name, value, "the name of a column, or None")
    named = [*key, *sequence, *([deleted] if deleted else [])]
    if not key or not sequence or len(set(named)) < len(named):
        raise ArgumentError(
            f"key and sequence are different columns, one or more each, and not deleted's; here they are "
            f"{key}, {sequence} and {deleted}"
        )
    if (operation is None) != (deleted is None):
        raise ArgumentError("operation and deleted go together: without a marked row a delete could not last")
    operations = arguments.entries("operations", operations, f"what each word does, {' or '.join(KINDS)}")
    if wrong := sorted(set(operations.values()) - set(KINDS)):
        raise ArgumentError(f"an operation is upsert or delete, not {wrong[0]!r}")
    if operation is not None and not operations:
        raise ArgumentError(f"operations says of no word what it does, and operation is {operation}")
    found = {"key": key, "sequence": sequence, "operation": operation}
    return found | {"operations": operations, "deleted": deleted}


def _names(role, columns):
    columns = (columns,) if isinstance(columns, str) else arguments.texts(role, columns, "names of columns")
    for name in columns:
        arguments.text(role, name, "the name of a column, or several")
    return columns


def _check_frame(updates):
    if not hasattr(updates, "_jdf"):
        there = f"{type(updates).__module__}.{type(updates).__qualname__}".removeprefix("builtins.")
        raise ArgumentError(f"updates is {there}, expected a DataFrame of a classic Spark session")
    if updates.isStreaming:
        raise ArgumentError("updates are a stream; upserts.each_batch merges its batches, by foreachBatch")


def _check_columns(shape):
    for name in shape.columns:
        identifiers.in_sql(name)  # a merge parses the names that it fills once more
    named = [*shape.key, *shape.sequence, *([shape.deleted] if shape.deleted else [])]
    if unknown := [name for name in named if name not in shape.columns]:
        raise ArgumentError(f"{shape.table} has no column {unknown[0]}; it has {', '.join(shape.columns)}")
    for name in shape.key:
        if (kind := shape.columns[name]).typeName() in _NO_KEYS:
            raise ArgumentError(f"{name} is {kind.simpleString()}: such values cannot name a row")
    for name in shape.sequence:
        if (kind := shape.columns[name]).typeName() not in _ORDERED:
            raise ArgumentError(
                f"{name} is {kind.simpleString()}; a sequence is an exact number, a date or a timestamp "
                "('10' is less than '9' as text)"
            )
    if shape.deleted and (kind := shape.columns[shape.deleted].typeName()) != "boolean":
        raise ArgumentError(f"{shape.deleted} is {kind}; the column that marks deleted rows is boolean")


def _check_updates(spark, shape, updates):
    there, extra = updates.schema, {shape.operation} if shape.operation else set()
    wanted = [*shape.given, *sorted(extra - set(shape.given))]
    if sorted(there.names) != sorted(wanted):
        raise ArgumentError(
            f"updates for {shape.table} have the columns {', '.join(there.names)}; expected {', '.join(wanted)}"
        )
    for name in shape.given:
        found, expected = there[name].dataType, shape.columns[name]
        if not _fits(spark, found, expected):
            raise ArgumentError(
                f"{name} is {found.simpleString()} in the updates and {expected.simpleString()} in "
                f"{shape.table}; cast it before, so that nothing is lost unseen"
            )


# casts that Spark calls safe: the first ones lose digits, the others depend on the session's time zone
_LOSES = {
    ("bigint", "double"), ("bigint", "float"), ("int", "float"),
    ("timestamp", "timestamp_ntz"), ("timestamp_ntz", "timestamp"), ("date", "timestamp"),
}  # fmt: skip


def _fits(spark, found, expected):
    """Say whether each value of a type is one of another too."""
    java = spark._jvm.org.apache.spark.sql
    one, other = (java.types.DataType.fromJson(kind.json()) for kind in (found, expected))
    safe = java.catalyst.expressions.Cast.canUpCast(one, other)
    return found == expected or (safe and not _loses(found, expected))


def _loses(found, expected):
    """Say whether a cast that Spark calls safe loses something; one value has more than one way to be a text."""
    for part in ("elementType", "keyType", "valueType"):
        if hasattr(found, part) and _loses(getattr(found, part), getattr(expected, part)):
            return True
    if hasattr(found, "fields"):
        pairs = zip(found.fields, expected.fields, strict=True)
        return any(_loses(one.dataType, other.dataType) for one, other in pairs)
    one, other = found.simpleString(), expected.simpleString()
    return (one, other) in _LOSES or (other == "string" and one not in ("string", "void"))
