"""A schema from a sample: what every record of it can be parsed by, and a word where that cannot be."""

import pytest
from topic_server import broker, topic

from workbench import streams

ONE = {
    "id": 1, "price": 1.5, "day": "2026-01-31", "at": "2026-01-31T10:00:00Z", "ok": True, "name": "a", "tags": ["x"],
    "inner": {"n": 1, "big": 2**70}, "odd name": None,
}  # fmt: skip


def send(topic, *records):
    topic.send(range(len(records)), record=lambda n: records[n])


def test_a_schema_that_its_sample_fits(spark, topic):
    send(topic, ONE, ONE | {"id": 2**40, "name": None, "tags": [], "more": 1}, b"bad", b"[1]")
    found = streams.propose(topic.source())
    assert found.schema == (
        "id BIGINT NOT NULL, price DOUBLE NOT NULL, day DATE NOT NULL, at TIMESTAMP NOT NULL, ok BOOLEAN NOT NULL, "
        "name STRING, tags ARRAY<STRING> NOT NULL, inner STRUCT<n: BIGINT NOT NULL, big: DOUBLE NOT NULL> NOT NULL, "
        "`odd name` STRING, more BIGINT"
    )
    assert (found.records, found.not_objects, found.mixed) == (4, 2, {})
    assert [one.nullable for one in streams.Json(found.schema).fields()][:2] == [False, False]


def test_fields_that_no_type_holds_are_named(topic):
    send(topic, {"a": 1, "b": {"c": "x"}}, {"a": "1", "b": {"c": True}})
    found = streams.propose(topic.source())
    assert found.schema == "a STRING NOT NULL, b STRUCT<c: STRING NOT NULL> NOT NULL"
    assert found.mixed == {"a": ["number", "text"], "b.c": ["boolean", "text"]}


def test_dates_beside_other_texts_are_texts(topic):
    send(topic, {"a": "2026-01-31", "b": "2026-01-31"}, {"a": "soon", "b": "2026-01-31T10:00:00"})
    assert streams.propose(topic.source()).schema == "a STRING NOT NULL, b STRING NOT NULL"


def test_what_the_first_guess_would_not_hold(topic):
    """Ids of 64 bits without a sign, and the day that MySQL has for none: all of their records were dead letters."""
    send(topic, {"id": 2**64 - 1, "day": "0000-00-00"}, {"id": 5, "day": "2026-01-31"}, b'{"id": NaN}')
    found = streams.propose(topic.source())
    assert found.schema == "id DECIMAL(38, 0) NOT NULL, day STRING NOT NULL"
    assert (found.records, found.not_objects) == (3, 1)


def test_only_so_many_records(topic):
    topic.send(range(50))
    assert streams.propose(topic.source(), records=7).records <= 8


def test_nothing_to_propose(topic):
    with pytest.raises(ValueError, match="gave 0 records and none is a JSON object"):
        streams.propose(topic.source())
    with pytest.raises(ValueError, match="records must be an integer of at least 1, found 0"):
        streams.propose(topic.source(), records=0)


def test_a_field_that_no_schema_can_name_is_said(topic):
    send(topic, {"id": 1, "a${b}": 2})
    with pytest.raises(
        ValueError, match=r"^the column 'a\$\{b\}' contains \$\{, where Spark substitutes a variable"
    ):
        streams.propose(topic.source())
