"""A Spark cluster on this machine: a standalone master and its workers, on loopback, closed by a secret.

    with cluster.serve() as running:
        os.environ |= running.variables()
        spark = session.start("cluster")

Executors are processes of their own, which share no memory with the driver and, by the environment `cluster`, no
disk: what works on it works where the executors are elsewhere. By hand: `workbench local cluster`. The parts:

    node       master and workers: their command lines, and the question that says they are ready
    child      the process that starts them and ends them with its parent
"""

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workbench._base import java
from workbench._base.errors import ArgumentError
from workbench_standins.cluster import child
from workbench_standins.cluster.node import SECRET

__all__ = ["MASTER", "SECRET", "Cluster", "serve"]

MASTER = "WORKBENCH_SPARK_MASTER"  # what params/environments/cluster.yml names
LEAST_MEGABYTES = 450  # Spark's own: 300 for itself, one and a half times
MEMORY = "SPARK_EXECUTOR_MEMORY"  # Spark's own, 1g where it is not set


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        master: its address, such as spark://127.0.0.1:7077.
        folder: where logs and executors' work are, a Path.
        workers: how many there are.
        secret: what every process that takes part must know.
        memory: what a worker gives to the executor of a session, such as 1g.
    """

    master: str
    folder: Path
    workers: int
    secret: str = field(repr=False)
    memory: str

    def variables(self):
        """Return the environment variables by which a session reaches it."""
        return {MASTER: self.master, SECRET: self.secret, MEMORY: self.memory}


@contextmanager
def serve(*, port=0, workers=2, cores=1, memory="1g", applications=2):
    """Run a cluster as long as the context is open; it ends with this process too, however that ends.

    Args:
        port: TCP port of the master on 127.0.0.1; 0 takes a free one.
        workers: how many workers, 1 to 16.
        cores: tasks that a worker runs at once for an application, which is a session.
        memory: what a worker may give to the executors of one, such as 1g or 1500m.
        applications: how many may run side by side; one more waits until another ends.

    Yields:
        Cluster.

    Raises:
        ValueError: an argument does not go, the port cannot be had, there is no Java or PySpark that fits.
        ChildProcessError: it did not start; the message has the last words of who failed.
    """
    java.find(), java.spark_home()
    counts = (("workers", workers, 16), ("cores", cores, 64), ("applications", applications, 16))
    for name, value, most in (("port", port, 65535), *counts):
        least = 0 if name == "port" else 1
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ArgumentError(f"{name} must be a whole number from {least} to {most}; got {value!r}")
    if not isinstance(memory, str) or not memory[:-1].isdigit() or memory[-1] not in "mg":
        raise ArgumentError(f"memory is a number and m or g, such as 1g; got {memory!r}")
    if int(memory[:-1]) * {"m": 1, "g": 1024}[memory[-1]] < LEAST_MEGABYTES:
        raise ArgumentError(f"memory is {memory}, and Spark starts no executor of less than {LEAST_MEGABYTES}m")
    sizes = {"port": port, "memory": memory} | {name: value for name, value, _ in counts}
    with child.running(sizes | {"folder": None, "within": None}) as said:
        yield Cluster(said["master"], Path(said["folder"]), workers, said["secret"], memory)
