"""Messages of kernel, keeper and starter: a line of JSON by a Unix socket, and a file descriptor beside it."""

import json
import os
import socket
from collections.abc import Sequence
from typing import Any

LONGEST = 1 << 22  # bytes of a message
AT_ONCE = 1 << 16


def send(connection: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message with file descriptors, which stay ours, too.

    Raises:
        OSError: the other side is gone, or did not read in time.
    """
    line = json.dumps(message).encode() + b"\n"
    sent = socket.send_fds(connection, [line], descriptors)
    if rest := line[sent:]:  # to send nothing is an error, too, once the other side has answered and gone
        connection.sendall(rest)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return the next message and the descriptors that came with it, which no program begun by us inherits.

    Raises:
        OSError: it did not come in time.
        ValueError: the other side ended before the end of its message.
    """
    line, descriptors = b"", []
    while not line.endswith(b"\n") and len(line) < LONGEST:
        # one message may come in several pieces, and its descriptors are with the first
        piece, came, _, _ = socket.recv_fds(connection, AT_ONCE, 1, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
        for descriptor in came:
            os.set_inheritable(descriptor, False)
        descriptors += came
        line += piece
        if not piece:
            break
    try:
        return json.loads(line), descriptors
    except ValueError:
        for descriptor in descriptors:
            os.close(descriptor)
        raise
