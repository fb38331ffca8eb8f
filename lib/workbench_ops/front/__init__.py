"""A gRPC front before Spark Connect: readers see what a policy shows them, and have no way around it.

    with spark_connect.serve(session.spark_conf(environment)) as server:
        with front.serve(governed, server=server, users={"analyst"}, key="front.key", catalog="lake") as running:
            spark = SparkSession.builder.remote(running.remote("analyst")).getOrCreate()

What is not on its lists is refused, by a sentence: relations, expressions, functions, settings and calls. A
table that is read by its name is replaced by a governed subquery under an alias; SQL is parsed and written anew;
then the server's plan may read the tables of governed subqueries only. A token says who asks, for 15 minutes.

**The boundary is who holds the storage keys, the server's token and the files.** Readers who share the machine's
user with the server, or who can read the lake's files, can read all of it: give the server a user of its own. A
reader can still wear the server out: how much a query may take is not limited.

The parts:

    messages     what is let through of the protocol, field by field
    functions    the functions that are let through
    plans        a request, made anew
    statements   SQL, written anew
    arguments    of SQL, as literals in it
    looking      the second look, at the server's plan
    protocol     the messages that PySpark brings
    operations   queries that go on, and whether what they read is still shared
    tokens       who asks
    refusals     what is said to the client
    service      the calls
    governing    governed subqueries by a policy of `workbench.access`
"""

import importlib.util
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Protocol

from workbench import access, session
from workbench._base import settings
from workbench._base.bounds import Ge, MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import Judged
from workbench_ops.access import current
from workbench_ops.front import protocol, tokens
from workbench_ops.front.governing import by_policy
from workbench_ops.front.plans import Governed
from workbench_standins import spark_connect
from workbench_standins.ports import HOST, Port

__all__ = ["Front", "Governed", "Upstream", "by_policy", "require", "serve", "share"]

STREAMS = 64  # that are answered at once
MOST_BYTES = 128 << 20  # of a message, as PySpark's client has it


class Upstream(Protocol):
    """The server behind: a Spark Connect server, such as `workbench_standins.spark_connect.Server`."""

    @property
    def address(self) -> str:
        """Return host and port."""

    def token(self) -> str:
        """Return the token by which it takes the front."""


@dataclass(frozen=True)
class Front:
    """A running front.

    Attributes:
        port: TCP port on 127.0.0.1.
        users: principals that it lets in.
        catalog: name of the server's catalog, in which tables without one are.
    """

    port: int
    users: Collection[str]
    catalog: str
    key: bytes = field(repr=False)

    def token(self, principal: str, *, seconds: int = tokens.LIFETIME_SECONDS) -> str:
        """Issue a token for a principal, which is not for printing.

        Raises:
            ValueError: the principal is not let in, or seconds is not from 1 to 900.
        """
        if principal not in self.users:
            raise ArgumentError(f"{principal!r} is not let in by this front; it lets in {len(self.users)} users")
        return tokens.issue(self.key, principal, seconds=seconds)

    def remote(self, principal: str) -> str:
        """Return the address for `SparkSession.builder.remote`, with a new token in it: it is not for printing."""
        return f"sc://localhost:{self.port}/;token={self.token(principal)}"


def require() -> None:
    """Require that what the front needs is installed.

    Raises:
        ModuleNotFoundError: a package is missing.
    """
    for package, module in (("grpcio", "grpc"), ("grpcio-status", "grpc_status"), ("sqlglot", "sqlglot")):
        if importlib.util.find_spec(module) is None:
            raise MissingPackageError(
                f"{package} is not installed: pip install 'iceberg-workbench[access]'", name=module
            )


@checked
@contextmanager
def share(
    policy: str | Path, *, key: str | Path, environment: str | Path = "lake", port: Port = 0
) -> Iterator[Front]:
    """Share the tables of an environment by a policy file as long as the context is open.

    A Spark Connect server is started, and the front before it. The file is read anew when it changes; who is taken
    out of it is let in no more. Sessions in this process: see `serve`.

    Args:
        policy: the policy file; its principals are let in.
        key: as of `serve`.
        environment: where the tables are, as of `session.start`.
        port: as of `serve`.

    Yields:
        Front.

    Raises:
        ValueError: the policy or the environment is wrong, or as `serve`.
        ModuleNotFoundError: a package is missing.
        ChildProcessError: the server did not start.
    """
    path = Path(policy).resolve()
    access.read(path)
    require()
    catalog, conf = session.catalog(environment), session.spark_conf(settings.environment(environment))
    name = conf["spark.sql.defaultCatalog"]
    governed, users = by_policy(lambda: current.policy(path), catalog, name=name), current.Principals(path)
    with (
        spark_connect.serve(conf) as server,
        serve(governed, server=server, users=users, key=key, catalog=name, port=port) as running,
    ):
        yield running


@checked
@contextmanager
def serve(
    governed: Judged[Governed],
    *,
    server: Judged[Upstream],
    users: Judged[Collection[str]],
    key: str | Path,
    catalog: Annotated[str, MinLen(1)],
    port: Port = 0,
    recheck_seconds: Annotated[float, Ge(0)] = 1.0,
) -> Iterator[Front]:
    """Serve the front before a Spark Connect server as long as the context is open, on this machine's loopback.

    Readers are other processes. In this one a reader's session must be kept as long as the front serves: where
    Python's collector ends it in a thread of the front, it waits for the front that waits for it.

    Args:
        governed: function of (principal, table's full name as Spark SQL has it) that returns the text of a SELECT
            of Spark SQL, what the principal may see of the table; it raises an error of ours where nothing is
            shared. `by_policy` makes one. It is asked when a query begins and while its answer streams.
        server: the server behind; only the front should have its token.
        users: principals that are let in; a set that changes is asked at each call.
        key: file of mode 600 with the key that signs tokens; made when missing.
        catalog: name of the server's catalog that tables without one are in. It must be its default catalog.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        recheck_seconds: after which a query that goes on asks again whether its tables are shared as they were.

    Yields:
        Front.

    Raises:
        ValueError: an argument is invalid, the port cannot be had, or others can read the key file.
        ModuleNotFoundError: a package is missing.
    """
    require()
    import grpc

    from workbench_ops.front.service import Service

    if not Path(key).exists():
        tokens.make_key(key)
    secret = tokens.read_key(key)
    sizes = [("grpc.max_send_message_length", MOST_BYTES), ("grpc.max_receive_message_length", MOST_BYTES)]
    metadata = (("authorization", f"Bearer {server.token()}"),)
    with (
        ThreadPoolExecutor(STREAMS, "front-look") as looks,
        ThreadPoolExecutor(STREAMS, "front") as answers,
        grpc.insecure_channel(server.address, options=sizes) as channel,  # closed first, which ends what waits
    ):
        behind = protocol.stub(channel)
        service = Service(governed, catalog, users, secret, behind, metadata, looks, float(recheck_seconds))
        ours = grpc.server(answers, options=[*sizes, ("grpc.so_reuseport", 0)])
        ours.add_generic_rpc_handlers((service.handlers(),))
        try:
            # by these PySpark's client sends a token to localhost without TLS
            bound = ours.add_secure_port(f"{HOST}:{int(port)}", grpc.local_server_credentials())
        except RuntimeError:
            raise ArgumentError(f"port {port} of {HOST} cannot be had") from None
        ours.start()
        try:
            yield Front(bound, users, catalog, secret)
        finally:
            ours.stop(grace=2).wait()
