"""The process between us and SeaweedFS: it starts it and ends it when its own input ends, which is when we end.

Settings come as one line, addresses and keys go out as one line (see `children`). Killed itself, it takes
SeaweedFS with it on Linux.
"""

import json
import os
import sys
from contextlib import contextmanager

from workbench import children
from workbench.local import folders
from workbench.local.ports import HOST
from workbench.local.s3.folder import KEYS

PATIENCE_SECONDS = 20  # SeaweedFS takes three to write down what it has


@contextmanager
def running(settings):
    """Run a child with these settings; gives what it says: endpoint, catalog_endpoint, folder, keys.

    Raises:
        ValueError: a port or the folder cannot be had.
        ChildProcessError: it did not start.
    """
    with children.started(__name__, patience_seconds=PATIENCE_SECONDS) as process:
        yield children.ask(process, settings, name="S3 server's process", patience_seconds=PATIENCE_SECONDS)


def main():
    """Be the child."""
    os.umask(0o077)  # whatever is written here is the owner's alone
    settings = json.loads(sys.stdin.buffer.readline())
    try:
        with folders.taken(settings["folder"], settings["within"], kind="s3", mark=KEYS) as place:
            _serve(place, settings)
    except ValueError as error:
        children.say({"error": str(error)})
    except ChildProcessError as error:
        children.say({"died": str(error)})


def _serve(place, settings):
    from workbench.local.s3 import folder, weed

    keys = folder.keys(place)
    process, ports = weed.start(place, keys, settings["ports"])
    try:
        endpoint, catalog = (f"http://{HOST}:{ports[name]}" for name in ("s3", "catalog"))
        folder.tell(place, endpoint, catalog)
        children.say({"endpoint": endpoint, "catalog_endpoint": catalog, "folder": str(place), "keys": keys})
        children.until_either_ends(process)
    finally:
        weed.end(process, ports, haste=settings["folder"] is None)
