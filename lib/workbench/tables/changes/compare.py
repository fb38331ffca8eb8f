"""Values compared: which rows of two states are the same, and which belong together."""

import json
import operator
from collections.abc import Sequence
from functools import reduce

from workbench._base import identifiers, nested
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, DataType, StructType

# a frame of keys up to this size goes to every task instead of shuffling what it filters
BROADCAST_ROWS = 500_000
TWICE = "KEY_TWICE"
SHOWN_CHARACTERS = 200  # of a key's value in an error


def comparable(schema: StructType, names: Sequence[str]) -> list[Column]:
    """Return columns that Spark can compare, one for each name: a map as its sorted entries.

    Raises:
        ValueError: a column's type cannot be compared.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import MapType

    columns = []
    for name in names:
        kind, column = schema[name].dataType, F.col(identifiers.column(name))
        if isinstance(kind, MapType) and not has(kind.keyType, "map", "variant"):
            kind, column = kind.valueType, F.array_sort(F.map_entries(column))
        if has(kind, "map", "variant"):
            raise ArgumentError(f"column {name} holds {kind.simpleString()}, whose values Spark cannot compare")
        columns.append(column)
    return columns


def fingerprint(schema: StructType, names: Sequence[str]) -> Column:
    """Return a 64-bit hash of a row.

    Spark's hash passes over nulls, so that (null, 'a') and ('a', null) are alike: the places of the nulls are
    hashed too, and nested values as text, with all digits of their times: the default writes milliseconds.
    """
    from pyspark.sql import functions as F

    parts: list[Column] = []
    nulls: list[Column] = []
    for name, column in zip(names, comparable(schema, names), strict=True):
        complex_kind = schema[name].dataType.typeName() in ("struct", "array", "map")
        parts.append(F.to_json(column, nested.AS_JSON) if complex_kind else column)
        if schema[name].nullable:
            nulls.append(F.when(column.isNull(), F.lit(1 << len(nulls) % 60)).otherwise(F.lit(0)).cast("bigint"))
    places = [reduce(operator.add, nulls[n : n + 60]) for n in range(0, len(nulls), 60)]
    return F.xxhash64(*parts, *places)


def changed_keys(
    frames: Sequence[tuple[DataFrame, int | None, int | None]], schema: StructType, key: Sequence[str]
) -> tuple[DataFrame, int]:
    """Return the keys that some step changed, read from files that were rewritten with mostly the same rows.

    Args:
        frames: list of (frame, step that added these rows or None, step that removed them or None).
        schema: of the table.
        key: its columns.

    Returns:
        (DataFrame of the keys, materialised; how many). A row that a step removes and adds again adds nothing to
        its key's sum; 56 bits a row and step must collide for a change to be missed.
    """
    from pyspark.sql import functions as F

    keys, parts = [identifiers.column(name) for name in key], []
    for frame, added, removed in frames:
        row, terms = fingerprint(schema, schema.names), []
        for step, sign in ((added, 1), (removed, -1)):
            if step is not None:  # 56 bits: a hundred of them can be summed up
                terms.append(sign * F.shiftright(F.xxhash64(row, F.lit(step)), 8))
        parts.append(frame.select(*keys, reduce(operator.add, terms).alias("_sum")))
    # shuffled whole: nearly every key of a rewritten file is there twice, in two files, so that a partial
    # aggregation before the shuffle finds nothing to add up and costs more than the shuffle
    sums = union(parts).repartition(*keys).groupBy(*keys).agg(F.try_sum("_sum").alias("_sum"))
    changed = sums.where("_sum IS NULL OR _sum <> 0").select(*keys).localCheckpoint()
    return changed, changed.count()


def only(frame: DataFrame, chosen: DataFrame, count: int, on: Sequence[str]) -> DataFrame:
    """Return the rows of a frame whose `on` is in `chosen`, a frame of `count` rows."""
    from pyspark.sql import functions as F

    names = {name: f"_k{n}" for n, name in enumerate(on)}  # Spark parses the name of a frame's column once more
    chosen = chosen.select(*[F.col(identifiers.column(name)).alias(alias) for name, alias in names.items()])
    same = reduce(
        operator.and_, [F.col(identifiers.column(name)).eqNullSafe(F.col(alias)) for name, alias in names.items()]
    )
    return frame.join(F.broadcast(chosen) if count <= BROADCAST_ROWS else chosen, same, "left_semi")


def paired(rows: DataFrame, schema: StructType, key: Sequence[str]) -> DataFrame:
    """Turn removed and added rows into changes: the two of a key and step become an update, or nothing if alike.

    Args:
        rows: frame of the table's columns, `_step` and `_side` (-1 removed, 1 added).
        schema: of the table.
        key: columns that name a row.

    Returns:
        The frame with `change_type`, without rows that only moved. A key that one step removed or added twice
        raises an error with TWICE in it when the frame runs.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    values = F.struct(*[column.alias(f"c{n}") for n, column in enumerate(comparable(schema, schema.names))])
    window = Window.partitionBy("_step", *[F.col(identifiers.column(k)) for k in key])
    ordered = window.orderBy("_side")
    other = F.coalesce(F.lag("_values").over(ordered), F.lead("_values").over(ordered))
    many = F.count("*").over(window)
    removed = F.sum(F.when(F.col("_side") < 0, 1).otherwise(0)).over(window)
    twice = raised(TWICE, schema, key)
    kind = (
        F.when((F.col("_removed") > 1) | (F.col("_many") - F.col("_removed") > 1), twice)
        .when((F.col("_many") == 2) & (F.col("_side") < 0), "update_before")
        .when(F.col("_many") == 2, "update_after")
        .when(F.col("_side") < 0, "delete")
        .otherwise("insert")
    )
    frame = rows.withColumn("_values", values).withColumns({"_other": other, "_many": many, "_removed": removed})
    frame = frame.withColumn("change_type", kind)
    # a key twice must be seen before rows are dropped as alike
    kept = F.col("change_type").isin("insert", "delete") | ~F.col("_values").eqNullSafe(F.col("_other"))
    return frame.where(kept).drop("_values", "_other", "_many", "_removed", "_side")


