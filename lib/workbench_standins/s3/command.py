"""`workbench local s3`: the server by hand, with the ordering proxy before it when asked."""

from contextlib import ExitStack
from functools import partial

from workbench_standins import by_hand, s3
from workbench_standins.s3 import folder as folders


def serve(folder=None, *, port=8333, catalog_port=8181, faults=None, say=None):
    """Serve until SIGINT, SIGTERM or SIGHUP.

    Args:
        folder: where the data stay; None makes a throw-away one.
        port: TCP port of S3 on 127.0.0.1; 0 takes a free one.
        catalog_port: the same for the REST catalog.
        faults: script of the ordering proxy, which then stands before both, each with a count of its own.
        say: called with each line that tells what there is, none of which holds a key; None prints them.

    Raises:
        ValueError: an argument does not go, a port or the folder cannot be had, the script is none.
        ModuleNotFoundError: a package is not installed.
    """
    with ExitStack() as living:
        ended = living.enter_context(by_hand.interrupted())
        if faults:
            server, fronts = _behind_proxies(living, folder, port, catalog_port, faults)
        else:
            server = living.enter_context(s3.serve(folder, port=port, catalog_port=catalog_port))
            fronts = ()
        for line in _lines(server, fronts, stays=folder is not None):
            (say or partial(print, flush=True))(line)
        ended.wait()


def _behind_proxies(living, folder, port, catalog_port, faults):
    """Start a server on free ports and a proxy before each of its two addresses."""
    from workbench_standins import proxy

    script = proxy.read_script(faults)
    server = living.enter_context(s3.serve(folder))
    pairs = (server.endpoint, port), (server.catalog_endpoint, catalog_port)
    fronts = [living.enter_context(proxy.between(at, script=script, port=number)) for at, number in pairs]
    folders.tell(server.folder, *(front.endpoint for front in fronts))
    return server, fronts


def _lines(server, fronts, *, stays):
    at = [front.endpoint for front in fronts] or [server.endpoint, server.catalog_endpoint]
    yield f"S3       {at[0]}  bucket {s3.BUCKET}"
    yield f"catalog  {at[1]}  Iceberg REST, warehouse s3://{s3.TABLE_BUCKET}"
    for client in fronts[0].clients if fronts else ():
        yield f"client   {client}: S3 {fronts[0].endpoint_of(client)}, catalog {fronts[1].endpoint_of(client)}"
    yield f"keys     . {server.folder / 'env'}  sets AWS_ACCESS_KEY_ID and the rest; only you can read it"
    yield f"Ctrl-C ends it; {f'the data stay in {server.folder}' if stays else 'nothing stays'}"
