"""The ingest as walkthroughs print it, foreachBatch and append: for comparison, because it doubles.

Spark repeats a micro-batch whose end its checkpoint does not have, and an append does not know that its rows are
in the table already. `ingest` uses nothing of this.

python -m workbench_proofs.plain TABLE --stream NAME --schema DDL --plain FOLDER, which takes its checkpoint
"""

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.typing import DataFrame, SparkSession
from workbench.records.parsing import Parse
from workbench.streams import Json, Source, kinesis, tables


@checked
def append(spark: SparkSession, table: str, *, source: Source, parse: Json, checkpoint: str | Path) -> Any:
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
    known = {key: value for key, value in options.items() if value is not None}
    raw = spark.readStream.format("kinesis").options(**known).load()
    rows = raw.select("data").mapInArrow(Parsing(parse.parser()), parse.fields())
    rows, _ = tables.counted(spark, rows, table, schema, None, "main", source, ())

    def write(batch: DataFrame, number: int) -> None:
        batch.writeTo(identifiers.quoted(table)).append()

    return kinesis.drain(rows.writeStream.option("checkpointLocation", f"{checkpoint}/spark").foreachBatch(write))


class Parsing:
    """Parses a column of records: a function for mapInArrow."""

    def __init__(self, parser: Parse) -> None:
        self.parser = parser

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows of each Arrow batch."""
        for batch in batches:
            yield self.parser(batch.column(0).to_pylist()).rows


def main() -> None:
    """Append until nothing is left, as `workbench ingest` is called."""
    from workbench import session

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
    options = parser.parse_args()
    source = Source(
        options.stream, region=options.region, endpoint=options.endpoint, start=options.start,
        max_records_per_batch=options.max_records_per_batch,
    )  # fmt: skip
    spark = session.start(options.environment)
    spark.sparkContext.environment |= {name: text for name, text in os.environ.items() if name.startswith("AWS_")}
    parse = Json(options.schema, unknown=options.unknown)
    append(spark, options.table, source=source, parse=parse, checkpoint=options.plain)


if __name__ == "__main__":
    main()
