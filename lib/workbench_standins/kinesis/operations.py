"""The table of operations, and a call of one."""

from collections.abc import Callable
from typing import Any

from workbench_standins.kinesis import control, reading, request, writing
from workbench_standins.kinesis.refusal import Refused, invalid
from workbench_standins.kinesis.store import Store

OPERATIONS: dict[str, Callable[..., Any]] = {
    "CreateStream": control.create_stream,
    "DeleteStream": control.delete_stream,
    "DescribeStream": control.describe_stream,
    "DescribeStreamSummary": control.describe_stream_summary,
    "ListStreams": control.list_streams,
    "ListShards": control.list_shards,
    "IncreaseStreamRetentionPeriod": control.increase_retention,
    "DecreaseStreamRetentionPeriod": control.decrease_retention,
    "SplitShard": control.split_shard,
    "MergeShards": control.merge_shards,
    "UpdateShardCount": control.update_shard_count,
    "PutRecord": writing.put_record,
    "PutRecords": writing.put_records,
    "GetShardIterator": reading.get_shard_iterator,
    "GetRecords": reading.get_records,
}


def call(
    store: Store, operation: str, asked: Any, region: str = "us-east-1", **options: Any
) -> dict[str, Any] | bytes:
    """Carry out an operation.

    Args:
        store: the streams.
        operation: its name, as `PutRecords`.
        asked: the request, as it came from JSON.
        region: that the caller signed for; only its streams are visible.
        options: of a fault script for GetRecords and PutRecords, see `reading` and `writing`.

    Returns:
        dict; bytes of JSON text of GetRecords, whose records are kept as such, and of PutRecords.

    Raises:
        Refused: the service's error.
    """
    action = OPERATIONS.get(operation)
    if action is None:
        raise Refused("UnknownOperationException", f"no operation {operation}; there are {', '.join(OPERATIONS)}")
    if not isinstance(asked, dict):
        raise Refused("SerializationException", "a request is a JSON object")
    request.check(operation, asked)
    if asked.get("DryRun"):  # refused, since it would be carried out
        raise invalid("DryRun is not supported by this server.")
    store.count_call(operation)
    answer: dict[str, Any] | bytes = action(store, asked, region, **options)
    return answer
