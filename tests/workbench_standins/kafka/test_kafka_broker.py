"""The broker on this machine: a real one, on loopback only, that ends with whoever started it."""

import os
import socket
import tomllib
import uuid
from pathlib import Path

import kafka_broker
import parents
import psutil
import pytest
from waiting import until

from workbench._base import children, jars, java
from workbench_standins import kafka
from workbench_standins.kafka import node

PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def broker(request):
    return kafka_broker.serving(request.config)


def produce(broker, topic, *values, timeout_seconds=60):
    """Send values to partition 0; returns the errors there were."""
    from confluent_kafka import Producer

    producer, errors = (
        Producer({"bootstrap.servers": broker.bootstrap, "message.timeout.ms": timeout_seconds * 1000}),
        [],
    )
    for value in values:
        producer.produce(topic, value=value, partition=0, on_delivery=lambda error, _: errors.append(error))
    producer.flush()
    return [error.name() for error in errors if error]


def consume(broker, topic, count):
    """The first records of partition 0: (offset, value)."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "test", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        found = consumer.consume(count, timeout=PATIENCE_SECONDS)
        return [(one.offset(), one.value()) for one in found]
    finally:
        consumer.close()


def of_folder(folder):
    """The JVMs whose settings are in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(folder) in " ".join(process.cmdline()) and "kafka.Kafka" in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_records_come_back_in_order(broker):
    broker.create_topic("orders", partitions=3)
    assert produce(broker, "orders", b"1", b"2", b"3") == []
    assert consume(broker, "orders", 3) == [(0, b"1"), (1, b"2"), (2, b"3")]
    assert broker.topics()["orders"] == 3


def test_a_topic_that_was_made_again_begins_at_its_first_offset(broker):
    broker.create_topic("again")
    assert produce(broker, "again", b"old", b"older") == []
    broker.delete_topic("again")
    until(lambda: "again" not in broker.topics())
    broker.create_topic("again")
    assert produce(broker, "again", b"new") == []
    assert consume(broker, "again", 1) == [(0, b"new")]


def test_what_a_broker_refuses_is_a_sentence(broker):
    broker.create_topic("taken")
    with pytest.raises(ValueError, match="the topic 'taken' was not made: Topic 'taken' already exists"):
        broker.create_topic("taken")
    with pytest.raises(ValueError, match="the topic 'nowhere' was not removed: .*Unknown topic"):
        broker.delete_topic("nowhere")
    with pytest.raises(ValueError, match="the topic 'taken' keeps its partitions: "):
        broker.add_partitions("taken", 1)
    assert len(produce(broker, "tkaen", b"1", timeout_seconds=1)) == 1
    assert "tkaen" not in broker.topics()  # a mistyped topic is not made by its first record


@pytest.mark.parametrize("partitions", [-1, 0, True, 2.0, "3", None])
def test_a_topic_has_a_whole_number_of_partitions(partitions):
    """With -1 the broker took its own default, and half a minute later nobody had heard of -1 partitions."""
    nowhere = kafka.Broker("127.0.0.1:1", None)
    why = f"partitions must be an integer of at least 1, found {partitions!r}"
    for call in (
        lambda: nowhere.create_topic("t", partitions=partitions),
        lambda: nowhere.add_partitions("t", partitions),
    ):
        with pytest.raises(ValueError) as told:
            call()
        assert str(told.value) == why
    with pytest.raises(ValueError, match="name must be a text of at least 1 character, found None"):
        nowhere.create_topic(None)


