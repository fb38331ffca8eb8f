"""HBase on this machine: the real one, standalone in one JVM on 127.0.0.1, as long as a context is open.

    with hbase.serve(options=["-XX:+UseG1GC", "-Xmx1g"]) as server:
        subprocess.run([java, "-cp", server.client_path(), "MyClient"])        # finds it by hbase-site.xml

By hand: `workbench local hbase --folder my-hbase`. It has no users and no encryption: every user of this machine
can reach it. It needs a Java and 141 jars of 100 MB, which `workbench local hbase --fetch` fetches.

The parts:

    child            the process between us and HBase, which ends it when we end
    node             HBase's JVM: its settings, and how it is known that it is ready
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbench._base import jars, java
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins import folders
from workbench_standins.hbase import child, node

__all__ = ["CLIENT_OPTIONS", "DEFAULTS", "SOURCES", "Server", "Usage", "require", "serve", "usage"]

CLIENT_OPTIONS = tuple(node.OPENED)  # that a client of HBase needs of a Java from 17 on
DEFAULTS = ("-Xmx512m", "-XX:+UseSerialGC")
SOURCES = Path(__file__).with_name("java")  # Rows.java, a load of reads and writes


@dataclass(frozen=True)
class Usage:
    """What HBase's JVM took from when it was ready to its end.

    Attributes:
        exit_code: of its JVM, 3 where memory ran out; None where it was ended by us.
        cpu_seconds: of all its threads, since it was ready.
        peak_memory_bytes: the most that it held of the machine's memory, its start included.
        pauses_logged: that its own monitor of pauses wrote into its log.
    """

    exit_code: int | None
    cpu_seconds: float
    peak_memory_bytes: int
    pauses_logged: int


@dataclass(frozen=True)
class Server:
    """A running HBase.

    Attributes:
        zookeeper: address of its ZooKeeper, by which clients find it.
        folder: where its data, its settings and its log are.
        process_id: of its JVM.
    """

    zookeeper: str
    folder: Path
    process_id: int

    def client_path(self) -> str:
        """Return the class path of a client: HBase's own jars, and the settings by which it finds this server."""
        return os.pathsep.join(map(str, [self.folder / node.SETTINGS, *node.classpath()]))


def require(java_program: str | Path | None = None) -> None:
    """Require that all that HBase needs is there.

    Args:
        java_program: that is to run it; None for the Java of sessions.

    Raises:
        ValueError: there is no such Java, it is older than 17, or a jar is missing or corrupt.
    """
    program = java.find() if java_program is None else Path(java_program)
    release = java.major(java.version(program)) if program.is_file() else None
    if release is None or release < 17:
        actual = "nothing that runs" if release is None else f"Java {release}"
        raise ArgumentError(f"java_program {program} must be a Java of 17 or later, found {actual}")
    jars.require(node.table(), fetch_by="workbench local hbase --fetch")


@checked
@contextmanager
def serve(
    folder: str | Path | None = None,
    *,
    options: Sequence[str] = DEFAULTS,
    java_program: str | Path | None = None,
    within: str | Path | None = None,
) -> Iterator[Server]:
    """Serve HBase as long as the context is open; it ends with this process too, however that ends.

    Args:
        folder: where its data stay, made when missing, for one server at a time; None makes a temporary one.
        options: of its JVM: heap, collector, log of the collector.
        java_program: path of `java`; None for the Java of sessions.
        within: folder in which the temporary one is made and left to that folder's owner, data and log included;
            None removes it.

    Yields:
        Server. Its JVM ends at once where its memory runs out, as HBase's own start script has it.

    Raises:
        ValueError: an argument is invalid, the folder is in use or cannot be written, a jar or Java is missing.
        ChildProcessError: it did not start; the message has its last words.
    """
    require(java_program)
    program = str(java.find() if java_program is None else java_program)
    settings = folders.choice(folder, within) | {"options": list(options), "java": program}
    with child.running(settings) as answer:
        yield Server(answer["zookeeper"], Path(answer["folder"]), answer["process_id"])


def usage(folder: Path) -> Usage:
    """Read what a server took that has ended.

    Args:
        folder: of the server, which is kept where `serve` was given `folder` or `within`.

    Raises:
        ValueError: it has not ended, or its folder is gone.
    """
    try:
        return Usage(**json.loads((folder / child.USAGE).read_text(encoding="utf-8")))
    except OSError:
        raise ArgumentError(
            f"{folder} has no {child.USAGE}: expected the folder of an HBase that has ended"
        ) from None
