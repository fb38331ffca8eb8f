"""The AWS calls of a run's processes, taken down while they are made.

Three kinds of client are listened to: Spark's (Java), by the log of its signer through a pipe, so that what is
secret there is never on a disk; Python's, by a module that each process loads first; Arrow's (C++), by client-side
monitoring, datagrams on the loopback address that name the operation and no resource.
"""

import os
import select
import shutil
import socket
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from workbench_ops.policies import calls

VARIABLE = "WORKBENCH_AWS_CALLS"
HOOK = Path(__file__).parent / "hook"
PATIENCE_SECONDS = 0.2  # between two looks whether the recording is over
ROOM_BYTES = 4 << 20  # for datagrams that nobody has taken yet


@contextmanager
def recorded() -> Iterator[set[calls.Call]]:
    """Record the AWS calls of the processes that are started inside the block.

    Yields:
        set, which holds the calls.Call when the block has ended: calls to AWS and to anything that speaks like it.
    """
    calls_made: set[calls.Call] = set()
    folder = Path(tempfile.mkdtemp(prefix="workbench-calls-"))  # for this user alone
    try:
        with _Listener(folder) as listener, _variables(folder, listener):
            yield calls_made
        calls_made |= listener.calls()
        notes = folder / "python.jsonl"
        if notes.is_file():
            calls_made |= {calls.of_python(line) for line in notes.read_text(encoding="utf-8").splitlines()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def endpoints() -> set[str]:
    """Return host:port of what stands for AWS here: AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_<SERVICE>."""
    named = (value for name, value in os.environ.items() if name.startswith("AWS_ENDPOINT_URL"))
    return {urlsplit(value).netloc for value in named if value}


class _Listener:
    """A thread that takes what Spark and Arrow report, as long as the block is open."""

    def __init__(self, folder: Path) -> None:
        self.client_id = uuid.uuid4().hex  # whoever else finds the port does not know it
        self.log, self.over = calls.SignerLog(), threading.Event()
        self.by_arrow: set[calls.Call] = set()
        os.mkfifo(folder / "java", 0o600)
        self.pipe = os.open(folder / "java", os.O_RDWR | os.O_NONBLOCK)  # a writer of ours: never at its end
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM_BYTES)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.thread.join()
        os.close(self.pipe)
        self.socket.close()

    def calls(self) -> set[calls.Call]:
        return self.log.calls(endpoints()) | self.by_arrow

    def _listen(self) -> None:
        rest = b""
        sources: list[int | socket.socket] = [self.pipe, self.socket]
        while True:
            over = self.over.is_set()  # read first: what came before it is taken by one more look
            ready = select.select(sources, [], [], 0 if over else PATIENCE_SECONDS)[0]
            if self.pipe in ready:
                text, rest = _whole(rest + os.read(self.pipe, 1 << 16))
                self.log.feed(text)
            if self.socket in ready and (call := calls.of_arrow(self.socket.recv(1 << 16), self.client_id)):
                self.by_arrow.add(call)
            if over and not ready:
                return


def _whole(data: bytes) -> tuple[str, bytes]:
    """Return the text up to the last end of a line, and the bytes after it."""
    end = data.rfind(b"\n") + 1
    return data[:end].decode(errors="replace"), data[end:]


@contextmanager
def _variables(folder: Path, listener: _Listener) -> Iterator[None]:
    """Set the variables that processes of the run read, and restore them."""
    ours = {
        VARIABLE: str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HOOK), os.environ.get("PYTHONPATH")))),
        "AWS_CSM_ENABLED": "true",
        "AWS_CSM_HOST": "127.0.0.1",
        "AWS_CSM_PORT": str(listener.socket.getsockname()[1]),
        "AWS_CSM_CLIENT_ID": listener.client_id,
    }
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
