"""A Kafka topic as the ingest reads it: which partitions there are, where a reader begins, one partition read.

A position is the offset up to which everything was read: of a topic without a position yet, offset 0 is the next
one. So what was trimmed unread is seen exactly, by the lowest offset that a partition still has.
"""

import functools
import importlib.util
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from workbench._base import secrets
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.streams.readers import msk, shards, sources
from workbench.streams.readers.reading import Progress, Records

CALL = 10_000  # records an answer holds at most
CALL_SECONDS = 15.0
IDLE_SECONDS = 60.0  # without a record and without the end of the partition
_MILLIS = range(-62_135_596_800_000, 253_402_300_800_000)  # of the years 1 to 9999
OURS = ("auto.offset.reset", "bootstrap.servers", "enable.auto.commit", "enable.partition.eof", "group.id")


Config = tuple[tuple[str, Any], ...]  # librdkafka's settings, so that they can be remembered by


@dataclass(frozen=True)
class Topic:
    """A Kafka topic as a consumer sees it. It joins no consumer group: how far it was read is in the table alone.

    A record's time is its producer's; one that is not of the years 1 to 9999, because it is in another unit than
    milliseconds, is null, and so is -1, by which Kafka says that there is none.

    Attributes:
        topic: its name.
        bootstrap: addresses of brokers, `host:port` with commas between.
        config: more settings of librdkafka, as `security.protocol`; secrets as references, `env:NAME` or
            `ssm:/path`. Records of aborted transactions are not read (`isolation.level`). Beside librdkafka's,
            `token`: `msk:REGION` logs in to Amazon MSK by IAM.
        start: where a reader begins that has no position yet: `trim_horizon` (the oldest record there is),
            `latest` (what arrives from now on) or `at_timestamp`.
        at: the time for `at_timestamp`, aware of its zone.
        max_records_per_batch: records a micro-batch takes at most, over all partitions; each gets its share, and
            one record at least.
        fail_on_data_loss: stop where records were trimmed before they were read; else go on and say so.
    """

    topic: str
    bootstrap: str
    config: dict[str, Any] = field(default_factory=dict)
    start: str = "trim_horizon"
    at: datetime | None = None
    max_records_per_batch: int = 100_000
    fail_on_data_loss: bool = True

    lineage: ClassVar[dict[str, str]] = sources.LINEAGE | {"offset": "BIGINT"}
    order: ClassVar[tuple[str, ...]] = ("approximate_arrival_timestamp", "shard_id", "offset")

    def __post_init__(self) -> None:
        for name in ("topic", "bootstrap"):
            if not (isinstance(getattr(self, name), str) and getattr(self, name)):
                raise ArgumentError(f"{name} must be a text, found {getattr(self, name)!r}")
        if not isinstance(self.config, dict) or not all(isinstance(name, str) for name in self.config):
            raise ArgumentError("config must be a dict of librdkafka's settings, name to value")
        if ours := sorted(set(self.config) & set(OURS)):
            raise ArgumentError(f"config has {ours[0]}, which is set by the ingest itself")
        msk.require(self.config, self.bootstrap)
        for name, value in self.config.items():
            if name == msk.SETTING:
                continue
            if secret := secrets.kind(name, value):
                raise ArgumentError(f"config holds {secret}; give a reference instead, env:NAME or ssm:/path")
        sources.check(self)

    @property
    def stream(self) -> str:
        """The topic's name, as messages and rows have it."""
        return self.topic

    def describe(self) -> sources.Stream:
        """Return the sources.Stream as it is now: a topic that was deleted and made again has another id.

        Raises:
            StreamNotFound: no such topic; the message lists those there are.
            ValueError: the brokers cannot be reached, or refuse.
        """
        from confluent_kafka import KafkaException, TopicCollection

        client = admin(self.bootstrap, _frozen(self.config))
        try:
            cluster = client.describe_cluster(request_timeout=CALL_SECONDS).result()
            about = client.describe_topics(TopicCollection([self.topic]), request_timeout=CALL_SECONDS)
            described = about[self.topic].result()
        except KafkaException as error:
            raise _sentence(self, error.args[0]) from error
        parts = sorted(partition.id for partition in described.partitions)
        return sources.Stream(
            arn=f"kafka:{cluster.cluster_id}:{self.topic}",
            created=str(described.topic_id),
            retention_hours=math.inf,
            shards={str(part): () for part in parts},
            opened=frozenset(map(str, parts)),
        )

    def begin(self, stream: sources.Stream) -> dict[str, str]:
        """Return the positions of a reader that has none: of each partition the offset before the first one."""
        from confluent_kafka import KafkaException, TopicPartition

        reader = consumer(self.bootstrap, _frozen(self.config))
        positions = {}
        try:
            for part in stream.shards:
                partition = TopicPartition(self.topic, int(part))
                low, high = reader.get_watermark_offsets(partition, timeout=CALL_SECONDS)
                first = low if self.start == "trim_horizon" else high
                if self.at is not None:
                    partition.offset = round(self.at.timestamp() * 1000)
                    offset = reader.offsets_for_times([partition], timeout=CALL_SECONDS)[0].offset
                    first = offset if offset >= 0 else high
                if first:
                    positions[part] = str(first - 1)
        except KafkaException as error:
            raise _sentence(self, error.args[0]) from error
        return positions

    def read(self, task: shards.Task, progress: Progress) -> Iterator[Records]:
        """Read a partition until the task's limit or its present end; yield reading.Records.

        Args:
            task: shards.Task.
            progress: reading.Progress, kept up to date.

        Raises:
            RecordsLost: records behind the position were trimmed, or the partition is shorter than it was.
            StreamNotFound: the topic is gone.
            ValueError: the brokers cannot be reached, or refuse.
        """
        from confluent_kafka import KafkaException, TopicPartition

        reader, at = consumer(self.bootstrap, _frozen(self.config)), progress.position or task.position
        partition, following = TopicPartition(self.topic, int(task.shard)), int(at) + 1 if at else 0
        try:
            reader.list_topics(self.topic, timeout=CALL_SECONDS)  # or an added partition is unknown for long
            low, high = reader.get_watermark_offsets(partition, timeout=CALL_SECONDS)
            following = _inside(self, task, progress, following, low, high)
            partition.offset = following
            reader.assign([partition])
            yield from _taken(self, reader, task, progress, following)
        except KafkaException as error:
            raise _sentence(self, error.args[0]) from error
        finally:
            reader.unassign()