def test_it_listens_on_loopback_only(broker):
    [process] = of_folder(broker.folder)
    listening = {one.laddr.ip for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"} and listening


def test_what_it_writes_is_the_owners_alone(broker):
    for path in (broker.folder / "server.properties", broker.folder / "data"):
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.proof(
    "test_data_outlive_a_killed_parent_in_a_folder_that_one_broker_has shows it with a kill besides"
)
def test_data_stay_in_a_folder_and_one_broker_has_it(tmp_path):
    node.fetch()
    with kafka.serve(tmp_path / "mine") as first:
        first.create_topic("kept")
        assert produce(first, "kept", b"1", b"2") == []
        with pytest.raises(ValueError, match="mine is in use by another server"), kafka.serve(tmp_path / "mine"):
            pass
    assert not of_folder(tmp_path)
    with kafka.serve(tmp_path / "mine") as second:
        assert consume(second, "kept", 2) == [(0, b"1"), (1, b"2")]


@pytest.mark.proof("test_data_outlive_a_killed_parent_in_a_folder_that_one_broker_has shows the same end")
def test_it_ends_when_its_parent_is_killed(tmp_path):
    node.fetch()
    code = (
        "import sys, time\nfrom workbench_standins import kafka\n"
        "with kafka.serve(sys.argv[1]) as broker:\n    print(broker.bootstrap, flush=True)\n    time.sleep(600)"
    )
    with parents.serving(code, tmp_path / "mine") as (_, said):
        assert said.startswith("127.0.0.1:") and len(of_folder(tmp_path)) == 1
    until(lambda: not of_folder(tmp_path))


SERVES = """
import sys, time
from confluent_kafka import Producer
from workbench_standins import kafka
with kafka.serve(sys.argv[1]) as broker:
    broker.create_topic("kept")
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for value in (b"1", b"2"):
        producer.produce("kept", value=value, partition=0)
    print(broker.bootstrap, producer.flush(60), flush=True)
    time.sleep(600)
"""


def test_data_outlive_a_killed_parent_in_a_folder_that_one_broker_has(tmp_path):
    node.fetch()
    with parents.serving(SERVES, tmp_path / "mine") as (_, said):
        assert said.startswith("127.0.0.1:") and said.endswith(" 0\n")
        assert len(of_folder(tmp_path)) == 1
        with pytest.raises(ValueError, match="mine is in use by another server"), kafka.serve(tmp_path / "mine"):
            pass
    until(lambda: not of_folder(tmp_path))
    with kafka.serve(tmp_path / "mine") as second:
        assert consume(second, "kept", 2) == [(0, b"1"), (1, b"2")]
    assert not of_folder(tmp_path)


def refused(kind, match, **arguments):
    with pytest.raises(kind, match=match), kafka.serve(**arguments):
        pass


def test_arguments_that_do_not_go_are_refused(tmp_path, monkeypatch):
    node.fetch()
    refused(ValueError, "port must be an integer of at least 0 and of at most 65535, found True", port=True)
    refused(ValueError, "not both", folder=tmp_path, within=tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(ValueError, f"port {port} of 127.0.0.1 cannot be had", port=port)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    refused(ValueError, "other holds other things", folder=tmp_path / "other")
    monkeypatch.setattr(kafka.importlib.util, "find_spec", lambda name: None)
    refused(ModuleNotFoundError, r"confluent-kafka is not installed: pip install 'iceberg-workbench\[kafka\]'")


def test_missing_jars_are_named_with_the_command_that_fetches_them(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    refused(
        ValueError,
        r"at.yawk.lz4:lz4-java:1.10.1 is missing; .* and 43 more: fetch with `workbench local kafka --fetch`",
    )


def test_the_jars_are_those_of_the_file_and_no_others():
    table = tomllib.loads(Path(node.__file__).with_name("jars.toml").read_text())["broker"]
    assert "org.apache.kafka:kafka_2.13:4.1.2" in table and len(table) == 46
    assert node.fetch() == [jars.file(one) for one in table] and not jars.problems(table)


@pytest.mark.proof("test_ports_that_are_taken_meanwhile_are_tried_again shows it for the S3 server")
def test_a_port_that_is_taken_meanwhile_is_tried_again(tmp_path, taken_meanwhile):
    node.fetch()
    tried = taken_meanwhile("broker")
    process, port = node.start(tmp_path, 0)
    children.end(process, haste=True, patience_seconds=20)
    assert port == tried[1]["broker"] and len(tried) == 2


def test_a_broker_that_cannot_start_says_its_last_words(tmp_path, monkeypatch):
    node.fetch()
    monkeypatch.setattr(node, "OPTIONS", [*node.OPTIONS, "-XX:+NoSuchFlag"])
    with pytest.raises(ChildProcessError, match="storage was not formatted: .*NoSuchFlag"):
        node.start(tmp_path, 0)
    assert java.find()
    assert os.listdir(tmp_path)


def test_no_cluster_id_looks_like_an_option(monkeypatch):
    drawn = iter([uuid.UUID(bytes=b"\xf8" + bytes(15)), uuid.UUID(bytes=b"\xfb" * 16), uuid.UUID(int=0)])
    monkeypatch.setattr(node.uuid, "uuid4", lambda: next(drawn))
    assert node.cluster_id() == "A" * 22


def test_a_topic_counts_as_made_and_as_gone_when_the_broker_tells_so(broker, monkeypatch):
    """The controller answers before the broker knows; on a busy machine a topic was missing right after it was made."""
    real, told = kafka.Broker.topics, []

    def late(self):
        """Thrice what was there before."""
        told.append(before if len(told) < 3 else real(self))
        return told[-1]

    monkeypatch.setattr(kafka.Broker, "topics", late)
    before = real(broker)
    broker.create_topic("late", partitions=2)
    assert [one.get("late") for one in told] == [None, None, None, 2]
    told.clear()
    before = real(broker)
    broker.delete_topic("late")
    assert [one.get("late") for one in told] == [2, 2, 2, None]
    monkeypatch.setattr(kafka.Broker, "topics", lambda self: before)
    monkeypatch.setattr(kafka, "PATIENCE_SECONDS", 0.2)
    with pytest.raises(TimeoutError, match="'never': 1 partitions expected, the broker lists None"):
        broker.create_topic("never")
