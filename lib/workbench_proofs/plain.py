"""The ingest as walkthroughs print it, foreachBatch and append: for comparison, because it doubles.

Spark repeats a micro-batch whose end its checkpoint does not have, and an append does not know that its rows are
there already. Nothing of this is used by `ingest`.

python -m workbench_proofs.plain TABLE --stream NAME --schema DDL --plain FOLDER, which takes its checkpoint
"""

import argparse
import os

from workbench._base import identifiers
from workbench.streams import kinesis, tables


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

    return kinesis.drain(rows.writeStream.option("checkpointLocation", f"{checkpoint}/spark").foreachBatch(write))


class Parsing:
    """Parses a column of records: a function for mapInArrow."""

    def __init__(self, parser):
        self.parser = parser

    def __call__(self, batches):
        """Yield the rows of each batch."""
        for batch in batches:
            yield self.parser(batch.column(0).to_pylist()).rows


def main() -> None:
    """Append until nothing is left, as `workbench ingest` is called."""
    from workbench import session, streams

    parser = argparse.ArgumentParser(prog="python -m workbench_proofs.plain", description=__doc__)
    parser.add_argument("table")
    for name in ("--stream", "--schema", "--plain"):
        parser.add_argument(name, required=True)
    for name in ("--region", "--endpoint"):
        parser.add_argument(name)
    parser.add_argument("--environment", default="lake")
    parser.add_argument("--unknown", default="ignore", choices=["ignore", "dead"])
    parser.add_argument("--start", default="trim_horizon", choices=["trim_horizon", "latest"])
    parser.add_argument("--max-records-per-batch", type=int, default=100_000)
    asked = parser.parse_args()
    source = streams.Source(
        asked.stream, region=asked.region, endpoint=asked.endpoint, start=asked.start,
        max_records_per_batch=asked.max_records_per_batch,
    )  # fmt: skip
    spark = session.start(asked.environment)
    spark.sparkContext.environment |= {name: text for name, text in os.environ.items() if name.startswith("AWS_")}
    parse = streams.Json(asked.schema, unknown=asked.unknown)
    append(spark, asked.table, source=source, parse=parse, checkpoint=asked.plain)


if __name__ == "__main__":
    main()
