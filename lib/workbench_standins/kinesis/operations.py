"""The table of operations, and a call of one."""

from workbench_standins.kinesis import control, reading, request, writing
from workbench_standins.kinesis.refusal import Refused, invalid

OPERATIONS = {
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


def call(store, operation, asked, region="us-east-1", **options):
    """Carry out an operation.

    Args:
        store: the streams.
        operation: its name, as `PutRecords`.
        asked: the request, as it came from JSON.
        region: where the caller signed for; streams of other regions are not there.
        options: what a fault script asks of GetRecords and PutRecords, see `reading` and `writing`.

    Returns:
        dict; or bytes of JSON text, for GetRecords, whose records are kept as such, and for PutRecords.

    Raises:
        Refused: the service's error.
    """
    action = OPERATIONS.get(operation)
    if action is None:
        raise Refused("UnknownOperationException", f"no operation {operation}; there are {', '.join(OPERATIONS)}")
    if not isinstance(asked, dict):
        raise Refused("SerializationException", "a request is a JSON object")
    request.check(operation, asked)
    if asked.get("DryRun"):  # what would be stored by somebody who asked for nothing to be stored
        raise invalid("DryRun is not supported by this server.")
    store.count_call(operation)
    return action(store, asked, region, **options)
