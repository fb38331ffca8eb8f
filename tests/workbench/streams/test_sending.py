"""Sending: what was refused is sent again, what was answered is not."""

import json
from collections import Counter

import pytest
from stream_server import server, stream

from workbench.data import events
from workbench.records import parsing, schemas
from workbench.streams import sending
from workbench.streams.readers import reading, shards, sources
from workbench_standins.kinesis import Fault

RECORDS = [(f"k{n % 5}", b"%d" % n) for n in range(1_200)]


def there(stream):
    found = Counter()
    for task in shards.plan(sources.describe(stream.source()), {}, 10**6):
        for records in reading.read(stream.source(), task, reading.Progress(None)):
            found.update(records.data)
    return found


def test_refused_records_are_sent_again(stream):
    stream.server.faults.set([
        Fault("partial_put", share=0.3), Fault("throughput_exceeded", operations=["PutRecords"], most=2),
        Fault("lost_request", operations=["PutRecords"], most=1),
    ])  # fmt: skip
    assert sending.send(stream.client, stream.name, RECORDS, sleep=lambda seconds: None) == 1_200
    assert all(one.hit for one in stream.server.faults.injected())
    assert there(stream) == Counter(data for _, data in RECORDS)


def test_a_lost_answer_makes_duplicates_with_other_sequence_numbers(stream):
    stream.server.faults.set([Fault("lost_answer", operations=["PutRecords"], most=1)])
    assert sending.send(stream.client, stream.name, RECORDS[:100], sleep=lambda seconds: None) == 100
    assert set(there(stream).values()) == {2}


def test_it_gives_up_in_a_sentence(stream):
    stream.server.faults.set([Fault("partial_put")])
    with pytest.raises(TimeoutError, match="took none of 10 records for 0.2 s: "):
        sending.send(stream.client, stream.name, RECORDS[:10], patience_seconds=0.2)


def test_a_call_holds_ten_megabytes_at_most(stream):
    assert sending.send(stream.client, stream.name, [("k", bytes(1_000_000))] * 25) == 25
    assert sum(there(stream).values()) == 25


def test_the_events_bad_records_have_the_reasons_that_were_planted(spark):
    schema = parsing.Json(events.SCHEMA)
    schemas.checked(schema.fields().jsonValue())
    made = events.flights(records=240, bad_share=0.2)
    found = schema.parser()([data for _, data in made.records])
    assert [reason for _, reason, _ in found.dead] == [reason for reason, _ in made.bad]
    assert len(set(reason for reason, _ in made.bad)) == 12
    assert found.rows.num_rows == len(made.records) - len(made.bad)
    assert json.loads(made.records[found.good[0]][1])["flight_id"] == found.rows.column("flight_id")[0].as_py()
