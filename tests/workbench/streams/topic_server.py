"""What the tests of topics share: one broker a worker, topics of their own, records that are numbers.

Not a conftest: a second module of that name would be found where others import from the first.
"""

import contextlib
import functools
import json
import time

import pytest

from workbench.streams.readers import topics
from workbench_standins import kafka
from workbench_standins.kafka import node

WAIT_SECONDS = 60


@functools.cache  # imported, a fixture for a session would be one a file, and its brokers would run side by side
def serving(config):
    """The worker's broker, which ends with it."""
    node.fetch()
    stack = contextlib.ExitStack()
    config.add_cleanup(stack.close)
    return stack.enter_context(kafka.serve())


@pytest.fixture(scope="module")
def broker(request):
    return serving(request.config)


@pytest.fixture
def topic(broker, request):
    """A topic of the test's own, with two partitions, which keeps records that say they are old."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)[:100]
    return Made(broker, name, **{"retention.ms": "-1"})


class Made:
    def __init__(self, broker, name, partitions=2, **config):
        self.broker, self.name = broker, name
        broker.create_topic(name, partitions=partitions, config=config)

    def source(self, **options):
        return topics.Topic(self.name, self.broker.bootstrap, **options)

    def producer(self, **config):
        from confluent_kafka import Producer

        return Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": 5} | config)

    def send(
        self,
        ids,
        *,
        record=lambda n: {"id": n, "text": f"t{n}"},
        key=lambda n: f"key-{n}",
        producer=None,
        partitions=2,
        **more,
    ):
        """Send numbered records, JSON unless bytes are given, in turn to the partitions."""
        made = producer or self.producer()
        for n in ids:
            value = record(n)
            value = value if isinstance(value, bytes | None) else json.dumps(value).encode()
            made.produce(self.name, value=value, key=key(n), partition=n % partitions, **more)
            made.poll(0)
        assert made.flush(WAIT_SECONDS) == 0

    def trim(self, partition, before):
        """Delete the records of a partition before an offset, as retention does."""
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        wanted = TopicPartition(self.name, partition, before)
        for promised in admin.delete_records([wanted]).values():
            promised.result(WAIT_SECONDS)

    def grow(self, partitions):
        self.broker.add_partitions(self.name, partitions)


def made_again(broker, topic):
    """Delete a topic and make it anew under its name."""
    broker.delete_topic(topic.name)
    end = time.monotonic() + 60
    while topic.name in broker.topics() and time.monotonic() < end:
        time.sleep(0.1)
    broker.create_topic(topic.name, partitions=2)
