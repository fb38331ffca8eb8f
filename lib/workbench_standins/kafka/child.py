"""The process between us and the broker's JVM: it starts it, and ends it when its own input ends."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench_standins import folders
from workbench_standins.ports import HOST

PATIENCE_SECONDS = 30  # a broker that ends in order writes down its logs


def running(settings: Mapping[str, Any]) -> AbstractContextManager[dict[str, Any]]:
    """Return the context of a child with these settings; it yields the child's answer: bootstrap, folder.

    Raises:
        ValueError: the port or the folder cannot be had.
        ChildProcessError: it did not start.
    """
    return children.serving(__name__, settings, name="Kafka broker's process", patience_seconds=PATIENCE_SECONDS)


def main() -> None:
    """Serve as the child."""
    folders.serve_from(_serve, kind="kafka", mark="server.properties")


def _serve(folder: Path, settings: Mapping[str, Any]) -> None:
    from workbench_standins.kafka import node

    process, port = node.start(folder, settings["port"])
    try:
        children.say({"bootstrap": f"{HOST}:{port}", "folder": str(folder)})
        children.until_either_ends(process)
    finally:
        children.end(process, haste=settings["folder"] is None, patience_seconds=20)
