"""`workbench local`: servers that a person starts in a shell, and ends there."""

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # at run time each is imported by the function that serves it
    from workbench_standins.cluster import Cluster
    from workbench_standins.proxy import Proxy
    from workbench_standins.s3 import Server

Say = Callable[[str], object]
_print = partial(print, flush=True)


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """Yield an event that is set by the signals that end a server by hand."""
    ended = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: ended.set()) for number in numbers}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def s3(
    folder: str | None = None,
    *,
    port: int = 8333,
    catalog_port: int = 8181,
    faults: str | None = None,
    say: Say = _print,
) -> None:
    """Serve S3 and its catalog until SIGINT, SIGTERM or SIGHUP.

    Args:
        folder: where the data stay; None makes a temporary one.
        port: TCP port of S3 on 127.0.0.1; 0 takes a free one.
        catalog_port: the same for the REST catalog.
        faults: script of the ordering proxy, which then stands before both, each with a count of its own.
        say: called with each line that describes the server; none of them holds a key.

    Raises:
        ValueError: an argument or the script is invalid, a port or the folder cannot be had.
        ModuleNotFoundError: a package is not installed.
    """
    from workbench_standins import s3 as servers

    with ExitStack() as living:
        ended = living.enter_context(interrupted())
        if faults:
            server, fronts = _behind_proxies(living, folder, port, catalog_port, faults)
        else:
            server = living.enter_context(servers.serve(folder, port=port, catalog_port=catalog_port))
            fronts = []
        for line in _lines(server, fronts, stays=folder is not None):
            say(line)
        ended.wait()


def _behind_proxies(
    living: ExitStack, folder: str | None, port: int, catalog_port: int, faults: str
) -> tuple["Server", list["Proxy"]]:
    """Start a server on free ports and a proxy before each of its two addresses."""
    from workbench_standins import proxy
    from workbench_standins import s3 as servers
    from workbench_standins.s3 import folder as folders

    script = proxy.read_script(faults)
    server = living.enter_context(servers.serve(folder))
    pairs = (server.endpoint, port), (server.catalog_endpoint, catalog_port)
    fronts = [living.enter_context(proxy.between(at, script=script, port=number)) for at, number in pairs]
    folders.tell(server.folder, *(front.endpoint for front in fronts))
    return server, fronts


def _lines(server: "Server", fronts: Sequence["Proxy"], *, stays: bool) -> Iterator[str]:
    from workbench_standins.s3 import BUCKET, TABLE_BUCKET

    s3_address, catalog = [front.endpoint for front in fronts] or [server.endpoint, server.catalog_endpoint]
    yield f"S3       {s3_address}  bucket {BUCKET}"
    yield f"catalog  {catalog}  Iceberg REST, warehouse s3://{TABLE_BUCKET}"
    for client in fronts[0].clients if fronts else ():
        yield f"client   {client}: S3 {fronts[0].endpoint_of(client)}, catalog {fronts[1].endpoint_of(client)}"
    yield f"keys     . {server.folder / 'env'}  sets AWS_ACCESS_KEY_ID and the rest; only you can read it"
    yield f"Ctrl-C ends it; {_stays(server.folder, stays=stays)}"


def _stays(folder: Path | None, *, stays: bool) -> str:
    return f"the data stay in {folder}" if stays else "nothing stays"


def kafka(folder: str | None = None, *, port: int = 9092, say: Say = _print) -> None:
    """Serve Kafka until SIGINT, SIGTERM or SIGHUP.

    Args:
        folder: where the data stay; None makes a temporary one.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        say: called with each line that describes the broker.

    Raises:
        ValueError: an argument is invalid, the port or the folder cannot be had, a jar is missing.
        ModuleNotFoundError: confluent-kafka is not installed.
    """
    from workbench_standins import kafka as brokers

    with interrupted() as ended, brokers.serve(folder, port=port) as broker:
        say(f"Kafka on {broker.bootstrap}; topics are made by whoever needs them, none by a record that names it")
        say(f"Ctrl-C ends it; {_stays(broker.folder, stays=folder is not None)}")
        ended.wait()


def fetch_kafka(say: Say = _print) -> None:
    """Fetch the Kafka broker's jars into the user's cache.

    Raises:
        ValueError: a jar cannot be downloaded.
    """
    from workbench_standins.kafka import node

    say(f"{len(node.fetch())} jars of the Kafka broker are there")


def hbase(folder: str | None = None, *, heap_mib: int = 512, say: Say = _print) -> None:
    """Serve HBase until SIGINT, SIGTERM or SIGHUP.

    Args:
        folder: where the data stay; None makes a temporary one.
        heap_mib: of its JVM.
        say: called with each line that describes the server.

    Raises:
        ValueError: an argument is invalid, the folder cannot be had, a jar is missing.
        ChildProcessError: it did not start.
    """
    from workbench_standins import hbase as servers

    options = [f"-Xmx{heap_mib}m", *servers.DEFAULTS[1:]]
    with interrupted() as ended, servers.serve(folder, options=options) as server:
        say(f"HBase, standalone, its ZooKeeper on {server.zookeeper}")
        say(f"client   hbase-site.xml for its class path is in {server.folder / 'conf'}")
        say(f"Ctrl-C ends it; {_stays(server.folder, stays=folder is not None)}")
        ended.wait()


def fetch_hbase(say: Say = _print) -> None:
    """Fetch HBase's jars into the user's cache.

    Raises:
        ValueError: a jar cannot be downloaded.
    """
    from workbench_standins.hbase import node

    say(f"{len(node.fetch())} jars of HBase are there")


def cluster(
    *,
    port: int = 7077,
    workers: int = 2,
    cores: int = 1,
    memory: str = "1g",
    applications: int = 2,
    say: Say = _print,
) -> None:
    """Serve a standalone Spark cluster until SIGINT, SIGTERM or SIGHUP.

    Args:
        port: as of `cluster.serve`.
        workers: as of `cluster.serve`.
        cores: as of `cluster.serve`.
        memory: as of `cluster.serve`.
        applications: as of `cluster.serve`.
        say: called with each line that describes the cluster; none of them holds the secret.

    Raises:
        ValueError: an argument is invalid, or the port cannot be had.
        ChildProcessError: it did not start.
    """
    from workbench_standins import cluster as clusters

    serving = clusters.serve(port=port, workers=workers, cores=cores, memory=memory, applications=applications)
    with interrupted() as ended, serving as running, _variables(running) as file:
        each = f"{cores} core{'s' if cores > 1 else ''} and {memory} for a session"
        say(f"Spark cluster on {running.master}: {workers} workers of {each}")
        say(f"sessions side by side: {applications}; one more waits until another ends")
        say(f"session  . {file}  lets this shell use it; only you can read it")
        say("         workbench run 01_first_table --environment cluster")
        say("Ctrl-C ends it; nothing stays")
        ended.wait()


@contextmanager
def _variables(running: "Cluster") -> Iterator[str]:
    """Write the variables of a cluster to a file of the owner's, gone with the cluster."""
    handle, name = tempfile.mkstemp(prefix="workbench-cluster-", suffix=".env")  # mkstemp: 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"export {key}={value}\n" for key, value in running.variables().items())
    try:
        yield name
    finally:
        Path(name).unlink(missing_ok=True)
