"""The process between us and the cluster: it starts master and workers, and ends them when its own input ends."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench_standins import folders


def running(settings: Mapping[str, Any]) -> AbstractContextManager[dict[str, Any]]:
    """Return the context of a child with these settings; it yields the child's answer: master, folder, secret.

    Raises:
        ValueError: the port cannot be had.
        ChildProcessError: the master or a worker did not start.
    """
    return children.serving(__name__, settings, name="Spark cluster's process", patience_seconds=30)


def main() -> None:
    """Serve as the child."""
    folders.serve_from(_serve, kind="cluster", mark="master.log")


def _serve(folder: Path, settings: Mapping[str, Any]) -> None:
    from workbench_standins.cluster import node

    with node.running(folder, settings) as (master, address, secret):
        children.say({"master": address, "folder": str(folder), "secret": secret})
        children.until_either_ends(master)
