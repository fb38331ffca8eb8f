"""A Spark Connect server on this machine: PySpark's own, on loopback, with a token, as long as a context is open.

    with spark_connect.serve(session.spark_conf(environment)) as server:
        spark = SparkSession.builder.remote(server.remote()).getOrCreate()

Whoever has the token has all that the server has: its files, its catalogs, its settings. It is for a front that
asks who is there, and not for readers. The server is a process of its own, and of the same user of this machine:
what that user can read, every program of that user can. The parts:

    child            the process between us and the server, which ends it when we end
    node             the server's JVM: its settings, and how it is known that it is ready
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbench._base import java
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins import folders
from workbench_standins.ports import HOST, Port
from workbench_standins.spark_connect import child

__all__ = ["SAFE", "Server", "require", "serve"]

SAFE = {
    # the planner never ends on CASE WHEN … THEN 1/0 in a filter, and no interrupt reaches it: SPARK-58428
    "spark.sql.optimizer.datasourceV2ExprFolding": "false",
    # ${spark.connect.authenticate.token} in a statement, even in quotes, would be the token itself
    "spark.sql.variable.substitute": "false",
    "spark.sql.connect.serverStacktrace.enabled": "false",
    "spark.ui.enabled": "false",
}

CATALOGS = ("org.apache.iceberg.spark.SparkCatalog", "org.apache.iceberg.spark.SparkSessionCatalog")


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        port: TCP port on 127.0.0.1.
        folder: where its log and its settings are, a Path.
        token_file: file of mode 600 that holds the token.
    """

    port: int
    folder: Path
    token_file: Path

    @property
    def address(self) -> str:
        """Return host and port, as gRPC has them."""
        return f"{HOST}:{self.port}"

    def token(self) -> str:
        """Return the token, which is not for printing."""
        return self.token_file.read_text(encoding="ascii")

    def remote(self) -> str:
        """Return the address for `SparkSession.builder.remote`, with the token in it: it is not for printing."""
        return f"sc://localhost:{self.port}/;token={self.token()}"


def require() -> None:
    """Require that what the server needs is installed.

    Raises:
        ValueError: there is no Java or PySpark that fits, or this PySpark has no Spark Connect.
    """
    java.find()
    if not [*java.spark_home().glob("jars/spark-connect_*.jar")]:
        raise ArgumentError("the installed PySpark has no spark-connect jar: install PySpark 4 or newer")


@checked
@contextmanager
def serve(
    conf: Mapping[str, str],
    *,
    folder: str | Path | None = None,
    port: Port = 0,
    within: str | Path | None = None,
) -> Iterator[Server]:
    """Serve Spark Connect as long as the context is open; it ends with this process too, however that ends.

    Args:
        conf: Spark's settings, as `session.spark_conf` gives those of an environment: key to text. References to
            secrets are resolved. Those in `SAFE` are set to its values whatever stands here, as are two that
            depend on others: catalogs of Iceberg keep no table, and a local master takes nobody's calls.
        folder: where its log and settings stay, made when missing, for one server at a time; None makes a
            temporary one. They are files that only this user can read.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        within: folder in which the temporary one is made and left to that folder's owner; None removes it.

    Yields:
        Server.

    Raises:
        ValueError: an argument is invalid, the port or the folder cannot be had, there is no Java or PySpark that
            fits, a reference cannot be resolved.
        ChildProcessError: the server did not start; the message has its last words.
    """
    require()
    settings = {"conf": _kept_safe(conf), "port": int(port)}
    with child.running(folders.choice(folder, within) | settings) as answer:
        place = Path(answer["folder"])
        yield Server(answer["port"], place, place / "token")


def _kept_safe(conf: Mapping[str, str]) -> dict[str, str]:
    """Return settings with those that keep readers from what is not theirs."""
    # a table that is kept has the columns of another moment: a name in it may be of a column that is hidden
    kept = {f"{key}.cache-enabled": "false" for key, value in conf.items() if value in CATALOGS}
    if conf.get("spark.master", "local").startswith("local"):
        # without it, whoever reaches the ports of the JVM gets blocks of whatever query, without a token
        kept["spark.authenticate"] = "true"
    return {**conf, **SAFE, **kept}
