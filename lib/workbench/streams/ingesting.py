"""The exactly-once ingest of a stream into one table."""

import secrets
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.typing import Judged, SparkSession
from workbench.records.parsing import Format
from workbench.streams import batches, loop, tables
from workbench.streams.batches import Batch, Ingested
from workbench.streams.keys import RecordKey
from workbench.streams.readers.sources import RecordSource
from workbench.tables import commits


@checked
def ingest(
    spark: SparkSession,
    table: str,
    *,
    source: Judged[RecordSource],
    parse: Judged[Format],
    dead_letters: str | None = None,
    max_bad_share: Annotated[float, Ge(0), Le(1)] = 1.0,
    record_key: RecordKey | None = None,
    lineage: Sequence[str] = (),
    until_caught_up: bool = True,
    max_batches: Annotated[int, Ge(1)] | None = None,
    onto_rows: bool = False,
    poll_seconds: Annotated[float, Ge(0)] = 1.0,
    run_id: str | None = None,
    on_batch: Callable[[Batch], Any] | None = None,
    stop: Callable[[], Any] | None = None,
) -> Ingested:
    """Bring the records of a stream or topic into an Iceberg table, each exactly once, whatever is killed.

    The positions in the stream are committed in the snapshot that brings the rows, so the table alone says where
    to go on: there is no checkpoint. Two runs at once do no harm; the one that commits second is told and stops.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`; columns that the schema does not name are null.
        source: Source, or Topic.
        parse: Json, Avro, Protobuf, or an object with `fields()` and `parser()` like them.
        dead_letters: table for records that cannot become rows, made when missing, in an existing namespace;
            None stops at the first such record.
        max_bad_share: share of a micro-batch, 0 to 1, above which it stops before anything is committed.
        record_key: RecordKey by which producer duplicates are dropped; None keeps them.
        lineage: columns of the table that take the record's own `stream`, `shard_id`, `sequence_number`,
            `partition_key`, `approximate_arrival_timestamp`, `sub_sequence_number` (the place in the aggregate it
            came in, 0 where it came alone); of a topic: topic, partition, offset, key and time, and the offset as
            a number, `offset`. A record of a topic without a key has a null; where the column is required it is a
            dead letter, and without `dead_letters` an empty text.
        until_caught_up: end when every shard was read to its present end; else go on until `stop`.
        max_batches: end after so many micro-batches.
        onto_rows: begin also with a table whose rows came from elsewhere.
        poll_seconds: wait between two looks at a stream that has nothing.
        run_id: kept with dead letters; made up when None.
        on_batch: function of a batches.Batch, called after each; None writes a line to a terminal, if there is
            one.
        stop: function without arguments; the run ends after the batch when it returns True.

    Returns:
        Ingested.

    Raises:
        AnotherWriter: another run ingests the same stream into the same table.
        TooManyBad: max_bad_share was exceeded, or there was a bad record and no table for it.
        RecordsLost: records may have been trimmed unread, or the stream was made again.
        PositionsLost: the table was ingested before and does not say how far.
        StreamNotFound: no such stream, or it was deleted while it was read.
        TableNotFound: no such table.
        OutcomeUnknown: the catalog did not answer; run again, the table knows.
        ValueError: an argument is invalid, or the table has other columns.
    """
    loop.check_ends(source, parse)
    commits.load(spark, table)  # past what the session remembers of it
    tables.checked(spark, table, parse, source, lineage, record_key)  # before anything is committed
    name = run_id or secrets.token_hex(4)
    run = loop.Run(spark, table, source, parse, max_bad_share, record_key, tuple(lineage), name)
    run.begin(dead_letters, onto_rows)
    return loop.complete(run, until_caught_up, max_batches, poll_seconds, on_batch or batches.teller(), stop)
