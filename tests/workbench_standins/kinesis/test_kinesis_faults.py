"""Every kind of fault, seen by boto3; limits of a fault; the same seed hits the same calls; counts."""

import time

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError
from kinesis_clients import client

from workbench_standins import kinesis
from workbench_standins.kinesis import Fault, faults
from workbench_standins.kinesis.faults import Script


@pytest.fixture(scope="module")
def server():
    with kinesis.serve(limits=kinesis.UNLIMITED, in_thread=True) as server:
        yield server


@pytest.fixture
def stream(server, request):
    """Name of a stream with two shards, one record in each: low in the first, high in the second."""
    name = request.node.name.replace("[", ".").replace("]", "")
    server.faults.clear()
    k = client(server.endpoint)
    k.create_stream(StreamName=name, ShardCount=2)
    for key, place in (("low", "0"), ("high", str((1 << 128) - 1))):
        k.put_record(StreamName=name, Data=b"1", PartitionKey=key, ExplicitHashKey=place)
    yield name
    server.faults.clear()


def iterator(k, stream, shard=0):
    return k.get_shard_iterator(
        StreamName=stream, ShardId=f"shardId-{shard:012d}", ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]


def keys(k, stream, shard=0):
    return [r["PartitionKey"] for r in k.get_records(ShardIterator=iterator(k, stream, shard))["Records"]]


def hits(server):
    return [(one.kind, one.matched, one.hit) for one in server.faults.injected()]


@pytest.mark.parametrize(
    "kind, operation, code, status",
    [
        ("throughput_exceeded", "PutRecord", "ProvisionedThroughputExceededException", 400),
        ("throttling", "PutRecord", "ThrottlingException", 400),
        ("internal_failure", "PutRecord", "InternalFailure", 500),
        ("unavailable", "PutRecord", "ServiceUnavailable", 503),
        ("limit_exceeded", "DescribeStream", "LimitExceededException", 400),
        ("expired_iterator", "GetRecords", "ExpiredIteratorException", 400),
    ],
)
def test_errors(server, stream, kind, operation, code, status):
    k = client(server.endpoint)
    start = iterator(k, stream)
    calls = {
        "PutRecord": lambda: k.put_record(StreamName=stream, Data=b"2", PartitionKey="new", ExplicitHashKey="0"),
        "DescribeStream": lambda: k.describe_stream(StreamName=stream),
        "GetRecords": lambda: k.get_records(ShardIterator=start),
    }
    server.faults.set([Fault(kind, operations=[operation], after_calls=1, most=1)])
    calls[operation]()
    with pytest.raises(ClientError) as caught:
        calls[operation]()
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    calls[operation]()
    assert hits(server) == [(kind, 3, 1)]
    written = 2 if operation == "PutRecord" else 0  # the refused one was not done
    assert keys(k, stream) == ["low"] + ["new"] * written


def test_boto3_retries_what_it_should(server, stream):
    server.faults.set(
        [Fault("throughput_exceeded", most=2), Fault("internal_failure", most=1), Fault("unavailable", most=1)]
    )
    client(server.endpoint, attempts=6).put_record(
        StreamName=stream, Data=b"2", PartitionKey="new", ExplicitHashKey="0"
    )
    assert hits(server) == [("throughput_exceeded", 5, 2), ("internal_failure", 3, 1), ("unavailable", 2, 1)]
    assert keys(client(server.endpoint), stream) == ["low", "new"]


def test_empty_reads_although_there_are_records(server, stream):
    k = client(server.endpoint)
    server.faults.set([Fault("empty_read", most=50)])
    seen, start = [], iterator(k, stream)
    for _ in range(51):
        read = k.get_records(ShardIterator=start)
        seen.append((len(read["Records"]), read["MillisBehindLatest"] > 0))
        start = read["NextShardIterator"]
    assert seen == [(0, True)] * 50 + [(1, False)]
    assert hits(server) == [("empty_read", 51, 50)]


def test_an_empty_read_does_not_end_a_closed_shard_early(server, stream):
    k = client(server.endpoint)
    k.merge_shards(
        StreamName=stream, ShardToMerge="shardId-000000000000", AdjacentShardToMerge="shardId-000000000001"
    )
    server.faults.set([Fault("empty_read", most=1)])
    first = k.get_records(ShardIterator=iterator(k, stream))
    last = k.get_records(ShardIterator=first["NextShardIterator"])
    assert (len(first["Records"]), len(last["Records"]), "NextShardIterator" in last) == (0, 1, False)


