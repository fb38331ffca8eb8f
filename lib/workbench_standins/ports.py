"""Free ports of this machine's loopback interface."""

import random
import socket
from contextlib import suppress

from workbench._base.errors import ProcessError

HOST = "127.0.0.1"
RANGE = range(12_000, 32_000)  # below those that outgoing connections take meanwhile


def free(port):
    """Say whether a port can be listened on now."""
    with suppress(OSError), socket.create_server((HOST, port)):
        return True
    return False


def choose(names, wanted):
    """Return a port for everything that listens, those that are wanted by number as they are.

    Args:
        names: of what listens.
        wanted: name to port, 0 for any.

    Returns:
        dict, the wanted ones first.

    Raises:
        ChildProcessError: there are too few.
    """
    found = {name: port for name, port in wanted.items() if port}
    for port in random.SystemRandom().sample(RANGE, len(RANGE)):
        if not (left := [name for name in names if name not in found]):
            return found
        if port not in found.values() and free(port):
            found[left[0]] = port
    raise ProcessError(f"there are no free ports on {HOST}")
