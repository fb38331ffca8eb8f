"""Records of the Kinesis Producer Library: aggregates as their format says, and what is only like one."""

import base64
from types import SimpleNamespace

import pytest
from aggregate_cases import MAGIC, aggregate, field, message, record, sealed
from stream_server import server, stream
from test_avro_values import schema
from test_protobuf import KINDS, of

from workbench import streams
from workbench.records import aggregates, parsing
from workbench.streams import kinesis
from workbench.streams.readers import reading, shards, sources
from workbench.streams.readers.reading import Records
from workbench.streams.readers.sources import Stream

JSON = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": False, "metadata": {}}]}
PARSERS = [
    parsing.Parser(JSON, False),
    streams.Avro(schema("long")).parser(),
    streams.Avro(schema("long"), writers={1: schema("long")}).parser(),
    streams.Protobuf(of(("id", KINDS.TYPE_INT64, KINDS.LABEL_OPTIONAL)), "One").parser(),
]
GOOD = [b'{"id": 1}', b'{"id": 2}']


# the format


def test_a_published_aggregate_of_two_keys():
    """Of the tests of awslabs/lambda-streams-to-firehose."""
    raw = base64.b64decode(
        "84mawgoFa2V5LTAKBWtleS0xGiUIABohVGVzdGluZyBLUEwgQWdncmVnYXRlZCBSZWNvcmQgMi0wGiUIARohVGVzdGluZyBLUEwgQWdncmVn"
        "YXRlZCBSZWNvcmQgMi0xHSUjhhzfXunP+g/ETnSEIQ=="
    )
    assert aggregates.records(raw, "of the whole") == [
        (b"Testing KPL Aggregated Record 2-0", "key-0", None),
        (b"Testing KPL Aggregated Record 2-1", "key-1", None),
    ]


def test_a_published_aggregate_of_a_hundred_records():
    """Of the README of awslabs/kinesis-aggregation, which says what is in it; here is its digest."""
    alphabet = b"abcdefghijklmnopqrstuvwxyz"
    records = [(alphabet[:: -1 if n % 2 else 1], 0, 0) for n in range(100)]
    raw = aggregate(*records, keys=["abc"], hash_keys=["191415658344158766168031473277922803570"])
    assert base64.b64encode(raw[-16:]) == b"0I8WvwEDJiGD4YsiKIfUOw=="
    assert aggregates.records(raw, "abc") == [(data, "abc", None) for data, _, _ in records]


def test_tables_may_be_anywhere_and_other_fields_are_passed_over():
    tags = field(4, field(1, b"name") + field(2, b"value"))
    first = field(3, field(3, b"one") + tags + field(1, 1))
    others = (
        field(9, 300) + field(10, b"x" * 300) + bytes([11 << 3 | 1]) + b"8 bytes!" + bytes([12 << 3 | 5]) + b"four"
    )
    body = first + others + record(b"", 0) + field(1, "schlüssel".encode()) + field(1, b"\xff")
    assert aggregates.records(sealed(body), "k") == [(b"one", "\ufffd", None), (b"", "schlüssel", None)]


