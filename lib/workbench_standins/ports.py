"""Free ports of this machine's loopback interface."""

import random
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated

from workbench._base.bounds import Ge, Le
from workbench._base.errors import ProcessError

HOST = "127.0.0.1"
Port = Annotated[int, Ge(0), Le(65535)]  # 0: any free one
RANGE = range(12_000, 32_000)  # below those that outgoing connections take meanwhile


def free(port: int) -> bool:
    """Return whether a server could listen on a port now."""
    with suppress(OSError), socket.create_server((HOST, port)):
        return True
    return False


def choose(names: Sequence[str], given: Mapping[str, int]) -> dict[str, int]:
    """Return a port for each name: the given one, else a free one.

    Args:
        names: of what listens.
        given: name to port; 0 for any.

    Returns:
        dict of name to port, the given ones first.

    Raises:
        ChildProcessError: there are too few free ports.
    """
    chosen = {name: port for name, port in given.items() if port}
    for port in random.SystemRandom().sample(RANGE, len(RANGE)):
        if not (missing := [name for name in names if name not in chosen]):
            return chosen
        if port not in chosen.values() and free(port):
            chosen[missing[0]] = port
    raise ProcessError(f"there are no free ports on {HOST}")
