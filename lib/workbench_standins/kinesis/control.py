"""Operations on streams and their shards: create, delete, describe, list, change retention, split, merge.

Each takes (store, members of the request, region) and returns the members of the answer.
"""

from collections.abc import Mapping
from typing import Any

from workbench_standins.kinesis import request, tokens
from workbench_standins.kinesis.refusal import Refused, constraint, invalid
from workbench_standins.kinesis.request import FILTERS, Asked
from workbench_standins.kinesis.sequence import shard_id
from workbench_standins.kinesis.store import ACCOUNT, Store, open_shard_of
from workbench_standins.kinesis.stream import Shard, Stream

DAY_MILLIS = 86_400_000
TOKEN_LIFE_MILLIS = 300_000
RETENTION_HOURS = 24, 8760  # shortest, longest
MODES = "PROVISIONED", "ON_DEMAND"
Answer = dict[str, Any]


def create_stream(store: Store, asked: Asked, region: str) -> Answer:
    """Create a stream; an on-demand one has four shards and never scales by itself here."""
    name, mode = asked["StreamName"], (asked.get("StreamModeDetails") or {}).get("StreamMode", "PROVISIONED")
    if mode not in MODES:
        raise constraint(
            "streamModeDetails.streamMode", mode, f"Member must satisfy enum value set: {list(MODES)}"
        )
    if name in store.streams(region):
        raise Refused("ResourceInUseException", f"Stream {name} under account {ACCOUNT} already exists.")
    shards = asked.get("ShardCount") or (4 if mode == "ON_DEMAND" else None)
    if shards is None:
        raise invalid("ShardCount must be specified for a stream in PROVISIONED mode.")
    store.need_room(region, shards)
    stream = store.add(name, region, mode=mode, shards=shards)
    if asked.get("MaxRecordSizeInKiB") is not None:
        stream.record_bytes = asked["MaxRecordSizeInKiB"] * 1024
    return {}


def delete_stream(store: Store, asked: Asked, region: str) -> Answer:
    """Delete a stream and its records; one that is being deleted already is left to it."""
    stream = store.stream(asked, region)
    if stream.status != "DELETING":
        store.remove(stream, region)
    return {}


def describe_stream(store: Store, asked: Asked, region: str) -> Answer:
    """Describe a stream with its shards, closed ones too, oldest first."""
    stream = store.stream(asked, region)
    after = asked.get("ExclusiveStartShardId") or ""
    shards = [shard for shard in stream.shards.values() if shard.id > after]
    given = shards[: asked.get("Limit") or 100]
    more = {"Shards": [shard.description() for shard in given], "HasMoreShards": len(given) < len(shards)}
    return {"StreamDescription": stream.summary() | more}


def describe_stream_summary(store: Store, asked: Asked, region: str) -> Answer:
    """Describe a stream without its shards."""
    stream = store.stream(asked, region)
    more = {
        "OpenShardCount": len(stream.route()[1]),
        "ConsumerCount": 0,
        "MaxRecordSizeInKiB": stream.max_record_kib(),
    }
    return {"StreamDescriptionSummary": stream.summary() | more}


def list_streams(store: Store, asked: Asked, region: str) -> Answer:
    """List the streams by name."""
    streams = store.streams(region)
    after = asked.get("NextToken") or asked.get("ExclusiveStartStreamName") or ""
    names = [name for name in streams if name > after]
    given = names[: asked.get("Limit") or 100]
    keys = ("StreamName", "StreamARN", "StreamStatus", "StreamModeDetails", "StreamCreationTimestamp")
    summaries = [{key: value for key, value in streams[name].summary().items() if key in keys} for name in given]
    answer: Answer = {
        "StreamNames": given,
        "HasMoreStreams": len(given) < len(names),
        "StreamSummaries": summaries,
    }
    return answer | ({"NextToken": given[-1]} if len(given) < len(names) else {})