def _inside(topic: Topic, task: shards.Task, progress: Progress, following: int, low: int, high: int) -> int:
    """Return the offset to read from, which the partition has; refuse or note what is gone."""
    where = f"partition {task.shard} of {topic.topic}"
    if low > following:
        what = f"{where}: offsets {following} to {low - 1} were trimmed unread"
        following = low
    elif high < following:
        what = (
            f"{where} ends at offset {high - 1}, and it was read up to {following - 1}: records that were there "
            "are gone, and others may have their offsets"
        )
        following = high
    else:
        return following
    if topic.fail_on_data_loss:
        raise shards.RecordsLost(f"{what}. To go on without it say fail_on_data_loss=False")
    progress.gap, progress.position = what, str(following - 1) if following else None
    progress.passed = progress.position
    return following


def _taken(topic: Topic, reader: Any, task: shards.Task, progress: Progress, following: int) -> Iterator[Records]:
    """Yield what a consumer gives of its one partition."""
    from confluent_kafka import KafkaError, TopicPartition

    partition, number = TopicPartition(topic.topic, int(task.shard)), int(task.shard)
    missing, since, ended = task.limit, time.monotonic(), False
    while missing > 0 and not ended:
        messages, progress.calls = reader.consume(min(CALL, missing), timeout=0.5), progress.calls + 1
        if failures := [message for message in messages if message.error()]:
            errors = [message.error() for message in failures]
            failed = next((error for error in errors if error.code() != KafkaError._PARTITION_EOF), None)
            if failed is not None and failed.code() == KafkaError._AUTO_OFFSET_RESET:
                low, high = reader.get_watermark_offsets(partition, timeout=CALL_SECONDS)
                following = _inside(topic, task, progress, following, low, high)
                reader.assign([TopicPartition(topic.topic, number, following)])
                continue
            if failed is not None and not failed.retriable() and failed.code() not in _unreachable():
                raise _sentence(topic, failed)
            ended = failed is None
            end = max((message.offset() for message in failures if failed is None), default=following)
            messages = [message for message in messages if not message.error()]
        if messages:
            missing, since, following = missing - len(messages), time.monotonic(), messages[-1].offset() + 1
            progress.position, progress.passed = str(following - 1), None
            yield _records(messages)
        if ended and end > following:  # marks of transactions lie behind the last record
            progress.position = progress.passed = str(end - 1)
        if not messages and time.monotonic() - since > IDLE_SECONDS:
            raise ArgumentError(
                f"topic {topic.topic} cannot be read: partition {task.shard} gave nothing for {IDLE_SECONDS:.0f} s"
            )
        if messages and not ended:
            _, high = reader.get_watermark_offsets(partition, timeout=CALL_SECONDS, cached=True)
            arrived = _millis(messages[-1])
            age = 0 if arrived is None else sources.now_millis() - arrived
            progress.behind_millis = max(1, age) if high > following else 0
    if ended:
        progress.behind_millis = 0


