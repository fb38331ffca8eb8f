"""The ingest as walkthroughs print it, foreachBatch and append: for comparison, because it doubles.

Spark repeats a micro-batch whose end its checkpoint does not have, and an append does not know that its rows are
there already. Nothing of this is used by `ingest`.
"""

from workbench import identifiers
from workbench.streams import backlog, kinesis, tables


def append(spark, table, *, source, parse, checkpoint):
    """Append a stream's records to a table until nothing is left, at least once.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        source: Source.
        parse: parsing.Json; bad records are left out.
        checkpoint: folder for Spark's checkpoint and the source's positions.

    Returns:
        The stopped StreamingQuery.
    """
    kinesis.register(spark)
    schema = tables.checked(spark, table, parse, source, (), None)
    options = {
        "streamName": source.stream,
        "region": source.region,
        "endpointUrl": source.endpoint,
        "startingPosition": source.start,
        "maxRecordsPerBatch": str(source.max_records_per_batch),
        "positionsPath": f"{checkpoint}/kinesis",
    }
    given = {key: value for key, value in options.items() if value is not None}
    raw = spark.readStream.format("kinesis").options(**given).load()
    rows = raw.select("data").mapInArrow(Parsing(parse.parser()), parse.fields())
    rows, _ = tables.counted(spark, rows, table, schema, None, None, source, ())

    def write(batch, number):
        batch.writeTo(identifiers.quoted(table)).append()

    return backlog.drain(rows.writeStream.option("checkpointLocation", f"{checkpoint}/spark").foreachBatch(write))


class Parsing:
    """Parses a column of records: a function for mapInArrow."""

    def __init__(self, parser):
        self.parser = parser

    def __call__(self, batches):
        """Yield the rows of each batch."""
        for batch in batches:
            yield self.parser(batch.column(0).to_pylist()).rows