def list_shards(store: Store, asked: Asked, region: str) -> Answer:
    """List the shards that are not expired, oldest first; a filter and five-minute page tokens are understood."""
    millis = store.clock.millis()
    if asked.get("NextToken") is not None:
        stream, after, kind, moment = _next_page(store, asked, millis)
    else:
        stream, after = store.stream(asked, region), asked.get("ExclusiveStartShardId") or ""
        created, named = stream.created_millis / 1000, asked.get("StreamCreationTimestamp")
        if named is not None and named not in (created, int(created)):  # boto3 sends whole seconds
            raise Refused(
                "ResourceNotFoundException",
                f"Stream {stream.name} under account {ACCOUNT} was created at {created}.",
            )
        kind, moment, later = _filter(stream, asked.get("ShardFilter") or {}, millis)
        after = max(after, later)
    shards = [s for s in stream.shards.values() if s.id > after and _passes(s, kind, moment)]
    given = shards[: asked.get("MaxResults") or 1000]
    answer: Answer = {"Shards": [shard.description() for shard in given]}
    if len(given) < len(shards):
        answer["NextToken"] = tokens.seal(
            tokens.PAGE, store.key, millis=millis, incarnation=stream.incarnation, shard=given[-1].index,
            position=FILTERS.index(kind) << 56 | moment,
        )  # fmt: skip
    return answer


def _next_page(store: Store, asked: Asked, millis: int) -> tuple[Stream, str, str, int]:
    """Return (stream, the shard id to start behind, kind, moment) of a page token."""
    if not asked.keys().isdisjoint(("StreamName", "ShardFilter", "ExclusiveStartShardId")):
        raise invalid(
            "NextToken cannot be provided together with StreamName, ShardFilter or ExclusiveStartShardId."
        )
    try:
        issued, incarnation, index, position = tokens.unseal(tokens.PAGE, store.key, asked["NextToken"])
    except ValueError:
        raise invalid("NextToken is invalid.") from None
    if millis - issued > TOKEN_LIFE_MILLIS:
        raise Refused("ExpiredNextTokenException", "The pagination token passed to the operation is expired.")
    stream = store.incarnation(incarnation)
    if stream is None:
        raise Refused(
            "ResourceNotFoundException", f"The stream of this NextToken under account {ACCOUNT} is gone."
        )
    return stream, shard_id(index), FILTERS[position >> 56], position & (1 << 56) - 1


def _filter(stream: Stream, shard_filter: Mapping[str, Any], millis: int) -> tuple[str, int, str]:
    """Return (kind, moment in milliseconds, the shard id to start behind) of a ShardFilter."""
    kind = shard_filter.get("Type", "FROM_TRIM_HORIZON")
    if kind not in FILTERS:
        raise constraint("shardFilter.type", kind, f"Member must satisfy enum value set: {list(FILTERS)}")
    if kind == "AFTER_SHARD_ID":
        if not isinstance(shard_filter.get("ShardId"), str):
            raise invalid("ShardId must be specified with the filter AFTER_SHARD_ID.")
        return kind, 0, shard_filter["ShardId"]
    opened = [shard.opened_millis for shard in stream.shards.values()]
    moment = max(stream.horizon(millis), min(opened, default=0))
    if kind.endswith("TIMESTAMP"):
        if shard_filter.get("Timestamp") is None:
            raise invalid(f"Timestamp must be specified with the filter {kind}.")
        moment = max(moment, round(request.moment("Timestamp", shard_filter["Timestamp"]) * 1000))
    return kind, moment, ""


def _passes(shard: Shard, kind: str, moment: int) -> bool:
    if kind in ("FROM_TRIM_HORIZON", "AFTER_SHARD_ID"):
        return True
    if kind == "AT_LATEST":
        return shard.closed_millis is None
    if shard.closed_millis is not None and shard.closed_millis <= moment:
        return False
    return kind == "FROM_TIMESTAMP" or shard.opened_millis <= moment


def increase_retention(store: Store, asked: Asked, region: str) -> Answer:
    """Keep records longer; records that are trimmed already stay gone."""
    stream, hours = _retention(store, asked, region)
    if hours < stream.retention_hours:
        raise invalid(_not(stream, hours, "shorter", "DecreaseStreamRetentionPeriod"))
    stream.retention_hours = hours
    return {}


