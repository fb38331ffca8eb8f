"""The error store of a delivery: every record that could not be delivered, whole, with its reason.

It says too how far the source was read: it is committed last of all tables, so that all that lies behind its
positions is in one of them.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base import identifiers, releases
from workbench._base.typing import DataFrame, SparkSession
from workbench.records import aggregates
from workbench.streams import chunks, dead_letters, publish, routes, tables
from workbench.streams.readers import sources
from workbench.tables import commits

SCHEMA = f"{dead_letters.SCHEMA}, replay STRING, replay_table STRING, replayed BOOLEAN"
WHOLE = 2**31 - 1  # of a record is kept


def make(spark: SparkSession, table: str) -> None:
    """Make the table where it is missing; refuse another one.

    Raises:
        ValueError: there is a table of that name without the columns.
    """
    dead_letters.make(spark, table, SCHEMA, "an error store")


@dataclass
class Apart:
    """Takes errors that are aggregates apart: a function for mapInArrow over the error store's rows."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the row of each aggregate as it is, and behind it the rows of the records within."""
        import pyarrow as pa

        for batch in batches:
            rows = [row for error in batch.to_pylist() for row in self._rows(error)]
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema=batch.schema)

    def _rows(self, error: dict[str, Any]) -> Iterator[dict[str, Any]]:
        within = aggregates.records(error["raw"], error["partition_key"])
        if within[0][0] == error["raw"]:  # it is none, or cannot be taken apart
            return
        yield error
        for place, (data, key, wrong) in enumerate(within):
            reason, message = wrong or (error["reason"], error["message"])
            yield error | {
                "raw": data, "raw_bytes": len(data), "raw_sha256": hashlib.sha256(data).hexdigest(),
                "partition_key": key, aggregates.COLUMN: place, "reason": reason, "message": message,
            }  # fmt: skip


def take_apart(spark: SparkSession, table: str, source: sources.RecordSource) -> None:
    """Replace errors that are aggregates by the records within them, in one commit.

    A version of this library that did not read aggregates wrote them; since then each error has its place in one.
    """
    from pyspark.sql import functions as F

    if aggregates.COLUMN not in source.lineage:
        return
    quoted = identifiers.quoted(table)
    spark.sql(f"REFRESH TABLE {quoted}")
    tried = spark.table(quoted).where("replay IS NULL").where(F.col("stream") == source.stream)
    tried = tried.where(F.length("raw") == F.col("raw_bytes")).where(F.col(aggregates.COLUMN).isNull())
    tried = tried.where(F.substring("raw", 1, len(aggregates.MAGIC)) == F.lit(bytearray(aggregates.MAGIC)))
    if tried.isEmpty():
        return
    ours = {name: F.col(f"_{name}") for name in tried.columns}
    rows = tried.mapInArrow(Apart(), tried.schema).withColumnsRenamed({name: f"_{name}" for name in ours})
    same = F.lit(True)
    for name in dead_letters.KEY:  # an aggregate's own row has no place, and is not the row of its first record
        same = same & F.col(name).eqNullSafe(ours[name])
    place = aggregates.COLUMN  # a process that was quicker may have done it: then nothing is left to do
    merging = releases.merge_into(rows, quoted, same)
    merging = merging.whenMatched(F.col(place).isNull()).delete()
    merging = merging.whenNotMatched(ours[place].isNotNull()).insert(ours)
    commits.retrying(spark, table, merging.merge, conditional=True)


def rows(
    dead: DataFrame,
    routed: DataFrame,
    source: sources.RecordSource,
    stream: sources.Stream,
    *,
    run_id: str,
    version: str,
) -> DataFrame:
    """Return the error store's rows of a batch; lazy.

    Args:
        dead: chunks.dead of the batch.
        routed: routes.routed of its others.
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
    lost = routed.where(F.col(routes.REASON).isNotNull()).select(
        *[kept.get(name, F.col(name)).alias(name) for name in columns]
    )
    new = {"replay": "string", "replay_table": "string", "replayed": "boolean"}
    added = dead_letters.origin(stream, run_id, version)
    added |= {name: F.lit(None).cast(kind) for name, kind in new.items()}
    return dead.select(*columns).unionByName(lost).withColumns(added)


def write(
    spark: SparkSession,
    place: publish.Place,
    frame: DataFrame,
    count: int,
    expected: dict[str, str] | None,
    summary: dict[str, str],
) -> int:
    """Commit a batch's errors with the positions, and return the snapshot's id.

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