def _records(messages: list[Any]) -> Records:
    return Records(
        [message.value() for message in messages],
        [str(message.offset()) for message in messages],
        [
            None if key is None else key.decode("utf-8", "replace")
            for key in (message.key() for message in messages)
        ],
        [None if millis is None else millis / 1000 for millis in map(_millis, messages)],
    )


def _millis(message: Any) -> int | None:
    """Return a message's time; None where it has none (-1) or one that no timestamp holds."""
    kind, millis = message.timestamp()
    return millis if kind and millis != -1 and millis in _MILLIS else None


def settings(config: Config) -> dict[str, Any]:
    """Return librdkafka's settings with the secrets that references stand for, and a log-in by `token`."""
    resolved = {name: secrets.resolve(value) for name, value in config}
    token = resolved.pop(msk.SETTING, None)
    return resolved if token is None else msk.settings(token) | resolved


@functools.lru_cache(maxsize=4)
def consumer(bootstrap: str, config: Config) -> Any:
    """Return this process's consumer of some brokers; it is assigned one partition at a time.

    Raises:
        ModuleNotFoundError: confluent-kafka is not installed.
        ValueError: a setting is invalid.
    """
    _require()
    from confluent_kafka import Consumer

    own = {
        "bootstrap.servers": bootstrap,
        "group.id": "iceberg-workbench",  # librdkafka asks for one; nothing is committed under it
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 100,
        "log_level": 0,
    }
    return _client(Consumer, own, config)


@functools.lru_cache(maxsize=4)
def admin(bootstrap: str, config: Config) -> Any:
    """Return this process's administration client of some brokers; as `consumer`."""
    _require()
    from confluent_kafka.admin import AdminClient

    return _client(AdminClient, {"bootstrap.servers": bootstrap, "log_level": 0}, config)


def producer(topic: Topic, patience_seconds: float, on_error: Callable[[Any], None]) -> Any:
    """Return a new idempotent producer for a topic's brokers, which calls with its own errors; as `consumer`."""
    _require()
    from confluent_kafka import Producer

    own = {
        "bootstrap.servers": topic.bootstrap,
        "enable.idempotence": True,
        "delivery.timeout.ms": round(patience_seconds * 1000),
        "error_cb": on_error,
        "log_level": 0,
    }
    return _client(Producer, own, _frozen(topic.config))


