"""What refuses a client of a topic with rights, records that are sent slowly, and a token that nobody renews.

topics.refusal(lambda: source.describe())                 # the sentence, "" where nothing refuses
streams.produce(source, topics.slowly(records, parts=12))  # longer than a token is valid
topics.again(lambda: streams.ingest(…))                    # where a log-in was refused, as a scheduler does
topics.hold(address, token, topic="sales")                # how far one token leads
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from workbench._base.bounds import Ge
from workbench._base.door import checked

T = TypeVar("T")
GROUP = "iceberg-workbench"  # under which streams.Topic reads
_ADDRESS = re.compile(r"\b127\.0\.0\.1:\d+")


@dataclass(frozen=True)
class Held:
    """How far one token led.

    Attributes:
        records: read until it was refused, or until patience ended.
        refused: whether the broker refused it in the end.
    """

    records: int
    refused: bool


@checked
def refusal(action: Callable[[], Any]) -> str:
    """Return the sentence that refuses an action, "" where nothing does; the broker's address is left out of it.

    Args:
        action: called without arguments; an error other than a ValueError comes through as it is.
    """
    try:
        action()
    except ValueError as error:
        return _ADDRESS.sub("<broker>", str(error))
    return ""


@checked
def again(action: Callable[[], T], *, tries: Annotated[int, Ge(1)] = 5) -> T:
    """Return what an action returns; where its log-in is refused, it is done again.

    On a busy machine the renewal of a short token can come late, and a run that is refused then goes on when it is
    begun again.

    Args:
        action: called without arguments.
        tries: how often at most; the last refusal comes through, and so does every other error.
    """
    for _ in range(tries - 1):
        try:
            return action()
        except ValueError as error:
            if "refuses the log-in" not in str(error):
                raise
    return action()


@checked
def slowly(
    records: Sequence[T], *, parts: Annotated[int, Ge(1)], pause_seconds: Annotated[float, Ge(0)] = 1.0
) -> Iterator[T]:
    """Return an iterator over records that waits after each part of them, so that sending them takes long.

    Args:
        records: to be sent.
        parts: their number; every part has records where there are as many records.
        pause_seconds: the wait after each.
    """

    def parted() -> Iterator[T]:
        for part in range(parts):
            yield from records[len(records) * part // parts : len(records) * (part + 1) // parts]
            time.sleep(pause_seconds)

    return parted()


@checked
def hold(address: str, token: str, *, topic: str, patience_seconds: Annotated[float, Ge(0)] = 60.0) -> Held:
    """Read partition 0 of a topic by one token, which is never renewed, until the broker refuses it.

    Args:
        address: of a listener that takes tokens.
        token: as the broker's owner issues it.
        topic: its name.
        patience_seconds: how long to wait for the refusal.
    """
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    failures: list[Any] = []
    config = {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        # a client that was told a later end has no reason to renew
        "oauth_cb": lambda _: (token, time.time() + 3600),
        "group.id": GROUP,
        "enable.auto.commit": False,
        "error_cb": failures.append,
        "log_level": 0,
    }
    consumer, records, until = Consumer(config), 0, time.monotonic() + patience_seconds
    consumer.assign([TopicPartition(topic, 0, 0)])
    refused = False
    try:
        while not refused and time.monotonic() < until:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                records += 1
            refused = any(failure.code() == KafkaError._AUTHENTICATION for failure in failures)
    finally:
        consumer.close()
    return Held(records, refused)
