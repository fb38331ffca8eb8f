"""Shards, sequence numbers, iterators, trimming and limits, under a clock in hand."""

import base64
import json
from datetime import UTC, datetime

import pytest

from workbench_standins import kinesis
from workbench_standins.kinesis import operations, sequence
from workbench_standins.kinesis.clock import Clock
from workbench_standins.kinesis.limits import MIB, Limits, Window
from workbench_standins.kinesis.refusal import Refused
from workbench_standins.kinesis.store import Store

START = 1_800_000_000.0  # seconds at which the clock in hand starts
TOP = (1 << 128) - 1


class Caller:
    """Calls operations on a store and gives dicts; a refusal is given as its code."""

    def __init__(self, store):
        self.store, self.clock = store, store.clock

    def __call__(self, operation, region="us-east-1", options=None, **asked):
        found = operations.call(self.store, operation, asked, region, **(options or {}))
        return json.loads(found) if isinstance(found, bytes) else found

    def refusal(self, operation, **asked):
        with pytest.raises(Refused) as caught:
            self(operation, **asked)
        return caught.value.code

    def iterator(self, shard=0, kind="TRIM_HORIZON", stream="s", **more):
        asked = {"StreamName": stream, "ShardId": f"shardId-{shard:012d}", "ShardIteratorType": kind} | more
        return self("GetShardIterator", **asked)["ShardIterator"]

    def put(self, key="k", data="YQ==", **more):
        return self("PutRecord", StreamName="s", PartitionKey=key, Data=data, **more)["SequenceNumber"]


@pytest.fixture
def call():
    """Make a caller of a new store: call(limits=…, transition_seconds=…)."""

    def make(*, shards=1, limits=kinesis.UNLIMITED, **options):
        made = Caller(Store(Clock(START), limits, **options))
        if shards:
            made("CreateStream", StreamName="s", ShardCount=shards)
        return made

    return make


def test_sequence_numbers_have_56_digits_and_say_where_they_come_from():
    base = sequence.base(0x6B49D200, 18)
    text = str(sequence.number(base, 5, 0x6B49D23C))
    assert text == str(
        int("2" + "06B49D200" + "2" + "0000000000000005" + "00" + "06B49D23C" + "00000012" + "2", 16)
    )
    assert (len(text), sequence.parse(text)) == (56, (base, 5, 0x6B49D23C, 18))
    # two of the real service, from its public documentation: shards 0 and 6
    for real, seen in (
        ("49543463076548007577105092703039560359975228518395019266", (0, "2014")),
        ("49590338271490256608559692538361571095921575989136588898", (6, "2018")),
    ):
        _, _, second, index = sequence.parse(real)
        assert (index, f"{datetime.fromtimestamp(second, UTC):%Y}") == seen
    for wrong in ("", "0", "1", "-5", text + "0", str(int(text) + 1), "4967٣"):
        with pytest.raises(ValueError, match="is not a sequence number"):
            sequence.parse(wrong)


def test_records_come_back_in_order_with_everything_they_had(call):
    k = call()
    first = k.put("schlüssel", "")
    k.clock.advance(1.5)
    second = k.put("b", "AAEC")
    read = k("GetRecords", ShardIterator=k.iterator())
    assert read["Records"] == [
        {
            "SequenceNumber": first,
            "ApproximateArrivalTimestamp": 1_800_000_000.0,
            "Data": "",
            "PartitionKey": "schlüssel",
        },
        {
            "SequenceNumber": second,
            "ApproximateArrivalTimestamp": 1_800_000_001.5,
            "Data": "AAEC",
            "PartitionKey": "b",
        },
    ]
    assert read["MillisBehindLatest"] == 0 and read["NextShardIterator"]
    assert int(first) < int(second)


