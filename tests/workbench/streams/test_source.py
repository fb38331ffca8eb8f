"""`format("kinesis")`: what it gives, what a restart gives, and what it refuses."""

import shutil
from collections import Counter
from datetime import UTC, datetime

import pytest
from conftest import PROVE
from stream_server import REGION, ids, server, stream

from workbench.streams import kinesis
from workbench.streams.readers import reports

ROWS = 60


@pytest.fixture(scope="module", autouse=True)
def registered(spark):
    kinesis.register(spark)


def options(stream, **more):
    return {"streamName": stream.name, "region": REGION, "endpointUrl": stream.server.endpoint} | more


def streamed(spark, stream, folder, **more):
    df = spark.readStream.format("kinesis").options(**options(stream, positionsPath=f"{folder}/kinesis", **more))
    return df.load()


def rows(spark, table, where="true"):
    spark.catalog.refreshTable(table)  # foreachBatch writes from a session of its own
    return spark.table(table).where(where).collect()


def into(df, folder, table):
    return df.writeStream.option("checkpointLocation", f"{folder}/spark").foreachBatch(
        lambda batch, number: batch.selectExpr(f"{number}L AS batch", "*").writeTo(table).append()
    )


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.raw"
    spark.sql(f"CREATE TABLE {name} (batch BIGINT, {kinesis.SCHEMA}) USING iceberg")
    return name


@pytest.mark.proof("test_rows_positions_and_figures reads the same columns by a stream")
def test_a_batch_read_gives_what_is_there(spark, stream):
    stream.send(range(3), key=lambda n: "k", record=lambda n: b"\x00\xff%d" % n)
    rows = spark.read.format("kinesis").options(**options(stream)).load().collect()
    assert [(bytes(r.data), r.stream, r.partition_key) for r in rows] == [
        (b"\x00\xff%d" % n, stream.name, "k") for n in range(3)
    ]
    assert len({r.shard_id for r in rows}) == 1 and all(len(r.sequence_number) == 56 for r in rows)
    assert (
        abs((datetime.now(UTC).replace(tzinfo=None) - rows[0].approximate_arrival_timestamp).total_seconds()) < 60
    )
    schema = spark.read.format("kinesis").options(**options(stream)).load().schema.simpleString()
    assert schema == (
        "struct<data:binary,stream:string,shard_id:string,sequence_number:string,partition_key:string,"
        "approximate_arrival_timestamp:timestamp>"
    )


@pytest.mark.proof("notebook 10_ingest_stream drains a stream and goes on through the same checkpoint")
def test_a_backlog_of_five_caps_is_drained_whole_and_a_restart_goes_on(spark, stream, table, tmp_path):
    stream.send(range(ROWS))
    stream.split(stream.shards()[0])
    stream.send(range(ROWS, 2 * ROWS))
    query = kinesis.drain(into(streamed(spark, stream, tmp_path, maxRecordsPerBatch="24"), tmp_path, table))
    assert query.drained
    assert sorted(ids(rows(spark, table))) == list(range(2 * ROWS))
    sizes = Counter(row.batch for row in rows(spark, table))
    assert len(sizes) >= 5 and max(sizes.values()) <= 24
    # nothing new: no batch; then the rest, through the same checkpoint
    before = len(list((tmp_path / "spark" / "commits").glob("[0-9]*")))
    stream.send(range(2 * ROWS, 2 * ROWS + 5))
    kinesis.drain(into(streamed(spark, stream, tmp_path, maxRecordsPerBatch="24"), tmp_path, table))
    assert sorted(ids(rows(spark, table))) == list(range(2 * ROWS + 5))
    assert len(list((tmp_path / "spark" / "commits").glob("[0-9]*"))) == before + 1


@pytest.mark.proof("test_a_batch_that_was_not_committed_is_repeated_exactly shows that drain takes them all")
def test_available_now_alone_takes_one_batch_of_a_backlog(spark, stream, table, tmp_path):
    stream.send(range(ROWS))
    writer = into(streamed(spark, stream, tmp_path, maxRecordsPerBatch="10"), tmp_path, table)
    writer.trigger(availableNow=True).start().awaitTermination()
    assert 0 < len(rows(spark, table)) <= 10  # the reason for drain


