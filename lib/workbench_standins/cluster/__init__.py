"""A Spark cluster on this machine: a standalone master and its workers, on loopback, closed by a secret.

    with cluster.serve() as running:
        os.environ |= running.variables()
        spark = session.start("cluster")

Executors are processes of their own, which share no memory with the driver and, by the environment `cluster`, no
disk: what works on it works where the executors are elsewhere. By hand: `workbench local cluster`. The parts:

    node       master and workers: their command lines, and the request that shows that they are ready
    child      the process that starts them and ends them with its parent
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from workbench._base import java
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins.cluster import child
from workbench_standins.cluster.node import SECRET
from workbench_standins.ports import Port

__all__ = ["MASTER", "SECRET", "Cluster", "serve"]

MASTER = "WORKBENCH_SPARK_MASTER"  # what params/environments/cluster.yml names
LEAST_MEGABYTES = 450  # Spark's own: 300 for itself, one and a half times
MEMORY = "SPARK_EXECUTOR_MEMORY"  # Spark's own, 1g where it is not set
Few = Annotated[int, Ge(1), Le(16)]


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        master: its address, such as spark://127.0.0.1:7077.
        folder: where logs and executors' work are, a Path.
        workers: their number.
        secret: shared by all processes of the cluster and its sessions.
        memory: of a worker for the executor of a session, such as 1g.
    """

    master: str
    folder: Path
    workers: int
    secret: str = field(repr=False)
    memory: str

    def variables(self) -> dict[str, str]:
        """Return the environment variables by which a session reaches it."""
        return {MASTER: self.master, SECRET: self.secret, MEMORY: self.memory}


@checked
@contextmanager
def serve(
    *,
    port: Port = 0,
    workers: Few = 2,
    cores: Annotated[int, Ge(1), Le(64)] = 1,
    memory: str = "1g",
    applications: Few = 2,
) -> Iterator[Cluster]:
    """Serve a cluster as long as the context is open; it ends with this process too, however that ends.

    Args:
        port: TCP port of the master on 127.0.0.1; 0 takes a free one.
        workers: number of workers, 1 to 16.
        cores: tasks that a worker runs at once for an application, which is a session; 1 to 64.
        memory: of a worker for the executor of an application, such as 1g or 1500m.
        applications: number of them that run side by side, 1 to 16; a further one waits until another ends.

    Yields:
        Cluster.

    Raises:
        ValueError: an argument is invalid, the port cannot be had, there is no Java or PySpark that fits.
        ChildProcessError: it did not start; the message quotes the log of the process that failed.
    """
    java.find(), java.spark_home()
    if not re.fullmatch(r"[0-9]+[mg]", memory):
        raise ArgumentError(f"memory must be a number and m or g, such as 1g, found {memory!r}")
    if int(memory[:-1]) * {"m": 1, "g": 1024}[memory[-1]] < LEAST_MEGABYTES:
        raise ArgumentError(f"memory must be at least {LEAST_MEGABYTES}m for an executor of Spark, found {memory}")
    counts = {"port": port, "workers": workers, "cores": cores, "applications": applications}
    sizes = {name: int(count) for name, count in counts.items()} | {"memory": memory}  # NumPy's are not for JSON
    with child.running(sizes | {"folder": None, "within": None}) as answer:
        yield Cluster(answer["master"], Path(answer["folder"]), workers, answer["secret"], memory)
