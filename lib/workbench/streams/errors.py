"""The error store of a delivery: every record that could not be delivered, whole, with its reason.

It says too how far the source was read: it is committed last of all tables, so that all that lies behind its
positions is in one of them.
"""

from datetime import UTC, datetime

from workbench import identifiers
from workbench.streams import chunks, dead_letters, publish, routes, tables
from workbench.tables import commits

SCHEMA = f"{dead_letters.SCHEMA}, replay STRING, replay_table STRING, replayed BOOLEAN"
WHOLE = 2**31 - 1  # of a record is kept
KEY = ("stream_arn", "stream_created", "shard_id", "sequence_number")


def make(spark, table):
    """Make the table where it is missing; refuse another one.

    Raises:
        ValueError: there is a table of that name without the columns.
    """
    if not spark.catalog.tableExists(table):
        spark.sql(f"CREATE TABLE IF NOT EXISTS {identifiers.quoted(table)} ({SCHEMA}) USING iceberg")
    commits.load(spark, table)
    have = {one.name: one.dataType.simpleString() for one in spark.table(identifiers.quoted(table)).schema}
    want = dict(column.lower().split() for column in SCHEMA.split(", "))
    if wrong := sorted(name for name, kind in want.items() if have.get(name) != kind):
        raise ValueError(
            f"{table} is no error store: {wrong[0]} should be {want[wrong[0]]} and is "
            f"{have.get(wrong[0], 'not there')}; name a table that is not there, and it is made"
        )


def rows(dead, found, stream, *, run_id, version):
    """Return the error store's rows of a batch; lazy.

    Args:
        dead: chunks.dead of the batch.
        found: routes.routed of its others.
        stream: sources.Stream.
        run_id: of the run.
        version: of the schema.
    """
    from pyspark.sql import functions as F

    columns = [column.split()[0] for column in chunks.DEAD.split(", ")]
    raw = F.col(chunks.RAW)
    kept = {
        "raw": raw, "raw_bytes": F.length(raw).cast("bigint"), "raw_sha256": F.sha2(raw, 256),
        "reason": F.col(routes.REASON), "message": F.col(routes.MESSAGE),
    }  # fmt: skip
    lost = found.where(F.col(routes.REASON).isNotNull()).select(
        *[kept.get(name, F.col(name)).alias(name) for name in columns]
    )
    arn, created = named(stream)
    return dead.select(*columns).unionByName(lost).withColumns(
        {
            "stream_arn": F.lit(arn), "stream_created": F.lit(created).cast("timestamp"),
            "schema_version": F.lit(version), "run_id": F.lit(run_id), "replay": F.lit(None).cast("string"),
            "replay_table": F.lit(None).cast("string"), "replayed": F.lit(None).cast("boolean"),
        }
    )  # fmt: skip


def named(stream):
    """Return what names a stream in rows: (stream_arn, stream_created); a topic has no time of its making."""
    if isinstance(stream.created, int):
        return stream.arn, datetime.fromtimestamp(stream.created / 1000, UTC)
    return f"{stream.arn}/{stream.created}", None


def write(spark, place, frame, count, expected, summary):
    """Commit a batch's errors with the positions; returns the snapshot's id.

    Raises:
        AnotherWriter: the table has other positions than expected.
        OtherRows: there are more or fewer errors now.
    """
    if not count:
        return publish.note(spark, place, expected, summary)
    base = publish.stage(spark, place, expected)
    staged, added = publish.append(spark, place, frame, base, summary)
    tables.same(count, added)
    try:
        publish.publish(spark, place, staged, base, expected)
    except commits.MainMoved:
        return publish.note(spark, place, expected, summary, carried=staged)
    return staged
