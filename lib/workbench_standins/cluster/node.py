"""Master and workers of a standalone cluster: how they are started, and how it is known that they are ready."""

import json
import os
import secrets
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench._base import children, java
from workbench._base.children import Process
from workbench._base.errors import ArgumentError, ProcessError
from workbench_standins import ports, processes
from workbench_standins.ports import HOST

STARTS = 5
PATIENCE_SECONDS = 120
OPTIONS = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
CONF = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.master.rest.enabled": "false",  # a second door, on a port of its own
}
SECRET = "_SPARK_AUTH_SECRET"  # Spark's own, which keeps it out of command lines
DEPLOY = "org.apache.spark.deploy"


@contextmanager
def running(folder: Path, settings: Mapping[str, Any]) -> Iterator[tuple[Process, str, str]]:
    """Start a master and its workers and wait until all have registered; they end with the context.

    Args:
        folder: taken; it gets a log of each and the workers' files.
        settings: port (0 for any), workers, applications, and cores and memory of a worker for one of these.

    Yields:
        (the master's Popen, address, secret).

    Raises:
        ValueError: the given port cannot be had.
        ChildProcessError: the master or a worker ended, or was not ready in time.
    """
    if settings["port"] and not ports.free(settings["port"]):
        raise ArgumentError(f"port {settings['port']} of {HOST} cannot be had")
    secret = secrets.token_hex(16)
    started: list[Process] = []
    try:
        for _ in range(STARTS):
            chosen = ports.choose(("master", "page"), {"master": settings["port"]})
            cores = settings["workers"] * settings["cores"]
            started = [_master(folder, chosen, secret, cores)]
            if _until(started, chosen["page"], 0):
                break
            _end(started)
        else:
            raise ProcessError(f"Spark's master did not start: {children.last_words(folder / 'master.log')}")
        address = f"spark://{HOST}:{chosen['master']}"
        started += [_worker(folder, n, address, settings, secret) for n in range(settings["workers"])]
        if not _until(started, chosen["page"], settings["workers"]):
            logs = map(children.last_words, sorted(folder.glob("worker-*.log")))
            why = next(filter(None, logs), "they were not ready in time")
            raise ProcessError(f"Spark's workers did not start: {why}")
        yield started[0], address, secret
    finally:
        _end(started)


def _master(folder: Path, chosen: Mapping[str, int], secret: str, cores: int) -> Process:
    where = ["--host", HOST, "--port", str(chosen["master"]), "--webui-port", str(chosen["page"])]
    # without a default, an application that names no number of cores gets all, and the next one waits for ever
    conf = {"spark.deploy.defaultCores": str(cores)}
    return _launch(folder, "master", f"{DEPLOY}.master.Master", where, secret, conf)


def _worker(folder: Path, n: int, address: str, settings: Mapping[str, Any], secret: str) -> Process:
    work = folder / f"worker-{n}"
    side_by_side, memory = settings["applications"], settings["memory"]
    memory = f"{int(memory[:-1]) * side_by_side}{memory[-1]}"
    size = ["--cores", str(settings["cores"] * side_by_side), "--memory", memory, "--work-dir", str(work)]
    where = ["--host", HOST, "--webui-port", "0", *size]
    return _launch(folder, f"worker-{n}", f"{DEPLOY}.worker.Worker", [*where, address], secret, {})


def _launch(
    folder: Path, name: str, main: str, arguments: Sequence[str], secret: str, conf: Mapping[str, str]
) -> Process:
    """Start a master or worker with a log of its own. The secret is in no command line and no file."""
    home = java.spark_home()
    file = folder / f"{name}.conf"
    lines = (f"{key} {value}\n" for key, value in {**CONF, **conf}.items())
    file.write_text("".join(lines), encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "AWS_"))}
    ours = {"SPARK_HOME": str(home), "JAVA_HOME": str(java.launcher()), "SPARK_LOCAL_IP": HOST}
    [core] = home.glob("jars/spark-core_*.jar")  # a pip package does not say for which Scala it was built
    ours["SPARK_SCALA_VERSION"] = core.name.split("_")[1].split("-")[0]
    words = [str(java.find()), *OPTIONS, *opened(), "-cp", f"{home}/jars/*", main, "--properties-file", str(file)]
    return processes.launch([*words, *arguments], folder, f"{name}.log", env=kept | ours | {SECRET: secret})


def opened() -> list[str]:
    """Return the packages of Java that Spark's own launcher opens, as options."""
    names = (
        "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
        "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
        "sun.util.calendar",
    )  # fmt: skip
    return [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in names]


def _alive(page: int) -> int | None:
    """Return how many workers the master says are alive; None while it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{page}/json/", timeout=5) as answer:
            alive: int = json.load(answer)["aliveworkers"]
            return alive
    except (OSError, ValueError, LookupError):
        return None


def _until(started: Sequence[Process], page: int, workers: int) -> bool:
    """Wait until the master has its workers; False when a process ended or it took too long."""
    return processes.answer(started, lambda: _alive(page) == workers, patience_seconds=PATIENCE_SECONDS)


def _end(started: Sequence[Process]) -> None:
    for process in reversed(started):  # the master last: workers that lose it would look for it
        children.end(process, haste=False, patience_seconds=10)
