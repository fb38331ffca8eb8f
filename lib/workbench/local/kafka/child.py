"""The process between us and the broker's JVM: it starts it, and ends it when its own input ends."""

import json
import os
import sys
from contextlib import contextmanager

from workbench import children
from workbench.local import folders

PATIENCE_SECONDS = 30  # a broker that ends in order writes down its logs


@contextmanager
def running(settings):
    """Run a child with these settings; gives what it says: bootstrap, folder.

    Raises:
        ValueError: the port or the folder cannot be had.
        ChildProcessError: it did not start.
    """
    with children.started(__name__, patience_seconds=PATIENCE_SECONDS) as process:
        yield children.ask(process, settings, name="Kafka broker's process", patience_seconds=PATIENCE_SECONDS)


def main():
    """Be the child."""
    os.umask(0o077)  # whatever is written here is the owner's alone
    settings = json.loads(sys.stdin.buffer.readline())
    try:
        with folders.taken(
            settings["folder"], settings["within"], kind="kafka", mark="server.properties"
        ) as place:
            _serve(place, settings)
    except ValueError as error:
        children.say({"error": str(error)})
    except ChildProcessError as error:
        children.say({"died": str(error)})


def _serve(place, settings):
    from workbench.local.kafka import node

    process, port = node.start(place, settings["port"])
    try:
        children.say({"bootstrap": f"{node.HOST}:{port}", "folder": str(place)})
        children.until_either_ends(process)
    finally:
        node.end(process, haste=settings["folder"] is None)
