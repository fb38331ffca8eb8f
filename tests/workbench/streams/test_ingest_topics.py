"""A topic into a table, each record once: restarts, kills, a second writer, trimmed and remade topics."""

import os
import signal
import subprocess
import sys

import inside
import pytest
from py4j.protocol import Py4JError
from topic_server import broker, made_again, topic

from workbench import session, streams
from workbench.streams import loop, positions
from workbench.streams.readers import shards
from workbench.tables import commits
from workbench_proofs import kills

SCHEMA = "id BIGINT NOT NULL, text STRING"
PARSE = streams.Json(SCHEMA)
WAIT_SECONDS = 420


@pytest.fixture
def command(monkeypatch, capsys):
    return inside.command(monkeypatch, capsys)


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.events"
    spark.sql(f"CREATE TABLE {name} ({SCHEMA}, shard_id STRING, offset BIGINT) USING iceberg")
    return name


def ingest(spark, table, topic, *, source=None, **options):
    given = {"parse": PARSE, "lineage": ["shard_id", "offset"]} | options
    return streams.ingest(spark, table, source=topic.source(**(source or {})), **given)


def ids(table):
    """Ids as PyIceberg reads them: another reader than the one that wrote."""
    return sorted(session.catalog("local").load_table(table).scan().to_arrow()["id"].to_pylist())


def test_rows_with_their_offsets_and_dead_letters(spark, table, topic):
    topic.send(range(40), record=lambda n: b"bad" if n == 7 else {"id": n, "text": "x"})
    letters = f"{table}_dead"
    done = ingest(spark, table, topic, dead_letters=letters, source={"max_records_per_batch": 25})
    assert (done.records, done.good, done.dead, done.caught_up, done.batches) == (40, 39, 1, True, 2)
    assert ids(table) == [n for n in range(40) if n != 7]
    assert spark.table(table).where("id != 2 * offset + int(shard_id)").count() == 0
    dead = spark.table(letters).collect()[0]
    assert (dead.shard_id, dead.sequence_number, dead.partition_key, bytes(dead.raw)) == (
        "1",
        "3",
        "key-7",
        b"bad",
    )
    assert dead.stream_arn.startswith("kafka:") and dead.stream_created is None
    topic.send(range(40, 44))
    again = ingest(spark, table, topic, dead_letters=letters)
    assert again.resumed and again.good == 4 and ids(table)[-4:] == [40, 41, 42, 43]
    assert ingest(spark, table, topic, dead_letters=letters).records == 0


def test_duplicates_keep_the_first_offset(spark, table, topic):
    for turn in range(12):  # offsets 0 to 11 of partition 0: as text, 10 is before 2
        topic.send([0], record=lambda n, turn=turn: {"id": 1, "text": f"{turn}"})
    done = ingest(spark, table, topic, record_key=streams.RecordKey(("id",)))
    row = spark.table(table).collect()
    assert (done.duplicates, [(one.text, one.offset) for one in row]) == (11, [("0", 0)])


def test_partitions_that_are_added_are_read_from_their_first_record(spark, table, topic):
    topic.send(range(4))
    ingest(spark, table, topic, source={"start": "latest"})
    topic.grow(3)
    topic.send(range(4, 10), partitions=3)
    ingest(spark, table, topic)
    assert ids(table) == [4, 5, 6, 7, 8, 9]


def test_a_topic_made_again_is_refused_and_then_read_from_its_beginning(spark, broker, table, topic):
    topic.send(range(6))
    ingest(spark, table, topic)
    made_again(broker, topic)
    topic.send(range(100, 104))  # offsets that the table knows, of other records
    with pytest.raises(shards.RecordsLost, match="the stream test-.*, which was deleted and made again"):
        ingest(spark, table, topic)
    done = ingest(spark, table, topic, source={"fail_on_data_loss": False})
    assert len(done.lost) == 1 and ids(table) == [*range(6), *range(100, 104)]


def test_a_topic_made_again_while_it_is_read_brings_nothing_of_the_new_one(
    spark, broker, table, topic, monkeypatch
):
    topic.send(range(2))
    ingest(spark, table, topic)
    whole = loop.shards.plan

    def planned(*arguments, **more):  # the run has looked at the topic, and has not read yet
        monkeypatch.undo()
        made_again(broker, topic)
        topic.send(range(100, 110))
        return whole(*arguments, **more)

    monkeypatch.setattr(loop.shards, "plan", planned)
    with pytest.raises(shards.RecordsLost, match="was deleted and made again while it was read"):
        ingest(spark, table, topic)
    assert ids(table) == [0, 1]


