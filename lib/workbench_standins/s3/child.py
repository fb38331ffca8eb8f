"""The process between us and SeaweedFS: it starts it and ends it when its own input ends, which is when we end.

Settings come as one line, addresses and keys go out as one line (see `children`). Killed itself, it takes
SeaweedFS with it on Linux.
"""

from workbench._base import children
from workbench_standins import folders
from workbench_standins.ports import HOST
from workbench_standins.s3.folder import KEYS

PATIENCE_SECONDS = 20  # SeaweedFS takes three to write down what it has


def running(settings):
    """Return the context of a child with these settings; it gives endpoint, catalog_endpoint, folder, keys.

    Raises:
        ValueError: a port or the folder cannot be had.
        ChildProcessError: it did not start.
    """
    return children.serving(__name__, settings, name="S3 server's process", patience_seconds=PATIENCE_SECONDS)


def main():
    """Be the child."""
    folders.serve_from(_serve, kind="s3", mark=KEYS)


def _serve(place, settings):
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
