"""The broker's JVM: one node that is broker and controller, its settings, and how one knows that it is ready."""

import base64
import os
import subprocess
import sys
import time
import tomllib
import uuid
from pathlib import Path

from workbench._base import children, jars, java
from workbench._base.errors import ArgumentError, ProcessError
from workbench_standins import ports
from workbench_standins.ports import HOST

STARTS = 5
PATIENCE_SECONDS = 90
POLL_SECONDS = 0.1
OPTIONS = [
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
]
TAKEN = "Address already in use"


def classpath():
    """Return the paths of the broker's jars.

    Raises:
        ValueError: one is missing or corrupt.
    """
    return jars.require(_table(), fetch_by="workbench local kafka --fetch")


def fetch():
    """Fetch what is missing of the broker's jars.

    Raises:
        ValueError: one cannot be had, or its checksum is another.
    """
    return jars.fetch(_table())


def start(folder, wanted):
    """Start a node and wait until it serves; another port is tried when one was taken meanwhile.

    Args:
        folder: Path, taken.
        wanted: port; 0 for any.

    Returns:
        (process, port).

    Raises:
        ValueError: the wanted port cannot be had.
        ChildProcessError: it ended, or was not ready in time.
    """
    if wanted and not ports.free(wanted):
        raise ArgumentError(f"port {wanted} of {HOST} cannot be had")
    for _ in range(STARTS):
        port, controller = ports.choose(("broker", "controller"), {"broker": wanted}).values()
        configure(folder, port, controller)
        process = launch(folder, "kafka.Kafka", str(folder / "server.properties"))
        if _ready(process, port):
            return process, port
        children.end(process, haste=True, patience_seconds=PATIENCE_SECONDS)
        said = children.last_words(folder / "kafka.log")
        if TAKEN not in _log(folder):
            break
    raise ProcessError(f"the Kafka broker did not start: {said or 'it was not ready in time'}")


def cluster_id():
    """Return a random cluster id; none begins with a dash, for which Kafka's tool would look among its options."""
    while (found := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return found


def configure(folder, port, controller):
    """Write the settings of a node, and format its storage when it has none; what it keeps is under data/."""
    found = {
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
    path.write_text("".join(f"{key}={value}\n" for key, value in found.items()), encoding="utf-8")
    if (folder / "data" / "meta.properties").is_file():
        return
    done = launch(
        folder, "kafka.tools.StorageTool", "format", "-t", cluster_id(), "-c", str(path), "--ignore-formatted"
    )
    if done.wait(PATIENCE_SECONDS):
        raise ProcessError(
            f"the Kafka broker's storage was not formatted: {children.last_words(folder / 'kafka.log')}"
        )


def launch(folder, *what):
    """Start a program of Kafka's; what it says goes to kafka.log."""
    with (folder / "kafka.log").open("wb") as log:
        return subprocess.Popen(
            [str(java.find()), *OPTIONS, "-cp", os.pathsep.join(map(str, classpath())), *what],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            preexec_fn=children.end_with_parent if sys.platform == "linux" else None,
        )


def _table():
    return tomllib.loads((Path(__file__).parent / "jars.toml").read_text(encoding="utf-8"))["broker"]


def _ready(process, port):
    """Wait until it answers as a broker; False when it ended or took too long."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    until = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < until:
        if not ports.free(port):
            try:
                AdminClient({"bootstrap.servers": f"{HOST}:{port}", "log_level": 0}).list_topics(timeout=2)
                return process.poll() is None
            except KafkaException:
                pass
        time.sleep(POLL_SECONDS)
    return False


def _log(folder):
    return (folder / "kafka.log").read_text(errors="replace")
