"""The page as a server of this machine, for as long as a block lasts or until it is ended."""

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench_ops.access.page.app import build
from workbench_ops.access.page.sharing import Shared

LOOPBACK = "127.0.0.1"
START_SECONDS = 30


def run(shared: Shared, *, port: int, behind: str | None = None) -> None:
    """Serve the page until the process is ended.

    Args:
        shared: what is shared, and with whom.
        port: TCP port on 127.0.0.1.
        behind: as of `app.build`.

    Raises:
        ArgumentError: somebody listens on the port; as of `app.build`.
        Closed: the file of users cannot be read.
    """
    with _listening(port) as listener:
        _server(shared, behind).run(sockets=[listener])


@contextmanager
def serve(shared: Shared, *, port: int = 0, behind: str | None = None) -> Iterator[str]:
    """Serve the page beside the caller, for as long as the block lasts.

    Args:
        shared: what is shared, and with whom.
        port: TCP port on 127.0.0.1; 0 for a free one.
        behind: as of `app.build`.

    Yields:
        The page's address.

    Raises:
        ArgumentError: somebody listens on the port; as of `app.build`.
        Closed: the file of users cannot be read.
    """
    with _listening(port) as listener:
        server = _server(shared, behind)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            _wait(server, thread)
            yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ArgumentError(f"port {port} of {LOOPBACK} cannot be listened on: {error.strerror}") from None
    return listener


def _server(shared: Shared, behind: str | None) -> uvicorn.Server:
    options = uvicorn.Config(
        build(shared, behind=behind), access_log=False, server_header=False, log_level=logging.WARNING, ws="none",
        proxy_headers=False, timeout_graceful_shutdown=5,
    )  # fmt: skip
    return uvicorn.Server(options)


def _wait(server: uvicorn.Server, thread: threading.Thread) -> None:
    end = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise WorkbenchError(f"the page did not begin within {START_SECONDS} seconds")
        time.sleep(0.02)
