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
from contextlib import contextmanager
from pathlib import Path

from workbench_ops.policies import calls

VARIABLE = "WORKBENCH_AWS_CALLS"
HOOK = Path(__file__).parent / "hook"
PATIENCE_SECONDS = 0.2  # between two looks whether the recording is over
ROOM_BYTES = 4 << 20  # for datagrams that nobody has taken yet


@contextmanager
def recorded():
    """Record the AWS calls of the processes that are started inside the block.

    Yields:
        set, which holds the calls.Call when the block has ended: calls to AWS and to anything that speaks like it.
    """
    found, folder = set(), Path(tempfile.mkdtemp(prefix="workbench-calls-"))  # for this user alone
    try:
        with _Listener(folder) as listener, _variables(folder, listener):
            yield found
        found |= listener.found()
        notes = folder / "python.jsonl"
        if notes.is_file():
            found |= {calls.of_python(line) for line in notes.read_text(encoding="utf-8").splitlines()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def endpoints():
    """Return host:port of what stands for AWS here: AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_<SERVICE>."""
    named = (value for name, value in os.environ.items() if name.startswith("AWS_ENDPOINT_URL"))
    return {calls.urlsplit(value).netloc for value in named if value}


class _Listener:
    """A thread that takes what Spark and Arrow tell, as long as the block is open."""

    def __init__(self, folder):
        self.client_id = uuid.uuid4().hex  # whoever else finds the port does not know it
        self.log, self.told, self.over = calls.SignerLog(), set(), threading.Event()
        os.mkfifo(folder / "java", 0o600)
        self.pipe = os.open(folder / "java", os.O_RDWR | os.O_NONBLOCK)  # a writer of ours: never at its end
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM_BYTES)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()
        os.close(self.pipe)
        self.socket.close()

    def found(self):
        return self.log.calls(endpoints()) | self.told

    def _listen(self):
        left = b""
        while True:
            over = self.over.is_set()  # read first: what came before it is taken by one more look
            ready = select.select([self.pipe, self.socket], [], [], 0 if over else PATIENCE_SECONDS)[0]
            if self.pipe in ready:
                text, left = _whole(left + os.read(self.pipe, 1 << 16))
                self.log.feed(text)
            if self.socket in ready and (call := calls.of_arrow(self.socket.recv(1 << 16), self.client_id)):
                self.told.add(call)
            if over and not ready:
                return


def _whole(data):
    """Return the text up to the last end of a line, and the bytes behind it."""
    end = data.rfind(b"\n") + 1
    return data[:end].decode(errors="replace"), data[end:]


@contextmanager
def _variables(folder, listener):
    """Set what processes of the run read, and put it back."""
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
