"""A Kafka broker on this machine: the real one, a single KRaft node on 127.0.0.1, as long as a context is open.

    with kafka.serve() as broker:
        broker.create_topic("sales", partitions=4)
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})

By hand: `workbench local kafka --folder my-kafka`. It has no users and no encryption: every user of this machine
can reach it. It needs a Java and 46 jars of 43 MB, which `workbench local kafka --fetch` fetches.

The parts:

    child            the process between us and the broker, which ends it when we end
    node             the broker's JVM: its settings, and how it is known that it is ready
"""

import importlib.util
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from workbench._base import secrets
from workbench._base.bounds import Ge, MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_standins import folders
from workbench_standins.kafka import child
from workbench_standins.ports import Port

__all__ = ["Broker", "require", "serve"]

PATIENCE_SECONDS = 30
Name = Annotated[str, MinLen(1)]
Partitions = Annotated[int, Ge(1)]  # librdkafka takes -1 for the broker's own choice, which it does not report


@dataclass(frozen=True)
class Broker:
    """A running broker.

    Attributes:
        bootstrap: its address, for `bootstrap.servers` and `kafka.bootstrap.servers`.
        folder: where it keeps its data; None of a broker that we did not start.
        config: settings of librdkafka by which it is reached; secrets as references, `env:NAME` or `ssm:/path`.
    """

    bootstrap: str
    folder: Path | None
    config: Mapping[str, str] = field(default_factory=dict)

    def client(self) -> dict[str, Any]:
        """Return the settings of a client of it, with the secrets themselves: they are not for printing."""
        config = {name: secrets.resolve(value) for name, value in self.config.items()}
        return {"bootstrap.servers": self.bootstrap} | config

    @checked
    def create_topic(
        self, name: Name, *, partitions: Partitions = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic and wait until the broker lists it.

        Args:
            name: of the topic.
            partitions: their number, from 1.
            config: settings of the topic, as retention.ms: name to text.

        Raises:
            ValueError: an argument is invalid, or the broker refuses: the topic exists, its name is invalid.
            TimeoutError: the broker accepted the topic and does not list it.
        """
        from confluent_kafka.cimpl import KafkaException, NewTopic

        # the number of copies is the cluster's default: one here
        topic = NewTopic(name, num_partitions=partitions, config=dict(config or {}))
        admin = self._admin()  # kept by name: its futures end with it
        try:
            admin.create_topics([topic])[name].result(PATIENCE_SECONDS)
        except KafkaException as error:
            raise ArgumentError(f"the topic {name!r} was not made: {error.args[0].str()}") from None
        self._wait_for(name, partitions)

    @checked
    def add_partitions(self, name: Name, partitions: Partitions) -> None:
        """Give a topic more partitions, and wait until the broker lists them.

        Args:
            name: of the topic.
            partitions: their number afterwards.

        Raises:
            ValueError: an argument is invalid, or the broker refuses: there is no such topic, or it has as many.
            TimeoutError: the broker accepted them and does not list them.
        """
        from confluent_kafka.cimpl import KafkaException, NewPartitions

        admin = self._admin()
        try:
            admin.create_partitions([NewPartitions(name, partitions)])[name].result(PATIENCE_SECONDS)
        except KafkaException as error:
            raise ArgumentError(f"the topic {name!r} keeps its partitions: {error.args[0].str()}") from None
        self._wait_for(name, partitions)

    @checked
    def delete_topic(self, name: str) -> None:
        """Delete a topic with its records; one of the same name can be created at once and begins at offset 0.

        Raises:
            ValueError: there is no such topic.
            TimeoutError: the broker deleted it and still lists it.
        """
        from confluent_kafka import KafkaException

        admin = self._admin()
        try:
            admin.delete_topics([name])[name].result(PATIENCE_SECONDS)
        except KafkaException as error:
            raise ArgumentError(f"the topic {name!r} was not removed: {error.args[0].str()}") from None
        self._wait_for(name, None)

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of each topic, sorted by name."""
        topics = self._admin().list_topics(timeout=PATIENCE_SECONDS).topics
        return {name: len(topics[name].partitions) for name in sorted(topics) if not name.startswith("__")}

    def _wait_for(self, name: str, partitions: int | None) -> None:
        """Wait until the broker has read from the controller's log what the controller has already answered."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (listed := self.topics().get(name)) != partitions:
            if time.monotonic() > end:
                raise TimeoutError(f"topic {name!r}: {partitions} partitions expected, the broker lists {listed}")
            time.sleep(0.05)

    def _admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient(self.client() | {"log_level": 0})


def require() -> None:
    """Require that all that the broker needs is installed.

    Raises:
        ModuleNotFoundError: confluent-kafka is not installed.
        ValueError: there is no Java, or a jar is missing or corrupt.
    """
    from workbench_standins.kafka import node

    if importlib.util.find_spec("confluent_kafka") is None:
        raise MissingPackageError(
            "confluent-kafka is not installed: pip install 'iceberg-workbench[kafka]'", name="confluent_kafka"
        )
    node.classpath()


@checked
@contextmanager
def serve(
    folder: str | Path | None = None, *, port: Port = 0, within: str | Path | None = None
) -> Iterator[Broker]:
    """Serve a broker as long as the context is open; it ends with this process too, however that ends.

    Args:
        folder: where its data stay, made when missing, for one broker at a time; None makes a temporary one.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        within: folder in which the temporary one is made and left to that folder's owner; None removes it.

    Yields:
        Broker.

    Raises:
        ValueError: an argument is invalid, the port cannot be had, the folder is in use or cannot be written, a
            jar is missing.
        ModuleNotFoundError: confluent-kafka is not installed.
        ChildProcessError: the broker did not start; the message has its last words.
    """
    require()
    with child.running(folders.choice(folder, within) | {"port": int(port)}) as answer:
        yield Broker(answer["bootstrap"], Path(answer["folder"]))
