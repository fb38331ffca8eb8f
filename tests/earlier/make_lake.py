"""The lake of tests/test_earlier_lake.py: tables as a stream, the gate and a history left them, by the code of that day.

    PYTHONPATH=lib:tests python tests/earlier/make_lake.py      # by the code of a commit; writes lake.tar.gz beside

Iceberg writes where its files lie into its metadata, so that a lake can be read at one place only: FOLDER.
"""

import json
import os
import shutil
import tarfile
from pathlib import Path

FOLDER = Path("/tmp/iceberg-workbench-earlier-lake")
HERE = Path(__file__).resolve().parent
COLUMNS = "id BIGINT, room STRING"


def session(folder=FOLDER):
    """A session of `local` that has the lake as the catalog `earlier`."""
    from workbench import session as sessions
    from workbench._base import lake

    spark = sessions.start("local").newSession()
    properties = {"": "org.apache.iceberg.spark.SparkCatalog"}
    properties |= {f".{name}": value for name, value in lake.spark_properties(folder).items()}
    for name, value in properties.items():
        spark.conf.set(f"spark.sql.catalog.earlier{name}", value)
    return spark


def main():
    """Make the lake anew."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything"}
    import boto3

    from workbench import history, streams, wap
    from workbench._base import lake
    from workbench.verdicts import Verdict
    from workbench_standins import kinesis

    shutil.rmtree(FOLDER, ignore_errors=True)
    lake.make(FOLDER)
    spark = session()
    spark.sql("CREATE NAMESPACE earlier.kept")
    left = {}
    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name="us-east-1")
        client.create_stream(StreamName="s", ShardCount=1)
        data = [b'{"id":1,"room":"a"}', b'{"id":2,"room":"b"}', b"not a record"]
        client.put_records(StreamName="s", Records=[{"Data": record, "PartitionKey": "k"} for record in data])
        spark.sql(f"CREATE TABLE earlier.kept.streamed ({COLUMNS})")
        source = streams.Source("s", region="us-east-1", endpoint=server.endpoint, max_records_per_batch=2)
        parse, letters = streams.Json(COLUMNS), "earlier.kept.letters"
        streams.ingest(spark, "earlier.kept.streamed", source=source, parse=parse, dead_letters=letters)
        stream = source.describe()
        left["stream"] = {"arn": stream.arn, "created": stream.created}
    spark.sql(f"CREATE TABLE earlier.kept.source ({COLUMNS})")
    spark.sql("INSERT INTO earlier.kept.source VALUES (1, 'a'), (2, 'b')")
    spark.sql("UPDATE earlier.kept.source SET room = 'c' WHERE id = 1")
    history.build(spark, "earlier.kept.source", "earlier.kept.lives", key="id")
    spark.sql("DELETE FROM earlier.kept.source WHERE id = 2")
    history.build(spark, "earlier.kept.source", "earlier.kept.lives", key="id")
    spark.sql("INSERT INTO earlier.kept.source VALUES (3, 'd')")  # and this is yet to be built
    spark.sql(f"CREATE TABLE earlier.kept.gated ({COLUMNS}) TBLPROPERTIES ('write.wap.enabled' = 'true')")
    passed = Verdict(True, rules="none", figures={"rows": 1})
    wap.run(
        spark, "earlier.kept.gated", write=lambda stage: spark.sql(f"INSERT INTO {stage.table} VALUES (1, 'a')"),
        audit=lambda df: passed, id="2026-01-31",
    )  # fmt: skip
    with wap.staging(spark, "earlier.kept.gated", branch="by_hand") as stage:
        spark.sql("INSERT INTO earlier.kept.gated VALUES (2, 'b')")
    wap.attest(spark, stage, audit=lambda df: passed)  # attested, and not yet published
    (FOLDER / "left.json").write_text(json.dumps(left))
    with tarfile.open(HERE / "lake.tar.gz", "w:gz") as archive:
        for path in sorted(FOLDER.rglob("*")):
            if path.is_file() and path.suffix != ".crc":
                archive.add(path, path.relative_to(FOLDER), filter=without_owner)


def without_owner(info):
    """Name nobody of this machine."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


if __name__ == "__main__":
    main()