def _client(kind: Callable[[dict[str, Any]], Any], own: dict[str, Any], config: Config) -> Any:
    from confluent_kafka import KafkaException

    try:
        return kind(own | settings(config))
    except KafkaException as error:
        raise ArgumentError(f"Kafka's client refuses its settings: {error.args[0].str()}") from None


def _require() -> None:
    if importlib.util.find_spec("confluent_kafka") is None:
        install = "pip install 'iceberg-workbench[kafka]'"
        raise MissingPackageError(f"confluent-kafka is not installed: {install}", name="confluent_kafka")


def _frozen(config: Mapping[str, Any]) -> Config:
    return tuple(sorted(config.items()))


def _unreachable() -> tuple[int, ...]:
    from confluent_kafka import KafkaError

    return KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._TIMED_OUT


def _sentence(topic: Topic, error: Any) -> ArgumentError:
    """Return the error to raise for one of librdkafka's."""
    from confluent_kafka import KafkaError

    if error.code() in (
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    ):
        # another client: one that was asked for a topic which is not there tells of no other for a while
        other = admin.__wrapped__(topic.bootstrap, _frozen(topic.config))
        names = [
            name for name in sorted(other.list_topics(timeout=CALL_SECONDS).topics) if not name.startswith("__")
        ]
        listed = ", ".join(names) or "none"
        return sources.StreamNotFound(f"no topic {topic.topic} at {topic.bootstrap}; there is {listed}")
    if error.code() == KafkaError._AUTHENTICATION:
        return log_in_refused(topic, error.str())
    if error.code() in _unreachable():
        if refusal := _refusal(
            topic
        ):  # librdkafka tries a refused log-in again and again, and then says timed out
            return log_in_refused(topic, refusal)
        return ArgumentError(
            f"topic {topic.topic} cannot be read: no broker answers at {topic.bootstrap} ({error.str()})"
        )
    return ArgumentError(f"topic {topic.topic} at {topic.bootstrap} cannot be read: {error.str()}")


def _refusal(topic: Topic) -> str | None:
    """Return why the brokers refuse a topic's log-in; None where they do not, or nobody answers."""
    if not any(name.startswith("sasl.") or name == msk.SETTING for name in topic.config):
        return None
    from confluent_kafka import Consumer, KafkaError

    failures: list[Any] = []
    own = {"bootstrap.servers": topic.bootstrap, "group.id": "iceberg-workbench", "log_level": 0}
    asking = _client(Consumer, own | {"error_cb": failures.append}, _frozen(topic.config))
    until = time.monotonic() + CALL_SECONDS
    try:
        while time.monotonic() < until:
            asking.poll(0.1)
            for failure in failures:
                if failure.code() == KafkaError._AUTHENTICATION:
                    return str(failure.str())
                if failure.code() == KafkaError._ALL_BROKERS_DOWN:
                    return None
    finally:
        asking.close()
    return None


def user(topic: Topic) -> str:
    """Return the name by which a topic's client logs in, a space before it; "" where its settings have none."""
    who = topic.config.get("sasl.username") or topic.config.get("sasl.oauthbearer.client.id")
    return f" {secrets.resolve(who)}" if who else ""


def log_in_refused(topic: Topic, refusal: str, done: str = "read") -> ArgumentError:
    """Return the error to raise where brokers refuse a topic's log-in, by librdkafka's words."""
    who = f" as{name}" if (name := user(topic)) else ""
    reason = refusal.partition("SASL authentication error: ")[2].partition(" (after")[0] or refusal
    return ArgumentError(
        f"topic {topic.topic} cannot be {done}: {topic.bootstrap} refuses the log-in{who}: wrong password, "
        f"unknown user or expired token ({reason})"
    )
