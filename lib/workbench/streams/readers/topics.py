"""A Kafka topic as the ingest reads it: which partitions there are, where a reader begins, one partition read.

A position is the offset up to which everything was read: of a topic without a position yet, offset 0 is the next
one. So what was trimmed unread is seen exactly, by the lowest offset that a partition still has.
"""

import functools
import importlib.util
import math
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from workbench._base import secrets
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.streams.readers import shards, sources
from workbench.streams.readers.reading import Records

CALL = 10_000  # records an answer holds at most
CALL_SECONDS = 15.0
IDLE_SECONDS = 60.0  # without a record and without the end of the partition
_MILLIS = range(-62_135_596_800_000, 253_402_300_800_000)  # of the years 1 to 9999
OURS = ("auto.offset.reset", "bootstrap.servers", "enable.auto.commit", "enable.partition.eof", "group.id")


@dataclass(frozen=True)
class Topic:
    """A Kafka topic as a consumer sees it. It joins no consumer group: how far it was read is in the table alone.

    A record's time is its producer's; one that is not of the years 1 to 9999, because it is in another unit than
    milliseconds, is null, and so is -1, by which Kafka says that there is none.

    Attributes:
        topic: its name.
        bootstrap: addresses of brokers, `host:port` with commas between.
        config: more settings of librdkafka, as `security.protocol`; secrets as references, `env:NAME` or
            `ssm:/path`. Records of aborted transactions are not read (`isolation.level`).
        start: where a reader begins that has no position yet: `trim_horizon` (the oldest record there is),
            `latest` (what arrives from now on) or `at_timestamp`.
        at: the time for `at_timestamp`, aware of its zone.
        max_records_per_batch: records a micro-batch takes at most, over all partitions; each gets its share, and
            one record at least.
        fail_on_data_loss: stop where records were trimmed before they were read; else go on and say so.
    """

    topic: str
    bootstrap: str
    config: dict = field(default_factory=dict)
    start: str = "trim_horizon"
    at: datetime | None = None
    max_records_per_batch: int = 100_000
    fail_on_data_loss: bool = True

    lineage: ClassVar = sources.LINEAGE | {"offset": "BIGINT"}
    order: ClassVar = ("approximate_arrival_timestamp", "shard_id", "offset")

    def __post_init__(self):
        for name in ("topic", "bootstrap"):
            if not (isinstance(getattr(self, name), str) and getattr(self, name)):
                raise ArgumentError(f"{name} is a text, not {getattr(self, name)!r}")
        if not isinstance(self.config, dict) or not all(isinstance(one, str) for one in self.config):
            raise ArgumentError("config is a dict of librdkafka's settings, name to value")
        if ours := sorted(set(self.config) & set(OURS)):
            raise ArgumentError(f"config has {ours[0]}, which is set by the ingest itself")
        for name, value in self.config.items():
            if found := secrets.kind(name, value):
                raise ArgumentError(f"config holds {found}; give a reference instead, env:NAME or ssm:/path")
        sources.check(self)

    @property
    def stream(self):
        """Its name, as messages and rows have it."""
        return self.topic

    def describe(self):
        """Return the sources.Stream as it is now: a topic that was deleted and made again has another id.

        Raises:
            StreamNotFound: no such topic; the message lists those there are.
            ValueError: the brokers cannot be reached, or refuse.
        """
        from confluent_kafka import KafkaException, TopicCollection

        made = admin(self.bootstrap, _frozen(self.config))
        try:
            cluster = made.describe_cluster(request_timeout=CALL_SECONDS).result()
            about = made.describe_topics(TopicCollection([self.topic]), request_timeout=CALL_SECONDS)
            found = about[self.topic].result()
        except KafkaException as error:
            raise _sentence(self, error.args[0]) from error
        parts = sorted(one.id for one in found.partitions)
        return sources.Stream(
            arn=f"kafka:{cluster.cluster_id}:{self.topic}",
            created=str(found.topic_id),
            retention_hours=math.inf,
            shards={str(part): () for part in parts},
            opened=frozenset(map(str, parts)),
        )

    def begin(self, stream):
        """Return the positions of a reader that has none: of each partition the offset before the first one."""
        from confluent_kafka import KafkaException, TopicPartition

        made = consumer(self.bootstrap, _frozen(self.config))
        found = {}
        try:
            for part in stream.shards:
                one = TopicPartition(self.topic, int(part))
                low, high = made.get_watermark_offsets(one, timeout=CALL_SECONDS)
                first = low if self.start == "trim_horizon" else high
                if self.start == "at_timestamp":
                    one.offset = round(self.at.timestamp() * 1000)
                    told = made.offsets_for_times([one], timeout=CALL_SECONDS)[0].offset
                    first = told if told >= 0 else high
                found |= {part: str(first - 1)} if first else {}
        except KafkaException as error:
            raise _sentence(self, error.args[0]) from error
        return found

    def read(self, task, progress):
        """Read a partition until the task's limit or its present end; yields reading.Records.

        Args:
            task: shards.Task.
            progress: reading.Progress, kept up to date.

        Raises:
            RecordsLost: records behind the position were trimmed, or the partition is shorter than it was.
            StreamNotFound: the topic is gone.
            ValueError: the brokers cannot be reached, or refuse.
        """
        from confluent_kafka import KafkaException, TopicPartition

        made, at = consumer(self.bootstrap, _frozen(self.config)), progress.position or task.position
        one, following = TopicPartition(self.topic, int(task.shard)), int(at) + 1 if at else 0
        try:
            made.list_topics(self.topic, timeout=CALL_SECONDS)  # or an added partition is unknown for long
            low, high = made.get_watermark_offsets(one, timeout=CALL_SECONDS)
            following = _inside(self, task, progress, following, low, high)
            one.offset = following
            made.assign([one])
            yield from _taken(self, made, task, progress, following)
        except KafkaException as error:
            raise _sentence(self, error.args[0]) from error
        finally:
            made.unassign()


