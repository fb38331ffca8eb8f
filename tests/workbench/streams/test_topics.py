"""A partition read from a position on: offsets, ends, transactions, what was trimmed, what is refused."""

import json
import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, TopicPartition
from topic_server import Made, broker, topic

from workbench import streams
from workbench.streams.readers import shards, topics
from workbench.streams.readers.reading import Progress
from workbench.streams.readers.sources import StreamNotFound


def read(source, position="", *, partition="0", limit=1000):
    """(ids or values, Progress) of a partition from a position."""
    progress, values = Progress(position or None), []
    for records in source.read(shards.Task(partition, position, limit), progress):
        values += [json.loads(one)["id"] if one.startswith(b"{") else one for one in records.data]
    return values, progress


def until(reading, right=bool):
    """Read until it is right, a minute at most: a transaction's end is known before its mark is in the partition."""
    end = time.monotonic() + 60
    while not right(found := reading()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def test_a_partition_is_read_to_its_end_and_on_from_there(topic):
    topic.send(range(10))
    values, progress = read(topic.source())
    assert (values, progress.position, progress.behind_millis, progress.gap) == ([0, 2, 4, 6, 8], "4", 0, None)
    assert read(topic.source(), "4")[0] == []
    topic.send(range(10, 14))
    assert read(topic.source(), "4")[0] == [10, 12]
    assert read(topic.source(), partition="1")[0] == [1, 3, 5, 7, 9, 11, 13]


def test_a_limit_leaves_the_rest_behind(topic):
    topic.send(range(20))
    values, progress = read(topic.source(), limit=4)
    assert (values, progress.position) == ([0, 2, 4, 6], "3") and progress.behind_millis > 0
    values, progress = read(topic.source(), "3", limit=6)
    assert values == [8, 10, 12, 14, 16, 18]
    assert progress.behind_millis == 0  # the last one was taken by the very limit


def test_what_a_record_says_of_itself(topic):
    when = 1_767_225_600_123
    topic.send([6], timestamp=when)
    records = next(topic.source().read(shards.Task("0", "", 10), Progress(None)))
    assert (records.sequence, records.key, records.arrived) == (["0"], ["key-6"], [when / 1000])


def test_a_time_in_another_unit_is_none():
    """A producer that gave nanoseconds stopped the stream for good: no timestamp holds them. -1 is Kafka's own word for none."""

    def message(millis):
        return SimpleNamespace(
            value=lambda: b"{}",
            offset=lambda: 0,
            key=lambda: None,
            timestamp=lambda: (TIMESTAMP_CREATE_TIME, millis),
        )

    nanos, micros, last = 1_767_225_600_123_000_000, 1_767_225_600_123_000, 253_402_300_799_999
    found = topics._records([message(one) for one in (nanos, micros, last, 0, -(2**62), -1, -2)])
    assert found.arrived == [None, None, last / 1000, 0, None, None, -0.002]


def test_a_value_and_a_key_that_are_not_there_are_not_empty(topic):
    values, keys = [None, b"", b"x", b"x", b"x"], ["k", "k", None, "", b"\xff"]
    for value, key in zip(values, keys, strict=True):
        topic.send([0], record=lambda n, value=value: value, key=lambda n, key=key: key)
    records = next(topic.source().read(shards.Task("0", "", 10), Progress(None)))
    assert (records.data, records.key) == ([None, b"", b"x", b"x", b"x"], ["k", "k", None, "", "\ufffd"])


def test_aborted_records_are_not_read_and_their_marks_are_passed(topic):
    producer = topic.producer(**{"transactional.id": topic.name})
    producer.init_transactions(30)
    for ids, end in (((0, 2), "abort_transaction"), ((4, 6), "commit_transaction"), ((8,), "abort_transaction")):
        producer.begin_transaction()
        topic.send(ids, producer=producer)
        getattr(producer, end)(30)
    values, progress = until(lambda: read(topic.source()), lambda found: found[1].position == "7")
    assert (values, progress.behind_millis) == ([4, 6], 0)
    assert progress.position == "7"  # five records and three marks
    assert read(topic.source(), progress.position)[0] == []


def test_records_of_an_open_transaction_wait(topic):
    topic.send([0])
    producer = topic.producer(**{"transactional.id": topic.name})
    producer.init_transactions(30)
    producer.begin_transaction()
    topic.send([2], producer=producer)
    topic.send([4])
    values, progress = read(topic.source())
    assert (values, progress.position, progress.behind_millis) == ([0], "0", 0)
    producer.commit_transaction(30)
    assert until(lambda: read(topic.source(), progress.position)[0]) == [2, 4]


def test_what_was_trimmed_unread_is_said_to_the_offset(topic):
    topic.send(range(0, 20, 2))
    topic.trim(0, 6)
    assert read(topic.source(), "5")[0] == [12, 14, 16, 18]  # all that is gone was read
    for position, first in (("", 0), ("2", 3)):
        with pytest.raises(
            shards.RecordsLost, match=rf"partition 0 of .*: offsets {first} to 5 were trimmed unread"
        ):
            read(topic.source(), position)
        values, progress = read(topic.source(fail_on_data_loss=False), position)
        assert values == [12, 14, 16, 18] and f"offsets {first} to 5" in progress.gap and progress.position == "9"


def test_everything_trimmed_is_a_gap_up_to_the_end(topic):
    topic.send(range(0, 10, 2))
    topic.trim(0, 5)
    values, progress = read(topic.source(fail_on_data_loss=False), "1")
    assert (values, progress.position) == ([], "4") and "offsets 2 to 4" in progress.gap


def test_records_trimmed_while_they_are_read(topic):
    """The log's beginning moves past the reader between its look at the offsets and its first fetch."""
    topic.send(range(0, 20, 2))
    source = topic.source()
    client, progress, task = topics.consumer(source.bootstrap, ()), Progress(None), shards.Task("0", "", 100)
    topic.trim(0, 6)  # behind the look that said 0, which is why _inside is passed over here
    client.assign([TopicPartition(topic.name, 0, 0)])
    with pytest.raises(shards.RecordsLost, match="offsets 0 to 5"):
        list(topics._taken(source, client, task, progress, 0))
    client.unassign()


def test_a_partition_shorter_than_it_was_is_not_read_on(topic):
    topic.send(range(0, 10, 2))
    with pytest.raises(shards.RecordsLost, match="ends at offset 4, and it was read up to 9"):
        read(topic.source(), "9")


def test_beginnings(topic):
    topic.send(range(0, 10), timestamp=1_000_000)
    topic.send(range(10, 20), timestamp=2_000_000)
    topic.trim(1, 3)

    def first(**options):
        source = topic.source(**options)
        return source.begin(source.describe())

    assert first() == {"1": "2"}  # partition 0 from its first offset
    assert first(start="latest") == {"0": "9", "1": "9"}
    at = datetime.fromtimestamp(1500, UTC)
    assert first(start="at_timestamp", at=at) == {"0": "4", "1": "4"}
    assert first(start="at_timestamp", at=datetime.fromtimestamp(9000, UTC)) == {"0": "9", "1": "9"}


def test_a_topic_made_again_is_another_one(broker, topic):
    before = topic.source().describe()
    assert before.arn.endswith(f":{topic.name}") and sorted(before.shards) == ["0", "1"]
    assert topic.source().describe() == before
    broker.delete_topic(topic.name)
    end = time.monotonic() + 60
    while topic.name in broker.topics() and time.monotonic() < end:
        time.sleep(0.1)
    broker.create_topic(topic.name, partitions=2)
    again = topic.source().describe()
    assert (again.arn, again.shards) == (before.arn, before.shards) and again.created != before.created


def test_no_such_topic_names_those_there_are(broker, topic):
    source = topics.Topic("nothing", broker.bootstrap)
    with pytest.raises(StreamNotFound, match=rf"no topic nothing at {broker.bootstrap}; there is .*{topic.name}"):
        source.describe()
    with pytest.raises(StreamNotFound, match="no topic nothing"):
        read(source)


def test_no_broker(monkeypatch):
    monkeypatch.setattr(topics, "CALL_SECONDS", 1.0)
    with pytest.raises(ValueError, match=r"no broker answers at 127\.0\.0\.1:9"):
        topics.Topic("sales", "127.0.0.1:9").describe()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topic": ""}, "topic must be a text, found ''"),
        ({"bootstrap": None}, "bootstrap must be a text, found None"),
        ({"config": {"sasl.password": "hunter2"}}, "a value under the name sasl.password; give a reference"),
        ({"config": {"group.id": "mine"}}, "config has group.id, which is set by the ingest itself"),
        ({"start": "earliest"}, "start must be one of trim_horizon, latest, at_timestamp, found 'earliest'"),
        ({"max_records_per_batch": 0}, "max_records_per_batch must be an integer of at least 1, found 0"),
    ],
)
def test_arguments_that_do_not_go(options, said):
    with pytest.raises(ValueError, match=said):
        topics.Topic(**{"topic": "sales", "bootstrap": "127.0.0.1:9092"} | options)


