"""The other stand-in, npm's kinesis-local, where `make prove PART=kinesis` has brought it: for comparison only.

By itself it listens on all interfaces and has no setting against that; here Node is told to load loopback.cjs
first, which gives every listening socket 127.0.0.1. It runs on free ports, for a bounded time, and is stopped by
its own handle.
"""

import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[2] / ".workbench" / "kinesis-local"
PACKAGE = HOME / "node_modules" / "kinesis-local"
ASKED = "WORKBENCH_CONFORMANCE"  # the comparison takes a minute
MISSING = "kinesis-local is compared by make prove PART=kinesis, which brings it (and Node where there is none)"
TRANSITION = "50ms"


def node():
    """Path of Node: that of the target's own environment, else the machine's; None when there is none."""
    own = HOME / "node" / "bin" / "node"
    return str(own) if own.exists() else shutil.which("node")


def available():
    return bool(os.environ.get(ASKED) and node()) and (PACKAGE / "main.js").exists()


@contextmanager
def running(*, seconds=180):
    """Run it; gives the endpoint. It is killed after a number of seconds, whatever happens."""
    plain, tls = free_ports(2)
    env = {
        "PATH": os.environ["PATH"],
        "KINESIS_MOCK_PLAIN_PORT": str(plain),
        "KINESIS_MOCK_TLS_PORT": str(tls),
        "KINESIS_MOCK_CERT_PATH": str(PACKAGE / "server.json"),
        "LOG_LEVEL": "ERROR",
        "SHARD_LIMIT": "500",
    }
    slow = ("CREATE_STREAM", "DELETE_STREAM", "MERGE_SHARDS", "SPLIT_SHARD", "UPDATE_SHARD_COUNT")
    env |= {f"{name}_DURATION": TRANSITION for name in slow}
    command = [node(), "--require", str(HERE / "loopback.cjs"), str(PACKAGE / "main.js")]
    process = subprocess.Popen(command, env=env, cwd=HOME, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = threading.Timer(seconds, process.kill)
    limit.start()
    try:
        wait_for(plain, process)
        for port in (plain, tls):
            where = listening_on(port)
            if not where <= {"0100007F"}:
                raise AssertionError(f"kinesis-local listens on {where}, not on 127.0.0.1 alone")
        yield f"http://127.0.0.1:{plain}"
    finally:
        limit.cancel()
        process.kill()
        process.wait()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(port, process, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"kinesis-local did not start, exit code {process.poll()}")


def listening_on(port):
    """Addresses, as the kernel writes them, on which a port listens: 0100007F is 127.0.0.1."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                found.add(local.rpartition(":")[0])
    return found
