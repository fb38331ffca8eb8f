"""Operations that change a stream's shards. Each is (store, asked, region)."""

from workbench_standins.kinesis.refusal import Refused, invalid
from workbench_standins.kinesis.store import ACCOUNT, open_shard_of

DAY_MILLIS = 86_400_000


def split_shard(store, asked, region):
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


def merge_shards(store, asked, region):
    """Close two neighbours and open a child that covers both."""
    stream = _provisioned(store, asked, region)
    one, other = (open_shard_of(stream, asked[name]) for name in ("ShardToMerge", "AdjacentShardToMerge"))
    if one.last_key + 1 != other.first_key:  # the service wants the lower one first
        raise invalid(
            f"Shards {one.id} and {other.id} in stream {stream.name} under account {ACCOUNT} are not an adjacent "
            "pair of shards eligible for merging"
        )
    store.schedule(stream, "UPDATING", lambda due: stream.merge(one, other, due))
    return {}


def update_shard_count(store, asked, region):
    """Split and merge until a number of shards cut the hash keys evenly."""
    stream = _provisioned(store, asked, region)
    target, there = asked["TargetShardCount"], len(stream.route()[1])
    if target > 2 * there:
        raise invalid(
            f"UpdateShardCount cannot scale up over double your current open shard count. Current open shard "
            f"count: {there} Target shard count: {target}"
        )
    if 2 * target < there:
        raise invalid(
            f"UpdateShardCount cannot scale down below half your current open shard count. Current open shard "
            f"count: {there} Target shard count: {target}"
        )
    store.need_room(region, target - there)
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
        "CurrentShardCount": there,
        "TargetShardCount": target,
    }


def _provisioned(store, asked, region):
    """Return a stream whose shards are the caller's business."""
    stream = store.idle(asked, region)
    if stream.mode != "PROVISIONED":
        raise Refused(
            "ValidationException", f"Stream {stream.name} is ON_DEMAND; its shards are not changed by hand."
        )
    return stream
