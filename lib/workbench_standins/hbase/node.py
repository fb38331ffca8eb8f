"""HBase's JVM: master, region server and ZooKeeper in one, its settings, and how it is known that it is ready."""

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from workbench._base import children, jars
from workbench._base.children import Process
from workbench._base.errors import ProcessError
from workbench_standins import ports, processes
from workbench_standins.ports import HOST

STARTS = 5
PATIENCE_SECONDS = 120
LOG = "hbase.log"
SETTINGS = "conf"
TAKEN = ("Address already in use", "BindException", "Failed to bind")
MAIN = "org.apache.hadoop.hbase.master.HMaster"
READY = "Master has completed initialization"
PAUSED = "Detected pause in JVM or host machine"  # org.apache.hadoop.hbase.util.JvmPauseMonitor, from a second on
# bin/hbase gives these to a Java from 11 on, but for a module that trimmed runtimes do not have
OPENED = [
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    *(
        word
        for package in ("nio", "lang", "lang.reflect", "util", "util.concurrent")
        for word in ("--add-opens", f"java.base/java.{package}=ALL-UNNAMED")
    ),
    "--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens", "java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED",
]  # fmt: skip
OPTIONS = [
    "-XX:+ExitOnOutOfMemoryError",  # bin/hbase kills the process then, by OnOutOfMemoryError
    "-XX:-UsePerfData",
    "-Djava.net.preferIPv4Stack=true",
    "-Dzookeeper.admin.enableServer=false",
]
LOGGING = """\
log4j.rootLogger=WARN,console
log4j.logger.org.apache.hadoop.hbase.master.HMaster=INFO
log4j.logger.org.apache.hadoop.hbase.util.JvmPauseMonitor=INFO
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""


def table() -> dict[str, str]:
    """Return the jars: coordinate to SHA-256."""
    return dict(tomllib.loads(Path(__file__).with_name("jars.toml").read_text(encoding="utf-8"))["server"])


def classpath() -> list[Path]:
    """Return the paths of the jars, whether they are there or not."""
    return [jars.file(coordinate) for coordinate in table()]


def fetch() -> list[Path]:
    """Fetch the jars that are missing and return the paths of all.

    Raises:
        ValueError: a jar cannot be downloaded, or its checksum is another.
    """
    return jars.fetch(table())


def start(folder: Path, java: str, options: Sequence[str]) -> tuple[Process, int]:
    """Start HBase and wait until it serves; other ports are tried when one was taken meanwhile.

    Args:
        folder: taken.
        java: path of the program.
        options: of its JVM.

    Returns:
        (process, port of its ZooKeeper).

    Raises:
        ChildProcessError: it ended, or was not ready in time.
    """
    log, why = folder / LOG, ""
    for _ in range(STARTS):
        chosen = ports.choose(("zookeeper", "master", "regionserver"), {})
        configure(folder, **chosen)
        process = launch(folder, java, options)
        if processes.answer([process], lambda: READY in _text(log), patience_seconds=PATIENCE_SECONDS):
            return process, chosen["zookeeper"]
        children.end(process, haste=True, patience_seconds=PATIENCE_SECONDS)
        text, why = _text(log), children.last_words(log)
        if not any(sign in text for sign in TAKEN):
            break
    raise ProcessError(f"HBase did not start: {why or 'it was not ready in time'}")


def configure(folder: Path, *, zookeeper: int, master: int, regionserver: int) -> None:
    """Write the settings of a server, and those of its log, into conf/."""
    properties: dict[str, Any] = {
        "hbase.rootdir": f"file://{folder / 'data'}",
        "hbase.tmp.dir": folder / "tmp",
        "hbase.cluster.distributed": "false",
        "hbase.unsafe.stream.capability.enforce": "false",  # a file system of this machine has no hflush
        "hbase.wal.provider": "filesystem",
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.dataDir": folder / "zookeeper",
        "hbase.zookeeper.property.clientPort": zookeeper,
        "hbase.zookeeper.property.clientPortAddress": HOST,
        "hbase.master.hostname": HOST,
        "hbase.master.ipc.address": HOST,
        "hbase.master.port": master,
        "hbase.master.info.port": -1,
        "hbase.master.wait.on.regionservers.mintostart": 1,
        "hbase.master.wait.on.regionservers.maxtostart": 1,  # there are no others to wait for
        "hbase.regionserver.hostname": HOST,
        "hbase.regionserver.ipc.address": HOST,
        "hbase.regionserver.port": regionserver,
        "hbase.regionserver.info.port": -1,
    }
    conf = folder / SETTINGS
    conf.mkdir(exist_ok=True)
    lines = "".join(
        f"<property><name>{key}</name><value>{escape(str(value))}</value></property>\n"
        for key, value in properties.items()
    )
    text = f'<?xml version="1.0"?>\n<configuration>\n{lines}</configuration>\n'
    (conf / "hbase-site.xml").write_text(text, encoding="utf-8")
    (conf / "log4j.properties").write_text(LOGGING, encoding="utf-8")


def launch(folder: Path, java: str, options: Sequence[str]) -> Process:
    """Start HBase, with its output in hbase.log."""
    path = os.pathsep.join(map(str, [folder / SETTINGS, *classpath()]))
    words = [java, *OPTIONS, *OPENED, *options, "-cp", path, MAIN, "start"]
    return processes.launch(words, folder, LOG)


def cpu_seconds(process_id: int) -> float:
    """Return the CPU seconds of a process that runs; 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pauses_logged(folder: Path) -> int:
    """Return how many pauses HBase's own monitor wrote into its log."""
    return _text(folder / LOG).count(PAUSED)


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
