"""What changed between two snapshots of a table: a row a change, by three back-ends that give the same answer.

*Changelog view*: Iceberg's own procedure; copy-on-write only, sorts all rows of all rewritten files. *Difference*:
reads the files that each commit added, removed or deleted rows in, and compares rows by key; any table. *Row
lineage*: as difference, but format 3 says itself which rows of a rewritten file are new, so that nothing is
compared to find out. See docs/history.md.
"""

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.tables import commits
from workbench.tables.changes import compare, files, lineage, ranges, sources
from workbench.tables.changes.ranges import HistoryExpired

BACK_ENDS = ("row lineage", "snapshot diff", "changelog view")  # cheapest first
COLUMNS = ("change_type", "change_ordinal", "commit_snapshot_id", "commit_time")

__all__ = ["BACK_ENDS", "COLUMNS", "HistoryExpired", "back_ends", "between"]


def between(
    spark,
    table,
    *,
    key,
    start=None,
    end=None,
    back_end="auto",
    net=False,
    before_images=True,
    compared=True,
):
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
        net: only what differs between the two states, as if the last commit had done all of it.
        before_images: whether there is a row `update_before` beside each `update_after`.
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
        HistoryExpired: a bound is no ancestor of main: expired, rolled back, or on a branch.
        ValueError: no such column, or bounds in the wrong order, or a back-end that this range does not allow; the
            message names those it does.
    """
    found, _ = tracked(
        spark,
        table,
        key=key,
        start=start,
        end=end,
        back_end=back_end,
        net=net,
        before_images=before_images,
        compared=compared,
    )
    return found


def back_ends(spark, table, *, start=None, end=None, net=False):
    """Return the names of the back-ends that a range allows, cheapest first; bounds and net as in `between`."""
    found = ranges.resolve(spark, table, start, end)
    return tuple(_allowed(found, spark.table(identifiers.quoted(table)).schema, net))


def tracked(
    spark,
    table,
    *,
    key,
    start,
    end,
    back_end,
    net=False,
    before_images=True,
    compared=True,
    truncated=False,
    together=(),
):
    """Return (what `between` returns, the function that forgets what its frame reads): for one that runs it once.

    With `truncated` a beginning that was expired is replaced by the oldest state that is left, as if inserted. The
    snapshots of `together` are taken as one commit with the next that changes rows.
    """
    name = identifiers.quoted(table)
    key = [key] if isinstance(key, str) else list(key)
    if back_end not in ("auto", *BACK_ENDS):
        raise ArgumentError(f"{back_end!r} is no back-end; there are auto, {', '.join(BACK_ENDS)}")
    if before_images and not compared:
        raise ArgumentError(
            "rows that are not compared have no before-images: compared=False needs before_images=False"
        )
    found = ranges.resolve(spark, table, start, end, truncated=truncated, together=together)
    schema = spark.table(name).schema
    check_columns(table, schema, key)
    allowed = _allowed(found, schema, net)
    if back_end not in ("auto", *allowed):
        raise ArgumentError(
            f"{table} cannot be read by {back_end} from {start} to {end}: {_why(found, schema, net, back_end)}; "
            f"{' and '.join(allowed)} can"
        )
    chosen = allowed[0] if back_end == "auto" else back_end
    reader = files.Reader(spark, found.table)
    if chosen == "changelog view":
        rows = _by_view(spark, found, schema, key, net)
    else:
        rows = _by_files(spark, found, schema, key, net, chosen, compared, reader)
    if not before_images:
        rows = rows.where("change_type <> 'update_before'")
    return _labelled(rows, found, schema, net), reader.release


def check_columns(table, schema, key):
    """Refuse keys that are none, and tables whose columns have names that changes use.

    Raises:
        ValueError: as said.
    """
    if not key or len(set(key)) < len(key):
        raise ArgumentError(f"a key is one column or several different ones, not {key}")
    if unknown := [name for name in key if name not in schema.names]:
        raise ArgumentError(f"{table} has no column {unknown[0]}; it has {', '.join(schema.names)}")
    # whatever the letters' case: Spark takes Change_Type and change_type for one name
    if taken := [name for name in schema.names if name.lower() in COLUMNS or name.startswith("_")]:
        raise ArgumentError(
            f"{table} has a column {taken[0]}, a name that changes need or Iceberg has for its own"
        )
    for name in key:
        if schema[name].dataType.typeName() in ("array", "map", "struct", "variant", "float", "double"):
            raise ArgumentError(f"{name} is {schema[name].dataType.simpleString()}: such values cannot name a row")
    compare.comparable(schema, schema.names)


def _allowed(found, schema, net):
    return [name for name in BACK_ENDS if not _why(found, schema, net, name)]


def _why(found, schema, net, back_end):
    """Return why a range does not allow a back-end; empty when it does."""
    if found.together and back_end != "snapshot diff":
        return "it sees each commit apart, and some are to be taken together"
    if back_end == "row lineage":
        version = found.table.operations().current().formatVersion()
        if version < 3:
            return f"it has format {version}, and row lineage begins with 3"
        states = ([found.start] if found.start is not None else []) + list(found.snapshots)
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
        if found.truncated:
            return "its beginning was expired, and a changelog has no state to begin with"
        for snapshot, step in zip(found.snapshots, found.steps, strict=True):
            if step.ordinal is not None and not snapshot.deleteManifests(found.table.io()).isEmpty():
                return "a changelog scan refuses snapshots with delete files, which merge-on-read writes"
    return ""


def _by_files(spark, found, schema, key, net, chosen, compared, reader):
    """Return changes with `_step`, by difference or lineage."""
    snapshots = ([found.snapshots[-1]] if net else list(found.snapshots)) if found.snapshots else []
    states = [files.state(found.table, snapshot) for snapshot in [found.start, *snapshots]]
    if net:
        changing = {0} if any(step.ordinal is not None for step in found.steps) else set()
    else:
        changing = {n for n, step in enumerate(found.steps) if step.ordinal is not None}
    touched = files.touched(states, changing)
    additions = sources.plain_additions(reader, touched)
    others = sources.deleted(reader, touched.deleted, changing) if touched.deleted else []
    alone = []
    if touched.removed and chosen == "row lineage":
        began = found.start.sequenceNumber() if found.start is not None else 0
        rows, alone = lineage.rewritten(reader, touched, _limits(found, net), began, compared=compared)
        others += rows
    elif touched.removed:
        others += sources.by_difference(reader, touched, schema, key)
    return _together(spark, schema, key, additions, others, alone, touched)


def _together(spark, schema, key, additions, others, alone, touched):
    """Pair what can be paired; additions of steps that deleted nothing are inserts; `alone` needs no pair."""
    from pyspark.sql import functions as F

    names = [identifiers.column(name) for name in schema.names]
    deleting = {step for life in touched.deleted for step, _ in life}
    inserts = [frame for step, frame in additions if step not in deleting]
    both = others + [frame for step, frame in additions if step in deleting]
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


def _limits(found, net):
    """Return for each step what `sources.by_lineage` needs to tell new rows from old ones."""
    if net:
        first = found.start.firstRowId() + found.start.addedRows()
        return {0: (found.start.sequenceNumber(), first)}
    return {
        n: (step.sequence - 1, snapshot.firstRowId())
        for n, (step, snapshot) in enumerate(zip(found.steps, found.snapshots, strict=True))
    }


def _by_view(spark, found, schema, key, net):
    """Return changes with `_step`, by Iceberg's procedure; of net changes only the contents are taken.

    The procedure cannot match rows by key and net them out at once, and after a MERGE it gives net changes a wrong
    ordinal (apache/iceberg #14851): so those are paired here.
    """
    import uuid

    from pyspark.sql import functions as F

    names = [identifiers.column(name) for name in schema.names]
    if not any(step.ordinal is not None for step in found.steps):
        return spark.createDataFrame([], schema).withColumns({"_step": F.lit(0), "change_type": F.lit("")})
    options = {"end-snapshot-id": found.steps[-1].snapshot_id}
    options |= {"start-snapshot-id": found.start.snapshotId()} if found.start is not None else {}
    view = f"changes_{uuid.uuid4().hex}"
    literals = ", ".join(f"'{name}', '{value}'" for name, value in options.items())
    identifiers_sql = ", ".join(map(identifiers.literal, key))
    how = "net_changes => true" if net else f"identifier_columns => array({identifiers_sql})"
    catalog = identifiers.column(commits.identified(spark, found.name).catalog().name())
    table = identifiers.literal(identifiers.quoted(found.name))
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
    place = {step.ordinal: n for n, step in enumerate(found.steps)}
    steps = F.array(*[F.lit(place[ordinal]) for ordinal in sorted(o for o in place if o is not None)])
    step = F.element_at(steps, F.col("_change_ordinal") + 1)
    return rows.select(*names, step.alias("_step"), F.lower("_change_type").alias("change_type"))


def _labelled(rows, found, schema, net):
    """Replace `_step` by the commit's ordinal, snapshot and time."""
    from pyspark.sql import functions as F

    steps = found.steps
    if net and steps:
        steps = [[step for step in steps if step.ordinal is not None][-1:] or steps[-1:]][0]
    ordinals = F.array(*[F.lit(-1 if step.ordinal is None else step.ordinal) for step in steps])
    ids = F.array(*[F.lit(step.snapshot_id).cast("bigint") for step in steps])
    times = F.array(*[F.timestamp_millis(F.lit(step.millis)) for step in steps])
    at = F.col("_step") + 1
    if not steps:
        ordinals, ids, times = (
            F.array(F.lit(0)),
            F.array(F.lit(0).cast("bigint")),
            F.array(F.timestamp_millis(F.lit(0))),
        )
    return rows.select(
        *[identifiers.column(name) for name in schema.names],
        "change_type",
        F.element_at(ordinals, at).alias("change_ordinal"),
        F.element_at(ids, at).alias("commit_snapshot_id"),
        F.element_at(times, at).alias("commit_time"),
    )
