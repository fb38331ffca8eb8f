"""Sending records: to a Kinesis stream in calls of 500, those again that it had no room for; to a Kafka topic."""

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
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
        ValueError: the brokers refuse the user's right or the log-in.
        TimeoutError: records were not taken; the message has the first error.
    """
    from workbench.streams.readers import topics

    failures: list[Any] = []  # of the producer
    undelivered: list[Any] = []  # an error a record
    producer, count, taken = topics.producer(topic, patience_seconds, failures.append), 0, 0

    def delivered(error: Any, _: Any) -> None:
        nonlocal taken
        if error is not None:
            undelivered.append(error)
        else:
            taken += 1

    def refuse() -> None:
        if refusal := _refusal(topic, undelivered + failures, given_up=bool(undelivered)):
            raise refusal

    for key, value in records:
        _queue(producer, topic.topic, key, value, delivered, failures)
        _served(producer.poll, 0, failures)
        count += 1
        refuse()  # the rest would be refused, too
    _served(producer.flush, patience_seconds * 2, failures)
    refuse()
    if taken < count:
        why = (undelivered or [error for error in failures if error.fatal()] or [None])[0]
        reason = why.str() if why else "no answer"
        raise TimeoutError(f"topic {topic.topic} took {taken} of {count} records: {reason}")
    return count


def _served(serve: Callable[[float], Any], seconds: float, failures: list[Any]) -> None:
    """Let a producer call back; an error after which it sends nothing any more is one of its failures."""
    from confluent_kafka import KafkaException

    try:
        serve(seconds)
    except KafkaException as error:
        failures.append(error.args[0])


def _queue(
    producer: Any, topic: str, key: Any, value: Any, delivered: Callable[[Any, Any], None], failures: list[Any]
) -> None:
    """Give a record to a producer, which calls `delivered` with what comes of it."""
    from confluent_kafka import KafkaException

    while True:
        try:
            producer.produce(topic, key=key, value=value, on_delivery=delivered)
            return
        except BufferError:  # its queue is full: let it work
            _served(producer.poll, 0.1, failures)
        except KafkaException as error:  # it takes none of this size, or none any more
            delivered(error.args[0], None)
            return


def _refusal(topic: Topic, errors: Iterable[Any], *, given_up: bool) -> ArgumentError | None:
    """Return the error to raise where brokers refuse a producer its right or its log-in; None of other errors.

    Args:
        topic: that is written.
        errors: librdkafka's, of deliveries and of the producer.
        given_up: whether a record was: until then a refused log-in may be followed by one that is not.
    """
    from confluent_kafka import KafkaError

    from workbench.streams.readers import topics

    # the second is told of an idempotent producer that may write no topic at all
    rights = (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED)
    for error in errors:
        if error.code() in rights:
            who = topics.user(topic) or " that came"
            return ArgumentError(
                f"topic {topic.topic} cannot be written: {topic.bootstrap} grants the user{who} no right WRITE "
                f"of the topic {topic.topic} ({error.str()})"
            )
        if given_up and error.code() == KafkaError._AUTHENTICATION:
            return topics.log_in_refused(topic, error.str(), "written")
    return None