def test_the_end_of_a_closed_shard_can_come_late(server, stream):
    k = client(server.endpoint)
    k.merge_shards(
        StreamName=stream, ShardToMerge="shardId-000000000000", AdjacentShardToMerge="shardId-000000000001"
    )
    server.faults.set([Fault("late_end")])
    first = k.get_records(ShardIterator=iterator(k, stream))
    last = k.get_records(ShardIterator=first["NextShardIterator"])
    assert (len(first["Records"]), "ChildShards" in first) == (1, False)
    assert (len(last["Records"]), "NextShardIterator" in last, len(last["ChildShards"])) == (0, False, 1)


@pytest.mark.parametrize("code", ["ProvisionedThroughputExceededException", "InternalFailure"])
def test_records_of_a_call_are_refused_one_by_one(server, stream, code):
    k = client(server.endpoint)
    server.faults.set([Fault("partial_put", share=0.5, shards=["shardId-000000000000"], error=code)], seed=3)
    low, high = (
        {"Data": b"2", "PartitionKey": p, "ExplicitHashKey": h} for p, h in (("a", "0"), ("b", str(1 << 127)))
    )
    answer = k.put_records(StreamName=stream, Records=[low] * 100 + [high] * 100)
    codes = [record.get("ErrorCode") for record in answer["Records"]]
    assert set(codes[100:]) == {None} and set(codes[:100]) == {None, code}
    assert hits(server) == [("partial_put", 100, answer["FailedRecordCount"])]
    assert 30 <= codes.count(code) == answer["FailedRecordCount"] <= 70
    server.faults.clear()
    assert keys(k, stream).count("a") == 100 - answer["FailedRecordCount"]


@pytest.mark.parametrize("kind, done", [("lost_answer", True), ("lost_request", False)])
def test_a_lost_answer_is_done_and_a_lost_request_is_not(server, stream, kind, done):
    k = client(server.endpoint)
    server.faults.set([Fault(kind, operations=["PutRecord"], most=1)])
    with pytest.raises(ConnectionClosedError):
        k.put_record(StreamName=stream, Data=b"2", PartitionKey="new", ExplicitHashKey="0")
    assert keys(k, stream) == ["low"] + ["new"] * done
    assert hits(server) == [(kind, 1, 1)]


def test_a_producer_that_retries_a_lost_answer_writes_twice(server, stream):
    server.faults.set([Fault("lost_answer", operations=["PutRecord"], most=1)])
    k = client(server.endpoint, attempts=2)
    k.put_record(StreamName=stream, Data=b"2", PartitionKey="new", ExplicitHashKey="0")
    records = k.get_records(ShardIterator=iterator(k, stream))["Records"][1:]
    assert [r["PartitionKey"] for r in records] == ["new", "new"]
    assert len({r["SequenceNumber"] for r in records}) == 2


def test_a_slow_answer_is_done_before_it_is_late(server, stream):
    k = client(server.endpoint, read_timeout=0.5)
    server.faults.set([Fault("slow_answer", operations=["PutRecord"], seconds=1.0, most=2)])
    with pytest.raises(ReadTimeoutError):
        k.put_record(StreamName=stream, Data=b"2", PartitionKey="new", ExplicitHashKey="0")
    begin = time.perf_counter()
    client(server.endpoint).put_record(StreamName=stream, Data=b"2", PartitionKey="late", ExplicitHashKey="0")
    assert time.perf_counter() - begin >= 1.0
    assert keys(client(server.endpoint), stream) == ["low", "new", "late"]


def test_a_fault_keeps_to_its_shards_and_its_time(server, stream):
    k = client(server.endpoint)
    starts = iterator(k, stream), iterator(k, stream, 1)
    fault = Fault(
        "throughput_exceeded",
        operations=["GetRecords"],
        shards=["shardId-000000000001"],
        after_seconds=10,
        until_seconds=40,
    )
    server.faults.set([fault])
    found = []
    for _ in range(5):
        for start in starts:
            try:
                found.append(len(k.get_records(ShardIterator=start)["Records"]))
            except k.exceptions.ProvisionedThroughputExceededException:
                found.append("-")
        server.clock.advance(10)
    assert found == [1, 1, 1, "-", 1, "-", 1, "-", 1, 1]


def test_a_fault_on_a_shard_sees_where_records_go(server, stream):
    k = client(server.endpoint)
    server.faults.set([Fault("internal_failure", shards=["shardId-000000000001"])])
    low, high = ({"Data": b"2", "PartitionKey": "k", "ExplicitHashKey": h} for h in ("0", str(1 << 127)))
    k.put_record(StreamName=stream, **low)
    k.put_records(StreamName=stream, Records=[low, low])
    for wrong in (
        lambda: k.put_records(StreamName=stream, Records=[low, high]),
        lambda: k.put_record(StreamName=stream, **high),
        lambda: iterator(k, stream, 1),
    ):
        with pytest.raises(ClientError, match="InternalFailure"):
            wrong()
    assert hits(server) == [("internal_failure", 3, 3)]


