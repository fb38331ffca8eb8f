"""The process between us and SeaweedFS, which it starts, and ends when its own input ends, which is when we end.

Settings come as one line, addresses and keys go out as one line (see `children`). Killed itself, it takes
SeaweedFS with it on Linux.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench_standins import folders
from workbench_standins.ports import HOST
from workbench_standins.s3.folder import KEYS

PATIENCE_SECONDS = 20  # SeaweedFS takes three seconds to write its data to disk


def running(settings: Mapping[str, Any]) -> AbstractContextManager[dict[str, Any]]:
    """Return the context of a child with these settings; it yields endpoint, catalog_endpoint, folder, keys.

    Raises:
        ValueError: a port or the folder cannot be had.
        ChildProcessError: it did not start.
    """
    return children.serving(__name__, settings, name="S3 server's process", patience_seconds=PATIENCE_SECONDS)


def main() -> None:
    """Serve as the child."""
    folders.serve_from(_serve, kind="s3", mark=KEYS)


def _serve(place: Path, settings: Mapping[str, Any]) -> None:
    from workbench_standins.s3 import folder, weed

    keys = folder.keys(place)
    process, ports = weed.start(place, keys, settings["ports"])
    try:
        endpoint, catalog = (f"http://{HOST}:{ports[name]}" for name in ("s3", "catalog"))
        folder.tell(place, endpoint, catalog)
        children.say({"endpoint": endpoint, "catalog_endpoint": catalog, "folder": str(place), "keys": keys})
        children.until_either_ends(process)
    finally:
        weed.end(process, ports, haste=settings["folder"] is None)
