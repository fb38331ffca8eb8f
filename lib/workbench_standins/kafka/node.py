"""The broker's JVM: a node that is broker and controller, its settings, and how it is known that it is ready."""

import base64
import os
import tomllib
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from workbench._base import children, jars, java
from workbench._base.children import Process
from workbench._base.errors import ArgumentError, ProcessError
from workbench_standins import ports, processes
from workbench_standins.ports import HOST

STARTS = 5
PATIENCE_SECONDS = 90
OPTIONS = [
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
]
TAKEN = "Address already in use"


def classpath() -> list[Path]:
    """Return the paths of the broker's jars.

    Raises:
        ValueError: a jar is missing or corrupt.
    """
    return jars.require(_table(), fetch_by="workbench local kafka --fetch")


def fetch() -> list[Path]:
    """Fetch the broker's jars that are missing and return the paths of all.

    Raises:
        ValueError: a jar cannot be downloaded, or its checksum is another.
    """
    return jars.fetch(_table())


def start(folder: Path, given: int) -> tuple[Process, int]:
    """Start a node and wait until it serves; another port is tried when one was taken meanwhile.

    Args:
        folder: taken.
        given: port; 0 for any.

    Returns:
        (process, port).

    Raises:
        ValueError: the given port cannot be had.
        ChildProcessError: it ended, or was not ready in time.
    """
    if given and not ports.free(given):
        raise ArgumentError(f"port {given} of {HOST} cannot be had")
    for _ in range(STARTS):
        port, controller = ports.choose(("broker", "controller"), {"broker": given}).values()
        configure(folder, port, controller)
        process = launch(folder, "kafka.Kafka", str(folder / "server.properties"))
        if processes.answer([process], partial(_answers, port), patience_seconds=PATIENCE_SECONDS):
            return process, port
        children.end(process, haste=True, patience_seconds=PATIENCE_SECONDS)
        why = children.last_words(folder / "kafka.log")
        if TAKEN not in (folder / "kafka.log").read_text(errors="replace"):
            break
    raise ProcessError(f"the Kafka broker did not start: {why or 'it was not ready in time'}")


def cluster_id() -> str:
    """Return a random cluster id that does not begin with a dash: Kafka's tool would take it for an option."""
    while (drawn := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return drawn


def configure(folder: Path, port: int, controller: int) -> None:
    """Write the settings of a node, and format its storage under data/ when it has none."""
    properties: dict[str, Any] = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": folder / "data",
        "auto.create.topics.enable": "false",  # a mistyped topic is an error
        "group.initial.rebalance.delay.ms": 0,
        # one node has one copy of everything
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
    }
    path = folder / "server.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()), encoding="utf-8")
    if (folder / "data" / "meta.properties").is_file():
        return
    options = ("format", "-t", cluster_id(), "-c", str(path), "--ignore-formatted")
    if launch(folder, "kafka.tools.StorageTool", *options).wait(PATIENCE_SECONDS):
        why = children.last_words(folder / "kafka.log")
        raise ProcessError(f"the Kafka broker's storage was not formatted: {why}")


def launch(folder: Path, program: str, *options: str) -> Process:
    """Start a program of Kafka's, with its output in kafka.log."""
    words = [str(java.find()), *OPTIONS, "-cp", os.pathsep.join(map(str, classpath())), program, *options]
    return processes.launch(words, folder, "kafka.log")


def _table() -> Any:
    return tomllib.loads((Path(__file__).parent / "jars.toml").read_text(encoding="utf-8"))["broker"]


def _answers(port: int) -> bool:
    """Return whether a broker answers at a port."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    if ports.free(port):
        return False
    try:
        AdminClient({"bootstrap.servers": f"{HOST}:{port}", "log_level": 0}).list_topics(timeout=2)
        return True
    except KafkaException:
        return False