def decrease_retention(store: Store, asked: Asked, region: str) -> Answer:
    """Keep records shorter; older ones are trimmed at once."""
    stream, hours = _retention(store, asked, region)
    if hours > stream.retention_hours:
        raise invalid(_not(stream, hours, "longer", "IncreaseStreamRetentionPeriod"))
    stream.retention_hours = hours
    stream.expire(store.clock.millis())
    return {}


def _retention(store: Store, asked: Asked, region: str) -> tuple[Stream, int]:
    shortest, longest = RETENTION_HOURS
    hours = asked["RetentionPeriodHours"]
    if not shortest <= hours <= longest:
        raise invalid(f"RetentionPeriodHours must be from {shortest} to {longest} hours; got {hours}.")
    return store.idle(asked, region), hours


def _not(stream: Stream, hours: int, comparison: str, other: str) -> str:
    return (
        f"Requested retention period ({hours} hours) for stream {stream.name} can not be {comparison} than "
        f"existing retention period ({stream.retention_hours} hours). Use the {other} API."
    )


def split_shard(store: Store, asked: Asked, region: str) -> Answer:
    """Close a shard and open two children in its place."""
    stream = _provisioned(store, asked, region)
    shard = open_shard_of(stream, asked["ShardToSplit"])
    key = int(asked["NewStartingHashKey"])
    if not shard.first_key + 1 < key < shard.last_key:
        raise invalid(
            f"NewStartingHashKey {key} used in SplitShard() on shard {shard.id} in stream {stream.name} under "
            f"account {ACCOUNT} is not both greater than one plus the shard's StartingHashKey {shard.first_key} "
            f"and less than the shard's EndingHashKey {shard.last_key}."
        )
    store.need_room(region, 1)
    store.schedule(stream, "UPDATING", lambda due: stream.split(shard, key, due))
    return {}


def merge_shards(store: Store, asked: Asked, region: str) -> Answer:
    """Close two neighbours and open a child that covers both."""
    stream = _provisioned(store, asked, region)
    lower, upper = (open_shard_of(stream, asked[name]) for name in ("ShardToMerge", "AdjacentShardToMerge"))
    if lower.last_key + 1 != upper.first_key:  # the service takes the lower one first
        raise invalid(
            f"Shards {lower.id} and {upper.id} in stream {stream.name} under account {ACCOUNT} are not an "
            "adjacent pair of shards eligible for merging"
        )
    store.schedule(stream, "UPDATING", lambda due: stream.merge(lower, upper, due))
    return {}


def update_shard_count(store: Store, asked: Asked, region: str) -> Answer:
    """Split and merge until a number of shards cut the hash keys evenly."""
    stream = _provisioned(store, asked, region)
    target, current = asked["TargetShardCount"], len(stream.route()[1])
    if target > 2 * current or 2 * target < current:
        bound = "up over double" if target > current else "down below half"
        raise invalid(
            f"UpdateShardCount cannot scale {bound} your current open shard count. Current open shard "
            f"count: {current} Target shard count: {target}"
        )
    store.need_room(region, target - current)
    millis, most = store.clock.millis(), store.limits.scalings_per_day
    stream.scalings = [earlier for earlier in stream.scalings if earlier > millis - DAY_MILLIS]
    if most is not None and len(stream.scalings) >= most:
        raise Refused(
            "LimitExceededException",
            f"Stream {stream.name} under account {ACCOUNT} was scaled {most} times in 24 hours, the limit.",
        )
    stream.scalings.append(millis)
    store.schedule(stream, "UPDATING", lambda due: stream.rescale(target, due))
    return {
        "StreamName": stream.name,
        "StreamARN": stream.arn,
        "CurrentShardCount": current,
        "TargetShardCount": target,
    }


def _provisioned(store: Store, asked: Asked, region: str) -> Stream:
    """Return a stream whose shards the caller may change."""
    stream = store.idle(asked, region)
    if stream.mode != "PROVISIONED":
        raise Refused(
            "ValidationException", f"Stream {stream.name} is ON_DEMAND; its shards are not changed by hand."
        )
    return stream
