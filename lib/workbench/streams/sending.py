"""Sending records: to a Kinesis stream in calls of 500, those again that it had no room for; to a Kafka topic."""

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

from workbench._base.door import checked
from workbench.streams.readers.topics import Topic

CALL_RECORDS, CALL_BYTES = 500, 10 * 2**20
AGAIN = frozenset({"ProvisionedThroughputExceededException", "InternalFailure", "ThrottlingException"})


@checked
def send(
    client: Any,
    stream: str,
    records: Iterable[Any],
    *,
    patience_seconds: float = 300.0,
    sleep: Callable[[float], Any] = time.sleep,
) -> int:
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
    sent, size = 0, 0
    entries: list[dict[str, Any]] = []
    for key, data in records:
        length = len(data) + len(key.encode())
        if len(entries) == CALL_RECORDS or size + length > CALL_BYTES:
            sent += _all(client, stream, entries, patience_seconds, sleep)
            entries, size = [], 0
        entries.append({"PartitionKey": key, "Data": data})
        size += length
    return sent + _all(client, stream, entries, patience_seconds, sleep)


def _all(
    client: Any, stream: str, entries: list[dict[str, Any]], patience_seconds: float, sleep: Callable[[float], Any]
) -> int:
    import botocore.exceptions as failures

    waiting, since, tries, why = list(entries), time.monotonic(), 0, ""
    while waiting:
        before = len(waiting)
        try:
            answer = client.put_records(StreamName=stream, Records=waiting)
        except (failures.ConnectionError, failures.HTTPClientError) as error:
            why = str(error)
        except failures.ClientError as error:
            if (why := error.response["Error"]["Code"]) not in AGAIN:
                raise
        else:
            codes = [outcome.get("ErrorCode") for outcome in answer["Records"]]
            why = next(filter(None, codes), "")
            waiting = [entry for entry, code in zip(waiting, codes, strict=True) if code]
        if len(waiting) < before:
            since, tries = time.monotonic(), 0
        if waiting:
            if time.monotonic() - since > patience_seconds:
                raise TimeoutError(
                    f"stream {stream} took none of {len(waiting)} records for {patience_seconds} s: {why}"
                )
            tries += 1
            sleep(min(0.02 * 2 ** min(tries, 8), 2.0) * random.uniform(0.5, 1))
    return len(entries)


@checked
def produce(topic: Topic, records: Iterable[Any], *, patience_seconds: float = 60.0) -> int:
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

    producer, count = topics.producer(topic, patience_seconds), 0
    refused: list[str] = []

    def delivered(error: Any, _: Any) -> None:
        if error is not None:
            refused.append(error.str())

    for key, value in records:
        while True:
            try:
                producer.produce(topic.topic, key=key, value=value, on_delivery=delivered)
                break
            except BufferError:  # its queue is full: let it work
                producer.poll(0.1)
        producer.poll(0)
        count += 1
    waiting = producer.flush(patience_seconds * 2)
    if refused or waiting:
        why = refused[0] if refused else "no answer"
        raise TimeoutError(f"topic {topic.topic} took {count - waiting - len(refused)} of {count} records: {why}")
    return count
