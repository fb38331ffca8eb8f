"""The dead-letter table: records that could not become rows, each with its bytes, its position and the reason.

It is written before the rows' table and has positions of its own, so each of the two is exactly once by itself.
A run that died between the two has left dead rows of records that the next run reads again: these are not
written twice.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, SparkSession
from workbench.records import aggregates
from workbench.streams import chunks, nulls, positions, publish, tables
from workbench.streams.readers import shards, sources
from workbench.tables import commits, snapshots

SCHEMA = f"{chunks.DEAD}, stream_arn STRING, stream_created TIMESTAMP, schema_version STRING, run_id STRING"
LACKING = (  # null where a record has no value, key or usable time, for a topic, and before a replay
    "raw", "raw_bytes", "raw_sha256", nulls.KEY, nulls.TIME, aggregates.COLUMN, "stream_created", "replay",
    "replay_table", "replayed",
)  # fmt: skip
# rows from before there was the last column have a null there. A hash passes over nulls, so a replay that was
# begun without the column finds its commits by the same name
KEY = ("stream_arn", "stream_created", "shard_id", "sequence_number", aggregates.COLUMN)
ADDED = (aggregates.COLUMN,)  # to tables that were made before there was one


def make(spark: SparkSession, table: str, schema: str = SCHEMA, what: str = "a table of dead letters") -> None:
    """Make the table where it is missing; refuse another one.

    One that somebody made with required columns for what a record of Kafka may lack has them made optional: an
    empty value or key in their place would be another record, and a null would stop the run. One from before there
    was a column for the place in an aggregate has it added.

    Args:
        spark: session.
        table: its name.
        schema: its columns, DDL.
        what: what it should be, in words.

    Raises:
        ValueError: there is a table of that name without the columns, or no such namespace: some catalogs make a
            mistyped one.
    """
    if not snapshots.exists(spark, table):
        snapshots.refuse_no_namespace(spark, table)
        spark.sql(f"CREATE TABLE IF NOT EXISTS {identifiers.quoted(table)} ({schema}) USING iceberg")
    commits.load(spark, table)
    columns = spark.table(identifiers.quoted(table)).schema
    have = {column.name: column.dataType.simpleString() for column in columns}
    want = {name: kind.lower() for name, kind in (column.split() for column in schema.split(", "))}
    missing = [name for name in ADDED if name not in have]
    if wrong := sorted(name for name, kind in want.items() if have.get(name) != kind and name not in missing):
        raise ArgumentError(
            f"{table} is not {what}: {wrong[0]} should be {want[wrong[0]]} and is "
            f"{have.get(wrong[0], 'not there')}; name a table that is not there, and it is made"
        )
    for name in missing:
        _add(spark, table, name, want[name])
    for column in columns:
        if column.name in LACKING and column.name in want and not column.nullable:
            spark.sql(f"ALTER TABLE {identifiers.quoted(table)} ALTER COLUMN {column.name} DROP NOT NULL")


def _add(spark: SparkSession, table: str, column: str, kind: str) -> None:
    """Add a column to a table, unless another run was quicker."""
    quoted = identifiers.quoted(table)
    try:
        spark.sql(f"ALTER TABLE {quoted} ADD COLUMN {column} {kind}")
    except Exception:
        spark.sql(f"REFRESH TABLE {quoted}")
        if column not in spark.table(quoted).columns:
            raise


def begin(spark: SparkSession, place: publish.Place) -> dict[str, str]:
    """Return the positions that the table has; commit empty ones where it has none."""
    loaded = commits.load(spark, place.table)
    if (position := positions.find(spark, loaded, place.stream)) is None:
        publish.note(spark, place, None, positions.properties(place.stream, {}, "begin"), mark=True)
        return {}
    return position.shards


def write(
    spark: SparkSession,
    place: publish.Place,
    frame: DataFrame,
    count: int,
    before: dict[str, str],
    start: Mapping[str, str],
    ends: Mapping[str, str | None],
    *,
    batch: str,
    run_id: str,
    version: str,
) -> tuple[dict[str, str], int]:
    """Commit a micro-batch's dead rows with their positions; returns (the table's new positions, rows added).

    Args:
        spark: session.
        place: publish.Place of the table.
        frame: chunks.dead of the batch.
        count: how many rows it had when the positions were taken from it.
        before: the positions the table has.
        start: the positions the batch began at.
        ends: shard id to where it ended.
        batch: its id.
        run_id: of the run, kept with each row.
        version: of the schema, kept with each row.

    Raises:
        AnotherWriter: the table has other positions.
        OtherRows: there are more or fewer rows now.
    """
    from pyspark.sql import functions as F

    rows = frame.withColumns(origin(place.stream, run_id, version))
    after = shards.forward(before, ends)
    base = publish.stage(spark, place, before)
    ahead = any(shards.further(at, start.get(shard, shards.OLDEST)) for shard, at in before.items())
    if ahead:
        name = identifiers.quoted(place.table)
        # of the branch, which is at the base: a snapshot by its id would have the columns of its day
        written = spark.sql(f"SELECT {', '.join(KEY)} FROM {name} VERSION AS OF '{place.branch}'")
        same = same_record(lambda name: F.col(f"new.{name}"), lambda name: F.col(f"old.{name}"))
        rows = rows.alias("new").join(written.alias("old"), same, "left_anti")
    columns = [column.split()[0] for column in SCHEMA.split(", ")]
    summary = positions.properties(place.stream, after, batch)
    staged, added = publish.append(spark, place, rows.select(*columns), base, summary)
    tables.same(count, max(count, added) if ahead else added)  # some of them may have been there
    publish.publish_or_carry(spark, place, staged, base, before, summary)
    return after, added


def origin(stream: sources.Stream, run_id: str, version: str) -> dict[str, Column]:
    """Return the columns that say where a row comes from, name to Column; a topic has no time of its making."""
    from pyspark.sql import functions as F

    dated = isinstance(stream.created, int)
    return {
        "stream_arn": F.lit(stream.arn if dated else f"{stream.arn}/{stream.created}"),
        "stream_created": F.timestamp_millis(F.lit(stream.created if dated else None).cast("bigint")),
        "schema_version": F.lit(version),
        "run_id": F.lit(run_id),
    }


def same_record(
    of_row: Callable[[str], Column], of_other: Callable[[str], Column], names: Sequence[str] = KEY
) -> Column:
    """Return the condition that two rows are of one record; a topic has no time of its making.

    Args:
        of_row: function of a name in KEY that returns the Column of a row.
        of_other: the same of the other row.
        names: those of KEY that both rows have.
    """
    pairs = [(known(name, of_row(name)), known(name, of_other(name))) for name in names]
    return reduce(operator.and_, [column.eqNullSafe(other) for column, other in pairs])


def known(name: str, column: Column) -> Column:
    """Return a column of KEY as it would be of a row that is written now: without a place it came alone."""
    from pyspark.sql import functions as F

    return F.coalesce(column, F.lit(0)) if name == aggregates.COLUMN else column
