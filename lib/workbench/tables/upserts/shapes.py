"""What a table and its updates must be to be merged: columns, types, isolation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from workbench._base import arguments, identifiers
from workbench._base.bounds import MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, DataType, SparkSession, jvm
from workbench.tables import commits

Name = Annotated[str, MinLen(1)]
Effect = Literal["upsert", "delete"]
KINDS = ("upsert", "delete")  # of operations
OPERATIONS: Mapping[str, Effect] = {"I": "upsert", "U": "upsert", "D": "delete"}
_ISOLATION = "write.merge.isolation-level"
_NO_KEYS = ("array", "map", "struct", "variant", "float", "double")
_ORDERED = ("byte", "short", "integer", "long", "decimal", "date", "timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class Shape:
    """The table of a merge, and the roles of its columns.

    Attributes:
        table: its name.
        columns: its columns, name to Spark type.
        key, sequence: names among them.
        operation: column of the updates, or None.
        operations: what it may hold, each `upsert` or `delete`.
        deleted: name among the columns, or None.
    """

    table: str
    columns: Mapping[str, DataType]
    key: tuple[str, ...]
    sequence: tuple[str, ...]
    operation: str | None
    operations: Mapping[str, Effect]
    deleted: str | None

    @property
    def given(self) -> list[str]:
        """The columns that updates have: all but `deleted`, which is made from the operation."""
        return [name for name in self.columns if name != self.deleted]

    @property
    def values(self) -> list[str]:
        """The columns that are neither key nor sequence nor `deleted`."""
        return [name for name in self.given if name not in (*self.key, *self.sequence)]


@checked  # the tables of a stream are looked at by it, too
def of(
    spark: SparkSession,
    table: str,
    updates: DataFrame,
    *,
    key: str | Iterable[Any],
    sequence: str | Iterable[Any],
    operation: Name | None,
    operations: Mapping[str, Effect],
    deleted: Name | None,
) -> Shape:
    """Return the Shape of a merge; reads metadata only.

    Raises:
        ValueError: the table, the updates and the roles do not fit; the message says what is expected and there.
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


def roles(
    *,
    key: str | Iterable[Any],
    sequence: str | Iterable[Any],
    operation: str | None,
    operations: Mapping[str, Effect],
    deleted: str | None,
) -> dict[str, Any]:
    """Return the roles of the columns in a merge, as fields of a Shape; looks at no table.

    Raises:
        ValueError: the roles contradict each other, or a key or sequence is not the name of a column.
    """
    key, sequence = _names("key", key), _names("sequence", sequence)
    named = [*key, *sequence, *([deleted] if deleted else [])]
    if not key or not sequence or len(set(named)) < len(named):
        raise ArgumentError(
            f"key, sequence and deleted must be different columns, key and sequence at least one each; "
            f"found {key}, {sequence} and {deleted}"
        )
    if (operation is None) != (deleted is None):
        raise ArgumentError(
            "operation needs deleted, and deleted needs operation: a delete lasts only as a marked row"
        )
    if operation is not None and not operations:
        raise ArgumentError(f"operations is empty, expected what each value of {operation} does")
    columns = {"key": key, "sequence": sequence, "operation": operation, "deleted": deleted}
    return columns | {"operations": operations}


def _names(role: str, columns: str | Iterable[Any]) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else arguments.texts(role, columns, "names of columns")
    if "" in names:
        raise ArgumentError(f"{role} holds an empty text, expected the name of a column, or several")
    return names


def _check_frame(updates: DataFrame) -> None:
    if not hasattr(updates, "_jdf"):
        actual = f"{type(updates).__module__}.{type(updates).__qualname__}".removeprefix("builtins.")
        raise ArgumentError(f"updates is {actual}, expected a DataFrame of a classic Spark session")
    if updates.isStreaming:
        raise ArgumentError("updates are a stream; upserts.each_batch merges its batches, by foreachBatch")


def _check_columns(shape: Shape) -> None:
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
    if shape.deleted and shape.columns[shape.deleted].typeName() != "boolean":
        kind = shape.columns[shape.deleted]
        raise ArgumentError(f"{shape.deleted} is {kind.typeName()}; the column that marks deleted rows is boolean")


def _check_updates(spark: SparkSession, shape: Shape, updates: DataFrame) -> None:
    schema, extra = updates.schema, {shape.operation} if shape.operation else set()
    names = [*shape.given, *sorted(extra - set(shape.given))]
    if sorted(schema.names) != sorted(names):
        raise ArgumentError(
            f"updates for {shape.table} have the columns {', '.join(schema.names)}; expected {', '.join(names)}"
        )
    for name in shape.given:
        actual, expected = schema[name].dataType, shape.columns[name]
        if not _fits(spark, actual, expected):
            raise ArgumentError(
                f"{name} is {actual.simpleString()} in the updates and {expected.simpleString()} in "
                f"{shape.table}; cast it first, so that no value is lost silently"
            )


# casts that Spark calls safe: the first ones lose digits, the others depend on the session's time zone
_LOSES = {
    ("bigint", "double"), ("bigint", "float"), ("int", "float"),
    ("timestamp", "timestamp_ntz"), ("timestamp_ntz", "timestamp"), ("date", "timestamp"),
}  # fmt: skip


def _fits(spark: SparkSession, actual: DataType, expected: DataType) -> bool:
    """Say whether every value of a type is also a value of the other."""
    java = jvm(spark).org.apache.spark.sql
    source, target = (java.types.DataType.fromJson(kind.json()) for kind in (actual, expected))
    safe = java.catalyst.expressions.Cast.canUpCast(source, target)
    return actual == expected or (safe and not _loses(actual, expected))


def _loses(actual: DataType, expected: DataType) -> bool:
    """Say whether a cast that Spark calls safe loses something, as any to a text: a value has several texts."""
    from pyspark.sql.types import StructType

    for part in ("elementType", "keyType", "valueType"):
        if hasattr(actual, part) and _loses(getattr(actual, part), getattr(expected, part)):
            return True
    if isinstance(actual, StructType) and isinstance(expected, StructType):
        pairs = zip(actual.fields, expected.fields, strict=True)
        return any(_loses(source.dataType, target.dataType) for source, target in pairs)
    source, target = actual.simpleString(), expected.simpleString()
    return (source, target) in _LOSES or (target == "string" and source not in ("string", "void"))
