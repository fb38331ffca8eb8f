"""A Kafka broker on this machine: the real one, a single KRaft node on 127.0.0.1, as long as a context is open.

    with kafka.serve() as broker:
        broker.create_topic("sales", partitions=4)
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})

By hand: `workbench local kafka --folder my-kafka`. It knows no users and no encryption: whoever is on this machine
can reach it. It needs a Java and its jars, 46 of them and 43 MB, which `workbench local kafka --fetch` fetches.

The parts:

    child            the process between us and the broker, which ends it when we end
    node             the broker's JVM: settings, how one knows that it is ready
"""

import importlib.util
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workbench._base import secrets
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_standins.kafka import child

__all__ = ["Broker", "require", "serve"]

PATIENCE_SECONDS = 30


@dataclass(frozen=True)
class Broker:
    """A running broker.

    Attributes:
        bootstrap: its address, for `bootstrap.servers` and `kafka.bootstrap.servers`.
        folder: where it keeps its data, a Path; None of one that we did not start.
        config: settings of librdkafka by which it is reached; secrets as references, `env:NAME` or `ssm:/path`.
    """

    bootstrap: str
    folder: Path | None
    config: dict = field(default_factory=dict)

    def client(self):
        """Return the settings of a client of it; the secrets are in them, so they are not for printing."""
        return {"bootstrap.servers": self.bootstrap} | {
            name: secrets.resolve(value) for name, value in self.config.items()
        }

    def create_topic(self, name, *, partitions=1, config=None):
        """Make a topic and wait until the broker tells of it.

        Args:
            name: of the topic.
            partitions: how many, from 1 on.
            config: settings of the topic, as retention.ms: name to text.

        Raises:
            ValueError: an argument is wrong, or the broker refuses: it is there, its name does not go.
            TimeoutError: it took it and does not tell of it.
        """
        _check(name, partitions)
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import NewTopic

        # how many copies is the cluster's own affair: one here
        topic = NewTopic(name, num_partitions=partitions, config=config or {})
        admin = self._admin()  # what it promises dies with it
        try:
            admin.create_topics([topic])[name].result(PATIENCE_SECONDS)
        except KafkaException as error:
            raise ArgumentError(f"the topic {name!r} was not made: {error.args[0].str()}") from None
        self._wait_for(name, partitions)

    def add_partitions(self, name, partitions):
        """Let a topic have more partitions, and wait until the broker tells of them.

        Args:
            name: of the topic.
            partitions: how many it has then.

        Raises:
            ValueError: an argument is wrong, or the broker refuses: there is no such topic, or it has as many.
            TimeoutError: it took them and does not tell of them.
        """
        _check(name, partitions)
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import NewPartitions

        admin = self._admin()
        try:
            admin.create_partitions([NewPartitions(name, partitions)])[name].result(PATIENCE_SECONDS)
        except KafkaException as error:
            raise ArgumentError(f"the topic {name!r} keeps its partitions: {error.args[0].str()}") from None
        self._wait_for(name, partitions)

    def delete_topic(self, name):
        """Remove a topic with its records; one of the same name can be made at once, and begins at offset 0.

        Raises:
            ValueError: there is no such topic.
            TimeoutError: the broker removed it and still tells of it.
        """
        from confluent_kafka import KafkaException

        admin = self._admin()
        try:
            admin.delete_topics([name])[name].result(PATIENCE_SECONDS)
        except KafkaException as error:
            raise ArgumentError(f"the topic {name!r} was not removed: {error.args[0].str()}") from None
        self._wait_for(name, None)

    def topics(self):
        """Return the topics and how many partitions each has, sorted by name: dict."""
        found = self._admin().list_topics(timeout=PATIENCE_SECONDS).topics
        return {name: len(found[name].partitions) for name in sorted(found) if not name.startswith("__")}

    def _wait_for(self, name, partitions):
        """The controller answers first; brokers, who serve readers and writers, hear of it from its log."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (told := self.topics().get(name)) != partitions:
            if time.monotonic() > end:
                raise TimeoutError(f"topic {name!r}: {partitions} partitions expected, the broker tells of {told}")
            time.sleep(0.05)

    def _admin(self):
        from confluent_kafka.admin import AdminClient

        return AdminClient(self.client() | {"log_level": 0})


def _check(name, partitions):
    """Refuse what librdkafka takes for something else: -1 is the broker's own choice, of which nobody hears."""
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"name must be a topic's, a text; got {name!r}")
    if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1:
        raise ArgumentError(f"partitions must be a whole number from 1 on; got {partitions!r}")


def require():
    """Refuse where what the broker needs is not installed.

    Raises:
        ModuleNotFoundError: confluent-kafka is not there.
        ValueError: there is no Java, or a jar is missing or corrupt.
    """
    from workbench_standins.kafka import node

    if importlib.util.find_spec("confluent_kafka") is None:
        raise MissingPackageError(
            "confluent-kafka is not installed: pip install 'iceberg-workbench[kafka]'", name="confluent_kafka"
        )
    node.classpath()


@contextmanager
def serve(folder=None, *, port=0, within=None):
    """Run a broker as long as the context is open; it ends with this process too, however that ends.

    Args:
        folder: where its data stay, made when missing, for one broker at a time; None makes a throw-away one.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        within: folder in which the throw-away one is made and left to that folder's owner; None removes it.

    Yields:
        Broker.

    Raises:
        ValueError: an argument does not go, the port cannot be had, the folder is in use or cannot be written, a
            jar is missing.
        ModuleNotFoundError: confluent-kafka is not installed.
        ChildProcessError: the broker did not start; the message has its last words.
    """
    require()
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ArgumentError(f"port must be a whole number from 0 to 65535; got {port!r}")
    if folder is not None and within is not None:
        raise ArgumentError("a broker has a folder of its own, or a throw-away one within another; not both")
    settings = {"folder": folder and str(Path(folder).absolute()), "within": within and str(within), "port": port}
    with child.running(settings) as said:
        yield Broker(said["bootstrap"], Path(said["folder"]))
