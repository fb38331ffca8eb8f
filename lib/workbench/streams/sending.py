"""Sending records: to a Kinesis stream in calls of 500, those again that it had no room for; to a Kafka topic."""

import random
import time

CALL_RECORDS, CALL_BYTES = 500, 10 * 2**20
AGAIN = frozenset({"ProvisionedThroughputExceededException", "InternalFailure", "ThrottlingException"})


def send(client, stream, records, *, patience_seconds=300.0, sleep=time.sleep):
    """Send records, each until the stream has it.

    PutRecords takes some records of a call and refuses others; only the refused ones are sent again, so records of
    one key may change places. A call whose answer was lost is sent again whole, which makes duplicates with other
    sequence numbers: only a key in the record itself tells them apart.

    Args:
        client: boto3's client for Kinesis.
        stream: name of the stream.
        records: iterable of (partition key, bytes).
        patience_seconds: how long without any record taken, before it gives up.
        sleep: function that waits; for tests.

    Returns:
        int, records that the stream took, those of calls whose answer was lost not counted twice.

    Raises:
        TimeoutError: nothing was taken for so long; the message has the last error.
    """
    sent, left, size = 0, [], 0
    for key, data in records:
        length = len(data) + len(key.encode())
        if len(left) == CALL_RECORDS or size + length > CALL_BYTES:
            sent += _all(client, stream, left, patience_seconds, sleep)
            left, size = [], 0
        left.append({"PartitionKey": key, "Data": data})
        size += length
    return sent + (_all(client, stream, left, patience_seconds, sleep) if left else 0)


def _all(client, stream, entries, patience_seconds, sleep):
    import botocore.exceptions as failures

    left, since, tries, why = list(entries), time.monotonic(), 0, ""
    while left:
        before = len(left)
        try:
            answer = client.put_records(StreamName=stream, Records=left)
        except (failures.ConnectionError, failures.HTTPClientError) as error:
            why = str(error)
        except failures.ClientError as error:
            if (why := error.response["Error"]["Code"]) not in AGAIN:
                raise
        else:
            told = answer["Records"]
            why = next((one["ErrorCode"] for one in told if "ErrorCode" in one), "")
            left = [entry for entry, one in zip(left, told, strict=True) if "ErrorCode" in one]
        if len(left) < before:
            since, tries = time.monotonic(), 0
        if left:
            if time.monotonic() - since > patience_seconds:
                raise TimeoutError(
                    f"stream {stream} took none of {len(left)} records for {patience_seconds} s: {why}"
                )
            tries += 1
            sleep(min(0.02 * 2 ** min(tries, 8), 2.0) * random.uniform(0.5, 1))
    return len(entries)


def produce(topic, records, *, patience_seconds=60.0):
    """Send records to a Kafka topic, each until the brokers have it.

    The producer is idempotent: what it sends again by itself comes once, and records of a key keep their order.

    Args:
        topic: topics.Topic.
        records: iterable of (key, bytes); None for no key, and for no value: a tombstone.
        patience_seconds: how long to wait for a record.

    Returns:
        int, records that the brokers have.

    Raises:
        ModuleNotFoundError: confluent-kafka is not installed.
        TimeoutError: records were not taken; the message has the first error.
    """
    from workbench.streams.readers import topics

    producer, refused, count = topics.producer(topic, patience_seconds), [], 0

    def told(error, _):
        if error is not None:
            refused.append(error.str())

    for key, value in records:
        while True:
            try:
                producer.produce(topic.topic, key=key, value=value, on_delivery=told)
                break
            except BufferError:  # its queue is full: let it work
                producer.poll(0.1)
        producer.poll(0)
        count += 1
    left = producer.flush(patience_seconds * 2)
    if refused or left:
        why = refused[0] if refused else "no answer"
        raise TimeoutError(f"topic {topic.topic} took {count - left - len(refused)} of {count} records: {why}")
    return count