def _inside(topic, task, progress, following, low, high):
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


def _taken(topic, made, task, progress, following):
    """Yield what a consumer gives of its one partition."""
    from confluent_kafka import KafkaError, TopicPartition

    left, since, ended = task.limit, time.monotonic(), False
    while left > 0 and not ended:
        found, progress.calls = made.consume(min(CALL, left), timeout=0.5), progress.calls + 1
        if errors := [one for one in found if one.error()]:
            failed = next((one.error() for one in errors if one.error().code() != KafkaError._PARTITION_EOF), None)
            if failed is not None and failed.code() == KafkaError._AUTO_OFFSET_RESET:
                following = _inside(topic, task, progress, following, *made.get_watermark_offsets(
                    TopicPartition(topic.topic, int(task.shard)), timeout=CALL_SECONDS))  # fmt: skip
                made.assign([TopicPartition(topic.topic, int(task.shard), following)])
                continue
            if failed is not None and not failed.retriable() and failed.code() not in _unreachable():
                raise _sentence(topic, failed)
            ended = failed is None
            end = max((one.offset() for one in errors if failed is None), default=following)
            found = [one for one in found if not one.error()]
        if found:
            left, since, following = left - len(found), time.monotonic(), found[-1].offset() + 1
            progress.position, progress.passed = str(following - 1), None
            yield _records(found)
        if ended and end > following:  # marks of transactions lie behind the last record
            progress.position = progress.passed = str(end - 1)
        if not found and time.monotonic() - since > IDLE_SECONDS:
            raise ArgumentError(
                f"topic {topic.topic} cannot be read: partition {task.shard} gave nothing for {IDLE_SECONDS:.0f} s"
            )
        if found and not ended:
            _, high = made.get_watermark_offsets(
                TopicPartition(topic.topic, int(task.shard)), timeout=CALL_SECONDS, cached=True
            )
            arrived = _millis(found[-1])
            age = 0 if arrived is None else sources.now_millis() - arrived
            progress.behind_millis = max(1, age) if high > following else 0
    if ended:
        progress.behind_millis = 0


def _records(messages):
    return Records(
        [one.value() for one in messages],
        [str(one.offset()) for one in messages],
        [None if one.key() is None else one.key().decode("utf-8", "replace") for one in messages],
        [None if millis is None else millis / 1000 for millis in map(_millis, messages)],
    )


def _millis(message):
    """Return a message's time; None where it has none (-1) or one that no timestamp holds."""
    kind, millis = message.timestamp()
    return millis if kind and millis != -1 and millis in _MILLIS else None


def settings(config):
    """Return librdkafka's settings with the secrets that references stand for."""
    return {name: secrets.resolve(value) for name, value in config}


@functools.lru_cache(maxsize=4)
def consumer(bootstrap, config):
    """Return this process's consumer of some brokers; it is assigned one partition at a time.

    Raises:
        ModuleNotFoundError: confluent-kafka is not installed.
        ValueError: a setting does not go.
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
    return _made(Consumer, own, config)


@functools.lru_cache(maxsize=4)
def admin(bootstrap, config):
    """Return this process's administration client of some brokers; as `consumer`."""
    _require()
    from confluent_kafka.admin import AdminClient

    return _made(AdminClient, {"bootstrap.servers": bootstrap, "log_level": 0}, config)


def producer(topic, patience_seconds):
    """Return a new idempotent producer for a topic's brokers; as `consumer`."""
    _require()
    from confluent_kafka import Producer

    own = {
        "bootstrap.servers": topic.bootstrap,
        "enable.idempotence": True,
        "delivery.timeout.ms": round(patience_seconds * 1000),
        "log_level": 0,
    }
    return _made(Producer, own, _frozen(topic.config))


def _made(kind, own, config):
    from confluent_kafka import KafkaException

    try:
        return kind(own | settings(config))
    except KafkaException as error:
        raise ArgumentError(f"Kafka's client refuses its settings: {error.args[0].str()}") from None


def _require():
    if importlib.util.find_spec("confluent_kafka") is None:
        wanted = "pip install 'iceberg-workbench[kafka]'"
        raise MissingPackageError(f"confluent-kafka is not installed: {wanted}", name="confluent_kafka")


def _frozen(config):
    return tuple(sorted(config.items()))


def _unreachable():
    from confluent_kafka import KafkaError

    return KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._TIMED_OUT


def _sentence(topic, error):
    """Return the error to raise for one of librdkafka's."""
    from confluent_kafka import KafkaError

    if error.code() in (
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    ):
        # another client: one that was asked for a topic which is not there tells of no other for a while
        there = sorted(
            admin.__wrapped__(topic.bootstrap, _frozen(topic.config)).list_topics(timeout=CALL_SECONDS).topics
        )
        named = ", ".join(one for one in there if not one.startswith("__")) or "none"
        return sources.StreamNotFound(f"no topic {topic.topic} at {topic.bootstrap}; there is {named}")
    if error.code() in _unreachable():
        return ArgumentError(
            f"topic {topic.topic} cannot be read: no broker answers at {topic.bootstrap} ({error.str()})"
        )
    return ArgumentError(f"topic {topic.topic} at {topic.bootstrap} cannot be read: {error.str()}")
