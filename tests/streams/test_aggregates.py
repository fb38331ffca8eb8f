"""Records of the Kinesis Producer Library: an aggregate says in its dead letter what it is."""

import hashlib
from types import SimpleNamespace

import pytest
from test_avro_values import schema
from test_protobuf import KINDS, of

from workbench import streams
from workbench.streams import aggregates, parsing
from workbench.streams.reading import Records
from workbench.streams.sources import Stream

JSON = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": False, "metadata": {}}]}
PARSERS = [
    parsing.Parser(JSON, False),
    streams.Avro(schema("long")).parser(),
    streams.Avro(schema("long"), writers={1: schema("long")}).parser(),
    streams.Protobuf(of(("id", KINDS.TYPE_INT64, KINDS.LABEL_OPTIONAL)), "One").parser(),
]


def field(number, data):
    size = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 0x7F | 0x80, len(data) >> 7])
    return bytes([number << 3 | 2]) + size + data


def aggregate(*records):
    """A table of keys, of explicit hash keys, and the records with the number of their key, as the format has it."""
    body = field(1, b"key") + field(2, b"17") + b"".join(field(3, b"\x08\x00" + field(3, one)) for one in records)
    return aggregates.MAGIC + body + hashlib.md5(body).digest()


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
    body = b"\x1a\xff"
    assert aggregates.reason(aggregates.MAGIC + body + hashlib.md5(body).digest())[0] == "aggregated"


def test_a_proposal_says_that_the_sample_is_of_aggregates():
    stream = SimpleNamespace(stream="s", describe=lambda: Stream("arn", 0, 24, {"a": ()}, frozenset("a")))
    stream.begin = lambda _: {}
    stream.read = lambda task, progress: [Records([aggregate(b"{}"), b"no"], ["1", "2"], ["k", "k"], [0.0, 0.0])]
    with pytest.raises(ValueError, match="s gave 2 records and none .* 1 of them are aggregates of the Kinesis"):
        streams.propose(stream)