@pytest.mark.parametrize(
    ("wrong", "key", "said"),
    [
        ((b"x", 2), None, "names the partition key 2, counted from 0, of an aggregate that has 2"),
        ((b"x", 2**64 - 1), None, "names the partition key 18446744073709551615, counted from 0"),
        ((b"x", 1, 0), "b", "names the explicit hash key 0, counted from 0, of an aggregate that has 0"),
    ],
)
def test_a_key_that_is_not_there_is_wrong_with_its_record_alone(wrong, key, said):
    first, second, third = aggregates.records(aggregate((b"1", 0), wrong, (b"3", 1), keys="ab"), "k")
    assert (first, third) == ((b"1", "a", None), (b"3", "b", None))
    data, own_key, (reason, text) = second
    assert (data, own_key, reason) == (b"x", key, "unknown_key") and said in text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "it has no record"),
        (field(1, b"key"), "it has no record"),
        (field(3, field(1, 0)), "a record has no data"),
        (field(3, field(3, b"x")), "a record has no partition key"),
        (message(b"x") + b"\x1a", "a number ends behind its end"),
        (message(b"x") + b"\x1a\xff", "a number ends behind its end"),
        (message(b"x") + b"\x1a\x05abc", "field 3 ends 2 bytes behind its end"),
        (message(b"x") + b"\x49abc", "field 9 ends 5 bytes behind its end"),
        (message(b"x")[:-1] + b"\x7f", None),
        (field(3, 7), "field 3 has wire type 0, expected 2"),
        (field(3, field(1, b"0") + field(3, b"x")), "field 1 has wire type 2, expected 0"),
        (b"\x4b" + message(b"x"), "field 9 has wire type 3"),
        (b"\x00\x00" + message(b"x"), "a field has the number 0"),
        (b"\xff" * 6 + message(b"x"), "a number has more than 5 bytes"),
        (b"\xf8\xff\xff\xff\x1f\x01" + message(b"x"), "a field has the number 1073741823"),
        (field(3, field(1, 2**64) + field(3, b"x")), "field 1 has a number of more than 64 bits"),
    ],
)
def test_a_message_that_cannot_be_read_is_one_record_that_says_why(body, said):
    raw = sealed(body)
    if said is None:  # only its last byte is another one
        assert aggregates.records(raw, "k") == [(b"\x7f", "key", None)]
        return
    ((data, key, (reason, text)),) = aggregates.records(raw, "k")
    assert (data, key, reason) == (raw, "k", "aggregated") and text.endswith(said)
    assert aggregates.reason(raw) == (reason, text)


def test_what_is_damaged_or_only_begins_like_one_is_an_ordinary_record():
    whole = aggregate(*GOOD)
    for raw in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[:-1], whole + b"\n", MAGIC, whole[:10], b"", b"{}"):
        assert aggregates.records(raw, "k") == [(raw, "k", None)]


def test_an_aggregate_among_others_is_seen():
    whole, others = aggregate(*GOOD), [b"", b"{}", b"\xf2", b"\xff" * 9]
    assert all(aggregates.among([*others[:n], whole, *others[n:]]) for n in range(5))
    assert not aggregates.among(others) and not aggregates.among([]) and not aggregates.among([MAGIC[:3]])


# one that no source took apart: of Kafka, or within another one


@pytest.mark.parametrize("parser", PARSERS)
def test_an_aggregate_is_a_dead_letter_of_its_own_name(parser):
    found = parser([aggregate(b'{"id": 1}', b'{"id": 2}' + b" " * 150, b"")])
    ((place, reason, message),) = found.dead
    assert (place, reason, found.good) == (0, "aggregated", [])
    assert message.startswith("3 records that the Kinesis Producer Library packed into one") and len(message) < 200


@pytest.mark.parametrize("parser", PARSERS)
def test_what_is_damaged_or_only_begins_like_one_is_a_record_like_others(parser):
    whole = aggregate(b'{"id": 1}')
    others = [whole[:-1] + bytes([whole[-1] ^ 1]), whole[:-1], aggregates.MAGIC, whole[:10]]
    assert not {reason for _, reason, _ in parser(others).dead} & {"aggregated"}
    assert len(parser(others).dead) == 4


def test_an_aggregate_of_nothing_that_can_be_walked_through():
    assert aggregates.reason(sealed(b"\x1a\xff"))[0] == "aggregated"


def test_a_proposal_says_that_the_sample_is_of_aggregates():
    stream = SimpleNamespace(stream="s", describe=lambda: Stream("arn", 0, 24, {"a": ()}, frozenset("a")))
    stream.begin = lambda _: {}
    stream.read = lambda task, progress: [Records([aggregate(b"{}"), b"no"], ["1", "2"], ["k", "k"], [0.0, 0.0])]
    with pytest.raises(ValueError, match="s gave 2 records and none .* 1 of them are aggregates of the Kinesis"):
        streams.propose(stream)


# a shard that has some


