"""The error store of a delivery: every record that could not be delivered, whole, with its reason.

It says too how far the source was read: it is committed last of all tables, so that all that lies behind its
positions is in one of them.
"""

from workbench.streams import aggregates, chunks, dead_letters, publish, routes, tables

SCHEMA = f"{dead_letters.SCHEMA}, replay STRING, replay_table STRING, replayed BOOLEAN"
WHOLE = 2**31 - 1  # of a record is kept


def make(spark, table):
    """Make the table where it is missing; refuse another one.

    Raises:
        ValueError: there is a table of that name without the columns.
    """
    dead_letters.make(spark, table, SCHEMA, "error store")


def rows(dead, found, source, stream, *, run_id, version):
    """Return the error store's rows of a batch; lazy.

    Args:
        dead: chunks.dead of the batch.
        found: routes.routed of its others.
        source: Source or Topic.
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
    if aggregates.COLUMN not in source.lineage:  # a field of that name is the records' own
        kept[aggregates.COLUMN] = F.lit(None).cast("bigint")
    lost = found.where(F.col(routes.REASON).isNotNull()).select(
        *[kept.get(name, F.col(name)).alias(name) for name in columns]
    )
    new = {"replay": "string", "replay_table": "string", "replayed": "boolean"}
    added = dead_letters.origin(stream, run_id, version)
    added |= {name: F.lit(None).cast(kind) for name, kind in new.items()}
    return dead.select(*columns).unionByName(lost).withColumns(added)


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
    return publish.publish_or_carry(spark, place, staged, base, expected, summary)
