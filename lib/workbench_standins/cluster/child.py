"""The process between us and the cluster: it starts master and workers, and ends them when its own input ends."""

from workbench._base import children
from workbench_standins import folders


def running(settings):
    """Return the context of a child with these settings; it gives what it says: master, folder, secret.

    Raises:
        ValueError: the port cannot be had.
        ChildProcessError: one of them did not start.
    """
    return children.serving(__name__, settings, name="Spark cluster's process", patience_seconds=30)


def main():
    """Be the child."""
    folders.serve_from(_serve, kind="cluster", mark="master.log")


def _serve(place, settings):
    from workbench_standins.cluster import node

    with node.running(place, settings) as (master, address, secret):
        children.say({"master": address, "folder": str(place), "secret": secret})
        children.until_either_ends(master)
