"""`workbench local`: servers that a person starts in a shell, and ends there."""

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

_print = partial(print, flush=True)


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """Give an event that is set by the signals that end a server by hand."""
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
    say: Callable = _print,
) -> None:
    """Serve S3 and its catalog until SIGINT, SIGTERM or SIGHUP.

    Args:
        folder: where the data stay; None makes a throw-away one.
        port: TCP port of S3 on 127.0.0.1; 0 takes a free one.
        catalog_port: the same for the REST catalog.
        faults: script of the ordering proxy, which then stands before both, each with a count of its own.
        say: called with each line that tells what there is, none of which holds a key.

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
            fronts = ()
        for line in _lines(server, fronts, stays=folder is not None):
            say(line)
        ended.wait()


def _behind_proxies(living, folder, port, catalog_port, faults):
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


def _lines(server, fronts, *, stays):
    from workbench_standins.s3 import BUCKET, TABLE_BUCKET

    at = [front.endpoint for front in fronts] or [server.endpoint, server.catalog_endpoint]
    yield f"S3       {at[0]}  bucket {BUCKET}"
    yield f"catalog  {at[1]}  Iceberg REST, warehouse s3://{TABLE_BUCKET}"
    for client in fronts[0].clients if fronts else ():
        yield f"client   {client}: S3 {fronts[0].endpoint_of(client)}, catalog {fronts[1].endpoint_of(client)}"
    yield f"keys     . {server.folder / 'env'}  sets AWS_ACCESS_KEY_ID and the rest; only you can read it"
    yield f"Ctrl-C ends it; {_stays(server.folder, stays=stays)}"


def _stays(folder, *, stays):
    return f"the data stay in {folder}" if stays else "nothing stays"


def kafka(folder: str | None = None, *, port: int = 9092, say: Callable = _print) -> None:
    """Serve Kafka until SIGINT, SIGTERM or SIGHUP.

    Args:
        folder: where the data stay; None makes a throw-away one.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        say: called with each line that tells what there is.

    Raises:
        ValueError: an argument is invalid, the port or the folder cannot be had, a jar is missing.
        ModuleNotFoundError: confluent-kafka is not installed.
    """
    from workbench_standins import kafka as brokers

    with interrupted() as ended, brokers.serve(folder, port=port) as broker:
        say(f"Kafka on {broker.bootstrap}; topics are made by whoever needs them, none by a record that names it")
        say(f"Ctrl-C ends it; {_stays(broker.folder, stays=folder is not None)}")
        ended.wait()


def fetch_kafka(say: Callable = _print) -> None:
    """Fetch the Kafka broker's jars into the user's cache.

    Raises:
        ValueError: one cannot be had.
    """
    from workbench_standins.kafka import node

    say(f"{len(node.fetch())} jars of the Kafka broker are there")


def cluster(
    *,
    port: int = 7077,
    workers: int = 2,
    cores: int = 1,
    memory: str = "1g",
    applications: int = 2,
    say: Callable = _print,
) -> None:
    """Serve a standalone Spark cluster until SIGINT, SIGTERM or SIGHUP.

    Args:
        port: as for `cluster.serve`, as are the others.
        workers: how many.
        cores: of a worker, for an application.
        memory: of a worker, for an application.
        applications: how many side by side.
        say: called with each line that tells what there is, none of which holds the secret.

    Raises:
        ValueError: an argument is invalid, or the port cannot be had.
        ChildProcessError: it did not start.
    """
    from workbench_standins import cluster as clusters

    sizes = {"port": port, "workers": workers, "cores": cores, "memory": memory, "applications": applications}
    with interrupted() as ended, clusters.serve(**sizes) as running, _variables(running) as file:
        each = f"{cores} core{'s' if cores > 1 else ''} and {memory} for a session"
        say(f"Spark cluster on {running.master}: {workers} workers of {each}")
        say(f"sessions side by side: {applications}; one more waits until another ends")
        say(f"session  . {file}  lets this shell use it; only you can read it")
        say("         workbench run 01_first_table --environment cluster")
        say("Ctrl-C ends it; nothing stays")
        ended.wait()


@contextmanager
def _variables(running):
    """Write the variables of a cluster to a file of the owner's, gone with the cluster."""
    handle, name = tempfile.mkstemp(prefix="workbench-cluster-", suffix=".env")  # mkstemp: 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"export {key}={value}\n" for key, value in running.variables().items())
    try:
        yield name
    finally:
        Path(name).unlink(missing_ok=True)
