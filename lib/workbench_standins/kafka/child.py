"""The process between us and the broker's JVM: it starts it, and ends it when its own input ends."""

from workbench._base import children
from workbench_standins import folders

PATIENCE_SECONDS = 30  # a broker that ends in order writes down its logs


def running(settings):
    """Return the context of a child with these settings; it gives what it says: bootstrap, folder.

    Raises:
        ValueError: the port or the folder cannot be had.
        ChildProcessError: it did not start.
    """
    return children.serving(__name__, settings, name="Kafka broker's process", patience_seconds=PATIENCE_SECONDS)


def main():
    """Be the child."""
    folders.serve_from(_serve, kind="kafka", mark="server.properties")


def _serve(place, settings):
    from workbench_standins.kafka import node

    process, port = node.start(place, settings["port"])
    try:
        children.say({"bootstrap": f"{node.HOST}:{port}", "folder": str(place)})
        children.until_either_ends(process)
    finally:
        children.end(process, haste=settings["folder"] is None, patience_seconds=20)
