"""What changed between two snapshots of a table: a row a change, by three back-ends that give the same answer.

*Changelog view*: Iceberg's own procedure; copy-on-write only, sorts all rows of all rewritten files. *Difference*:
reads the files that each commit added, removed or deleted rows in, and compares rows by key; any table. *Row
lineage*: as difference, but format 3 says itself which rows of a rewritten file are new, so that nothing is
compared to find out. See docs/history.md.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession, StructType
from workbench.tables import commits
from workbench.tables.changes import compare, files, lineage, ranges, sources
from workbench.tables.changes.ranges import Bound, HistoryExpired, Range

BACK_ENDS = ("row lineage", "snapshot diff", "changelog view")  # cheapest first
BackEnd = Literal["auto", "row lineage", "snapshot diff", "changelog view"]
COLUMNS = ("change_type", "change_ordinal", "commit_snapshot_id", "commit_time")

__all__ = ["BACK_ENDS", "COLUMNS", "BackEnd", "Bound", "HistoryExpired", "back_ends", "between"]


@checked
def between(
    spark: SparkSession,
    table: str,
    *,
    key: str | Sequence[str],
    start: Bound = None,
    end: Bound = None,
    back_end: BackEnd = "auto",
    net: bool = False,
    before_images: bool = True,
    compared: bool = True,
) -> DataFrame:
    """Return what changed in a table after one snapshot up to and with another, one row a change.

    Rows are matched by key and compared by value: a commit that wrote a row again as it was (compaction, a file
    rewritten for its neighbours, an update to the same values) changed nothing. Only main counts. Rows have the
    columns that the table has now; where a column did not exist yet it is null.

    Args:
        spark: session whose catalog holds the table; a classic one, not Spark Connect.
        table: `namespace.name`.
        key: column or columns that name a row; unique in every snapshot.
        start: state to start from, exclusive: snapshot id, or datetime (UTC when naive), which means the state at
            that time; None for the beginning, so that the first rows are inserts.
        end: state to end with, inclusive, likewise; None for main's newest.
        back_end: "row lineage", "snapshot diff", "changelog view", or "auto": the cheapest that works.
        net: whether to return only what differs between the two states, as if one commit had done all of it.
        before_images: whether to return a row `update_before` with each `update_after`.
        compared: False spares reading what an updated row was before, where row lineage allows it: rows that were
            written again as they were may then be among the updates, and where an update changed a key, the
            delete of the old one is missing. Only without before-images.

    Returns:
        DataFrame of the table's columns, then change_type (string: insert, update_before, update_after, delete;
        before-images and deletes have the old values), change_ordinal (int: 0, 1, 2 … for the commits of the range
        in main's order, as in Iceberg's changelog: a compaction has none, a commit without changes has one),
        commit_snapshot_id (long), commit_time (timestamp, the writer's clock). In no order. Snapshots are planned,
        and for copy-on-write tables the keys or rows that changed are found, at the call; the rest is lazy. Reads
        the files that the commits touched. A key that one commit wrote twice raises an error when the frame runs,
        as far as updates and deletes go; rows that were only added are not compared.

    Raises:
        HistoryExpired: a bound is not an ancestor of main: expired, rolled back, or on a branch.
        ValueError: a column is not there, the bounds are in the wrong order, or the range does not allow the
            back-end; the message names those that it allows.
    """
    rows, _ = tracked(
        spark, table, key=key, start=start, end=end, back_end=back_end,
        net=net, before_images=before_images, compared=compared,
    )  # fmt: skip
    return rows


@checked
def back_ends(
    spark: SparkSession, table: str, *, start: Bound = None, end: Bound = None, net: bool = False
) -> tuple[str, ...]:
    """Return the names of the back-ends that a range allows, cheapest first; arguments as of `between`."""
    span = ranges.resolve(spark, table, start, end)
    return tuple(_allowed(span, spark.table(identifiers.quoted(table)).schema, net))


def tracked(
    spark: SparkSession,
    table: str,
    *,
    key: str | Sequence[str],
    start: Bound,
    end: Bound,
    back_end: BackEnd,
    net: bool = False,
    before_images: bool = True,
    compared: bool = True,
    truncated: bool = False,
    together: Sequence[int] = (),
) -> tuple[DataFrame, Callable[[], None]]:
    """Return (the frame of `between`, the function that releases the files it reads, once it has run).

    With `truncated` a beginning that was expired is replaced by the oldest state that remains, as if inserted. The
    snapshots of `together` are taken as one commit with the next that changes rows.
    """
    name = identifiers.quoted(table)
    key = [key] if isinstance(key, str) else list(key)
    if before_images and not compared:
        raise ArgumentError(
            "rows that are not compared have no before-images: compared=False needs before_images=False"
        )
    span = ranges.resolve(spark, table, start, end, truncated=truncated, together=together)
    schema = spark.table(name).schema
    check_columns(table, schema, key)
    allowed = _allowed(span, schema, net)
    if back_end not in ("auto", *allowed):
        raise ArgumentError(
            f"{table} cannot be read by {back_end} from {start} to {end}: {_why(span, schema, net, back_end)}; "
            f"{' and '.join(allowed)} can"
        )
    chosen = allowed[0] if back_end == "auto" else back_end
    reader = files.Reader(spark, span.table)
    if chosen == "changelog view":
        rows = _by_view(spark, span, schema, key, net)
    else:
        rows = _by_files(spark, span, schema, key, net, chosen, compared, reader)
    if not before_images:
        rows = rows.where("change_type <> 'update_before'")
    return _labelled(rows, span, schema, net), reader.release


def check_columns(table: str, schema: StructType, key: Sequence[str]) -> None:
    """Refuse a key that cannot name rows, and a table whose columns have names that changes use.

    Raises:
        ValueError: the message names the column.
    """
    if not key or len(set(key)) < len(key):
        raise ArgumentError(f"a key is one column or several different ones, not {list(key)}")
    if unknown := [name for name in key if name not in schema.names]:
        raise ArgumentError(f"{table} has no column {unknown[0]}; it has {', '.join(schema.names)}")
    # whatever the letters' case: Spark takes Change_Type and change_type for one name
    if taken := [name for name in schema.names if name.lower() in COLUMNS or name.startswith("_")]:
        raise ArgumentError(
            f"{table} has a column {taken[0]}; this name is reserved for changes or for Iceberg itself"
        )
    for name in key:
        if schema[name].dataType.typeName() in ("array", "map", "struct", "variant", "float", "double"):
            raise ArgumentError(f"{name} is {schema[name].dataType.simpleString()}: such values cannot name a row")
    compare.comparable(schema, schema.names)


def _allowed(span: Range, schema: StructType, net: bool) -> list[str]:
    return [name for name in BACK_ENDS if not _why(span, schema, net, name)]


def _why(span: Range, schema: StructType, net: bool, back_end: str) -> str:
    """Return why a range does not allow a back-end; empty when it does."""
    if span.together and back_end != "snapshot diff":
        return "it sees each commit apart, and some are to be taken together"
    if back_end == "row lineage":
        version = span.table.operations().current().formatVersion()
        if version < 3:
            return f"it has format {version}, and row lineage begins with 3"
        states = ([span.start] if span.start is not None else []) + list(span.snapshots)
        if any(snapshot.firstRowId() is None for snapshot in states):
            return "some of its snapshots were written before it had row lineage"
    if back_end == "changelog view":
        maps = [field.name for field in schema.fields if compare.has(field.dataType, "map")]
        for field in schema.fields:
            # apache/iceberg#18211, seen in 1.11.0 and 1.12.0: rows that only moved become changes
            if compare.has(field.dataType, "binary"):
                return f"it takes equal bytes for different ones, and {field.name} holds bytes"
            if compare.has(field.dataType, "array", "map") and compare.has(field.dataType, "float", "double"):
                return f"it takes each NaN within an array or map for another one, and {field.name} may hold them"
        if net and maps:
            return f"net changes are sorted there by all columns, and {maps[0]} holds a map, which has no order"
        if span.truncated:
            return "its beginning was expired, and a changelog has no state to begin with"
        for snapshot, step in zip(span.snapshots, span.steps, strict=True):
            if step.ordinal is not None and not snapshot.deleteManifests(span.table.io()).isEmpty():
                return "a changelog scan refuses snapshots with delete files, which merge-on-read writes"
    return ""


def _by_files(
    spark: SparkSession,
    span: Range,
    schema: StructType,
    key: Sequence[str],
    net: bool,
    chosen: str,
    compared: bool,
    reader: files.Reader,
) -> DataFrame:
    """Return changes with `_step`, by difference or lineage."""
    snapshots = ([span.snapshots[-1]] if net else list(span.snapshots)) if span.snapshots else []
    states = [files.state(span.table, snapshot) for snapshot in [span.start, *snapshots]]
    if net:
        changing = {0} if any(step.ordinal is not None for step in span.steps) else set()
    else:
        changing = {n for n, step in enumerate(span.steps) if step.ordinal is not None}
    touched = files.touched(states, changing)
    additions = sources.plain_additions(reader, touched)
    others = sources.deleted(reader, touched.deleted, changing) if touched.deleted else []
    alone: list[DataFrame] = []
    if touched.removed and chosen == "row lineage":
        began = span.start.sequenceNumber() if span.start is not None else 0
        rows, alone = lineage.rewritten(reader, touched, _limits(span, net), began, compared=compared)
        others += rows
    elif touched.removed:
        others += sources.by_difference(reader, touched, schema, key)
    return _together(spark, schema, key, additions, others, alone, touched)


def _together(
    spark: SparkSession,
    schema: StructType,
    key: Sequence[str],
    additions: Sequence[tuple[int, DataFrame]],
    others: Sequence[DataFrame],
    alone: Sequence[DataFrame],
    touched: files.Touched,
) -> DataFrame:
    """Pair removed with added rows; additions of steps that deleted nothing are inserts; `alone` is not paired."""
    from pyspark.sql import functions as F

    names = [identifiers.column(name) for name in schema.names]
    deleting = {step for life in touched.deleted for step, _ in life}
    inserts = [frame for step, frame in additions if step not in deleting]
    both = [*others, *(frame for step, frame in additions if step in deleting)]
    frames = [frame.select(*names, "_step", F.lit("insert").alias("change_type")) for frame in inserts]
    kind = F.when(F.col("_old"), "update_after").otherwise("insert").alias("change_type")
    frames += [frame.select(*names, "_step", kind) for frame in alone]
    if both:
        rows = compare.union([frame.select(*names, "_step", "_side") for frame in both])
        frames.append(compare.paired(rows, schema, key).select(*names, "_step", "change_type"))
    if not frames:
        empty = spark.createDataFrame([], schema)
        return empty.withColumns({"_step": F.lit(0), "change_type": F.lit("")})
    return compare.union(frames)


def _limits(span: Range, net: bool) -> dict[int, tuple[int, int]]:
    """Return {step: (last sequence number before it, first row id of it)}: by these new rows are known."""
    if net:
        first = span.start.firstRowId() + span.start.addedRows()
        return {0: (span.start.sequenceNumber(), first)}
    return {
        n: (step.sequence - 1, snapshot.firstRowId())
        for n, (step, snapshot) in enumerate(zip(span.steps, span.snapshots, strict=True))
    }


def _by_view(spark: SparkSession, span: Range, schema: StructType, key: Sequence[str], net: bool) -> DataFrame:
    """Return changes with `_step`, by Iceberg's procedure; of net changes only the contents are taken.

    The procedure cannot match rows by key and net them out at once, and after a MERGE it gives net changes a wrong
    ordinal (apache/iceberg #14851): so those are paired here.
    """
    import uuid

    from pyspark.sql import functions as F

    names = [identifiers.column(name) for name in schema.names]
    if not any(step.ordinal is not None for step in span.steps):
        return spark.createDataFrame([], schema).withColumns({"_step": F.lit(0), "change_type": F.lit("")})
    options = {"end-snapshot-id": span.steps[-1].snapshot_id}
    options |= {"start-snapshot-id": span.start.snapshotId()} if span.start is not None else {}
    view = f"changes_{uuid.uuid4().hex}"
    literals = ", ".join(f"'{name}', '{value}'" for name, value in options.items())
    key_sql = ", ".join(map(identifiers.literal, key))
    how = "net_changes => true" if net else f"identifier_columns => array({key_sql})"
    catalog = identifiers.column(commits.identified(spark, span.name).catalog().name())
    table = identifiers.literal(identifiers.quoted(span.name))
    spark.sql(
        f"CALL {catalog}.system.create_changelog_view(table => {table}, changelog_view => '{view}', "
        f"options => map({literals}), {how})"
    )
    rows = spark.table(view)
    spark.catalog.dropTempView(view)
    if net:
        side = F.when(F.col("_change_type") == "INSERT", 1).otherwise(-1)
        rows = rows.select(*names, F.lit(0).alias("_step"), side.alias("_side"))
        return compare.paired(rows, schema, key)
    place = {step.ordinal: n for n, step in enumerate(span.steps)}
    steps = F.array(*[F.lit(place[ordinal]) for ordinal in sorted(o for o in place if o is not None)])
    step = F.element_at(steps, F.col("_change_ordinal") + 1)
    return rows.select(*names, step.alias("_step"), F.lower("_change_type").alias("change_type"))


def _labelled(rows: DataFrame, span: Range, schema: StructType, net: bool) -> DataFrame:
    """Replace `_step` by the commit's ordinal, snapshot and time."""
    from pyspark.sql import functions as F

    steps = span.steps
    if net:
        steps = tuple(step for step in steps if step.ordinal is not None)[-1:] or steps[-1:]
    ordinals = F.array(*[F.lit(-1 if step.ordinal is None else step.ordinal) for step in steps])
    ids = F.array(*[F.lit(step.snapshot_id).cast("bigint") for step in steps])
    times = F.array(*[F.timestamp_millis(F.lit(step.millis)) for step in steps])
    at = F.col("_step") + 1
    if not steps:  # an array of a type: there are no rows either
        ordinals, ids = F.array(F.lit(0)), F.array(F.lit(0).cast("bigint"))
        times = F.array(F.timestamp_millis(F.lit(0)))
    return rows.select(
        *[identifiers.column(name) for name in schema.names],
        "change_type",
        F.element_at(ordinals, at).alias("change_ordinal"),
        F.element_at(ids, at).alias("commit_snapshot_id"),
        F.element_at(times, at).alias("commit_time"),
    )
