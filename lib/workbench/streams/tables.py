"""The table that takes the rows: whether the schema fits, and rows in its columns."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Column, DataFrame, SparkSession, StructType
from workbench.records.parsing import Format
from workbench.streams import keys, nulls
from workbench.streams.readers import sources
from workbench.tables import commits


class OtherRows(WorkbenchError, RuntimeError):
    """The rows that were written are not those that the positions were taken from."""


def checked(
    spark: SparkSession,
    table: str,
    parse: Format,
    source: sources.RecordSource,
    lineage: Collection[str],
    record_key: keys.RecordKey | None,
) -> StructType:
    """Return the table's schema, as the session knows it, where the records' columns fit it.

    Raises:
        ValueError: it has other columns, or the session writes to a branch of its own.
    """
    refuse_wap(spark)
    if unknown := sorted(set(lineage) - set(source.lineage)):
        raise ArgumentError(f"lineage has {unknown[0]}; a record has {', '.join(source.lineage)}")
    schema = spark.table(identifiers.quoted(table)).schema
    have = {field.name: field for field in schema}
    fields = parse.fields()
    if clash := sorted(set(lineage) & set(fields.names)):
        raise ArgumentError(f"{clash[0]} is a field of the records and a lineage column; it can be one of them")
    want = {field.name: (_kind(field.dataType), field.nullable) for field in fields}
    want |= {name: (source.lineage[name].lower(), False) for name in lineage}
    for name, (kind, nullable) in want.items():
        if name not in have:
            raise ArgumentError(f"{table} has no column {name}; it has {', '.join(have)}")
        if _kind(have[name].dataType) != kind:
            raise ArgumentError(
                f"column {name} of {table} is {_kind(have[name].dataType)}, the schema says {kind}"
            )
        if nullable and not have[name].nullable:
            raise ArgumentError(f"column {name} of {table} is required; the schema has to say NOT NULL")
    for field in fields:
        if inner := required_inside(have[field.name].dataType, field.dataType, field.name):
            raise ArgumentError(f"{inner} of {table} is required; the schema has to say NOT NULL")
    if missing := [name for name, field in have.items() if not field.nullable and name not in want]:
        raise ArgumentError(f"column {missing[0]} of {table} is required, and the schema does not have it")
    for name in (*record_key.columns, *([record_key.time] if record_key.time else ())) if record_key else ():
        if name not in fields.names:
            raise ArgumentError(f"the record key names {name}; the schema has {', '.join(fields.names)}")
    if record_key and record_key.time and (kind := want[record_key.time][0]) not in keys.TIMES:
        raise ArgumentError(
            f"the record key's time {record_key.time} is {kind}; it is one of {', '.join(keys.TIMES)}"
        )
    return schema


def lacking(spark: SparkSession, table: str, lineage: Collection[str], letters: bool) -> dict[str, Any]:
    """Return what becomes of records without a key or a time in a table: keyless and timed, as of chunks.Reading.

    Null, where the column allows it. A column that is required makes the record a dead letter. For a key where the
    run has no table of those it is an empty text, as it was before the two were told apart, and no run stops for
    it; for a time there is no such value.

    Args:
        spark: session.
        table: its name.
        lineage: the lineage columns that the table takes.
        letters: whether the run has a table of dead letters.
    """
    if not set(nulls.MAY_LACK).intersection(lineage):
        return {}
    commits.load(spark, table)  # its columns may have changed since the last batch
    have = {field.name: field.nullable for field in spark.table(identifiers.quoted(table)).schema}
    # what is missing is said by `checked`
    required = {name for name in nulls.MAY_LACK if name in lineage and not have.get(name, True)}
    keyless = "null" if nulls.KEY not in required else "dead" if letters else "empty"
    return {"keyless": keyless, "timed": nulls.TIME in required}


def refuse_wap(spark: SparkSession) -> None:
    """Refuse a session whose writes all go to a branch or wait for a cherry-pick."""
    for conf in ("spark.wap.branch", "spark.wap.id"):
        if (value := spark.conf.get(conf, None)) is not None:
            raise ArgumentError(f"the session has {conf} = {value}; unset it first")


def _kind(kind: Any) -> str:
    """Return a type's text, in which what may be null inside is not said: types that fit may differ in that."""
    return kind.simpleString()


def required_inside(theirs: Any, ours: Any, path: str) -> str | None:
    """Return the path of a field inside a column where the table allows no null and the schema does; else None.

    Elements and values are passed over: DDL has no words for one that is required.
    """
    if hasattr(theirs, "elementType"):
        return required_inside(theirs.elementType, ours.elementType, f"{path}.element")
    if hasattr(theirs, "valueType"):
        return required_inside(theirs.valueType, ours.valueType, f"{path}.value")
    for field, our_field in zip(getattr(theirs, "fields", ()), getattr(ours, "fields", ()), strict=True):
        inner = f"{path}.{field.name}"
        if our_field.nullable and not field.nullable:
            return inner
        if required := required_inside(field.dataType, our_field.dataType, inner):
            return required
    return None


def counted(
    spark: SparkSession,
    rows: DataFrame,
    table: str,
    schema: StructType,
    record_key: keys.RecordKey | None,
    branch: str,
    source: sources.RecordSource,
    lineage: Collection[str],
) -> tuple[DataFrame, Callable[[], int] | None]:
    """Return (rows in the table's columns, function that returns their number before duplicates were dropped).

    Args:
        spark: session.
        rows: the batch's good rows, lineage columns included.
        table: its name.
        schema: its columns.
        record_key: RecordKey or None.
        branch: of the table, on which the rows are staged; None without a record key.
        source: Source.
        lineage: the lineage columns that the table takes.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    count_before = None
    if record_key is not None:
        earliest = keys.since(rows, record_key)  # before the count begins: this runs the rows too
        observation = Observation()
        rows = rows.observe(observation, F.count(F.lit(1)).alias("rows"))
        # the order of arrival, under names that no column of the table has
        order = {f"_order_{n}": name for n, name in enumerate(source.order)}
        rows = rows.withColumns({new: F.col(old) for new, old in order.items()})
        rows = rows.drop(*(set(order.values()) - set(lineage)))
        rows = keys.once(spark, rows, table, branch, record_key, list(order), earliest)

        def before() -> int:
            return observation.get["rows"]

        count_before = before
    return rows.select(*in_columns_of(schema, rows.columns)), count_before


def in_columns_of(schema: Iterable[Any], names: Collection[str]) -> list[Column]:
    """Return a Column for each of a table's columns, null where rows with columns of these names lack it."""
    from pyspark.sql import functions as F

    return [
        F.col(identifiers.column(field.name))
        if field.name in names
        else F.lit(None).cast(field.dataType).alias(field.name)
        for field in schema
    ]


def same(read: int, written: int) -> None:
    """Raise OtherRows unless as many rows were written as were read."""
    if read != written:
        raise OtherRows(f"{read} good records were read, and {written} came to be written")
