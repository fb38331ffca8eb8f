"""The process between us and the server's JVM: it starts it, and ends it when its own input ends."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench_standins import folders

PATIENCE_SECONDS = 30


def running(settings: Mapping[str, Any]) -> AbstractContextManager[dict[str, Any]]:
    """Return the context of a child with these settings; it yields the child's answer: port, folder.

    Raises:
        ValueError: the port or the folder cannot be had.
        ChildProcessError: the server did not start.
    """
    return children.serving(__name__, settings, name="Trino server's process", patience_seconds=PATIENCE_SECONDS)


def main() -> None:
    """Serve as the child."""
    folders.serve_from(_serve, kind="trino", mark="etc")


def _serve(folder: Path, settings: Mapping[str, Any]) -> None:
    from workbench_standins.trino import node

    process, port = node.start(folder, settings)
    try:
        children.say({"port": port, "folder": str(folder)})
        children.until_either_ends(process)
    finally:
        children.end(process, haste=settings["folder"] is None, patience_seconds=20)