def test_trimmed_unread_stops_before_anything_is_committed(spark, table, topic):
    topic.send(range(8))
    ingest(spark, table, topic)
    topic.send(range(8, 20))
    topic.trim(0, 7)
    before = commits.head(commits.load(spark, table))
    with pytest.raises(shards.RecordsLost, match="offsets 4 to 6 were trimmed unread"):
        ingest(spark, table, topic)
    assert commits.head(commits.load(spark, table)) == before
    done = ingest(spark, table, topic, source={"fail_on_data_loss": False})
    assert done.good == 9 and "offsets 4 to 6" in done.lost[0]


@pytest.mark.proof("test_a_zombie_is_refused_wherever_it_was_stopped shows it for a stream of Kinesis")
def test_the_second_of_two_writers_is_told(spark, table, topic):
    topic.send(range(10))

    def first_come(batch):
        topic.send(range(10, 20))
        ingest(spark, table, topic, on_batch=lambda _: None)

    with pytest.raises(positions.AnotherWriter):
        ingest(spark, table, topic, on_batch=first_come, max_batches=2, until_caught_up=False)
    assert ids(table) == [*range(20)]


@pytest.mark.proof(
    "11_survive_kills kills an ingest of Kinesis, which goes on by the same loop, and "
    "test_each_record_is_once_a_row_or_a_dead_letter stops one between dead letters and rows"
)
@pytest.mark.parametrize("window", [one for one in kills.WINDOWS if one != "reading"])
def test_killed_in_a_window_and_run_again(spark, table, topic, window):
    topic.send(range(4_000), record=lambda n: b"bad" if n % 10 == 0 else {"id": n, "text": "x" * 50})
    letters, expected = f"{table}_dead", [n for n in range(4_000) if n % 10]
    process = kills.start(
        table, "--topic", topic.name, "--bootstrap", topic.broker.bootstrap, "--schema", SCHEMA, "--environment",
        "local", "--max-records-per-batch", 400, "--dead-letters", letters,
    )  # fmt: skip
    try:
        watch = kills.Watch(session.catalog("local"), table, dead_letters=letters)
        killed = kills.strike(process, watch, window, timeout_seconds=WAIT_SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert killed is not None and killed.window == window and process.returncode == -9
    before = ids(table)
    assert 0 < len(before) < len(expected)
    done = ingest(spark, table, topic, dead_letters=letters)
    assert done.resumed and done.good == len(expected) - len(before) and ids(table) == expected
    rows = session.catalog("local").load_table(letters).scan().to_arrow().to_pylist()
    assert len(rows) == 400 == len({(row["shard_id"], row["sequence_number"]) for row in rows})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--topic", "sales"), "--topic needs --bootstrap"),
        ((), "name --stream, of Kinesis, or --topic, of Kafka, and not both"),
        (("--stream", "sales", "--bootstrap", "127.0.0.1:9092"), "go with --topic"),
        (
            ("--topic", "sales", "--bootstrap", "127.0.0.1:9092", "--kafka-config", "x"),
            "--kafka-config must be NAME=VALUE, found 'x'",
        ),
    ],
)
def test_a_command_that_does_not_go_is_a_sentence(arguments, said, command):
    refused = command("ingest", "ns.t", "--schema", SCHEMA, *arguments, cwd=".")
    assert refused.returncode == 2 and said in refused.stderr


@pytest.mark.parametrize(
    "error", [Py4JError("An error occurred"), ConnectionRefusedError("no JVM"), KeyError("ours")]
)
def test_a_spark_that_fails_is_a_sentence_and_a_bug_of_ours_is_not(error, monkeypatch, command):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(session, "start", fails)
    arguments = ["ns.t", "--schema", SCHEMA, "--topic", "sales", "--bootstrap", "127.0.0.1:9092"]
    failed = command("ingest", *arguments, cwd=".")
    said = "this is a defect" if isinstance(error, KeyError) else "Nothing is lost: run it again"
    assert failed.returncode == 1 and said in failed.stderr
    assert ("Traceback" in failed.stderr) == isinstance(error, KeyError)


def test_the_name_it_had_in_the_first_version_goes_on():
    command = [sys.executable, "-m", "workbench.streams", "ns.t", "--schema", SCHEMA]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.splitlines() == [
        "workbench: `python -m workbench.streams` is now `workbench ingest`",
        "workbench: name --stream, of Kinesis, or --topic, of Kafka, and not both",
    ]