def test_a_key_goes_to_the_shard_that_its_md5_falls_into(call):
    k = call(shards=3)
    # md5("a") = 0cc1…, md5("c") = 4a8a…, md5("e") = e167…: first, first and third of three
    found = [k("PutRecord", StreamName="s", PartitionKey=key, Data="")["ShardId"][-1] for key in "ace"]
    explicit = [
        k("PutRecord", StreamName="s", PartitionKey="a", Data="", ExplicitHashKey=str(key))["ShardId"][-1]
        for key in (0, TOP // 3 - 1, TOP // 3, 2 * TOP // 3 - 1, 2 * TOP // 3, TOP)
    ]
    assert ("".join(found), "".join(explicit)) == ("002", "001122")
    assert k.refusal("PutRecord", StreamName="s", PartitionKey="a", Data="", ExplicitHashKey=str(TOP + 1)) == (
        "InvalidArgumentException"
    )


def positions(k, iterator, **limit):
    return [record["PartitionKey"] for record in k("GetRecords", ShardIterator=iterator, **limit)["Records"]]


def test_the_five_kinds_of_iterator(call):
    k = call()
    numbers = {}
    for key in "abcd":
        numbers[key] = k.put(key)
        k.clock.advance(10)
    latest = k.iterator(kind="LATEST")
    at, after = "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"
    k.put("e")
    assert positions(k, k.iterator(), Limit=2) == ["a", "b"]
    assert positions(k, latest) == ["e"]
    assert positions(k, k.iterator(kind=at, StartingSequenceNumber=numbers["c"])) == ["c", "d", "e"]
    assert positions(k, k.iterator(kind=after, StartingSequenceNumber=numbers["c"])) == ["d", "e"]
    moments = {-5: "abcde", 0: "abcde", 0.001: "bcde", 10: "bcde", 10.001: "cde", 30: "de", 39.999: "e", 40: "e"}
    for seconds, keys in moments.items():
        stamp = k.iterator(kind="AT_TIMESTAMP", Timestamp=1_800_000_000 + seconds)
        assert "".join(positions(k, stamp)) == keys, seconds
    k.clock.advance(1)
    later = k.iterator(kind="AT_TIMESTAMP", Timestamp=1_800_000_041)
    k.put("f")
    assert positions(k, later) == ["f"]
    start = k("ListShards", StreamName="s")["Shards"][0]["SequenceNumberRange"]["StartingSequenceNumber"]
    assert positions(k, k.iterator(kind=at, StartingSequenceNumber=start), Limit=1) == ["a"]


def test_an_iterator_lives_five_minutes(call):
    k = call()
    k.put("a")
    iterator = k.iterator()
    k.clock.advance(300)
    assert positions(k, iterator) == ["a"]
    k.clock.advance(0.001)
    with pytest.raises(Refused) as caught:
        k("GetRecords", ShardIterator=iterator)
    assert (caught.value.code, caught.value.message) == (
        "ExpiredIteratorException",
        "Iterator expired. The iterator was created at time Fri Jan 15 08:00:00 UTC 2027 while right now it is "
        "Fri Jan 15 08:05:00 UTC 2027 which is further in the future than the tolerated delay of 300000 milliseconds.",
    )


def test_a_foreign_iterator_is_refused(call):
    k, other = call(), call()
    good = k.iterator()
    turned = base64.b64encode(base64.b64decode(good)[::-1]).decode()
    page = k("ListShards", StreamName="s", MaxResults=1)
    assert "NextToken" not in page
    for wrong in ("x", "AAAA", good + "A", good[:-4], turned, other.iterator(), "é"):
        assert k.refusal("GetRecords", ShardIterator=wrong) == "InvalidArgumentException", wrong


def test_a_closed_shard_serves_its_records_and_then_ends(call):
    k = call()
    numbers = [k.put(key) for key in "abc"]
    k("SplitShard", StreamName="s", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(1 << 127))
    k.put("a"), k.put("e")  # into the children
    shards = k("ListShards", StreamName="s")["Shards"]
    assert [
        (s["ShardId"][-1], s.get("ParentShardId", "")[-1:], s["HashKeyRange"]["StartingHashKey"]) for s in shards
    ] == [
        ("0", "", "0"),
        ("1", "0", "0"),
        ("2", "0", str(1 << 127)),
    ]
    ending = shards[0]["SequenceNumberRange"]["EndingSequenceNumber"]
    assert int(ending) > int(numbers[-1]) and "EndingSequenceNumber" not in shards[1]["SequenceNumberRange"]
    first = k("GetRecords", ShardIterator=k.iterator(), Limit=2)
    last = k("GetRecords", ShardIterator=first["NextShardIterator"])
    assert "ChildShards" not in first
    assert [r["PartitionKey"] for r in first["Records"] + last["Records"]] == ["a", "b", "c"]
    assert (last["NextShardIterator"], last["MillisBehindLatest"]) == (None, 0)
    middle = str((1 << 127) - 1)
    assert last["ChildShards"] == [
        {"ShardId": "shardId-000000000001", "ParentShards": ["shardId-000000000000"],
         "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": middle}},
        {"ShardId": "shardId-000000000002", "ParentShards": ["shardId-000000000000"],
         "HashKeyRange": {"StartingHashKey": str(1 << 127), "EndingHashKey": str(TOP)}},
    ]  # fmt: skip
    for start in (ending, numbers[-1]):
        end = k("GetRecords", ShardIterator=k.iterator(kind="AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=start))
        assert (end["Records"], end["NextShardIterator"], len(end["ChildShards"])) == ([], None, 2)


def test_a_merged_shard_names_both_parents(call):
    k = call(shards=2)
    k(
        "MergeShards",
        StreamName="s",
        ShardToMerge="shardId-000000000000",
        AdjacentShardToMerge="shardId-000000000001",
    )
    child = k("ListShards", StreamName="s", ShardFilter={"Type": "AT_LATEST"})["Shards"]
    assert [(s["ShardId"][-1], s["ParentShardId"][-1], s["AdjacentParentShardId"][-1]) for s in child] == [
        ("2", "0", "1")
    ]
    assert child[0]["HashKeyRange"] == {"StartingHashKey": "0", "EndingHashKey": str(TOP)}
    ends = [k("GetRecords", ShardIterator=k.iterator(shard))["ChildShards"] for shard in (0, 1)]
    assert ends[0] == ends[1] and ends[0][0]["ParentShards"] == ["shardId-000000000000", "shardId-000000000001"]


@pytest.mark.parametrize("there, target", [(1, 2), (2, 4), (4, 2), (2, 3), (5, 3), (3, 5), (4, 4), (6, 7)])
def test_rescaled_shards_cut_the_keys_evenly(call, there, target):
    k = call(shards=there)
    answer = k("UpdateShardCount", StreamName="s", TargetShardCount=target, ScalingType="UNIFORM_SCALING")
    assert (answer["CurrentShardCount"], answer["TargetShardCount"]) == (there, target)
    shards = k("ListShards", StreamName="s", ShardFilter={"Type": "AT_LATEST"})["Shards"]
    ranges = sorted(
        (int(s["HashKeyRange"]["StartingHashKey"]), int(s["HashKeyRange"]["EndingHashKey"])) for s in shards
    )
    assert ranges == [((TOP + 1) * n // target, (TOP + 1) * (n + 1) // target - 1) for n in range(target)]


def test_changes_take_their_time_when_told_to(call):
    k = call(transition_seconds=2)
    state = lambda: k("DescribeStreamSummary", StreamName="s")["StreamDescriptionSummary"]["StreamStatus"]  # noqa: E731
    split = {"StreamName": "s", "ShardToSplit": "shardId-000000000000", "NewStartingHashKey": str(1 << 127)}
    assert (state(), k("ListShards", StreamName="s")["Shards"]) == ("CREATING", [])
    assert k.refusal("PutRecord", StreamName="s", PartitionKey="a", Data="") == "ResourceNotFoundException"
    assert k.refusal("SplitShard", **split) == "ResourceInUseException"
    k.clock.advance(2)
    assert state() == "ACTIVE"
    k("SplitShard", **split)
    k.clock.advance(1.9)
    during = k("PutRecord", StreamName="s", PartitionKey="a", Data="")["ShardId"][-1]  # still takes records
    assert (state(), during, k.refusal("SplitShard", **split)) == ("UPDATING", "0", "ResourceInUseException")
    k.clock.advance(0.1)
    assert (state(), k("PutRecord", StreamName="s", PartitionKey="a", Data="")["ShardId"][-1]) == ("ACTIVE", "1")
    k("DeleteStream", StreamName="s")
    assert (state(), k.refusal("CreateStream", StreamName="s", ShardCount=1)) == (
        "DELETING",
        "ResourceInUseException",
    )
    k.clock.advance(2)
    assert k.refusal("DescribeStream", StreamName="s") == "ResourceNotFoundException"


def test_a_change_happened_when_it_was_due_not_when_somebody_looked(call):
    k = call(transition_seconds=2)
    k.clock.advance(10)
    k("SplitShard", StreamName="s", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(1 << 127))
    k.clock.advance(10)
    found = [
        "".join(s["ShardId"][-1] for s in k("ListShards", StreamName="s", ShardFilter=wanted)["Shards"])
        for wanted in ({"Type": "AT_TIMESTAMP", "Timestamp": START + at} for at in (2, 11.999, 12))
    ]
    assert found == ["0", "0", "12"]


def test_a_stream_made_again_is_another(call):
    k = call()
    number, iterator = k.put("a"), k.iterator()
    made = k("DescribeStream", StreamName="s")["StreamDescription"]
    k("DeleteStream", StreamName="s")
    assert k.refusal("GetRecords", ShardIterator=iterator) == "ResourceNotFoundException"
    k.clock.advance(0.25)
    k("CreateStream", StreamName="s", ShardCount=1)
    again = k("DescribeStream", StreamName="s")["StreamDescription"]
    assert (made["StreamARN"], again["StreamCreationTimestamp"] - made["StreamCreationTimestamp"]) == (
        again["StreamARN"],
        0.25,
    )
    assert again["Shards"][0]["ShardId"] == made["Shards"][0]["ShardId"]
    assert k.refusal("GetRecords", ShardIterator=iterator) == "ResourceNotFoundException"
    start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": number}
    assert (
        k.refusal("GetShardIterator", StreamName="s", ShardId="shardId-000000000000", **start)
        == "InvalidArgumentException"
    )
    stamp = made["StreamCreationTimestamp"]
    assert (
        k.refusal("ListShards", StreamName="s", StreamCreationTimestamp=stamp + 5) == "ResourceNotFoundException"
    )
    assert len(k("ListShards", StreamName="s", StreamCreationTimestamp=int(stamp))["Shards"]) == 1


def test_what_is_older_than_the_retention_period_is_gone(call):
    k = call()
    first = k.put("old")
    k.clock.advance(3600)
    k.put("young")
    k("SplitShard", StreamName="s", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(1 << 127))
    k.clock.advance(23 * 3600 + 0.001)  # "old" is a millisecond too old
    assert positions(k, k.iterator()) == ["young"]
    # a position behind the horizon is not an error: a consumer has to notice by itself
    assert positions(k, k.iterator(kind="AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=first)) == ["young"]
    k("IncreaseStreamRetentionPeriod", StreamName="s", RetentionPeriodHours=48)
    assert positions(k, k.iterator()) == ["young"]  # what was trimmed does not come back
    k.clock.advance(20 * 3600)
    assert positions(k, k.iterator()) == ["young"]
    k("DecreaseStreamRetentionPeriod", StreamName="s", RetentionPeriodHours=24)
    assert [s["ShardId"][-1] for s in k("ListShards", StreamName="s")["Shards"]] == [
        "1",
        "2",
    ]  # the parent expired
    assert k.refusal(
        "GetShardIterator", StreamName="s", ShardId="shardId-000000000000", ShardIteratorType="TRIM_HORIZON"
    ) == "ResourceNotFoundException"  # fmt: skip


def test_millis_behind_latest_is_zero_only_when_nothing_is_left(call):
    k = call()
    k.put("a")
    k.clock.advance(4)
    k.put("b")
    k.put("c")
    behind, iterator = [], k.iterator()
    for _ in range(4):
        read = k("GetRecords", ShardIterator=iterator, Limit=1)
        behind.append((len(read["Records"]), read["MillisBehindLatest"]))
        iterator = read["NextShardIterator"]
        k.clock.advance(0.5)
    assert behind == [(1, 1), (1, 500), (1, 0), (0, 0)]  # b and c are as old as the clock: 1, not 0


def test_a_shard_takes_a_thousand_records_or_a_mebibyte_a_second(call):
    k = call(shards=2, limits=Limits())
    entry = lambda key, data="YQ==": {"PartitionKey": "k", "Data": data, "ExplicitHashKey": str(key)}  # noqa: E731
    for failed in (0, 0, 500):
        assert k("PutRecords", StreamName="s", Records=[entry(0)] * 500)["FailedRecordCount"] == failed
    mixed = k("PutRecords", StreamName="s", Records=[entry(0), entry(TOP), entry(0)])
    assert [sorted(r) for r in mixed["Records"]] == [
        ["ErrorCode", "ErrorMessage"], ["SequenceNumber", "ShardId"], ["ErrorCode", "ErrorMessage"],
    ]  # fmt: skip
    assert mixed["FailedRecordCount"] == 2
    assert mixed["Records"][0] == {
        "ErrorCode": "ProvisionedThroughputExceededException",
        "ErrorMessage": "Rate exceeded for shard shardId-000000000000 in stream s under account 000000000000.",
    }
    assert k.refusal("PutRecord", StreamName="s", PartitionKey="k", Data="", ExplicitHashKey="0") == (
        "ProvisionedThroughputExceededException"
    )
    k.clock.advance(1)
    half = base64.b64encode(bytes(MIB // 2 - 1)).decode()
    sizes = k("PutRecords", StreamName="s", Records=[entry(0, half)] * 3)
    assert [("ErrorCode" in r) for r in sizes["Records"]] == [False, False, True]
    keys = []
    iterator = k.iterator()
    for _ in range(3):
        k.clock.advance(0.4)
        read = k("GetRecords", ShardIterator=iterator)
        iterator = read["NextShardIterator"]
        keys += read["Records"]
    assert len(keys) == 1002  # what was refused is not there


def test_a_shard_is_read_five_times_and_two_mebibytes_a_second(call):
    k = call(limits=Limits(shard_records_in=None, shard_bytes_in=None))
    for _ in range(5):
        assert positions(k, k.iterator()) == []
    asked = {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "LATEST"}
    assert k.refusal("GetShardIterator", **asked) == "ProvisionedThroughputExceededException"
    k.clock.advance(1)
    iterator = k.iterator()
    for _ in range(5):
        k("GetRecords", ShardIterator=iterator)
    assert k.refusal("GetRecords", ShardIterator=iterator) == "ProvisionedThroughputExceededException"
    k.clock.advance(1)
    big = base64.b64encode(bytes(MIB - 1)).decode()
    for _ in range(2):
        k("PutRecords", StreamName="s", Records=[{"PartitionKey": "k", "Data": big}] * 10)
    ten = k("GetRecords", ShardIterator=iterator)
    assert len(ten["Records"]) == 10  # 10 MiB an answer, whatever Limit says
    for seconds in (0.5, 4.499):
        k.clock.advance(seconds)
        assert (
            k.refusal("GetRecords", ShardIterator=ten["NextShardIterator"])
            == "ProvisionedThroughputExceededException"
        )
    k.clock.advance(0.001)  # five seconds
    assert len(k("GetRecords", ShardIterator=ten["NextShardIterator"])["Records"]) == 10


def test_a_window_is_a_second_or_as_long_as_what_overdrew_it():
    window = Window(10)
    assert window.open(5000, 11)  # a large thing passes an untouched window
    window.take(25)
    assert [window.open(5000 + late) for late in (0, 1000, 2499, 2500)] == [False, False, False, True]
    window.take(9)
    assert (window.open(7600, 1), window.open(7600, 2), Window(None).open(0, 10**9)) == (True, False, True)


def test_limits_of_a_call_and_of_the_account(call):
    one = {"PartitionKey": "k", "Data": "YQ=="}
    big = base64.b64encode(bytes(MIB + 1)).decode()
    many = [{"PartitionKey": "k", "Data": base64.b64encode(bytes(MIB)).decode()}] * 10
    k, free = call(limits=Limits(account_shards=3)), call()
    put = {"StreamName": "s"}
    assert k.refusal("PutRecords", **put, Records=[one] * 501) == "ValidationException"
    assert k.refusal("PutRecords", **put, Records=[]) == "ValidationException"
    assert k.refusal("PutRecords", **put, Records=many) == "InvalidArgumentException"
    with pytest.raises(Refused, match=r"at 'records.2.member.data' .* less than or equal to 1048576"):
        k("PutRecords", **put, Records=[one, one | {"Data": big}])
    assert positions(k, k.iterator()) == []  # nothing of a refused call is stored
    assert free("PutRecords", **put, Records=[one | {"Data": big}] + [one] * 600)["FailedRecordCount"] == 0
    assert k.refusal("CreateStream", StreamName="t", ShardCount=3) == "LimitExceededException"
    k("CreateStream", StreamName="large", ShardCount=1, MaxRecordSizeInKiB=2048)
    assert k("PutRecord", StreamName="large", **(one | {"Data": big}))["ShardId"] == "shardId-000000000000"
    for _ in range(3):
        k.refusal("CreateStream", StreamName="t", ShardCount=3)
    with pytest.raises(Refused, match="Rate exceeded for CreateStream"):
        k("CreateStream", StreamName="t", ShardCount=1)
    k.clock.advance(1)
    k("CreateStream", StreamName="t", ShardCount=1)


def test_a_stream_is_scaled_ten_times_a_day(call):
    k = call(limits=Limits())
    scale = {"StreamName": "s", "ScalingType": "UNIFORM_SCALING"}
    for count in (2, 1) * 5:
        k("UpdateShardCount", **scale, TargetShardCount=count)
        k.clock.advance(60)
    assert k.refusal("UpdateShardCount", **scale, TargetShardCount=2) == "LimitExceededException"
    assert k.refusal("UpdateShardCount", **scale, TargetShardCount=3) == "InvalidArgumentException"
    k.clock.advance(86_400 - 600)
    k("UpdateShardCount", **scale, TargetShardCount=2)


def test_filters_and_pages_of_shards(call):
    k = call(shards=2)
    k.clock.advance(10)
    k("SplitShard", StreamName="s", ShardToSplit="shardId-000000000000", NewStartingHashKey="9")
    k.clock.advance(10)
    k(
        "MergeShards",
        StreamName="s",
        ShardToMerge="shardId-000000000003",
        AdjacentShardToMerge="shardId-000000000001",
    )
    ids = lambda found: "".join(s["ShardId"][-1] for s in found["Shards"])  # noqa: E731
    moment = 1_800_000_000
    for wanted, expected in [
        ({"Type": "FROM_TRIM_HORIZON"}, "01234"),
        ({"Type": "AT_TRIM_HORIZON"}, "01"),
        ({"Type": "AT_LATEST"}, "24"),
        ({"Type": "AFTER_SHARD_ID", "ShardId": "shardId-000000000002"}, "34"),
        ({"Type": "AT_TIMESTAMP", "Timestamp": moment + 10}, "123"),
        ({"Type": "AT_TIMESTAMP", "Timestamp": moment + 20}, "24"),
        ({"Type": "FROM_TIMESTAMP", "Timestamp": moment + 10}, "1234"),
    ]:
        assert ids(k("ListShards", StreamName="s", ShardFilter=wanted)) == expected, wanted
        page, pages = k("ListShards", StreamName="s", ShardFilter=wanted, MaxResults=1), []
        while True:
            pages.append(ids(page))
            if "NextToken" not in page:
                break
            page = k("ListShards", NextToken=page["NextToken"], MaxResults=1)
        assert "".join(pages) == expected, wanted
    token = k("ListShards", StreamName="s", MaxResults=1)["NextToken"]
    assert k.refusal("ListShards", StreamName="s", NextToken=token) == "InvalidArgumentException"
    assert k.refusal("GetRecords", ShardIterator=token) == "InvalidArgumentException"
    k.clock.advance(300.001)
    assert k.refusal("ListShards", NextToken=token) == "ExpiredNextTokenException"
    described = k("DescribeStream", StreamName="s", Limit=2, ExclusiveStartShardId="shardId-000000000001")[
        "StreamDescription"
    ]
    assert (ids(described), described["HasMoreShards"]) == ("23", True)


def test_streams_are_listed_in_pages_and_by_region(call):
    k = call(shards=0)
    for name in ("c", "a", "b"):
        k("CreateStream", StreamName=name, ShardCount=1)
    k("CreateStream", region="eu-west-1", StreamName="a", ShardCount=2)
    one = k("ListStreams", Limit=2)
    two = k("ListStreams", Limit=2, NextToken=one["NextToken"])
    assert (one["StreamNames"], one["HasMoreStreams"], two["StreamNames"], two["HasMoreStreams"]) == (
        ["a", "b"],
        True,
        ["c"],
        False,
    )
    summary = k("DescribeStreamSummary", region="eu-west-1", StreamName="a")["StreamDescriptionSummary"]
    assert (summary["OpenShardCount"], summary["StreamARN"]) == (
        2,
        "arn:aws:kinesis:eu-west-1:000000000000:stream/a",
    )
    assert k("DescribeStreamSummary", StreamARN="arn:aws:kinesis:us-east-1:000000000000:stream/a")
    for wrong in (
        {"StreamARN": summary["StreamARN"]},
        {"StreamName": "b", "StreamARN": "arn:aws:kinesis:us-east-1:000000000000:stream/a"},
        {},
    ):
        assert k.refusal("DescribeStreamSummary", **wrong) == "InvalidArgumentException"


@pytest.mark.parametrize(
    "operation, asked, code",
    [
        ("CreateStream", {"StreamName": "a b", "ShardCount": 1}, "ValidationException"),
        ("CreateStream", {"StreamName": "t", "ShardCount": 0}, "ValidationException"),
        ("CreateStream", {"StreamName": "t", "ShardCount": "1"}, "SerializationException"),
        ("CreateStream", {"StreamName": "t"}, "InvalidArgumentException"),
        ("CreateStream", {"StreamName": "s", "ShardCount": 1}, "ResourceInUseException"),
        ("CreateStream", {"ShardCount": 1}, "ValidationException"),
        ("DeleteStream", {"StreamName": "t"}, "ResourceNotFoundException"),
        ("PutRecord", {"StreamName": "s", "Data": "YQ=="}, "ValidationException"),
        ("PutRecord", {"StreamName": "s", "Data": "a", "PartitionKey": "k"}, "SerializationException"),
        ("PutRecord", {"StreamName": "s", "Data": "Y Q=", "PartitionKey": "k"}, "SerializationException"),
        ("PutRecord", {"StreamName": "s", "Data": "é", "PartitionKey": "k"}, "SerializationException"),
        ("PutRecord", {"StreamName": "s", "Data": "", "PartitionKey": ""}, "ValidationException"),
        ("PutRecord", {"StreamName": "s", "Data": "", "PartitionKey": "k" * 257}, "ValidationException"),
        ("PutRecord", {"StreamName": "s", "Data": "", "PartitionKey": "\ud800"}, "SerializationException"),
        ("PutRecord", {"StreamName": "s", "Data": "", "PartitionKey": "k", "ExplicitHashKey": "-1"}, "ValidationException"),
        ("PutRecord", {"StreamName": "s", "Data": "", "PartitionKey": "k", "SequenceNumberForOrdering": "5"}, "InvalidArgumentException"),
        ("PutRecord", {"StreamName": "s", "Data": "", "PartitionKey": "k", "DryRun": True}, "InvalidArgumentException"),
        ("PutRecords", {"StreamName": "s", "Records": {}}, "SerializationException"),
        ("PutRecords", {"StreamName": "s", "Records": [{"PartitionKey": "k"}]}, "ValidationException"),
        ("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "FIRST"}, "ValidationException"),
        ("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000009", "ShardIteratorType": "LATEST"}, "ResourceNotFoundException"),
        ("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "AT_TIMESTAMP"}, "InvalidArgumentException"),
        ("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "AT_TIMESTAMP", "Timestamp": 1_800_000_001}, "InvalidArgumentException"),
        ("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "LATEST", "StartingSequenceNumber": "5"}, "InvalidArgumentException"),
        ("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "AT_SEQUENCE_NUMBER"}, "InvalidArgumentException"),
        ("GetShardIterator", {"StreamName": "s", "ShardId": "shardId-000000000000", "ShardIteratorType": "AT_SEQUENCE_NUMBER", "StartingSequenceNumber": "5"}, "InvalidArgumentException"),
        ("GetRecords", {"ShardIterator": "x", "Limit": 10_001}, "ValidationException"),
        ("SplitShard", {"StreamName": "s", "ShardToSplit": "shardId-000000000000", "NewStartingHashKey": "1"}, "InvalidArgumentException"),
        ("SplitShard", {"StreamName": "s", "ShardToSplit": "shardId-000000000000", "NewStartingHashKey": str(TOP)}, "InvalidArgumentException"),
        ("SplitShard", {"StreamName": "s", "ShardToSplit": "shardId-000000000005", "NewStartingHashKey": "9"}, "ResourceNotFoundException"),
        ("MergeShards", {"StreamName": "s", "ShardToMerge": "shardId-000000000000", "AdjacentShardToMerge": "shardId-000000000000"}, "InvalidArgumentException"),
        ("UpdateShardCount", {"StreamName": "s", "TargetShardCount": 3, "ScalingType": "UNIFORM_SCALING"}, "InvalidArgumentException"),
        ("IncreaseStreamRetentionPeriod", {"StreamName": "s", "RetentionPeriodHours": 23}, "InvalidArgumentException"),
        ("DecreaseStreamRetentionPeriod", {"StreamName": "s", "RetentionPeriodHours": 25}, "InvalidArgumentException"),
        ("ListShards", {"StreamName": "s", "ShardFilter": {"Type": "NEWEST"}}, "ValidationException"),
        ("ListShards", {"StreamName": "s", "ShardFilter": {"Type": "AT_TIMESTAMP"}}, "InvalidArgumentException"),
        ("ListShards", {"StreamName": "s", "ShardFilter": {"Type": "AT_TIMESTAMP", "Timestamp": float("inf")}}, "SerializationException"),
        ("ListShards", {"StreamName": "s", "ShardFilter": "AT_LATEST"}, "SerializationException"),
        ("ListShards", {"StreamName": "s", "StreamCreationTimestamp": float("inf")}, "SerializationException"),
        ("CreateStream", {"StreamName": "t", "StreamModeDetails": []}, "SerializationException"),
        ("SubscribeToShard", {}, "UnknownOperationException"),
    ],
)  # fmt: skip
def test_what_is_refused_and_how(call, operation, asked, code):
    k = call()
    before = json.dumps(k("DescribeStream", StreamName="s"))
    assert k.refusal(operation, **asked) == code
    assert json.dumps(k("DescribeStream", StreamName="s")) == before
    assert positions(k, k.iterator()) == []


def test_what_is_closed_is_not_split_or_merged_again(call):
    k = call(shards=3)
    split = {"StreamName": "s", "ShardToSplit": "shardId-000000000000", "NewStartingHashKey": "9"}
    k("SplitShard", **split)
    assert k.refusal("SplitShard", **split) == "InvalidArgumentException"
    for one, other in ((1, 3), (2, 1)):  # no neighbours; the upper one first
        with pytest.raises(Refused, match="are not an adjacent pair"):
            k("MergeShards", **merged(one, other))
    k("MergeShards", **merged(4, 1))
    assert k.refusal("MergeShards", **merged(4, 1)) == "InvalidArgumentException"


def merged(one, other):
    return {
        "StreamName": "s",
        "ShardToMerge": f"shardId-{one:012d}",
        "AdjacentShardToMerge": f"shardId-{other:012d}",
    }


def test_the_shards_of_an_on_demand_stream_are_not_changed_by_hand(call):
    k = call(shards=0)
    k("CreateStream", StreamName="d", StreamModeDetails={"StreamMode": "ON_DEMAND"})
    assert len(k("ListShards", StreamName="d")["Shards"]) == 4
    assert (
        k.refusal("UpdateShardCount", StreamName="d", TargetShardCount=5, ScalingType="UNIFORM_SCALING")
        == "ValidationException"
    )


def test_the_clock_goes_forward_only(monkeypatch):
    clock = Clock(100)
    assert (clock.now(), clock.advance(0.5), clock.now()) == (100, 100.5, 100.5)
    for wrong in (-1, float("nan"), float("inf"), True, "1"):
        with pytest.raises(ValueError, match="seconds must be a number of at least 0 and below inf, found"):
            clock.advance(wrong)
    there = [50_000]
    monkeypatch.setattr("time.time_ns", lambda: there[0] * 1_000_000)
    clock = Clock()
    assert (clock.now(), clock.advance(10)) == (50, 60)
    there[0] = 40_000  # somebody set the machine's clock back
    assert clock.now() == 60
    assert clock.stop() == 60
    there[0] = 99_000
    assert clock.now() == 60


@pytest.mark.parametrize(
    "wrong",
    [{"shard_reads": 0}, {"record_bytes": True}, {"shard_bytes_in": 1.5}, {"calls_per_second": {"PutRecord": 1}}],
)
def test_limits_that_do_not_go(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        kinesis.Limits(**wrong)
