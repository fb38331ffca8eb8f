"""The conformance cases: what is done to a server through boto3, and what must come of it.

A case gets a Probe and returns a plain value. Where kinesis-local gives another value, the case states it and a
sentence; docs/kinesis.md lists those sentences, and a test keeps the two the same.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

TOP = (1 << 128) - 1
CASES = []


@dataclass(frozen=True)
class Case:
    name: str
    do: Callable
    expected: Any
    other: Any = None  # kinesis-local's value, where it differs
    says: str = ""
    limited: bool = False  # needs the rates of the service


def case(expected, *, other=None, says="", limited=False):
    def add(do):
        CASES.append(Case(do.__name__, do, expected, other, says, limited))
        return do

    return add


class Probe:
    """A client and a stream of its own name; `k` retries what is throttled, `hasty` does not."""

    def __init__(self, k, hasty, name):
        self.k, self.hasty, self.name = k, hasty, name

    def create(self, shards=1):
        self.k.create_stream(StreamName=self.name, ShardCount=shards)
        self.settled()
        return self

    def settled(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if self.summary()["StreamStatus"] == "ACTIVE":
                    return
            except self.k.exceptions.ResourceNotFoundException:
                pass
            time.sleep(0.02)
        raise AssertionError("the stream did not become active")

    def summary(self):
        return self.k.describe_stream_summary(StreamName=self.name)["StreamDescriptionSummary"]

    def shards(self, **more):
        return self.k.list_shards(StreamName=self.name, **more)["Shards"]

    def put(self, key="k", data=b"1", **more):
        return self.k.put_record(StreamName=self.name, PartitionKey=key, Data=data, **more)

    def start(self, shard=0, kind="TRIM_HORIZON", **more):
        asked = {"StreamName": self.name, "ShardId": f"shardId-{shard:012d}", "ShardIteratorType": kind}
        return self.k.get_shard_iterator(**asked, **more)["ShardIterator"]

    def read(self, *args, limit=1000, **more):
        return self.k.get_records(ShardIterator=self.start(*args, **more), Limit=limit)

    def keys(self, *args, **more):
        return "".join(record["PartitionKey"] for record in self.read(*args, **more)["Records"])

    def split(self, shard=0, key=1 << 127):
        self.k.split_shard(StreamName=self.name, ShardToSplit=f"shardId-{shard:012d}", NewStartingHashKey=str(key))
        self.settled()

    def merge(self, one=0, other=1):
        ids = {"ShardToMerge": f"shardId-{one:012d}", "AdjacentShardToMerge": f"shardId-{other:012d}"}
        self.k.merge_shards(StreamName=self.name, **ids)
        self.settled()

    def scale(self, count):
        found = self.k.update_shard_count(
            StreamName=self.name, TargetShardCount=count, ScalingType="UNIFORM_SCALING"
        )
        self.settled()
        return found


def error(do, *args, **more):
    """The error code of a call; "none" when it passes."""
    try:
        do(*args, **more)
    except ClientError as failed:
        return failed.response["Error"]["Code"]
    return "none"


def ids(shards):
    return "".join(shard["ShardId"][-1] for shard in shards)


def ranges(shards):
    return sorted(
        (int(s["HashKeyRange"]["StartingHashKey"]), int(s["HashKeyRange"]["EndingHashKey"])) for s in shards
    )


def even(count):
    return [((TOP + 1) * n // count, (TOP + 1) * (n + 1) // count - 1) for n in range(count)]


@case(("ACTIVE", 24, 2, "PROVISIONED", True, True))
def a_stream_is_described(p):
    found = p.create(2).summary()
    young = abs((datetime.now(UTC) - found["StreamCreationTimestamp"]).total_seconds()) < 60
    mode = found.get("StreamModeDetails", {}).get("StreamMode")
    arn = found["StreamARN"].endswith(f":stream/{p.name}") and found["StreamARN"].startswith(
        "arn:aws:kinesis:us-east-1:"
    )
    return found["StreamStatus"], found["RetentionPeriodHours"], found["OpenShardCount"], mode, arn, young


@case("ResourceInUseException")
def a_stream_is_made_once(p):
    p.create()
    return error(p.k.create_stream, StreamName=p.name, ShardCount=1)


@case(["ResourceNotFoundException"] * 4)
def an_unknown_stream_is_not_found(p):
    asked = {"StreamName": "nowhere"}
    return [
        error(p.k.describe_stream, **asked),
        error(p.k.list_shards, **asked),
        error(p.k.put_record, **asked, Data=b"", PartitionKey="k"),
        error(p.k.get_shard_iterator, **asked, ShardId="shardId-000000000000", ShardIteratorType="LATEST"),
    ]


@case(("012", even(3)))
def shards_cut_the_hash_keys_evenly(p):
    shards = p.create(3).shards()
    return ids(shards), ranges(shards)


@case(True)
def a_record_goes_where_the_md5_of_its_key_falls(p):
    p.create(4)
    keys = ["a", "b", "c", "schlüssel", "日本", "x" * 256]
    places = [int.from_bytes(hashlib.md5(key.encode()).digest(), "big") * 4 >> 128 for key in keys]
    return [int(p.put(key)["ShardId"][-1]) for key in keys] == places


@case(
    "0011", other="0111", says="An even cut of the hash keys into two or four is one key lower than the service's"
)
def an_explicit_hash_key_decides(p):
    p.create(2)
    return "".join(p.put(ExplicitHashKey=str(key))["ShardId"][-1] for key in (0, TOP // 2, TOP // 2 + 1, TOP))


@case((True, True, True))
def sequence_numbers_have_56_digits_and_grow(p):
    p.create()
    found = [p.put()["SequenceNumber"] for _ in range(3)]
    many = p.k.put_records(StreamName=p.name, Records=[{"Data": b"", "PartitionKey": "k"}] * 20)["Records"]
    found += [record["SequenceNumber"] for record in many]
    starting = p.shards()[0]["SequenceNumberRange"]["StartingSequenceNumber"]
    numbers = [int(number) for number in found]
    return {len(number) for number in found} == {56}, numbers == sorted(set(numbers)), int(starting) < numbers[0]


@case((0, True))
def an_answer_to_many_has_their_order(p):
    p.create(2)
    places = [0, TOP, 0, TOP, TOP]
    entries = [{"Data": b"", "PartitionKey": "k", "ExplicitHashKey": str(place)} for place in places]
    found = p.k.put_records(StreamName=p.name, Records=entries)
    return found["FailedRecordCount"], [r["ShardId"][-1] for r in found["Records"]] == ["0", "1", "0", "1", "1"]


@case([("a", b""), ("schlüssel", b"\x00\xff"), ('"\\', b"x" * 1000)])
def records_come_back_as_they_were(p):
    p.create()
    for key, data in (("a", b""), ("schlüssel", b"\x00\xff"), ('"\\', b"x" * 1000)):
        p.put(key, data)
    records = p.read()["Records"]
    assert all(abs((datetime.now(UTC) - r["ApproximateArrivalTimestamp"]).total_seconds()) < 60 for r in records)
    return [(r["PartitionKey"], r["Data"]) for r in records]


@case(("abcd", "cd", "d", "", "e"))
def iterators_start_where_they_say(p):
    p.create()
    numbers = {key: p.put(key)["SequenceNumber"] for key in "abcd"}
    latest = p.start(kind="LATEST")
    found = [
        p.keys(),
        p.keys(kind="AT_SEQUENCE_NUMBER", StartingSequenceNumber=numbers["c"]),
        p.keys(kind="AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=numbers["c"]),
        p.keys(kind="LATEST"),
    ]
    p.put("e")
    return *found, "".join(r["PartitionKey"] for r in p.k.get_records(ShardIterator=latest)["Records"])


@case("ab")
def a_shard_is_read_from_its_starting_number(p):
    p.create()
    p.put("a"), p.put("b")
    starting = p.shards()[0]["SequenceNumberRange"]["StartingSequenceNumber"]
    return p.keys(kind="AT_SEQUENCE_NUMBER", StartingSequenceNumber=starting)


@case(("ab", "b", "InvalidArgumentException"))
def a_time_is_a_place_to_start(p):
    p.create()
    p.put("a")
    time.sleep(1.1)  # boto3 sends whole seconds
    second = datetime.now(UTC).replace(microsecond=0)  # before the put: no record of this second's is left out
    p.put("b")
    early, late = second - timedelta(hours=1), second + timedelta(hours=1)
    return (
        p.keys(kind="AT_TIMESTAMP", Timestamp=early),
        p.keys(kind="AT_TIMESTAMP", Timestamp=second),
        error(p.start, kind="AT_TIMESTAMP", Timestamp=late),
    )


@case((["ab", "cd", "e", ""], [True, True, False, False]))
def pages_follow_each_other(p):
    p.create()
    for key in "abcde":
        p.put(key)
        time.sleep(0.02)
    pages, behind, start = [], [], p.start()
    for _ in range(4):
        read = p.k.get_records(ShardIterator=start, Limit=2)
        start = read["NextShardIterator"]
        pages.append("".join(r["PartitionKey"] for r in read["Records"]))
        behind.append(read["MillisBehindLatest"] > 0)
    return pages, behind


@case(("a", "ab", "b"))
def an_iterator_can_be_used_again(p):
    p.create()
    p.put("a")
    start = p.start()
    first = p.k.get_records(ShardIterator=start)
    p.put("b")
    again = p.k.get_records(ShardIterator=start)
    after = p.k.get_records(ShardIterator=first["NextShardIterator"])
    return tuple("".join(r["PartitionKey"] for r in read["Records"]) for read in (first, again, after))


@case(("012", [None, "0", "0"], [True, False, False], True))
def a_split_closes_the_parent(p):
    p.create()
    p.put("a")
    p.split(key=12345)
    shards = p.shards()
    parents = [s.get("ParentShardId", "-")[-1].replace("-", "") or None for s in shards]
    closed = ["EndingSequenceNumber" in s["SequenceNumberRange"] for s in shards]
    return (
        ids(shards),
        parents,
        closed,
        ranges(shards)[1:] == [(0, TOP), (12345, TOP)] and ranges(shards)[0] == (0, 12344),
    )


@case(("abc", True, 0, [("1", ["0"]), ("2", ["0"])]))
def a_closed_shard_serves_its_records_and_ends(p):
    p.create()
    for key in "abc":
        p.put(key)
    p.split()
    read = p.read()
    children = [(c["ShardId"][-1], [one[-1] for one in c["ParentShards"]]) for c in read.get("ChildShards", [])]
    return (
        "".join(r["PartitionKey"] for r in read["Records"]),
        read.get("NextShardIterator") is None,
        read["MillisBehindLatest"],
        children,
    )


@case([("ab", False, 0), ("c", True, 2)])
def a_closed_shard_ends_with_its_last_page(p):
    p.create()
    for key in "abc":
        p.put(key)
    p.split()
    one = p.read(limit=2)
    two = p.k.get_records(ShardIterator=one["NextShardIterator"], Limit=2)
    return [
        (
            "".join(r["PartitionKey"] for r in x["Records"]),
            x.get("NextShardIterator") is None,
            len(x.get("ChildShards", [])),
        )
        for x in (one, two)
    ]


@case(
    [("", True)] * 3,
    other=[("", True), ("", True), "ResourceNotFoundException"],
    says="AFTER_SEQUENCE_NUMBER with a closed shard's ending number is not found",
)
def behind_the_last_record_of_a_closed_shard_is_its_end(p):
    p.create()
    number = p.put("a")["SequenceNumber"]
    p.split()
    ending = p.shards()[0]["SequenceNumberRange"]["EndingSequenceNumber"]
    starts = [
        lambda: p.read(kind="LATEST"),
        lambda: p.read(kind="AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=number),
        lambda: p.read(kind="AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=ending),
    ]
    found = []
    for start in starts:
        try:
            read = start()
            found.append(
                ("".join(r["PartitionKey"] for r in read["Records"]), read.get("NextShardIterator") is None)
            )
        except ClientError as failed:
            found.append(failed.response["Error"]["Code"])
    return found


@case(([], True))
def a_closed_shard_without_records_ends_at_once(p):
    p.create()
    p.split()
    read = p.read()
    return read["Records"], read.get("NextShardIterator") is None


@case(("12", "a", "b", "c"))
def records_go_to_the_children(p):
    p.create()
    p.put("a", ExplicitHashKey="0")
    p.split()
    went = p.put("b", ExplicitHashKey="0")["ShardId"][-1] + p.put("c", ExplicitHashKey=str(TOP))["ShardId"][-1]
    return went, p.keys(0), p.keys(1), p.keys(2)


@case((("2", "0", "1"), (0, TOP), ["0", "1"], "2"))
def a_merge_names_both_parents(p):
    p.create(2)
    p.merge(0, 1)
    (child,) = [s for s in p.shards() if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
    lineage = child["ShardId"][-1], child["ParentShardId"][-1], child["AdjacentParentShardId"][-1]
    named = [one[-1] for one in p.read()["ChildShards"][0]["ParentShards"]]
    return lineage, ranges([child])[0], named, p.put("a")["ShardId"][-1]


@case(
    [
        "InvalidArgumentException",
        "InvalidArgumentException",
        "ResourceNotFoundException",
        "InvalidArgumentException",
        "InvalidArgumentException",
        "InvalidArgumentException",
        "ResourceNotFoundException",
    ],
    other=[
        "InvalidArgumentException",
        "ResourceInUseException",
        "ResourceNotFoundException",
        "InvalidArgumentException",
        "InvalidArgumentException",
        "ResourceInUseException",
        "ResourceNotFoundException",
    ],
    says="Splitting a closed shard is refused with another code than the service's",
)
def reshards_that_do_not_go(p):
    p.create(3)
    p.split(0, 1000)
    return [
        error(p.split, 1, TOP),  # not in the shard
        error(p.split, 0, 500),  # closed
        error(p.split, 9, 500),  # not there
        error(p.merge, 1, 3),  # no neighbours
        error(p.merge, 2, 1),  # the upper one first
        error(p.merge, 0, 1),  # closed
        error(p.merge, 1, 9),  # not there
    ]


@case(
    ((2, 4), even(4), (4, 2), even(2)),
    other=(
        (2, 4),
        [(first - (first > 0), last - (last < TOP)) for first, last in even(4)],
        (4, 2),
        [(0, TOP // 2 - 1), (TOP // 2, TOP)],
    ),
    says="An even cut of the hash keys into two or four is one key lower than the service's",
)
def a_stream_is_scaled_up_and_down(p):
    p.create(2)
    found = []
    for count in (4, 2):
        answer = p.scale(count)
        found += [
            (answer["CurrentShardCount"], answer["TargetShardCount"]),
            ranges(p.shards(ShardFilter={"Type": "AT_LATEST"})),
        ]
    return tuple(found)


@case(
    even(3),
    other=[(0, TOP // 4 - 1), (TOP // 4, TOP // 2 - 1), (TOP // 2, TOP)],
    says="UpdateShardCount from two to three splits one shard and leaves the keys uneven",
)
def a_stream_is_scaled_by_less_than_double(p):
    p.create(2)
    p.scale(3)
    return ranges(p.shards(ShardFilter={"Type": "AT_LATEST"}))


@case(["InvalidArgumentException", "InvalidArgumentException"])
def scaling_has_bounds(p):
    p.create(4)
    return [error(p.scale, 9), error(p.scale, 1)]


@case((48, 24, "InvalidArgumentException", "InvalidArgumentException", "InvalidArgumentException", "none"))
def records_are_kept_from_a_day_to_a_year(p):
    p.create()
    hours = []
    for verb, to in (("increase", 48), ("decrease", 24)):
        getattr(p.k, f"{verb}_stream_retention_period")(StreamName=p.name, RetentionPeriodHours=to)
        hours.append(p.summary()["RetentionPeriodHours"])
    asked = {"StreamName": p.name}
    return (
        *hours,
        error(p.k.increase_stream_retention_period, **asked, RetentionPeriodHours=8761),
        error(p.k.decrease_stream_retention_period, **asked, RetentionPeriodHours=23),
        error(p.k.decrease_stream_retention_period, **asked, RetentionPeriodHours=25),
        error(p.k.increase_stream_retention_period, **asked, RetentionPeriodHours=24),
    )


@case((["01", "2"], "23", "2", "12"))
def shards_are_listed_in_pages_and_by_filter(p):
    p.create(3)
    first = p.k.list_shards(StreamName=p.name, MaxResults=2)
    second = p.k.list_shards(NextToken=first["NextToken"])
    pages = [ids(first["Shards"]), ids(second["Shards"])]
    time.sleep(0.01)
    p.merge(0, 1)
    return (
        pages,
        ids(p.shards(ShardFilter={"Type": "AT_LATEST"})),
        ids(p.shards(ExclusiveStartShardId="shardId-000000000001"))[:1],
        ids(p.shards(ShardFilter={"Type": "AFTER_SHARD_ID", "ShardId": "shardId-000000000000"}))[:2],
    )


@case((True, False))
def streams_are_listed_by_name(p):
    p.create()
    p.k.create_stream(StreamName=p.name + "-", ShardCount=1)
    later = p.k.list_streams(ExclusiveStartStreamName=p.name, Limit=1)["StreamNames"]
    return later == [p.name + "-"], p.name in p.k.list_streams(ExclusiveStartStreamName=p.name)["StreamNames"]


@case(
    ("InvalidArgumentException", "InvalidArgumentException"),
    other=("500", "500"),
    says="A shard iterator that is none is answered with status 500 and no error code",
)
def an_iterator_is_not_made_up(p):
    p.create()
    good = p.start()
    return error(p.hasty.get_records, ShardIterator="x"), error(
        p.hasty.get_records, ShardIterator=good[:-8] + "AAAAAAA="
    )


@case(
    ["InvalidArgumentException"] * 3,
    other=["none", "ResourceNotFoundException", "InvalidArgumentException"],
    says="A sequence number of another shard is accepted; one that is none is not found",
)
def a_sequence_number_belongs_to_its_shard(p):
    p.create(2)
    number = p.put(ExplicitHashKey="0")["SequenceNumber"]
    kind = "AFTER_SEQUENCE_NUMBER"
    return (
        error(p.start, 1, kind, StartingSequenceNumber=number),
        error(p.start, 0, kind, StartingSequenceNumber="12345"),
        error(p.start, 0, kind),
    )


@case(
    "InvalidArgumentException",
    other="none",
    says="A sequence number of a deleted stream is accepted by the stream made again",
)
def a_sequence_number_does_not_outlive_its_stream(p):
    p.create()
    number = p.put()["SequenceNumber"]
    deleted(p)
    time.sleep(1)
    p.create()
    return error(p.start, 0, "AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=number)


def deleted(p):
    p.k.delete_stream(StreamName=p.name)
    end = time.monotonic() + 60
    while error(p.summary) != "ResourceNotFoundException" and time.monotonic() < end:
        time.sleep(0.02)


@case(
    (True, True, "0", "ResourceNotFoundException", ""),
    other=(True, True, "0", "none", ""),
    says="An iterator of a deleted stream reads the stream made again",
)
def a_stream_made_again_is_another(p):
    p.create()
    p.put("a")
    made, start = p.summary(), p.start()
    deleted(p)
    time.sleep(0.01)
    again = p.create().summary()
    later = again["StreamCreationTimestamp"] > made["StreamCreationTimestamp"]
    return (
        made["StreamARN"] == again["StreamARN"],
        later,
        ids(p.shards()),
        error(p.k.get_records, ShardIterator=start),
        p.keys(),
    )


@case(("ValidationException", "none"), other=("none", "none"), says="PutRecords takes more than 500 records")
def a_call_takes_500_records(p):
    p.create()
    one = {"Data": b"", "PartitionKey": "k"}
    return tuple(error(p.k.put_records, StreamName=p.name, Records=[one] * count) for count in (501, 500))


@case(
    ("ValidationException", "ValidationException", "none"),
    other=("InvalidArgumentException", "none", "none"),
    says="A record above 1 MiB is refused with another code by PutRecord, and taken by PutRecords",
)
def a_record_takes_a_mebibyte(p):
    p.create()
    large = {"Data": bytes((1 << 20) + 1), "PartitionKey": "k"}
    return (
        error(p.k.put_record, StreamName=p.name, **large),
        error(p.k.put_records, StreamName=p.name, Records=[large]),
        error(p.put, "k", bytes(1 << 20)),
    )


@case("InvalidArgumentException", other="none", says="PutRecords takes more than 10 MiB")
def a_call_takes_10_mebibytes(p):
    p.create()
    one = {"Data": bytes(1 << 20), "PartitionKey": "k"}
    return error(p.k.put_records, StreamName=p.name, Records=[one] * 10)


@case(
    ["ValidationException"] * 3,
    other=["InvalidArgumentException"] * 3,
    says="What breaks a constraint of the service's model is an InvalidArgumentException",
)
def constraints_of_the_model_are_validation_errors(p):
    p.create()
    return (
        error(p.put, "k" * 257),
        error(p.put, ExplicitHashKey="-1"),
        error(p.k.create_stream, StreamName="a b", ShardCount=1),
    )


@case(("ACTIVE", "a"))
def an_arn_names_a_stream(p):
    p.create()
    arn = p.summary()["StreamARN"]
    p.k.put_record(StreamARN=arn, Data=b"", PartitionKey="a")
    return p.k.describe_stream(StreamARN=arn)["StreamDescription"]["StreamStatus"], p.keys()


@case(
    "ProvisionedThroughputExceededException",
    other="none",
    says="A shard is read any number of times a second",
    limited=True,
)
def a_shard_is_read_five_times_a_second(p):
    p.create()
    start = p.start()
    for _ in range(20):  # when a second passes in between, the shard is read more often
        begin = time.monotonic()
        found = {error(p.hasty.get_records, ShardIterator=start) for _ in range(12)} - {"none"}
        if time.monotonic() - begin < 1 or found:
            break
    return found.pop() if found else "none"


@case(
    (True, "ProvisionedThroughputExceededException"),
    other=(False, None),
    says="A shard takes any number of records a second",
    limited=True,
)
def a_shard_takes_a_thousand_records_a_second(p):
    p.create()
    for _ in range(5):  # when a second passes in between, the shard takes more
        begin = time.monotonic()
        answers = [
            p.hasty.put_records(StreamName=p.name, Records=[{"Data": b"", "PartitionKey": "k"}] * 500)
            for _ in range(3)
        ]
        if time.monotonic() - begin < 1 or any(a["FailedRecordCount"] for a in answers):
            break
        time.sleep(1)
    codes = {r.get("ErrorCode") for a in answers for r in a["Records"]} - {None}
    return sum(a["FailedRecordCount"] for a in answers) > 0, codes.pop() if codes else None