def test_a_setting_that_is_none_is_named(topic):
    with pytest.raises(ValueError, match=r"refuses its settings: .*no\.such\.setting"):
        topic.source(config={"no.such.setting": "1"}).describe()


def test_a_secret_comes_from_where_the_reference_says(topic, monkeypatch):
    monkeypatch.setenv("KAFKA_WORD", "open sesame")
    assert topics.settings((("sasl.password", "env:KAFKA_WORD"),)) == {"sasl.password": "open sesame"}
    assert "open sesame" not in repr(topic.source(config={"sasl.password": "env:KAFKA_WORD"}))


def test_records_are_produced_and_counted(topic):
    assert streams.produce(topic.source(), [(f"k{n}", b"%d" % n) for n in range(50)]) == 50
    found = sorted(read(topic.source(), partition="0")[0] + read(topic.source(), partition="1")[0])
    assert found == sorted(b"%d" % n for n in range(50))


def test_records_that_are_too_large_or_have_no_broker_are_not_said_to_be_sent(topic):
    with pytest.raises(TimeoutError, match="took 0 of 1 records"):
        streams.produce(topics.Topic("sales", "127.0.0.1:9"), [("k", b"x")], patience_seconds=0.5)
    small = Made(topic.broker, "small", **{"max.message.bytes": "1000"})
    with pytest.raises(TimeoutError, match="took . of 2 records: .*too large"):
        streams.produce(small.source(), [("k", b"x"), ("k", b"x" * 5000)])