def raised(mark: str, schema: StructType, key: Sequence[str]) -> Column:
    """Return a column that ends the query with an error, from which `raised_by` reads a row's key.

    Args:
        mark: what kind of error it is.
        schema: of the frame.
        key: columns that name a row.
    """
    from pyspark.sql import functions as F

    # JSON says itself where it ends, whatever brackets and line breaks a key has
    values = F.to_json(F.array(*shown(schema, key)))
    return F.raise_error(F.concat(F.lit(mark), values, F.lit(f" of ({', '.join(key)})")))


def shown(schema: StructType, key: Sequence[str]) -> list[Column]:
    """Return the columns of a key as texts for an error."""
    from pyspark.sql import functions as F

    values = []
    for name in key:
        column = F.col(identifiers.column(name))
        binary = schema[name].dataType.typeName() == "binary"
        text = F.concat(F.lit("X'"), F.hex(column), F.lit("'")) if binary else column.cast("string")
        values.append(F.coalesce(F.left(text, F.lit(SHOWN_CHARACTERS)), F.lit("null")))
    return values


def raised_by(error: BaseException, mark: str) -> list[str] | None:
    """Return the values of the key, texts, with which `raised` ended a query; None where it was something else."""
    _, marked, rest = str(error).partition(f"{mark}[")
    return json.JSONDecoder().raw_decode(f"[{rest}")[0] if marked else None


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of several frames of the same columns as one frame."""
    return reduce(lambda rows, frame: rows.unionAll(frame), frames)


def has(kind: DataType, *types: str) -> bool:
    """Say whether a type is, or contains, one of the types of these names."""
    inside = [getattr(kind, name) for name in ("elementType", "keyType", "valueType") if hasattr(kind, name)]
    inside += [field.dataType for field in getattr(kind, "fields", [])]
    return kind.typeName() in types or any(has(part, *types) for part in inside)