@pytest.fixture
def mixed(stream):
    """A record, an aggregate of three, one that cannot be taken apart, a record: all in one shard."""
    within = aggregate((b"1", 0), (b"2", 1), (b"3", 7), keys="ab")
    stream.sent = [b"0", within, sealed(b""), b"4"]
    stream.send(range(4), key=lambda n: "k", record=lambda n: stream.sent[n])
    (shard,) = {one["ShardId"] for one in stream.client.list_shards(StreamName=stream.name)["Shards"]} - {
        task.shard for task in plan(stream) if not taken(stream, shards.Task(task.shard, shards.OLDEST, 9))[0].data
    }
    stream.shard = shard
    return stream


def plan(stream):
    return shards.plan(sources.describe(stream.source()), {}, 100)


def taken(stream, task):
    """All that a task takes, as one Records, and the progress."""
    progress, found = reading.Progress(task.position or None), Records([], [], [], [], [])
    for records in reading.read(stream.source(), task, progress):
        found.wrong.update({len(found) + place: said for place, said in records.wrong.items()})
        found.within.extend(records.places())
        for name in ("data", "sequence", "key", "arrived"):
            getattr(found, name).extend(getattr(records, name))
    return found, progress


def test_a_shard_is_read_record_by_record(mixed):
    found, progress = taken(mixed, shards.Task(mixed.shard, shards.OLDEST, 100))
    assert found.data == [b"0", b"1", b"2", b"3", mixed.sent[2], b"4"]
    assert found.key == ["k", "a", "b", None, "k", "k"] and found.within == [0, 0, 1, 2, 0, 0]
    assert {place: reason for place, (reason, _) in found.wrong.items()} == {3: "unknown_key", 4: "aggregated"}
    assert found.sequence[1] == found.sequence[2] == found.sequence[3] and len(set(found.sequence)) == 4
    assert (progress.position, progress.behind_millis) == (found.sequence[-1], 0)


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (2, 4), (4, 4), (5, 5), (6, 6), (9, 6)])
def test_a_limit_counts_records_and_takes_an_aggregate_whole(mixed, limit, count):
    every, _ = taken(mixed, shards.Task(mixed.shard, shards.OLDEST, 100))
    found, progress = taken(mixed, shards.Task(mixed.shard, shards.OLDEST, limit))
    assert len(found) == count and progress.position == found.sequence[-1]
    assert (progress.behind_millis > 0) == (count < 6)
    rest, _ = taken(mixed, shards.Task(mixed.shard, progress.position, 100))
    assert found.data + rest.data == every.data and found.within + rest.within == every.within
    again, _ = taken(mixed, shards.Task(mixed.shard, shards.OLDEST, 10**9, upto=progress.position))
    assert again.data == found.data and again.wrong == found.wrong


def test_a_proposal_reads_what_is_within(stream):
    stream.send([0], record=lambda n: aggregate(*GOOD))
    found = streams.propose(stream.source())
    assert (found.schema, found.records, found.not_objects) == ("id BIGINT NOT NULL", 2, 0)


@pytest.mark.parametrize("more", [{}, {"subSequenceNumber": "true"}])
def test_the_source_alone_gives_records(mixed, more):
    options = {"streamName": mixed.name, "region": "us-east-1", "endpointUrl": mixed.server.endpoint} | more
    reader = kinesis.Batch(kinesis.parse(options)[0], kinesis.numbered(options))
    reader.partition = lambda task: SimpleNamespace(value=task)
    rows = [row for one in reader.partitions() for batch in reader.read(one) for row in batch.to_pylist()]
    assert [row["data"] for row in rows] == [b"0", b"1", b"2", b"3", mixed.sent[2], b"4"]
    assert [row["partition_key"] for row in rows] == ["k", "a", "b", None, "k", "k"]
    assert [row.get("sub_sequence_number") for row in rows] == ([0, 0, 1, 2, 0, 0] if more else [None] * 6)


def test_an_option_that_is_neither_true_nor_false():
    with pytest.raises(ValueError, match="subSequenceNumber must be true or false, found 'yes'"):
        kinesis.numbered({"subsequencenumber": "yes"})