def test_the_same_seed_hits_the_same_calls():
    def pattern(script, seed, calls=2000):
        made = Script(script, seed=seed)
        return [made.decide("GetRecords", n, set).error is not None for n in range(calls)], made

    quarter = Fault("throughput_exceeded", share=0.25)
    first, made = pattern([quarter], 7)
    again, _ = pattern([quarter], 7)
    other, _ = pattern([quarter], 8)
    behind, both = pattern([quarter, Fault("internal_failure", share=0.5)], 7)
    assert first == again != other
    assert 420 < sum(first) < 580
    assert [(one.matched, one.hit) for one in made.injected()] == [(2000, sum(first))]
    # a fault behind another sees the calls that are left, and draws from its own sequence
    one, two = both.injected()
    assert (one.matched, one.hit, two.matched) == (2000, sum(first), 2000 - sum(first))
    assert sum(behind) == one.hit + two.hit


def test_a_fault_begins_and_ends_to_the_millisecond():
    script = Script([Fault("throttling", after_seconds=1, until_seconds=2)], millis=5000)
    hit = {
        millis: script.decide("GetRecords", millis, set).error is not None for millis in (5999, 6000, 6999, 7000)
    }
    assert hit == {5999: False, 6000: True, 6999: True, 7000: False}


def test_a_script_comes_from_a_file(tmp_path, server, stream):
    for name, text in (
        ("s.yml", "seed: 5\nfaults:\n  - {kind: empty_read, most: 1}\n"),
        ("s.json", '{"seed": 5, "faults": [{"kind": "empty_read", "most": 1}]}'),
    ):
        (tmp_path / name).write_text(text)
        assert faults.read(tmp_path / name) == ([Fault("empty_read", most=1)], 5)
        server.faults.set(tmp_path / name)
        assert (keys(client(server.endpoint), stream), hits(server)) == ([], [("empty_read", 1, 1)])


@pytest.mark.parametrize(
    "text, says",
    [
        (
            "faults: [{kind: gremlin}]",
            "'gremlin' is not a kind of fault; there are throughput_exceeded, limit_exceeded",
        ),
        ("faults: [{kind: throttling, shard: x}]", "a fault has no shard; it has kind, share, operations, shards"),
        ("faults: [{share: 1}]", "must be a list of mappings that have a kind"),
        ("faults: {kind: throttling}", "must be a list of mappings"),
        ("[]", "expected a mapping with faults"),
        ("{faults: [], speed: 1}", "expected a mapping with faults"),
        ("{faults: [], seed: a}", "seed must be an integer, found 'a'"),
        ("faults: [", "not a fault script"),
        (
            "faults: [{kind: empty_read, operations: [PutRecord]}]",
            "empty_read cannot hit PutRecord; it hits GetRecords",
        ),
        (
            "faults: [{kind: throttling, operations: GetRecords}]",
            "operations of throttling must be a list of names",
        ),
        (
            "faults: [{kind: throttling, share: 1.5}]",
            "share of throttling must be a number from 0 to 1, found 1.5",
        ),
        (
            "faults: [{kind: throttling, share: .nan}]",
            "share of throttling must be a number of at least 0, found nan",
        ),
        (
            "faults: [{kind: throttling, most: 1.5}]",
            "most of throttling must be an integer of at least 0, found 1.5",
        ),
        (
            "faults: [{kind: throttling, after_seconds: -1}]",
            "after_seconds of throttling must be a number of at least 0, found -1",
        ),
        ("faults: [{kind: slow_answer}]", "seconds must be given for slow_answer, and only for it, found 0.0"),
        (
            "faults: [{kind: throttling, seconds: 1}]",
            "seconds must be given for slow_answer, and only for it, found 1",
        ),
        ("faults: [{kind: partial_put, error: Oops}]", "error must be Provisioned"),
    ],
)
def test_a_script_that_does_not_go(tmp_path, text, says):
    path = tmp_path / "script.yml"
    path.write_text(text)
    with pytest.raises(
        ValueError, match=f"script.yml is not a fault script: .*{says}" if says != "not a fault script" else says
    ):
        faults.read(path)


def test_a_wrong_script_starts_no_server():
    with (
        pytest.raises(ValueError, match="faults must be a list of Fault, a text or a path, found 'x' in it"),
        kinesis.serve(faults=["x"]),
    ):
        pass
