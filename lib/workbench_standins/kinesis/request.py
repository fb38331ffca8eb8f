"""The members of a request, checked against the service's model before anything is done."""

import re
from collections.abc import Mapping
from typing import Any

from workbench_standins.kinesis.refusal import Refused, constraint, invalid

Asked = Mapping[str, Any]  # the members of a request
NAME, HASH_KEY = re.compile(r"[a-zA-Z0-9_.-]+"), re.compile(r"0|([1-9]\d{0,38})")
SEQUENCE_NUMBER = re.compile(r"0|([1-9]\d{0,128})")
ARN = re.compile(r"arn:aws.*:kinesis:([^:]*):\d{12}:stream/([a-zA-Z0-9_.-]+)")
ITERATOR_TYPES = ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP")
FILTERS = ("AFTER_SHARD_ID", "AT_TRIM_HORIZON", "FROM_TRIM_HORIZON", "AT_LATEST", "AT_TIMESTAMP", "FROM_TIMESTAMP")

TEXTS: dict[str, tuple[int, int | None, re.Pattern[str] | None]] = {  # member: (shortest, longest, pattern)
    "StreamName": (1, 128, NAME), "ExclusiveStartStreamName": (1, 128, NAME), "StreamARN": (1, 2048, ARN),
    "ShardId": (1, 128, NAME), "ShardToSplit": (1, 128, NAME), "ShardToMerge": (1, 128, NAME),
    "AdjacentShardToMerge": (1, 128, NAME), "ExclusiveStartShardId": (1, 128, NAME),
    "PartitionKey": (1, 256, None), "ShardIterator": (1, 512, None), "NextToken": (1, 1048576, None),
    "ExplicitHashKey": (0, 39, HASH_KEY), "NewStartingHashKey": (0, 39, HASH_KEY),
    "StartingSequenceNumber": (0, 129, SEQUENCE_NUMBER), "SequenceNumberForOrdering": (0, 129, SEQUENCE_NUMBER),
    "Data": (0, None, None),
}  # fmt: skip
NUMBERS: dict[str, tuple[int | None, int | None]] = {  # member: (least, most)
    "ShardCount": (1, None), "TargetShardCount": (1, None), "Limit": (1, 10000), "MaxResults": (1, 10000),
    "RetentionPeriodHours": (None, None), "MaxRecordSizeInKiB": (1024, 10240),
}  # fmt: skip
CHOICES = {"ShardIteratorType": ITERATOR_TYPES, "ScalingType": ("UNIFORM_SCALING",)}
TIMES, STRUCTURES = ("Timestamp", "StreamCreationTimestamp"), ("ShardFilter", "StreamModeDetails")
LATEST_SECOND = 253_402_300_799  # the end of the year 9999
REQUIRED = {
    "CreateStream": ("StreamName",),
    "PutRecord": ("Data", "PartitionKey"),
    "PutRecords": ("Records",),
    "GetShardIterator": ("ShardId", "ShardIteratorType"),
    "GetRecords": ("ShardIterator",),
    "SplitShard": ("ShardToSplit", "NewStartingHashKey"),
    "MergeShards": ("ShardToMerge", "AdjacentShardToMerge"),
    "UpdateShardCount": ("TargetShardCount", "ScalingType"),
    "IncreaseStreamRetentionPeriod": ("RetentionPeriodHours",),
    "DecreaseStreamRetentionPeriod": ("RetentionPeriodHours",),
}


def check(operation: str, request: Asked) -> None:
    """Check the members of a request; those that are not in the tables pass.

    Raises:
        Refused: SerializationException for a wrong type, ValidationException for a broken constraint.
    """
    for member in REQUIRED.get(operation, ()):
        if request.get(member) is None:
            raise constraint(_lower(member), None, "Member must not be null")
    for member, value in request.items():
        if value is None:
            continue
        if member in TEXTS:
            text(member, value)
        elif member in NUMBERS:
            _number(member, value)
        elif member in TIMES:
            moment(member, value)
        elif member in STRUCTURES and not isinstance(value, dict):
            raise wrong_type(member, "an object")
        elif member in CHOICES and value not in CHOICES[member]:
            raise constraint(
                _lower(member), value, f"Member must satisfy enum value set: [{', '.join(CHOICES[member])}]"
            )


def text(member: str, value: Any) -> None:
    """Check one text against the table."""
    if not isinstance(value, str):
        raise wrong_type(member, "a text")
    if not value.isascii() and not _encodes(value):
        raise wrong_type(member, "a text that UTF-8 can hold")
    shortest, longest, pattern = TEXTS[member]
    if len(value) < shortest:
        raise constraint(_lower(member), value, f"Member must have length greater than or equal to {shortest}")
    if longest is not None and len(value) > longest:
        raise constraint(_lower(member), value, f"Member must have length less than or equal to {longest}")
    if pattern is not None and not pattern.fullmatch(value):
        raise constraint(
            _lower(member), value, f"Member must satisfy regular expression pattern: {pattern.pattern}"
        )


def moment(member: str, value: Any) -> float:
    """Check a time in seconds since 1970 and return it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LATEST_SECOND:
        raise wrong_type(member, "a number of seconds since 1970")
    return value


def stream_name(request: Asked, region: str) -> str:
    """Return the name of the stream that a request means, by StreamName, StreamARN or both.

    Raises:
        Refused: neither is given, they differ, or the ARN is of another region.
    """
    name, arn = request.get("StreamName"), request.get("StreamARN")
    if arn is None:
        if name is None:
            raise invalid("Either StreamName or StreamARN must be specified.")
        return str(name)
    matched = ARN.fullmatch(arn)
    if matched is None:
        raise invalid(f"StreamARN {arn} is invalid.")
    of_region, of_name = matched.groups()
    if name not in (None, of_name):
        raise invalid(f"StreamName {name} does not match the stream in StreamARN {arn}.")
    if of_region != region:
        raise invalid(f"StreamARN {arn} is not in the region {region} of this request.")
    return str(of_name)


def wrong_type(member: str, expected: str) -> Refused:
    """Return the SerializationException of a member of another type."""
    return Refused("SerializationException", f"{member} must be {expected}")


def _number(member: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(member, "a whole number")
    least, most = NUMBERS[member]
    if least is not None and value < least:
        raise constraint(_lower(member), value, f"Member must have value greater than or equal to {least}")
    if most is not None and value > most:
        raise constraint(_lower(member), value, f"Member must have value less than or equal to {most}")


def _encodes(value: str) -> bool:
    """Return whether a text has no half of a surrogate pair, which JSON can carry and UTF-8 can not."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _lower(member: str) -> str:
    return member[0].lower() + member[1:]