def test_a_batch_that_was_not_committed_is_repeated_exactly(spark, stream, table, tmp_path):
    """The state a driver leaves that is killed between the sink's commit and Spark's: its last commit is missing."""
    stream.send(range(ROWS))
    kinesis.drain(into(streamed(spark, stream, tmp_path, maxRecordsPerBatch="40"), tmp_path, table))
    commits = sorted((tmp_path / "spark" / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last = int(commits[-1].name)
    first = sorted(ids(rows(spark, table, f"batch = {last}")))
    commits[-1].unlink()
    (commits[-1].parent / f".{last}.crc").unlink(missing_ok=True)
    stream.send(range(ROWS, ROWS + 30))
    kinesis.drain(into(streamed(spark, stream, tmp_path, maxRecordsPerBatch="40"), tmp_path, table))
    found = sorted(ids(rows(spark, table, f"batch = {last}")))
    assert first and found == sorted(first * 2)  # a plain append doubles, and it doubles exactly this batch
    assert sorted(set(ids(rows(spark, table)))) == list(range(ROWS + 30))


def test_the_signature_of_spark_4_2(stream, tmp_path):
    source, folder = kinesis.parse(options(stream, positionsPath=str(tmp_path), maxRecordsPerBatch="2"))
    reader = kinesis.Streaming(source, folder)
    start = reader.initialOffset()
    assert reader.latestOffset(start, None) == {"batch": 0} == reader.latestOffset()
    stream.send(range(5), key=lambda n: "k")
    assert reader.latestOffset(start, None) == {"batch": 1} == reader.latestOffset()
    found = []
    for number in range(1, 6):
        for _, task in reader.partitions({"batch": number - 1}, {"batch": number}):
            for records in reader.read(kinesis_partition(number, task)):
                found += records.column("data").to_pylist()
        if reader.latestOffset() == {"batch": number}:
            break
    assert (len(found), number) == (5, 5)
    assert reader.partitions({"batch": 5}, {"batch": 5}) == []  # what a restarted query asks first
    with pytest.raises(ValueError, match="knows of 5 micro-batches and the checkpoint of 6"):
        reader.partitions({"batch": 6}, {"batch": 6})


def kinesis_partition(number, task):
    from pyspark.sql.datasource import InputPartition

    return InputPartition([number, task])


def test_the_first_report_wins(tmp_path):
    reports.report(tmp_path, 1, "s", {"position": "10"})
    reports.report(tmp_path, 1, "s", {"position": "10"})
    with pytest.raises(reports.ReportedTwice, match="up to 11, but another attempt had reported 10"):
        reports.report(tmp_path, 1, "s", {"position": "11"})
    assert reports.reported(tmp_path, 1) == {"s": {"position": "10"}}


@pytest.mark.proof("test_the_signature_of_spark_4_2 shows the same refusal by the reader that Spark calls")
def test_a_checkpoint_without_its_positions_is_told(spark, stream, table, tmp_path):
    stream.send(range(10))
    cap = "4" if PROVE else "20"
    kinesis.drain(into(streamed(spark, stream, tmp_path, maxRecordsPerBatch=cap), tmp_path, table))
    shutil.rmtree(tmp_path / "kinesis")
    stream.send(range(10, 12))
    with pytest.raises(Exception, match="do not belong together"):
        kinesis.drain(into(streamed(spark, stream, tmp_path), tmp_path, table))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"streamName": ""}, "needs the option streamName"),
        ({"stream": "x"}, "stream is not an option of the kinesis source"),
        ({"maxRecordsPerBatch": "many"}, "maxRecordsPerBatch must be an integer of at least 1, found 'many'"),
        ({"failOnDataLoss": "perhaps"}, "failOnDataLoss must be true or false, found 'perhaps'"),
        (
            {"startingPosition": "oldest"},
            "start must be one of trim_horizon, latest, at_timestamp, found 'oldest'",
        ),
        ({"startingTimestamp": "2026-01-01T00:00:00+00:00"}, "go together"),
    ],
)
def test_wrong_options(wrong, said):
    with pytest.raises(ValueError, match=said):
        kinesis.parse({"streamName": "s"} | wrong)


def test_a_wrong_stream_is_one_sentence(spark, stream):
    df = spark.read.format("kinesis").options(**options(stream) | {"streamName": "nowhere"}).load()
    with pytest.raises(Exception, match="no stream nowhere in region us-east-1"):
        df.collect()
